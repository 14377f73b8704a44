"""What the tree costs: python benchmarks/tree.py [--years N] [--only cycle|all|line]

- cycle: one cycle after one new entry, with one month of history and with N years, as a ratio (aim: at most 1.3);
- all: `compact --all` over N years of days with 200 lines each, seconds and peak memory (aim: below 300 MB);
- line: a log that is one line of 100 MB, seconds and peak memory (same aim).

The memory figures are of a process of their own. Everything happens in a temporary folder.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import date, timedelta
from pathlib import Path

from recollect import Memory, ScriptedClock
from recollect.core.journal import NewEntry

LAST = date(2026, 3, 1)
ROUNDS = 9
WORDS = (
    "deploy invoice pgbouncer tenant webhook replica migration partition index token cache retry queue ledger refund "
    "staging rollback schema checksum latency timeout backfill sidecar manifest trigram export signature counter"
).split()
TYPES = ("project", "project", "project", "feedback", "reference", "project", "user")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--years", type=int, default=10)
    parser.add_argument("--only", choices=("cycle", "all", "line"))
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        _child(Path(options.child[0]), options.child[1])
        return
    days = options.years * 365
    if options.only in (None, "cycle"):
        _cycle(days)
    if options.only in (None, "all"):
        with tempfile.TemporaryDirectory() as folder:
            _fill(Path(folder), days, lines=200)
            _in_child(Path(folder), "all", f"compact --all over {days} days of 200 lines")
    if options.only in (None, "line"):
        with tempfile.TemporaryDirectory() as folder:
            vault = _fill(Path(folder), 3, lines=20)
            with (vault / f"{LAST}.md").open("w") as file:
                file.write("## one line [project]\n")
                for _ in range(1_000):
                    file.write("shipped the 日本 webhook ✓ to tenant 42, " * 2_300)
            _in_child(Path(folder), "cycle", "a cycle with a log of one line of 100 MB")


def _cycle(days: int) -> None:
    """Wall and CPU time of one cycle after one entry: the rounds of both histories alternate, so noise hits both."""
    with tempfile.TemporaryDirectory() as short, tempfile.TemporaryDirectory() as long:
        memories = []
        for folder, count in ((short, 30), (long, days)):
            _fill(Path(folder), count, lines=20)
            memory = _open(Path(folder))
            memory.journal.compact()
            memories.append(memory)
        took: list[list[tuple[float, float]]] = [[], []]
        for round in range(ROUNDS):
            for memory, times in zip(memories, took, strict=True):
                memory.journal.add(NewEntry(text=f"Decided on option {round}. Shipped v{round}.", topic="today"))
                wall, cpu = time.perf_counter(), time.process_time()
                done, _ = memory.journal.compact()
                times.append((time.perf_counter() - wall, time.process_time() - cpu))
                assert len(done.changes) == 4
        for name, part in (("wall", 0), ("cpu", 1)):
            one, many = (statistics.median(each[part] for each in times) for times in took)
            print(
                f"one cycle after one entry, {name}: {1000 * one:.1f} ms with 30 days, "
                f"{1000 * many:.1f} ms with {days} days, ratio {many / one:.2f}"
            )
        for memory in memories:
            memory.close()


def _in_child(folder: Path, what: str, name: str) -> None:
    """Run in a process of its own, so that its peak memory is its own."""
    started = time.perf_counter()
    command = [sys.executable, __file__, "--child", str(folder), what]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    print(f"{name}: {time.perf_counter() - started:.1f} s, {said}")


def _child(folder: Path, what: str) -> None:
    with _open(folder) as memory:
        done, _ = memory.journal.compact(everything=what == "all")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(done.changes)} nodes, peak {peak:.0f} MB")


def _open(folder: Path) -> Memory:
    clock = ScriptedClock(f"{LAST}T20:00:00Z")
    return Memory.open(folder, create=True, clock=clock, environ={"HOME": str(folder)})


def _fill(folder: Path, days: int, *, lines: int) -> Path:
    """Logs that look like an agent's: entries of five lines, topics that come back; gives their folder."""
    with _open(folder) as memory:
        vault = memory.project.vault
    vault.mkdir()
    for n in range(days):
        parts = []
        for k in range(lines // 5):
            at = n * 31 + k * 7
            words = [WORDS[(at + j * j) % len(WORDS)] for j in range(12)]
            parts.append(
                f"## {words[0]} {words[1]} [{TYPES[at % len(TYPES)]}]\n"
                f"- request: {' '.join(words[2:8])} for tenant {at % 97}\n"
                f"- decisions: use {words[8]} instead of {words[9]}, measured {at % 900} ms\n"
                f"- outcome: {words[10]} shipped in v{n}.{k}, src/{words[11]}_{at % 13}.py\n\n"
            )
        (vault / f"{LAST - timedelta(days=n)}.md").write_text("".join(parts), "utf-8")
    return vault


if __name__ == "__main__":
    main()
