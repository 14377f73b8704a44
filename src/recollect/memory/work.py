"""The facet of work: outcomes, tasks, discoveries, and what tasks were shown."""

from __future__ import annotations

from typing import Any

from recollect.core.context import Context, Tx
from recollect.core.learning import Injection
from recollect.core.limits import check_page
from recollect.core.record import as_record
from recollect.core.task import Discovery, Outcome, Task
from recollect.inject.relevant import Chosen, NewInjection, choose
from recollect.store import counts, events, injections, tasks
from recollect.text.kept import kept, kept_id


class Work:
    """Reads what trackers and hosts told us; names an outcome or task before it is used."""

    def __init__(self, context: Context):
        self._context = context

    def add_outcome(self, id: str, *, name: str = "") -> Outcome:
        with self._context.db.write(self._context.space) as tx:
            id = kept_id(id, "outcome")
            before = tasks.known_outcome(tx, id)
            tasks.ensure_outcome(tx, id, at=self._context.clock.now(), name=kept(name))
            after = tasks.outcome(tx, id)
            if after != before:
                self._record(tx, id, "outcome.named", {"name": after.name})
            return after

    def add_task(self, id: str, *, outcome: str | None = None, title: str = "") -> Task:
        with self._context.db.write(self._context.space) as tx:
            outcome = kept_id(outcome, "outcome") if outcome is not None else None
            id = kept_id(id, "task")
            before = tasks.known_task(tx, id)
            tasks.ensure_task(tx, id, outcome=outcome, at=self._context.clock.now(), title=kept(title))
            after = tasks.task(tx, id)
            if after != before:
                self._record(tx, id, "task.named", {"title": after.title})
            return after

    def outcomes(self, *, limit: int = 50) -> list[Outcome]:
        return self.outcome_page(limit=limit)[0]

    def tasks(self, *, outcome: str | None = None, limit: int = 50) -> list[Task]:
        return self.task_page(outcome=outcome, limit=limit)[0]

    def discoveries(self, *, task: str | None = None, limit: int = 50) -> list[Discovery]:
        return self.discovery_page(task=task, limit=limit)[0]

    def injections(self, *, task: str | None = None, limit: int = 50) -> list[Injection]:
        """What a task was shown, or what was shown lately."""
        if task is None:
            return self.injection_page(limit=limit)[0]
        with self._context.db.read(self._context.space) as tx:
            return injections.of_task(tx, tasks.task(tx, task).id)

    def called(self, *, task: str, outcome: str) -> tuple[str, str]:
        """The title of a task and the name of an outcome; empty where nobody said."""
        with self._context.db.read(self._context.space) as tx:
            about, serves = tasks.known_task(tx, task), tasks.known_outcome(tx, outcome)
            return about.title if about else "", serves.name if serves else ""

    def preview(self, wanted: NewInjection | None = None, /, **fields: Any) -> Chosen:
        """What a task would be shown; nothing is recorded."""
        return choose(self._context, as_record(wanted, NewInjection, fields))

    def _record(self, tx: Tx, id: str, what: str, new: dict[str, str]) -> None:
        change = self._context.ids("change")
        events.record(tx, self._context, change=change, subject=id, what=what, new=new)

    # The same a page at a time, with how many there are in all. An unknown id is an error: it may be a misspelt one.

    def outcome_page(self, *, limit: int = 50, offset: int = 0) -> tuple[list[Outcome], int]:
        check_page(limit, offset)
        with self._context.db.read(self._context.space) as tx:
            return tasks.outcomes(tx, limit=limit, offset=offset)

    def task_page(self, *, outcome: str | None = None, limit: int = 50, offset: int = 0) -> tuple[list[Task], int]:
        check_page(limit, offset)
        with self._context.db.read(self._context.space) as tx:
            if outcome is not None:
                tasks.outcome(tx, outcome)
            return tasks.tasks(tx, outcome=outcome, limit=limit, offset=offset)

    def discovery_page(
        self, *, task: str | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[list[Discovery], int]:
        check_page(limit, offset)
        with self._context.db.read(self._context.space) as tx:
            if task is not None:
                tasks.task(tx, task)
            return tasks.discoveries(tx, task=task, limit=limit, offset=offset)

    def injection_page(self, *, limit: int = 50, offset: int = 0) -> tuple[list[Injection], int]:
        check_page(limit, offset)
        with self._context.db.read(self._context.space) as tx:
            return injections.latest(tx, limit=limit, offset=offset), counts.injections(tx)
