"""Rows of where learnings came from: one more each time the same insight is captured again."""

from __future__ import annotations

from recollect.store.paging import among

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from recollect.core.context import Tx


def add(
    tx: Tx,
    learning: str,
    *,
    outcome: str | None,
    task: str | None,
    discovery: str | None,
    origin: str,
    trust: str,
    at: int,
) -> None:
    """One more place this insight came from."""
    tx.run(
        """
        INSERT INTO learning_sources
          (space, learning_id, position, outcome_id, task_id, discovery_id, origin, trust, at)
        SELECT :space, :learning, count(*) + 1, :outcome, :task, :discovery, :origin, :trust, :at
        FROM learning_sources WHERE space = :space AND learning_id = :learning""",
        learning=learning,
        outcome=outcome,
        task=task,
        discovery=discovery,
        origin=origin,
        trust=trust,
        at=at,
    )


def keep_first(tx: Tx, learning: str, *, count: int) -> None:
    """Drop the sources that were added after the first so many."""
    tx.run(
        "DELETE FROM learning_sources WHERE space = :space AND learning_id = :learning AND position > :count",
        learning=learning,
        count=count,
    )


def of(tx: Tx, learning: str) -> list[dict[str, Any]]:
    """Where a learning came from, first source first."""
    names = ("outcome_id", "task_id", "discovery_id", "origin", "trust", "at")
    where = "WHERE space = :space AND learning_id = :learning ORDER BY position"
    found = tx.rows(f"SELECT {', '.join(names)} FROM learning_sources {where}", learning=learning)
    return [dict(zip(names, row, strict=True)) for row in found]


def from_outcome(tx: Tx, learnings: Sequence[str], outcome: str) -> set[str]:
    """Those of some learnings that came up in an outcome, first or again."""
    where = "WHERE space = :space AND learning_id IN (:keys) AND outcome_id = :outcome"
    found = among(tx, f"SELECT learning_id FROM learning_sources {where}", learnings, outcome=outcome)
    return {id for (id,) in found}
