"""What taking in a folder of notes costs, the first time and again.

    python -m benchmarks.imports [--notes N]

Each note has twenty lines and one observation that says what to do, over a year of days: one entry and one learning a
note. CPU time, because a shared machine's clock measures its neighbours.
"""

import argparse
import random
import tempfile
import time
from pathlib import Path

from benchmarks.corpus import ACTIONS, PARTS, PROBLEMS, TECHNOLOGIES, identifier
from recollect import Actor, Memory

PERSON = Actor(name="ada", channel="cli", trust="human")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--notes", type=int, default=1000)
    count = parser.parse_args().notes
    with tempfile.TemporaryDirectory() as scratch:
        notes = Path(scratch, "notes")
        notes.mkdir()
        for number in range(count):
            (notes / f"{number}.md").write_text(note(number), "utf-8")
        with Memory.open(Path(scratch), create=True, actor=PERSON) as memory:
            for turn in ("first", "again"):
                begun = time.process_time()
                done = memory.data.gather("markdown", notes)
                spent = (time.process_time() - begun) * 1000 / count
                print(f"{turn}: {done.added or 'nothing new'}, {done.known} known, {spent:.2f} ms of CPU a note")


def note(number: int) -> str:
    choose = random.Random(number)
    lines = "\n".join(f"{fact(choose)}." for _ in range(20))
    day = f"2025-{1 + number // 28 % 12:02}-{1 + number % 28:02}"
    rule = f"{fact(choose)}; always {choose.choice(ACTIONS).lower()} {identifier(choose)}"
    return f"---\ntitle: Note {number}\ndate: {day}\n---\n{lines}\n- [rule] {rule}\n"


def fact(choose: random.Random) -> str:
    return f"The {choose.choice(PARTS)} of {choose.choice(TECHNOLOGIES)} {choose.choice(PROBLEMS)}"


if __name__ == "__main__":
    main()
