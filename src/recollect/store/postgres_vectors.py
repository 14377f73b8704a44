"""Vectors on a server: pgvector's half floats, compared there.

A space is searched exactly until it has `EXACT` pieces; from then on it gets an index of its own. An index over all
spaces would walk through the neighbours' vectors and may come back with nothing of ours.
Needs numpy, which comes with the embedder.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any

import numpy as np
from psycopg import sql

if TYPE_CHECKING:
    from collections.abc import Sequence

    import psycopg

    from recollect.core.context import Row
    from recollect.store.db import Entry
    from recollect.store.postgres import PostgresDb

EXACT = 50_000  # pieces of a space that are compared one by one
MOST_EXPLORED = 1000  # pgvector's own bound on how many neighbours one walk keeps

_PUT = """
INSERT INTO vectors (doc, model, piece, space, kind, hash, vector) VALUES (%s, %s, %s, %s, %s, %s, %s::halfvec)
ON CONFLICT (doc, model, piece) DO UPDATE SET hash = excluded.hash, vector = excluded.vector"""
_OF = """
SELECT doc, piece, halfvec_send(vector) FROM vectors WHERE doc = ANY(%s) AND model = %s AND space = %s"""
_COUNT = """
SELECT count(*) FROM (SELECT FROM vectors WHERE space = %(space)s AND model = %(model)s
  AND (%(kinds)s::text[] = '{}' OR kind = ANY(%(kinds)s)) LIMIT %(bound)s) AS some"""
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
CREATE INDEX CONCURRENTLY {name} ON vectors USING hnsw ((vector::halfvec({dimensions})) halfvec_ip_ops)
WHERE space = {space} AND model = {model}"""


def put(cursor: psycopg.Cursor[Row], space: str, model: int, entries: Sequence[Entry]) -> None:
    cursor.executemany(
        _PUT,
        [
            (doc, model, piece, space, kind, digest, _written(vector))
            for doc, kind, digest, pieces in entries
            for piece, vector in pieces
        ],
    )


def nearest(
    connection: psycopg.Connection[Row], space: str, model: int, vector: Any, *, limit: int, kinds: Sequence[str]
) -> list[tuple[int, int, float]]:
    with connection.cursor(binary=True) as cursor:
        asked = {"space": space, "model": model, "kinds": list(kinds), "vector": _written(vector), "limit": limit}
        if _has_index(cursor, space, model) and _many(cursor, asked):
            found = _walked(cursor, asked, len(vector))
        else:
            found = cursor.execute(_COMPARE, asked).fetchall()
    return sorted(found, key=lambda row: (-row[2], row[0], row[1]))


def of(connection: psycopg.Connection[Row], space: str, model: int, docs: Sequence[int]) -> list[tuple[int, int, Any]]:
    with connection.cursor(binary=True) as cursor:
        found = cursor.execute(_OF, (list(docs), model, space)).fetchall()
    # Sent as two counts of two bytes each, then the halves.
    return [(doc, piece, np.frombuffer(sent, ">f2", offset=4).astype(np.float32)) for doc, piece, sent in found]


def index_if_large(db: PostgresDb, space: str, model: int, dimensions: int) -> str:
    """Make a large space its index, without stopping anybody; says what it did, or who may do it."""
    name = _name(space, model)
    with db.plain() as connection:
        cursor = connection.cursor()
        asked: dict[str, Any] = {"space": space, "model": model, "kinds": []}
        if _has_index(cursor, space, model) or not _many(cursor, asked):
            return ""
        if not _owns(cursor):
            return "an administrator can make it faster: recollect db init"
        # One that was interrupted is there and of no use.
        cursor.execute(sql.SQL("DROP INDEX IF EXISTS {}").format(sql.Identifier(name)))
        cursor.execute(
            sql.SQL(_INDEX).format(
                name=sql.Identifier(name), dimensions=sql.Literal(dimensions), space=sql.Literal(space),
                model=sql.Literal(model),
            )
        )  # fmt: skip
    return f"index {name}"


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


def _many(cursor: psycopg.Cursor[Row], asked: dict[str, Any]) -> bool:
    found = cursor.execute(_COUNT, {**asked, "bound": EXACT + 1}).fetchone()
    return found is not None and found[0] > EXACT


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


def _written(vector: Any) -> str:
    return f"[{','.join(map(str, np.asarray(vector, np.float16).tolist()))}]"
