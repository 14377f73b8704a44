"""Whether the embedded store is sound as a file, and what can be made again inside it: b-tree indexes, the word index,
the signs of vectors.

Row contents are held against each other in `derived`; this module looks at what only SQLite has.
"""

from __future__ import annotations

import re
from typing import Any

import apsw

from recollect.store.contents import DERIVED, Unreadable
from recollect.store.grades import graded, tokens
from recollect.store.sqlite import WORD_INDEX, SqliteDb, about_words, translated
from recollect.store.sqlite_vectors import SqliteVectors, unpacked

MESSAGES = 20
_WRONG_SIZE = """
SELECT v.number FROM vectors v LEFT JOIN vector_models m ON m.space = v.space AND m.number = v.model
WHERE m.number IS NULL OR length(v.vector) <> 2 * m.dimensions"""
_SIGNS_OF_WRONG_SIZE = """
SELECT s.rowid FROM vector_signs s JOIN vector_models m ON m.space = s.space AND m.number = s.model
WHERE length(s.signs) <> length(s.numbers) / 8 * ((m.dimensions + 63) / 64 * 8) OR length(s.numbers) % 8 <> 0"""


def faults(db: SqliteDb) -> tuple[list[str], list[str]]:
    """What SQLite finds wrong: in the data itself, and in indexes, which can be made again."""
    with translated(db.path):
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
    with translated(db.path):
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
    with translated(db.path):
        row = db.connection().execute(sql).fetchone()
    return int(row[0]) if row else 0


def unpacked_vectors(db: SqliteDb) -> int:
    """Vectors that a search for the nearest would not meet."""
    with translated(db.path):
        return unpacked(db.connection())


def vectors_of_wrong_size(db: SqliteDb) -> int:
    """Vectors, and rows of signs, that are not as long as their model makes them."""
    with translated(db.path):
        return sum(len(db.connection().execute(sql).fetchall()) for sql in (_WRONG_SIZE, _SIGNS_OF_WRONG_SIZE))


def remake_indexes(db: SqliteDb) -> None:
    """All b-tree indexes, the word index from the terms that passages hold, and the signs of vectors, in one
    transaction. Derived rows that cannot be read go first: whoever makes them again finds no index that needs them."""
    connection = db.connection()
    with translated(db.path), connection:
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
        ((doc, tokens(number, *graded(stream))) for doc, number, stream in rows),
    )


def _about_an_index(message: str) -> bool:
    """Whether `remake_indexes` mends it; a value of the wrong type counts where its row can be made again."""
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
