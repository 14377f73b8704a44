"""Damage is shown, never deleted, and never followed by a silent empty start (P12); backups survive it (P11)."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import apsw
import pytest

from conftest import PERSON, Opener
from embedded import database, engine, fill, project_of, raw  # noqa: F401
from faults.processes import a_learning
from recollect import Memory, Refused
from recollect.core.errors import BadInput, StoreDamaged, StoreNewer, StoreUnreachable, Trouble
from recollect.core.records import random_id
from recollect.memory.admin import Rescue
from recollect.store.copies import check_file
from recollect.store.schema import VERSION
from recollect.store.sqlite import sqlite_errors
from samples import learning
from scale import TORTURE, campaign


def recollect(project: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environ = {**os.environ, "HOME": str(project.parent / "home"), "USER": "ada", "RECOLLECT_HOME": ""}
    return subprocess.run(
        [sys.executable, "-m", "recollect", *arguments, "--project", str(project)],
        capture_output=True,
        text=True,
        env=environ,
        check=False,
    )


@pytest.fixture
def rescue(memory: Memory, environ: dict[str, str]) -> Rescue:
    return Rescue(memory.project.root, actor=PERSON, environ=environ, clock=memory.context.clock)


def many(memory: Memory, count: int = 40) -> list[str]:
    return [memory.learn(a_learning(random.Random(number))).learning.id for number in range(count)]


def contents(memory: Memory) -> dict[str, Any]:
    found = memory.learnings.page(status="all", limit=1000)[0]
    return {each.id: (each.title, each.fields, each.tags, each.status) for each in found}


def test_a_vanished_store_is_reported_not_begun_anew(memory: Memory, open_memory: Opener) -> None:
    fill(memory)
    memory.close()
    for file in database(memory).parent.glob("memory.db*"):
        file.unlink()
    with pytest.raises(StoreDamaged, match="was there before"):
        open_memory()
    assert not database(memory).exists()


def test_an_emptied_store_is_reported_not_begun_anew(memory: Memory, open_memory: Opener) -> None:
    fill(memory)
    memory.close()
    database(memory).write_bytes(b"")
    with pytest.raises(StoreDamaged, match="was there before"):
        open_memory()


@pytest.mark.parametrize("name", ["memory.db", "memory.db-wal"])
@pytest.mark.parametrize("make", [os.mkfifo, os.mkdir, lambda path: os.symlink("/dev/zero", path)])
def test_a_store_that_is_no_regular_file_is_refused_and_never_copied(
    memory: Memory, rescue: Rescue, make: Any, name: str
) -> None:
    fill(memory)
    memory.close()
    odd = database(memory).with_name(name)
    odd.unlink(missing_ok=True)
    make(odd)
    found = [each.detail for each in rescue.doctor().findings if each.level == "damage"]
    assert any(f"{name} is not a regular file" in detail for detail in found), found


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM meta WHERE name = 'schema'",
        "UPDATE meta SET value = 'x2' WHERE name = 'schema'",
        "UPDATE meta SET value = '1' WHERE name = 'schema'",
        "DROP TABLE meta",
    ],
)
def test_a_store_that_does_not_know_its_schema_is_damaged(memory: Memory, open_memory: Opener, statement: str) -> None:
    fill(memory)
    raw(memory).execute(statement)
    memory.close()
    with pytest.raises(StoreDamaged, match="schema"):
        open_memory()


def test_a_table_that_is_gone_is_damage_and_says_so(memory: Memory) -> None:
    fill(memory)
    raw(memory).execute("DROP TABLE learning_tags")
    with pytest.raises(StoreDamaged, match="no such table"):
        memory.learnings.page()


@pytest.mark.parametrize("seed", range(20 * TORTURE))
def test_random_damage_is_never_followed_by_an_emptier_memory(
    memory: Memory, open_memory: Opener, rescue: Rescue, seed: int
) -> None:
    many(memory)
    before = contents(memory)
    memory.close()
    chance = random.Random(seed)
    file = database(memory)
    data = bytearray(file.read_bytes())
    length = chance.choice((1, 16, 512, 4096, 20_000))
    start = chance.randrange(len(data) - length)
    data[start : start + length] = chance.randbytes(length)
    file.write_bytes(data)
    damaged = bytes(data)
    found = rescue.doctor()
    try:
        after = contents(open_memory())
    except StoreDamaged:
        after = None
    if after != before:
        assert any(one.level != "notice" for one in found.findings), "the memory changed and nobody said so"
    if found.damaged:
        aside = database(memory).parent / "damaged"
        assert any(kept.read_bytes() == damaged for kept in aside.rglob("memory.db"))
        assert any("restore" in finding.remedy for finding in found.findings)


def test_a_damaged_store_exits_with_3_keeps_its_files_and_names_a_backup(memory: Memory) -> None:
    many(memory)
    good = memory.data.backup().path
    memory.close()
    data = bytearray(database(memory).read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    database(memory).write_bytes(data)
    root = memory.project.root
    assert recollect(root, "learn", "list").returncode == 3
    told = recollect(root, "doctor")
    assert told.returncode == 3
    assert f"recollect store restore {good}" in told.stdout
    assert recollect(root, "doctor").returncode == 3
    assert len(list((database(memory).parent / "damaged").iterdir())) == 1, "the same damage is kept once"
    assert recollect(root, "store", "restore", good).returncode == 0
    assert json.loads(recollect(root, "status", "--json").stdout)["learnings"]["active"] == 40
    assert database(memory).parent.joinpath("damaged").exists()


def crashed_with_a_log(project: Path) -> Path:
    """A project whose last writer was killed, so that its log holds many commits."""
    script = (
        "import os, random, sys\n"
        "from faults.processes import PERSON, a_learning\n"
        "from recollect import Memory\n"
        "memory = Memory.open(sys.argv[1], create=True, actor=PERSON)\n"
        "for number in range(20): memory.learn(a_learning(random.Random(number)))\n"
        "os._exit(0)\n"
    )
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    subprocess.run([sys.executable, "-c", script, project], check=True, env={**os.environ, "PYTHONPATH": path})
    return project_of(project, os.environ).data / "memory.db-wal"


@pytest.mark.parametrize("place", [3, 20, 0.2, 0.4, 0.6], ids=["magic", "salt", "early", "middle", "late"])
def test_damage_in_the_log_is_shown_once_and_the_log_is_kept(tmp_path: Path, place: float) -> None:
    log = crashed_with_a_log(tmp_path)
    data = bytearray(log.read_bytes())
    assert len(data) > 100_000
    start = int(place * len(data)) if isinstance(place, float) else place
    data[start : start + 8] = os.urandom(8)
    log.write_bytes(data)
    with pytest.raises(StoreDamaged, match="do not read back"):
        Memory.open(tmp_path, actor=PERSON)
    kept = list((log.parent / "damaged").rglob("memory.db-wal"))
    assert [file.read_bytes() for file in kept] == [bytes(data)]
    with Memory.open(tmp_path, actor=PERSON) as memory:
        assert memory.learnings.page()[1] < 20
        memory.learn(learning())
    told = Rescue(tmp_path, actor=PERSON).doctor()
    assert any(finding.what == "damage" for finding in told.findings)


def test_a_log_that_was_only_left_behind_is_no_damage(tmp_path: Path) -> None:
    log = crashed_with_a_log(tmp_path)
    with log.open("ab") as file:
        file.write(b"half a frame that was never acknowledged")
    with Memory.open(tmp_path, actor=PERSON) as memory:
        assert memory.learnings.page()[1] == 20


def test_a_backup_restores_everything(memory: Memory, rescue: Rescue, open_memory: Opener) -> None:
    fill(memory)
    before = contents(memory)
    copy = memory.data.backup()
    memory.learn(learning(title="Written after the backup", observation="Only the kept store has it"))
    done = rescue.restore(Path(copy.path))
    assert contents(memory) == before, "a process that had the store open sees the restored one"
    again = open_memory()
    assert contents(again) == before
    assert again.data.verify() == ()
    rescue.restore(Path(done.kept or ""))
    assert len(contents(memory)) == len(before) + 1


@pytest.mark.parametrize("seed", range(30 * TORTURE))
def test_a_backup_with_one_bit_flipped_is_refused_or_restores_the_same(
    memory: Memory, rescue: Rescue, seed: int
) -> None:
    fill(memory)
    before = contents(memory)
    path = Path(memory.data.backup().path)
    chance = random.Random(seed)
    data = bytearray(path.read_bytes())
    data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
    path.write_bytes(data)
    try:
        rescue.restore(path)
    except (StoreDamaged, StoreNewer, BadInput):
        assert not list(database(memory).parent.glob(".*tmp*"))
    assert contents(memory) == before
    assert memory.data.verify() == ()


@pytest.mark.parametrize(
    ("stored", "changed"),
    [
        (b"Webhook deliveries", b"Webhook delivering"),
        (b"indexsqlite_autoindex_readings_1", b"indeBsqlite_autoindex_readings_1"),  # a key that is none any more
    ],
)
def test_a_changed_letter_in_a_backup_is_found(memory: Memory, rescue: Rescue, stored: bytes, changed: bytes) -> None:
    fill(memory)
    path = Path(memory.data.backup().path)
    data = path.read_bytes()
    assert stored in data
    path.write_bytes(data.replace(stored, changed))
    with pytest.raises(StoreDamaged, match="changed after it was made"):
        rescue.restore(path)


@pytest.mark.parametrize("share", [0, 0.01, 0.3, 0.9, 0.999])
def test_a_truncated_backup_is_refused(memory: Memory, rescue: Rescue, share: float) -> None:
    fill(memory)
    path = Path(memory.data.backup().path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(StoreDamaged):
        rescue.restore(path)


REFUSED = ("BEGIN; BEGIN", "COMMIT", f"SELECT {' + '.join(['1'] * 2000)}", f"SELECT {', '.join(['1'] * 3000)}")


@pytest.mark.parametrize("sql", REFUSED, ids=lambda sql: sql[:20])
def test_a_statement_that_sqlite_refuses_is_not_called_damage(memory: Memory, sql: str) -> None:
    fill(memory)
    connection = apsw.Connection(str(database(memory)))
    said = pytest.raises(StoreUnreachable, match=r"SQLite refused a statement .*; this write did not happen")
    with said, sqlite_errors(database(memory)):
        connection.execute(sql)
    connection.close()


@pytest.mark.parametrize("error", [apsw.ProtocolError, apsw.SchemaChangeError, apsw.NoMemError, apsw.AbortError])
def test_no_error_of_sqlite_leaves_the_store_as_it_is_raised(memory: Memory, error: type[apsw.Error]) -> None:
    with pytest.raises(Trouble) as raised, sqlite_errors(database(memory)):
        raise error("at this moment")
    assert "restore" not in str(raised.value)


def test_a_store_that_was_upgraded_while_it_was_open_is_called_newer(memory: Memory) -> None:
    fill(memory)
    memory.search("stripe")
    raw(memory).execute(f"UPDATE meta SET value = '{VERSION + 1}' WHERE name = 'schema'")
    raw(memory).execute("ALTER TABLE learnings RENAME COLUMN domain TO field")
    with pytest.raises(StoreNewer, match="upgrade this program"):
        memory.learnings.page()


def test_a_newer_store_is_not_restored_over_and_named(memory: Memory, rescue: Rescue, tmp_path: Path) -> None:
    fill(memory)
    memory.data.backup(tmp_path / "good.db")
    raw(memory).execute("UPDATE meta SET value = '999' WHERE name = 'schema'")
    memory.close()
    before = database(memory).read_bytes()
    with pytest.raises(StoreNewer, match=f"^{database(memory)} was written by a newer Recollect"):
        rescue.restore(tmp_path / "good.db")
    assert database(memory).read_bytes() == before


@pytest.mark.parametrize("values", ["{torn", "[1]", "7"])
def test_an_event_that_does_not_read_back_is_damage(memory: Memory, values: str) -> None:
    ids = fill(memory)
    raw(memory).execute("UPDATE events SET new_values = ? WHERE subject = ?", (values, ids[0]))
    assert {(each.level, each.what, each.subject) for each in memory.data.verify()} == {("damage", "event", ids[0])}
    with pytest.raises(StoreDamaged, match=f"about {ids[0]} does not read back"):
        memory.why(ids[0])


def test_a_newer_backup_is_refused(memory: Memory, rescue: Rescue, tmp_path: Path) -> None:
    fill(memory)
    raw(memory).execute("UPDATE meta SET value = '999' WHERE name = 'schema'")
    memory.context.db.close()
    newer = tmp_path / "newer.db"
    shutil.copyfile(database(memory), newer)
    raw(memory).execute("UPDATE meta SET value = '1' WHERE name = 'schema'")
    with pytest.raises(StoreNewer, match="newer Recollect"):
        rescue.restore(newer)


def test_a_backup_that_cannot_be_upgraded_is_refused_and_leaves_nothing_behind(
    memory: Memory, rescue: Rescue, tmp_path: Path
) -> None:
    fill(memory)
    raw(memory).execute(f"UPDATE meta SET value = '{VERSION - 1}' WHERE name = 'schema'")
    memory.context.db.close()
    odd = tmp_path / "odd.db"
    shutil.copyfile(database(memory), odd)
    before = sorted(memory.project.data.rglob("*"))
    with pytest.raises(StoreDamaged, match="it names schema"):
        rescue.restore(odd)
    assert sorted(memory.project.data.rglob("*")) == before


def test_another_projects_backup_is_refused(memory: Memory, rescue: Rescue, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with Memory.open(tmp_path / "other", create=True, actor=PERSON, ids=random_id) as other:
        other.learn(learning())
        path = Path(other.data.backup().path)
    with pytest.raises(Refused, match="this project is"):
        rescue.restore(path)


@pytest.mark.parametrize("what", ["a folder", "a text", "another database", "nothing"])
def test_what_is_no_backup_is_refused(rescue: Rescue, tmp_path: Path, what: str) -> None:
    path = tmp_path / "given"
    if what == "a folder":
        path.mkdir()
    elif what == "a text":
        path.write_text("This is not a database. " * 500)
    elif what == "another database":
        import sqlite3

        connection = sqlite3.connect(path)
        connection.execute("CREATE TABLE t (x)")
        connection.close()
    with pytest.raises((BadInput, StoreDamaged)):
        rescue.restore(path)


def test_a_backup_file_that_exists_is_not_overwritten(memory: Memory, tmp_path: Path) -> None:
    target = tmp_path / "mine.db"
    target.write_text("dear diary")
    with pytest.raises(Refused, match="exists already"):
        memory.data.backup(target)
    assert target.read_text() == "dear diary"


def test_a_backup_to_a_named_file_takes_away_what_a_killed_one_left_beside_it(memory: Memory, tmp_path: Path) -> None:
    dead, other = (tmp_path / f".{name}.999999.0123456789ab.recollect-tmp" for name in ("copy.db", "other.db"))
    for path in (dead, other):
        path.write_text("half")
        os.utime(path, (time.time() - 90,) * 2)
    memory.data.backup(tmp_path / "copy.db")
    assert (dead.exists(), other.exists()) == (False, True)


def test_only_the_newest_backups_are_kept(memory: Memory, clock: Any) -> None:
    made = []
    for _ in range(8):
        clock.advance(hours=1)
        made.append(memory.data.backup().path)
    assert sorted(kept.path for kept in memory.data.backups()) == made[-5:]


def test_the_cycle_takes_one_backup_a_day(memory: Memory, clock: Any) -> None:
    for hours in (0, 1, 22, 1, 1, 23):
        clock.advance(hours=hours)
        memory.cycle()
    assert len(memory.data.backups()) == 3


def test_backups_of_a_clock_that_was_ahead_are_neither_waited_for_nor_kept_before_others(
    memory: Memory, clock: Any
) -> None:
    clock.advance(days=1400)
    for _ in range(5):
        clock.advance(days=1)
        memory.cycle()
    ahead = {backup.path for backup in memory.data.backups()}
    clock.advance(days=-1405)
    memory.cycle()
    memory.cycle()
    made = memory.data.backup().path
    left = {backup.path for backup in memory.data.backups()}
    assert (len(left - ahead), len(left & ahead), made in left) == (2, 3, True)


@campaign
def test_a_backup_taken_under_load_holds_everything_that_was_acknowledged_before(tmp_path: Path, seed: int) -> None:
    """Four writers never stop; each backup must hold all that was acknowledged when it began, and restore."""
    program = Path(__file__).with_name("processes.py")
    done = subprocess.run(
        [sys.executable, program, "backups_under_load", tmp_path, "4", str(seed)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    copies = json.loads(done.stdout)["copies"]
    assert len(copies[-1]["acknowledged"]) > len(copies[0]["acknowledged"]) > 0, "nobody wrote meanwhile"
    for copy in copies:
        checked = check_file(Path(copy["path"]))
        assert checked.sealed
        restored = Rescue(tmp_path, actor=PERSON).restore(Path(copy["path"]))
        assert restored.kept
        with Memory.open(tmp_path, actor=PERSON) as memory:
            kept = {each.id for each in memory.learnings.page(status="all", limit=1000)[0]}
            assert set(copy["acknowledged"]) <= kept
            assert memory.data.verify() == ()


def test_a_value_that_is_too_long_is_no_damage() -> None:
    connection = apsw.Connection(":memory:")
    connection.limit(apsw.SQLITE_LIMIT_LENGTH, 100)
    with pytest.raises(StoreUnreachable, match="too long"), sqlite_errors(Path("memory.db")):
        connection.execute("SELECT ?", ("x" * 101,))
