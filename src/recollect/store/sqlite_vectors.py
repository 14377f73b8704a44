"""Vectors in the embedded store: half floats in rows, their signs packed beside them.

Two texts that mean alike agree in most signs, so the pieces with the fewest different signs hold the nearest ones;
those are scored by their vectors. A passage that went leaves its signs behind until they are packed anew: they lead to
no row, so nothing is found by them. Only what compares needs numpy, which comes with the embedder.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    import apsw

    from recollect.store.db import Entry

CHUNK = 1024  # pieces in one row of signs: it is rewritten with every passage that is added to it
CANDIDATES = 1000  # pieces whose vectors are read; a space with no more of them is searched exactly
DOCS = 500  # passages in one statement
STALE = 4  # one piece in so many that went is when signs are packed anew

_WORD = 64  # signs are compared in words of so many
# A half float's sign is the first bit of its second byte.
_AS_DIGITS = bytes(ord("0" if byte & 0x80 else "1") for byte in range(256))


def put(connection: apsw.Connection, space: str, model: int, entries: Sequence[Entry]) -> None:
    import numpy as np

    halves = [
        (doc, kind, digest, piece, np.asarray(vector, "<f2").tobytes())
        for doc, kind, digest, pieces in entries
        for piece, vector in pieces
    ]
    connection.executemany(
        "INSERT INTO vectors (doc, model, piece, space, kind, hash, vector) VALUES (?, ?, ?, ?, ?, ?, ?) "
        "ON CONFLICT (doc, model, piece) DO UPDATE SET hash = excluded.hash, vector = excluded.vector",
        ((doc, model, piece, space, kind, digest, half) for doc, kind, digest, piece, half in halves),
    )
    _pack(connection, space, model, [(kind, doc, half) for doc, kind, _, _, half in halves])


def nearest(
    connection: apsw.Connection, space: str, model: int, vector: Any, *, limit: int, kinds: Sequence[str]
) -> list[tuple[int, int, float]]:
    import numpy as np

    query = np.asarray(vector, "<f2")  # rounded as on the other engine, so that both give the same cosines
    docs = _candidates(connection, space, model, query, max(CANDIDATES, 10 * limit), kinds)
    rows = of(connection, space, model, docs)
    if not rows:
        return []
    cosines = np.stack([row[2] for row in rows]) @ query.astype(np.float32)
    best = sorted(range(len(rows)), key=lambda at: (-cosines[at], rows[at][:2]))[:limit]
    return [(rows[at][0], rows[at][1], float(cosines[at])) for at in best]


def of(connection: apsw.Connection, space: str, model: int, docs: Sequence[int]) -> list[tuple[int, int, Any]]:
    import numpy as np

    found: list[Any] = []
    for start in range(0, len(docs), DOCS):
        some = docs[start : start + DOCS]
        found += connection.execute(
            f"SELECT doc, piece, vector FROM vectors WHERE doc IN ({', '.join('?' * len(some))}) AND model = ? "
            "AND space = ?",
            (*some, model, space),
        )
    if not found:
        return []
    table = np.frombuffer(b"".join(row[2] for row in found), "<f2").reshape(len(found), -1).astype(np.float32)
    return [(doc, piece, vector) for (doc, piece, _), vector in zip(found, table, strict=True)]


def pack_anew(connection: apsw.Connection, space: str, model: int) -> None:
    """All signs of a space, made from its vectors."""
    connection.execute("DELETE FROM vector_signs WHERE space = ? AND model = ?", (space, model))
    rows: list[Any] = connection.execute(
        "SELECT kind, doc, vector FROM vectors WHERE space = ? AND model = ? ORDER BY kind, doc, piece", (space, model)
    ).fetchall()
    _pack(connection, space, model, rows)


def pack_if_stale(connection: apsw.Connection, space: str, model: int) -> None:
    """Pack signs anew when many of them lead nowhere any more."""
    ((packed,),) = connection.execute(
        "SELECT coalesce(sum(length(docs)), 0) / 8 FROM vector_signs WHERE space = ? AND model = ?", (space, model)
    )
    ((rows,),) = connection.execute("SELECT count(*) FROM vectors WHERE space = ? AND model = ?", (space, model))
    if packed > CHUNK and packed - rows > packed / STALE:
        pack_anew(connection, space, model)


def unpacked(connection: apsw.Connection) -> int:
    """How many passages, of all spaces, have vectors whose signs are missing."""
    signed: dict[tuple[Any, Any, Any], set[int]] = {}
    for space, model, kind, docs in connection.execute("SELECT space, model, kind, docs FROM vector_signs"):
        found = memoryview(bytes(docs)).cast("q")
        signed.setdefault((space, model, kind), set()).update(found)
    rows: Any = connection.execute("SELECT space, model, kind, doc FROM vectors WHERE piece = 0")
    return sum(doc not in signed.get((space, model, kind), ()) for space, model, kind, doc in rows)


def _pack(connection: apsw.Connection, space: str, model: int, rows: Sequence[tuple[str, int, bytes]]) -> None:
    """Add pieces (kind, passage, halves) to the last row of signs of their kind, and to new ones when it is full."""
    for kind, group in groupby(sorted(rows, key=lambda row: row[0]), key=lambda row: row[0]):
        waiting = list(group)
        last: Any = connection.execute(
            "SELECT chunk, docs, signs FROM vector_signs WHERE space = ? AND model = ? AND kind = ? "
            "ORDER BY chunk DESC LIMIT 1",
            (space, model, kind),
        ).fetchone()
        chunk, docs, signs = last or (0, b"", b"")
        while waiting:
            room = CHUNK - len(docs) // 8
            if not room:
                chunk, docs, signs, room = chunk + 1, b"", b"", CHUNK
            some, waiting = waiting[:room], waiting[room:]
            docs += b"".join(doc.to_bytes(8, "little") for _, doc, _ in some)
            signs += b"".join(_signs(half) for _, _, half in some)
            connection.execute(
                "INSERT INTO vector_signs (space, model, kind, chunk, docs, signs) VALUES (?, ?, ?, ?, ?, ?) "
                "ON CONFLICT (space, model, kind, chunk) DO UPDATE SET docs = excluded.docs, signs = excluded.signs",
                (space, model, kind, chunk, docs, signs),
            )


def _candidates(
    connection: apsw.Connection, space: str, model: int, query: Any, most: int, kinds: Sequence[str]
) -> list[int]:
    """The passages of the pieces that differ from a vector in the fewest signs."""
    import numpy as np

    wanted = f" AND kind IN ({', '.join('?' * len(kinds))})" if kinds else ""
    rows: list[Any] = connection.execute(
        f"SELECT docs, signs FROM vector_signs WHERE space = ? AND model = ?{wanted}", (space, model, *kinds)
    ).fetchall()
    docs = np.frombuffer(b"".join(row[0] for row in rows), "<i8")
    if len(docs) > most:
        own = np.frombuffer(_signs(query.tobytes()), np.uint64)
        table = np.frombuffer(b"".join(row[1] for row in rows), np.uint64).reshape(-1, len(own))
        different = np.bitwise_count(table ^ own).sum(axis=1, dtype=np.uint16)
        docs = docs[np.argpartition(different, most)[:most]]
    found: list[int] = np.unique(docs).tolist()
    return found


def _signs(half: bytes) -> bytes:
    """A bit per dimension, in whole words."""
    digits = half[1::2].translate(_AS_DIGITS)
    digits += b"0" * (-len(digits) % _WORD)
    return int(digits, 2).to_bytes(len(digits) // 8, "big")
