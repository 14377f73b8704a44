"""The first command moves a memory that an earlier version kept in the working tree, and only this user's own."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from conftest import PERSON
from recollect import Memory, NewEntry
from recollect.store import move, register
from recollect.store import project as projects
from samples import learning
from shell import Shell

SECRET = "0123456789abcdef0123456789abcdef"
SAID = "Refunds go through the queue now."


@pytest.fixture
def old(shell: Shell) -> Path:
    """A project as an earlier version left it: store, backups, spool and marks in `.recollect/`, logs in `memory/`."""
    with Memory.open(shell.folder, actor=PERSON, environ=shell.environ) as memory:
        memory.learn(learning(title="Stripe webhooks arrive out of order"))
        memory.journal.add(NewEntry(text=SAID, topic="refunds"))
        memory.cycle()
    make_old(shell.folder, shell.environ)
    return shell.folder


def make_old(folder: Path, environ: Mapping[str, str]) -> None:
    """Take a memory back to where earlier versions kept it."""
    found = projects.load(folder, environ)
    shutil.move(found.vault, folder / "memory")
    shutil.move(found.data, folder / ".recollect")
    shutil.move(projects.backups_of(found.database), folder / ".recollect/backups")
    (folder / ".recollect/spool").mkdir(exist_ok=True)
    actor = {"name": "ada", "channel": "cli", "trust": "human"}
    arguments = {"session": "s", "topic": "Waiting", "text": "What waited in the spool."}
    waits = {"id": "change_1", "verb": "entry", "at": 1772442000000, "actor": actor, "arguments": arguments}
    (folder / ".recollect/spool/000001772442000000-change_1.json").write_text(json.dumps(waits))
    (folder / ".recollect/paused.txt").write_text("a file of ours\n")
    (folder / "memory/learnings.md").write_text("# Learnings\n")
    (folder / "memory/theirs.py").write_text("print()\n")
    (folder / ".recollect/begun").write_text(f"{SECRET}\n")
    (found.state / "begun").mkdir(parents=True, exist_ok=True)
    (found.state / "begun" / SECRET).write_text(f"{folder}\n")
    shutil.rmtree(found.home)


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_whole(folder: Path, environ: Mapping[str, str]) -> None:
    with Memory.open(folder, actor=PERSON, environ=environ) as memory:
        assert [one.title for one in memory.learnings.page()[0]] == ["Stripe webhooks arrive out of order"]
        assert SAID in memory.texts.get("log/2026-03-02#1").text
        assert "What waited in the spool." in memory.texts.get("log/2026-03-02#2").text
        assert len(memory.data.backups()) == 1
        assert memory.data.verify() == ()


def test_the_first_command_moves_everything_says_so_once_and_leaves_the_old_files(shell: Shell, old: Path) -> None:
    before = tree(old)
    dry = shell.said("init", "--dry-run")
    assert f"from {old}/.recollect to {shell.data}" in dry
    assert tree(old) == before
    done = shell.run("search", "refunds")
    assert SAID in done.stdout.decode()
    (said,) = done.stderr.decode().splitlines()
    assert f"moved the memory of {old} from {old}/.recollect to {shell.data}" in said
    after = tree(old)
    assert str(shell.data).encode() in after.pop(".recollect/MOVED.md")
    assert after == before
    assert not (shell.data / "memory/theirs.py").exists()
    assert not (shell.data / "memory/learnings.md").exists()
    assert (shell.data / "paused.txt").exists()
    shell.said("search", "refunds")
    assert shell.said("init", "--dry-run") == ""
    assert f"{old}/.recollect: a copy from before the memory moved" in shell.said("doctor")
    assert_whole(old, shell.environ)


@pytest.mark.parametrize("command", ["init", "doctor", "store verify", "hook SessionStart --host claude-code"])
def test_any_command_moves_and_a_hook_says_nothing_of_it(shell: Shell, old: Path, command: str) -> None:
    done = shell.run(*command.split(), stdin=json.dumps({"session_id": "s-1", "source": "startup"}))
    assert done.returncode == 0
    if command.startswith("hook"):
        assert done.stderr == b""
        assert SAID in done.stdout.decode()
    assert_whole(old, shell.environ)


def test_a_large_memory_is_left_to_the_hook_that_runs_beside_the_session(shell: Shell, old: Path) -> None:
    for number in range(move.QUICK_FILES):
        (old / f".recollect/extra-{number}").touch()
    given = json.dumps({"session_id": "s-1", "source": "startup"})
    assert shell.said("hook", "SessionStart", "--host", "claude-code", stdin=given) == ""
    assert not shell.data.exists()
    shell.said("hook", "Cycle", "--host", "claude-code", stdin=given)
    assert_whole(old, shell.environ)


def test_a_memory_that_came_with_a_folder_is_never_read(shell: Shell, old: Path) -> None:
    marks = old / ".recollect/begun"
    for fake in ("f" * 32 + "\n", "../interpreter\n", ""):
        marks.write_text(fake)
        done = shell.run("search", "refunds")
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"you did not begin a memory" in done.stderr
    shell.said("init")
    assert shell.json("search", "refunds")["total"] == 0


def test_a_link_in_place_of_the_old_folder_brings_no_other_memory(shell: Shell, old: Path, tmp_path: Path) -> None:
    hostile = tmp_path / "hostile"
    hostile.mkdir()
    (hostile / "recollect.toml").write_text('space = "mine"\n')
    (hostile / ".recollect").symlink_to(old / ".recollect")
    assert shell.run("search", "refunds", folder=hostile).returncode == 2
    (hostile / ".recollect").unlink()
    (hostile / ".recollect").mkdir()
    (hostile / ".recollect/begun").symlink_to(old / ".recollect/begun")
    assert shell.run("search", "refunds", folder=hostile).returncode == 2


def test_the_second_clone_of_a_space_is_not_mixed_into_the_first(shell: Shell, old: Path, tmp_path: Path) -> None:
    clone = tmp_path / "clone"
    shutil.copytree(old, clone)
    assert shell.run("status").returncode == 0
    done = shell.run("status", folder=clone)
    assert (done.returncode, b"was not moved: space shop" in done.stderr) == (1, True)
    shell.said("init", "--join", folder=clone)
    assert SAID in shell.said("search", "refunds", folder=clone)


WRITES = {"os.mkdir", "os.rename", "os.link", "os.remove", "os.rmdir", "os.truncate", "os.utime", "os.chmod"}


def _killed_at(number: int, folder: Path, environ: Mapping[str, str]) -> bool:
    """Move in a process of its own that ends before its n-th file operation; whether it came to that."""
    child = os.fork()
    if child == 0:
        left = number

        def hook(event: str, given: tuple[Any, ...]) -> None:
            nonlocal left
            writes = event == "open" and isinstance(given[2], int) and given[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
            if writes or event in WRITES or event.startswith(("shutil.", "fcntl.")):
                left -= 1
                if left == 0:
                    os._exit(9)

        sys.addaudithook(hook)
        move.find(folder, environ)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9


def test_killed_at_any_file_operation_the_next_command_finds_everything(
    shell: Shell, old: Path, tmp_path: Path
) -> None:
    before, home = tree(old), projects.home_folder(shell.environ)
    kept = tmp_path / "kept"
    shutil.copytree(shell.folder, kept)
    number = 0
    while _killed_at(number := number + 1, old, shell.environ):
        places = register.read(home)
        assert len(places) <= 1
        assert_whole(old, shell.environ)
        after = tree(old)
        after.pop(".recollect/MOVED.md", None)
        assert {name for name in after if TEMP not in name} == before.keys()
        shutil.rmtree(home)
        shutil.rmtree(old)
        shutil.copytree(kept, old)
    assert number > 40
    assert_whole(old, shell.environ)


TEMP = ".recollect-tmp"


def test_a_file_that_changes_during_the_move_stops_it(shell: Shell, old: Path) -> None:
    found = projects.read(old, shell.environ)
    before = move.old_memory(found)
    assert before is not None
    (old / "memory/2026-03-03.md").write_text("## Later\n\nWritten meanwhile.\n")
    with pytest.raises(Exception, match="was written to while it was moved"):
        move._copy(found, before)
    assert not found.data.exists()
    assert_whole(old, shell.environ)
