"""Rows of learnings, their tags and their sources: one more source each time the same insight is captured."""

from __future__ import annotations

from recollect.core.errors import NotFound
from recollect.core.learning import Learning, LearningSource
from recollect.core.records import Passage, check_choice, decimal, made, record
from recollect.store import db, passages
from recollect.store.db import PAGE, among, columns_of, every, select, update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from recollect.core.context import Row, Tx


def add_source(tx: Tx, learning: str, source: LearningSource) -> None:
    tx.run(
        f"""
        INSERT INTO learning_sources (space, learning_id, position, {columns_of(LearningSource)})
        SELECT :space, :learning, count(*) + 1, :outcome_id, :task_id, :discovery_id, :origin, :trust, :at
        FROM learning_sources WHERE space = :space AND learning_id = :learning""",
        learning=learning,
        **vars(source),
    )


def keep_first_sources(tx: Tx, learning: str, *, count: int) -> None:
    tx.run(
        "DELETE FROM learning_sources WHERE space = :space AND learning_id = :learning AND position > :count",
        learning=learning,
        count=count,
    )


def sources_of(tx: Tx, learning: str) -> list[LearningSource]:
    where = "AND learning_id = :learning ORDER BY position"
    return select(tx, LearningSource, "learning_sources", where, learning=learning)


def from_outcome(tx: Tx, learnings: Sequence[str], outcome: str) -> set[str]:
    """Those of some learnings that have a source in an outcome."""
    where = "WHERE space = :space AND learning_id IN (:keys) AND outcome_id = :outcome"
    found = among(tx, f"SELECT learning_id FROM learning_sources {where}", learnings, outcome=outcome)
    return {id for (id,) in found}


KIND = "learning"
_NAMES = tuple(name for name in Learning.__annotations__ if name != "tags")
_COLUMNS = ", ".join(_NAMES)
_EDITED = (
    "title, context, observation, implication, action, domain, pattern_type, confidence, recurrence, status, "
    "superseded_by, pinned, trust, version, updated_at"
).split(", ")
_STATE = "l.id, l.status, l.confidence, l.domain, l.source_outcome_id, l.trust"

SORTS = {
    "newest": "created_at DESC, id",
    "oldest": "created_at, id",
    "confidence": "confidence DESC, created_at DESC, id",
    "helpful": "times_helpful DESC, confidence DESC, id",
    "injected": "times_injected DESC, confidence DESC, id",
    "title": "title, id",
}


@record
class Filter:
    """None means any. The case of `domain` does not matter."""

    status: str | None = "active"
    domain: str | None = None
    min_confidence: int = 0
    exclude_outcome: str | None = None
    trusts: tuple[str, ...] | None = None


def insert(tx: Tx, learning: Learning) -> None:
    insert_all(tx, [learning])


def insert_all(tx: Tx, learnings: Sequence[Learning]) -> None:
    """Written table by table: a thousand rows of one kind are far faster than in turns."""
    tx.run_many(db.insertion("learnings", _NAMES), map(_values, learnings))
    db.write_tags(tx, KIND, {learning.id: learning.tags for learning in learnings})
    passages.add_all(tx, [passage_of(learning) for learning in learnings])


def _values(learning: Learning) -> dict[str, Any]:
    return {**vars(learning), "confidence": round(learning.confidence * 1000), "pinned": int(learning.pinned)}


def get(tx: Tx, id: str) -> Learning:
    found = many(tx, [id])
    if not found:
        raise NotFound(f"There is no learning {id}. List the learnings with `recollect learn list --status all`")
    return found[0]


def many(tx: Tx, ids: Sequence[str]) -> list[Learning]:
    """Learnings by id, in the order asked for; unknown ids are left out."""
    tags = db.tags_of(tx, KIND, ids)
    rows = among(tx, f"SELECT {_COLUMNS} FROM learnings WHERE space = :space AND id IN (:keys)", ids)
    found = {row[0]: _learning(row, tags.get(row[0], [])) for row in rows}
    return [found[id] for id in ids if id in found]


