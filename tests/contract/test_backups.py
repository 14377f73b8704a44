"""Backup and restore on both engines: one kind of file, checked, put back in one step, into either engine."""

from __future__ import annotations

import re
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path

import apsw
import pytest

from conftest import PERSON, Opener
from embedded import fill
from recollect import Memory, ScriptedClock
from recollect.core.context import Tx
from recollect.core.errors import Stale, StoreDamaged
from recollect.core.journal import NewEntry
from recollect.memory.admin import Rescue
from recollect.store import bulk, db
from recollect.store import project as projects
from recollect.store.copies import check_file
from recollect.tend.backup import restore_to_server
from samples import learning

LOG = "2026-03-02.md"


@pytest.fixture
def rescue(memory: Memory, environ: dict[str, str]) -> Rescue:
    return Rescue(memory.project.root, actor=PERSON, environ=environ, clock=memory.context.clock)


def lived_in(memory: Memory) -> Memory:
    fill(memory)
    memory.journal.add(NewEntry(text="Use cents.", topic="Züge", type="user"))
    memory.journal.add(NewEntry(text="A second entry of the same day."))
    return memory


def state(memory: Memory) -> dict[str, object]:
    vault = memory.context.vault
    with memory.context.db.read(memory.context.space) as tx:
        rows: dict[str, object] = {table.name: bulk.sums(tx, table) for table in bulk.DUMPED}
    return {**rows, "files": {path: vault.read(path) for path in vault.paths()}}


def written_after(memory: Memory) -> None:
    memory.learn(learning(title="Written after the backup", observation="Only the kept store has it"))


def test_a_backup_restores_everything_and_keeps_what_was_there(memory: Memory, rescue: Rescue) -> None:
    before = state(lived_in(memory))
    copy = memory.data.backup()
    written_after(memory)
    after = state(memory)
    done = rescue.restore(Path(copy.path))
    assert state(memory) == before
    assert memory.data.verify() == ()
    assert [hit.title for hit in memory.search("webhook deliveries overtake")]
    rescue.restore(Path(done.kept or ""))
    assert state(memory) == after


def test_a_restored_memory_goes_on(memory: Memory, rescue: Rescue) -> None:
    lived_in(memory)
    rescue.restore(Path(memory.data.backup().path))
    written_after(memory)
    memory.cycle()
    assert memory.search("kept store")[0].title == "Written after the backup"
    assert memory.data.verify() == ()


def test_backups_in_the_projects_folder_are_listed_and_the_oldest_go(memory: Memory) -> None:
    fill(memory)
    made = [memory.data.backup() for _ in range(6)]
    assert made[-1].removed == (made[0].path,)
    assert [kept.problem for kept in memory.data.backups()] == [""] * 5
    assert made[-1].spaces == (memory.context.space,)


@pytest.mark.parametrize("engine", ["sqlite"])
def test_the_cycle_takes_one_backup_a_day(memory: Memory, clock: ScriptedClock) -> None:
    def step() -> str:
        return dict(memory.cycle().steps)["backup"]

    fill(memory)
    assert step() == "wrote memory-20260302T090000Z-1.db"
    clock.advance(hours=23.9)
    assert step() == "nothing due"
    clock.advance(hours=0.1)
    assert step() == "wrote memory-20260303T090000Z-1.db"
    assert [(Path(kept.path).name, kept.problem) for kept in memory.data.backups()] == [
        ("memory-20260303T090000Z-1.db", ""),
        ("memory-20260302T090000Z-1.db", ""),
    ]


@pytest.mark.parametrize("engine", ["sqlite"])
def test_no_automatic_backup_is_a_setting(open_memory: Opener, environ: dict[str, str]) -> None:
    environ["RECOLLECT_STORE_BACKUPS"] = "0"
    memory = open_memory()
    fill(memory)
    assert dict(memory.cycle().steps)["backup"] == "switched off by store.backups"
    assert memory.data.backups() == []
    asked_for = [memory.data.backup().path for _ in range(2)]
    assert [kept.path for kept in memory.data.backups()] == asked_for[1:], "the one just made always stays"


def test_a_changed_letter_is_found_and_nothing_is_touched(memory: Memory, rescue: Rescue) -> None:
    before = state(lived_in(memory))
    path = Path(memory.data.backup().path)
    connection = apsw.Connection(str(path))
    connection.execute("UPDATE learnings SET title = title || '.'")
    connection.close()
    with pytest.raises(StoreDamaged, match="was changed after it was made"):
        rescue.restore(path)
    assert state(memory) == before


@pytest.mark.parametrize("content", [b"not a backup", b"SQLite format 3\0" + b"x" * 5000])
def test_a_file_that_is_no_backup_is_refused_and_another_is_asked_for(
    memory: Memory, rescue: Rescue, tmp_path: Path, content: bytes
) -> None:
    file = tmp_path / "note.txt"
    file.write_bytes(content)
    with pytest.raises(StoreDamaged, match=rf"^{re.escape(str(file))} .*choose another file") as refused:
        rescue.restore(file)
    assert "recollect store restore" not in str(refused.value)


def test_a_purge_leaves_the_text_in_no_backup_of_the_project(memory: Memory) -> None:
    ids = fill(memory)
    memory.data.backup()
    memory.data.backup()
    done = memory.data.purge(id=ids[0])
    assert (done.backups_replaced, done.found) == (2, ())
    assert b"can overtake" not in Path(done.fresh_backup or "").read_bytes()


