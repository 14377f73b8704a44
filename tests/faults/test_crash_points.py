"""No half-written file at any step: every system call of a change is a place to be killed, or to fail (P3)."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from conftest import PERSON
from faults.steps import BEGIN, END, NEW, OLD, environ_of, prepare, vault
from old_stores import DERIVED, rows_of, unpack
from recollect import Memory
from recollect.store.schema import OLDEST
from samples import learning
from scale import TORTURE

PROGRAM = Path(__file__).with_name("steps.py")
CALLS = (
    "openat,write,pwrite64,fsync,fdatasync,rename,renameat,renameat2,"
    "unlink,unlinkat,mkdir,mkdirat,ftruncate,link,linkat"
)
MARKS = "access,faccessat,faccessat2"


def traced(folder: Path, step: str, *options: str) -> tuple[bool, list[str]]:
    """Run a step under strace: whether it said that it was done, and its system calls."""
    real = folder / "real"
    prepare(real)
    log = folder / "trace"
    environ = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder)}
    environ["PYTHONPATH"] = os.pathsep.join([str(PROGRAM.parents[1]), *filter(None, [environ.get("PYTHONPATH")])])
    done = subprocess.run(
        ["strace", "-f", "-qq", "-y", "-o", log, *options, sys.executable, PROGRAM, step, folder],
        capture_output=True,
        text=True,
        env=environ,
        check=False,
    )
    calls = [line.partition(" ")[2].strip() for line in log.read_text("utf-8", "replace").splitlines()]
    return "done" in done.stdout, calls


def between_the_marks(calls: list[str]) -> tuple[list[str], Counter[str]]:
    """The calls of the step itself, and how many of each name came before it."""
    begin = next(i for i, call in enumerate(calls) if BEGIN in call)
    end = next(i for i, call in enumerate(calls) if END in call)
    return calls[begin + 1 : end], Counter(call.partition("(")[0] for call in calls[:begin])


def crash_points(folder: Path, step: str) -> list[tuple[str, int]]:
    """Every system call of a step, as strace counts them: name and number."""
    folder.mkdir()
    done, calls = traced(folder, step, "-e", f"trace={CALLS},{MARKS}")
    assert done
    inside, before = between_the_marks(calls)
    points = []
    for call in inside:
        name = call.partition("(")[0]
        before[name] += 1
        points.append((name, before[name]))
    return points


def test_a_file_is_synced_then_named_then_its_folder_is_synced(tmp_path: Path) -> None:
    done, calls = traced(tmp_path, "replace", "-e", f"trace={CALLS},{MARKS}")
    assert done
    inside, _ = between_the_marks(calls)
    kept = [call for call in inside if not call.startswith(("openat", "mkdir"))]
    names = [call.partition("(")[0] for call in kept]
    assert names == ["write", "fsync", "renameat" if "renameat" in names else "rename", "fsync"]
    written, synced = (re.search(r"<([^>]*)>", call) for call in kept[:2])
    assert written
    assert synced
    assert written[1] == synced[1]
    assert written[1].endswith(".recollect-tmp")
    assert "/real/memory/weekly>" in kept[3]


def test_an_appended_entry_is_synced_and_so_is_the_folder_of_a_new_file(tmp_path: Path) -> None:
    done, calls = traced(tmp_path, "first", "-e", f"trace={CALLS},{MARKS}")
    assert done
    inside, _ = between_the_marks(calls)
    synced = [re.search(r"<([^>]*)>", call)[1] for call in inside if call.startswith("fsync")]  # type: ignore[index]
    ends = [path.partition("/real/")[2] for path in synced]
    assert ends == ["memory", "memory/new", "memory/new/folder/log.md", "memory/new/folder"]


@pytest.mark.parametrize("step", ["replace", "append", "first"])
def test_killed_at_any_call_a_vault_file_is_the_old_or_the_new_one(tmp_path: Path, step: str) -> None:
    wanted = {"replace": NEW, "append": OLD + NEW, "first": OLD}[step]
    points = crash_points(tmp_path / "count", step)
    assert len(points) >= 5
    killed = 0
    for number, (name, count) in enumerate(points):
        folder = tmp_path / str(number)
        folder.mkdir()
        done, _ = traced(folder, step, "-e", f"trace={name}", "-e", f"inject={name}:signal=SIGKILL:when={count}")
        assert not done
        killed += 1
        real = vault(folder / "real")
        assert real.read("weekly/node.md") in (OLD, wanted)
        assert real.read("new/folder/log.md") in (None, "", NEW)
        assert set(real.paths()) <= {"weekly/node.md", "new/folder/log.md"}
        real.replace("weekly/node.md", "written after the crash")
        assert real.read("weekly/node.md") == "written after the crash"
    assert killed == len(points)


@pytest.mark.parametrize("error", ["ENOSPC", "EIO"])
@pytest.mark.parametrize("step", ["replace", "append"])
def test_a_call_that_fails_leaves_the_old_file_and_says_so(tmp_path: Path, step: str, error: str) -> None:
    points = [(name, count) for name, count in crash_points(tmp_path / "count", step) if name in ("write", "fsync")]
    for number, (name, count) in enumerate(points):
        folder = tmp_path / str(number)
        folder.mkdir()
        done, calls = traced(folder, step, "-e", f"trace={name}", "-e", f"inject={name}:error={error}:when={count}")
        assert not done
        assert any("INJECTED" in call for call in calls)
        left = vault(folder / "real").read("weekly/node.md")
        # The folder's own sync comes after the new name: then the new text stands there, but nobody said "saved".
        assert left == OLD or (step == "replace" and left == NEW and number == len(points) - 1)
        assert not list((folder / "real").rglob(".*tmp"))


def test_killed_at_any_call_an_init_can_be_run_again(tmp_path: Path) -> None:
    points = crash_points(tmp_path / "count", "init")
    assert len(points) > 40
    chosen = points if TORTURE > 1 else points[:: max(1, len(points) // 14)]
    for number, (name, count) in enumerate(chosen):
        folder = tmp_path / str(number)
        folder.mkdir()
        done, _ = traced(folder, "init", "-e", f"trace={name}", "-e", f"inject={name}:signal=SIGKILL:when={count}")
        assert not done
        root, environ = folder / "real" / "project", environ_of(folder / "real")
        with Memory.open(root, create=True, actor=PERSON, environ=environ) as memory:
            kept = memory.learn(learning()).learning
        with Memory.open(root, create=True, actor=PERSON, environ=environ) as memory:
            assert memory.learnings.get(kept.id) == kept
            assert memory.data.verify() == ()
        shutil.rmtree(folder)


def test_killed_at_any_call_an_upgrade_goes_on_where_it_stopped(tmp_path: Path) -> None:
    points = crash_points(tmp_path / "count", "upgrade")
    assert len(points) > 40
    chosen = points if TORTURE > 1 else points[:: max(1, len(points) // 14)]
    for number, (name, count) in enumerate(chosen):
        folder = tmp_path / str(number)
        folder.mkdir()
        done, _ = traced(folder, "upgrade", "-e", f"trace={name}", "-e", f"inject={name}:signal=SIGKILL:when={count}")
        assert not done
        before = rows_of(unpack(OLDEST, folder / "kept", environ_of(folder / "kept")))
        with Memory.open(folder / "real" / "old", actor=PERSON, environ=environ_of(folder / "real")) as memory:
            assert memory.data.verify() == ()
        after = rows_of(memory.project.database)
        for table in before.keys() - set(DERIVED):
            kept = zip(after.get(table, []), before[table], strict=True)  # a table that went had no rows
            assert all(row.items() >= old.items() for row, old in kept), table
        shutil.rmtree(folder)