def listed(
    tx: Tx,
    *,
    status: str | None = "active",
    domain: str | None = None,
    tag: str | None = None,
    min_confidence: int = 0,
    sort: str = "newest",
    limit: int,
    offset: int = 0,
) -> tuple[list[Learning], int]:
    """A page of learnings and their number in all; None means any, the case of `domain` does not matter."""
    where = " AND confidence >= :min_confidence"
    params: dict[str, Any] = {"min_confidence": min_confidence}
    if status is not None:
        where += " AND status = :status"
        params["status"] = status
    if domain is not None:
        # Engines differ in what the lower case of a letter is.
        every_one = tx.rows("SELECT domain FROM learnings WHERE space = :space AND domain IS NOT NULL GROUP BY domain")
        spelt = {f"domain{i}": known for i, (known,) in enumerate(every_one) if _same_word(known, domain)}
        where += f" AND domain IN ({', '.join(f':{name}' for name in spelt) or 'NULL'})"
        params |= spelt
    if tag is not None:
        where += " AND id IN (SELECT learning_id FROM learning_tags WHERE space = :space AND tag = :tag)"
        params["tag"] = tag
    ids, total = db.page(tx, "learnings", "id", where, SORTS[sort], limit=limit, offset=offset, **params)
    return many(tx, [id for (id,) in ids]), total


def in_order(tx: Tx, ids: Sequence[str], *, sort: str) -> list[Learning]:
    order = checked_sort(sort)
    keys = {f"key{number}": id for number, id in enumerate(ids)}  # in one statement, or the order would not hold
    within = ", ".join(f":{name}" for name in keys) or "NULL"
    sql = f"SELECT id FROM learnings WHERE space = :space AND id IN ({within}) ORDER BY {order}"
    return many(tx, [id for (id,) in tx.rows(sql, **keys)])


def checked_sort(sort: str) -> str:
    check_choice(sort, "sort", SORTS)
    return SORTS[sort]


@record
class Facets:
    """The commonest domains and tags of active learnings, each with its count."""

    domains: tuple[tuple[str, int], ...]
    tags: tuple[tuple[str, int], ...]


def facets(tx: Tx, *, limit: int = 20) -> Facets:
    domains = tx.rows(
        "SELECT domain, count(*) FROM learnings WHERE space = :space AND status = 'active' AND domain IS NOT NULL "
        "GROUP BY domain ORDER BY 2 DESC, 1 LIMIT :limit",
        limit=limit,
    )
    tags = tx.rows(
        "SELECT tag, count(*) FROM learning_tags WHERE space = :space GROUP BY tag ORDER BY 2 DESC, 1 LIMIT :limit",
        limit=limit,
    )
    return Facets(domains=tuple(map(tuple, domains)), tags=tuple(map(tuple, tags)))


def _same_word(one: str, other: str) -> bool:
    return one.casefold() == other.strip().casefold()


def all_of(tx: Tx) -> Iterator[Learning]:
    """Every learning by id; a successor comes before what it replaced wherever one step suffices."""
    for superseded in ("", "NOT "):
        ids: list[str] = []
        for (id,) in every(tx, "learnings", "id", where=f" AND superseded_by IS {superseded}NULL"):
            ids.append(id)
            if len(ids) == PAGE:
                yield from many(tx, ids)
                ids = []
        yield from many(tx, ids)


def ids(tx: Tx) -> list[str]:
    return [id for (id,) in every(tx, "learnings", "id")]


def passing(tx: Tx, ids: Sequence[str], wanted: Filter) -> dict[str, int]:
    """Those of `ids` that pass a filter, with their confidence. By key alone: a planner may prefer a worse index."""
    found = among(tx, f"SELECT {_STATE} FROM learnings l WHERE l.space = :space AND l.id IN (:keys)", ids)
    passed = {row[0]: row[2] for row in found if _passes(row, wanted)}
    if wanted.exclude_outcome is not None:
        for id in from_outcome(tx, list(passed), wanted.exclude_outcome):
            del passed[id]
    return passed


