"""The two engines side by side: search and inject on PostgreSQL with many spaces, against SQLite with one of them.

    python -m benchmarks.engines [--spaces 20] [--size 50000] [--queries 60] [--seconds 6] [--store URL]

Without `--store` a server is started from the test wheel, with fsync on. Rows and index are loaded through COPY, as the
product would have written them (a sample is compared); everything measured goes through `Memory`. Queries alternate
between the engines, so that a busy machine hits both. Wall time: a server's work is not in our CPU time.
"""

from __future__ import annotations

import argparse
import multiprocessing
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import count, islice
from pathlib import Path
from typing import Any

import psycopg
from tests.servers import own_server

from benchmarks.corpus import learnings, queries
from recollect import Memory, NewLearning
from recollect.capture.learn import _made  # the row a capture makes, without comparing it to others
from recollect.core.context import Context
from recollect.core.learning import Learning
from recollect.core.records import random_id
from recollect.store import learnings as rows
from recollect.store import passages
from recollect.store.db import graded, index_tokens
from recollect.store.postgres_setup import initialise
from recollect.text.tokens import term_lines

SERVER = (
    "shared_buffers=1GB",
    "effective_cache_size=4GB",
    "maintenance_work_mem=1GB",
    "max_wal_size=16GB",
    "max_connections=100",
)
TABLES = ("learnings", "learning_tags", "passages", "passage_words", "terms")
PASSAGE = ("doc", "space", "id", "kind", "title", "text", "keywords", "who", "at", "trust", "thread", "position")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spaces", type=int, default=20)
    parser.add_argument("--size", type=int, default=50_000, help="learnings in each space")
    parser.add_argument("--queries", type=int, default=60)
    parser.add_argument("--seconds", type=float, default=6.0, help="of load per number of clients")
    parser.add_argument("--clients", type=int, nargs="+", default=[1, 8, 32])
    parser.add_argument("--store", help="an empty database to use instead of a server of our own")
    given = parser.parse_args()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        url = given.store
        if url is None:
            server = stack.enter_context(own_server(durable=True, options=SERVER))
            url = server.new_database("engines")
        initialise(url)
        embedded = stack.enter_context(opened(folder / "embedded", ""))
        team = stack.enter_context(opened(folder / "team", url))
        small = stack.enter_context(opened(folder / "small", url))
        load_embedded(embedded, given.size)
        load_team(url, team, small, spaces=given.spaces, size=given.size)
        same_rows(embedded, team)
        compare(embedded, team, given.queries, given.size)
        growth(small, team, given.queries, given.size)
        for clients in given.clients:
            crowd(folder / "team", url, clients, given.seconds)


def opened(folder: Path, url: str) -> Memory:
    folder.mkdir()
    return Memory.open(folder, create=True, environ={"HOME": str(folder), **({"RECOLLECT_STORE": url} if url else {})})


def load_embedded(memory: Memory, size: int) -> None:
    started = time.perf_counter()
    ctx = memory.context
    made = made_rows(ctx, size, seed=0)
    for _ in range(0, size, 1000):
        with ctx.db.write(ctx.space) as tx:
            for learning in islice(made, 1000):
                rows.insert(tx, learning)
    say(f"SQLite loaded with {size:,} learnings", started)


