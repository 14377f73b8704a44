"""What a writer is told is true: saved is there once, failed is not there, and given again it is there once (P1, P3).

A verb that writes a file and rows can fail between the two. The file is the home of the text, so from then on it is
saved, and only search has to wait.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from conftest import PERSON, Opener
from faults import verbs
from faults.test_crash_points import CALLS, MARKS, between_the_marks
from faults.verbs import TEXT, VERBS, copies, told
from recollect import Memory
from recollect.capture.turns import turn as log_turn
from recollect.core.context import Tx
from recollect.core.errors import NOT_DONE, FateUnknown, NoSpace, StoreUnreachable, Trouble
from recollect.core.journal import NewEntry
from recollect.core.learning import SessionTurn
from recollect.store.table_vault import TableVault
from scale import TORTURE

PROGRAM = Path(verbs.__file__)
FILES_AND_ROWS = ("log", "stage", "finding")
FAILING = f"{CALLS},utimensat,fstat,newfstatat,statx,flock,fchmod,close,mmap"

SWEPT = (
    [(verb, error) for verb in VERBS for error in ("EIO", "ENOSPC", "EINTR")]
    if TORTURE > 1
    else [("log", "ENOSPC"), ("stage", "EIO"), ("finding", "EIO")]
)
"""A run takes a second or two: in `make test` a few calls of three verbs fail, in `make torture` every call of each."""

# A store that fails behind the file


class Failing:
    """A database whose transactions fail from the n-th writer on: before its commit, or with its answer lost."""

    def __init__(self, db: Any, *, after: int, error: BaseException, committed: bool = False):
        self._db, self._left, self._error, self._committed = db, after, error, committed

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    @contextmanager
    def write(self, space: str) -> Iterator[Tx]:
        self._left -= 1
        if self._left < 0 and not self._committed:
            raise self._error
        with self._db.write(space) as tx:
            yield tx
        if self._left < 0:
            raise self._error


def failing(memory: Memory, **how: Any) -> Memory:
    """The same memory over such a database. A team's vault is in it, and an append is one of its writers."""
    context = replace(memory.context, db=Failing(memory.context.db, **how))
    if context.db.engine == "postgresql":
        context = replace(context, vault=TableVault(context.db, context.space))
    return Memory(context, memory.project)


@pytest.mark.parametrize("verb", FILES_AND_ROWS)
def test_a_text_whose_rows_failed_is_saved_with_a_warning_and_found_after_a_cycle(
    open_memory: Opener, verb: str
) -> None:
    memory = open_memory()
    memory.journal.add(NewEntry(text="An entry that was there before"))
    in_the_store = memory.context.db.engine == "postgresql" and verb != "stage"
    writers = {"log": 1, "stage": 0, "finding": 0}[verb] + in_the_store
    said, warning = told(failing(memory, after=writers, error=NoSpace(f"the disk is full{NOT_DONE}. Free room")), verb)
    assert said == "saved"
    assert "was saved but is not searchable yet: the disk is full. " in warning
    assert "recollect cycle" in warning
    assert "did not happen" not in warning
    assert copies(memory, verb) == 1
    memory.cycle()
    assert any(TEXT in hit.snippet or TEXT in hit.title for hit in memory.search(TEXT))
    assert copies(memory, verb) == 1


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize("writers", range(4))
@pytest.mark.parametrize("committed", [False, True])
def test_what_was_not_saved_is_there_once_when_it_is_given_again(
    open_memory: Opener, verb: str, writers: int, committed: bool
) -> None:
    memory = open_memory()
    error = FateUnknown("nobody knows") if committed else StoreUnreachable(f"the connection broke{NOT_DONE}. Try again")
    said, _ = told(failing(memory, after=writers, error=error, committed=committed), verb)
    there = copies(memory, verb)
    assert there == 1 if said == "saved" else there == 0 if said == "failed" else there <= 1
    if said != "saved":
        assert told(memory, verb)[0] == "saved"
    assert copies(memory, verb) == 1


def test_an_entry_whose_writer_was_killed_is_recognised_although_others_wrote_since(open_memory: Opener) -> None:
    memory = open_memory()
    in_the_store = memory.context.db.engine == "postgresql"
    with pytest.raises(SystemExit):
        told(failing(memory, after=1 + in_the_store, error=SystemExit(9)), "log")
    assert copies(memory, "log") == 1
    memory.journal.add(NewEntry(text="Somebody else's words"))
    memory.journal.add(NewEntry(text="And more of them"))
    assert told(memory, "log") == ("saved", "")
    assert copies(memory, "log") == 1


def test_the_same_words_twice_are_two_entries_when_the_first_was_acknowledged(open_memory: Opener) -> None:
    memory = open_memory()
    assert [told(memory, "log"), told(memory, "log")] == [("saved", ""), ("saved", "")]
    assert copies(memory, "log") == 2
    assert [told(memory, "finding"), told(memory, "finding")] == [("saved", ""), ("saved", "")]
    assert copies(memory, "finding") == 2


def test_a_hook_whose_rows_failed_logs_its_turn_once(open_memory: Opener) -> None:
    memory = open_memory()
    turn = SessionTurn(session="s-1", host="claude-code", request=TEXT, answer="Done.")
    for writers in range(8):
        try:
            log_turn(failing(memory, after=writers, error=StoreUnreachable("gone")).context, turn)
        except Trouble:
            with memory.context.db.write(memory.context.space) as tx:
                tx.run("UPDATE leases SET expires_at = 0 WHERE space = :space")
    log_turn(memory.context, turn)
    text = memory.journal.show("today")
    assert text.count("<!--") == text.count("turn.s-1.") == 1


