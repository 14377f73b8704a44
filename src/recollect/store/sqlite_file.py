"""Opening the embedded store: create, migrate after a verified backup, refuse what is newer or not ours.

Knows the order of migrations and nothing of what the tables mean.

Damage to the embedded store: seen, kept aside, never deleted.

SQLite checks its write-ahead log frame by frame and stops at the first that does not add up, without a word: what was
committed after it is gone. So an open after a crash looks for commits beyond that point.

Never opens the database file itself while a connection is open: closing it would drop SQLite's locks.

Whether the embedded store is sound as a file, and what can be made again inside it: b-tree indexes, the word index,
the signs of vectors.

Row contents are held against each other in `derived`; this module looks at what only SQLite has.
"""

from __future__ import annotations

import os
import re
import struct
import sys
from contextlib import suppress
from pathlib import Path

import apsw

from recollect.core.clock import SystemClock, iso
from recollect.core.errors import NotInitialised, StoreDamaged, StoreNewer, Trouble
from recollect.store.db import graded, index_tokens
from recollect.store.files import locked, write_path
from recollect.store.files import os_errors as file_errors
from recollect.store.schema import MIGRATIONS, REBUILDS_WORDS, VERSION, statements
from recollect.store.sqlite import LARGE_CACHE, TYPES, WORD_INDEX, SqliteDb, about_words, sqlite_errors
from recollect.store.vectors import SqliteVectors, unpacked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path
    from typing import Any, BinaryIO

    from recollect.store.contents import Unreadable

APPLICATION_ID = 0x7265636F  # "reco"
MADE_NOTE = "A store was made beside this file. While this file is here, a missing store is reported, not begun anew.\n"

_FIRST = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE migrations (name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT",
    "CREATE TABLE spaces (space TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE) STRICT",
    *WORD_INDEX,
)


