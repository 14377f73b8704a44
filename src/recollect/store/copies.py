"""Copies of the embedded store: made while others write, sealed, checked, and put in the store's place.

SQLite notices a broken structure but not a changed letter, so a copy carries a seal: the hash of every row it holds.
Restoring checks the copy, keeps the present store aside, and replaces it all or nothing. Knows nothing about where
copies are kept and how many.
"""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import apsw

from recollect.core.errors import BadInput, StoreDamaged, StoreNewer, Trouble
from recollect.core.records import record
from recollect.store.files import locked, os_errors, settle, temp_beside, write_path
from recollect.store.project import backups_of
from recollect.store.register import make_private
from recollect.store.schema import VERSION, newer
from recollect.store.sqlite import SqliteDb, sqlite_errors
from recollect.store.sqlite_file import APPLICATION_ID, MADE_NOTE, aside, keep_files, log_of, migrate

STEP = 2000  # pages (8 MB) copied between two calls of `progress`

Progress = Callable[[int, int], object]  # called with the pages or rows that remain, and all of them


@record
class CopyCheck:
    """Without a seal only the copy's structure was checked, not every letter."""

    version: int
    spaces: tuple[str, ...]
    sealed: bool


def backup_to(db: SqliteDb, target: Path, *, progress: Progress | None = None) -> None:
    with _becoming(target) as unfinished, closing(apsw.Connection(str(unfinished))) as copy:
        unfinished.chmod(0o600)
        _copy(db.connection(), copy, progress)
        _close_up(copy)


@contextmanager
def filling(target: Path) -> Iterator[SqliteDb]:
    """An empty store to write into, which becomes a backup if the block ends without an error."""
    with _becoming(target) as unfinished, closing(SqliteDb(unfinished)) as db:
        migrate(db, backup=None)
        unfinished.chmod(0o600)
        yield db
        _close_up(db.connection())


def check_file(path: Path) -> CopyCheck:
    """Check that a database file is ours, reads whole and matches its seal; changes nothing."""
    if not path.is_file():
        raise BadInput(f"{path} is not a file")
    with _unchanging(path) as connection:
        try:
            found = connection.execute("PRAGMA integrity_check(1)").fetchall()
            if connection.pragma("application_id") != APPLICATION_ID:
                raise StoreDamaged(f"{path} is a database, but not one of Recollect's")
            if path.stat().st_size != connection.pragma("page_count") * connection.pragma("page_size"):
                raise StoreDamaged(f"{path} does not have the length it records: it was cut off or added to")
            if found != [("ok",)]:
                raise StoreDamaged(f"{path} does not read back whole: {found[0][0]}")
            version = int(_meta(connection, "schema") or 0)
            spaces = tuple(row[0] for row in connection.execute("SELECT space FROM spaces ORDER BY number"))
            seal = _meta(connection, "seal")
            if seal not in (None, seal_of(connection)):
                raise StoreDamaged(f"{path} was changed after it was made: its rows do not match its seal")
        except (apsw.SQLError, apsw.CorruptError, apsw.NotADBError, ValueError) as error:
            raise StoreDamaged(f"{path} does not read back whole: {error}") from None
    if version > VERSION:
        raise newer(path, version)
    return CopyCheck(version=version, spaces=spaces, sealed=seal is not None)


def purges_in(path: Path, space: str) -> dict[str, int]:
    """The times of a copy's purges, by change id."""
    with _unchanging(path) as connection:
        sql = "SELECT change_id, at FROM events WHERE space = ? AND what = 'purged'"
        return {str(change): int(str(at)) for change, at in connection.execute(sql, (space,))}


@contextmanager
def _unchanging(path: Path) -> Iterator[apsw.Connection]:
    """A file that nobody writes to, opened without a lock."""
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    with sqlite_errors(path), closing(apsw.Connection(f"{path.resolve().as_uri()}?immutable=1", flags=flags)) as opened:
        yield opened


