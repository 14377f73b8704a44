"""A user at a command line, in a scratch home. Nothing of the developer's own environment gets in.

Commands are forks of one warm process (`forked`); RECOLLECT_TEST_PROCESSES=1 starts Python anew for each, as users do.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import forked
import recollect
from samples import WEBHOOKS

ROOT = Path(__file__).parents[1]
SOURCE = Path(recollect.__file__).parents[1]
"""What this run tests: a mutant's copy, where there is one."""
PROCESSES = bool(os.environ.get("RECOLLECT_TEST_PROCESSES"))
PYTHONS_OWN = ("PYTHON", "LC_", "LANG")  # what Python reads when it starts
NOW = "2026-03-02T09:00:00Z"


class Shell:
    """Runs `recollect …` as a user would, in a project folder of its own."""

    def __init__(self, scratch: Path, *, processes: bool = PROCESSES):
        self.processes = processes
        self.wrapped: tuple[str, ...] = ()
        self.home = scratch / "home"
        self.folder = scratch / "shop"
        self.home.mkdir()
        self.folder.mkdir()
        self.environ = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(SOURCE),
            "HOME": str(self.home),
            "USER": "ada",
            "RECOLLECT_NOW": NOW,
        }

    def space(self, name: str) -> Path:
        """The folder of a space in the user's data folder."""
        return self.home / ".local/share/recollect/spaces" / name

    @property
    def data(self) -> Path:
        return self.space("shop")

    def run(
        self, *arguments: str | bytes, stdin: str | bytes = b"", folder: Path | None = None, **environ: str
    ) -> subprocess.CompletedProcess[bytes]:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        given = {**self.environ, **environ}
        if not self.processes and not any(name.startswith(PYTHONS_OWN) for name in given.keys() - {"PYTHONPATH"}):
            return forked.run(arguments, stdin=data, cwd=folder or self.folder, env=given, timeout=60)
        return subprocess.run(
            [sys.executable, "-m", "recollect", *arguments],
            input=data,
            cwd=folder or self.folder,
            env=given,
            capture_output=True,
            timeout=60,
        )

    def said(self, *arguments: str, **more: Any) -> str:
        """Standard output of a command that must succeed and say nothing else."""
        done = self.run(*arguments, **more)
        assert (done.returncode, done.stderr.decode()) == (0, "")
        return done.stdout.decode()

    def json(self, *arguments: str, **more: Any) -> Any:
        return json.loads(self.said(*arguments, "--json", **more))

    def learn(self, **changes: Any) -> str:
        """Add a learning on the command line; gives its id."""
        fields = {**WEBHOOKS, **changes}
        tags = [part for tag in fields.pop("tags") for part in ("--tag", tag)]
        options = [part for name, value in fields.items() for part in (f"--{name}", str(value))]
        id = self.json("learn", "add", *options, *tags)["id"]
        assert isinstance(id, str)
        return id

    def inject(self, task: str = "TASK-7", **more: Any) -> str:
        return self.said(
            "inject", "--task", task, "--outcome", "billing", "--title", "Stripe webhooks out of order", **more
        )