def confidences_of(tx: Tx, docs: Sequence[int], wanted: Filter) -> dict[int, int]:
    """Of passages by index number, those whose learning passes a filter, with its confidence.

    Only a learning's first outcome is compared; for the few that are chosen, `learning_sources` tells the others.
    """
    sql = (
        f"SELECT {_STATE}, p.doc FROM passages p JOIN learnings l ON l.space = p.space AND l.id = p.id "
        "WHERE p.space = :space AND p.doc IN (:keys)"
    )
    return {doc: row[2] for *row, doc in among(tx, sql, docs) if _passes(row, wanted)}


def _passes(row: Sequence[Any], wanted: Filter) -> bool:
    _, status, confidence, domain, outcome, trust = row
    return (
        (wanted.status is None or status == wanted.status)
        and confidence >= wanted.min_confidence
        and (wanted.domain is None or _same_word(domain or "", wanted.domain))
        and (wanted.exclude_outcome is None or outcome != wanted.exclude_outcome)
        and (wanted.trusts is None or trust in wanted.trusts)
    )


def save(tx: Tx, learning: Learning, *, expect: int) -> None:
    values = _values(learning)
    db.save(tx, "learnings", learning.id, expect=expect, **{name: values[name] for name in _EDITED})
    db.write_tags(tx, KIND, {learning.id: learning.tags})
    passages.put(tx, passage_of(learning))


def last_used(learning: Learning) -> int:
    """Decay counts from here: the last use, or the end of the last decay."""
    return max(learning.created_at, learning.last_injected_at or 0, learning.last_decayed_at or 0)


def unused_since(tx: Tx, before: int) -> list[str]:
    rows = tx.rows(
        """
        SELECT id FROM learnings WHERE space = :space AND status = 'active' AND pinned = 0 AND created_at <= :before
          AND coalesce(last_injected_at, 0) <= :before AND coalesce(last_decayed_at, 0) <= :before
        ORDER BY id""",
        before=before,
    )
    return [row[0] for row in rows]


def set_decayed(tx: Tx, id: str, *, stored: int, until: int) -> None:
    update(tx, "learnings", {"id": id}, confidence=stored, last_decayed_at=until)


def count_active(tx: Tx) -> int:
    return db.count(tx, "learnings", "AND status = 'active'")


def count_recurrence(tx: Tx, id: str, *, at: int) -> None:
    """Count another capture of the same insight; not an edit, so open edits stay valid."""
    tx.run(
        "UPDATE learnings SET recurrence = recurrence + 1, updated_at = :at WHERE space = :space AND id = :id",
        id=id,
        at=at,
    )


def count_verdict(tx: Tx, id: str, *, helpful: int, not_helpful: int, stored: int, at: int) -> None:
    """Change counters and confidence together; `helpful` and `not_helpful` are steps."""
    tx.run(
        """
        UPDATE learnings SET confidence = :stored, times_helpful = times_helpful + :helpful,
          times_not_helpful = times_not_helpful + :not_helpful,
          updated_at = CASE WHEN updated_at > :at THEN updated_at ELSE :at END,
          last_helpful_at = CASE WHEN :helpful > 0 AND coalesce(last_helpful_at, 0) < :at THEN :at
            ELSE last_helpful_at END
        WHERE space = :space AND id = :id""",
        id=id,
        helpful=helpful,
        not_helpful=not_helpful,
        stored=stored,
        at=at,
    )


def set_origin(tx: Tx, id: str, origin: str) -> None:
    update(tx, "learnings", {"id": id}, origin=origin)


def of_discovery(tx: Tx, discovery: str) -> Learning | None:
    """The learning that a discovery became, or was merged into."""
    id = tx.value(
        "SELECT min(learning_id) FROM learning_sources WHERE space = :space AND discovery_id = :discovery",
        discovery=discovery,
    )
    return get(tx, id) if id else None


def passage_of(learning: Learning) -> Passage:
    return Passage(
        id=learning.id,
        kind=KIND,
        title=learning.title,
        lines=learning.fields,
        keywords=learning.tags,
        at=learning.created_at,
        trust=learning.trust,
    )


def _learning(row: Row, tags: list[str]) -> Learning:
    values = dict(zip(_NAMES, row, strict=True))
    values["confidence"] = decimal(values["confidence"])
    values["pinned"] = bool(values["pinned"])
    values["tags"] = tuple(tags)
    return made(Learning, values)
