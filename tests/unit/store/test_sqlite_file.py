"""Opening the embedded store: begun once, never begun anew by itself, and nothing that is not ours is touched."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw
import pytest

from recollect import NotInitialised
from recollect.core.errors import StoreBusy, StoreDamaged, StoreNewer
from recollect.core.records import Passage
from recollect.store import passages
from recollect.store.schema import MIGRATIONS, VERSION
from recollect.store.sqlite import MERGED, SqliteDb
from recollect.store.sqlite_file import _tell_planner, open_sqlite


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "memory.db"


def opened(path: Path, *, create: bool = True, busy_seconds: float = 1.0) -> SqliteDb:
    path.parent.mkdir(exist_ok=True)
    return open_sqlite(path, create=create, busy_seconds=busy_seconds)


def test_a_new_store_is_safe_and_up_to_date(path: Path) -> None:
    db = opened(path)
    connection = db.connection()
    assert connection.pragma("journal_mode") == "wal"
    assert connection.pragma("synchronous") == 2, "FULL: acknowledged means synced"
    assert connection.pragma("foreign_keys") == 1
    assert connection.pragma("secure_delete") == 1
    assert [name for (name,) in connection.execute("SELECT name FROM migrations ORDER BY position")] == list(MIGRATIONS)
    assert connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchall() == [(str(VERSION),)]
    strict = dict(connection.execute("SELECT name, strict FROM pragma_table_list WHERE type = 'table'").fetchall())
    assert strict["learnings"] == strict["events"] == 1
    db.close()


def test_opening_again_keeps_what_is_there(path: Path) -> None:
    db = opened(path)
    with db.write("s") as tx:
        tx.run("INSERT INTO outcomes (space, id, name, created_at) VALUES (:space, 'o', '', 0)")
    db.close()
    again = opened(path)
    with again.read("s") as tx:
        assert tx.value("SELECT count(*) FROM outcomes WHERE space = :space") == 1
    again.close()


def test_a_store_is_not_begun_unasked(path: Path) -> None:
    with pytest.raises(NotInitialised, match="recollect init"):
        opened(path, create=False)
    assert not path.exists()


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_store_that_vanished_is_reported_not_begun_anew(path: Path, how: str) -> None:
    opened(path).close()
    for each in path.parent.glob("memory.db*"):
        each.unlink()
    if how == "empty":
        path.touch()
    with pytest.raises(StoreDamaged, match="it was there before"):
        opened(path)
    assert not path.exists() or path.stat().st_size == 0


def test_a_newer_store_is_refused_and_not_touched(path: Path) -> None:
    db = opened(path)
    db.connection().execute("UPDATE meta SET value = ? WHERE name = 'schema'", (str(VERSION + 1),))
    db.close()
    with pytest.raises(StoreNewer, match="upgrade this program"):
        opened(path)
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchall() == [(str(VERSION + 1),)]
    connection.close()


def test_a_database_of_another_program_is_not_touched(path: Path) -> None:
    path.parent.mkdir()
    connection = apsw.Connection(str(path))
    connection.execute("CREATE TABLE recipes (name TEXT)")
    connection.close()
    with pytest.raises(StoreDamaged, match="another program"):
        opened(path)
    connection = apsw.Connection(str(path))
    assert connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall() == [("recipes",)]
    connection.close()


def test_a_file_that_is_no_database_is_reported_and_kept(path: Path) -> None:
    path.parent.mkdir()
    path.write_bytes(b"not a database at all, but longer than a header would be" * 20)
    before = path.read_bytes()
    with pytest.raises(StoreDamaged, match="Nothing was deleted"):
        opened(path)
    assert path.read_bytes() == before


def test_a_failed_write_leaves_nothing_behind(path: Path) -> None:
    db = opened(path)

    def half_done() -> None:
        with db.write("s") as tx:
            tx.run("INSERT INTO outcomes (space, id, name, created_at) VALUES (:space, 'o', '', 0)")
            raise RuntimeError("stopped")

    with pytest.raises(RuntimeError):
        half_done()
    with db.read("s") as tx:
        assert tx.value("SELECT count(*) FROM outcomes WHERE space = :space") == 0
    db.close()


def test_a_lock_held_too_long_is_said_in_words(path: Path) -> None:
    holder, waiting = opened(path), opened(path, busy_seconds=0.05)
    with holder.write("s"), pytest.raises(StoreBusy, match="another process"), waiting.write("s"):
        pass
    with holder.write("s"), waiting.read("s") as tx:
        assert tx.value("SELECT count(*) FROM outcomes WHERE space = :space") == 0, "readers never wait"
    holder.close()
    waiting.close()


def test_the_planner_keeps_no_samples_of_a_filled_store(path: Path) -> None:
    db = open_sqlite(path, create=True, busy_seconds=1)
    with db.write("s") as tx:
        notes = [Passage(id=f"n{n}", kind="log", title="t", lines=(f"{n}",), at=n, trust="agent") for n in range(50)]
        passages.add_all(tx, notes)
    _tell_planner(db.connection())  # what every migration ends with
    assert db.connection().execute("SELECT count(*) FROM sqlite_stat4").fetchall() == [(0,)]
    db.close()


def test_the_word_index_is_brought_together_and_says_the_same(path: Path) -> None:
    db = opened(path)
    for n in range(40):
        with db.write("s") as tx:
            line = f"word{n} shared {'even' if n % 2 == 0 else 'odd'}"
            passages.put(tx, Passage(id=f"p/{n}", kind="log", title="", lines=(line,), at=0, trust="agent"))
    with db.write("s") as tx:
        passages.remove(tx, "p/7")
    pieces = "SELECT count(DISTINCT segid) FROM passage_words_idx"
    with db.read("s") as tx:
        before = tx.match(["shared", "even", "word7", "word8"])
    assert db.connection().execute(pieces).fetchall()[0][0] > 1
    db.tend_words()
    assert db.connection().execute(pieces).fetchall() == [(1,)]
    with db.read("s") as tx:
        assert tx.match(["shared", "even", "word7", "word8"]) == before
    db.close()


def test_a_large_word_index_is_written_anew_for_much_that_was_added_not_for_a_word(path: Path) -> None:
    db = opened(path)
    add = "INSERT INTO passage_words (rowid, terms) VALUES (?, ?)"
    pieces = "SELECT count(*) FROM passage_words_idx GROUP BY segid"

    def sizes_after(rowid: int, words: Iterable[str]) -> list[int]:
        db.connection().execute(add, (rowid, " ".join(words)))
        db.tend_words()
        return sorted(pages for (pages,) in db.connection().execute(pieces))

    (large,) = sizes_after(1, (f"{n:x}"[::-1].ljust(60, "x") for n in range(60_000)))
    assert large > MERGED
    assert sizes_after(2, ["word"]) == [1, large]
    assert len(sizes_after(3, (f"{n:x}"[::-1].ljust(60, "y") for n in range(12_000)))) == 1
    db.close()
