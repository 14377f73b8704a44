"""The embedded store's file: creating, opening, migrating it after a verified backup, and keeping damaged files aside.

A store that is newer or not ours is refused. SQLite checks its write-ahead log frame by frame and stops silently at the
first bad frame, which drops every later commit. So opening a store after a crash looks for commits beyond that point.
This module never opens the database file itself while a connection is open: closing it would drop SQLite's locks.
"""

from __future__ import annotations

import os
import struct
import sys
from _signal import ITIMER_REAL, getitimer  # type: ignore[import-not-found]
from contextlib import closing, suppress
from pathlib import Path

import apsw

from recollect.core.clock import SystemClock, iso
from recollect.core.errors import NotInitialised, StoreDamaged, StoreOutdated, Trouble
from recollect.store.db import graded, index_tokens
from recollect.store.files import is_odd, locked, write_path
from recollect.store.files import os_errors as file_errors
from recollect.store.project import backups_of
from recollect.store.schema import OLDEST, VERSION, due, newer, statements
from recollect.store.sqlite import LARGE_CACHE, TYPES, WORD_INDEX, SqliteDb, sqlite_errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, BinaryIO

APPLICATION_ID = 0x7265636F  # "reco"
MADE_NOTE = "A store was made beside this file. While this file is here, a missing store is reported, not begun anew.\n"

LARGE = 30_000_000  # bytes of an older store that a hook leaves to a cycle: 64 MB took 5 s of CPU, a prompt waits 4
WORTH_SHRINKING = 4  # a migrated file is written anew when more than a quarter of it is free

_FIRST = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE migrations (name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT",
    "CREATE TABLE spaces (space TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE) STRICT",
    *WORD_INDEX,
)


def open_sqlite(path: Path, *, create: bool, busy_seconds: float) -> SqliteDb:
    """The store at `path`, migrated. A store that vanished is reported, never silently begun anew."""
    if odd := next(filter(is_odd, (path, log_of(path))), None):  # SQLite would wait for a FIFO's other end
        raise StoreDamaged(
            f"{odd} is not a regular file, so nothing was opened. Move it away, then run recollect doctor"
        )
    made = path.with_suffix(".made")
    made_before = made.exists()  # checked first: another process may be making both, the store before the mark
    empty = not path.exists() or path.stat().st_size == 0
    if empty and made_before:
        raise StoreDamaged(
            f"{path} is missing or empty, but it was there before. Bring it back with: recollect store restore FILE "
            f"(backups are in {backups_of(path)}). To begin anew on purpose, delete {made}"
        )
    if empty and not create:
        raise NotInitialised("nothing is remembered here yet; begin with: recollect init")
    log_left = path.with_name(path.name + "-wal").exists()
    db = SqliteDb(path, busy_seconds=busy_seconds)
    try:
        if log_left:  # others are at work, or one of them was killed
            refuse_lost_log(db)
        version = 0 if empty else version_of(db)
        if version != VERSION:
            if version and path.stat().st_size > LARGE and getitimer(ITIMER_REAL)[0]:  # a hook waits
                raise StoreOutdated(f"{path} is of an older version and takes long to upgrade. Run: recollect cycle")
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(path.with_suffix(".lock")):
                migrate(db, backup=backups_of(path))
        db.upgraded = 0 < version < VERSION
    except BaseException:
        db.close()
        raise
    if not made.exists():
        with suppress(Trouble):  # a store that can only be read needs no marker today
            write_path(made, MADE_NOTE)
    return db


def version_of(db: SqliteDb) -> int:
    """The schema of a store; 0 for an empty file."""
    connection = db.connection()
    with sqlite_errors(db.path), suppress(apsw.SQLError):  # no such table: a new store, or not ours
        found = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        if found == (str(VERSION),):
            return VERSION
    with sqlite_errors(db.path), connection:  # one view of it all: another process may be making the store just now
        owner = connection.pragma("application_id")
        tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").fetchone()
        if owner != APPLICATION_ID:
            if tables != (0,):
                raise StoreDamaged(f"{db.path} is a database of another program; choose another place for the store")
            return 0
        try:
            found = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
            version = int(found[0]) if found else 0
        except (apsw.SQLError, ValueError):
            version = 0
        schemas = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'").fetchone()
    if version < OLDEST or schemas != (1,):  # ours, so it was written together with its version
        raise StoreDamaged(
            f"{db.path} is damaged: it names no schema that was ever released. Nothing was deleted. "
            "Run: recollect doctor"
        )
    if version > VERSION:
        raise newer(db.path, version)
    return version


