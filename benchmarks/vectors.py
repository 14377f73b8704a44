"""How long the nearest vectors take, on both engines, and what finding them by their signs misses.

    python -m benchmarks.vectors [--passages 10000 100000] [--engine sqlite postgres] [--queries 30] [--store URL]
    python -m benchmarks.vectors --real DIR… [--texts 4000]

The first form embeds passages with random unit vectors, three pieces each, through the product's own refresh: what is
measured does not depend on what vectors mean. The second reads folders of texts and queries (`corpus.jsonl.gz`,
`queries.jsonl`), embeds them with the model and says how many of the true nearest pieces are among the candidates.
CPU time of this process; on a server wall time, because its work is not in our CPU time.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.servers import own_server

from recollect import Memory
from recollect.core.context import Context, Tx
from recollect.core.records import Passage
from recollect.models.embed import SentenceModel, default_files
from recollect.models.scripted import ScriptedModels
from recollect.search.meaning import refresh
from recollect.store import passages, vectors
from recollect.store.postgres_setup import initialise
from recollect.text.sentences import pieces

DIMENSIONS = 384
TEXT = "The service forgets all of its tokens at midnight.\nRefresh the token before each and every call of it."
LIMIT = 50


class RandomEmbedder:
    """Unit vectors that mean nothing."""

    name = "random"
    loaded = True

    def __init__(self, dimensions: int = DIMENSIONS):
        self._random = np.random.default_rng(7)
        self._dimensions = dimensions

    def embed(self, texts: Sequence[str]) -> list[Any]:
        made = self._random.standard_normal((len(texts), self._dimensions), dtype=np.float32)
        return list(made / np.linalg.norm(made, axis=1, keepdims=True))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--passages", type=int, nargs="+", default=[10_000, 100_000])
    parser.add_argument("--engine", nargs="+", default=["sqlite", "postgres"])
    parser.add_argument("--queries", type=int, default=30)
    parser.add_argument("--store", help="an empty database to use instead of a server of our own")
    parser.add_argument("--real", type=Path, nargs="+", help="folders of texts and queries")
    parser.add_argument("--texts", type=int, default=4_000, help="how many of each are embedded")
    given = parser.parse_args()
    if given.real:
        real(given.real, given.texts)
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = given.store
        if url is None and "postgres" in given.engine:
            options = ("shared_buffers=1GB", "maintenance_work_mem=1GB", "max_wal_size=8GB")
            url = stack.enter_context(own_server(options=options)).new_database("vectors")
        if url:
            initialise(url)
        for engine in given.engine:
            for count in given.passages:
                place = folder / f"{engine}-{count}"
                with opened(place, url if engine == "postgres" else "") as memory:
                    measure(memory, count, given.queries)


def opened(folder: Path, url: str) -> Memory:
    folder.mkdir()
    environ = {"HOME": str(folder), **({"RECOLLECT_STORE": url} if url else {})}
    return Memory.open(folder, create=True, environ=environ, models=ScriptedModels({}, embedder=RandomEmbedder()))


def measure(memory: Memory, count: int, queries: int) -> None:
    """Nearest pieces, vectors of candidates, and one passage more, in a space with so many passages."""
    ctx = memory.context
    clock = time.process_time if ctx.db.engine == "sqlite" else time.perf_counter
    add_passages(ctx, count)
    started = clock()
    refresh(ctx)
    print(
        f"\n{ctx.db.engine}, {count:,} passages with 3 pieces: keeping their vectors took {clock() - started:.1f} s",
        flush=True,
    )
    wanted = RandomEmbedder().embed([""] * queries)
    with ctx.db.read(ctx.space) as tx:
        docs = [doc for (doc,) in tx.rows("SELECT doc FROM passages WHERE space = :space ORDER BY id LIMIT 200")]
        timed("nearest 50", clock, [partial(near, tx, vector) for vector in wanted])
        timed("nearest 50 of a kind that is one in 20", clock, [partial(near, tx, v, "rare") for v in wanted])
        timed("cosines of 200 passages", clock, [lambda: vectors.cosines(tx, "random", wanted[0], docs)] * queries)
    timed("one passage more", clock, [lambda: one_more(ctx)] * 10)


def one_more(ctx: Context) -> None:
    add_passages(ctx, 1, first=time.time_ns())
    refresh(ctx)


def near(tx: Tx, vector: Any, *kinds: str) -> list[tuple[int, int, float]]:
    return vectors.nearest(tx, "random", vector, limit=LIMIT, kinds=kinds)


def add_passages(ctx: Context, count: int, *, first: int = 0) -> None:
    """Passages of the same few words: the word index is not what is measured here."""
    for start in range(first, first + count, 5_000):
        with ctx.db.write(ctx.space) as tx:
            for n in range(start, min(start + 5_000, first + count)):
                kind = "common" if n % 20 else "rare"
                lines = tuple(TEXT.split("\n"))
                passages.add_all(tx, [Passage(id=f"p/{n:012}", kind=kind, title="", lines=lines, at=0, trust="agent")])


def timed(what: str, clock: Callable[[], float], calls: Sequence[Callable[[], object]]) -> None:
    took = []
    for call in calls:
        started = clock()
        call()
        took.append(1000 * (clock() - started))
    p95 = sorted(took)[int(0.95 * (len(took) - 1))]
    print(f"  {what}: p50 {statistics.median(took):.1f} ms, p95 {p95:.1f} ms", flush=True)


def real(folders: Sequence[Path], count: int) -> None:
    """How many of the true nearest pieces have few different signs, for several numbers of candidates."""
    files = default_files()
    assert files is not None, "this needs the extra `embeddings`"
    model = SentenceModel(files)
    texts, asked = [], []
    for folder in folders:
        with gzip.open(folder / "corpus.jsonl.gz", "rt", encoding="utf-8") as lines:
            texts += [json.loads(line) for line, _ in zip(lines, range(count), strict=False)]
        queries = (folder / "queries.jsonl").read_text("utf-8").splitlines()[:100]
        asked += [json.loads(line)["query"] for line in queries]
    cut = [piece for one in texts for _, piece in pieces(title=one["who"], who="", text=one["text"])]
    table = np.stack(model.embed(cut))
    signs = np.packbits(table > 0, axis=1)
    shares: dict[tuple[int, int], list[float]] = {}
    for query in model.embed(asked):
        true = np.argsort(-(table @ query)).tolist()
        order = np.argsort(np.bitwise_count(signs ^ np.packbits(query > 0)).sum(axis=1, dtype=np.uint16)).tolist()
        for candidates in (50, 100, 200, 500, 1000):
            for best in (10, LIMIT):
                met = set(true[:best]) & set(order[:candidates])
                shares.setdefault((candidates, best), []).append(len(met) / best)
    names = ", ".join(folder.name for folder in folders)
    print(f"{names}: {len(texts):,} texts, {len(cut):,} pieces, {len(asked)} queries")
    for (candidates, best), found in shares.items():
        share = candidates / len(cut)
        print(f"  {candidates} candidates ({share:.1%}): {statistics.mean(found):.1%} of the true {best} nearest")


if __name__ == "__main__":
    main()
