"""The facet of work: outcomes, tasks, discoveries, and what tasks were shown."""

from __future__ import annotations

from recollect.core.context import Context
from recollect.core.learning import Injection
from recollect.core.limits import check_limit
from recollect.core.task import Discovery, Outcome, Task
from recollect.store import injections, tasks
from recollect.text.kept import kept, kept_id


class Work:
    """Reads what trackers and hosts told us; names an outcome or task before it is used."""

    def __init__(self, context: Context):
        self._context = context

    def add_outcome(self, id: str, *, name: str = "") -> Outcome:
        with self._context.db.write(self._context.space) as tx:
            id = kept_id(id, "outcome")
            tasks.ensure_outcome(tx, id, at=self._context.clock.now(), name=kept(name))
            return tasks.outcome(tx, id)

    def add_task(self, id: str, *, outcome: str | None = None, title: str = "") -> Task:
        with self._context.db.write(self._context.space) as tx:
            outcome = kept_id(outcome, "outcome") if outcome is not None else None
            id = kept_id(id, "task")
            tasks.ensure_task(tx, id, outcome=outcome, at=self._context.clock.now(), title=kept(title))
            return tasks.task(tx, id)

    def outcomes(self, *, limit: int = 50) -> list[Outcome]:
        with self._context.db.read(self._context.space) as tx:
            return tasks.outcomes(tx, limit=check_limit(limit))

    def tasks(self, *, outcome: str | None = None, limit: int = 50) -> list[Task]:
        with self._context.db.read(self._context.space) as tx:
            return tasks.tasks(tx, outcome=outcome, limit=check_limit(limit))

    def discoveries(self, *, task: str | None = None, limit: int = 50) -> list[Discovery]:
        with self._context.db.read(self._context.space) as tx:
            return tasks.discoveries(tx, task=task, limit=check_limit(limit))

    def injections(self, *, task: str | None = None, limit: int = 50) -> list[Injection]:
        """What a task was shown, or what was shown lately."""
        with self._context.db.read(self._context.space) as tx:
            return injections.of_task(tx, task) if task is not None else injections.latest(tx, limit=check_limit(limit))
