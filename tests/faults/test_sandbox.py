"""A sandbox that may not write the user's data folder: every read works, and a write says what to use instead."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from shell import SOURCE, Shell

NOBODY = 65534
WRITER = """
import os, sys
from recollect import Memory, NewEntry
memory = Memory.open(sys.argv[1])
memory.journal.add(NewEntry(text="The refund that only the log of the store holds", topic="refunds"))
print("ready", flush=True)
sys.stdin.read()
os._exit(0)  # as if killed: the log of the store stays
"""
READS = (
    "search refund",
    "search refund --kind log",
    "status",
    "learn list",
    "inject --task t --outcome o --title Stripe-webhooks-arrive-out-of-order",
    "log show 2026-03-02",
    "get log/2026-03-02#2",
    "doctor",
    "store verify",
    "open",
)


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder that another user may enter."""
    folder = Path(tempfile.mkdtemp(prefix="sandbox-", dir="/tmp"))
    folder.chmod(0o755)
    yield folder
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    shutil.rmtree(folder)


@pytest.fixture(params=["read-only mount", "no permission"])
def sandboxed(request: pytest.FixtureRequest, scratch: Path) -> Shell:
    """A shell whose commands may read the home folder and not write it."""
    if os.getuid() or not shutil.which("unshare") or not shutil.which("setpriv"):
        pytest.skip("a sandbox is made by root, with unshare and setpriv")
    shell = Shell(scratch, processes=True)
    shell.said("init", "--space", "shop", "--timezone", "UTC")
    shell.learn()
    shell.said("log", "add", "A refund that was there before", "--topic", "refunds")
    if request.param == "read-only mount":
        mount = f"mount --bind {shell.home} {shell.home} && mount -o remount,ro,bind {shell.home}"
        shell.wrapped = ("unshare", "-m", "sh", "-c", f'{mount} && exec "$@"', "sh")
    else:
        shell.wrapped = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")
    return shell


def inside(shell: Shell, *arguments: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
    line = [*shell.wrapped, sys.executable, "-m", "recollect", *arguments]
    if shell.wrapped[0] == "setpriv":  # the same user, without the right to write
        subprocess.run(["chown", "-R", f"{NOBODY}:{NOBODY}", shell.home, shell.folder], check=True)
        subprocess.run(["chmod", "-R", "a-w", shell.home], check=True)
    return subprocess.run(
        line, cwd=shell.folder, env=shell.environ, input=stdin, capture_output=True, text=True, timeout=60, check=False
    )


@pytest.mark.parametrize("beside", ["nobody writes", "another process writes", "the last writer was killed"])
def test_every_read_works(sandboxed: Shell, beside: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(sandboxed.folder)],
        env={**sandboxed.environ, "PYTHONPATH": str(SOURCE)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdin is not None
        assert writer.stdout.readline() == b"ready\n"
        if beside != "another process writes":
            writer.stdin.close()
            writer.wait()
        if beside == "nobody writes":
            sandboxed.said("status")  # the next command takes the log in
            assert not (sandboxed.data / "memory.db-wal").exists()
        elif beside == "the last writer was killed":
            (sandboxed.data / "memory.db-shm").unlink()
        for command in READS:
            done = inside(sandboxed, *command.split())
            assert (done.returncode, done.stderr) == (0, ""), command
            if command.split()[0] in ("search", "get", "log"):
                assert "only the log of the store holds" in done.stdout, command
            if command.startswith("inject"):
                assert "Stripe webhooks" in done.stdout
        if not writer.stdin.closed:
            writer.stdin.close()


@pytest.mark.parametrize("command", ["log add A-third-refund", "learn archive {id}", "host pause", "store backup"])
def test_a_write_says_what_to_use_instead(sandboxed: Shell, command: str) -> None:
    id = sandboxed.json("learn", "list")["learnings"][0]["id"]
    done = inside(sandboxed, *command.format(id=id).split())
    assert done.returncode == 3
    assert "In a sandbox use the MCP tools, or leave it to the hooks" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_hook_answers_and_is_never_in_the_way(sandboxed: Shell) -> None:
    start = '{"session_id": "s-1", "source": "startup"}'
    done = inside(sandboxed, "hook", "SessionStart", "--host", "claude-code", stdin=start)
    assert (done.returncode, done.stderr) == (0, "")
    assert "A refund that was there before" in done.stdout
    done = inside(
        sandboxed,
        *("hook", "Stop", "--host", "claude-code"),
        stdin='{"session_id": "s-1", "last_assistant_message": "Done."}',
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
