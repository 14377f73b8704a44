"""The embedded engine: apsw, WAL, synchronous=FULL, and an FTS5 index that holds terms only.

Owns connection, pragmas, the write lock and the word index. The index is contentless: our own tokeniser makes the terms
(so both engines agree), FTS5 keeps which passage has which, and purge can prove that a word is gone.
"""

from __future__ import annotations

import os
import re
from _thread import get_ident  # `threading` takes as long to load as this whole module
from contextlib import contextmanager, suppress
from functools import cache
from operator import itemgetter

import apsw

from recollect.core.errors import (
    NO_ACCESS,
    NOT_DONE,
    BadInput,
    NoSpace,
    RecollectError,
    StoreBusy,
    StoreDamaged,
    StoreUnreachable,
)
from recollect.core.records import loads
from recollect.store.db import Transaction

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path
    from typing import Any

    from recollect.core.context import Row
    from recollect.store.vectors import SqliteVectors

# Beside each vector its signs, a bit per dimension, many to a row: a search reads all of them, and the vectors of the
# few that look near. Six times faster than reading every vector.
_SIGNS = """
CREATE TABLE vector_signs (
  space TEXT NOT NULL, model INTEGER NOT NULL, kind TEXT NOT NULL, chunk INTEGER NOT NULL,
  numbers BLOB NOT NULL, signs BLOB NOT NULL,
  PRIMARY KEY (space, model, kind, chunk),
  FOREIGN KEY (space, model) REFERENCES vector_models (space, number) ON DELETE CASCADE
) STRICT"""

# A function of ours rounds the half floats of earlier vectors; those it cannot read are left out.
_SMALLER_VECTORS = """
CREATE TABLE smaller (
  number INTEGER PRIMARY KEY, doc INTEGER NOT NULL REFERENCES passages (doc) ON DELETE CASCADE, model INTEGER NOT NULL,
  piece INTEGER NOT NULL, vector BLOB NOT NULL, UNIQUE (doc, model, piece)
) STRICT;
INSERT OR IGNORE INTO smaller SELECT number, doc, model, piece, rounded_half_floats(vector) FROM vectors
WHERE doc IN (SELECT doc FROM passages);
DROP TABLE vectors;
ALTER TABLE smaller RENAME TO vectors"""

TYPES = {
    "$int": "INTEGER",
    "$text": "TEXT",
    "$key": "INTEGER PRIMARY KEY",
    "$table": "STRICT",
    "$vector_index": _SIGNS,
    "$smaller_vectors": _SMALLER_VECTORS,
    "$vector": "BLOB",
}

WORD_INDEX = (
    "CREATE VIRTUAL TABLE passage_words USING fts5(terms, content='', contentless_delete=1, detail=none, "
    "tokenize=\"ascii tokenchars '#+_:.'\")",
)


MERGED = 500  # pages of the word index (2 MB) that one merge step writes while other writers wait
WORTH_MERGING = 10  # a large index is merged when more than a tenth of it is in other segments
# A process that asks once reads most pages once, and touching new memory costs more than the reading: with a large
# cache an `inject` on a large store takes 5 % longer. Writers and longer processes get the large cache.
SMALL_CACHE = "PRAGMA cache_size=-1000"
LARGE_CACHE = "PRAGMA cache_size=-16000"
ONCE = 3  # transactions of an `inject`
STEPS = 1_000_000  # of SQLite's machine, about 20 ms
_PIECES = "SELECT count(*) FROM passage_words_idx GROUP BY segid"


