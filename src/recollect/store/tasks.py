"""Rows of work: outcomes, tasks, discoveries, and injections with the verdicts on them.

Ids of outcomes and tasks come from the caller's tracker; their rows are created on first use. The counters of a
learning are updated in the same transaction as its injections and verdicts.
"""

from __future__ import annotations

from recollect.core.errors import NotFound
from recollect.core.learning import Discovery, Injection, Outcome, Task
from recollect.store.db import add_row_once, every, record_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from recollect.core.choices import Verdict
    from recollect.core.context import Row, Tx

_OUTCOME = "id, name, created_at"
_TASK = "id, outcome_id, title, created_at"
_DISCOVERY = "id, type, content, task_id, outcome_id, created_at, learning_id, skipped"


def ensure_outcome(tx: Tx, id: str, *, at: int, name: str = "") -> None:
    """Known from now on; a name given later fills an empty one."""
    tx.run(
        """
        INSERT INTO outcomes (space, id, name, created_at) VALUES (:space, :id, :name, :at)
        ON CONFLICT (space, id) DO UPDATE SET name = excluded.name WHERE excluded.name <> ''""",
        id=id,
        name=name,
        at=at,
    )


def ensure_task(tx: Tx, id: str, *, outcome: str | None, at: int, title: str = "") -> None:
    """Known from now on; an outcome or title given later fills an empty one."""
    if outcome is not None:
        ensure_outcome(tx, outcome, at=at)
    tx.run(
        """
        INSERT INTO tasks (space, id, outcome_id, title, created_at) VALUES (:space, :id, :outcome, :title, :at)
        ON CONFLICT (space, id) DO UPDATE SET
          outcome_id = coalesce(tasks.outcome_id, excluded.outcome_id),
          title = CASE WHEN excluded.title <> '' THEN excluded.title ELSE tasks.title END""",
        id=id,
        outcome=outcome,
        title=title,
        at=at,
    )


def task(tx: Tx, id: str) -> Task:
    found = known_task(tx, id)
    if found is None:
        raise NotFound(f"There is no task {id}. List the tasks with `recollect task list`")
    return found


def outcome(tx: Tx, id: str) -> Outcome:
    found = known_outcome(tx, id)
    if found is None:
        raise NotFound(f"There is no outcome {id}. List the outcomes with `recollect task outcome list`")
    return found


def known_task(tx: Tx, id: str) -> Task | None:
    row = tx.row(f"SELECT {_TASK} FROM tasks WHERE space = :space AND id = :id", id=id)
    return record_from(Task, _TASK, row) if row else None


def known_outcome(tx: Tx, id: str) -> Outcome | None:
    row = tx.row(f"SELECT {_OUTCOME} FROM outcomes WHERE space = :space AND id = :id", id=id)
    return record_from(Outcome, _OUTCOME, row) if row else None


def known_discovery(tx: Tx, id: str) -> Discovery | None:
    row = tx.row(f"SELECT {_DISCOVERY} FROM discoveries WHERE space = :space AND id = :id", id=id)
    return record_from(Discovery, _DISCOVERY, row) if row else None


def tasks(tx: Tx, *, outcome: str | None, limit: int, offset: int) -> tuple[list[Task], int]:
    """A page of tasks, newest first, and how many there are in all."""
    where = " AND outcome_id = :outcome" if outcome is not None else ""
    rows, total = _page(tx, "tasks", _TASK, where, outcome=outcome, limit=limit, offset=offset)
    return [record_from(Task, _TASK, row) for row in rows], total


def outcomes(tx: Tx, *, limit: int, offset: int) -> tuple[list[Outcome], int]:
    """The same of outcomes."""
    rows, total = _page(tx, "outcomes", _OUTCOME, "", limit=limit, offset=offset)
    return [record_from(Outcome, _OUTCOME, row) for row in rows], total


def discoveries(tx: Tx, *, task: str | None, limit: int, offset: int) -> tuple[list[Discovery], int]:
    """The same of discoveries."""
    where = " AND task_id = :task" if task is not None else ""
    rows, total = _page(tx, "discoveries", _DISCOVERY, where, task=task, limit=limit, offset=offset)
    return [record_from(Discovery, _DISCOVERY, row) for row in rows], total


