"""Vectors beside passages: which passages have them, which wait, and which are nearest; and how SQLite stores them.

A passage has a vector for each of its chunks (`text/sentences.py` numbers them) and for each model that embedded it.
Vectors are derived: they go with their passage and are made again in the order of the passages' numbers, so every
passage after the newest embedded one still waits.

Both engines keep a number of a vector in eight bits, as a multiple of that vector's own step, so they give the same
cosines. The embedded store also keeps the signs of all numbers packed. Texts with a similar meaning agree in most
signs, so the vectors are only read of the chunks with the fewest different signs. A deleted passage leaves its signs
behind until they are packed again; they lead to no row. Only comparing needs numpy, which comes with the embedder.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Iterator, Sequence
from heapq import nsmallest
from itertools import groupby
from math import ceil, frexp, ldexp

import apsw

from recollect.core.context import Tx
from recollect.core.records import record
from recollect.store import db, passages
from recollect.store.db import Entry, among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PASSED_OVER = """
passages p WHERE p.space = :space AND p.doc < :reached AND NOT EXISTS (
  SELECT 1 FROM vectors o WHERE o.doc = p.doc AND o.model = :number AND o.piece = 0)"""
_NUMBERS = "SELECT number FROM vector_models WHERE space = :space ORDER BY number"
_VECTORS = "vectors v JOIN passages p ON p.doc = v.doc WHERE p.space = :space AND v.model = :number AND v.piece = 0"


@record
class UnembeddedPassage:
    doc: int
    kind: str
    title: str
    who: str
    text: str
    hash: str


@record
class Embedded:
    """The vectors of a passage, each with its piece's number; `hash` is that of the embedded text."""

    doc: int
    kind: str
    hash: str
    pieces: Sequence[tuple[int, Any]]


@record
class EmbeddingModel:
    """A model that embedded passages of a space. `used_at` is exact to the day."""

    model: str
    number: int
    dimensions: int
    used_at: int


def nearest(tx: Tx, model: str, vector: Any, *, limit: int, kinds: Sequence[str] = ()) -> list[tuple[int, int, float]]:
    number = _number(tx, model)
    return [] if number is None else tx.vectors(number).nearest(vector, limit=limit, kinds=kinds)


def cosines(tx: Tx, model: str, vector: Any, docs: Sequence[int]) -> dict[int, dict[int, float]]:
    """The cosine of each piece of some passages with a unit vector; passages without vectors are left out."""
    number = _number(tx, model)
    found: dict[int, dict[int, float]] = {}
    if number is not None:
        for doc, piece, cosine in tx.vectors(number).cosines(vector, docs):
            found.setdefault(doc, {})[piece] = cosine
    return found


def known(tx: Tx, model: str) -> bool:
    """Whether this space has vectors of a model: checked before a query is embedded."""
    return _number(tx, model) is not None


def counts(tx: Tx, model: str) -> tuple[int, int]:
    """How many passages have vectors of a model, and how many wait."""
    waits = db.count(tx, "passages", "AND doc > :reached", reached=_reach(tx, _number(tx, model))["reached"])
    return passages.document_counts(tx, ())[0] - waits, waits


def waiting(tx: Tx, model: str, *, limit: int) -> list[UnembeddedPassage]:
    """The oldest passages without vectors of a model."""
    more = "AND doc > :reached ORDER BY doc LIMIT :limit"
    return db.select(
        tx, UnembeddedPassage, "passages", more, limit=limit, reached=_reach(tx, _number(tx, model))["reached"]
    )


def put(tx: Tx, model: str, made: Sequence[Embedded], *, at: int) -> int:
    """Store the vectors of passages that did not change since; returns how many those are."""
    sql = "SELECT doc, hash FROM passages WHERE space = :space AND doc IN (:keys)"
    current: dict[int, str] = dict(among(tx, sql, [one.doc for one in made]))
    fitting = [one for one in made if current.get(one.doc) == one.hash]
    if fitting:
        number = _used(tx, model, dimensions=len(fitting[0].pieces[0][1]), at=at)
        tx.vectors(number).put([(one.doc, one.kind, one.pieces) for one in fitting])
    return len(fitting)


def models(tx: Tx) -> list[EmbeddingModel]:
    if not tx.keeps_vectors:
        return []
    return db.select(tx, EmbeddingModel, "vector_models", "ORDER BY used_at DESC, model")


def in_use(tx: Tx, model: str, *, at: int) -> None:
    """Record that a model is used: vectors of unused models are dropped."""
    db.update(tx, "vector_models", {"model": model}, used_at=at)


def drop(tx: Tx, model: str, *, most: int) -> bool:
    """Delete at most `most` passages' vectors; True when none are left and the model is deleted."""
    number = _number(tx, model)
    if number is not None:
        last = f"SELECT v.doc FROM {_VECTORS} ORDER BY v.doc DESC LIMIT :most"
        gone = tx.run(f"DELETE FROM vectors WHERE model = :number AND doc IN ({last})", number=number, most=most)
        if gone:
            return False
    tx.run("DELETE FROM vector_models WHERE space = :space AND model = :model", model=model)
    return True