class SqliteDb:
    """One database file. Each thread gets its own connection."""

    engine = "sqlite"
    holds_vault = False

    def __init__(self, path: Path, *, busy_seconds: float = 30.0):
        self.path = path
        self.place = str(path)
        self._busy_ms = round(busy_seconds * 1000)
        self._connections: dict[int, apsw.Connection] = {}
        self._numbers: dict[str, int] = {}
        self._begun = 0
        self.upgraded = False  # whether opening it brought it to a newer schema

    @contextmanager
    def read(self, space: str, *, searching: bool = False) -> Iterator[Transaction]:
        with self._transaction("BEGIN") as connection:
            yield Transaction(space, _Session(connection), self._number(connection, space))

    @contextmanager
    def write(self, space: str) -> Iterator[Transaction]:
        with self._transaction("BEGIN IMMEDIATE") as connection:
            transaction = Transaction(space, _Session(connection), self._number(connection, space, create=True))
            yield transaction
            transaction.finish()

    def tend_vectors(self, space: str, model: int, dimensions: int) -> str:
        from recollect.store.vectors import SqliteVectors

        with self._transaction("BEGIN IMMEDIATE") as connection:
            SqliteVectors(connection, space, model).pack_if_stale()
        return ""

    def tend_words(self) -> None:
        pages = -MERGED if self._in_pieces() else 0  # the first step begins a merge of all pieces
        while pages:
            with self._transaction("BEGIN IMMEDIATE") as connection:
                before = connection.total_changes()
                connection.execute("INSERT INTO passage_words (passage_words, rank) VALUES ('merge', ?)", (pages,))
                # One change is the command itself. Starting over after every write of another process would never end.
                pages = MERGED if connection.total_changes() - before > 1 else 0

    def _in_pieces(self) -> bool:
        """Whether a merge is worth its cost: a large index is not rewritten for a day's few words."""
        with self._transaction("BEGIN") as connection:
            *others, largest = sorted(pages for (pages,) in connection.execute(_PIECES)) or [0]
        return sum(others) * WORTH_MERGING > largest if largest > MERGED else bool(others)

    def faults(self) -> list[tuple[str, str]]:
        from recollect.store.check import sqlite_faults

        return list(sqlite_faults(self))

    def unreadable_texts(self) -> Sequence[tuple[str, str, str]]:
        from recollect.store.check import unreadable_texts

        return unreadable_texts(self)

    def remake_indexes(self) -> None:
        from recollect.store.check import remake_sqlite_indexes

        remake_sqlite_indexes(self)

    def backup(self, space: str, target: Path, *, progress: Callable[[int, int], object] | None = None) -> None:
        from recollect.store.copies import backup_to

        backup_to(self, target, progress=progress)

    def close(self) -> None:
        while self._connections:
            self._connections.popitem()[1].close()

    def write_anew(self) -> None:
        """Rewrite the file, so that no free page, gap in a page or log keeps deleted text."""
        with sqlite_errors(self.path):
            self.connection().execute("VACUUM")
            busy = self.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        if busy is None or busy[0]:
            raise StoreBusy(
                f"{self.path} is being read by another process, so its log could not be emptied; run the purge again"
            )

    def connection(self) -> apsw.Connection:
        # A thread that ended leaves its number, and with it its connection, to another.
        existing = self._connections.get(get_ident())
        if existing is not None:
            return existing
        with sqlite_errors(self.path):
            try:
                connection = self._opened()
            except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError, apsw.FullError):
                if not self.path.is_file():
                    raise
                log = f"{self.path}-wal"  # its commits are missing in a file that is opened without it
                has_log = os.path.exists(log) and os.path.getsize(log)
                connection = self._opened_copy() if has_log else self._opened_for_reading()
        self._connections[get_ident()] = connection
        return connection

    def _opened(self) -> apsw.Connection:
        connection = apsw.Connection(os.fspath(self.path))
        connection.set_busy_timeout(self._busy_ms)
        # Python acts on Ctrl-C and a hook's alarm only between its own instructions, so long statements call some.
        connection.set_progress_handler(lambda: False, STEPS)
        connection.execute(
            "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA foreign_keys=ON; PRAGMA secure_delete=ON;"
            + (SMALL_CACHE if self._begun <= ONCE else LARGE_CACHE)
        ).fetchall()  # the first pragma answers with a row, and apsw waits there until it is read
        return connection

    def _opened_for_reading(self) -> apsw.Connection:
        """Read the database where the files beside it cannot be made: on a read-only or full disk."""
        from urllib.parse import quote

        address = f"file:{quote(os.fspath(self.path))}?immutable=1"
        return apsw.Connection(address, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)

    def _opened_copy(self) -> apsw.Connection:
        """The same if the last writer was killed: SQLite reads a log only where it can make a file beside it.

        The files of the copy are deleted as soon as they are open.
        """
        import shutil
        from tempfile import TemporaryDirectory

        with TemporaryDirectory(prefix="recollect-") as folder:
            copy = os.path.join(folder, "memory.db")
            for suffix in ("", "-wal"):
                shutil.copyfile(f"{self.path}{suffix}", f"{copy}{suffix}")
            connection = apsw.Connection(copy, flags=apsw.SQLITE_OPEN_READONLY)
            connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        return connection

    @contextmanager
    def _transaction(self, begin: str) -> Iterator[apsw.Connection]:
        connection = self.connection()
        self._begun += 1
        if begin != "BEGIN" or self._begun == ONCE + 1:
            begin = f"{LARGE_CACHE}; {begin}"
        if connection.in_transaction:
            raise RuntimeError("transactions do not nest; pass the open one down")
        with sqlite_errors(self.path):
            connection.execute(begin)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                # A full disk may already have rolled back; then there is nothing left to undo.
                with suppress(apsw.SQLError):
                    connection.execute("ROLLBACK")
                raise

    def _number(self, connection: apsw.Connection, space: str, *, create: bool = False) -> int:
        number = self._numbers.get(space)
        if number is not None:
            return number
        found = connection.execute("SELECT number FROM spaces WHERE space = ?", (space,)).fetchone()
        if found is not None:
            number = self._numbers[space] = int(found[0])
            return number
        if not create:
            return 0
        # Not remembered: what this transaction adds may yet be rolled back.
        sql = "INSERT INTO spaces (space, number) SELECT ?, coalesce(max(number), 0) + 1 FROM spaces RETURNING number"
        ((made,),) = connection.execute(sql, (space,)).fetchall()
        return int(str(made))


