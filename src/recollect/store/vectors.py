"""Vectors beside passages: whose are there, whose wait, and which are nearest.

A passage has a vector for each of its pieces (`text/pieces.py` numbers them) and for each model that embedded it. They
are derived: they go with their passage, and are made again in the order of the passages' numbers, so that whatever is
newer than the newest one embedded still waits. How vectors are kept and compared is the engine's. Knows no model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from recollect.core.context import Tx
from recollect.core.record import record
from recollect.store import passages, rows
from recollect.store.paging import among

_REACHED = """(SELECT coalesce(max(v.doc), -1) FROM vectors v WHERE v.space = :space AND v.model = :number
  AND v.piece = 0)"""

_OF_ANOTHER_STATE = """
passages p JOIN vectors v ON v.doc = p.doc
WHERE p.space = :space AND (v.space <> p.space OR v.hash <> p.hash OR v.kind <> p.kind)"""
_PASSED_OVER = f"""
passages p WHERE p.space = :space AND p.doc < {_REACHED} AND NOT EXISTS (
  SELECT 1 FROM vectors o WHERE o.doc = p.doc AND o.model = :number AND o.piece = 0)"""


@record
class Waiting:
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
class Facts:
    """A model's number in a space, how long its vectors are, and when it was last seen in use, to the day."""

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


def waiting(tx: Tx, model: str, *, limit: int) -> list[Waiting]:
    """The oldest passages without vectors of a model."""
    columns = "doc, kind, title, who, text, hash"
    sql = f"SELECT {columns} FROM passages WHERE space = :space AND doc > {_REACHED} ORDER BY doc LIMIT :limit"
    found = tx.rows(sql, number=_number(tx, model) or 0, limit=limit)
    return [rows.record_from(Waiting, columns, row) for row in found]


def put(tx: Tx, model: str, made: Sequence[Embedded], *, at: int) -> int:
    """Keep the vectors of passages that are still what they were made of; how many those were."""
    sql = "SELECT doc, hash FROM passages WHERE space = :space AND doc IN (:keys)"
    current: dict[int, str] = dict(among(tx, sql, [one.doc for one in made]))
    fitting = [one for one in made if current.get(one.doc) == one.hash]
    if fitting:
        number = _used(tx, model, dimensions=len(fitting[0].pieces[0][1]), at=at)
        tx.vectors(number).put([(one.doc, one.kind, one.hash, one.pieces) for one in fitting])
    return len(fitting)


def facts(tx: Tx, model: str) -> Facts | None:
    """What is known of a model; None when it embedded nothing here."""
    row = tx.row(
        "SELECT number, dimensions, used_at FROM vector_models WHERE space = :space AND model = :model", model=model
    )
    return Facts(number=row[0], dimensions=row[1], used_at=row[2]) if row else None


def in_use(tx: Tx, model: str, *, at: int) -> None:
    """A model that nobody embeds with is forgotten some day; this one is not."""
    tx.run("UPDATE vector_models SET used_at = :at WHERE space = :space AND model = :model", model=model, at=at)


def unused(tx: Tx, *, since: int) -> list[str]:
    """Models that nobody embedded with since then."""
    sql = "SELECT model FROM vector_models WHERE space = :space AND used_at < :since ORDER BY model"
    return [model for (model,) in tx.rows(sql, since=since)]


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
        rows.add(tx, "vector_models", model=model, number=number, dimensions=dimensions, used_at=at)
    return number
