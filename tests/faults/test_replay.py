"""Processes killed while they replay the spool, and files that are none: capture goes on, and no word is lost."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
import pytest

from hooks import transcript
from shell import Shell

LATER = "2026-03-02T09:00:31Z"  # a transcript's lease has run out
DAY = "memory/2026-03-02.md"


@contextmanager
def locked_store(shell: Shell) -> Iterator[None]:
    connection = apsw.Connection(str(shell.data / "memory.db"))
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@contextmanager
def killed_at_the_vault(shell: Shell, *command: str, lease: str, **environ: str) -> Iterator[None]:
    """A command that waits for the vault's lock while it holds a lease, killed there with the signal 9."""
    lock = os.open(shell.data / "vault.lock", os.O_CREAT | os.O_RDWR, 0o600)
    fcntl.flock(lock, fcntl.LOCK_EX)
    process = subprocess.Popen(
        [sys.executable, "-m", "recollect", *command],
        cwd=shell.folder,
        env={**shell.environ, **environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: is_held(shell, lease))
        time.sleep(0.3)
        assert process.poll() is None, "it waits for the lock"
    finally:
        process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(lock)
    yield


def is_held(shell: Shell, lease: str) -> bool:
    connection = apsw.Connection(str(shell.data / "memory.db"))
    try:
        found = connection.execute("SELECT expires_at FROM leases WHERE name = ?", (lease,)).fetchone()
    finally:
        connection.close()
    return bool(found and found[0])


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.02)


def stop(shell: Shell, session: str, answer: str, path: str = "", **environ: str) -> None:
    """The end of a turn, as Claude Code tells of it."""
    given = {"session_id": session, "cwd": str(shell.folder), "last_assistant_message": answer}
    stdin = json.dumps({**given, "transcript_path": path} if path else given)
    done = shell.run("hook", "Stop", "--host", "claude-code", stdin=stdin, **environ)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def waiting(shell: Shell) -> list[str]:
    return sorted(path.name for path in (shell.data / "spool").glob("*"))


def logged(shell: Shell) -> str:
    path = shell.data / DAY
    return path.read_text() if path.exists() else ""


def test_a_process_killed_in_a_replay_holds_no_other_session_up_and_its_own_only_for_the_lease(shell: Shell) -> None:
    path = transcript(shell.home / "s-1.jsonl", ("Add refunds", "Refunds are in."))
    with locked_store(shell):
        stop(shell, "s-1", "Refunds are in.", path, RECOLLECT_STORE_BUSY_SECONDS="0.05")
    assert waiting(shell)
    with killed_at_the_vault(shell, "learn", "list", lease="transcript/s-1"):
        pass
    stop(shell, "s-2", "Invoices are in.")
    assert "Invoices are in." in logged(shell), "another session's words are kept at once"
    assert "Refunds are in." not in logged(shell)
    shell.said("learn", "list", RECOLLECT_NOW=LATER)
    assert logged(shell).count("Refunds are in.") == 1
    assert waiting(shell) == []


def test_a_record_that_three_processes_died_at_is_set_aside_named_and_tried_again_on_request(shell: Shell) -> None:
    with locked_store(shell):
        stop(shell, "s-1", "Refunds are in.", RECOLLECT_STORE_BUSY_SECONDS="0.05")
    for tries in (1, 2, 3):
        _free(shell)
        now = f"2026-03-02T{9 + tries:02d}:00:00Z"
        with killed_at_the_vault(shell, "learn", "list", lease="transcript/s-1", RECOLLECT_NOW=now):
            assert sum(f".try{tries}." in name for name in waiting(shell)) == 1
    noon = {"RECOLLECT_NOW": "2026-03-02T13:00:00Z"}
    stop(shell, "s-2", "Invoices are in.", **noon)
    assert "Invoices are in." in logged(shell)
    assert [Path(name).suffix for name in waiting(shell)] == [".failed"]
    assert "set aside   1 write failed, the oldest 4 hours ago; try again with: recollect doctor --fix" in shell.said(
        "status", **noon
    )
    told = shell.said("doctor", **noon)
    assert "1 write set aside as failed, the oldest for 4 hours" in told
    assert "recollect doctor --fix tries them again" in told
    start = json.dumps({"session_id": "s-3", "cwd": str(shell.folder), "source": "startup"})
    brief = shell.said("hook", "SessionStart", "--host", "claude-code", stdin=start, **noon)
    assert "1 write that failed is set aside, the oldest less than a day old" in brief
    assert "mended: spool: 1 write written to the store" in shell.said("doctor", "--fix", **noon)
    assert logged(shell).count("Refunds are in.") == 1
    assert waiting(shell) == []


def _free(shell: Shell) -> None:
    """Forget that a lease was seen before, so that the next holder can be told from the last."""
    connection = apsw.Connection(str(shell.data / "memory.db"))
    connection.execute("UPDATE leases SET expires_at = 0")
    connection.close()


def test_a_cycle_killed_while_the_clock_was_ahead_holds_no_other_up(shell: Shell) -> None:
    shell.said("log", "add", "Refunds are in.")
    with killed_at_the_vault(shell, "cycle", lease="cycle", RECOLLECT_NOW="2030-01-01T00:00:00Z"):
        pass
    for _ in range(2):
        said = shell.said("cycle")
        assert "another process is at it" not in said
        assert "tree: " in said


def _fifo(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(path.name)  # the name of a socket may not be long; the test stands in its folder


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


@pytest.mark.parametrize("host", ["claude-code", "codex", "gemini"])
@pytest.mark.parametrize("make", [_fifo, _folder, _socket, _device])
def test_a_transcript_that_is_no_regular_file_is_named_and_everything_else_is_kept(
    shell: Shell, make: Callable[[Path], None], host: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    odd = shell.home / "t.jsonl"
    monkeypatch.chdir(shell.home)
    make(odd)
    event = "AfterAgent" if host == "gemini" else "Stop"
    words = "prompt_response" if host == "gemini" else "last_assistant_message"
    given = {"session_id": "s-1", "cwd": str(shell.folder), "transcript_path": str(odd), words: "Refunds are in."}
    began = time.monotonic()
    done = shell.run("hook", event, "--host", host, stdin=json.dumps({**given, "prompt": "Add refunds"}))
    assert done.returncode == 0
    assert time.monotonic() - began < 6, "a hook has eight seconds, and needs none of them for this"
    assert "Refunds are in." in logged(shell)
    assert waiting(shell) == []
    note = (shell.data / "hook-failure.txt").read_text()
    assert f"the transcript {odd} is not a regular file" in note
    shell.said("learn", "list")


def test_a_spooled_turn_whose_transcript_is_a_fifo_by_now_blocks_no_command(shell: Shell) -> None:
    path = transcript(shell.home / "s-1.jsonl", ("Add refunds", "Refunds are in."))
    with locked_store(shell):
        stop(shell, "s-1", "Refunds are in.", path, RECOLLECT_STORE_BUSY_SECONDS="0.05")
    Path(path).unlink()
    os.mkfifo(path)
    shell.said("learn", "list")
    assert logged(shell).count("Refunds are in.") == 1
    assert waiting(shell) == []