class _Session:
    keeps_vectors = True

    def __init__(self, connection: apsw.Connection):
        self._connection = connection
        self._entries: list[tuple[int, str]] = []

    def execute(self, sql: str, params: Mapping[str, Any]) -> list[Row]:
        return self._connection.execute(sql, params).fetchall()

    def execute_many(self, sql: str, many: Iterable[Mapping[str, Any]], *, returning: bool) -> list[Row]:
        statement, values = _by_position(sql)
        return self._connection.executemany(statement, map(values, many)).fetchall()

    def changes(self) -> int:
        return self._connection.changes()

    def columns(self, table: str) -> Sequence[str]:
        found = self._connection.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,)).fetchall()
        return [str(name) for (name,) in found]

    def index(self, doc: int, tokens: str) -> None:
        # Kept back until asked for or committed: between two entries, any statement with a savepoint of its own
        # (RETURNING is enough) makes FTS5 write a whole segment, which made a bulk load ten times slower.
        self._entries.append((doc, tokens))

    def flush(self) -> None:
        self._connection.executemany("INSERT INTO passage_words (rowid, terms) VALUES (?, ?)", self._entries)
        self._entries = []

    def unindex(self, doc: int) -> None:
        self.flush()
        self._connection.execute("DELETE FROM passage_words WHERE rowid = ?", (doc,))

    def vectors(self, space: str, model: int) -> SqliteVectors:
        from recollect.store.vectors import SqliteVectors

        return SqliteVectors(self._connection, space, model)

    def match(self, tokens: Sequence[str], within: Sequence[str]) -> list[Sequence[int]]:
        if self._entries:
            self.flush()
        scope = f"({' OR '.join(map(_quoted, within))}) AND " if within else ""
        # One JSON array instead of a row per hit: four times faster for common words.
        found: list[Sequence[int]] = []
        for token in tokens:
            if not _WORD.fullmatch(token):  # no term of ours: the store is damaged, and the index cannot hold it
                found.append([])
                continue
            row = self._connection.execute(
                "SELECT json_group_array(rowid) FROM passage_words WHERE passage_words MATCH ?",
                (scope + _quoted(token),),
            ).fetchone()
            found.append(loads(row[0]) if row else [])
        return found


