"""Instructions of one search and of one learning of many that are written at once, which no other work on the machine
changes: ours, and those of the bare script in `learnings.py`.

    python -m benchmarks.instructions [--size 1000]

Each figure is the difference between a process that searches forty times more, or writes a thousand learnings, and one
that does not, counted by valgrind (apt install valgrind). A search is measured with the word index in the pieces that
single writes leave, and in one; writing in commits of 500.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import apsw

from benchmarks.corpus import learnings, queries
from benchmarks.learnings import BARE_SEARCH, bare_bulk, bare_store, bulk, pruned_query
from recollect import Memory

SEARCHES = 40
LENGTHS = (3, 40)
WRITTEN = 1000
COMMIT = 500
COUNTED = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=1000)
    parser.add_argument("--child", nargs=4, metavar=("FOLDER", "WHAT", "LENGTH", "TIMES"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        folder, what, length, times = given.child
        if int(length):
            _search(Path(folder), what, int(length), int(times))
        else:
            _write(what, int(times))
        return
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _fill(folder, given.size)
        _report(folder, "in pieces")
        with Memory.open(folder) as memory:
            memory.context.db.tend_words()
        apsw.Connection(str(folder / "bare.db")).execute(
            "INSERT INTO learnings_fts (learnings_fts) VALUES ('optimize')"
        )
        _report(folder, "in one")
        ours, bare = (_difference(folder, what, 0, WRITTEN) for what in ("ours", "bare"))
        print(f"one learning of {WRITTEN:,}: {ours:,.0f} thousand, bare {bare:,.0f}, ratio {bare / ours:.2f}")


def _fill(folder: Path, size: int) -> None:
    bare = bare_store(folder / "bare.db")
    with Memory.open(folder, create=True) as memory:
        for one in learnings(size):
            bulk(memory, [one])
            bare_bulk(bare, [one])


def _report(folder: Path, index: str) -> None:
    for length in LENGTHS:
        ours, bare = (_difference(folder, what, length, SEARCHES) for what in ("ours", "bare"))
        print(f"{length:>2} words, index {index}: {ours:,.0f} thousand, bare {bare:,.0f}, ratio {ours / bare:.2f}")


def _difference(folder: Path, what: str, length: int, times: int) -> float:
    none, some = (_counted(folder, what, length, done) for done in (0, times))
    return (some - none) / times / 1000


def _counted(folder: Path, what: str, length: int, times: int) -> int:
    child = [sys.executable, "-m", "benchmarks.instructions", "--child", str(folder), what, str(length), str(times)]
    done = subprocess.run([*COUNTED, *child], capture_output=True, text=True, check=True)
    found = re.search(r"I\s+refs:\s+([\d,]+)", done.stderr)
    assert found, done.stderr
    return int(found[1].replace(",", ""))


def _search(folder: Path, what: str, length: int, times: int) -> None:
    """Forty questions to get warm, then as many as are counted."""
    asked = queries(SEARCHES, length)
    search: Callable[[str], object]
    if what == "bare":
        connection = apsw.Connection(str(folder / "bare.db"))
        chosen = {text: pruned_query(connection, text) for text in asked}
        search = lambda text: connection.execute(BARE_SEARCH, (chosen[text],)).fetchall()  # noqa: E731
    else:
        search = Memory.open(folder).search
    for text in (*asked, *asked[:times]):
        search(text)


def _write(what: str, times: int) -> None:
    source = list(learnings(WRITTEN))
    with tempfile.TemporaryDirectory() as scratch, Memory.open(scratch, create=True) as memory:
        bare = bare_store(Path(scratch) / "bare.db")
        for start in range(0, times, COMMIT):
            batch = source[start : start + COMMIT]
            bare_bulk(bare, batch) if what == "bare" else bulk(memory, batch)


if __name__ == "__main__":
    main()
