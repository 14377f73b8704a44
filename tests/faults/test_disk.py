"""A full or read-only disk costs a write, not the memory (P13)."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from conftest import PERSON
from embedded import project_of
from recollect import Memory, NewEntry
from samples import learning

PROGRAM = Path(__file__).with_name("small_disk.py")


def recollect(*arguments: str) -> subprocess.CompletedProcess[str]:
    """A command on the project that its last argument names."""
    return subprocess.run(
        [sys.executable, "-m", "recollect", *arguments],
        env=environ_of(Path(arguments[-1])),
        capture_output=True,
        text=True,
        check=False,
    )


def environ_of(project: Path) -> dict[str, str]:
    """The memory is on the same disk as the project."""
    return {**os.environ, "RECOLLECT_HOME": str(project / "home")}


def filled(project: Path, *limit: int) -> dict[str, Any]:
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, PROGRAM, project, *map(str, limit)],
        capture_output=True,
        text=True,
        env={**environ_of(project), "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture
def four_megabytes(tmp_path: Path) -> Iterator[Path]:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4m", "tmpfs", folder], check=False)
    if mounted.returncode:
        pytest.skip("a small disk can only be mounted as root; the limit on file sizes is tried in any case")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def assert_nothing_was_lost(project: Path, result: dict[str, Any]) -> None:
    with Memory.open(project, actor=PERSON, environ=environ_of(project)) as memory:
        kept = {each for page in range(0, 3_000, 1000) for each in _ids(memory, page)}
        assert set(result["saved"]) <= kept
        assert len(kept) == len(result["saved"]) + 1, "what was refused is not there"
        assert memory.data.verify() == ()


def _ids(memory: Memory, offset: int) -> list[str]:
    return [each.id for each in memory.learnings.page(limit=1000, offset=offset)[0]]


def test_a_full_disk_refuses_the_write_and_keeps_the_rest(four_megabytes: Path) -> None:
    result = filled(four_megabytes)
    assert result["trouble"].startswith("NoSpace")
    assert len(result["saved"]) > 20
    assert_nothing_was_lost(four_megabytes, result)


def test_a_command_on_a_full_disk_exits_with_3_and_does_not_say_saved(four_megabytes: Path) -> None:
    filled(four_megabytes)
    with contextlib.suppress(OSError), (four_megabytes / "ballast").open("wb", buffering=0) as file:
        while file.write(b"\0" * 512):
            pass
    fields = {name: f"something about {name} " * 300 for name in ("context", "observation", "implication", "action")}
    given = [part for name, text in fields.items() for part in (f"--{name}", text)]
    done = recollect("learn", "add", "--title", "One more", *given, "--project", str(four_megabytes))
    assert done.returncode == 3
    assert "saved" not in done.stdout
    assert "is full; this write did not happen" in done.stderr


def test_on_a_full_disk_a_log_entry_is_kept_or_refused_and_what_is_said_is_true(four_megabytes: Path) -> None:
    project = ("--project", str(four_megabytes))
    with Memory.open(four_megabytes, create=True, actor=PERSON, environ=environ_of(four_megabytes)) as memory:
        memory.journal.add(NewEntry(text="An entry that was there before"))
    with contextlib.suppress(OSError), (four_megabytes / "ballast").open("wb", buffering=0) as file:
        while file.write(b"\0" * 512):
            pass
    said = recollect("log", "add", "Important: refunds moved", *project)
    there = _lines(four_megabytes).count("Important: refunds moved")
    if said.returncode:
        assert (said.returncode, there) == (3, 0), said.stderr
    else:
        assert there == 1
        assert "The log entry was saved but is not searchable yet" in said.stderr
        assert "did not happen" not in said.stderr
    (four_megabytes / "ballast").unlink()
    if said.returncode:
        assert recollect("log", "add", "Important: refunds moved", *project).returncode == 0
    assert recollect("cycle", *project).returncode == 0
    assert _lines(four_megabytes).count("Important: refunds moved") == 1
    assert "refunds moved" in recollect("search", "refunds", *project).stdout


def _lines(project: Path) -> list[str]:
    logs = project_of(project, environ_of(project)).vault.glob("2*.md")
    return [line for log in logs for line in log.read_text("utf-8").splitlines()]


def test_a_limit_on_file_sizes_refuses_the_write_and_keeps_the_rest(tmp_path: Path) -> None:
    result = filled(tmp_path, 3_000_000)
    assert result["trouble"]
    assert len(result["saved"]) > 20
    assert_nothing_was_lost(tmp_path, result)


def test_a_read_only_project_refuses_a_write_and_changes_nothing(four_megabytes: Path) -> None:
    with Memory.open(four_megabytes, create=True, actor=PERSON, environ=environ_of(four_megabytes)) as memory:
        kept = memory.learn(learning()).learning
    database = memory.project.database
    before = database.read_bytes()
    subprocess.run(["mount", "-o", "remount,ro", four_megabytes], check=True)
    done = recollect("learn", "archive", kept.id, "--project", str(four_megabytes))
    assert done.returncode == 3, done.stderr
    assert "permissions" in done.stderr
    assert "Traceback" not in done.stderr
    assert database.read_bytes() == before


def test_a_doctor_looks_at_a_read_only_project(four_megabytes: Path) -> None:
    Memory.open(four_megabytes, create=True, actor=PERSON, environ=environ_of(four_megabytes)).close()
    subprocess.run(["mount", "-o", "remount,ro", four_megabytes], check=True)
    done = recollect("doctor", "--project", str(four_megabytes))
    assert (done.returncode, done.stderr) == (0, "")
    assert "it cannot be written" in done.stdout


def test_a_read_only_project_is_read_and_what_was_shown_waits_in_the_home(four_megabytes: Path, tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    with Memory.open(four_megabytes, create=True, actor=PERSON, environ=environ) as memory:
        kept = memory.learn(learning()).learning
    subprocess.run(["mount", "-o", "remount,ro", four_megabytes], check=True)
    with Memory.open(four_megabytes, actor=PERSON, environ=environ) as memory:
        assert memory.learnings.get(kept.id) == kept
        shown = memory.inject(task="task-1", outcome="billing", title="stripe webhooks out of order")
        assert [each.id for each in shown.learnings] == [kept.id]
    subprocess.run(["mount", "-o", "remount,rw", four_megabytes], check=True)
    with Memory.open(four_megabytes, actor=PERSON, environ=environ) as memory:
        assert memory.learnings.get(kept.id).times_injected == 1
