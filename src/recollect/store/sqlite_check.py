"""Whether the embedded store is sound as a file, and what can be made again inside it.

Looks at what only SQLite has: pages, b-tree indexes, the word index, the signs of vectors, texts that are not UTF-8.
Row contents are held against each other in `derived`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import apsw

from recollect.store.derived import Unreadable
from recollect.store.schema import BY_NAME, DERIVED
from recollect.store.sqlite import SqliteDb, about_words, sqlite_errors
from recollect.store.sqlite_file import remake_words
from recollect.store.vectors import SqliteVectors, unpacked

MESSAGES = 20  # of SQLite's own check; a damaged file has thousands that say the same
_WRONG_SIZE = """
SELECT v.number FROM vectors v LEFT JOIN vector_models m ON m.space = v.space AND m.number = v.model
WHERE v.number < 1 OR m.number IS NULL OR length(v.vector) <> 2 * m.dimensions"""
_SIGNS_OF_WRONG_SIZE = """
SELECT s.rowid FROM vector_signs s JOIN vector_models m ON m.space = s.space AND m.number = s.model
WHERE length(s.signs) <> length(s.numbers) / 8 * ((m.dimensions + 63) / 64 * 8) OR length(s.numbers) % 8 <> 0"""


_WORD_INDEX_FAULTS = {
    "SELECT count(*) FROM passage_words_docsize WHERE id NOT IN (SELECT doc FROM passages)": (
        "documents in the word index belong to no passage"
    ),
    # The index could not take them out again.
    "SELECT count(*) FROM passages WHERE doc NOT IN (SELECT id FROM passage_words_docsize)": (
        "passages are not among the documents of the word index"
    ),
}


def faults(db: SqliteDb) -> Iterator[tuple[str, str]]:
    """What is wrong, as (what, detail): a damaged `file`, or an `index` or `vector` that can be made again."""
    connection = db.connection()
    with sqlite_errors(db.path):
        try:
            said = [str(row[0]) for row in connection.execute(f"PRAGMA integrity_check({MESSAGES})")]
        except apsw.SQLError as error:
            if not about_words(str(error)):
                raise
            said = [str(error)]  # an index that does not even open
        found = [("index" if _about_an_index(message) else "file", message) for message in said if message != "ok"]
        yield from found
        if found:
            return  # what does not read back cannot be counted
        for sql, detail in _WORD_INDEX_FAULTS.items():
            if count := connection.execute(sql).get:
                yield "index", f"{count} {detail}"
        if wrong := sum(len(connection.execute(sql).fetchall()) for sql in (_WRONG_SIZE, _SIGNS_OF_WRONG_SIZE)):
            yield "vector", f"{wrong} vectors or rows of signs are not as long as their model makes them"
        if count := unpacked(connection):
            yield "vector", f"{count} vectors are missing in the signs that lead to them"


def unreadable(db: SqliteDb) -> list[Unreadable]:
    """Rows, of all spaces, with a text that is not UTF-8."""
    with sqlite_errors(db.path):
        return [
            Unreadable(table, f"{table}, row {row}", "a text in it is not UTF-8")
            for table in sorted(BY_NAME.keys() - {"passage_words"})  # whose tables are FTS5's own
            for row in _not_utf8(db.connection(), table)
        ]


def remake_indexes(db: SqliteDb) -> None:
    """All b-tree indexes, the word index from the terms that passages hold, and the signs of vectors, in one
    transaction. Derived rows that cannot be read are deleted first; `rebuild` makes them again."""
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


def _about_an_index(message: str) -> bool:
    """Whether `remake_indexes` mends it; a value of the wrong type counts where its row can be made again."""
    if found := re.search(r"(?:value|constraint failed) in (\w+)", message):
        return found[1] in DERIVED
    return about_words(message) or " index " in message


def _columns(connection: apsw.Connection, table: str) -> list[tuple[str, str, bool]]:
    """Names, types, and whether there must be a value."""
    found = connection.execute('SELECT name, type, "notnull" FROM pragma_table_info(?)', (table,)).fetchall()
    return [(str(name), str(kind).lower(), bool(needed)) for name, kind, needed in found]


def _not_utf8(connection: apsw.Connection, table: str) -> list[int]:
    """The rows with a text that is not UTF-8."""
    with suppress(UnicodeDecodeError):
        for _ in connection.execute(f"SELECT * FROM {table}"):
            pass
        return []
    columns = ", ".join(f"CAST({name} AS BLOB)" for name, kind, _ in _columns(connection, table) if kind == "text")
    broken: list[int] = []
    rows: list[Any] = connection.execute(f"SELECT rowid, {columns} FROM {table}").fetchall()
    for row, *texts in rows:
        try:
            b" ".join(text or b"" for text in texts).decode("utf-8")
        except UnicodeDecodeError:
            broken.append(row)
    return broken


def _of_wrong_type(connection: apsw.Connection, table: str) -> list[int]:
    wrong = [
        f"typeof({name}) <> '{kind}'" + ("" if needed else f" AND {name} IS NOT NULL")
        for name, kind, needed in _columns(connection, table)
    ]
    found: list[Any] = connection.execute(f"SELECT rowid FROM {table} WHERE {' OR '.join(wrong)}").fetchall()
    return [row for (row,) in found]
