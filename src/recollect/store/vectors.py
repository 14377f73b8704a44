"""Vectors beside passages: which passages have them, which wait, and which are nearest; and how SQLite stores them.

A passage has a vector for each of its chunks (`text/sentences.py` numbers them) and for each model that embedded it.
Vectors are derived: they go with their passage and are made again in the order of the passages' numbers, so every
passage after the newest embedded one still waits. The engine stores and compares them. Knows no model.

The embedded store keeps half floats in rows, and their signs packed beside them. Texts with a similar meaning agree in
most signs, so the chunks with the fewest different signs hold the nearest ones, and only those are scored by their
vectors. A deleted passage leaves its signs behind until they are packed again; they lead to no row. Only comparing
needs numpy, which comes with the embedder.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import groupby

import apsw

from recollect.core.context import Tx
from recollect.core.records import record
from recollect.store import db, passages
from recollect.store.db import Entry, among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_REACHED = """(SELECT coalesce(max(v.doc), -1) FROM vectors v WHERE v.space = :space AND v.model = :number
  AND v.piece = 0)"""

_OF_ANOTHER_STATE = """
passages p JOIN vectors v ON v.doc = p.doc
WHERE p.space = :space AND (v.space <> p.space OR v.hash <> p.hash OR v.kind <> p.kind)"""
_PASSED_OVER = f"""
passages p WHERE p.space = :space AND p.doc < {_REACHED} AND NOT EXISTS (
  SELECT 1 FROM vectors o WHERE o.doc = p.doc AND o.model = :number AND o.piece = 0)"""


@record
class UnembeddedPassage:
    """A passage that has no vectors yet."""

    doc: int
    kind: str
    title: str
    who: str
    text: str
    hash: str


@record
class Embedded:
    """The vectors made of a passage, each with its piece's number; `hash` says of which state of it."""

    doc: int
    kind: str
    hash: str
    pieces: Sequence[tuple[int, Any]]


@record
class EmbeddingModel:
    """A model that embedded passages of a space: its number there, how long its vectors are, when it was last seen in
    use, to the day."""

    model: str
    number: int
    dimensions: int
    used_at: int


def nearest(tx: Tx, model: str, vector: Any, *, limit: int, kinds: Sequence[str] = ()) -> list[tuple[int, int, float]]:
    """The pieces nearest to a unit vector as (passage, piece, cosine), best first; of all kinds of passage, or some."""
    number = _number(tx, model)
    return [] if number is None else tx.vectors(number).nearest(vector, limit=limit, kinds=kinds)


def vectors_of(tx: Tx, model: str, docs: Sequence[int]) -> dict[int, list[tuple[int, Any]]]:
    """The unit vectors of some passages by piece; one that has none is left out."""
    number = _number(tx, model)
    found: dict[int, list[tuple[int, Any]]] = {}
    if number is not None:
        for doc, piece, vector in sorted(tx.vectors(number).of(docs), key=lambda row: row[:2]):
            found.setdefault(doc, []).append((piece, vector))
    return found


def known(tx: Tx, model: str) -> bool:
    """Whether this space has any vectors of a model: one look at a key, before a query is embedded."""
    return _number(tx, model) is not None


def counts(tx: Tx, model: str) -> tuple[int, int]:
    """How many passages have vectors of a model, and how many wait."""
    waits = int(
        tx.value(
            f"SELECT count(*) FROM passages WHERE space = :space AND doc > {_REACHED}", number=_number(tx, model) or 0
        )
    )
    return passages.document_counts(tx, ())[0] - waits, waits


def waiting(tx: Tx, model: str, *, limit: int) -> list[UnembeddedPassage]:
    """The oldest passages without vectors of a model."""
    more = f"AND doc > {_REACHED} ORDER BY doc LIMIT :limit"
    return db.select(tx, UnembeddedPassage, "passages", more, number=_number(tx, model) or 0, limit=limit)


def put(tx: Tx, model: str, made: Sequence[Embedded], *, at: int) -> int:
    """Keep the vectors of passages that are still what they were made of; how many those were."""
    sql = "SELECT doc, hash FROM passages WHERE space = :space AND doc IN (:keys)"
    current: dict[int, str] = dict(among(tx, sql, [one.doc for one in made]))
    fitting = [one for one in made if current.get(one.doc) == one.hash]
    if fitting:
        number = _used(tx, model, dimensions=len(fitting[0].pieces[0][1]), at=at)
        tx.vectors(number).put([(one.doc, one.kind, one.hash, one.pieces) for one in fitting])
    return len(fitting)


def models(tx: Tx) -> list[EmbeddingModel]:
    """The models that embedded passages of this space, the one used last first."""
    if not tx.keeps_vectors:
        return []
    return db.select(tx, EmbeddingModel, "vector_models", "ORDER BY used_at DESC, model")


def in_use(tx: Tx, model: str, *, at: int) -> None:
    """Note that a model is used: the vectors of unused models are dropped."""
    db.update(tx, "vector_models", {"model": model}, used_at=at)