@cache
def _by_position(sql: str) -> tuple[str, Callable[[Mapping[str, Any]], tuple[Any, ...]]]:
    """A statement with positional parameters: binding by name is a quarter of the cost of writing a row."""
    names = re.findall(r":(\w+)", sql)
    return re.sub(r":\w+", "?", sql), itemgetter(*names)


# What the tokeniser of `WORD_INDEX` takes for one word: letters, digits, `#+_:.` and all beyond ASCII. Of anything else
# it would make several, or none. By exclusion: a class that names all of Unicode takes 2 ms to compile.
_WORD = re.compile(r"[^\x00-\x22$-*,\-/;-@\[-^`{-\x7f]+")


def _quoted(token: str) -> str:
    return '"' + token.replace('"', '""') + '"'


def _has_room(path: Path) -> bool:
    try:
        return os.statvfs(path.parent).f_bavail > 0
    except OSError:
        return True


def _full(path: Path) -> NoSpace:
    return NoSpace(f"the disk that holds {path} is full{NOT_DONE}. Free some space and try again")


def about_words(message: str) -> bool:
    """Whether a message of SQLite is about the word index, which can be made again."""
    return "fts5" in message.lower() or "passage_words" in message


def _damaged(path: Path, error: Exception) -> StoreDamaged:
    if about_words(str(error)):
        return StoreDamaged(
            f"the word index in {path} is damaged ({error}). Make it again with: recollect store rebuild"
        )
    return StoreDamaged(
        f"{path} is damaged ({error}). Nothing was deleted. Run: recollect doctor, then recollect store restore"
    )


# What SQLite says of one statement or moment; its other errors of this class are about the tables.
_PASSING = r"\btoo (?:many|big|large|long|complex)\b|\bcannot (?:start|commit|rollback)\b|in progress|locked"


def _refused(path: Path, error: Exception) -> StoreUnreachable:
    return StoreUnreachable(f"SQLite refused a statement for {path} ({error}){NOT_DONE}. Try again")


def _check_version(path: Path) -> None:
    """Refuse a store that a newer program has upgraded while this one had it open."""
    from recollect.store.sqlite_file import version_of

    db = SqliteDb(path)
    try:
        version_of(db)
    finally:
        db.close()


@contextmanager
def sqlite_errors(path: Path) -> Iterator[None]:
    try:
        yield
    except RecollectError:
        raise
    except UnicodeEncodeError as error:
        raise BadInput(f"this text cannot be stored ({error.reason})") from None
    except (apsw.BusyError, apsw.LockedError, apsw.ProtocolError, apsw.SchemaChangeError):
        raise StoreBusy(f"{path} stayed locked by another process. Try again, or run: recollect doctor") from None
    except (apsw.CorruptError, apsw.NotADBError, UnicodeDecodeError) as error:
        raise _damaged(path, error) from None
    except apsw.TooBigError as error:
        raise StoreUnreachable(f"a value is too long for {path} ({error}){NOT_DONE}. Run: recollect doctor") from None
    except (apsw.SQLError, apsw.ConstraintError, apsw.MismatchError, apsw.InternalError) as error:
        if re.search(_PASSING, str(error)):
            raise _refused(path, error) from error
        if "no such" in str(error) or "has no column" in str(error):
            _check_version(path)
        # Our statements are tested, so the tables are not what we made them: one was taken away, a key occurs twice.
        raise _damaged(path, error) from error
    except apsw.FullError:
        raise _full(path) from None
    except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        if not _has_room(path):  # then the files beside the database cannot be made, as in a folder that is not ours
            raise _full(path) from None
        raise StoreUnreachable(f"{path} cannot be written from here ({error}){NOT_DONE}. {NO_ACCESS}") from None
    except apsw.IOError as error:
        raise StoreUnreachable(f"reading or writing {path} failed ({error}); check the disk") from None
    except apsw.Error as error:
        raise _refused(path, error) from error
