"""How well search finds what was said: recall and rank on a folder of texts and questions.

    python -m benchmarks.retrieval DIR [--strategy hybrid|bm25|semantic] [--semantic-weight W] [--json] [--cache FILE]

DIR holds `corpus.jsonl.gz` (one text a line: store, id, session, who, date, text) and `queries.jsonl` (store, query,
gold, gold_sessions, category). Each text becomes one log entry of its own session: `who` is its topic, the day of its
log is its date (the day after the last one, when it has none). Settings are those that are shipped, the same for all
folders. CACHE keeps vectors between runs by the text they are of; without it each run embeds everything.

Beside each figure stands that of textbook BM25 (`benchmarks/bm25.py`) on the same questions, with 95 % of a paired
bootstrap. Exit code 1: in some category, or at some length of question, search is worse than that beyond the interval.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import re
import sqlite3
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.bm25 import Bm25, Pairs
from recollect import Memory, ScriptedClock
from recollect.core.context import Embedder
from recollect.core.journal import NewEntry
from recollect.core.settings import EmbedSettings, ModelSettings
from recollect.models.configured import ConfiguredModels

DEEP = 200  # hits that are asked for; sessions are folded out of them
_MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


@dataclass
class Cost:
    """CPU milliseconds."""

    add: float = 0.0
    embed: float = 0.0
    search: float = 0.0
    texts: int = 0
    queries: int = 0


@dataclass
class Figures:
    """Sums over queries of recall at 5 and 10 and of the reciprocal rank of the first right hit."""

    at_5: float = 0.0
    at_10: float = 0.0
    rank: float = 0.0
    count: int = 0

    def add(self, ranking: Sequence[str], gold: Sequence[str]) -> None:
        right = set(gold)
        self.at_5 += len(right.intersection(ranking[:5])) / len(right)
        self.at_10 += len(right.intersection(ranking[:10])) / len(right)
        self.rank += next((1 / place for place, id in enumerate(ranking, start=1) if id in right), 0.0)
        self.count += 1

    def shown(self) -> dict[str, float]:
        count = max(1, self.count)
        sums = {"recall@5": self.at_5, "recall@10": self.at_10, "mrr": self.rank}
        return {name: round(100 * value / count, 2) for name, value in sums.items()}


@dataclass
class Result:
    texts: Figures = field(default_factory=Figures)
    sessions: Figures = field(default_factory=Figures)
    by_category: dict[str, Figures] = field(default_factory=lambda: defaultdict(Figures))
    pairs: Pairs = field(default_factory=Pairs)
    cost: Cost = field(default_factory=Cost)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--strategy", choices=("hybrid", "bm25", "semantic"), default="hybrid")
    parser.add_argument("--semantic-weight", type=float)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--cache", type=Path, help="a file that keeps vectors between runs")
    given = parser.parse_args()
    options: dict[str, Any] = {"strategy": given.strategy, "limit": DEEP}
    if given.semantic_weight is not None:
        options["semantic_weight"] = given.semantic_weight
    result = Result()
    for texts, questions in stores(given.folder):
        with tempfile.TemporaryDirectory() as folder:
            run(folder, texts, questions, options, result, given.cache)
    print(_as_json(result) if given.json else _as_text(result))
    if below := result.pairs.below():
        sys.exit(f"lower than textbook BM25: {', '.join(below)}")


def run(
    folder: str,
    texts: Sequence[dict[str, Any]],
    questions: Sequence[dict[str, Any]],
    options: dict[str, Any],
    result: Result,
    cache: Path | None,
) -> None:
    """Load one store and ask its questions."""
    clock = ScriptedClock("2000-01-01T12:00:00Z")
    words_only = options["strategy"] == "bm25"
    models = ConfiguredModels(ModelSettings(), EmbedSettings(use="off"), {}) if words_only else CachedModels(cache)
    with Memory.open(folder, create=True, clock=clock, models=models) as memory:
        text_of = _load(memory, clock, texts, result.cost)
        if not words_only:
            started = time.process_time()
            memory.data.embed()
            result.cost.embed += 1000 * (time.process_time() - started)
        session_of = {text["id"]: text["session"] for text in texts}
        baseline = Bm25((text["id"], text["who"] or "", text["text"]) for text in texts)
        for question in questions:
            started = time.process_time()
            hits = memory.search(question["query"], **options)
            result.cost.search += 1000 * (time.process_time() - started)
            result.cost.queries += 1
            ranking = [text_of[hit.id] for hit in hits]
            if question["gold"]:
                result.texts.add(ranking, question["gold"])
                result.by_category[str(question["category"])].add(ranking, question["gold"])
            folded = list(dict.fromkeys(session_of[id] for id in ranking))
            result.sessions.add(folded, question["gold_sessions"])
            theirs = baseline.best(question["query"])
            if "should_recall" in question:  # only sessions are labelled
                theirs = list(dict.fromkeys(session_of[id] for id in theirs))
                ours, gold = folded, question["gold_sessions"]
            else:
                ours, gold = ranking, question["gold"]
            result.pairs.add(question["query"], str(question["category"]), ours, theirs, gold)


def _load(memory: Memory, clock: ScriptedClock, texts: Sequence[dict[str, Any]], cost: Cost) -> dict[str, str]:
    """Write every text as a log entry on the day of its session; entry id → text id."""
    found = {}
    ordered = in_order(texts)
    started = time.process_time()
    for moment, text in ordered:
        clock.advance(ms=moment - clock.now())
        logged = memory.journal.add(NewEntry(text=text["text"], topic=text["who"], session=text["session"]))
        found[logged.id] = text["id"]
    cost.add += 1000 * (time.process_time() - started)
    cost.texts += len(texts)
    assert len(found) == len(texts), "every text is an entry of its own"
    return found


def in_order(texts: Iterable[dict[str, Any]]) -> list[tuple[int, dict[str, Any]]]:
    """Texts session by session in the order of their days, each with the moment of its session in milliseconds."""
    sessions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for text in texts:
        sessions[text["session"]].append(text)
    dated = {session: _day(some[0]["date"]) for session, some in sessions.items()}
    undated = max((day for day in dated.values() if day), default=date(2025, 1, 1))
    moments = {}
    for session, day in dated.items():
        if day is None:
            day = undated = undated + timedelta(1)
        moments[session] = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
    return [
        (round(moments[session].timestamp() * 1000), text)
        for session in sorted(sessions, key=lambda session: moments[session])
        for text in sessions[session]
    ]


def _day(written: str) -> date | None:
    """The day in a free-text date: 2023/04/10, or 8 May, 2023."""
    if found := re.search(r"(\d{4})[/-](\d{1,2})[/-](\d{1,2})", written):
        return date(int(found[1]), int(found[2]), int(found[3]))
    if found := re.search(r"(\d{1,2}) ([a-z]{3})[a-z]*,? (\d{4})", written.lower()):
        return date(int(found[3]), _MONTHS.index(found[2]) + 1, int(found[1]))
    return None


class CachedModels(ConfiguredModels):
    """The shipped embedder, its vectors kept in a file between runs."""

    def __init__(self, cache: Path | None):
        super().__init__(ModelSettings(), EmbedSettings(), {})
        self._cache = cache
        self._cached: CachedEmbedder | None = None

    def embedder(self) -> Embedder | None:
        embedder = super().embedder()
        if embedder is None or self._cache is None:
            return embedder
        self._cached = self._cached or CachedEmbedder(embedder, self._cache)
        return self._cached


class CachedEmbedder:
    def __init__(self, embedder: Embedder, file: Path):
        self.name = embedder.name
        self.loaded = False  # nothing is embedded on the side: its cost would hide in the texts'
        self._embedder = embedder
        self._db = sqlite3.connect(file, check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS v (k BLOB PRIMARY KEY, v BLOB)")

    def embed(self, texts: Sequence[str]) -> list[Any]:
        import numpy as np

        keys = [hashlib.sha1(text.encode("utf-8", "replace")).digest() for text in texts]
        known = {
            key: row[0] for key in keys if (row := self._db.execute("SELECT v FROM v WHERE k = ?", (key,)).fetchone())
        }
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in known}
        if new:
            for key, vector in zip(new, self._embedder.embed(list(new.values())), strict=True):
                known[key] = vector.tobytes()
                self._db.execute("INSERT OR REPLACE INTO v VALUES (?, ?)", (key, known[key]))
            self._db.commit()
        return [np.frombuffer(known[key], np.float32) for key in keys]


def stores(folder: Path) -> Iterator[tuple[list[dict[str, Any]], list[dict[str, Any]]]]:
    """The texts and the questions of each store."""
    questions: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with (folder / "queries.jsonl").open() as lines:
        for question in map(json.loads, lines):
            questions[question["store"]].append(question)
    texts: dict[str, list[dict[str, Any]]] = defaultdict(list)
    with gzip.open(folder / "corpus.jsonl.gz", "rt") as lines:
        for text in map(json.loads, lines):
            texts[text["store"]].append(text)
    return ((some, questions[store]) for store, some in texts.items())


def _report(result: Result) -> dict[str, Any]:
    cost = result.cost
    return {
        **result.texts.shown(),
        "sessions": result.sessions.shown(),
        "by_category": {name: figures.shown() for name, figures in sorted(result.by_category.items())},
        "beside_bm25": {
            name: dict(zip(("ours", "bm25", "low", "high", "questions"), [round(one, 1) for one in row], strict=True))
            for name, row in result.pairs.compared().items()
        },
        "cost": {
            "cpu_ms_per_query": round(cost.search / max(1, cost.queries), 2),
            "cpu_ms_per_text": round((cost.add + cost.embed) / max(1, cost.texts), 2),
            "cpu_ms_per_text_without_vectors": round(cost.add / max(1, cost.texts), 2),
            "texts": cost.texts,
            "queries": cost.queries,
        },
    }


def _as_json(result: Result) -> str:
    return json.dumps(_report(result), indent=2)


def _as_text(result: Result) -> str:
    report = _report(result)
    rows = [("texts", result.texts), ("sessions", result.sessions), *sorted(result.by_category.items())]
    lines = [f"{'':<28} {'R@5':>6} {'R@10':>6} {'MRR':>6} {'queries':>8}"]
    for name, figures in rows:
        values = " ".join(f"{value:6.1f}" for value in figures.shown().values())
        lines.append(f"{name:<28} {values} {figures.count:>8}")
    lines.append(f"{'R@5 beside textbook BM25':<28} {'ours':>6} {'BM25':>6}   95 % of the difference")
    for name, row in report["beside_bm25"].items():
        gain = f"{row['low']:+.1f} … {row['high']:+.1f}"
        lines.append(f"{name:<28} {row['ours']:6.1f} {row['bm25']:6.1f}   {gain:<18} {row['questions']:>8}")
    cost = report["cost"]
    lines.append(f"CPU: {cost['cpu_ms_per_query']} ms a query, {cost['cpu_ms_per_text']} ms a text")
    return "\n".join(lines)


if __name__ == "__main__":
    main()