def wrong(tx: Tx) -> Iterator[tuple[str, str]]:
    """Passages without vectors although newer ones have some."""
    for (number,) in tx.rows(_NUMBERS):
        for (id,) in tx.rows(f"SELECT p.id FROM {_PASSED_OVER} ORDER BY p.doc", **_reach(tx, number)):
            yield id, "it has no vectors, but newer passages have"


def mend(tx: Tx) -> int:
    """Drop the vectors after a gap, so that all of them are made again; returns the number of passages."""
    dropped = 0
    for (number,) in tx.rows(_NUMBERS):
        gap = tx.value(f"SELECT min(p.doc) FROM {_PASSED_OVER}", **_reach(tx, number))
        if gap is not None:
            later = f"SELECT v.doc FROM {_VECTORS} AND v.doc > :gap"
            dropped += int(tx.value(f"SELECT count(*) FROM ({later}) AS later", number=number, gap=gap))
            tx.run(f"DELETE FROM vectors WHERE model = :number AND doc IN ({later})", number=number, gap=gap)
    return dropped


def _reach(tx: Tx, number: int | None) -> dict[str, int]:
    """A model's number, and the newest passage that has its vectors, as parameters."""
    return {"number": number or 0, "reached": -1 if number is None else tx.vectors(number).reached()}


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


def rounded(vector: Iterable[float]) -> tuple[float, list[int]]:
    """A vector as a step of four bits and whole numbers from -127 to 127, whose product a half float holds exactly."""
    numbers = [float(number) for number in vector]
    fraction, exponent = frexp(max(map(abs, numbers)) / 127)
    step = ldexp(ceil(fraction * 16) or 1, exponent - 4)
    return step, [round(number / step) for number in numbers]


CHUNK = 1024  # pieces in one row of signs, which is rewritten with every passage added to it
CANDIDATES = 1000  # pieces whose vectors are read; a space with no more of them is searched exactly
IN_ONE = 500  # numbers in one statement; SQLite allows 32,766
STALE = 4  # signs are packed again when one in so many has lost its vector

_WORD = 64  # signs are compared in words of so many
_STEP = 2  # bytes before the numbers of a vector: their step, as a half float
_REACHED = """
SELECT v.doc FROM vectors v CROSS JOIN passages p WHERE p.doc = v.doc AND p.space = ? AND v.model = ? AND v.piece = 0
ORDER BY v.doc DESC LIMIT 1"""
_ROWS = "vectors v JOIN passages p ON p.doc = v.doc WHERE p.space = ? AND v.model = ?"
_AS_DIGITS = bytes(ord("0" if byte & 0x80 else "1") for byte in range(256))


