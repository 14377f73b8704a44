"""0 fine, 1 no, 2 bad use or bad input, 3 the environment; an error is one line on standard error."""

from __future__ import annotations

import os
import sqlite3
import subprocess
import sys

import pytest

from shell import Shell

FINE = [
    "status",
    "cycle",
    "inbox",
    "learn list",
    "learn show ID",
    "learn history ID",
    "why ID",
    "search zebra --json",
    "search webhook",
    "task outcome list",
    "task list",
    "task discovery list",
    "task feedback --task TASK-7",
    "task observe --task TASK-7",
    "inject --task TASK-7 --outcome billing --title zebra",
    "init",
    "--version",
    "--help",
    "inject --help",
]
NO = [
    ("learn show learn_nope", "There is no learning learn_nope"),
    ("learn edit ID --title Mine --version 9", "Nothing was overwritten"),
    ("learn supersede ID ID", "cannot replace itself"),
    ("learn merge ID ID", "cannot be merged with itself"),
    ("why learn_nope", "There is no learning learn_nope"),
    ("learn rate ID --verdict helpful", "never injected"),
    ("why nonsense", "There is no 'nonsense'"),
    ("get nonsense", "ids look like"),
    ("search zebra --semantic-weight 1", "Nothing has vectors yet"),
    ("log adopt log/2026-03-01#1", "no entry"),
    ("inbox show 7", "no item 7"),
    ("inject --task a --outcome b --learning learn_nope", "There is no learning learn_nope"),
    ("task shown TASK-7", "There is no task TASK-7"),
    ("task list --outcome billing", "There is no outcome billing"),
    ("task discovery list --task TASK-7", "There is no task TASK-7"),
]
BAD = [
    ("learn add --title Alone", "--context"),
    ("learn add --title x --context x --observation x --implication x --action x", "With `--anyway` it is kept"),
    ("learn edit ID --confidence 1.1", "between 0 and 1"),
    ("learn edit ID --confidence nan", "between 0 and 1"),
    ("learn tag ID", "--add"),
    ("store verify nowhere.db", "is not a file"),
    ("store restore nowhere.db", "is not a file"),
    ("learn list --limit 0", "limit"),
    ("learn list --limit 1001", "limit"),
    ("task list --limit -1", "limit"),
    ("task outcome list --limit 99999999999999999999999", "limit"),
    ("task discovery list --limit 0", "limit"),
    ("search webhook --limit 0", "limit"),
    ("learn rate ID", "--verdict"),
    ("inject --task a --title b", "--outcome"),
    ("inject --task a --outcome b", "title"),
    ("inject --task a --outcome b --title c --budget many", "--budget: invalid int value"),
    ("inject --task a --outcome b --title c --full=no", "--full: ignored explicit argument 'no'"),
    ("inject --nonsense", "--nonsense"),
    ("inject --task", "--task: expected one argument"),
    ("learn show", "Missing argument"),
    ("learn list --sort sideways", "sideways"),
    ("why doc/docs/deploy.md", "git log"),
    ("nonsense", "nonsense"),
    ("init --space other", "already names"),
]


@pytest.fixture
def id(shell: Shell) -> str:
    return shell.learn()


@pytest.mark.parametrize("line", FINE)
def test_fine_is_0(shell: Shell, id: str, line: str) -> None:
    shell.said(*line.replace("ID", id).split())


@pytest.mark.parametrize(("line", "message"), NO)
def test_no_is_1(shell: Shell, id: str, line: str, message: str) -> None:
    _refused(shell, line.replace("ID", id), 1, message)


@pytest.mark.parametrize(("line", "message"), BAD)
def test_bad_use_is_2(shell: Shell, id: str, line: str, message: str) -> None:
    _refused(shell, line.replace("ID", id), 2, message)


@pytest.mark.parametrize(
    "line", ["status", "search x", "inject --task a --outcome b --title c", "host trust", "learn list"]
)
def test_no_project_is_2_and_makes_nothing(bare: Shell, line: str) -> None:
    _refused(bare, line, 2, "recollect init")
    assert list(bare.folder.iterdir()) == []


@pytest.mark.parametrize("line", ["log add Hello", "log show today", "doctor", "log compact", "search entry"])
def test_a_time_zone_that_is_none_is_2(shell: Shell, line: str) -> None:
    shell.said("log", "add", "The first entry of this log")
    (shell.folder / "recollect.toml").write_text('space = "shop"\ntimezone = "Mars/Base"\n')
    done = shell.run(*line.split())
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.decode().endswith("'Mars/Base' is not an IANA time zone such as Europe/Berlin; set timezone\n")


@pytest.mark.parametrize("line", ["status", "inject --task a --outcome b --title c"])
def test_a_damaged_store_is_3_and_stays_as_it_is(shell: Shell, line: str) -> None:
    database = shell.data / "memory.db"
    database.write_bytes(b"not a database, " * 1000)
    _refused(shell, line, 3, "memory.db")
    assert database.read_bytes() == b"not a database, " * 1000


def test_a_vanished_store_is_3_and_not_begun_anew(shell: Shell) -> None:
    (shell.data / "memory.db").unlink()
    _refused(shell, "learn list", 3, "missing")
    assert not (shell.data / "memory.db").exists()


def test_a_newer_store_is_3(shell: Shell) -> None:
    database = sqlite3.connect(shell.data / "memory.db")
    database.execute("UPDATE meta SET value = '999' WHERE name = 'schema'")
    database.commit()
    database.close()
    _refused(shell, "status", 3, "newer")


def test_a_full_disk_under_the_answer_is_3(shell: Shell) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "recollect", "status"],
            cwd=shell.folder,
            env=shell.environ,
            stdout=full,
            stderr=subprocess.PIPE,
        )
    assert done.returncode == 3
    assert done.stderr == f"recollect: the answer could not be written: {os.strerror(28)}\n".encode()


def _refused(shell: Shell, line: str, code: int, message: str) -> None:
    done = shell.run(*line.split())
    error = done.stderr.decode()
    assert (done.returncode, done.stdout) == (code, b"")
    assert message in error
    assert "Traceback" not in error
