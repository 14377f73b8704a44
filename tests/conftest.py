"""Shared by all tests: a scripted clock, counted ids, and a memory in a fresh project. Nothing of ours is patched."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

import template
from recollect import Actor, Memory, ScriptedClock
from recollect.store.postgres_setup import initialise
from recollect.store.project import SETTINGS_FILE
from samples import counted_ids
from servers import Server, shared_server, stop_shared
from shell import Shell

# Neither deadlines nor the check for slow examples: both are clocks, and a busy machine is no defect.
UNCHECKED = (HealthCheck.function_scoped_fixture, HealthCheck.too_slow)
settings.register_profile("ci", max_examples=50, derandomize=True, deadline=None, suppress_health_check=UNCHECKED)
settings.register_profile(
    "torture",
    max_examples=int(os.environ.get("RECOLLECT_EXAMPLES", "5000")),
    deadline=None,
    suppress_health_check=UNCHECKED,
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

PERSON = Actor(name="ada", channel="cli", trust="human")
AGENT = Actor(name="claude-code", channel="hook", trust="agent")
STRANGER = Actor(name="import", channel="import", trust="external")

Opener = Callable[..., Memory]
ENGINES = ("sqlite", "postgres")
_SHARED = "RECOLLECT_TEST_PG_FOLDER"


def pytest_configure(config: pytest.Config) -> None:
    """The folder of the run's server is chosen before workers start, who then find it in their environment.

    The developer's own memory is no place for tests that give no home of their own.
    """
    if not hasattr(config, "workerinput"):
        os.environ[_SHARED] = tempfile.mkdtemp(prefix="rpg-", dir="/tmp")
        os.environ["RECOLLECT_HOME"] = os.path.join(os.environ[_SHARED], "home")


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        stop_shared(Path(os.environ.pop(_SHARED)))


@pytest.fixture(scope="session")
def server() -> Server:
    """The run's own PostgreSQL server, for tests that need roles or databases besides the shared one."""
    return shared_server(Path(os.environ[_SHARED]))


@pytest.fixture(scope="session")
def postgres_url(request: pytest.FixtureRequest) -> str:
    """A database with a store in it; tests share it, each with a space of its own. RECOLLECT_TEST_PG names another."""
    given = os.environ.get("RECOLLECT_TEST_PG")
    if given:
        initialise(given)
        return given
    server = request.getfixturevalue("server")
    name = f"shared_{os.environ.get('PYTEST_XDIST_WORKER', 'main')}"
    url: str = server.new_database(name)
    initialise(url)
    return url


@pytest.fixture
def clock() -> ScriptedClock:
    return ScriptedClock("2026-03-02T09:00:00Z")


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """Both engines, one after the other: whatever uses this fixture runs on each."""
    assert isinstance(request.param, str)
    return request.param


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment with a home of its own. Words only: tests of meaning bring an embedder that costs nothing."""
    home = tmp_path / "home"
    home.mkdir()
    return {"HOME": str(home), "USER": "ada", "PATH": os.environ["PATH"], "RECOLLECT_EMBED_USE": "off"}


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an empty embedded store, to be copied."""
    return template.make(tmp_path_factory.mktemp("template"))


@pytest.fixture
def open_memory(
    engine: str,
    request: pytest.FixtureRequest,
    tmp_path: Path,
    clock: ScriptedClock,
    environ: dict[str, str],
    empty_store: Path,
) -> Iterator[Opener]:
    """Opens the same project's memory as often as wanted, each time as whoever is named."""
    if engine == "postgres":
        environ["RECOLLECT_STORE"] = request.getfixturevalue("postgres_url")
    opened: list[Memory] = []
    ids = counted_ids()

    def opener(actor: Actor = PERSON, **more: object) -> Memory:
        given: dict[str, Any] = {"clock": clock, "ids": ids, "environ": environ, **more}
        if not (tmp_path / "project" / SETTINGS_FILE).exists():
            template.begin(tmp_path / "project", given["environ"], empty_store)
        memory = Memory.open(tmp_path / "project", create=True, actor=actor, **given)
        opened.append(memory)
        return memory

    (tmp_path / "project").mkdir()
    yield opener
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: Opener) -> Memory:
    return open_memory()


@pytest.fixture
def bare(tmp_path: Path) -> Shell:
    """A command line in a folder without a project."""
    return Shell(tmp_path)


@pytest.fixture
def shell(bare: Shell) -> Shell:
    """A command line in a project."""
    bare.said("init", "--space", "shop", "--timezone", "UTC")
    return bare


@pytest.fixture(scope="session")
def chromium() -> Iterator[object]:
    from browsing import chromium

    with chromium() as browser:
        yield browser


@pytest.fixture
def site(chromium: object, memory: Memory, request: pytest.FixtureRequest) -> Iterator[object]:
    """The page in a browser that is signed in."""
    from browsing import signed_in

    with signed_in(chromium, memory, request.node.name) as site:  # type: ignore[arg-type]
        yield site