def _copy(source: apsw.Connection, target: apsw.Connection, progress: Progress | None) -> None:
    """One read transaction covers all steps: without it, every write of another process restarts the copy."""
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
    """A temporary file that is checked and renamed to `target` if the block ends without an error."""
    with os_errors(target):
        make_private(target.parent)
    unfinished = temp_beside(target)
    try:
        with sqlite_errors(target):
            yield unfinished
        check_file(unfinished)
        settle(unfinished, target)
    except BaseException:
        for suffix in ("", "-wal", "-shm"):
            unfinished.with_name(unfinished.name + suffix).unlink(missing_ok=True)
        raise


def _close_up(copy: apsw.Connection) -> None:
    copy.execute("PRAGMA journal_mode=DELETE")
    if copy.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'meta'").fetchone() == (1,):
        copy.execute("INSERT OR REPLACE INTO meta (name, value) VALUES ('seal', ?)", (seal_of(copy),))


def seal_of(connection: apsw.Connection) -> str:
    """A hash over every table and row except the seal itself, and over the definitions of indexes and the like."""
    digest = hashlib.sha256()
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


def checked_copy(source: Path, beside: Path) -> tuple[Path, CopyCheck]:
    """A private, checked and migrated copy of a backup, so that nothing can change between the check and the use."""
    if not source.is_file():
        raise BadInput(f"{source} is not a file")
    if log_of(source).exists() and log_of(source).stat().st_size:
        raise BadInput(f"{source} is a store in use, not a backup. Make one with: recollect store backup FILE")
    copy = temp_beside(beside)
    with os_errors(copy):
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        copy.chmod(0o600)
    try:
        checked = check_file(copy)
        with closing(SqliteDb(copy)) as db:  # which also takes away the files beside it
            migrate(db, backup=None)
            db.connection().execute("DELETE FROM meta WHERE name = 'seal'; PRAGMA journal_mode=DELETE")
    except BaseException as error:
        copy.unlink(missing_ok=True)
        if isinstance(error, Trouble):
            said = str(error).replace(str(copy), str(source))
            if isinstance(error, StoreDamaged):
                said += f". Nothing was changed; choose another file, such as one in {backups_of(beside)}"
            raise type(error)(said) from None
        raise
    return copy, checked


def put_back(copy: Path, path: Path, *, keep_as: Path, busy_seconds: float) -> Path | None:
    """Put the copy in the place of the store, in one step for others that read it; returns where the old one is."""
    with locked(path.with_suffix(".lock")):
        kept = _replace_sound(copy, path, keep_as, busy_seconds)
        if kept is None:
            kept = _replace_unsound(copy, path)
        write_path(path.with_suffix(".made"), MADE_NOTE)
    return kept


def _replace_sound(copy: Path, path: Path, keep_as: Path, busy_seconds: float) -> Path | None:
    """If the present store is sound, keep a verified backup of it, then overwrite it in one transaction."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    db = SqliteDb(path, busy_seconds=busy_seconds)
    try:
        backup_to(db, keep_as)
        # One transaction, which every open process sees, puts the checked copy in place of what the store holds.
        with (
            sqlite_errors(db.path),
            closing(apsw.Connection(str(copy), flags=apsw.SQLITE_OPEN_READONLY)) as given,
            db.connection().backup("main", given, "main") as work,
        ):
            work.step(-1)
    except StoreDamaged:
        return None
    except StoreNewer:
        raise StoreNewer(
            f"{path} was written by a newer Recollect, which alone can keep it safe. Nothing was changed; "
            "upgrade this program, or move that file away first"
        ) from None
    finally:
        db.close()
    return keep_as


def _replace_unsound(copy: Path, path: Path) -> Path | None:
    """If the present store is damaged or missing, keep its files as they are, then put the copy there."""
    kept = None
    if path.exists() or log_of(path).exists():
        kept = aside(path)
        keep_files(kept, path, log_of(path))
    with os_errors(path):
        for leftover in (log_of(path), path.with_name(path.name + "-shm")):
            leftover.unlink(missing_ok=True)  # a log of the old file would be replayed into the new one
        path.parent.mkdir(parents=True, exist_ok=True)
        os.chmod(copy, 0o600)
    settle(copy, path)
    return kept
