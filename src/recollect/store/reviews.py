"""Which decisions wait for a review, as ids and words: the session's start asks, and reads no decision whole."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.context import Tx


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