def open_sqlite(path: Path, *, create: bool, busy_seconds: float) -> SqliteDb:
    """The store at `path`, up to date. A store that vanished is reported, never quietly begun anew."""
    made = path.with_suffix(".made")
    made_before = made.exists()  # looked at first: another process may be making both, the store before the mark
    empty = not path.exists() or path.stat().st_size == 0
    if empty and made_before:
        raise StoreDamaged(
            f"{path} is missing or empty, but it was there before. Bring it back with: recollect store restore FILE "
            f"(backups are in {path.parent / 'backups'}). To begin anew on purpose, delete {made}"
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
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(path.with_suffix(".lock")):
                migrate(db, backup=path.parent / "backups")
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
    if version < 1 or schemas != (1,):  # ours, so it was written together with its version
        raise StoreDamaged(
            f"{db.path} is damaged: it does not say which schema it has. Nothing was deleted. Run: recollect doctor"
        )
    if version > VERSION:
        raise StoreNewer(
            f"{db.path} was written by a newer Recollect (schema {version}, this program knows {VERSION}). "
            "Nothing was touched; upgrade this program"
        )
    return version


def migrate(db: SqliteDb, *, backup: Path | None) -> None:
    """Each migration in its own transaction; the version moves with it, so a crash continues where it stopped."""
    version = version_of(db)
    connection = db.connection()
    connection.execute(LARGE_CACHE)
    if 0 < version < VERSION:
        with sqlite_errors(db.path):
            held = {name for (name,) in connection.execute("SELECT name FROM migrations")}
        if ahead := sorted(held.intersection(MIGRATIONS[version:])):
            raise StoreDamaged(
                f"{db.path} is damaged: it names schema {version} but holds {ahead[0]} already. Nothing was deleted. "
                "Run: recollect doctor"
            )
        if backup is not None:
            from recollect.store.copies import backup_to

            backup_to(db, backup / f"before-{MIGRATIONS[version]}.db")
    for position, migration in enumerate(MIGRATIONS[version:], start=version + 1):
        with sqlite_errors(db.path), connection:
            if position == 1:
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                for statement in _FIRST:
                    connection.execute(statement)
            for statement in statements(migration, TYPES):
                connection.execute(statement)
            if migration in REBUILDS_WORDS:
                remake_words(connection)
            connection.execute("INSERT INTO migrations (name, position) VALUES (?, ?)", (migration, position))
            connection.execute(
                "INSERT INTO meta (name, value) VALUES ('schema', ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (str(position),),
            )
            if position == VERSION:
                _tell_planner(connection)


def _tell_planner(connection: apsw.Connection) -> None:
    """Every key starts with the space, and in most stores there is one: alone it selects nothing.

    Without statistics SQLite guesses ten rows for it and prefers such an index to the row numbers it was given.
    """
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
_HEADER = 32
_FRAME = 24
_MAGIC = (0x377F0682, 0x377F0683)


def log_of(path: Path) -> Path:
    """The write-ahead log that belongs to a database file."""
    return path.with_name(path.name + "-wal")


def refuse_lost_log(db: SqliteDb) -> None:
    """Raise StoreDamaged, once, when committed changes stand behind a damaged place in the log.

    Both files are copied aside first, then what does read is kept and the log begun anew: the next command works, and
    `doctor` names the copies until a person has looked at them.
    """
    with sqlite_errors(db.path):
        if not _commits_behind(db.path, _readable_frames(db.connection())):
            return
        db.connection().execute("BEGIN IMMEDIATE")  # a writer in the middle of a commit looks the same: wait for it
        try:
            lost = _commits_behind(db.path, _readable_frames_of_another(db.path))
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
    """A new folder for files that did not read back."""
    stamp = iso(SystemClock().now()).replace(":", "").replace("-", "")
    return path.parent / FOLDER / f"{stamp}-{os.urandom(3).hex()}"


def keep_files(folder: Path, *files: Path) -> None:
    """Copy files as they are, those that exist."""
    import shutil  # loads five compressors

    with file_errors(folder):
        folder.mkdir(parents=True, mode=0o700)
        for file in files:
            if file.exists():
                shutil.copyfile(file, folder / file.name)
                (folder / file.name).chmod(0o600)


def keep_aside_once(path: Path) -> Path | None:
    """Copy a database that does not read, with its log, unless the same bytes are kept already; None: nothing there.

    No connection to it may be open in this process.
    """
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
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # recovers the log, if nobody did yet
    found = connection.execute("PRAGMA wal_checkpoint(NOOP)").fetchone()
    return int(found[1]) if found and found[1] >= 0 else sys.maxsize  # not told: nothing stands behind it


def _readable_frames_of_another(path: Path) -> int:
    """The same, asked by a connection that is in no transaction."""
    connection = apsw.Connection(os.fspath(path))
    try:
        return _readable_frames(connection)
    finally:
        connection.close()


def _commits_behind(path: Path, readable: int) -> int:
    """How many commits stand behind the frames that read and were followed by another writer.

    A commit alone proves nothing: a process that was killed while it wrote leaves one, and nobody was told that it was
    saved. A frame whose check sum goes on from a commit was written by somebody who had seen that commit.
    """
    try:
        with log_of(path).open("rb") as log:
            header = log.read(_HEADER)
            size = os.fstat(log.fileno()).st_size
            if len(header) < _HEADER:
                return 0
            if not _header_adds_up(header):
                return 1 if size > _HEADER + _FRAME else 0
            step = _FRAME + int.from_bytes(header[8:12], "big")
            frames = (size - _HEADER) // step
            followed = sum(_followed_commit(log, header, number, step) for number in range(readable, frames))
            return followed if followed and not _goes_on(log, header, readable, step) else 0
    except FileNotFoundError:
        return 0


def _goes_on(log: BinaryIO, header: bytes, readable: int, step: int) -> bool:
    """Whether a whole commit follows the readable frames without a flaw: then SQLite left it out on purpose.

    It does so when it begins the log anew: what stands there is in the database already.
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


def _header_adds_up(header: bytes) -> bool:
    magic = int.from_bytes(header[:4], "big")
    return magic in _MAGIC and _check_sum(header, header[:24], after=bytes(8)) == header[24:32]


def _check_sum(header: bytes, data: bytes, *, after: bytes) -> bytes:
    """The log's own check sum (https://sqlite.org/fileformat2.html#checksum_algorithm)."""
    first, second = struct.unpack(">II", after)
    order = ">" if header[3] & 1 else "<"
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return struct.pack(">II", first, second)


MESSAGES = 20
_WRONG_SIZE = """
SELECT v.number FROM vectors v LEFT JOIN vector_models m ON m.space = v.space AND m.number = v.model
WHERE v.number < 1 OR m.number IS NULL OR length(v.vector) <> 2 * m.dimensions"""
_SIGNS_OF_WRONG_SIZE = """
SELECT s.rowid FROM vector_signs s JOIN vector_models m ON m.space = s.space AND m.number = s.model
WHERE length(s.signs) <> length(s.numbers) / 8 * ((m.dimensions + 63) / 64 * 8) OR length(s.numbers) % 8 <> 0"""


def faults(db: SqliteDb) -> tuple[list[str], list[str]]:
    """What SQLite finds wrong: in the data itself, and in indexes, which can be made again."""
    with sqlite_errors(db.path):
        try:
            found = [row[0] for row in db.connection().execute(f"PRAGMA integrity_check({MESSAGES})")]
        except apsw.SQLError as error:
            if not about_words(str(error)):
                raise
            found = [str(error)]  # an index that does not even open
    data: list[str] = []
    indexes: list[str] = []
    for message in found:
        if message != "ok":
            (indexes if _about_an_index(message) else data).append(message)
    return data, indexes


def unreadable(db: SqliteDb) -> list[Unreadable]:
    """Rows, of all spaces, with a text that is not UTF-8."""
    from recollect.store.contents import Unreadable  # checks alone need it, and a hook opens the store

    with sqlite_errors(db.path):
        return [
            Unreadable(table, f"{table}, row {row}", "a text in it is not UTF-8")
            for table in _tables(db.connection())
            for row in _not_utf8(db.connection(), table)
        ]


def leftover_words(db: SqliteDb) -> int:
    """Documents in the word index that no passage owns."""
    return _count(db, "SELECT count(*) FROM passage_words_docsize WHERE id NOT IN (SELECT doc FROM passages)")


def missing_words(db: SqliteDb) -> int:
    """Passages that the word index does not know: it could not take them out again."""
    return _count(db, "SELECT count(*) FROM passages WHERE doc NOT IN (SELECT id FROM passage_words_docsize)")


def _count(db: SqliteDb, sql: str) -> int:
    with sqlite_errors(db.path):
        row = db.connection().execute(sql).fetchone()
    return int(row[0]) if row else 0


def unpacked_vectors(db: SqliteDb) -> int:
    """Vectors that a search for the nearest would not meet."""
    with sqlite_errors(db.path):
        return unpacked(db.connection())


def vectors_of_wrong_size(db: SqliteDb) -> int:
    """Vectors, and rows of signs, that are not as long as their model makes them."""
    with sqlite_errors(db.path):
        return sum(len(db.connection().execute(sql).fetchall()) for sql in (_WRONG_SIZE, _SIGNS_OF_WRONG_SIZE))


def remake_indexes(db: SqliteDb) -> None:
    """All b-tree indexes, the word index from the terms that passages hold, and the signs of vectors, in one
    transaction. Derived rows that cannot be read go first: whoever makes them again finds no index that needs them."""
    from recollect.store.contents import DERIVED

    connection = db.connection()
    with sqlite_errors(db.path), connection:
        for table in sorted(DERIVED):
            broken = [*_not_utf8(connection, table), *_of_wrong_type(connection, table)]
            broken += [row for (row,) in connection.execute(_WRONG_SIZE)] if table == "vectors" else []
            connection.executemany(f"DELETE FROM {table} WHERE rowid = ?", ((row,) for row in broken))
        connection.execute("REINDEX")
        remake_words(connection)
        for space, number in connection.execute("SELECT space, number FROM vector_models").fetchall():
            SqliteVectors(connection, str(space), int(str(number))).pack_anew()


def remake_words(connection: apsw.Connection) -> None:
    """The word index from the terms that passages hold, in the caller's transaction."""
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


def _about_an_index(message: str) -> bool:
    """Whether `remake_indexes` mends it; a value of the wrong type counts where its row can be made again."""
    from recollect.store.contents import DERIVED

    if found := re.search(r"(?:value|constraint failed) in (\w+)", message):
        return found[1] in DERIVED
    return about_words(message) or " index " in message


def _tables(connection: apsw.Connection) -> list[str]:
    """Our own tables; those of the word index hold no text of ours."""
    found = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    return [str(name) for (name,) in found if not str(name).startswith(("passage_words", "sqlite_"))]


def _columns(connection: apsw.Connection, table: str) -> list[tuple[str, str, bool]]:
    """Names, types, and whether there must be a value."""
    found = connection.execute('SELECT name, type, "notnull" FROM pragma_table_info(?)', (table,)).fetchall()
    return [(str(name), str(kind).lower(), bool(needed)) for name, kind, needed in found]


def _not_utf8(connection: apsw.Connection, table: str) -> list[int]:
    try:
        for _ in connection.execute(f"SELECT * FROM {table}"):
            pass
    except UnicodeDecodeError:
        columns = ", ".join(f"CAST({name} AS BLOB)" for name, kind, _ in _columns(connection, table) if kind == "text")
        rows: list[Any] = connection.execute(f"SELECT rowid, {columns} FROM {table}").fetchall()
        return [row for row, *texts in rows if not all(map(_decodes, texts))]
    return []


def _decodes(text: bytes | None) -> bool:
    try:
        (text or b"").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _of_wrong_type(connection: apsw.Connection, table: str) -> list[int]:
    wrong = [
        f"typeof({name}) <> '{kind}'" + ("" if needed else f" AND {name} IS NOT NULL")
        for name, kind, needed in _columns(connection, table)
    ]
    found: list[Any] = connection.execute(f"SELECT rowid FROM {table} WHERE {' OR '.join(wrong)}").fetchall()
    return [row for (row,) in found]
