"""Runs the examples of a documentation page and writes the page again with what they printed.

A page is one session in a fresh folder. In a `console` block every line after `$ ` is run and what follows is its
output. A `python` block is run as a script and its output stands in the `text` block after it. The comment
`<!-- before` … `-->` holds commands that prepare the page and are not shown.

Ids are random, so they are renamed in order of appearance; everything else stands as the program printed it.
Renew the pages with `python tests/examples.py`.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (ROOT / "README.md", *sorted(DOCS.glob("*.md")))
PROCESS = f"{sys.executable} -m recollect"
START = datetime(2026, 3, 2, 9, tzinfo=UTC)

_BLOCK = re.compile(
    r"<!-- before\n.*?-->|```console\n.*?^```$|```python\n.*?^```$(?:\n\n```text\n.*?^```$)?", re.S | re.M
)
_ID = re.compile(r"\b(?:(?:learn|disc|dec|token|topic)_[0-9a-z]{13}(?![0-9a-z])|rct_[A-Za-z0-9_-]{43})")
_TAILS = ("4m8xk2qzt7c1e", "9r3vb6ywn0hf5", "2dq7s8mk5tzx3", "c6j1p0gw4va9h", "7ynf3e8r2bkm6", "x5h9t1zc0qd4s")


class Session:
    """One page's shell: a scratch home, a minute per command, and the names its ids are given on the page."""

    def __init__(self, scratch: Path, recollect: str):
        self._scratch = scratch.resolve()
        self._folder = self._scratch / "home" / "ada" / "shop"
        self._folder.mkdir(parents=True)
        tools = self._scratch / "bin"
        tools.mkdir()
        for name, command in {"recollect": recollect, "python": sys.executable}.items():
            (tools / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
            (tools / name).chmod(0o755)
        self._environ = {
            "PATH": f"{tools}:{os.environ['PATH']}",
            "PYTHONPATH": str(ROOT / "src"),
            "HOME": str(self._folder.parent),
            "USER": "ada",
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
        }
        self._shown: dict[str, str] = {}
        self._minutes = 0

    def run(self, command: str, *, check: bool = False) -> str:
        """What a command of the page prints, standard error included, under the page's names."""
        for real, shown in self._shown.items():
            command = command.replace(shown, real)
        now = (START + timedelta(minutes=self._minutes)).isoformat()
        self._minutes += 1
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self._folder,
            env={**self._environ, "RECOLLECT_NOW": now},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
        )
        assert "Traceback" not in done.stdout, done.stdout
        assert not check or done.returncode == 0, done.stdout
        return _ID.sub(lambda found: self._renamed(found[0]), done.stdout).replace(str(self._scratch), "")

    def _renamed(self, id: str) -> str:
        if id not in self._shown:
            prefix = id.partition("_")[0]
            used = sum(known.startswith(prefix) for known in self._shown)
            self._shown[id] = f"{prefix}_{_TAILS[used]}"
        return self._shown[id]


def renewed(page: str, scratch: Path, *, recollect: str = PROCESS) -> str:
    """The page with every output as it is now; `recollect` is the command line that runs the program."""
    session = Session(scratch, recollect)

    def renew(found: re.Match[str]) -> str:
        block = found[0]
        if block.startswith("```python"):
            return _renewed_script(session, block)
        hidden = block.startswith("<!--")
        commands = re.findall(r"^\$ (.*(?:\n> .*)*)", block, re.MULTILINE)
        outputs = [session.run(command.replace("\n> ", "\n"), check=hidden) for command in commands]
        if hidden:
            return block
        return "```console\n" + "".join(f"$ {c}\n{o}" for c, o in zip(commands, outputs, strict=True)) + "```"

    return _BLOCK.sub(renew, page)


def _renewed_script(session: Session, block: str) -> str:
    script = block[len("```python\n") :].partition("\n```")[0]
    printed = session.run(f"python - <<'END_OF_SCRIPT'\n{script}\nEND_OF_SCRIPT", check=True)
    shown = f"\n\n```text\n{printed}```" if printed else ""
    return f"```python\n{script}\n```{shown}"


if __name__ == "__main__":
    for file in PAGES:
        with tempfile.TemporaryDirectory() as folder:
            before = file.read_text("utf-8")
            after = renewed(before, Path(folder))
        if after != before:
            file.write_text(after, "utf-8")
            print(f"renewed {file.relative_to(ROOT)}")
