"""Shared by all tests: a scripted clock, counted ids, and a memory in a fresh project. Nothing of ours is patched."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from recollect import Actor, Memory, ScriptedClock
from recollect.core.ids import counted_ids

settings.register_profile(
    "ci", max_examples=50, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.register_profile(
    "torture", max_examples=5000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

PERSON = Actor(name="ada", channel="cli", trust="human")
AGENT = Actor(name="claude-code", channel="hook", trust="agent")
STRANGER = Actor(name="import", channel="import", trust="external")

Opener = Callable[..., Memory]


@pytest.fixture
def clock() -> ScriptedClock:
    return ScriptedClock("2026-03-02T09:00:00Z")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment with a home of its own."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "USER": "ada", "PATH": os.environ["PATH"]}


@pytest.fixture(params=["sqlite"])
def open_memory(
    request: pytest.FixtureRequest, tmp_path: Path, clock: ScriptedClock, environ: dict[str, str]
) -> Iterator[Opener]:
    """Opens the same project's memory as often as wanted, each time as whoever is named."""
    opened: list[Memory] = []
    ids = counted_ids()

    def opener(actor: Actor = PERSON, **more: object) -> Memory:
        given = {"clock": clock, "ids": ids, "environ": environ, **more}
        memory = Memory.open(tmp_path / "project", create=True, actor=actor, **given)  # type: ignore[arg-type]
        opened.append(memory)
        return memory

    (tmp_path / "project").mkdir()
    yield opener
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Opener) -> Memory:
    return open_memory()
