"""Other memories' ranking rules on the same texts and vectors, where running the programs takes too long.

    python -m benchmarks.peer_rules DIR --cache FILE

Each rule is written anew from the source of the version that `benchmarks/peers.py` installs, with its defaults: one
MiniLM vector for `[date] who: text`, compared exhaustively. Left out is what is no ranking: memsearch cuts long texts
(more than 1,500 characters) and all of them look up neighbours approximately. The programs themselves on LoCoMo:
docs/peers.md; Recollect: `benchmarks/retrieval.py`. Recall of single texts among ten hits, and of sessions among fifty
where only those are labelled.
"""

from __future__ import annotations

import argparse
import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from benchmarks.peer_driver import said
from benchmarks.peers import DEEP, TIMED
from benchmarks.retrieval import CachedModels, Figures, stores
from recollect.text.tokens import STOP_WORDS, words

Rule = Callable[[str, int], list[int]]


class Texts:
    """One store's texts by number, with their vectors and full-text indexes."""

    def __init__(self, texts: Sequence[str], embedder: Any) -> None:
        self.texts, self._embedder = texts, embedder
        self._matrix = np.array([vector for text in texts for vector in embedder.embed([text])])
        self._db = apsw.Connection(":memory:")
        for name in ("porter", "unicode61", "trigram"):
            self._db.execute(f"CREATE VIRTUAL TABLE {name} USING fts5(text, tokenize='{name}')")
            rows = ((number, text) for number, text in enumerate(texts, start=1))
            self._db.executemany(f"INSERT INTO {name} (rowid, text) VALUES (?, ?)", rows)

    def cosines(self, query: str) -> Any:
        return self._matrix @ self._embedder.embed([query])[0]

    def nearest(self, query: str, k: int) -> list[int]:
        return [int(at) for at in np.argsort(-self.cosines(query), kind="stable")[:k]]

    def matching(self, tokenizer: str, said: Sequence[str], k: int) -> list[tuple[int, float]]:
        any_of = " OR ".join(f'"{word}"' for word in said)
        sql = f"SELECT rowid - 1, -rank FROM {tokenizer} WHERE {tokenizer} MATCH ? ORDER BY rank LIMIT ?"
        return [(int(at), float(score)) for at, score in self._db.execute(sql, (any_of, k))] if any_of else []


def rules(some: Texts) -> dict[str, Rule]:
    def mcp_hybrid(query: str, k: int) -> list[int]:
        cosines = some.cosines(query)
        said = [word for word in re.sub(r"[^\w\s-]", "", query).split() if len(word) > 2]
        keyword = {at: score / (1 + score) for at, score in some.matching("trigram", said, 2 * k)}
        semantic = {at: float(cosines[at]) for at in some.nearest(query, 2 * k)}
        worth = {at: 0.3 * keyword.get(at, 0.0) + 0.7 * semantic.get(at, 0.0) for at in (*semantic, *keyword)}
        return sorted(worth, key=lambda at: -worth[at])[:k]

    def mempalace(query: str, k: int) -> list[int]:
        found, cosines = some.nearest(query, 3 * k), some.cosines(query)
        keyword = _okapi(query, [some.texts[at] for at in found])
        most = max(keyword, default=0.0) or 1.0
        worth = {at: 0.6 * cosines[at] + 0.4 * score / most for at, score in zip(found, keyword, strict=True)}
        return sorted(worth, key=lambda at: -worth[at])[:k]

    def memsearch(query: str, k: int) -> list[int]:
        worth: dict[int, float] = defaultdict(float)
        by_words = [at for at, _ in some.matching("unicode61", re.findall(r"\w+", query), k)]
        for ranking in (some.nearest(query, k), by_words):
            for place, at in enumerate(ranking, start=1):
                worth[at] += 1 / (60 + place)
        return sorted(worth, key=lambda at: -worth[at])[:k]

    def fts5(query: str, k: int) -> list[int]:
        asked = [word for word in words(query) if word.lower() not in STOP_WORDS]
        return [at for at, _ in some.matching("porter", asked, k)]

    return {
        "bare FTS5": fts5,
        "mem0 2.2.1, mcp-memory-service 12.2.0 (cosine)": some.nearest,
        "mcp-memory-service 12.2.0, hybrid": mcp_hybrid,
        "MemPalace 3.11.0": mempalace,
        "memsearch 0.4.23": memsearch,
    }


def _okapi(query: str, texts: Sequence[str]) -> list[float]:
    """BM25 as MemPalace has it: over the candidates alone, k1 1.5, b 0.75."""
    read = [re.findall(r"\w{2,}", text.lower()) for text in texts]
    mean = sum(map(len, read)) / max(1, len(read)) or 1.0
    asked = set(re.findall(r"\w{2,}", query.lower()))
    held = Counter(term for text in read for term in asked.intersection(text))
    scores = []
    for text in read:
        counts = Counter(term for term in text if term in asked)
        norm = 1.5 * (0.25 + 0.75 * len(text) / mean)
        rarity = {term: math.log(1 + (len(read) - held[term] + 0.5) / (held[term] + 0.5)) for term in counts}
        scores.append(sum(rarity[term] * often * 2.5 / (often + norm) for term, often in counts.items()))
    return scores


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cache", type=Path, required=True, help="a file that keeps vectors between runs")
    given = parser.parse_args()
    embedder = CachedModels(given.cache).embedder()
    found: dict[str, Figures] = defaultdict(Figures)
    for texts, questions in stores(given.folder):
        for name, rule in rules(Texts([said(text) for text in texts], embedder)).items():
            for question in questions:
                if "should_recall" in question:  # only sessions are labelled
                    sessions = [texts[at]["session"] for at in rule(question["query"], DEEP)]
                    found[name].add(list(dict.fromkeys(sessions)), question["gold_sessions"])
                else:
                    found[name].add([texts[at]["id"] for at in rule(question["query"], TIMED)], question["gold"])
    for name, figures in found.items():
        shown = figures.shown()
        print(f"{name:<50} {shown['recall@5']:.1f} / {shown['recall@10']:.1f} of {figures.count}")


if __name__ == "__main__":
    main()
