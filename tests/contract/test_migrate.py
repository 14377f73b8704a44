"""Migrating a memory between the engines: everything arrives or nothing, and the source stays as it was."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from recollect import BadInput, Memory, Refused, Stale
from recollect.core.clock import ScriptedClock
from recollect.memory.admin import migrate, mirror_vault
from recollect.store import bulk, project
from recollect.store import project as projects
from recollect.tend.backup import Migrated
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning


class Home:
    """One project, whose memory can be opened in either store."""

    def __init__(self, root: Path, environ: dict[str, str], url: str):
        self.root = root
        self.environ = environ
        self.url = url
        root.mkdir()
        project.create(root, environ)

    def open(self, store: str) -> Memory:
        more = {} if store == "embedded" else {"RECOLLECT_STORE": store}
        return Memory.open(self.root, environ={**self.environ, **more}, clock=ScriptedClock("2026-03-02T09:00:00Z"))

    @property
    def project(self) -> projects.Project:
        return projects.find(self.root, self.environ)

    def move(self, source: str, target: str, *, progress: Callable[[int, int], object] | None = None) -> Migrated:
        return migrate(self.project, source=source, target=target, progress=progress)

    def state(self, store: str) -> dict[str, object]:
        with self.open(store) as memory:
            vault = memory.context.vault
            with memory.context.db.read(memory.context.space) as tx:
                rows: dict[str, object] = {table.name: bulk.sums(tx, table) for table in bulk.DUMPED}
            return {**rows, "files": {path: vault.read(path) for path in vault.paths()}}


@pytest.fixture
def home(tmp_path: Path, environ: dict[str, str], postgres_url: str) -> Home:
    return Home(tmp_path / "project", environ, postgres_url)


@pytest.fixture(params=["to postgres", "to sqlite"])
def ends(request: pytest.FixtureRequest, home: Home) -> tuple[str, str]:
    """Source and target, with something remembered in the source."""
    ends = ("embedded", home.url) if request.param == "to postgres" else (home.url, "embedded")
    with home.open(ends[0]) as memory:
        _live(memory)
    return ends


def _live(memory: Memory) -> None:
    ids = [memory.learn(learning(base)).learning.id for base in (WEBHOOKS, MIGRATIONS, FLAKY)]
    memory.learnings.supersede(ids[0], ids[1])
    memory.learnings.supersede(ids[1], ids[2])
    memory.inject(task="t", outcome="o", title="Stabilise flaky browser tests that sleep in playwright")
    memory.context.vault.append("2026-03-01.md", "## Züge [project]\n")
    memory.context.vault.append("2026-03-01.md", "second entry\n")
    memory.context.vault.replace("daily/2026-03-01.md", "a day")


def test_everything_arrives_and_the_source_stays_as_it_was(home: Home, ends: tuple[str, str]) -> None:
    before = home.state(ends[0])
    moved = home.move(*ends)
    assert home.state(ends[0]) == before
    assert home.state(ends[1]) == before
    assert (moved.files, moved.rows["learnings"]) == (2, 3)


def test_what_was_moved_is_found_and_goes_on(home: Home, ends: tuple[str, str]) -> None:
    home.move(*ends)
    with home.open(ends[1]) as memory:
        found = memory.search("playwright sleeping")
        assert [hit.learning.title for hit in found] == [FLAKY["title"]]
        assert memory.rate(found[0].learning.id, "helpful").times_helpful == 1
        memory.context.vault.append("2026-03-01.md", "third\n")
        assert memory.context.vault.read("2026-03-01.md") == "## Züge [project]\nsecond entry\nthird\n"


def test_after_a_move_everything_agrees_before_and_after_the_next_cycle(home: Home, ends: tuple[str, str]) -> None:
    with home.open(ends[0]) as memory:
        memory.journal.add(topic="refunds", text="Moved the refund webhook to the queue")
        memory.journal.compact()
    home.move(*ends)
    with home.open(ends[1]) as memory:
        assert memory.data.verify() == ()
        memory.cycle()
        assert memory.data.verify() == ()


def test_after_a_move_to_a_server_a_pull_brings_what_the_team_made_of_it(home: Home) -> None:
    with home.open("embedded") as memory:
        memory.journal.add(topic="refunds", text="Moved the refund webhook to the queue")
        memory.journal.compact()
    home.move("embedded", home.url)
    with home.open(home.url) as memory:
        memory.journal.add(topic="payouts", text="Payout events carry no currency")
        memory.journal.compact()
    team = projects.find(home.root, {**home.environ, "RECOLLECT_STORE": home.url})
    assert mirror_vault(team, pull=True, force=False).conflicts == ()
    assert "payouts" in (home.project.vault / "ROOT.md").read_text()


def test_there_and_back_again_is_the_same_memory(home: Home) -> None:
    with home.open("embedded") as memory:
        _live(memory)
    before = home.state("embedded")
    home.move("embedded", home.url)
    home.project.database.unlink()
    home.project.database.with_suffix(".made").unlink()
    for path in ("2026-03-01.md", "daily/2026-03-01.md"):
        (home.project.vault / path).unlink()
    home.move(home.url, "embedded")
    assert home.state("embedded") == before


class _Stopped(Exception):
    pass


@pytest.mark.parametrize("stop_at", ["the first page", "the last page"])
def test_a_migration_that_is_stopped_changes_nothing_and_can_be_run_again(
    home: Home, ends: tuple[str, str], stop_at: str
) -> None:
    empty = home.state(ends[1])

    def stop(remaining: int, total: int) -> None:
        if stop_at == "the first page" or remaining == 0:
            raise _Stopped

    with pytest.raises(_Stopped):
        home.move(*ends, progress=stop)
    assert home.state(ends[1]) == empty
    home.move(*ends)
    assert home.state(ends[1]) == home.state(ends[0])


def test_a_write_to_the_source_during_the_move_is_noticed(home: Home, ends: tuple[str, str]) -> None:
    empty = home.state(ends[1])
    with home.open(ends[0]) as memory:
        found = memory.search("playwright sleeping")[0].learning

        def write(remaining: int, total: int) -> None:
            if remaining == 0:
                memory.learnings.pin(found.id)

        with pytest.raises(Stale, match="again"):
            home.move(*ends, progress=write)
    assert home.state(ends[1]) == empty
    home.move(*ends)
    assert home.state(ends[1]) == home.state(ends[0])


def test_a_target_that_remembers_something_is_refused_untouched(home: Home, ends: tuple[str, str]) -> None:
    with home.open(ends[1]) as memory:
        memory.learn(learning(FLAKY))
    before = home.state(ends[1])
    with pytest.raises(Refused, match="already holds a memory"):
        home.move(*ends)
    assert home.state(ends[1])["learnings"] == before["learnings"]


def test_a_file_of_the_target_that_says_something_else_is_refused_untouched(home: Home, ends: tuple[str, str]) -> None:
    with home.open(ends[1]) as memory:
        memory.context.vault.replace("2026-03-01.md", "written by hand\n")
    with pytest.raises(Refused, match=r"in 2026-03-01\.md\. Nothing was changed\..*vault push.*move these files away"):
        home.move(*ends)
    with home.open(ends[1]) as memory:
        assert memory.context.vault.paths() == ["2026-03-01.md"]
        assert memory.context.vault.read("2026-03-01.md") == "written by hand\n"


def test_a_file_that_both_ends_have_is_not_in_the_way(home: Home, ends: tuple[str, str]) -> None:
    with home.open(ends[1]) as memory:
        memory.context.vault.replace("daily/2026-03-01.md", "a day")
        memory.context.vault.replace("2026-03-01.md", "## Züge [project]\n")
    home.move(*ends)
    assert home.state(ends[1]) == home.state(ends[0])


def test_a_store_is_not_moved_into_itself(home: Home) -> None:
    with home.open("embedded"), pytest.raises(BadInput, match="two different stores"):
        home.move("embedded", "embedded")


def test_the_repositorys_own_files_stay_where_they_are(home: Home) -> None:
    with home.open("embedded") as memory:
        memory.learn(learning())
        memory.context.vault.replace("learnings.md", "staged")
        memory.context.vault.replace("index.md", "index")
        memory.context.vault.replace("2026-03-01.md", "log")
    home.move("embedded", home.url)
    with home.open(home.url) as memory:
        assert memory.context.vault.paths() == ["2026-03-01.md"]
