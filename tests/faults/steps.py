"""One step of work between two marks, for strace to stop at any system call in it. Run as a program."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from old_stores import unpack
from recollect import Memory
from recollect.core.context import Actor
from recollect.store.schema import OLDEST
from recollect.store.vault import FolderVault

BEGIN, END = "/recollect-begins", "/recollect-ends"
OLD, NEW = "the old text\n" * 50, "the new text\n" * 80


def replace(root: Path) -> None:
    vault(root).replace("weekly/node.md", NEW)


def append(root: Path) -> None:
    vault(root).append("weekly/node.md", NEW)


def first(root: Path) -> None:
    vault(root).append("new/folder/log.md", NEW)


def init(root: Path) -> None:
    os.environ.update(environ_of(root))
    Memory.begin(root / "project", actor=Actor(name="ada", channel="cli", trust="human"))


def upgrade(root: Path) -> None:
    actor = Actor(name="ada", channel="cli", trust="human")
    Memory.open(root / "old", actor=actor, environ=environ_of(root)).close()


def vault(root: Path) -> FolderVault:
    return FolderVault(root / "memory", root / "vault.lock")


def environ_of(root: Path) -> dict[str, str]:
    return {"HOME": str(root), "RECOLLECT_HOME": str(root / "home")}


def prepare(root: Path) -> None:
    """The same work elsewhere first, so that everything it imports is loaded before the mark."""
    (root / "project").mkdir(parents=True)
    vault(root).replace("weekly/node.md", OLD)
    unpack(OLDEST, root / "old", environ_of(root))


STEPS = {"replace": replace, "append": append, "first": first, "init": init, "upgrade": upgrade}


def main() -> None:
    name, folder = sys.argv[1:]
    warm = Path(folder) / "warm"
    prepare(warm)
    STEPS[name](warm)
    os.access(BEGIN, os.F_OK)
    STEPS[name](Path(folder) / "real")
    os.access(END, os.F_OK)
    print("done")


if __name__ == "__main__":
    main()
