"""Real git repositories for tests: commits on chosen days, nothing of the developer's own configuration."""

from __future__ import annotations

import os
import subprocess
from datetime import UTC, date, datetime, time
from pathlib import Path


class Repo:
    """A repository in a folder; every commit names the day it is made on (noon UTC)."""

    def __init__(self, root: Path, *, init: bool = True) -> None:
        self.root = root
        root.mkdir(parents=True, exist_ok=True)
        if init:
            self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str, day: date | None = None, committed: date | None = None) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.root.parent),
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            **dict.fromkeys(("GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"), "Ada"),
            **dict.fromkeys(("GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"), "ada@example.org"),
        }
        if day:
            environment["GIT_AUTHOR_DATE"] = _noon(day)
            environment["GIT_COMMITTER_DATE"] = _noon(committed or day)
        done = subprocess.run(
            ["git", *arguments], cwd=self.root, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout

    def write(self, name: str, text: str) -> Path:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def commit(self, day: date, files: dict[str, str] | None = None, *, message: str = "work") -> None:
        """Commit these files, or an empty commit: a day of work on something else."""
        for name, text in (files or {}).items():
            self.write(name, text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", message, day=day)

    def import_history(self, commits: list[tuple[date, dict[str, str]]]) -> None:
        """Many commits in one go, each with the files it changes; they become main and are checked out."""
        stream: list[bytes] = []
        for day, files in commits:
            seconds = int(datetime.fromisoformat(_noon(day)).timestamp())
            who = f"Ada <ada@example.org> {seconds} +0000"
            stream.append(f"commit refs/heads/main\nauthor {who}\ncommitter {who}\ndata 4\nwork\n".encode())
            for name, text in files.items():
                data = text.encode("utf-8")
                stream.append(f"M 100644 inline {name}\ndata {len(data)}\n".encode() + data + b"\n")
        subprocess.run(
            ["git", "fast-import", "--quiet"], cwd=self.root, input=b"".join(stream), check=True, capture_output=True
        )
        self.git("reset", "-q", "--hard", "main")

    def days_in_log(self) -> list[date]:
        """Every commit's day, counted the slow way: one `git show` per commit."""
        return sorted(
            datetime.fromtimestamp(int(self.git("show", "-s", "--format=%at", commit)), UTC).date()
            for commit in self.git("rev-list", "HEAD").split()
        )


def _noon(day: date) -> str:
    return datetime.combine(day, time(12), UTC).isoformat()