def migrate(db: SqliteDb, *, backup: Path | None) -> None:
    """Each migration in its own transaction, so a crash continues where it stopped."""
    version = version_of(db)
    connection = db.connection()
    connection.execute(LARGE_CACHE)
    let_round(connection)
    if 0 < version < VERSION:
        with sqlite_errors(db.path):
            held = {name for (name,) in connection.execute("SELECT name FROM migrations")}
        if ahead := [name for _, name in due(version) if name in held]:
            raise StoreDamaged(
                f"{db.path} is damaged: it names schema {version} but holds {ahead[0]} already. Nothing was deleted. "
                "Run: recollect doctor"
            )
        if backup is not None:
            from recollect.store.copies import backup_to

            backup_to(db, backup / f"before-{due(version)[0][1]}.db")
    for position, migration in due(version):
        with sqlite_errors(db.path), connection:
            if position == OLDEST:
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                for statement in _FIRST:
                    connection.execute(statement)
            for statement in statements(migration, TYPES):
                connection.execute(statement)
            connection.execute("INSERT INTO migrations (name, position) VALUES (?, ?)", (migration, position))
            connection.execute(
                "INSERT INTO meta (name, value) VALUES ('schema', ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (str(position),),
            )
            if position == VERSION:
                _tell_planner(connection)
    with sqlite_errors(db.path):
        free, pages = connection.pragma("freelist_count"), connection.pragma("page_count")
    if free * WORTH_SHRINKING > pages:
        with suppress(Trouble):  # another process is reading it, or the disk has no room for both
            db.write_anew()


def let_round(connection: apsw.Connection) -> None:
    """Give a connection the function that converts half floats to today's vectors in a migration."""

    def rounded(*given: Any) -> bytes | None:
        from recollect.store.vectors import stored

        (halves,) = given
        with suppress(struct.error, ValueError, OverflowError):  # a damaged row, which is left out
            return stored(struct.unpack(f"<{len(halves) // 2}e", halves))
        return None

    connection.create_scalar_function("rounded_half_floats", rounded, 1)


def _tell_planner(connection: apsw.Connection) -> None:
    """Tell the planner that the space alone, with which every key starts, selects nothing: SQLite guesses ten rows for
    it and prefers such an index to the row numbers it was given."""
    connection.execute("ANALYZE")
    # What it sampled of a filled store goes too: it led to walking all passages of a kind instead of reading a few.
    for (table,) in connection.execute(
        "SELECT name FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')"
    ).fetchall():
        connection.execute(f"DELETE FROM {table}")
    indexes = connection.execute(
        "SELECT s.tbl_name, s.name, (SELECT count(*) FROM pragma_index_info(s.name)) FROM sqlite_schema s "
        "WHERE s.type = 'index' AND (SELECT name FROM pragma_index_info(s.name) LIMIT 1) = 'space'"
    ).fetchall()
    for table, index, columns in indexes:
        counts = [1_000_000, 1_000_000, *([1_000] * (int(str(columns)) - 2)), 1]
        connection.execute(
            "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", (table, index, " ".join(map(str, counts)))
        )
    connection.execute("ANALYZE sqlite_schema")


FOLDER = "damaged"
_HEADER = 32  # bytes; these and the offsets below are SQLite's file format
_FRAME = 24  # bytes before the page in each frame of the log
_MAGIC = (0x377F0682, 0x377F0683)


def log_of(path: Path) -> Path:
    return path.with_name(path.name + "-wal")


def refuse_lost_log(db: SqliteDb) -> None:
    """Raise StoreDamaged, once, when the log has committed changes after a damaged frame: it is copied aside, and the
    readable part kept, so that the next command works."""
    with sqlite_errors(db.path):
        if not _commits_behind(db.path, _readable_frames(db.connection())):
            return
        db.connection().execute("BEGIN IMMEDIATE")  # a writer in the middle of a commit looks the same: wait for it
        try:
            with closing(apsw.Connection(os.fspath(db.path))) as other:  # one that is in no transaction
                readable = _readable_frames(other)
            lost = _commits_behind(db.path, readable)
            kept = aside(db.path)
            if lost:
                keep_files(kept, log_of(db.path))
        finally:
            db.connection().execute("ROLLBACK")
        if not lost:
            return
        db.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raise StoreDamaged(
        f"{log_of(db.path)} is damaged: saved changes behind the damage ({lost} or more) do not read back. The log is "
        f"kept in {kept}; everything before the damage is intact, and the next command works with that. To go back to "
        "a backup instead: recollect store restore FILE"
    )


def aside(path: Path) -> Path:
    """A new folder for damaged files."""
    stamp = iso(SystemClock().now()).replace(":", "").replace("-", "")
    return path.parent / FOLDER / f"{stamp}-{os.urandom(3).hex()}"