def drop(tx: Tx, model: str, *, most: int) -> bool:
    """Delete some of a model's vectors; True when none are left and the model is forgotten."""
    number = _number(tx, model)
    if number is not None:
        gone = tx.run(
            """
            DELETE FROM vectors WHERE space = :space AND model = :number AND doc IN (
              SELECT doc FROM vectors WHERE space = :space AND model = :number AND piece = 0 ORDER BY doc DESC
              LIMIT :most)""",
            number=number,
            most=most,
        )
        if gone:
            return False
    tx.run("DELETE FROM vector_models WHERE space = :space AND model = :model", model=model)
    return True


def wrong(tx: Tx) -> Iterator[tuple[str, str]]:
    """Passages whose vectors are of another state of them, and those that were passed over, each with what is wrong."""
    for (id,) in tx.rows(f"SELECT DISTINCT p.id FROM {_OF_ANOTHER_STATE} ORDER BY p.id"):
        yield id, "its vectors were made of something else"
    for (number,) in tx.rows("SELECT number FROM vector_models WHERE space = :space ORDER BY number"):
        for (id,) in tx.rows(f"SELECT p.id FROM {_PASSED_OVER} ORDER BY p.doc", number=number):
            yield id, "it has no vectors, but newer passages have"


def mend(tx: Tx) -> int:
    """Drop vectors that are wrong, and those after a gap, so that all of them are made again; of how many passages."""
    before = _embedded(tx)
    tx.run(f"DELETE FROM vectors WHERE space = :space AND doc IN (SELECT p.doc FROM {_OF_ANOTHER_STATE})")
    for (number,) in tx.rows("SELECT number FROM vector_models WHERE space = :space ORDER BY number"):
        tx.run(
            "DELETE FROM vectors WHERE space = :space AND model = :number AND doc > "
            f"(SELECT min(p.doc) FROM {_PASSED_OVER})",
            number=number,
        )
    return before - _embedded(tx)


def _embedded(tx: Tx) -> int:
    return int(tx.value("SELECT count(*) FROM vectors WHERE space = :space AND piece = 0"))


def _number(tx: Tx, model: str) -> int | None:
    if not tx.keeps_vectors:
        return None
    number = tx.value("SELECT number FROM vector_models WHERE space = :space AND model = :model", model=model)
    return None if number is None else int(number)


def _used(tx: Tx, model: str, *, dimensions: int, at: int) -> int:
    number = _number(tx, model)
    if number is None:
        number = 1 + int(tx.value("SELECT coalesce(max(number), 0) FROM vector_models WHERE space = :space"))
        db.add_row(tx, "vector_models", model=model, number=number, dimensions=dimensions, used_at=at)
    return number


CHUNK = 1024  # pieces in one row of signs, which is rewritten with every passage added to it
CANDIDATES = 1000  # pieces whose vectors are read; a space with no more of them is searched exactly
IN_ONE = 500  # numbers in one statement; SQLite allows 32,766
STALE = 4  # signs are packed again when one in so many has lost its vector

_WORD = 64  # signs are compared in words of so many
# A half float's sign is the first bit of its second byte.
_AS_DIGITS = bytes(ord("0" if byte & 0x80 else "1") for byte in range(256))


