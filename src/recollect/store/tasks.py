"""Rows of work: outcomes, tasks, discoveries, and injections with the verdicts on them.

Ids of outcomes and tasks come from the caller's tracker; their rows are created on first use. The counters of a
learning are updated in the same transaction as its injections and verdicts.
"""

from __future__ import annotations

from recollect.core.errors import NotFound
from recollect.core.learning import Discovery, Injection, Outcome, Task
from recollect.store import db
from recollect.store.db import add_row_once, columns_of, every, one, record_from, select, update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import TypeVar

    from recollect.core.choices import Verdict
    from recollect.core.context import Tx

    T = TypeVar("T")

_TABLES = {Outcome: "outcomes", Task: "tasks", Discovery: "discoveries", Injection: "injections"}


def ensure_outcome(tx: Tx, id: str, *, at: int, name: str = "", keep: bool = False) -> None:
    """Create an outcome; a later name replaces the old one, unless `keep`."""
    again = "NOTHING" if keep else "UPDATE SET name = excluded.name WHERE excluded.name <> ''"
    tx.run(
        f"""
        INSERT INTO outcomes (space, id, name, created_at) VALUES (:space, :id, :name, :at)
        ON CONFLICT (space, id) DO {again}""",
        id=id,
        name=name,
        at=at,
    )


def ensure_task(tx: Tx, id: str, *, outcome: str | None, at: int, title: str = "", keep: bool = False) -> None:
    """Create a task; a known one gets a missing outcome and another title, unless `keep`."""
    if outcome is not None:
        ensure_outcome(tx, outcome, at=at)
    again = (
        "NOTHING"
        if keep
        else """UPDATE SET
          outcome_id = coalesce(tasks.outcome_id, excluded.outcome_id),
          title = CASE WHEN excluded.title <> '' THEN excluded.title ELSE tasks.title END"""
    )
    tx.run(
        f"""
        INSERT INTO tasks (space, id, outcome_id, title, created_at) VALUES (:space, :id, :outcome, :title, :at)
        ON CONFLICT (space, id) DO {again}""",
        id=id,
        outcome=outcome,
        title=title,
        at=at,
    )


def known(tx: Tx, kind: type[T], id: str) -> T | None:
    return one(tx, kind, _TABLES[kind], "AND id = :id", id=id)


def get(tx: Tx, kind: type[T], id: str) -> T:
    found = known(tx, kind, id)
    if found is None:
        lists = "recollect task list" if kind is Task else f"recollect task {kind.__name__.lower()} list"
        raise NotFound(f"There is no {kind.__name__.lower()} {id}. List them with `{lists}`")
    return found


def all_of(tx: Tx, kind: type[T]) -> Iterator[T]:
    rows = every(tx, _TABLES[kind], columns_of(kind), key=2 if kind is Injection else 1)
    return (record_from(kind, row) for row in rows)


def page(tx: Tx, kind: type[T], *, limit: int, offset: int, **wanted: str | None) -> tuple[list[T], int]:
    """A page of outcomes, tasks or discoveries with these values, newest first, and their number in all."""
    table = _TABLES[kind]
    given = {name: value for name, value in wanted.items() if value is not None}
    where = "".join(f" AND {name} = :{name}" for name in given)
    names, order = columns_of(kind), "created_at DESC, id"
    found, total = db.page(tx, table, names, where, order, limit=limit, offset=offset, **given)
    return [record_from(kind, row) for row in found], total


def add_discovery(tx: Tx, discovery: Discovery, *, digest: str) -> bool:
    """False when this task already reported the same discovery."""
    return add_row_once(tx, "discoveries", "task_id, hash", **vars(discovery), hash=digest)


def abandoned_discovery(tx: Tx, task: str, digest: str, *, before: int) -> Discovery | None:
    """The discovery with this content, if it is older than `before` and was never settled."""
    where = (
        "AND task_id = :task AND hash = :digest AND learning_id IS NULL AND skipped IS NULL AND created_at < :before"
    )
    return one(tx, Discovery, "discoveries", where, task=task, digest=digest, before=before)


def settle_discovery(tx: Tx, id: str, *, learning: str | None, skipped: str | None) -> None:
    """Record the learning that a discovery became, or why it became none."""
    update(tx, "discoveries", {"id": id}, learning_id=learning, skipped=skipped)


def record_injection(tx: Tx, *, learning: str, task: str, outcome: str, at: int) -> bool:
    """True the first time a learning is shown to a task. The spool may bring one that is older than the last use."""
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
    """The verdict so far and its effect in thousandths; None without an injection."""
    row = tx.row(
        """
        SELECT feedback, coalesce(feedback_delta, 0) FROM injections
        WHERE space = :space AND learning_id = :learning AND task_id = :task""",
        learning=learning,
        task=task,
    )
    return (row[0], row[1]) if row else None


def judged_beside(tx: Tx, learning: str, task: str) -> bool:
    """Whether another task of the session (a subagent, or its caller) has a verdict on a learning."""
    sql = """
        SELECT count(*) FROM injections a JOIN injections b
        ON b.space = a.space AND b.learning_id = a.learning_id AND b.outcome_id = a.outcome_id
        JOIN host_sessions s ON s.space = a.space AND s.id = a.outcome_id
        WHERE a.space = :space AND a.learning_id = :learning AND a.task_id = :task AND b.feedback IS NOT NULL"""
    return bool(tx.value(sql, learning=learning, task=task))


def set_verdict(tx: Tx, *, learning: str, task: str, verdict: Verdict | None, delta: int, trust: str, at: int) -> None:
    values = {"feedback": verdict, "feedback_at": at, "feedback_delta": delta, "feedback_trust": trust}
    update(tx, "injections", {"learning_id": learning, "task_id": task}, **values)


def injections_of_task(tx: Tx, task: str) -> list[Injection]:
    return select(tx, Injection, "injections", "AND task_id = :task ORDER BY injected_at, learning_id", task=task)


def injections_of_learning(tx: Tx, learning: str) -> list[Injection]:
    where = "AND learning_id = :learning ORDER BY injected_at DESC, task_id"
    return select(tx, Injection, "injections", where, learning=learning)


def latest_injections(tx: Tx, *, limit: int, offset: int = 0) -> list[Injection]:
    order = "ORDER BY injected_at DESC, task_id, learning_id LIMIT :limit OFFSET :offset"
    return select(tx, Injection, "injections", order, limit=limit, offset=offset)