def keep_files(folder: Path, *files: Path) -> None:
    import shutil  # loads five compressors

    with file_errors(folder):
        folder.mkdir(parents=True, mode=0o700)
        for file in files:
            if file.is_file():
                shutil.copyfile(file, folder / file.name)
                (folder / file.name).chmod(0o600)


def keep_aside_once(path: Path) -> Path | None:
    """Copy a damaged database with its log, unless the same bytes are kept already. No connection may be open here."""
    if not path.exists():
        return None
    for folder in kept_aside(path):
        if all(_same(file, folder / file.name) for file in (path, log_of(path))):
            return folder
    folder = aside(path)
    keep_files(folder, path, log_of(path))
    return folder


def kept_aside(path: Path) -> list[Path]:
    """Folders with damaged files that wait for a person."""
    folder = path.parent / FOLDER
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _same(one: Path, other: Path) -> bool:
    import filecmp

    if not one.exists() or not other.exists():
        return one.exists() == other.exists()
    return filecmp.cmp(one, other, shallow=False)


def _readable_frames(connection: apsw.Connection) -> int:
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # recovers the log, if no other process has
    try:
        found = connection.execute("PRAGMA wal_checkpoint(NOOP)").fetchone()
    except apsw.ReadOnlyError:  # a sandbox that may only read: the next writer checks the log
        return sys.maxsize
    return int(found[1]) if found and found[1] >= 0 else sys.maxsize  # unknown: nothing follows


def _commits_behind(path: Path, readable: int) -> int:
    """How many commits follow the readable frames and were seen by a later writer.

    A commit alone proves nothing: a process that was killed while writing leaves one that it never acknowledged. If a
    frame's checksum continues that of a commit, its writer had seen the commit.
    """
    try:
        with log_of(path).open("rb") as log:
            header = log.read(_HEADER)
            size = os.fstat(log.fileno()).st_size
            if len(header) < _HEADER:
                return 0
            magic = int.from_bytes(header[:4], "big")
            if magic not in _MAGIC or _check_sum(header, header[:24], after=bytes(8)) != header[24:32]:
                return 1 if size > _HEADER + _FRAME else 0
            step = _FRAME + int.from_bytes(header[8:12], "big")
            frames = (size - _HEADER) // step
            followed = sum(_followed_commit(log, header, number, step) for number in range(readable, frames))
            return followed if followed and not _goes_on(log, header, readable, step) else 0
    except FileNotFoundError:
        return 0


def _goes_on(log: BinaryIO, header: bytes, readable: int, step: int) -> bool:
    """Whether a complete commit follows the readable frames: then SQLite skipped it on purpose.

    It does so after restarting the log, when those frames are in the database already.
    """
    before = header[24:32]
    if readable:
        log.seek(_HEADER + (readable - 1) * step)
        before = log.read(_FRAME)[16:24]
    log.seek(_HEADER + readable * step)
    while len(frame := log.read(step)) == step and frame[8:16] == header[16:24]:
        if _check_sum(header, frame[:8] + frame[_FRAME:], after=before) != frame[16:24]:
            return False
        if frame[4:8] != b"\0\0\0\0":
            return True
        before = frame[16:24]
    return False


def _followed_commit(log: BinaryIO, header: bytes, number: int, step: int) -> bool:
    start = _HEADER + number * step
    log.seek(start)
    frame = log.read(_FRAME)
    if frame[8:16] != header[16:24] or frame[4:8] == b"\0\0\0\0":
        return False  # of an older generation of the log, or no commit
    log.seek(start + step)
    follower = log.read(step)
    if len(follower) < step or follower[8:16] != header[16:24]:
        return False
    return _check_sum(header, follower[:8] + follower[_FRAME:], after=frame[16:24]) == follower[16:24]


def _check_sum(header: bytes, data: bytes, *, after: bytes) -> bytes:
    """The log's checksum (https://sqlite.org/fileformat2.html#checksum_algorithm)."""
    first, second = struct.unpack(">II", after)
    order = ">" if header[3] & 1 else "<"
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return struct.pack(">II", first, second)


def remake_words(connection: apsw.Connection) -> None:
    """Make the word index again from the passages' terms, in the caller's transaction."""
    # Without its version an index cannot even be dropped.
    connection.execute("INSERT OR REPLACE INTO passage_words_config (k, v) VALUES ('version', 4)")
    connection.execute("DROP TABLE passage_words")
    for statement in WORD_INDEX:
        connection.execute(statement)
    rows = connection.execute("SELECT p.doc, s.number, p.terms FROM passages p JOIN spaces s USING (space) ORDER BY 1")
    connection.executemany(
        "INSERT INTO passage_words (rowid, terms) VALUES (?, ?)",
        ((doc, index_tokens(number, *graded(stream))) for doc, number, stream in rows),
    )