def _page(tx: Tx, table: str, columns: str, where: str, **params: Any) -> tuple[list[Row], int]:
    found = f"FROM {table} WHERE space = :space{where}"
    rows = tx.rows(f"SELECT {columns} {found} ORDER BY created_at DESC, id LIMIT :limit OFFSET :offset", **params)
    return rows, int(tx.value(f"SELECT count(*) {found}", **params))


def add_discovery(tx: Tx, discovery: Discovery, *, digest: str) -> bool:
    """Keep a raw discovery; False when this task already reported the same."""
    return add_row_once(tx, "discoveries", "task_id, hash", **vars(discovery), hash=digest)


def abandoned_discovery(tx: Tx, task: str, digest: str, *, before: int) -> Discovery | None:
    """The discovery with this content, when it is that old and still nobody said what became of it."""
    row = tx.row(
        f"SELECT {_DISCOVERY} FROM discoveries WHERE space = :space AND task_id = :task AND hash = :digest "
        "AND learning_id IS NULL AND skipped IS NULL AND created_at < :before",
        task=task,
        digest=digest,
        before=before,
    )
    return record_from(Discovery, _DISCOVERY, row) if row else None


def settle_discovery(tx: Tx, id: str, *, learning: str | None, skipped: str | None) -> None:
    """Say what became of a discovery."""
    tx.run(
        "UPDATE discoveries SET learning_id = :learning, skipped = :skipped WHERE space = :space AND id = :id",
        id=id,
        learning=learning,
        skipped=skipped,
    )


def all_outcomes(tx: Tx) -> Iterator[Outcome]:
    """Every outcome by id."""
    return (record_from(Outcome, _OUTCOME, row) for row in every(tx, "outcomes", _OUTCOME))


def all_tasks(tx: Tx) -> Iterator[Task]:
    """Every task by id."""
    return (record_from(Task, _TASK, row) for row in every(tx, "tasks", _TASK))


def all_discoveries(tx: Tx) -> Iterator[Discovery]:
    """Every discovery by id."""
    return (record_from(Discovery, _DISCOVERY, row) for row in every(tx, "discoveries", _DISCOVERY))


_COLUMNS = "learning_id, task_id, outcome_id, injected_at, feedback, feedback_at"


def record_injection(tx: Tx, *, learning: str, task: str, outcome: str, at: int) -> bool:
    """True the first time a learning is shown to a task; showing it again is the same injection.

    The spool may bring an injection that is older than the last: the time of the last use only moves forward.
    """
    values = {"learning_id": learning, "task_id": task, "outcome_id": outcome, "injected_at": at}
    fresh = add_row_once(tx, "injections", "learning_id, task_id", **values)
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


def injections_of_task(tx: Tx, task: str) -> list[Injection]:
    """In the order they were shown."""
    sql = (
        f"SELECT {_COLUMNS} FROM injections WHERE space = :space AND task_id = :task ORDER BY injected_at, learning_id"
    )
    return [_injection(row) for row in tx.rows(sql, task=task)]


def injections_of_learning(tx: Tx, learning: str) -> list[Injection]:
    """Newest first."""
    sql = (
        f"SELECT {_COLUMNS} FROM injections WHERE space = :space AND learning_id = :learning "
        "ORDER BY injected_at DESC, task_id"
    )
    return [_injection(row) for row in tx.rows(sql, learning=learning)]


def latest_injections(tx: Tx, *, limit: int, offset: int = 0) -> list[Injection]:
    """Newest first, over all tasks."""
    sql = (
        f"SELECT {_COLUMNS} FROM injections WHERE space = :space "
        "ORDER BY injected_at DESC, task_id, learning_id LIMIT :limit OFFSET :offset"
    )
    return [_injection(row) for row in tx.rows(sql, limit=limit, offset=offset)]


def all_injections(tx: Tx) -> Iterator[Injection]:
    """Every injection, by learning and task."""
    return (_injection(row) for row in every(tx, "injections", _COLUMNS, key=2))


def _injection(row: Row) -> Injection:
    return record_from(Injection, _COLUMNS, row)
