"""Moving a memory between the engines: everything arrives, the source stays, a stopped move goes on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollect import BadInput, LearningEdit, Memory, Refused, Stale
from recollect.core.clock import ScriptedClock
from recollect.core.errors import StoreDamaged, StoreUnreachable
from recollect.core.journal import NewEntry
from recollect.memory.admin import Rescue, move_memory, pull_vault
from recollect.memory.sessions import Write, deliver
from recollect.store import dump, init
from recollect.store import project as projects
from recollect.tend.move import Moved, Progress
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning

DISCOVERY = "DISCOVERY[constraint]: Uploads must stay below 5 MB because the gateway cuts them off"


class Home:
    """One project, whose memory can be opened in either store."""

    def __init__(self, root: Path, environ: dict[str, str], url: str):
        self.root = root
        self.environ = environ
        self.url = url
        root.mkdir()
        init.create(root, environ)

    def open(self, store: str) -> Memory:
        more = {} if store == "embedded" else {"RECOLLECT_STORE": store}
        return Memory.open(self.root, environ={**self.environ, **more}, clock=ScriptedClock("2026-03-02T09:00:00Z"))

    @property
    def project(self) -> projects.Project:
        return projects.find(self.root, self.environ)

    def move(self, source: str, target: str, *, restart: bool = False, progress: Progress = lambda *_: None) -> Moved:
        clock = ScriptedClock("2026-03-02T10:00:00Z")
        return move_memory(self.project, source=source, target=target, clock=clock, restart=restart, progress=progress)

    def state(self, store: str) -> dict[str, object]:
        with self.open(store) as memory:
            vault = memory.context.vault
            with memory.context.db.read(memory.context.space) as tx:
                rows: dict[str, object] = {table.name: dump.sums(tx, table) for table in dump.TABLES}
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
    assert (moved.files, moved.rows["learnings"], moved.resumed) == (2, 3, False)


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
    assert pull_vault(team, force=False).conflicts == ()
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


@contextmanager
def _stopped_at(table: str) -> Iterator[Progress]:
    def stop(what: str, done: int, of: int) -> None:
        if what == table and done:
            raise _Stopped

    with pytest.raises(_Stopped):
        yield stop


@pytest.mark.parametrize(
    "table", ["files", "tasks", "learnings", "learning_tags", "learning_sources", "injections", "events", "passages"]
)
def test_a_move_that_was_stopped_goes_on(home: Home, ends: tuple[str, str], table: str) -> None:
    before = home.state(ends[0])
    with _stopped_at(table) as stop:
        home.move(*ends, progress=stop)
    moved = home.move(*ends)
    assert home.state(ends[1]) == before
    assert moved.rows["learnings"] == 3


def test_nobody_writes_where_a_move_is_unfinished(home: Home, ends: tuple[str, str]) -> None:
    with home.open(ends[1]) as early:
        with _stopped_at("learnings") as stop:
            home.move(*ends, progress=stop)
        with home.open(ends[1]) as late:
            for memory in (early, late):
                assert memory.search("playwright sleeping") == []
                for write in (
                    lambda memory=memory: memory.learn(learning(FLAKY)),
                    lambda memory=memory: memory.journal.add(NewEntry(text="Deployed the shop")),
                    memory.cycle,
                ):
                    with pytest.raises(StoreUnreachable, match=r"a move from .* is not finished.*migrate.*--restart"):
                        write()
    home.move(*ends)
    assert home.state(ends[1]) == home.state(ends[0])
    with home.open(ends[1]) as memory:
        memory.rate(memory.search("playwright sleeping")[0].learning.id, "helpful")


def test_what_a_hook_wrote_meanwhile_waits_for_the_end_of_the_move(home: Home, ends: tuple[str, str]) -> None:
    with _stopped_at("learnings") as stop:
        home.move(*ends, progress=stop)
    with home.open(ends[1]) as memory:
        write = Write(id="change_1", verb="observe", arguments={"output": DISCOVERY, "task": "t-9"})
        assert not deliver(memory.context, memory.project, write)
    home.open(ends[1]).close()
    home.move(*ends)
    with home.open(ends[1]) as memory:
        assert memory.status().spooled == 0
        assert memory.status().discoveries == 1


def test_status_and_doctor_name_an_unfinished_move(home: Home, ends: tuple[str, str]) -> None:
    with _stopped_at("learnings") as stop:
        home.move(*ends, progress=stop)
    with home.open(ends[1]) as memory, home.open(ends[0]) as source:
        assert memory.status().moving_from == source.status().store
        assert source.status().moving_from == ""
    more = {} if ends[1] == "embedded" else {"RECOLLECT_STORE": ends[1]}
    rescue = Rescue.of(home.root, actor=memory.context.actor, environ={**home.environ, **more})
    assert [finding.what for finding in rescue.doctor().findings if finding.what != "permissions"] == ["move"]


def test_what_changed_since_the_stop_comes_over_too(home: Home, ends: tuple[str, str]) -> None:
    with _stopped_at("injections") as stop:
        home.move(*ends, progress=stop)
    with home.open(ends[0]) as memory:
        found = memory.search("playwright sleeping")[0].learning
        memory.rate(found.id, "helpful")
        memory.learnings.edit(found.id, LearningEdit(title="Browser tests must wait for what the page does"))
    home.move(*ends)
    assert home.state(ends[1]) == home.state(ends[0])


def test_a_write_to_the_source_during_the_move_is_noticed(home: Home, ends: tuple[str, str]) -> None:
    with home.open(ends[0]) as memory:
        found = memory.search("playwright sleeping")[0].learning

        def write(what: str, done: int, of: int) -> None:
            if (what, done) == ("events", of):
                memory.learnings.pin(found.id)

        with pytest.raises(Stale, match="again"):
            home.move(*ends, progress=write)
    home.move(*ends)
    assert home.state(ends[1]) == home.state(ends[0])


def test_a_target_that_remembers_something_is_refused_untouched(home: Home, ends: tuple[str, str]) -> None:
    with home.open(ends[1]) as memory:
        memory.learn(learning(FLAKY))
    before = home.state(ends[1])
    for restart in (False, True):
        with pytest.raises(Refused, match="already remembers"):
            home.move(*ends, restart=restart)
    assert home.state(ends[1])["learnings"] == before["learnings"]


def test_a_file_of_the_target_that_says_something_else_is_refused_untouched(home: Home, ends: tuple[str, str]) -> None:
    with home.open(ends[1]) as memory:
        memory.context.vault.replace("2026-03-01.md", "written by hand\n")
    for restart in (False, True):
        with pytest.raises(
            Refused, match=r"in 2026-03-01\.md; nothing was changed\..*vault push.*move these files away"
        ):
            home.move(*ends, restart=restart)
    with home.open(ends[1]) as memory:
        assert memory.context.vault.paths() == ["2026-03-01.md"]
        assert memory.context.vault.read("2026-03-01.md") == "written by hand\n"


def test_a_file_that_both_ends_have_is_not_in_the_way(home: Home, ends: tuple[str, str]) -> None:
    with home.open(ends[1]) as memory:
        memory.context.vault.replace("daily/2026-03-01.md", "a day")
        memory.context.vault.replace("2026-03-01.md", "## Züge [project]\n")
    home.move(*ends)
    assert home.state(ends[1]) == home.state(ends[0])


def test_a_file_written_by_hand_before_a_stopped_move_goes_on_is_refused(home: Home) -> None:
    with home.open(home.url) as memory:
        _live(memory)
    with _stopped_at("learnings") as stop:
        home.move(home.url, "embedded", progress=stop)
    (home.project.vault / "2026-03-01.md").write_text("by hand", "utf-8")
    for restart in (False, True):
        with pytest.raises(Refused, match=r"2026-03-01\.md"):
            home.move(home.url, "embedded", restart=restart)
    assert (home.project.vault / "2026-03-01.md").read_text("utf-8") == "by hand"


def test_a_file_that_the_source_wrote_anew_since_the_stop_comes_over(home: Home) -> None:
    with home.open("embedded") as memory:
        _live(memory)
    with _stopped_at("learnings") as stop:
        home.move("embedded", home.url, progress=stop)
    with home.open("embedded") as memory:
        memory.context.vault.replace("daily/2026-03-01.md", "another day")
    home.move("embedded", home.url)
    assert home.state(home.url) == home.state("embedded")


def test_restart_empties_what_an_unfinished_move_left(home: Home, ends: tuple[str, str]) -> None:
    with _stopped_at("passages") as stop:
        home.move(*ends, progress=stop)
    with home.open(ends[0]) as memory:
        found = memory.search("playwright sleeping")[0].learning
        memory.learnings.tag(found.id, remove=("testing",))
    with pytest.raises(StoreDamaged, match="--restart"):
        home.move(*ends)
    home.move(*ends, restart=True)
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
