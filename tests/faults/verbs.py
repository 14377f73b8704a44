"""One verb that writes a file and rows, between two marks, for strace to make any system call in it fail. A program.

Prints what a caller would be told: `saved`, `unknown` (nobody can say), or `failed`; then the warning or the message.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path

from conftest import PERSON
from faults.steps import BEGIN, END
from recollect import Memory, NewDecision, NewEntry
from recollect.core.errors import FateUnknown, RecollectError
from recollect.core.finding import NewFinding
from samples import learning

TEXT = "Refunds moved to the ledger service"


def log(memory: Memory) -> str:
    return memory.journal.add(NewEntry(text=TEXT)).warning


def stage(memory: Memory) -> str:
    return memory.staging.stage(f"{TEXT}; always ask it first", "The old table is frozen.").warning


def finding(memory: Memory) -> str:
    return memory.themes.add("wu-1", NewFinding(description=TEXT)).warning


def learn(memory: Memory) -> str:
    memory.learn(learning(observation=TEXT))
    return ""


def decide(memory: Memory) -> str:
    memory.decisions.record(NewDecision(decision=TEXT, confidence=0.8, category="billing"))
    return ""


VERBS: dict[str, Callable[[Memory], str]] = {
    "log": log,
    "stage": stage,
    "finding": finding,
    "learn": learn,
    "decide": decide,
}


def copies(memory: Memory, verb: str) -> int:
    """How often the text of a verb is kept."""
    if verb == "log":
        days = [memory.journal.show(each.day) for each in memory.journal.days()]
        return sum(text.splitlines().count(TEXT) for text in days)
    if verb == "stage":
        file = memory.project.root / memory.context.settings.staging.file
        return file.read_text("utf-8").count(TEXT) if file.exists() else 0
    if verb == "finding":
        return sum(each.description == TEXT for file in memory.themes.survey().files for each in file.findings)
    if verb == "learn":
        return sum(each.observation == TEXT for each in memory.learnings.page(limit=1000)[0])
    return sum(each.decision == TEXT for each in memory.decisions.page(limit=1000)[0])


def told(memory: Memory, verb: str) -> tuple[str, str]:
    """What a caller is told."""
    try:
        return "saved", VERBS[verb](memory)
    except FateUnknown as unknown:
        return "unknown", str(unknown)
    except RecollectError as error:
        return "failed", str(error)


def prepare(root: Path) -> None:
    """A project in which something was logged before, as in most."""
    root.mkdir(parents=True)
    with Memory.open(root, create=True, actor=PERSON) as memory:
        memory.journal.add(NewEntry(text="An entry that was there before"))


def main() -> None:
    verb, folder = sys.argv[1:]
    warm = Path(folder) / "warm"
    prepare(warm)
    with Memory.open(warm, create=True, actor=PERSON) as memory:
        VERBS[verb](memory)
        copies(memory, verb)
    with Memory.open(Path(folder) / "real", create=True, actor=PERSON) as memory:
        os.access(BEGIN, os.F_OK)
        said = told(memory, verb)
        os.access(END, os.F_OK)
    print(json.dumps(said))


if __name__ == "__main__":
    main()
