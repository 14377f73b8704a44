"""Vectors in the embedded store: half floats in rows, their signs packed beside them.

Two texts that mean alike agree in most signs, so the pieces with the fewest different signs hold the nearest ones;
those are scored by their vectors. A passage that went leaves its signs behind until they are packed anew: they lead to
no row, so nothing is found by them. Only what compares needs numpy, which comes with the embedder.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import nsmallest
from itertools import groupby
from typing import Any

import apsw

from recollect.store.db import Entry

CHUNK = 1024  # pieces in one row of signs: it is rewritten with every passage that is added to it
CANDIDATES = 1000  # pieces whose vectors are read; a space with no more of them is searched exactly
IN_ONE = 500  # numbers in one statement
STALE = 4  # one piece in so many that went is when signs are packed anew

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