# A disk that fails at one system call


def swept(folder: Path, verb: str, *options: str) -> tuple[tuple[str, str], list[str]]:
    """What a verb said under strace, and its system calls."""
    verbs.prepare(folder / "real")
    log = folder / "trace"
    environ = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1", "HOME": str(folder)}
    environ |= {"PYTHONPATH": os.pathsep.join(sys.path), "RECOLLECT_EMBED_USE": "off"}
    done = subprocess.run(
        ["strace", "-f", "-qq", "-y", "-o", log, *options, sys.executable, PROGRAM, verb, folder],
        capture_output=True,
        text=True,
        env=environ,
        check=False,
    )
    assert done.stdout, done.stderr[-2000:]
    calls = [line.partition(" ")[2].strip() for line in log.read_text("utf-8", "replace").splitlines()]
    said, message = json.loads(done.stdout)
    return (said, message), calls


def points_of(folder: Path, verb: str) -> list[tuple[str, int]]:
    folder.mkdir()
    (said, _), calls = swept(folder, verb, "-e", f"trace={FAILING},{MARKS}")
    assert said == "saved"
    inside, before = between_the_marks(calls)
    points = []
    for call in inside:
        name = call.partition("(")[0]
        before[name] += 1
        points.append((name, before[name]))
    return points


@pytest.mark.parametrize(("verb", "error"), SWEPT)
def test_whatever_call_fails_what_is_said_is_true(tmp_path: Path, verb: str, error: str) -> None:
    points = points_of(tmp_path / "count", verb)
    assert len(points) > 5
    chosen = points if TORTURE > 1 else _telling(points)
    seen: Counter[str] = Counter()
    for number, (name, count) in enumerate(chosen):
        folder = tmp_path / str(number)
        folder.mkdir()
        (said, message), _ = swept(
            folder, verb, "-e", f"trace={name}", "-e", f"inject={name}:error={error}:when={count}"
        )
        seen[said] += 1
        where = (name, count, said, message)
        with Memory.open(folder / "real", create=True, actor=PERSON) as memory:
            there = copies(memory, verb)
            assert there == 1 if said == "saved" else there == 0 if said == "failed" else there <= 1, where
            if said != "saved":
                assert told(memory, verb)[0] == "saved", where
            assert copies(memory, verb) == 1, where
            memory.cycle()
            assert memory.search(TEXT), where
            assert memory.data.verify() == (), where
        shutil.rmtree(folder)
    assert sum(seen.values()) == len(chosen)
    if error != "EINTR":  # is tried again by whoever made the call
        assert len(seen) > 1, "some calls fail the verb and some do not"


def test_an_append_that_cannot_be_taken_back_is_not_denied(tmp_path: Path) -> None:
    """The sync fails, and so does cutting the file off again: the entry is there, and nobody says that it is not."""
    count, folder = tmp_path / "count", tmp_path / "cut"
    count.mkdir()
    folder.mkdir()
    _, calls = swept(count, "log", "-e", f"trace=fsync,ftruncate,{MARKS}")
    _, before = between_the_marks(calls)
    inject = [f"inject={name}:error=EIO:when={before[name] + 1}" for name in ("fsync", "ftruncate")]
    (said, message), _ = swept(folder, "log", "-e", "trace=fsync,ftruncate", "-e", inject[0], "-e", inject[1])
    assert (said, "look before you repeat it" in message) == ("unknown", True)
    with Memory.open(folder / "real", create=True, actor=PERSON) as memory:
        assert copies(memory, "log") == 1
        assert told(memory, "log")[0] == "saved"
        assert copies(memory, "log") == 1


def _telling(points: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The sync of the file, what comes right after it, and the last write of the rows."""
    synced = next(at for at, (name, _) in enumerate(points) if name == "fsync")
    written = max(at for at, (name, _) in enumerate(points) if name == "pwrite64")
    return [points[synced], points[synced + 1], points[written]]


@pytest.mark.skipif(not shutil.which("cc"), reason="the shim that shortens writes is compiled here")
@pytest.mark.parametrize("verb", VERBS)
def test_writes_that_take_half_of_what_they_were_given_lose_nothing(tmp_path: Path, verb: str) -> None:
    shim = tmp_path / "short.so"
    source = Path(__file__).with_name("short_writes.c")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", shim, source, "-ldl"], check=True)
    verbs.prepare(tmp_path / "real")
    environ = {**os.environ, "LD_PRELOAD": str(shim), "HOME": str(tmp_path), "RECOLLECT_EMBED_USE": "off"}
    environ["PYTHONPATH"] = os.pathsep.join(sys.path)
    done = subprocess.run(
        [sys.executable, PROGRAM, verb, tmp_path], capture_output=True, text=True, env=environ, check=False
    )
    assert json.loads(done.stdout)[0] == "saved", done.stderr[-2000:]
    with Memory.open(tmp_path / "real", create=True, actor=PERSON) as memory:
        assert copies(memory, verb) == 1
        memory.cycle()
        assert memory.data.verify() == ()
