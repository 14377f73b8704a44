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

EXACT = 50_000  # pieces of a space that are compared one by one
MOST_EXPLORED = 1000  # pgvector's own bound on how many neighbours one walk keeps

_PUT = "COPY vectors (doc, model, piece, space, kind, hash, vector) FROM STDIN (FORMAT BINARY)"
_PUT_TYPES = ("int8", "int8", "int8", "text", "text", "text", "bytea")
_OF = """
SELECT doc, piece, halfvec_send(vector) FROM vectors WHERE doc = ANY(%s) AND model = %s AND space = %s"""
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


def put(cursor: psycopg.Cursor[Row], space: str, model: int, entries: Sequence[Entry]) -> None:
    cursor.execute("DELETE FROM vectors WHERE doc = ANY(%s) AND model = %s", ([entry[0] for entry in entries], model))
    with cursor.copy(_PUT) as copy:
        copy.set_types(_PUT_TYPES)
        for doc, kind, digest, pieces in entries:
            for piece, vector in pieces:
                copy.write_row((doc, model, piece, space, kind, digest, _sent(vector)))


def nearest(
    connection: psycopg.Connection[Row],
    space: str,
    model: int,
    vector: Any,
    *,
    limit: int,
    kinds: Sequence[str] = (),
    exact: int = EXACT,
) -> list[tuple[int, int, float]]:
    with connection.cursor(binary=True) as cursor:
        asked = {"space": space, "model": model, "kinds": list(kinds), "vector": _written(vector), "limit": limit}
        if _has_index(cursor, space, model) and (not kinds or _count(cursor, asked, exact) > exact):
            found = _walked(cursor, asked, len(vector))
        else:
            found = cursor.execute(_COMPARE, asked).fetchall()
    return sorted(found, key=lambda row: (-row[2], row[0], row[1]))


def of(connection: psycopg.Connection[Row], space: str, model: int, docs: Sequence[int]) -> list[tuple[int, int, Any]]:
    import numpy as np

    with connection.cursor(binary=True) as cursor:
        found = cursor.execute(_OF, (list(docs), model, space)).fetchall()
    return [(doc, piece, np.frombuffer(sent, ">f2", offset=4).astype(np.float32)) for doc, piece, sent in found]


def index_if_large(
    connection: psycopg.Connection[Row], space: str, model: int, dimensions: int, *, exact: int = EXACT
) -> str:
    """Make a large space its index, while others keep writing; says what it did, or who may do it."""
    with connection.cursor() as cursor:
        everything = {"space": space, "model": model, "kinds": []}
        if _has_index(cursor, space, model) or _count(cursor, everything, exact) <= exact:
            return ""
        if not _owns(cursor):
            return "this space has grown large: an administrator makes its searches faster with recollect db init"
        name = sql.Identifier(_name(space, model))
        cursor.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(name))  # one whose making was interrupted
        values = {"space": space, "model": model, "dimensions": dimensions}
        literals = {key: sql.Literal(value) for key, value in values.items()}
        cursor.execute(sql.SQL(_INDEX).format(name=name, **literals))
    return f"index for the vectors of {space}"


def index_large_spaces(connection: psycopg.Connection[Row]) -> list[str]:
    """The same for every space; for somebody who owns the tables."""
    rows = connection.execute("SELECT space, number, dimensions FROM vector_models ORDER BY space, number").fetchall()
    return [done for space, model, dimensions in rows if (done := index_if_large(connection, space, model, dimensions))]


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


def _count(cursor: psycopg.Cursor[Row], asked: dict[str, Any], exact: int) -> int:
    """How many pieces there are, as far as it matters."""
    found = cursor.execute(_COUNT, {**asked, "bound": exact + 1}).fetchone()
    return int(found[0]) if found else 0


def _has_index(cursor: psycopg.Cursor[Row], space: str, model: int) -> bool:
    found = cursor.execute(
        "SELECT 1 FROM pg_index WHERE indexrelid = to_regclass(%s) AND indisvalid", (_name(space, model),)
    ).fetchone()
    return found is not None


def _owns(cursor: psycopg.Cursor[Row]) -> bool:
    found = cursor.execute(
        "SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('vectors')"
    ).fetchone()
    return found is not None and bool(found[0])


def _name(space: str, model: int) -> str:
    return f"vectors_near_{hashlib.sha256(space.encode()).hexdigest()[:12]}_{model}"


def _sent(vector: Any) -> bytes:
    """As pgvector sends and takes it: how many numbers, two empty bytes, the numbers."""
    import numpy as np

    return len(vector).to_bytes(2, "big") + b"\0\0" + np.asarray(vector, ">f2").tobytes()


def _written(vector: Any) -> str:
    import numpy as np

    return f"[{','.join(map(str, np.asarray(vector, np.float16).tolist()))}]"