class SqliteVectors:
    """See the protocol `Vectors`."""

    def __init__(self, connection: apsw.Connection, space: str, model: int):
        self._connection = connection
        self._whose = (space, model)

    def put(self, entries: Sequence[Entry]) -> None:
        _, model = self._whose
        self._connection.executemany(
            "DELETE FROM vectors WHERE doc = ? AND model = ?", ((entry[0], model) for entry in entries)
        )
        # Signs of a deleted vector must lead to no row, so no number that they have is given again.
        packed = self._connection.execute("SELECT substr(numbers, -8) FROM vector_signs").fetchall()
        ends = [int.from_bytes(end, "little", signed=True) for (end,) in packed]  # type: ignore[arg-type]
        ((last,),) = self._connection.execute("SELECT coalesce(max(number), 0) FROM vectors")
        made = [(doc, kind, piece, stored(vector)) for doc, kind, pieces in entries for piece, vector in pieces]
        numbered = list(enumerate(made, start=max(int(str(last)), *ends, 0) + 1))
        self._connection.executemany(
            "INSERT INTO vectors (number, doc, model, piece, vector) VALUES (?, ?, ?, ?, ?)",
            ((number, doc, model, piece, data) for number, (doc, _, piece, data) in numbered),
        )
        self._pack([(kind, number, data) for number, (_, kind, _, data) in numbered])

    def reached(self) -> int:
        found = self._connection.execute(_REACHED, self._whose).fetchone()
        return int(str(found[0])) if found else -1

    def nearest(self, vector: Any, *, limit: int, kinds: Sequence[str] = ()) -> list[tuple[int, int, float]]:
        query = _query(vector)
        found = self._cosines(query, "number", self._candidates(query, max(CANDIDATES, 4 * limit), kinds))
        return nsmallest(limit, found, key=lambda one: (-one[2], one[0], one[1]))

    def cosines(self, vector: Any, docs: Sequence[int]) -> list[tuple[int, int, float]]:
        return self._cosines(_query(vector), "doc", docs)

    def pack_anew(self) -> None:
        self._connection.execute("DELETE FROM vector_signs WHERE space = ? AND model = ?", self._whose)
        sql = f"SELECT p.kind, v.number, v.vector FROM {_ROWS} ORDER BY p.kind, v.number"
        self._pack(self._connection.execute(sql, self._whose).fetchall())  # type: ignore[arg-type]

    def pack_if_stale(self) -> None:
        """Pack signs anew when many of them lead to no row."""
        ((packed,),) = self._connection.execute(
            "SELECT coalesce(sum(length(numbers)), 0) / 8 FROM vector_signs WHERE space = ? AND model = ?", self._whose
        )
        ((rows,),) = self._connection.execute(f"SELECT count(*) FROM {_ROWS}", self._whose)
        if packed > CHUNK and packed - rows > packed / STALE:
            self.pack_anew()

    def _cosines(self, query: Any, column: str, values: Sequence[int]) -> list[tuple[int, int, float]]:
        """Pieces by their own numbers or those of their passages."""
        import numpy as np

        found: list[Any] = []
        for start in range(0, len(values), IN_ONE):
            some = values[start : start + IN_ONE]
            found += self._connection.execute(
                f"SELECT doc, piece, vector FROM vectors WHERE {column} IN ({', '.join('?' * len(some))}) "
                "AND model = ?",
                (*some, self._whose[1]),
            ).fetchall()
        table = np.frombuffer(b"".join([row[2] for row in found]), np.int8).reshape(len(found), _STEP + len(query))
        steps = table[:, :_STEP].copy().view("<f2")[:, 0]
        # Not `@`: its threads would spin for longer than the product takes.
        products = np.einsum("ij,j->i", table[:, _STEP:].astype(np.float32), query) * steps
        return [(row[0], row[1], cosine) for row, cosine in zip(found, products.tolist(), strict=True)]

    def _pack(self, rows: Sequence[tuple[str, int, bytes]]) -> None:
        """Add vectors (kind, number, stored bytes) to the last row of signs of their kind, then to new rows."""
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
                signs += b"".join(_signs(data[_STEP:]) for _, _, data in some)
                self._connection.execute(
                    "INSERT INTO vector_signs (space, model, kind, chunk, numbers, signs) VALUES (?, ?, ?, ?, ?, ?) "
                    "ON CONFLICT (space, model, kind, chunk) "
                    "DO UPDATE SET numbers = excluded.numbers, signs = excluded.signs",
                    (*self._whose, kind, chunk, numbers, signs),
                )

    def _candidates(self, query: Any, most: int, kinds: Sequence[str]) -> list[int]:
        import numpy as np

        wanted = f" AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
        rows: list[Any] = self._connection.execute(
            f"SELECT numbers, signs FROM vector_signs WHERE space = ? AND model = ?{wanted}", (*self._whose, *kinds)
        ).fetchall()
        numbers = np.frombuffer(b"".join(row[0] for row in rows), "<i8")
        if len(numbers) > most:
            own = np.frombuffer(_signs(np.where(query < 0, -1, 0).astype(np.int8).tobytes()), np.uint64)
            table = np.frombuffer(b"".join(row[1] for row in rows), np.uint64).reshape(-1, len(own))
            different = np.zeros(len(numbers), np.uint16)
            for word, column in zip(own, table.T, strict=True):  # three times faster than a sum over rows of six
                different += np.bitwise_count(column ^ word)
            enough = int(np.searchsorted(np.bincount(different).cumsum(), most))
            numbers = numbers[different <= enough]
        found: list[int] = np.unique(numbers).tolist()
        return found


def unpacked(connection: apsw.Connection) -> int:
    signed: dict[tuple[Any, ...], set[int]] = {}
    for *where, numbers in connection.execute("SELECT space, model, kind, numbers FROM vector_signs"):
        signed.setdefault(tuple(where), set()).update(memoryview(bytes(numbers)[: len(numbers) // 8 * 8]).cast("q"))
    rows = connection.execute("SELECT p.space, v.model, p.kind, v.number FROM vectors v JOIN passages p USING (doc)")
    return sum(number not in signed.get(tuple(where), ()) for *where, number in rows)


def stored(vector: Iterable[float]) -> bytes:
    step, numbers = rounded(vector)
    return struct.pack(f"<e{len(numbers)}b", step, *numbers)


def _query(vector: Any) -> Any:
    """Rounded as on the other engine, so that both give the same cosines."""
    import numpy as np

    return np.asarray(vector, np.float16).astype(np.float32)


def _signs(numbers: bytes) -> bytes:
    """A bit per dimension, in whole words: the first bit of each number."""
    digits = numbers.translate(_AS_DIGITS)
    digits += b"0" * (-len(digits) % _WORD)
    return int(digits, 2).to_bytes(len(digits) // 8, "big")
