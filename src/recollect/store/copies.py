"""Copies of the embedded store: taken while others write, sealed, and checked before they are called good.

SQLite notices a broken structure but not a changed letter, so a copy carries a seal: the hash of every row it holds.
Knows nothing about where copies are kept and how many.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import apsw

from recollect.core.errors import BadInput, StoreDamaged, StoreNewer
from recollect.store.files import settle, temp_beside
from recollect.store.opening import APPLICATION_ID, migrate
from recollect.store.schema import VERSION
from recollect.store.sqlite import SqliteDb, translated

STEP = 2000  # pages copied at a time

Progress = Callable[[int, int], object]
"""Told how many pages or rows remain, and how many there are."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What a copy is; `sealed` is False for a file that Recollect did not make, whose letters nobody can vouch for."""

    version: int
    spaces: tuple[str, ...]
    sealed: bool


def backup_to(db: SqliteDb, target: Path, *, progress: Progress | None = None) -> None:
    """A copy of the store as it is at this instant; others keep writing."""
    with _becoming(target) as unfinished:
        copy = apsw.Connection(str(unfinished))
        try:
            unfinished.chmod(0o600)
            _copy(db.connection(), copy, progress)
            _close_up(copy)
        finally:
            copy.close()


@contextmanager
def filling(target: Path) -> Iterator[SqliteDb]:
    """An empty store to write into, which becomes a backup when the block ends without an error."""
    with _becoming(target) as unfinished:
        db = SqliteDb(unfinished)
        try:
            migrate(db, backup=None)
            unfinished.chmod(0o600)
            yield db
            _close_up(db.connection())
        finally:
            db.close()


def check_file(path: Path) -> Checked:
    """Whether a database file is ours, reads back whole and holds what was sealed; changes nothing."""
    if not path.is_file():
        raise BadInput(f"{path} is not a file")
    with translated(path):
        connection = apsw.Connection(f"{path.resolve().as_uri()}?immutable=1", flags=_READ_ONLY)
        try:
            found = connection.execute("PRAGMA integrity_check(1)").fetchall()
            if connection.pragma("application_id") != APPLICATION_ID:
                raise StoreDamaged(f"{path} is a database, but not one of Recollect's")
            if path.stat().st_size != connection.pragma("page_count") * connection.pragma("page_size"):
                raise StoreDamaged(f"{path} is not as long as it should be; it was cut off or added to")
            if found != [("ok",)]:
                raise StoreDamaged(f"{path} does not read back whole: {found[0][0]}")
            version = int(_meta(connection, "schema") or 0)
            spaces = tuple(row[0] for row in connection.execute("SELECT space FROM spaces ORDER BY number"))
            seal = _meta(connection, "seal")
            if seal not in (None, seal_of(connection)) and seal != seal_of(connection, definitions=False):
                raise StoreDamaged(f"{path} was changed after it was made; something in it is not what was stored")
        except (apsw.SQLError, apsw.CorruptError, apsw.NotADBError, ValueError) as error:
            raise StoreDamaged(f"{path} does not read back whole: {error}") from None
        finally:
            connection.close()
    if version > VERSION:
        raise StoreNewer(f"{path} was written by a newer Recollect (schema {version}, this program knows {VERSION})")
    return Checked(version=version, spaces=spaces, sealed=seal is not None)


def copy_over(source: Path, db: SqliteDb) -> None:
    """Put a checked copy in place of what the store holds, as one transaction that every open process sees."""
    with translated(db.path):
        given = apsw.Connection(str(source), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            with db.connection().backup("main", given, "main") as work:
                work.step(-1)
        finally:
            given.close()


_READ_ONLY = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI


def _copy(source: apsw.Connection, target: apsw.Connection, progress: Progress | None) -> None:
    """One read transaction around all steps: without it, every write of another process starts the copy again."""
    source.execute("BEGIN")
    try:
        source.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        with target.backup("main", source, "main") as work:
            while not work.done:
                work.step(STEP)
                if progress is not None:
                    progress(work.remaining, work.page_count)
    finally:
        source.execute("ROLLBACK")


@contextmanager
def _becoming(target: Path) -> Iterator[Path]:
    """A file under another name that is checked and takes its own when the block ends without an error."""
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished = temp_beside(target)
    try:
        with translated(target):
            yield unfinished
        check_file(unfinished)
        settle(unfinished, target)
    except BaseException:
        for suffix in ("", "-wal", "-shm"):
            unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)
        raise


def _close_up(copy: apsw.Connection) -> None:
    copy.execute("PRAGMA journal_mode=DELETE")
    _put_seal(copy)


def _put_seal(copy: apsw.Connection) -> None:
    if copy.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'").fetchone() == (1,):
        copy.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('seal', ?)", (seal_of(copy),))


def seal_of(connection: apsw.Connection, *, definitions: bool = True) -> str:
    """A hash over every table and row except the seal itself, and over what indexes and the like are defined as.

    Without the latter it is the seal of backups that were made before they were in it.
    """
    digest = hashlib.sha256()
    if definitions:
        for row in connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema ORDER BY type, name"):
            digest.update(repr(row).encode())
    tables = connection.execute("SELECT name, sql FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    for name, sql in tables:
        digest.update(repr((name, sql)).encode())
        if str(sql).startswith("CREATE VIRTUAL"):
            continue  # its rows are those of its shadow tables
        where = " WHERE name <> 'seal'" if name == "meta" else ""
        for row in connection.execute(f'SELECT * FROM "{name}"{where}'):
            digest.update(repr(row).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _meta(connection: apsw.Connection, name: str) -> str | None:
    found = connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
    return found[0] if found else None
