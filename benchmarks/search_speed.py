"""How fast search is, beside bare FTS5, tantivy and qmd on the same texts in the same run.

    python -m benchmarks.search_speed [--sizes 10000 100000] [--queries 40] [--qmd FOLDER] [--json]

Texts come from `benchmarks/corpus.py`, one passage each, ten to a thread; each has one random vector of 384 numbers,
so hybrid search pays for the nearest neighbours but not for the model (a question takes MiniLM 11 to 17 ms more). CPU
milliseconds, because the machine may be shared; the sides take turns, so that noise hits all. Bare FTS5 and tantivy
get every word of a query joined by OR, and rank by BM25. tantivy is a dependency of this benchmark only (`pip install
tantivy`); where it is missing its rows are left out. qmd's BM25 runs in a process of its own when FOLDER holds it
(`npm install --prefix FOLDER node@22 @tobilu/qmd@2.8.3`); it wants every word of a query, as a prefix.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import numpy as np

from benchmarks.corpus import learnings, queries
from recollect import Memory
from recollect.core.records import Passage
from recollect.core.settings import EmbedSettings, ModelSettings
from recollect.models.configured import ConfiguredModels
from recollect.store import passages, vectors
from recollect.store.vectors import Embedded, UnembeddedPassage
from recollect.text.tokens import STOP_WORDS, words

SIZE = 384
BATCH = 5_000
ADDED = 30  # texts that are added one by one

Search = Callable[[str], object]
Side = Callable[[str], float]  # the CPU milliseconds of one search


class RandomEmbedder:
    """A random direction for every text: as costly to compare as a real one, and free to make."""

    name = "random"
    loaded = False

    def __init__(self) -> None:
        self._chance = np.random.default_rng(5)

    def embed(self, texts: Sequence[str]) -> list[Any]:
        made = self._chance.standard_normal((len(texts), SIZE)).astype(np.float32)
        return list(made / np.linalg.norm(made, axis=1, keepdims=True))


class RandomModels(ConfiguredModels):
    def __init__(self) -> None:
        super().__init__(ModelSettings(), EmbedSettings(use="off"), {})
        self._random = RandomEmbedder()

    def embedder(self) -> RandomEmbedder:
        return self._random


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--qmd", type=Path, help="the folder of its node_modules")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    results = {}
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            results[size] = measured(Path(folder), size, given.queries, given.qmd)
    print(json.dumps(results, indent=2) if given.json else _as_text(results))


def measured(folder: Path, size: int, count: int, qmd: Path | None) -> dict[str, Any]:
    texts = [_text(fields) for fields in islice(learnings(size + ADDED), size + ADDED)]
    result: dict[str, Any] = {}
    with Memory.open(folder, create=True, models=RandomModels()) as memory, ExitStack() as stack:
        result["load, µs a text"] = _timed(lambda: _load(memory, texts[:size])) * 1e6 / size
        result["vectors, µs a text"] = _timed(lambda: _embed(memory)) * 1e6 / size
        bare = _bare(folder / "bare.db", texts[:size])
        searches: dict[str, Search] = {
            "words": lambda text: memory.search(text, strategy="bm25"),
            "hybrid": memory.search,
            "bare FTS5": lambda text: bare.execute(_BARE_SEARCH, (_any_of(text),)).fetchall(),
        }
        if (tantivy := _tantivy(folder / "tantivy", texts[:size])) is not None:
            searches["tantivy"] = tantivy
        sides: dict[str, Side] = {name: partial(_milliseconds, search) for name, search in searches.items()}
        if qmd is not None:
            sides["qmd"] = stack.enter_context(_qmd(qmd, folder / "qmd.db", texts[:size]))
        for length in (3, 40):
            for name, times in _taking_turns(sides, queries(count, length)).items():
                p95 = statistics.quantiles(times, n=20)[-1]
                result[f"{name}, {length} words, ms p50 / p95"] = (statistics.median(times), p95)
        result["adding one text, ms p50"] = statistics.median(
            1000 * _timed(partial(_load, memory, [texts[size + n]], first=size + n)) for n in range(ADDED)
        )
    result["store, MB"] = _megabytes(memory.project.data)
    result["bare FTS5, MB"] = _megabytes(folder / "bare.db")
    result["tantivy, MB"] = _megabytes(folder / "tantivy")
    result["qmd, MB"] = _megabytes(folder / "qmd.db")
    result["peak memory, MB"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return result


def _text(fields: dict[str, Any]) -> tuple[str, str]:
    return fields["title"], " ".join(fields[name] for name in ("context", "observation", "implication", "action"))


def _load(memory: Memory, texts: Sequence[tuple[str, str]], first: int = 0) -> None:
    context = memory.context
    for start in range(0, len(texts), BATCH):
        with context.db.write(context.space) as tx:
            numbered = enumerate(texts[start : start + BATCH], start=first + start)
            passages.add_all(tx, (_passage(number, title, text) for number, (title, text) in numbered))


def _passage(number: int, title: str, text: str) -> Passage:
    return Passage(
        id=f"log/2026-03-02#{number}",
        kind="log",
        title=title,
        lines=(text,),
        at=number,
        trust="agent",
        thread=f"log/{number // 10}",
        position=number % 10 + 1,
    )


def _embed(memory: Memory) -> None:
    """One random vector for each passage."""
    context, embedder = memory.context, RandomEmbedder()
    while True:
        with context.db.read(context.space) as tx:
            found = vectors.waiting(tx, embedder.name, limit=BATCH)
        if not found:
            return
        with context.db.write(context.space) as tx:
            vectors.put(tx, embedder.name, list(_embedded(found, embedder)), at=0)


def _embedded(found: Sequence[UnembeddedPassage], embedder: RandomEmbedder) -> Iterator[Embedded]:
    for one, vector in zip(found, embedder.embed([one.text for one in found]), strict=True):
        yield Embedded(doc=one.doc, kind=one.kind, hash=one.hash, pieces=[(0, vector)])


_BARE_SEARCH = "SELECT rowid, bm25(notes, 4, 1) AS score FROM notes WHERE notes MATCH ? ORDER BY score LIMIT 10"


def _bare(file: Path, texts: Sequence[tuple[str, str]]) -> apsw.Connection:
    db = apsw.Connection(str(file))
    db.execute("CREATE VIRTUAL TABLE notes USING fts5(title, body, tokenize='porter')")
    with db:
        db.executemany("INSERT INTO notes (title, body) VALUES (?, ?)", texts)
    return db


def _any_of(text: str) -> str:
    return " OR ".join(f'"{word}"' for word in words(text) if word.lower() not in STOP_WORDS)


def _tantivy(folder: Path, texts: Sequence[tuple[str, str]]) -> Search | None:
    try:
        import tantivy
    except ImportError:
        return None
    folder.mkdir()
    builder = tantivy.SchemaBuilder()
    for name in ("title", "body"):
        builder.add_text_field(name, stored=False, tokenizer_name="en_stem")
    index = tantivy.Index(builder.build(), path=str(folder))
    writer = index.writer()
    for title, body in texts:
        writer.add_document(tantivy.Document(title=title, body=body))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()
    return lambda text: searcher.search(index.parse_query(_any_of(text), ["title", "body"]), 10)


@contextmanager
def _qmd(folder: Path, database: Path, texts: Sequence[tuple[str, str]]) -> Iterator[Side]:
    node = folder / "node_modules" / "node" / "bin" / "node"
    command = [str(node), str(Path(__file__).with_name("qmd.mjs")), str(folder.resolve()), str(database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        talk_in, talk_out = process.stdin, process.stdout
        assert talk_in is not None
        assert talk_out is not None

        def ask(**asked: Any) -> dict[str, Any]:
            talk_in.write(json.dumps(asked) + "\n")
            talk_in.flush()
            answer: dict[str, Any] = json.loads(talk_out.readline())
            return answer

        for start in range(0, len(texts), BATCH):
            ask(add=[(start + n, *text) for n, text in enumerate(texts[start : start + BATCH])])
        yield lambda text: float(ask(search=text)["cpu"])


def _taking_turns(sides: dict[str, Side], asked: Sequence[str]) -> dict[str, list[float]]:
    for side in sides.values():
        side(asked[0])
    turns = [{name: side(text) for name, side in sides.items()} for text in asked]
    return {name: [turn[name] for turn in turns] for name in sides}


def _milliseconds(search: Search, text: str) -> float:
    return 1000 * _timed(partial(search, text))


def _timed(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return time.process_time() - started


def _megabytes(path: Path) -> float:
    files = [path] if path.is_file() else [Path(root) / name for root, _, names in os.walk(path) for name in names]
    return sum(file.stat().st_size for file in files) / 1e6


def _as_text(results: dict[int, dict[str, Any]]) -> str:
    names = list(dict.fromkeys(name for result in results.values() for name in result))
    lines = [f"{'':<34}" + "".join(f"{size:>18,}" for size in results)]
    for name in names:
        lines.append(f"{name:<34}" + "".join(f"{_cell(result.get(name)):>18}" for result in results.values()))
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if value is None:
        return "–"
    return " / ".join(f"{part:.2f}" for part in value) if isinstance(value, tuple) else f"{value:.1f}"


if __name__ == "__main__":
    main()
