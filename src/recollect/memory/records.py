"""The facet of learnings.

The facet of decisions.

The facet of the inbox.

The facet of work: outcomes, tasks, discoveries, and what tasks were shown.
"""

from __future__ import annotations

from typing import Any

from recollect.capture import decide as changes
from recollect.capture import edit as edits
from recollect.capture.decide import Decided
from recollect.core.choices import STATUSES
from recollect.core.context import Context, Event, Tx
from recollect.core.decision import OUTCOMES, STAKES, Decision, DecisionEdit, NewDecision, Review
from recollect.core.errors import BadInput
from recollect.core.learning import Discovery, Injection, Learning, Outcome, Task
from recollect.core.new_learning import LearningEdit
from recollect.core.records import as_record, check_page, checked
from recollect.core.values import thousandths
from recollect.distil import decisions as views
from recollect.distil import inbox
from recollect.distil.decision_levels import check_level
from recollect.distil.decision_page import DecisionPage
from recollect.distil.decisions import AwaitedReview, Compaction, DecisionHit, query
from recollect.distil.wisdom import Wisdom
from recollect.inject.learnings import Chosen, NewInjection, choose
from recollect.search.everything import SearchOptions, search
from recollect.store import decisions as decision_rows
from recollect.store import derived, events, tasks
from recollect.store import learnings as learning_rows
from recollect.store.decisions import DecisionFilter
from recollect.store.events import Escalation
from recollect.store.learnings import SORTS
from recollect.text.storable import storable, storable_id


