"""The merge driver as git runs it: on real repositories, also where something is missing or cannot be read."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date, timedelta
from pathlib import Path

import pytest

from recollect.core.errors import BadInput
from recollect.store.git import install_merge_driver, merge_files
from repos import Repo

DAY = date(2026, 3, 2)
FILE = "learnings.md"
BASE = "# Learnings\n\n## Pin the tools\n\nThey float.\n"
OURS = BASE + "\n## Page lists with a cursor\n\nOffsets skip rows.\n"
THEIRS = BASE + "\n## Retry only idempotent requests\n\nPayments charge twice.\n"


@pytest.fixture
def repo(tmp_path: Path) -> Repo:
    return Repo(tmp_path / "repo")


def merged(repo: Repo, base: bytes, ours: bytes, theirs: bytes) -> tuple[bool, bytes]:
    """Whether git merged two branches by itself, and the file it left."""
    install_merge_driver(repo.root, FILE)
    path = repo.root / FILE
    path.write_bytes(base)
    repo.commit(DAY)
    repo.git("checkout", "-q", "-b", "topic")
    path.write_bytes(theirs)
    repo.commit(DAY + timedelta(days=1))
    repo.git("checkout", "-q", "main")
    path.write_bytes(ours)
    repo.commit(DAY + timedelta(days=2))
    done = subprocess.run(
        ["git", "-c", "user.name=a", "-c", "user.email=a@b.c", "merge", "-q", "-m", "both", "topic"],
        cwd=repo.root,
        capture_output=True,
        check=False,
    )
    return done.returncode == 0, path.read_bytes()


def test_git_needs_no_recollect_on_its_path(repo: Repo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    assert merged(repo, BASE.encode(), OURS.encode(), THEIRS.encode()) == (
        True,
        (OURS + THEIRS.removeprefix(BASE)).encode(),
    )


def test_without_its_interpreter_a_conflict_is_marked_and_loses_nothing(
    repo: Repo, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "/no where/100%/python")
    clean, left = merged(repo, BASE.encode(), OURS.encode(), THEIRS.encode())
    assert not clean
    assert all(part in left for part in (b"<<<<<<< ours", b"Page lists", b"Retry only", b">>>>>>> theirs"))


def test_what_is_not_utf8_is_merged_by_lines(repo: Repo) -> None:
    clean, left = merged(repo, *(text.encode() + b"caf\xe9\n" for text in (BASE, OURS, THEIRS)))
    assert not clean
    assert all(part in left for part in (b"<<<<<<< ours", b"Page lists", b"Retry only", b"caf\xe9\n"))


def test_windows_line_ends_stay(repo: Repo) -> None:
    windows = [text.replace("\n", "\r\n").encode() for text in (BASE, OURS, THEIRS)]
    assert merged(repo, *windows) == (True, (OURS + THEIRS.removeprefix(BASE)).replace("\n", "\r\n").encode())


@pytest.mark.parametrize("odd", [0, 1, 2])
def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path, odd: int) -> None:
    files = [tmp_path / name for name in ("base", "ours", "theirs")]
    for file in files:
        file.write_text(BASE)
    files[odd].unlink()
    os.mkfifo(files[odd])
    with pytest.raises(BadInput, match="not a regular file"):
        merge_files(*files)
