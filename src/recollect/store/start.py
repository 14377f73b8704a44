"""What a session's start asks of the rows: due reviews, latest entries, proven learnings, binding decisions, wisdom.

It reads no record whole, because a session waits for it.
"""

from __future__ import annotations

import json

from recollect.core.records import record
from recollect.store.db import among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.context import Tx

TYPED_AMONG = 200  # latest entries among which those of a type are looked for
LOOKED_AT = 50  # of the latest decisions; those that are pinned among them come first


@record
class Told:
    """A log entry as a line of the brief needs it."""

    id: str
    title: str
    text: str
    at: int


def due(tx: Tx, *, now: int, otherwise_after: int) -> list[tuple[str, str]]:
    """Open decisions whose review is due, longest first; one without a date is due some time after it was made."""
    rows = tx.rows(
        """
        SELECT id, decision FROM decisions
        WHERE space = :space AND outcome IS NULL AND status = 'active'
          AND coalesce(review_at, decided_at + :after) <= :now
        ORDER BY coalesce(review_at, decided_at + :after), id""",
        now=now,
        after=otherwise_after,
    )
    return [(id, text) for id, text in rows]


def latest_entries(tx: Tx, limit: int) -> list[Told]:
    """The latest log entries that may be shown, newest first."""
    rows = tx.rows(
        "SELECT id, title, text, at FROM passages WHERE space = :space AND kind = 'log' AND trust <> 'external' "
        "ORDER BY at DESC, doc DESC LIMIT :limit",
        limit=limit,
    )
    return [Told(id=id, title=title, text=text, at=at) for id, title, text, at in rows]


def entries_of_types(tx: Tx, types: Sequence[str], *, limit: int, since: int = 0) -> list[Told]:
    """Of the latest log entries that may be shown those of some types, newest first."""
    rows = tx.rows(
        "SELECT doc, keywords FROM passages WHERE space = :space AND kind = 'log' AND at > :since "
        "AND trust <> 'external' ORDER BY at DESC, doc DESC LIMIT :limit",
        since=since,
        limit=TYPED_AMONG,
    )
    docs = [doc for doc, words in rows if words.partition(" ")[0] in types][:limit]  # the type is the first keyword
    found = among(tx, "SELECT doc, id, title, text, at FROM passages WHERE space = :space AND doc IN (:keys)", docs)
    told = {doc: Told(id=id, title=title, text=text, at=at) for doc, id, title, text, at in found}
    return [told[doc] for doc in docs]


def entries_of(tx: Tx, topic: str, limit: int) -> list[Told]:
    """The latest entries of a topic that may be shown, newest first."""
    rows = tx.rows(
        """
        SELECT p.id, p.title, p.text, p.at FROM topic_entries e
        JOIN passages p ON p.space = e.space AND p.id = e.entry_id AND p.trust <> 'external'
        WHERE e.space = :space AND e.topic_id = :topic ORDER BY e.at DESC, p.doc DESC LIMIT :limit""",
        topic=topic,
        limit=limit,
    )
    return [Told(id=id, title=title, text=text, at=at) for id, title, text, at in rows]


def proven(tx: Tx, limit: int) -> list[tuple[str, str, str, int, int]]:
    """Learnings that helped more often than they misled, by confidence times how often: id, title, action, both."""
    rows = tx.rows(
        """
        SELECT id, title, action, confidence, times_helpful FROM learnings
        WHERE space = :space AND times_helpful > 0 AND times_helpful > times_not_helpful AND status = 'active'
          AND trust <> 'external'
        ORDER BY confidence * times_helpful DESC, id LIMIT :limit""",
        limit=limit,
    )
    return [(id, title, action, confidence, helped) for id, title, action, confidence, helped in rows]


def by_person(tx: Tx, limit: int) -> list[tuple[str, str, str]]:
    """The latest learnings that a person wrote and that misled nobody: id, title, action."""
    rows = tx.rows(
        """
        SELECT id, title, action FROM learnings
        WHERE space = :space AND status = 'active' AND trust = 'human' AND times_not_helpful = 0
        ORDER BY created_at DESC, id LIMIT :limit""",
        limit=limit,
    )
    return [(id, title, action) for id, title, action in rows]


def binding(tx: Tx, *, now: int, but: Sequence[str], limit: int) -> list[tuple[str, str, str, int]]:
    """Active decisions that did not fail: pinned ones first, then the latest; id, decision, category, when."""
    rows = tx.rows(
        """
        SELECT id, decision, category, decided_at, preserve FROM decisions
        WHERE space = :space AND decided_at <= :now AND status = 'active' AND trust <> 'external'
          AND coalesce(outcome, 'success') IN ('success', 'partial')
        ORDER BY decided_at DESC, id LIMIT :limit""",
        now=now,
        limit=LOOKED_AT,
    )
    rows.sort(key=lambda row: -row[4])
    return [(id, said, category, at) for id, said, category, at, _ in rows if id not in but][:limit]


def principles(tx: Tx, *, now: int, limit: int) -> list[tuple[str, int]]:
    """What decisions taught, as the wisdom that is stored says it, and how many decisions confirm it."""
    stored = tx.rows("SELECT wisdom FROM decision_wisdom WHERE space = :space AND valid_until > :now", now=now)
    found = {
        principle["text"]: len(principle["ids"])
        for (wisdom,) in stored
        for category in json.loads(wisdom)
        for principle in category["principles"]
    }
    return sorted(found.items(), key=lambda item: (-item[1], item[0]))[:limit]
