"""Many processes, killed at any moment: what was acknowledged is there (P1), no overwriting (P4), no locks (P5)."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from faults.processes import PERSON, a_learning
from recollect import Memory
from scale import TORTURE, campaign

PROGRAM = Path(__file__).with_name("processes.py")


@pytest.fixture
def engine() -> str:
    """Files of the embedded store; test_postgres.py has what a server can suffer."""
    return "sqlite"


def run_program(what: str, project: Path, *numbers: int, **environ: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, PROGRAM, what, project, *map(str, numbers)],
        env={**os.environ, **environ},
        capture_output=True,
        text=True,
        timeout=300 if TORTURE == 1 else 7200,  # a campaign may share its machine
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)  # type: ignore[no-any-return]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with three learnings that everybody works on."""
    return shared_learnings(tmp_path / "project")


def shared_learnings(folder: Path, environ: dict[str, str] | None = None) -> Path:
    folder.mkdir()
    with Memory.open(folder, create=True, actor=PERSON, environ=environ) as memory:
        for number in range(3):
            memory.learn(a_learning(random.Random(f"shared {number}")))
    return folder


def by_kind(heard: list[dict[str, Any]], what: str) -> list[dict[str, Any]]:
    return [each for each in heard if each.get("what") == what]


def missing(memory: Memory, heard: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """What was acknowledged and is not there as it was said."""
    lost = []
    events = {}
    for each in by_kind(heard, "learning"):
        kept = memory.learnings.get(each["id"])
        if (kept.title, kept.action) != (each["title"], each["action"]):
            lost.append(each)
    for each in by_kind(heard, "edit"):
        if each["id"] not in events:
            events[each["id"]] = memory.why(each["id"]).events
        if not any(event.new.get("context") == each["mark"] for event in events[each["id"]]):
            lost.append(each)
        if memory.learnings.get(each["id"]).version < each["version"]:
            lost.append(each)
    for each in (*by_kind(heard, "injection"), *by_kind(heard, "verdict")):
        shown = {one.learning_id: one for one in memory.work.injections(task=each["task"])}
        if each["id"] not in shown or (each["what"] == "verdict" and shown[each["id"]].feedback != "helpful"):
            lost.append(each)
    for each in by_kind(heard, "discovery"):
        kept_ones = memory.work.discovery_page(task=each["task"])[0]
        if [one.content for one in kept_ones] != [each["text"]] or not kept_ones[0].learning_id:
            lost.append(each)
    return lost


@campaign
def test_three_hundred_kills_lose_nothing_that_was_acknowledged(project: Path, seed: int) -> None:
    survives_kills(project, 300, seed)


@campaign
def test_killed_clients_of_a_server_lose_nothing_that_was_acknowledged(
    tmp_path: Path, postgres_url: str, seed: int
) -> None:
    environ = {**os.environ, "RECOLLECT_STORE": postgres_url}
    project = shared_learnings(tmp_path / "project", environ)
    survives_kills(project, 40 if TORTURE == 1 else 300, seed, RECOLLECT_STORE=postgres_url)


def survives_kills(project: Path, count: int, seed: int, **environ: str) -> None:
    heard = run_program("kills", project, count, seed, **environ)["heard"]
    assert by_kind(heard, "trouble") == []
    assert by_kind(heard, "bug") == []
    assert {each["what"] for each in heard} == {"learning", "edit", "injection", "verdict", "discovery"}
    print(f"{len(heard) / count:.1f} acknowledged writes per kill")
    assert len(heard) >= 5 * count, "kills count only when they hit real work"
    with Memory.open(project, actor=PERSON, environ={**os.environ, **environ}) as memory:
        assert missing(memory, heard) == []
        assert memory.data.verify() == ()


@campaign
def test_six_processes_that_begin_at_once_make_one_memory(tmp_path: Path, seed: int) -> None:
    for attempt in range(3):
        folder = tmp_path / f"project{attempt}"
        folder.mkdir()
        heard = run_program("opened_at_once", folder, 6, seed)["heard"]
        assert [each for each in heard if "failed" in each] == []
        assert len({each["space"] for each in heard}) == 1
        with Memory.open(folder, actor=PERSON) as memory:
            assert {memory.learnings.get(each["id"]).id for each in heard} == {each["id"] for each in heard}
            assert memory.data.verify() == ()


@campaign
def test_sixteen_writers_and_a_reader_never_see_a_lock(project: Path, seed: int) -> None:
    heard = run_program("many_writers", project, 16, 15, seed)["heard"]
    assert by_kind(heard, "trouble") == []
    assert by_kind(heard, "bug") == []
    with Memory.open(project, actor=PERSON) as memory:
        assert missing(memory, heard) == []
        assert memory.data.verify() == ()


@campaign
def test_eight_processes_that_edit_one_text_lose_no_word(project: Path, seed: int) -> None:
    heard = run_program("versioned_edits", project, 8, 6, seed)["heard"]
    marks = [each["mark"] for each in by_kind(heard, "edit")]
    assert len(marks) == 48
    assert by_kind(heard, "stale"), "nobody was overtaken, so nothing was tried"
    with Memory.open(project, actor=PERSON) as memory:
        text = memory.learnings.page(sort="oldest", limit=1)[0][0].context
        assert set(marks) <= set(text.split())


@campaign
def test_six_processes_that_write_one_file_lose_no_line(project: Path, seed: int) -> None:
    heard = run_program("vault_swaps", project, 6, 10, seed)["heard"]
    marks = sorted(each["mark"] for each in by_kind(heard, "line"))
    assert len(marks) == 60
    with Memory.open(project, actor=PERSON) as memory:
        for name in ("node.md", "log.md"):
            text = memory.context.vault.read(name)
            assert sorted((text or "").splitlines()) == marks
