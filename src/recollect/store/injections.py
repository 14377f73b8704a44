"""Rows of injections and the verdicts on them. The counters on a learning are bumped in the same transaction."""

from __future__ import annotations

from recollect.core.learning import Injection
from recollect.store.paging import every
from recollect.store.rows import add_once, record_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.core.choices import Verdict
    from recollect.core.context import Row, Tx

_COLUMNS = "learning_id, task_id, outcome_id, injected_at, feedback, feedback_at"


def record(tx: Tx, *, learning: str, task: str, outcome: str, at: int) -> bool:
    """True the first time a learning is shown to a task; showing it again is the same injection.

    The spool may bring an injection that is older than the last: the time of the last use only moves forward.
    """
    values = {"learning_id": learning, "task_id": task, "outcome_id": outcome, "injected_at": at}
    fresh = add_once(tx, "injections", "learning_id, task_id", **values)
    if not fresh:
        return False
    tx.run(
        """
        UPDATE learnings SET times_injected = times_injected + 1,
          last_injected_at = CASE WHEN last_injected_at > :at THEN last_injected_at ELSE :at END
        WHERE space = :space AND id = :learning""",
        learning=learning,
        at=at,
    )
    return True


def verdict_on(tx: Tx, *, learning: str, task: str) -> tuple[Verdict | None, int] | None:
    """The verdict so far and what it moved (thousandths); None when it was never injected there."""
    row = tx.row(
        """
        SELECT feedback, coalesce(feedback_delta, 0) FROM injections
        WHERE space = :space AND learning_id = :learning AND task_id = :task""",
        learning=learning,
        task=task,
    )
    return (row[0], row[1]) if row else None


def set_verdict(tx: Tx, *, learning: str, task: str, verdict: Verdict, delta: int, trust: str, at: int) -> None:
    tx.run(
        """
        UPDATE injections SET feedback = :verdict, feedback_at = :at, feedback_delta = :delta, feedback_trust = :trust
        WHERE space = :space AND learning_id = :learning AND task_id = :task""",
        learning=learning,
        task=task,
        verdict=verdict,
        delta=delta,
        trust=trust,
        at=at,
    )


def of_task(tx: Tx, task: str) -> list[Injection]:
    """In the order they were shown."""
    sql = (
        f"SELECT {_COLUMNS} FROM injections WHERE space = :space AND task_id = :task ORDER BY injected_at, learning_id"
    )
    return [_injection(row) for row in tx.rows(sql, task=task)]


def of_learning(tx: Tx, learning: str) -> list[Injection]:
    """Newest first."""
    sql = (
        f"SELECT {_COLUMNS} FROM injections WHERE space = :space AND learning_id = :learning "
        "ORDER BY injected_at DESC, task_id"
    )
    return [_injection(row) for row in tx.rows(sql, learning=learning)]


def latest(tx: Tx, *, limit: int, offset: int = 0) -> list[Injection]:
    """Newest first, over all tasks."""
    sql = (
        f"SELECT {_COLUMNS} FROM injections WHERE space = :space "
        "ORDER BY injected_at DESC, task_id, learning_id LIMIT :limit OFFSET :offset"
    )
    return [_injection(row) for row in tx.rows(sql, limit=limit, offset=offset)]


def all_of(tx: Tx) -> Iterator[Injection]:
    """Every injection, by learning and task."""
    return (_injection(row) for row in every(tx, "injections", _COLUMNS, key=2))


def _injection(row: Row) -> Injection:
    return record_from(Injection, _COLUMNS, row)
