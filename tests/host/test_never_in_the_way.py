"""500 events of hosts while things break: every one ends with 0, nothing is lost, and nothing is written twice."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

import apsw
import pytest

from hooks import shown, transcript
from recollect import Memory
from recollect.cli.printing import answer_hook
from recollect.core.clock import iso, parse_time
from shell import Shell

EVENTS = 500
PROCESSES = 25  # of them as processes of their own; the others run what such a process runs
SESSIONS = 25
START = parse_time("2026-03-02T00:00:00Z")
PROMPT = "Handle Stripe webhooks for refunds"


class Host:
    """Fires events at a project, and remembers what must come of them."""

    def __init__(self, shell: Shell, learning: str, capsys: pytest.CaptureFixture[str], chance: random.Random):
        self.shell = shell
        self.learning = learning
        self.chance = chance
        self.answers: list[str] = []
        self.shown: set[str] = set()
        self.rated: set[str] = set()
        self.known: Counter[str] = Counter()
        self._capsys = capsys
        self._fired = 0

    def fire(self, session: str, event: str, broken: Breakage) -> None:
        given: dict[str, object] = {"session_id": session, "cwd": str(self.shell.folder), "source": "startup"}
        number = self._fired = self._fired + 1
        if event == "UserPromptSubmit":
            given["prompt"] = PROMPT
        if event == "Stop":
            asked, answer = f"question {number:04d} of the afternoon", f"answer {number:04d} to it"
            path = self.shell.home / f"{session}.jsonl"
            given |= {"transcript_path": transcript(path, (asked, answer)), "last_assistant_message": answer}
            if session in self.shown - self.rated and self.chance.random() < 0.5:
                given["last_assistant_message"] = f"{answer}\n\nLEARNING_HELPFUL: {self.learning}"
                self.rated.add(session)
            self.answers.append(answer)
        stdin = json.dumps(given).encode()
        if broken is garbage:
            stdin = self.chance.choice([b"", b"\xff\xfe{", b"[1, 2]", b'{"session_id": 7}', stdin[:-9], b"{" * 9000])
            if event == "Stop":
                self.answers.pop()
                if session in self.rated and b"HELPFUL" in json.dumps(given).encode():
                    self.rated.discard(session)
        with broken(self.shell):
            said = self._run(event, stdin, as_process=number % (EVENTS // PROCESSES) == 0)
        if event == "UserPromptSubmit" and said and self.learning in shown(said):
            self.shown.add(session)

    def _run(self, event: str, stdin: bytes, *, as_process: bool) -> str:
        now = {"RECOLLECT_NOW": iso(START + self._fired * 60_000), "RECOLLECT_STORE_BUSY_SECONDS": "0.02"}
        arguments = [event, "--host", "claude-code"]
        if as_process:
            done = self.shell.run("hook", *arguments, stdin=stdin, **now)
            assert (done.returncode, done.stderr) == (0, b"")
            return done.stdout.decode()
        with _as_process({**self.shell.environ, **now}, stdin, self.shell.folder):
            assert answer_hook(arguments) == 0
        printed = self._capsys.readouterr()
        assert printed.err == ""
        return printed.out


@contextmanager
def _as_process(environ: dict[str, str], stdin: bytes, folder: Path) -> Iterator[None]:
    """This process with another's environment, folder and standard input."""
    import io
    import sys

    before, here, reader = dict(os.environ), os.getcwd(), sys.stdin
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    sys.stdin = io.TextIOWrapper(io.BytesIO(stdin))
    try:
        yield
    finally:
        sys.stdin = reader
        os.chdir(here)
        os.environ.clear()
        os.environ.update(before)


Breakage = Callable[[Shell], AbstractContextManager[None]]


@contextmanager
def sound(shell: Shell) -> Iterator[None]:
    yield


@contextmanager
def garbage(shell: Shell) -> Iterator[None]:
    """What the host sends is no payload; see `Host.fire`."""
    yield


@contextmanager
def locked(shell: Shell) -> Iterator[None]:
    connection = apsw.Connection(str(shell.data / "memory.db"))
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@contextmanager
def corrupt(shell: Shell) -> Iterator[None]:
    with _store_aside(shell) as store:
        store.write_bytes(b"this is no database at all, " * 400)
        yield


@contextmanager
def gone(shell: Shell) -> Iterator[None]:
    with _store_aside(shell):
        yield


@contextmanager
def read_only(shell: Shell) -> Iterator[None]:
    """The project's disk takes no more: a file stands where the spool would be, and the store is kept out of reach."""
    spool = shell.data / "spool"
    kept = spool.with_name("kept-spool")
    if spool.is_dir():
        spool.rename(kept)
    spool.write_text("")
    try:
        with _store_aside(shell):
            yield
    finally:
        spool.unlink()
        if kept.is_dir():
            kept.rename(spool)


@contextmanager
def _store_aside(shell: Shell) -> Iterator[Path]:
    data = shell.data
    files = [path for path in data.iterdir() if path.name.startswith("memory.db")]
    aside = data / "aside"
    aside.mkdir()
    for path in files:
        path.rename(aside / path.name)
    try:
        yield data / "memory.db"
    finally:
        for path in data.iterdir():
            if path.name.startswith("memory.db"):
                path.unlink()
        for path in aside.iterdir():
            path.rename(data / path.name)
        aside.rmdir()
        with suppress(FileNotFoundError):
            shutil.rmtree(data / "damaged")


