"""Learnings: insert throughput, search latency and the cost of a cold `inject`, as ratios to bare apsw in the same run.

    python -m benchmarks.learnings [--sizes 1000 10000 100000] [--json]

The bare script keeps the seed's tables: a row, an FTS5 table with external content, triggers. Its searches are the
same pruned set of terms (as many of the rarest as ours reads), ranked by FTS5's bm25 with column weights, where
choosing the terms is not counted; and the seed's own query, every word as a prefix, joined by OR. Both word indexes are
brought together first, as a cycle does with ours. CPU time for searches
(the machine may be shared), wall time for inserts (they wait for the disk). Times come alternately from both sides, so
that noise hits both.
"""

from __future__ import annotations

import argparse
import compileall
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import apsw

import recollect
from benchmarks.corpus import learnings, queries
from recollect import Memory, NewLearning
from recollect.capture.learn import _made  # the row a capture makes, without comparing it to others
from recollect.store import learnings as rows
from recollect.store.lookup import POSTINGS
from recollect.text.tokens import STOP_WORDS, words

BARE = """
CREATE TABLE learnings (
  id TEXT PRIMARY KEY, title TEXT NOT NULL, context TEXT NOT NULL, observation TEXT NOT NULL, implication TEXT NOT NULL,
  action TEXT NOT NULL, tags TEXT DEFAULT '[]', domain TEXT, confidence REAL DEFAULT 0.7, status TEXT DEFAULT 'active',
  created_at INTEGER NOT NULL);
CREATE VIRTUAL TABLE learnings_fts USING fts5(
  title, context, observation, implication, action, tags, content='learnings', content_rowid='rowid',
  tokenize='porter');
CREATE TRIGGER learnings_ai AFTER INSERT ON learnings BEGIN
  INSERT INTO learnings_fts(rowid, title, context, observation, implication, action, tags)
  VALUES (new.rowid, new.title, new.context, new.observation, new.implication, new.action, new.tags); END;
CREATE VIRTUAL TABLE vocabulary USING fts5vocab('learnings_fts', 'row');
"""
BARE_SEARCH = """
SELECT l.*, bm25(learnings_fts, 4, 1, 1, 1, 1, 3) AS score FROM learnings_fts JOIN learnings l
ON l.rowid = learnings_fts.rowid WHERE learnings_fts MATCH ? AND l.confidence >= 0.5 AND l.status = 'active'
ORDER BY score LIMIT 10
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--queries", type=int, default=40)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    report: dict[str, Any] = {"sizes": {}}
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            report["sizes"][size] = measure(Path(folder), size, given.queries)
            if size == given.sizes[-1]:
                report["cold inject"] = cold_inject(Path(folder) / "ours")
    if given.json:
        print(json.dumps(report, indent=2))
        return
    for size, figures in report["sizes"].items():
        print(f"{size:,} learnings")
        for name, value in figures.items():
            print(f"  {name:<48} {value}")
    for name, value in report["cold inject"].items():
        print(f"{name:<50} {value}")


def measure(folder: Path, size: int, count: int) -> dict[str, Any]:
    bare = bare_store(folder / "bare.db")
    (folder / "ours").mkdir()
    with Memory.open(folder / "ours", create=True) as memory:
        figures: dict[str, Any] = insert(memory, bare, size)
        memory.context.db.tend_words()  # as a cycle does
        bare.execute("INSERT INTO learnings_fts (learnings_fts) VALUES ('optimize')")
        for length in (3, 40):
            asked = queries(count, length)
            ours = latencies(lambda text: memory.search(text), asked)
            chosen = {text: pruned_query(bare, text) for text in asked}
            pruned = latencies(lambda text: bare.execute(BARE_SEARCH, (chosen[text],)).fetchall(), asked)  # noqa: B023
            seed = latencies(lambda text: bare.execute(BARE_SEARCH, (prefix_query(text),)).fetchall(), asked[:10])
            p50, p95 = percentiles(ours)
            bare50, bare95 = percentiles(pruned)
            figures[f"search {length} words, ms CPU p50 / p95"] = f"{p50:.2f} / {p95:.2f}"
            figures[f"search {length} words, bare pruned p50 / p95"] = f"{bare50:.2f} / {bare95:.2f}"
            figures[f"search {length} words, ratio to bare pruned p50 / p95"] = (
                f"{p50 / bare50:.2f} / {p95 / bare95:.2f}"
            )
            figures[f"search {length} words, seed's query is slower by"] = f"{percentiles(seed)[0] / p50:.1f}x"
    return figures


def insert(memory: Memory, bare: apsw.Connection, size: int) -> dict[str, Any]:
    """Most of the store in bulk, then some one by one; ours and the bare script's alternately, with the same commits.

    Bulk is a commit for every 500 on both sides, one by one a commit for each; all commits are synced. Bulk is what the
    aim is about: `learn()` also redacts, weighs, compares with what is known and writes events.
    """
    source = learnings(size)
    singles = min(200, size // 10)
    bulks, ones = Race(), Race()
    left = size - singles
    while left:
        batch = list(islice(source, min(500, left)))
        left -= len(batch)
        bulks.run(lambda made=batch: bulk(memory, made), lambda made=batch: bare_bulk(bare, made))  # type: ignore[misc]
    for one in source:
        ones.run(lambda new=one: memory.learn(NewLearning(**new)), lambda new=one: bare_bulk(bare, [new]))  # type: ignore[misc]
    return {
        "bulk insert, learnings per second": f"{(size - singles) / bulks.ours:.0f}",
        "bulk insert, ratio to bare, wall / CPU": bulks.ratio,
        "learn() one by one, per second": f"{singles / ones.ours:.0f}",
        "learn() one by one, ratio to bare, wall / CPU": ones.ratio,
    }


class Race:
    """Two ways to do the same, by turns: seconds of each."""

    def __init__(self) -> None:
        self.ours = self._bare = self._our_cpu = self._bare_cpu = 0.0

    def run(self, ours: Callable[[], object], bare: Callable[[], object]) -> None:
        seconds, cpu = timed(ours)
        self.ours += seconds
        self._our_cpu += cpu
        seconds, cpu = timed(bare)
        self._bare += seconds
        self._bare_cpu += cpu

    @property
    def ratio(self) -> str:
        return f"{self._bare / self.ours:.2f} / {self._bare_cpu / self._our_cpu:.2f}"


def bulk(memory: Memory, batch: list[dict[str, Any]]) -> None:
    ctx = memory.context
    made = [_made(ctx, NewLearning(**fields), origin="bench", now=ctx.clock.now()) for fields in batch]
    with ctx.db.write(ctx.space) as tx:
        rows.insert_all(tx, made)


def bare_store(path: Path) -> apsw.Connection:
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA cache_size=-16000")
    connection.execute(BARE)
    return connection


def bare_bulk(connection: apsw.Connection, batch: list[dict[str, Any]]) -> None:
    with connection:
        for fields in batch:
            connection.execute(
                "INSERT INTO learnings (id, title, context, observation, implication, action, tags, domain, "
                "created_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    os.urandom(8).hex(),
                    *(fields[name] for name in ("title", "context", "observation", "implication", "action")),
                    json.dumps(fields["tags"]),
                    fields["domain"],
                    time.time_ns() // 1_000_000,
                ),
            )


def pruned_query(connection: apsw.Connection, text: str) -> str:
    """The same pruning, done the plain way: the rarest terms, as many as may be read, joined by OR."""
    terms = list(dict.fromkeys(word.lower() for word in words(text) if word.lower() not in STOP_WORDS))
    counted: list[tuple[int, str]] = []
    for term in terms:
        sql = "SELECT count(*) FROM learnings_fts WHERE learnings_fts MATCH ?"
        [(count,)] = connection.execute(sql, (f'"{term}"',)).fetchall()
        counted.append((int(str(count)), term))
    rarest: list[str] = []
    read = 0
    for count, term in sorted(counted):
        if count and (not rarest or read + count <= POSTINGS):
            rarest.append(term)
            read += count
    return " OR ".join(f'"{term}"' for term in rarest) or '"nothing"'


def prefix_query(text: str) -> str:
    return " OR ".join(f'"{term}"*' for term in text.split() if len(term) > 2)


def latencies(search: Callable[[str], object], asked: list[str]) -> list[float]:
    search(asked[0])
    taken = []
    for text in asked:
        start = time.process_time()
        search(text)
        taken.append((time.process_time() - start) * 1000)
    return taken


def percentiles(taken: list[float]) -> tuple[float, float]:
    return statistics.median(taken), sorted(taken)[int(len(taken) * 0.95)]


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds on the wall and of the processor."""
    start, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - start, time.process_time() - cpu


