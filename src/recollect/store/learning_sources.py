"""Rows of where learnings came from: one more each time the same insight is captured again."""

from __future__ import annotations

from recollect.core.learning import LearningSource
from recollect.store.paging import among
from recollect.store.rows import record_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.context import Tx

_COLUMNS = "outcome_id, task_id, discovery_id, origin, trust, at"


def add(tx: Tx, learning: str, source: LearningSource) -> None:
    """One more place this insight came from."""
    tx.run(
        f"""
        INSERT INTO learning_sources (space, learning_id, position, {_COLUMNS})
        SELECT :space, :learning, count(*) + 1, :outcome_id, :task_id, :discovery_id, :origin, :trust, :at
        FROM learning_sources WHERE space = :space AND learning_id = :learning""",
        learning=learning,
        **vars(source),
    )


def keep_first(tx: Tx, learning: str, *, count: int) -> None:
    """Drop the sources that were added after the first so many."""
    tx.run(
        "DELETE FROM learning_sources WHERE space = :space AND learning_id = :learning AND position > :count",
        learning=learning,
        count=count,
    )


def of(tx: Tx, learning: str) -> list[LearningSource]:
    """Where a learning came from, first source first."""
    where = "WHERE space = :space AND learning_id = :learning ORDER BY position"
    found = tx.rows(f"SELECT {_COLUMNS} FROM learning_sources {where}", learning=learning)
    return [record_from(LearningSource, _COLUMNS, row) for row in found]


def from_outcome(tx: Tx, learnings: Sequence[str], outcome: str) -> set[str]:
    """Those of some learnings that came up in an outcome, first or again."""
    where = "WHERE space = :space AND learning_id IN (:keys) AND outcome_id = :outcome"
    found = among(tx, f"SELECT learning_id FROM learning_sources {where}", learnings, outcome=outcome)
    return {id for (id,) in found}
