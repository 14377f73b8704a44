"""Learn the order of search hits and the probability that a hit is right; write them to `search/learnt.py`.

    python -m training.rank TRAIN… [--by-meaning FOLDER[:whole|:opening]… --vectors FILE] [--keep DIR] [--test FOLDER…]
        [--folds] [--write]

Each folder has the form that `benchmarks/retrieval.py` reads. Candidates are the best by textbook BM25 over all texts
(and the nearest in meaning), with their neighbours; signals are those of `search/rank.py` itself. `:whole` and
`:opening` embed one piece of each text only, which is a quarter of the work.

The order is a linear model (a softmax over the candidates of a question, trained to put the gold ones first) with
weights of their own for passages in a thread. With vectors it begins from the order by words and learns how much
meaning adds, on the folders named. The probability is a logistic model over the hits that would be shown first; half of
its questions are asked of a memory that knows nothing about them.

Folds are a quarter of the projects, a writer, and the two sets that share their texts (LongMemEval and MemAware): none
is measured by weights it trained.
"""

from __future__ import annotations

import argparse
import pickle
import random
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.bm25 import Bm25
from benchmarks.retrieval import CachedModels, in_order, stores

from recollect import Memory
from recollect.core.records import Passage
from recollect.search import learnt, rank
from recollect.search.query import ask
from recollect.store import passages
from recollect.text.sentences import WHOLE, pieces

ORDER = "words best held long title titled length thread session beside recency person label opening".split()
FLOOR = "words held rarest matched asked session known familiar ahead far_ahead".split()
BY_BOTH = "words plain held rarest matched asked titled thread best session long score ahead far_ahead closeness whole"
FREE = ("length",)  # more of any other signal never lowers a score
QUESTIONS, OF_HISTORY = 300, 60  # of one store, so that no large one outweighs the others
STRANGE = 60  # questions of other folders that are asked of a store
YEARS, HISTORIES = 2, 4  # of one history; folds of projects
POOL = 60  # candidates: the best by textbook BM25 over all passages
SHOWN = 3  # hits of a question that the probability is learnt from, as many as a prompt is shown
L2, STEPS = 1e-2, 200
TOGETHER = {"longmemeval-dev": "chats", "memaware-dev": "chats"}  # half of the sessions are in both
WEIGHTS = {"talk": 2.0, "notes": 4.0, "work": 2.0, "longmemeval-dev": 2.0, "memaware-dev": 3.0, "git": 4.0}
BESIDE_WORDS = WEIGHTS | {"notes": 2.0, "git": 8.0}  # with more notes, meaning costs histories what words find


@dataclass
class Example:
    """The candidates of one question."""

    fold: str
    group: str
    category: str
    keys: list[str]
    ids: list[str]
    signals: dict[str, Any]
    right: Any
    gold: set[str]
    by_meaning: bool


class StoreVectors:
    """What `search/meaning.py` gives a search, from the vectors of a file."""

    beside_words = True

    def __init__(self, embedder: Any, docs: Sequence[int], texts: Sequence[dict[str, Any]], only: str) -> None:
        self._embedder = embedder
        cut = [(doc, *piece) for doc, text in zip(docs, texts, strict=True) for piece in _pieces(text, only)]
        self._doc = np.array([doc for doc, _, _ in cut])
        self._matrix = np.array(embedder.embed([text for _, _, text in cut]))
        self._places: dict[int, list[int]] = defaultdict(list)
        for place, (doc, _, _) in enumerate(cut):
            self._places[doc].append(place)
        self._near: Any = None

    def ask(self, query: str) -> StoreVectors:
        self._near = np.maximum(0.0, self._matrix @ self._embedder.embed([query[:4_000]])[0])
        return self

    def nearest(self, tx: Any, wanted: Any) -> list[int]:
        return list(dict.fromkeys(int(self._doc[at]) for at in np.argsort(-self._near, kind="stable")[: 2 * POOL]))

    def closeness(self, tx: Any, docs: Sequence[int]) -> dict[int, tuple[float, float]]:
        near = {doc: self._near[self._places[doc]] for doc in docs}
        return {doc: (float(some.max()) ** 2, float(some[0]) ** 2) for doc, some in near.items()}


def _pieces(text: dict[str, Any], only: str) -> list[tuple[int, str]]:
    """What is embedded of a text; the whole comes first."""
    if only == "opening":
        return [(WHOLE, text["text"].split("\n")[0][:2_000])]
    cut = pieces(title=text["who"] or "", who="", text=text["text"])
    return cut[:1] if only == "whole" else cut