class Learnings:
    """Everything one does with learnings besides capturing, finding and injecting them."""

    def __init__(self, context: Context):
        self._context = context

    def get(self, id: str) -> Learning:
        with self._context.db.read(self._context.space) as tx:
            return learning_rows.get(tx, id)

    def page(
        self,
        *,
        status: str = "active",
        domain: str | None = None,
        tag: str | None = None,
        min_confidence: float = 0.0,
        sort: str = "newest",
        limit: int = 50,
        offset: int = 0,
    ) -> tuple[list[Learning], int]:
        """A page of learnings and how many there are in all."""
        if sort not in SORTS:
            raise BadInput(f"sort must be one of {', '.join(SORTS)}, not {sort!r}")
        if status not in (*STATUSES, "all"):
            raise BadInput(f"status must be one of {', '.join(STATUSES)} or all, not {status!r}")
        check_page(limit, offset)
        with self._context.db.read(self._context.space) as tx:
            return learning_rows.listed(
                tx,
                status=None if status == "all" else status,
                domain=domain,
                tag=None if tag is None else tag.strip().lower(),  # as tags are kept
                min_confidence=thousandths(min_confidence, "min confidence"),
                sort=sort,
                limit=limit,
                offset=offset,
            )

    def search(self, query: str, *, tag: str | None = None, **options: Any) -> list[Learning]:
        """Learnings alone for any text, best first; options are those of SearchOptions."""
        hits = search(self._context, query, SearchOptions(kinds=(learning_rows.KIND,), **options))
        found = [hit.learning for hit in hits if hit.learning is not None]
        return [learning for learning in found if tag is None or tag.strip().lower() in learning.tags]

    def edit(self, id: str, edit: LearningEdit | None = None, *, expect: int | None = None, **fields: Any) -> Learning:
        return edits.edit(self._context, id, as_record(edit, LearningEdit, fields), expect=expect)

    def tag(self, id: str, *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Learning:
        return edits.retag(self._context, id, add=add, remove=remove)

    def archive(self, id: str, *, reason: str = "", expect: int | None = None) -> Learning:
        return edits.archive(self._context, id, reason=reason, expect=expect)

    def restore(self, id: str) -> Learning:
        return edits.restore(self._context, id)

    def supersede(self, old: str, new: str, *, reason: str = "", expect: int | None = None) -> Learning:
        return edits.supersede(self._context, old, new, reason=reason, expect=expect)

    def merge(self, keep: str, other: str, *, reason: str = "", expect: int | None = None) -> Learning:
        return edits.merge(self._context, keep, other, reason=reason, expect=expect)

    def pin(self, id: str, *, on: bool = True) -> Learning:
        return edits.pin(self._context, id, on=on)

    def adopt(self, id: str, *, expect: int | None = None) -> Learning:
        return edits.adopt(self._context, id, expect=expect)

    def undo(self) -> list[Learning]:
        return edits.undo_learning(self._context)

    def history(self, id: str) -> list[Event]:
        """How its confidence moved, oldest first: what a plot shows."""
        with self._context.db.read(self._context.space) as tx:
            learning_rows.get(tx, id)
            return [event for event in events.of(tx, id) if "confidence" in event.new]

    def injections(self, id: str) -> list[Injection]:
        """Where it was shown, newest first."""
        with self._context.db.read(self._context.space) as tx:
            learning_rows.get(tx, id)
            return tasks.injections_of_learning(tx, id)


class Decisions:
    """Recording choices, saying what became of them, and reading them as they age."""

    def __init__(self, context: Context):
        self._context = context

    def record(self, new: NewDecision | None = None, /, *, anyway: bool = False, **fields: Any) -> Decided:
        return changes.decide(self._context, as_record(new, NewDecision, fields), anyway=anyway)

    def get(self, id: str) -> Decision:
        """The decision whole, whatever its age."""
        with self._context.db.read(self._context.space) as tx:
            return decision_rows.get(tx, id)

    def page(self, *, limit: int = 50, offset: int = 0, **wanted: Any) -> tuple[list[Decision], int]:
        """Whole decisions, newest first, and how many there are in all."""
        check_page(limit, offset)
        with self._context.db.read(self._context.space) as tx:
            return decision_rows.listed(tx, _filter(wanted), limit=limit, offset=offset)

    def query(
        self,
        text: str = "",
        *,
        level: str | None = None,
        limit: int = 20,
        offset: int = 0,
        whole: bool = False,
        **wanted: Any,
    ) -> tuple[list[DecisionHit], int]:
        """Decisions by words, fields and the level they have reached, each as long as its age allows."""
        check_page(limit, offset)
        check_level(level)
        return query(self._context, text, _filter(wanted), level=level, limit=limit, offset=offset, whole=whole)

    def review(self, id: str, review: Review | None = None, *, expect: int | None = None, **fields: Any) -> Decision:
        return changes.review(self._context, id, as_record(review, Review, fields), expect=expect)

    def edit(self, id: str, edit: DecisionEdit | None = None, *, expect: int | None = None, **fields: Any) -> Decision:
        return changes.edit(self._context, id, as_record(edit, DecisionEdit, fields), expect=expect)

    def reverse(self, id: str, *, reason: str, by: str | None = None, expect: int | None = None) -> Decision:
        return changes.reverse(self._context, id, reason=reason, by=by, expect=expect)

    def preserve(self, id: str, *, on: bool = True, expect: int | None = None) -> Decision:
        return changes.preserve(self._context, id, on=on, expect=expect)

    def undo(self) -> list[Decision]:
        """Take back the last change to decisions."""
        return changes.undo_decision(self._context)

    def adopt(self, id: str, *, expect: int | None = None) -> Decision:
        return changes.adopt(self._context, id, expect=expect)

    def compacted(self, **wanted: Any) -> DecisionPage:
        """Every decision at the level its age asks for; see `distil.decisions.compacted` for the options."""
        return views.compacted(self._context, **wanted)

    def wisdom(self, *, category: str | None = None, agent: str | None = None) -> list[Wisdom]:
        return views.wisdom(self._context, category=category, agent=agent)

    def calibration(
        self, *, category: str | None = None, agent: str | None = None, window_days: int | None = None
    ) -> dict[str, Any]:
        return views.calibration(self._context, category=category, agent=agent, window_days=window_days)

    def review_queue(self, *, agent: str | None = None, due_only: bool = False) -> list[AwaitedReview]:
        return views.review_queue(self._context, agent=agent, due_only=due_only)

    def compact(self, *, dry_run: bool = False) -> Compaction:
        return views.compact(self._context, dry_run=dry_run)


def _filter(wanted: dict[str, Any]) -> DecisionFilter:
    known = {"outcome": OUTCOMES, "stakes": STAKES, "status": ("active", "reversed", "superseded")}
    for name, values in known.items():
        if wanted.get(name) is not None and wanted[name] not in values:
            raise BadInput(f"{name} must be one of {', '.join(values)}, not {wanted[name]!r}")
    return checked(DecisionFilter, wanted)


class Inbox:
    """What waits for a person."""

    def __init__(self, context: Context):
        self._context = context

    def waiting(self) -> list[Escalation]:
        with self._context.db.read(self._context.space) as tx:
            return events.waiting_escalations(tx)

    def get(self, number: int) -> Escalation:
        with self._context.db.read(self._context.space) as tx:
            return events.get_escalation(tx, number)

    def verbs(self, matter: Escalation) -> tuple[str, ...]:
        """What settles a matter of its kind."""
        return inbox.verbs_of(matter)

    def resolve(self, number: int, verb: str) -> Escalation:
        return inbox.resolve(self._context, number, verb)


class Work:
    """Reads what trackers and hosts told us; names an outcome or task before it is used."""

    def __init__(self, context: Context):
        self._context = context

    def add_outcome(self, id: str, *, name: str = "") -> Outcome:
        with self._context.db.write(self._context.space) as tx:
            id = storable_id(id, "outcome")
            before = tasks.known_outcome(tx, id)
            tasks.ensure_outcome(tx, id, at=self._context.clock.now(), name=storable(name))
            after = tasks.outcome(tx, id)
            if after != before:
                self._record(tx, id, "outcome.named", {"name": after.name})
            return after

    def add_task(self, id: str, *, outcome: str | None = None, title: str = "") -> Task:
        with self._context.db.write(self._context.space) as tx:
            outcome = storable_id(outcome, "outcome") if outcome is not None else None
            id = storable_id(id, "task")
            before = tasks.known_task(tx, id)
            tasks.ensure_task(tx, id, outcome=outcome, at=self._context.clock.now(), title=storable(title))
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
            return tasks.injections_of_task(tx, tasks.task(tx, task).id)

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
            return tasks.latest_injections(tx, limit=limit, offset=offset), derived.count_injections(tx)