def test_a_restore_from_before_a_purge_says_so_and_a_later_one_does_not(
    memory: Memory, rescue: Rescue, tmp_path: Path
) -> None:
    memory.journal.add(NewEntry(text="Zyzzogeton pays late.", topic="customers"))
    memory.data.backup(tmp_path / "before.db")
    memory.data.purge(text="Zyzzogeton")
    after = memory.data.backup(tmp_path / "after.db")
    assert rescue.restore(tmp_path / "before.db").unpurged == memory.context.clock.now()
    assert rescue.restore(Path(after.path)).unpurged is None


@pytest.fixture
def team(memory: Memory, engine: str) -> Memory:
    if engine == "sqlite":
        pytest.skip("about a server")
    return lived_in(memory)


def another(team: Memory) -> Memory:
    """Another project on the same server."""
    other = Memory(replace(team.context, space=f"{team.context.space}-other"), team.project)
    other.learn(learning(title="Of another team", observation="Zanzibar keeps its own counsel"))
    return other


def test_a_backup_of_a_server_holds_one_space(team: Memory, tmp_path: Path) -> None:
    another(team)
    copy = Path(team.data.backup(tmp_path / "copy.db").path)
    assert b"Zanzibar" not in copy.read_bytes()
    assert check_file(copy).spaces == (team.context.space,)


def test_a_restore_leaves_other_spaces_of_the_server_alone(team: Memory, rescue: Rescue) -> None:
    other = another(team)
    before = state(other)["learnings"]
    rescue.restore(Path(team.data.backup().path))
    assert state(other)["learnings"] == before


def test_a_restore_that_breaks_off_changes_nothing(team: Memory, rescue: Rescue, tmp_path: Path) -> None:
    """The last table does not read back as it was: the transaction takes everything before it along."""
    copy = Path(team.data.backup(tmp_path / "copy.db").path)
    connection = apsw.Connection(str(copy))
    connection.execute("DELETE FROM meta WHERE name = 'seal'")
    connection.execute("UPDATE passages SET at = -5")
    connection.execute("INSERT INTO vault_parts (space, path, position, text) SELECT space, 'a', 1, '' FROM spaces")
    connection.execute("UPDATE vault_parts SET text = CAST(x'610062' AS TEXT) WHERE path = 'a'")
    connection.close()
    written_after(team)
    before = state(team)
    with pytest.raises(Exception, match=r"NUL|0x00|read back"):
        rescue.restore(copy)
    assert state(team) == before


class Meddled:
    """A store in which somebody else writes just before we do."""

    def __init__(self, memory: Memory):
        self._memory = memory
        db = memory.context.db
        self.read, self.place, self.backup = db.read, db.place, db.backup

    def write(self, space: str) -> AbstractContextManager[Tx]:
        written_after(self._memory)
        return self._memory.context.db.write(space)


def test_a_write_in_the_middle_of_a_restore_stops_it_and_is_kept(team: Memory) -> None:
    copy = Path(team.data.backup().path)
    with pytest.raises(Stale, match="Nothing was changed"):
        restore_to_server(team.project, Meddled(team), copy, now=team.context.clock.now())  # type: ignore[arg-type]
    assert team.search("kept store")[0].title == "Written after the backup"


def test_a_servers_backup_becomes_an_embedded_memory_with_its_files(
    team: Memory, environ: dict[str, str], tmp_path: Path
) -> None:
    before = state(team)
    copy = Path(team.data.backup(tmp_path / "copy.db").path)
    del environ["RECOLLECT_STORE"]
    done = Rescue(team.project.root, actor=PERSON, environ=environ, clock=team.context.clock).restore(copy)
    assert (done.files, done.left) == ((LOG,), ())
    with Memory.open(team.project.root, environ=environ, clock=team.context.clock) as here:
        assert state(here) == before
        with here.context.db.read(here.context.space) as tx:
            assert db.count(tx, bulk.VAULT.name) == 0, "its home is the folder now"


def test_a_file_that_says_something_else_is_left_and_named(
    team: Memory, environ: dict[str, str], tmp_path: Path
) -> None:
    copy = Path(team.data.backup(tmp_path / "copy.db").path)
    del environ["RECOLLECT_STORE"]
    mine = projects.find(team.project.root, environ).vault / LOG
    mine.parent.mkdir(exist_ok=True)
    mine.write_text("my own words\n")
    done = Rescue(team.project.root, actor=PERSON, environ=environ, clock=team.context.clock).restore(copy)
    assert (done.files, done.left, mine.read_text()) == ((), (LOG,), "my own words\n")


def test_an_embedded_backup_becomes_a_teams_memory(
    open_memory: Opener, engine: str, environ: dict[str, str], postgres_url: str
) -> None:
    if engine == "postgres":
        pytest.skip("begins on the embedded store")
    here = open_memory()
    fill(here)
    before = state(here)
    copy = Path(here.data.backup().path)
    environ["RECOLLECT_STORE"] = postgres_url
    done = Rescue(here.project.root, actor=PERSON, environ=environ, clock=here.context.clock).restore(copy)
    assert done.kept is None
    with Memory.open(here.project.root, environ=environ, clock=here.context.clock) as there:
        assert {**state(there), "files": before["files"]} == before
        assert there.data.verify() == ()