def examples(folder: Path, embedder: Any, strange: Sequence[str], only: str = "") -> Iterator[Example]:
    """Each question of a folder, and as many strange ones, with the signals of its candidates."""
    chance = random.Random(1)
    for number, (texts, questions) in enumerate(stores(folder)):
        group = _group(folder, texts[0]["store"])
        if not questions or (group == "git" and number >= YEARS):
            continue
        asked = chance.sample(questions, min(OF_HISTORY if group == "git" else QUESTIONS, len(questions)))
        others = chance.sample(list(strange), min(len(strange), STRANGE, len(asked)))
        with tempfile.TemporaryDirectory() as place, Memory.open(place, create=True, environ={"HOME": place}) as memory:
            ordered = in_order(texts)
            now = max(moment for moment, _ in ordered)
            docs = _load(memory, ordered)
            vectors = StoreVectors(embedder, docs, [text for _, text in ordered], only) if embedder else None
            by_id = {text["id"]: text for _, text in ordered}
            doc_of = dict(zip(by_id, docs, strict=True))
            textbook = Bm25((text["id"], text["who"] or "", text["text"]) for _, text in ordered)
            with memory.context.db.read(memory.context.space) as tx:
                for question in (*asked, *({"query": text} for text in others)):
                    asking = ask(tx, question["query"])
                    meaning: Any = vectors.ask(question["query"]) if vectors else None
                    best = [doc_of[id] for id in textbook.best(question["query"])[:POOL]]
                    among = rank.Candidates(docs=best)
                    found, signals = rank.look(tx, asking, among, limit=POOL, meaning=meaning, now=now)
                    if not found:
                        continue
                    by = "session" if "should_recall" in question else "id"
                    gold = set(question.get("gold_sessions" if by == "session" else "gold", ()))
                    keys = [by_id[one.id][by] for one in found.values()]
                    yield Example(
                        fold=TOGETHER.get(folder.name, folder.name),
                        group=group,
                        category=str(question.get("category", "off topic")),
                        keys=keys,
                        ids=[one.id for one in found.values()],
                        signals=_columns(signals.values()),
                        right=np.array([key in gold for key in keys], float),
                        gold=gold,
                        by_meaning=vectors is not None,
                    )


def _load(memory: Memory, ordered: Sequence[tuple[int, dict[str, Any]]]) -> list[int]:
    position: dict[str, int] = defaultdict(int)
    made = []
    for moment, text in ordered:
        position[text["session"]] += 1
        lines, thread = tuple(text["text"].split("\n")), f"log/day/{text['session']}"
        made.append(Passage(id=text["id"], kind="log", title=text["who"] or "", lines=lines, at=moment, trust="agent",
                            thread=thread, position=position[text["session"]]))  # fmt: skip
    with memory.context.db.write(memory.context.space) as tx:
        passages.add_all(tx, made)
        docs = {id: doc for doc, id in tx.rows("SELECT doc, id FROM passages WHERE space = :space")}
    return [docs[text["id"]] for _, text in ordered]


def _group(folder: Path, store: str) -> str:
    if folder.name in WEIGHTS:
        return folder.name
    return next((kind for kind in ("talk", "notes", "work") if store.endswith(kind)), "git")


def _columns(rows: Any) -> dict[str, Any]:
    some = list(rows)
    return {name: np.array([row[name] for row in some]) for name in some[0]}


def matrix(one: Example, names: Sequence[str]) -> Any:
    """The signals, each once for all passages and once for those in a thread."""
    signals = np.stack([one.signals[name] for name in names], axis=1)
    return np.hstack([signals, signals * (1 - one.signals["alone"])[:, None]])


