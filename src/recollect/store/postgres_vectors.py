"""Vectors on a server: pgvector's half floats, compared there.

A space is searched exactly until it has `EXACT` pieces; from then on it gets an index of its own. An index over all
spaces would walk through the neighbours' vectors and may come back with nothing of ours.
Only what compares needs numpy, which comes with the embedder.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import psycopg
from psycopg import sql

from recollect.core.context import Row
from recollect.store.db import Entry

EXACT = 50_000  # pieces of a space that are compared one by one; up to here that is as fast as an index
MOST_EXPLORED = 1000  # pgvector's own bound on how many neighbours one walk keeps

_PUT = "COPY vectors (doc, model, piece, space, kind, hash, vector) FROM STDIN (FORMAT BINARY)"
_PUT_TYPES = ("int8", "int8", "int8", "text", "text", "text", "bytea")
_OF = """
SELECT doc, piece, halfvec_send(vector) FROM vectors
WHERE doc = ANY(%(docs)s) AND model = %(model)s AND space = %(space)s"""
_COUNT = """
SELECT count(*) FROM (SELECT FROM vectors WHERE space = %(space)s AND model = %(model)s
  AND (%(kinds)s::text[] = '{}' OR kind = ANY(%(kinds)s)) LIMIT %(bound)s) AS counted"""
# Spelled unlike the index, so that a rare kind of passage in a large space is compared and not walked for.
_COMPARE = """
SELECT doc, piece, -(vector <#> %(vector)s::halfvec) AS cosine FROM vectors
WHERE space = %(space)s AND model = %(model)s AND (%(kinds)s::text[] = '{}' OR kind = ANY(%(kinds)s))
ORDER BY cosine DESC, doc, piece LIMIT %(limit)s"""
_WALK = """
SELECT doc, piece, -(vector::halfvec({dimensions}) <#> {vector}::halfvec({dimensions})) AS cosine FROM vectors
WHERE space = {space} AND model = {model} AND ({every} OR kind = ANY({kinds}))
ORDER BY vector::halfvec({dimensions}) <#> {vector}::halfvec({dimensions}) LIMIT {limit}"""
_INDEX = """
CREATE INDEX CONCURRENTLY IF NOT EXISTS {name} ON vectors USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops)
WHERE space = {space} AND model = {model}"""


class PostgresVectors:
    """The vectors of one model in one space; see the protocol `Vectors`."""

    def __init__(self, connection: psycopg.Connection[Row], space: str, model: int, *, exact: int = EXACT):
        self._connection = connection
        self._whose = {"space": space, "model": model}
        self._exact = exact
        self._index = f"vectors_near_{hashlib.sha256(space.encode()).hexdigest()[:12]}_{model}"

    def put(self, entries: Sequence[Entry]) -> None:
        space, model = self._whose.values()
        with self._connection.cursor() as cursor:
            docs = [entry[0] for entry in entries]
            cursor.execute("DELETE FROM vectors WHERE doc = ANY(%s) AND model = %s", (docs, model))
            with cursor.copy(_PUT) as copy:
                copy.set_types(_PUT_TYPES)
                for doc, kind, digest, pieces in entries:
                    for piece, vector in pieces:
                        copy.write_row((doc, model, piece, space, kind, digest, _sent(vector)))

    def nearest(self, vector: Any, *, limit: int, kinds: Sequence[str] = ()) -> list[tuple[int, int, float]]:
        with self._connection.cursor(binary=True) as cursor:
            asked = {**self._whose, "kinds": list(kinds), "vector": _written(vector), "limit": limit}
            if self._has_index(cursor) and (not kinds or self._is_large(cursor, kinds)):
                found = _walked(cursor, asked, len(vector))
            else:
                found = cursor.execute(_COMPARE, asked).fetchall()
        return sorted(found, key=lambda row: (-row[2], row[0], row[1]))

    def of(self, docs: Sequence[int]) -> list[tuple[int, int, Any]]:
        import numpy as np

        with self._connection.cursor(binary=True) as cursor:
            found = cursor.execute(_OF, {**self._whose, "docs": list(docs)}).fetchall()
        return [(doc, piece, np.frombuffer(sent, ">f2", offset=4).astype(np.float32)) for doc, piece, sent in found]

    def index_if_large(self, dimensions: int) -> str:
        """Make a large space its index, while others keep writing; says what it did, or who may do it."""
        with self._connection.cursor() as cursor:
            if self._has_index(cursor) or not self._is_large(cursor):
                return ""
            if not _owns(cursor):
                return "this space is large: an administrator makes its searches faster with recollect store db init"
            name = sql.Identifier(self._index)
            cursor.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(name))  # one whose making was interrupted
            literals = {key: sql.Literal(value) for key, value in {**self._whose, "dimensions": dimensions}.items()}
            cursor.execute(sql.SQL(_INDEX).format(name=name, **literals))
        return f"index for the vectors of {self._whose['space']}"

    def _is_large(self, cursor: psycopg.Cursor[Row], kinds: Sequence[str] = ()) -> bool:
        """Whether there are more pieces than are compared one by one; counted only so far."""
        found = cursor.execute(_COUNT, {**self._whose, "kinds": list(kinds), "bound": self._exact + 1}).fetchone()
        return found is not None and bool(found[0] > self._exact)

    def _has_index(self, cursor: psycopg.Cursor[Row]) -> bool:
        found = cursor.execute(
            "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid", (self._index,)
        ).fetchone()
        return found is not None


def index_large_spaces(connection: psycopg.Connection[Row]) -> list[str]:
    """Make an index for every large space; the caller owns the tables."""
    rows = connection.execute("SELECT space, number, dimensions FROM vector_models ORDER BY space, number").fetchall()
    tended = (PostgresVectors(connection, space, model).index_if_large(size) for space, model, size in rows)
    return [done for done in tended if done]


def _walked(cursor: psycopg.Cursor[Row], asked: dict[str, Any], dimensions: int) -> list[Row]:
    """Nearest neighbours by the space's own index, on and on until enough of them pass the filter."""
    explored = min(max(100, asked["limit"]), MOST_EXPLORED)
    cursor.execute(
        "SELECT set_config('hnsw.iterative_scan', 'strict_order', true), set_config('hnsw.ef_search', %s, true)",
        (str(explored),),
    )
    values = {name: sql.Literal(value) for name, value in asked.items()}
    statement = sql.SQL(_WALK).format(
        **values, dimensions=sql.Literal(dimensions), every=sql.Literal(not asked["kinds"])
    )
    return cursor.execute(statement).fetchall()


def _owns(cursor: psycopg.Cursor[Row]) -> bool:
    found = cursor.execute(
        "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('vectors')"
    ).fetchone()
    return found is not None and bool(found[0])


def _sent(vector: Any) -> bytes:
    """As pgvector sends and takes it: how many numbers, two empty bytes, the numbers."""
    import numpy as np

    return len(vector).to_bytes(2, "big") + b"\0\0" + np.asarray(vector, ">f2").tobytes()


def _written(vector: Any) -> str:
    import numpy as np

    return f"[{','.join(map(str, np.asarray(vector, np.float16).tolist()))}]"
