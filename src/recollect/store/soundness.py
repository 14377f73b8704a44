"""Whether the embedded store is sound as a file, and what can be made again inside it: b-tree indexes, the word index,
the signs of vectors.

Row contents are held against each other in `derived`; this module looks at what only SQLite has.
"""

from __future__ import annotations

import apsw

from recollect.store.grades import graded, tokens
from recollect.store.sqlite import WORD_INDEX, SqliteDb, translated
from recollect.store.sqlite_vectors import SqliteVectors, unpacked

MESSAGES = 20


def faults(db: SqliteDb) -> tuple[list[str], list[str]]:
    """What SQLite finds wrong: in the data itself, and in indexes, which can be made again."""
    with translated(db.path):
        found = [row[0] for row in db.connection().execute(f"PRAGMA integrity_check({MESSAGES})")]
    data: list[str] = []
    indexes: list[str] = []
    for message in found:
        if message != "ok":
            (indexes if _about_an_index(message) else data).append(message)
    return data, indexes


def leftover_words(db: SqliteDb) -> int:
    """Documents in the word index that no passage owns."""
    with translated(db.path):
        found = db.connection().execute(
            "SELECT count(*) FROM passage_words_docsize WHERE id NOT IN (SELECT doc FROM passages)"
        )
        row = found.fetchone()
    return int(row[0]) if row else 0


def unpacked_vectors(db: SqliteDb) -> int:
    """Vectors that a search for the nearest would not meet."""
    with translated(db.path):
        return unpacked(db.connection())


def remake_indexes(db: SqliteDb) -> None:
    """All b-tree indexes, the word index from the terms that passages hold, and the signs of vectors, in one
    transaction."""
    connection = db.connection()
    with translated(db.path), connection:
        connection.execute("REINDEX")
        remake_words(connection)
        for space, number in connection.execute("SELECT space, number FROM vector_models").fetchall():
            SqliteVectors(connection, str(space), int(str(number))).pack_anew()


def remake_words(connection: apsw.Connection) -> None:
    """The word index from the terms that passages hold, in the caller's transaction."""
    connection.execute("DROP TABLE passage_words")
    for statement in WORD_INDEX:
        connection.execute(statement)
    rows = connection.execute("SELECT p.doc, s.number, p.terms FROM passages p JOIN spaces s USING (space) ORDER BY 1")
    connection.executemany(
        "INSERT INTO passage_words (rowid, terms) VALUES (?, ?)",
        ((doc, tokens(number, *graded(stream))) for doc, number, stream in rows),
    )


def _about_an_index(message: str) -> bool:
    return "FTS5" in message or "passage_words" in message or " index " in message
