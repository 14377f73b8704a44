"""Outcomes, tasks and discoveries: where learnings come from and where they go."""

from __future__ import annotations

from recollect.core.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.choices import DiscoveryType


@record
class Outcome:
    """What a piece of work is for; hosts use the session."""

    id: str
    name: str
    created_at: int


@record
class Task:
    """One unit of work inside an outcome."""

    id: str
    outcome_id: str | None
    title: str
    created_at: int


@record
class Discovery:
    """What an observer saw in a finished task; `learning_id` is what became of it, else `skipped` says why."""

    id: str
    type: DiscoveryType
    content: str
    task_id: str
    outcome_id: str | None
    created_at: int
    learning_id: str | None = None
    skipped: str | None = None
