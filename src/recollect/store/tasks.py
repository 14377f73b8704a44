"""Rows of outcomes, tasks and discoveries. Ids come from the caller's tracker and are created on first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.errors import NotFound
from recollect.core.task import Discovery, Outcome, Task

if TYPE_CHECKING:
    from recollect.core.context import Tx

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
    row = tx.row("SELECT id, outcome_id, title, created_at FROM tasks WHERE space = :space AND id = :id", id=id)
    if row is None:
        raise NotFound(f"no task {id} here")
    return Task(id=row[0], outcome_id=row[1], title=row[2], created_at=row[3])


def outcome(tx: Tx, id: str) -> Outcome:
    row = tx.row("SELECT id, name, created_at FROM outcomes WHERE space = :space AND id = :id", id=id)
    if row is None:
        raise NotFound(f"no outcome {id} here")
    return Outcome(id=row[0], name=row[1], created_at=row[2])


def tasks(tx: Tx, *, outcome: str | None, limit: int) -> list[Task]:
    """Newest first."""
    where = " AND outcome_id = :outcome" if outcome is not None else ""
    params = {"outcome": outcome} if outcome is not None else {}
    rows = tx.rows(
        f"SELECT id, outcome_id, title, created_at FROM tasks WHERE space = :space{where} "
        "ORDER BY created_at DESC, id LIMIT :limit",
        limit=limit,
        **params,
    )
    return [Task(id=row[0], outcome_id=row[1], title=row[2], created_at=row[3]) for row in rows]


def outcomes(tx: Tx, *, limit: int) -> list[Outcome]:
    """Newest first."""
    rows = tx.rows(
        "SELECT id, name, created_at FROM outcomes WHERE space = :space ORDER BY created_at DESC, id LIMIT :limit",
        limit=limit,
    )
    return [Outcome(id=row[0], name=row[1], created_at=row[2]) for row in rows]


def add_discovery(tx: Tx, discovery: Discovery, *, digest: str) -> bool:
    """Keep a raw discovery; False when this task already reported the same."""
    return bool(
        tx.rows(
            """
            INSERT INTO discoveries (space, id, type, content, hash, task_id, outcome_id, created_at)
            VALUES (:space, :id, :type, :content, :digest, :task, :outcome, :at)
            ON CONFLICT (space, task_id, hash) DO NOTHING RETURNING id""",
            id=discovery.id,
            type=discovery.type,
            content=discovery.content,
            digest=digest,
            task=discovery.task_id,
            outcome=discovery.outcome_id,
            at=discovery.created_at,
        )
    )


def settle_discovery(tx: Tx, id: str, *, learning: str | None, skipped: str | None) -> None:
    """Say what became of a discovery."""
    tx.run(
        "UPDATE discoveries SET learning_id = :learning, skipped = :skipped WHERE space = :space AND id = :id",
        id=id,
        learning=learning,
        skipped=skipped,
    )


def discoveries(tx: Tx, *, task: str | None, limit: int) -> list[Discovery]:
    """Newest first."""
    where = " AND task_id = :task" if task is not None else ""
    params = {"task": task} if task is not None else {}
    rows = tx.rows(
        f"SELECT {_DISCOVERY} FROM discoveries WHERE space = :space{where} ORDER BY created_at DESC, id LIMIT :limit",
        limit=limit,
        **params,
    )
    names = _DISCOVERY.split(", ")
    return [Discovery(**dict(zip(names, row, strict=True))) for row in rows]