class SqliteVectors:
    """The vectors of one model in one space; see the protocol `Vectors`."""

    def __init__(self, connection: apsw.Connection, space: str, model: int):
        self._connection = connection
        self._whose = (space, model)

    def put(self, entries: Sequence[Entry]) -> None:
        import numpy as np

        space, model = self._whose
        docs = ((entry[0], model) for entry in entries)
        self._connection.executemany("DELETE FROM vectors WHERE doc = ? AND model = ?", docs)
        ((last,),) = self._connection.execute("SELECT coalesce(max(number), 0) FROM vectors")
        halves = [
            (doc, kind, digest, piece, np.asarray(vector, "<f2").tobytes())
            for doc, kind, digest, pieces in entries
            for piece, vector in pieces
        ]
        numbered = [(number, *half) for number, half in enumerate(halves, start=int(str(last)) + 1)]
        self._connection.executemany(
            "INSERT INTO vectors (number, doc, kind, hash, piece, vector, space, model) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ((*one, space, model) for one in numbered),
        )
        self._pack([(kind, number, half) for number, _, kind, _, _, half in numbered])

    def nearest(self, vector: Any, *, limit: int, kinds: Sequence[str] = ()) -> list[tuple[int, int, float]]:
        import numpy as np

        query = np.asarray(vector, "<f2")  # rounded as on the other engine, so that both give the same cosines
        keys, table = self._read("number", self._candidates(query, max(CANDIDATES, 4 * limit), kinds))
        # Not `@`: its threads would spin for longer than the product takes.
        cosines = np.einsum("ij,j->i", table, query.astype(np.float32)).tolist() if keys else []
        found = ((doc, piece, cosine) for (doc, piece), cosine in zip(keys, cosines, strict=True))
        return nsmallest(limit, found, key=lambda one: (-one[2], one[0], one[1]))

    def of(self, docs: Sequence[int]) -> list[tuple[int, int, Any]]:
        keys, table = self._read("doc", docs)
        return [(doc, piece, vector) for (doc, piece), vector in zip(keys, table, strict=True)]

    def pack_anew(self) -> None:
        """All signs, made from the vectors."""
        self._connection.execute("DELETE FROM vector_signs WHERE space = ? AND model = ?", self._whose)
        rows: list[Any] = self._connection.execute(
            "SELECT kind, number, vector FROM vectors WHERE space = ? AND model = ? ORDER BY kind, number", self._whose
        ).fetchall()
        self._pack(rows)

    def pack_if_stale(self) -> None:
        """Pack signs anew when many of them lead nowhere any more."""
        ((packed,),) = self._connection.execute(
            "SELECT coalesce(sum(length(numbers)), 0) / 8 FROM vector_signs WHERE space = ? AND model = ?", self._whose
        )
        sql = "SELECT count(*) FROM vectors WHERE space = ? AND model = ?"
        ((rows,),) = self._connection.execute(sql, self._whose)
        if packed > CHUNK and packed - rows > packed / STALE:
            self.pack_anew()

    def _read(self, column: str, values: Sequence[int]) -> tuple[list[tuple[int, int]], Any]:
        """Pieces by their own numbers or those of their passages, and a table with the vector of each."""
        import numpy as np

        space, model = self._whose
        found: list[Any] = []
        for start in range(0, len(values), IN_ONE):
            some = values[start : start + IN_ONE]
            found += self._connection.execute(
                f"SELECT doc, piece, vector FROM vectors WHERE {column} IN ({', '.join('?' * len(some))}) "
                "AND +model = ? AND +space = ?",  # plus: or SQLite would walk an index of the whole space
                (*some, model, space),
            ).fetchall()
        table = np.frombuffer(b"".join(row[2] for row in found), "<f2")
        keys = [(doc, piece) for doc, piece, _ in found]
        return keys, table.reshape(len(keys), -1).astype(np.float32) if keys else ()

    def _pack(self, rows: Sequence[tuple[str, int, bytes]]) -> None:
        """Add vectors (kind, number, halves) to the last row of signs of their kind, or to new ones once it is full."""
        for kind, group in groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0]):
            waiting = list(group)
            last: Any = self._connection.execute(
                "SELECT chunk, numbers, signs FROM vector_signs WHERE space = ? AND model = ? AND kind = ? "
                "ORDER BY chunk DESC LIMIT 1",
                (*self._whose, kind),
            ).fetchone()
            chunk, numbers, signs = last or (0, b"", b"")
            while waiting:
                room = CHUNK - len(numbers) // 8
                if not room:
                    chunk, numbers, signs, room = chunk + 1, b"", b"", CHUNK
                some, waiting = waiting[:room], waiting[room:]
                numbers += b"".join(number.to_bytes(8, "little") for _, number, _ in some)
                signs += b"".join(_signs(half) for _, _, half in some)
                self._connection.execute(
                    "INSERT INTO vector_signs (space, model, kind, chunk, numbers, signs) VALUES (?, ?, ?, ?, ?, ?) "
                    "ON CONFLICT (space, model, kind, chunk) "
                    "DO UPDATE SET numbers = excluded.numbers, signs = excluded.signs",
                    (*self._whose, kind, chunk, numbers, signs),
                )

    def _candidates(self, query: Any, most: int, kinds: Sequence[str]) -> list[int]:
        """The vectors that differ from a query in the fewest signs."""
        import numpy as np

        wanted = f" AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
        rows: list[Any] = self._connection.execute(
            f"SELECT numbers, signs FROM vector_signs WHERE space = ? AND model = ?{wanted}", (*self._whose, *kinds)
        ).fetchall()
        numbers = np.frombuffer(b"".join(row[0] for row in rows), "<i8")
        if len(numbers) > most:
            own = np.frombuffer(_signs(query.tobytes()), np.uint64)
            table = np.frombuffer(b"".join(row[1] for row in rows), np.uint64).reshape(-1, len(own))
            different = np.zeros(len(numbers), np.uint16)
            for word, column in zip(own, table.T, strict=True):  # three times faster than a sum over rows of six
                different += np.bitwise_count(column ^ word)
            enough = int(np.searchsorted(np.bincount(different).cumsum(), most))
            numbers = numbers[different <= enough]
        found: list[int] = np.unique(numbers).tolist()
        return found


def unpacked(connection: apsw.Connection) -> int:
    """How many vectors, of all spaces, have no signs."""
    signed: dict[tuple[Any, ...], set[int]] = {}
    for *where, numbers in connection.execute("SELECT space, model, kind, numbers FROM vector_signs"):
        signed.setdefault(tuple(where), set()).update(memoryview(bytes(numbers)[: len(numbers) // 8 * 8]).cast("q"))
    rows = connection.execute("SELECT space, model, kind, number FROM vectors")
    return sum(number not in signed.get(tuple(where), ()) for *where, number in rows)


def _signs(half: bytes) -> bytes:
    """A bit per dimension, in whole words."""
    digits = half[1::2].translate(_AS_DIGITS)
    digits += b"0" * (-len(digits) % _WORD)
    return int(digits, 2).to_bytes(len(digits) // 8, "big")