def fit(
    some: Sequence[Example], names: Sequence[str], *, l2: float, in_thread: bool = True, shares: Any = WEIGHTS
) -> Any:
    """Weights of the signals: Adam on the whole of it."""
    usable = [one for one in some if one.right.sum() > 0]
    counts: dict[str, int] = defaultdict(int)
    for one in usable:
        counts[one.group] += 1
    count = len(names)
    x = np.vstack([matrix(one, names)[:, : None if in_thread else count] for one in usable])
    scale = x.std(axis=0)
    scale[scale < 1e-6] = 1e9
    x = (x - x.mean(axis=0)) / scale
    y = np.concatenate([one.right for one in usable])
    sizes = [len(one.right) for one in usable]
    starts, group = np.cumsum([0, *sizes])[:-1], np.repeat(np.arange(len(usable)), sizes)
    share = np.array([shares[one.group] / counts[one.group] for one in usable])
    share /= share.sum()
    first, second = np.zeros(x.shape[1]), np.zeros(x.shape[1])
    free = np.array([name in FREE for name in names])
    weights = np.zeros(x.shape[1])
    for step in range(1, STEPS + 1):
        sums = x @ weights
        e = np.exp(sums - np.maximum.reduceat(sums, starts)[group])
        chosen, right = e / np.add.reduceat(e, starts)[group], e * y / np.add.reduceat(e * y, starts)[group]
        gradient = x.T @ (share[group] * (chosen - right)) + 2 * l2 * weights
        first, second = 0.9 * first + 0.1 * gradient, 0.999 * second + 0.001 * gradient**2
        weights -= 0.05 * (first / (1 - 0.9**step)) / (np.sqrt(second / (1 - 0.999**step)) + 1e-9)
        weights[:count] = np.where(free, weights[:count], np.maximum(0.0, weights[:count]))
        if in_thread:  # what a thread takes away leaves nothing below zero
            least = np.where(free | (scale[count:] > 1e8), -np.inf, -weights[:count] / scale[:count] * scale[count:])
            weights[count:] = np.maximum(least, weights[count:])
    return weights / scale


def fit_with_meaning(some: Sequence[Example], by_words: Any) -> Any:
    """The order by words, and how much meaning adds to it: more than two numbers few questions cannot tell."""
    said = ["said", *learnt.BY_MEANING]
    two = [Example(**{**vars(one), "signals": {**one.signals, "said": matrix(one, ORDER) @ by_words}}) for one in some]
    both = fit(two, said, l2=1e-3, in_thread=False, shares=BESIDE_WORDS)
    count = len(ORDER)
    return np.concatenate([by_words[:count] * both[0], both[1:], by_words[count:] * both[0], np.zeros(len(both) - 1)])


def fit_floor(some: Sequence[Example], names: Sequence[str], order: Any, by: Sequence[str]) -> tuple[float, Any]:
    """A logistic model over the hits that would be shown first."""
    rows, right, share = [], [], []
    counts: dict[tuple[str, bool], int] = defaultdict(int)
    for one in some:
        counts[one.group, not one.gold] += 1
    for one in some:
        points = matrix(one, by) @ order
        leading = sorted(points.tolist(), reverse=True)
        stands = _columns(rank.standing(value, leading) for value in points)
        first = ranked(one, order, by)[:SHOWN]
        rows.append(np.stack([(one.signals | stands)[name][first] for name in names], axis=1))
        right.append(one.right[first])
        share.append(np.full(len(first), WEIGHTS[one.group] / counts[one.group, not one.gold] / SHOWN))
    x, y, weight = np.vstack(rows), np.concatenate(right), np.concatenate(share)
    weight /= weight.sum()
    mean, scale = x.mean(axis=0), x.std(axis=0) + 1e-9
    x = np.hstack([(x - mean) / scale, np.ones((len(x), 1))])
    weights = np.zeros(x.shape[1])
    for _ in range(30):  # Newton's method
        p = 1 / (1 + np.exp(-x @ weights))
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + 1e-5 * np.eye(x.shape[1])
        weights -= np.linalg.solve(hessian, x.T @ (weight * (p - y)) + 1e-5 * weights)
    plain = weights[:-1] / scale
    return float(weights[-1] - mean @ plain), plain


def ranked(one: Example, weights: Any, names: Sequence[str]) -> list[int]:
    """The candidates in the order of the weights; without weights in that of textbook BM25."""
    points = one.signals["plain"] if weights is None else matrix(one, names) @ weights
    return sorted(range(len(one.ids)), key=lambda at: (-round(float(points[at]), 9), one.ids[at]))


def recall(some: Sequence[Example], weights: Any, names: Sequence[str], most: int = 5) -> dict[str, tuple[float, int]]:
    found: dict[str, list[float]] = defaultdict(list)
    for one in some:
        if one.gold:
            keys = list(dict.fromkeys(one.keys[at] for at in ranked(one, weights, names)))
            for name in ("all", one.category):
                found[name].append(len(one.gold.intersection(keys[:most])) / len(one.gold))
    return {name: (round(100 * float(np.mean(values)), 1), len(values)) for name, values in found.items()}