@contextmanager
def full(shell: Shell) -> Iterator[None]:
    """The disk of the memory has no byte left."""
    ballast = shell.data.parents[1] / "ballast"
    with suppress(OSError), ballast.open("wb", buffering=0) as file:
        while file.write(b"\0" * 65536):
            pass
    with suppress(OSError), ballast.open("ab", buffering=0) as file:
        while file.write(b"\0"):
            pass
    try:
        yield
    finally:
        ballast.unlink()


BREAKAGES: tuple[Breakage, ...] = (locked, corrupt, gone, read_only, garbage)


@pytest.fixture
def shell_on_a_small_disk(bare: Shell) -> Iterator[Shell]:
    """A memory on a disk of its own, so that it can be filled."""
    disk = bare.data.parents[1]
    disk.mkdir(parents=True)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", disk], check=False)
    if mounted.returncode:
        pytest.skip("a small disk can only be mounted as root")
    bare.said("init", "--space", "shop", "--timezone", "UTC")
    yield bare
    subprocess.run(["umount", "-l", disk], check=True)


def test_500_events_with_random_breakage(shell_on_a_small_disk: Shell, capsys: pytest.CaptureFixture[str]) -> None:
    shell = shell_on_a_small_disk
    chance = random.Random(500)
    host = Host(shell, shell.learn(), capsys, chance)
    sessions = [f"s-{number}" for number in range(SESSIONS)]
    for session in sessions:
        host.fire(session, "SessionStart", chance.choice([sound, full, *BREAKAGES]))
    for _ in range(EVENTS - 2 * SESSIONS):
        event = chance.choice(["UserPromptSubmit", "Stop", "Stop", "PreCompact"])
        host.fire(chance.choice(sessions), event, chance.choice([sound, sound, full, *BREAKAGES]))
    for session in sessions:
        host.fire(session, "SessionEnd", chance.choice([sound, full, *BREAKAGES]))
    assert len(host.rated) > 3, "verdicts were given while things broke"

    with Memory.open(shell.folder, environ=shell.environ) as memory:  # replays what waits
        assert memory.status().spooled == 0
        text = memory.journal.show("2026-03-02")
        learning = memory.learnings.get(host.learning)
        tasks = {made.task_id for made in memory.learnings.injections(host.learning)}
    found = Counter(re.findall(r"- outcome: (answer \d{4} to it)", text))
    assert found == Counter(host.answers), "each answer once: none lost, none twice"
    assert learning.times_helpful == len(host.rated)
    assert tasks >= host.shown
    assert not list((shell.data).glob("**/*.unreadable"))


def test_a_hook_that_takes_too_long_ends_in_time_and_its_write_is_kept(shell: Shell) -> None:
    """The vault's lock is held for good: only the time limit ends the wait."""
    import fcntl
    import time

    lock = (shell.data / "vault.lock").open("w")
    fcntl.flock(lock, fcntl.LOCK_EX)
    began = time.monotonic()
    said = json.dumps({"session_id": "s-1", "last_assistant_message": "a word that waits"})
    done = shell.run("hook", "Stop", "--host", "claude-code", stdin=said)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert time.monotonic() - began < 30
    lock.close()
    shell.said("status")
    assert "a word that waits" in shell.said("log", "show", "2026-03-02")


@pytest.mark.parametrize("broken", ["[hosts\n", "[hosts]\nnonsense = 1\n"])
def test_a_turn_is_kept_while_the_settings_file_is_invalid(shell: Shell, broken: str) -> None:
    settings = shell.folder / "recollect.toml"
    good = settings.read_text()
    settings.write_text(good + broken)
    said = json.dumps({"session_id": "s-1", "last_assistant_message": "a word that waits"})
    assert shell.said("hook", "Stop", "--host", "claude-code", stdin=said) == ""
    settings.write_text(good)
    shell.said("status")
    assert "a word that waits" in shell.said("log", "show", "2026-03-02")


def test_a_folder_stays_ignored_while_the_settings_file_is_invalid(shell: Shell) -> None:
    settings = shell.folder / "recollect.toml"
    good = settings.read_text() + '[hosts]\nignore = ["secret"]\n'
    settings.write_text(good)
    shell.said("status")
    settings.write_text(good + "[")
    said = {"session_id": "s-1", "last_assistant_message": "hidden", "cwd": str(shell.folder / "secret")}
    shell.said("hook", "Stop", "--host", "claude-code", stdin=json.dumps(said))
    settings.write_text(good)
    assert shell.json("status")["spooled"] == 0
    assert not (shell.data / "memory").exists()


@pytest.mark.parametrize("place", ["\0", "\ud800"])
def test_a_transcript_that_no_file_can_be_called_costs_no_turn(shell: Shell, place: str) -> None:
    said = {"session_id": "s-1", "last_assistant_message": "a word to keep", "transcript_path": f"/tmp/a{place}b"}
    shell.said("hook", "Stop", "--host", "claude-code", stdin=json.dumps(said))
    assert "a word to keep" in shell.said("log", "show", "2026-03-02")


def test_a_host_that_never_ends_its_words_is_not_waited_for(shell: Shell) -> None:
    command = [sys.executable, "-m", "recollect", "hook", "SessionEnd", "--host", "claude-code"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, cwd=shell.folder, env=shell.environ) as hook:
        assert hook.wait(timeout=30) == 0  # the pipe is still open