def cold_inject(project: Path, runs: int = 25) -> dict[str, str]:
    """Whole processes, alternating; CPU seconds of the child, so that other work on the machine does not count."""
    compileall.compile_dir(Path(recollect.__file__).parent, quiet=2)  # as an installed package is
    title = "Fix the webhook handler of Stripe"
    inject = [sys.executable, "-m", "recollect", "inject", "--outcome", "o", "--title", title, "--task"]
    bare, ours = [], []
    for run in range(runs):
        bare.append(_cpu([sys.executable, "-c", "pass"], project))
        ours.append(_cpu([*inject, f"task-{run}"], project))
    memory = f"import resource, subprocess; subprocess.run({[*inject, 'task-last']!r}, stdout=subprocess.DEVNULL); "
    memory += "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024)"
    peak = subprocess.run([sys.executable, "-c", memory], cwd=project, capture_output=True, text=True, check=True)
    return {
        "cold inject, ms CPU": f"{statistics.median(ours) * 1000:.0f}",
        "cold inject, ratio to `python -c pass`": f"{statistics.median(ours) / statistics.median(bare):.2f}",
        "cold inject, peak memory MB": peak.stdout.strip(),
    }


def _cpu(command: list[str], folder: Path) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime) - (before.ru_utime + before.ru_stime)


if __name__ == "__main__":
    main()