def load_team(url: str, team: Memory, small: Memory, *, spaces: int, size: int) -> None:
    """Space 0 holds what the embedded store holds; the small one a tenth; the others are the crowd around them."""
    started = time.perf_counter()
    with psycopg.connect(url) as connection:
        connection.execute("DROP INDEX passage_words_by_word")
        docs = count(1)
        fill(connection, team.context, team.context.space, size, seed=0, docs=docs)
        fill(connection, small.context, small.context.space, size // 10, seed=1, docs=docs)
        for number in range(1, spaces):
            fill(connection, team.context, f"crowd-{number}", size, seed=number + 1, docs=docs)
        connection.execute("SELECT setval(pg_get_serial_sequence('passages', 'doc'), %s)", (next(docs),))
        connection.execute(
            "CREATE INDEX passage_words_by_word ON passage_words USING gin (words) WITH (fastupdate=off)"
        )
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("VACUUM ANALYZE")
        found = connection.execute("SELECT count(*), pg_database_size(current_database()) FROM learnings").fetchone()
        assert found is not None
        words = connection.execute(
            "SELECT pg_total_relation_size('passage_words'), pg_relation_size('passage_words_by_word')"
        ).fetchone()
        assert words is not None
    say(f"PostgreSQL loaded with {found[0]:,} learnings, {found[1] / 1e9:.2f} GB", started)
    print(f"of it the word index {words[0] / 1e9:.2f} GB, its GIN part {words[1] / 1e9:.2f} GB", flush=True)


def fill(
    connection: psycopg.Connection[Any], ctx: Context, space: str, size: int, *, seed: int, docs: Iterator[int]
) -> None:
    """One space through COPY, a few thousand learnings at a time."""
    found = connection.execute("INSERT INTO spaces (space) VALUES (%s) RETURNING number", (space,)).fetchone()
    assert found is not None
    counts: Counter[str] = Counter()
    batch: dict[str, list[tuple[Any, ...]]] = {name: [] for name in TABLES}
    for done, learning in enumerate(made_rows(ctx, size, seed=seed), start=1):
        add(batch, learning, space, found[0], next(docs), counts)
        if done % 5000 == 0 or done == size:
            for name, made in batch.items():
                copy(connection, name, made)
                made.clear()
    copy(connection, "terms", [(space, term, docs) for term, docs in counts.items()])
    connection.commit()


def add(
    batch: dict[str, list[tuple[Any, ...]]], learning: Learning, space: str, number: int, doc: int, counts: Counter[str]
) -> None:
    values = {**vars(learning), "confidence": round(learning.confidence * 1000), "pinned": int(learning.pinned)}
    batch["learnings"].append((space, *(values[name] for name in LEARNING[1:])))
    batch["learning_tags"] += [(space, learning.id, place, tag) for place, tag in enumerate(learning.tags)]
    passage = rows.passage_of(learning)
    lines = passages.lines_of(passage)
    stream = term_lines(lines)
    batch["passages"].append(
        (
            *(doc, space, learning.id, passage.kind, lines[0], "\n".join(lines[3:]), lines[2], lines[1], passage.at),
            *(passage.trust, passage.thread, passage.position, passages.digest_of(passage, lines), stream),
        )
    )
    strong, others = graded(stream)
    quoted = " ".join(f"'{token}'" for token in index_tokens(number, strong, others).split())
    batch["passage_words"].append((doc, 0, quoted))
    counts.update(strong)
    counts.update(others)
    counts[passages.EVERY] += 1


LEARNING = ("space", *rows._NAMES)
COLUMNS = {
    "learnings": LEARNING,
    "learning_tags": ("space", "learning_id", "position", "tag"),
    "passages": (*PASSAGE, "hash", "terms"),
    "passage_words": ("doc", "part", "words"),
    "terms": ("space", "term", "docs"),
}


def copy(connection: psycopg.Connection[Any], table: str, made: list[tuple[Any, ...]]) -> None:
    statement = f"COPY {table} ({', '.join(COLUMNS[table])}) FROM STDIN"
    with connection.cursor().copy(statement.encode()) as out:
        for row in made:
            out.write_row(row)


def made_rows(ctx: Context, size: int, *, seed: int) -> Iterator[Learning]:
    now = ctx.clock.now()
    for fields in learnings(size, seed=seed):
        yield _made(ctx, NewLearning(**fields), origin="bench", now=now)  # type: ignore[arg-type]


def same_rows(embedded: Memory, team: Memory) -> None:
    """What was copied is what the product writes: the same scores for the same queries."""
    for text in queries(20, 3) + queries(20, 40):
        one, other = ([hit.score for hit in memory.search(text)] for memory in (embedded, team))
        assert one == other, text
    print("the top ten have equal scores on both engines for 40 queries", flush=True)


def compare(embedded: Memory, team: Memory, number: int, size: int) -> None:
    for name, words, work in KINDS:
        times: dict[str, list[float]] = {"SQLite": [], "PostgreSQL": []}
        for text in queries(number, words, seed=23):
            for engine, memory in (("SQLite", embedded), ("PostgreSQL", team)):
                times[engine].append(timed(work, memory, text))
        one, other = percentiles(times["SQLite"]), percentiles(times["PostgreSQL"])
        print(
            f"{name}: SQLite {size:,} p50 {one[0]:.1f} p95 {one[1]:.1f} ms; PostgreSQL p50 {other[0]:.1f} "
            f"p95 {other[1]:.1f} ms; ratio {other[0] / one[0]:.2f} / {other[1] / one[1]:.2f}",
            flush=True,
        )


def growth(small: Memory, large: Memory, number: int, size: int) -> None:
    for name, words, work in KINDS:
        asked = queries(number, words, seed=29)
        little, much = (percentiles([timed(work, memory, text) for text in asked]) for memory in (small, large))
        print(
            f"{name}: a space of {size // 10:,} p50 {little[0]:.1f} p95 {little[1]:.1f} ms, of {size:,} "
            f"p50 {much[0]:.1f} p95 {much[1]:.1f} ms: {much[0] / little[0]:.2f}x / {much[1] / little[1]:.2f}x",
            flush=True,
        )


def crowd(folder: Path, url: str, clients: int, seconds: float) -> None:
    """Clients as processes of their own, each nine searches and one inject, over and over."""
    context = multiprocessing.get_context("spawn")
    answers: multiprocessing.Queue[list[float]] = context.Queue()
    start = context.Barrier(clients)
    at_work = [
        context.Process(target=client, args=(str(folder), url, number, seconds, start, answers))
        for number in range(clients)
    ]
    for process in at_work:
        process.start()
    times = [each for _ in at_work for each in answers.get(timeout=600)]
    for process in at_work:
        process.join()
    p50, p95 = percentiles(times)
    print(f"{clients} clients: {len(times) / seconds:.0f} calls per second, p50 {p50:.1f} p95 {p95:.1f} ms", flush=True)


def client(folder: str, url: str, number: int, seconds: float, start: Any, answers: Any) -> None:
    asked = queries(50, 3, seed=number)
    times: list[float] = []
    with Memory.open(folder, environ={"HOME": folder, "RECOLLECT_STORE": url}) as memory:
        memory.search("warm up")
        start.wait()
        until = time.perf_counter() + seconds
        while time.perf_counter() < until:
            text = asked[len(times) % len(asked)]
            work = injecting if len(times) % 10 == 9 else searching
            times.append(timed(work, memory, text))
    answers.put(times)


def searching(memory: Memory, text: str) -> object:
    return memory.search(text)


def injecting(memory: Memory, text: str) -> object:
    return memory.inject(task=random_id("task"), outcome="bench", title=text[:80], description=text)


KINDS: tuple[tuple[str, int, Callable[[Memory, str], object]], ...] = (
    ("search, 3 words", 3, searching),
    ("search, 40 words", 40, searching),
    ("inject", 40, injecting),
)


def timed(work: Callable[[Memory, str], object], memory: Memory, text: str) -> float:
    started = time.perf_counter()
    work(memory, text)
    return (time.perf_counter() - started) * 1000


def percentiles(times: list[float]) -> tuple[float, float]:
    return statistics.median(times), statistics.quantiles(times, n=20)[-1]


def say(what: str, started: float) -> None:
    print(f"{what} in {time.perf_counter() - started:.0f} s", flush=True)


if __name__ == "__main__":
    main()