def written(words: Any, meaning: Any, floor: tuple[float, Any], floor_meaning: tuple[float, Any]) -> str:
    """The module `search/learnt.py`, its tables anew."""
    file = Path(learnt.__file__)
    head = file.read_text("utf-8").partition("\nWORDS:")[0]

    def table(name: str, names: Sequence[str], weights: Any) -> str:
        pairs = zip(names, weights[: len(names)], weights[len(names) :], strict=True)
        lines = [f'    "{one}": ({alone:.4g}, {alone + more:.4g}),' for one, alone, more in pairs]
        return "\n".join([f"{name}: dict[str, tuple[float, float]] = {{", *lines, "}"])

    def floors(name: str, names: Sequence[str], model: tuple[float, Any]) -> str:
        lines = [f'        "{one}": {weight:.4g},' for one, weight in zip(names, model[1], strict=True)]
        return "\n".join(
            [f"{name}: tuple[float, dict[str, float]] = (", f"    {model[0]:.4g},", "    {", *lines, "    },", ")"]
        )

    tables = [
        table("WORDS", ORDER, words),
        table("WITH_MEANING", [*ORDER, *learnt.BY_MEANING], meaning),
        floors("FLOOR", FLOOR, floor),
        floors("FLOOR_WITH_MEANING", BY_BOTH.split(), floor_meaning),
    ]
    return f"{head}\n" + "\n\n".join(tables) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("train", nargs="+", type=Path)
    parser.add_argument("--by-meaning", nargs="*", default=[], help="folders to train with vectors too")
    parser.add_argument("--keep", type=Path, help="a folder that keeps the signals between runs")
    parser.add_argument("--vectors", type=Path, help="a file that keeps vectors, as benchmarks/retrieval.py makes it")
    parser.add_argument("--test", nargs="*", type=Path, default=[])
    parser.add_argument("--folds", action="store_true", help="measure each fold by weights of the others")
    parser.add_argument("--write", action="store_true", help="write src/recollect/search/learnt.py")
    given = parser.parse_args()
    embedder = CachedModels(given.vectors).embedder() if given.vectors else None
    near_folders = [(Path(name), only) for name, _, only in (one.partition(":") for one in given.by_meaning)]
    asked = {
        folder: [question["query"] for _, some in stores(folder) for question in some]
        for folder in dict.fromkeys((*given.train, *(folder for folder, _ in near_folders)))
    }

    def read(folder: Path, by: Any = None, only: str = "") -> list[Example]:
        kept = given.keep / f"{folder.name}{'-vectors' if by else ''}.pickle" if given.keep else None
        if kept and kept.exists():
            return list(pickle.loads(kept.read_bytes()))
        strange = [query for other in asked if other.name[:2] != folder.name[:2] for query in asked[other]]
        some = list(examples(folder, by, strange if folder in asked else [], only))
        if kept:
            kept.write_bytes(pickle.dumps(some))
        return some

    train = [one for folder in given.train for one in read(folder)]
    near = [one for folder, only in near_folders for one in read(folder, embedder, only)]
    with_meaning = [*ORDER, *learnt.BY_MEANING]
    print(len(train), "examples,", len(near), "with vectors", flush=True)
    if given.folds:
        histories = sorted({one.fold for one in train if one.group == "git"})
        fold_of = {name: f"histories {number % HISTORIES}" for number, name in enumerate(histories)}
        for fold in dict.fromkeys(fold_of.get(one.fold, one.fold) for one in train):
            weights = fit([one for one in train if fold_of.get(one.fold, one.fold) != fold], ORDER, l2=L2)
            for name in dict.fromkeys(one.fold for one in train if fold_of.get(one.fold, one.fold) == fold):
                for group in dict.fromkeys(one.group for one in train if one.fold == name):
                    out = [one for one in train if (one.fold, one.group) == (name, group)]
                    bm25, ours = recall(out, None, ())["all"], recall(out, weights, ORDER)["all"]
                    print(f"fold {name:<12} {group:<16} BM25 {bm25[0]:5} learnt {ours[0]:5} of {ours[1]}", flush=True)
    words = fit(train, ORDER, l2=L2)
    meaning = fit_with_meaning(near, words) if near else np.zeros(2 * len(with_meaning))
    floor = fit_floor(train, FLOOR, words, ORDER)
    by_both = BY_BOTH.split()  # how near a passage is, not how much nearer than others
    floor_meaning = fit_floor(near, by_both, meaning, with_meaning) if near else (0.0, np.zeros(len(by_both)))
    text = written(words, meaning, floor, floor_meaning)
    print(text)
    for folder in given.test:
        some = read(folder)
        print(folder.name, "BM25  ", recall(some, None, ()))
        print(
            folder.name,
            "learnt",
            recall(some, words, ORDER),
            "at 10",
            recall(some, words, ORDER, 10)["all"],
            flush=True,
        )
    if given.write:
        Path(learnt.__file__).write_text(text, "utf-8")


if __name__ == "__main__":
    main()
