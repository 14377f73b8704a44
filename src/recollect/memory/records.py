"""The facets of rows: learnings, decisions, the inbox, and work (outcomes, tasks, discoveries and injections).

A method is one call into a room; what it means is said there.
"""

from __future__ import annotations

from typing import Any

from recollect.capture import decide, edit, observe
from recollect.capture.decide import Decided
from recollect.core.context import Event
from recollect.core.decision import Decision, DecisionEdit, NewDecision, Review
from recollect.core.learning import Discovery, Injection, Learning, Outcome, Task
from recollect.core.new_learning import LearningEdit
from recollect.core.records import as_record, check_page, checked
from recollect.distil import decisions, inbox
from recollect.distil.decision_levels import check_level
from recollect.distil.decision_page import DecisionPage
from recollect.distil.decisions import AwaitedReview, Compaction, DecisionHit
from recollect.distil.wisdom import Wisdom
from recollect.inject.learnings import Chosen, NewInjection, choose
from recollect.memory.memory import Facet
from recollect.search.everything import SearchOptions, search
from recollect.store import decisions as decision_rows
from recollect.store import events
from recollect.store import learnings as learning_rows
from recollect.store.decisions import DecisionFilter
from recollect.store.events import Escalation


class Learnings(Facet):
    """Everything one does with learnings besides capturing, finding and injecting them."""

    def get(self, id: str) -> Learning:
        return self._ctx.read(learning_rows.get, id)

    def page(self, **wanted: Any) -> tuple[list[Learning], int]:
        """A page of learnings and how many there are in all; see `capture.edit.page` for the options."""
        return edit.page(self._ctx, **wanted)

    def search(self, query: str, *, tag: str | None = None, **options: Any) -> list[Learning]:
        """Learnings alone for any text, best first; options are those of SearchOptions."""
        hits = search(self._ctx, query, SearchOptions(kinds=(learning_rows.KIND,), **options))
        found = [hit.learning for hit in hits if hit.learning is not None]
        return [learning for learning in found if tag is None or tag.strip().lower() in learning.tags]

    def edit(
        self, id: str, changes: LearningEdit | None = None, *, expect: int | None = None, **fields: Any
    ) -> Learning:
        return edit.edit(self._ctx, id, as_record(changes, LearningEdit, fields), expect=expect)

    def tag(self, id: str, *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Learning:
        return edit.retag(self._ctx, id, add=add, remove=remove)

    def archive(self, id: str, *, reason: str = "", expect: int | None = None) -> Learning:
        return edit.archive(self._ctx, id, reason=reason, expect=expect)

    def restore(self, id: str) -> Learning:
        return edit.restore(self._ctx, id)

    def supersede(self, old: str, new: str, *, reason: str = "", expect: int | None = None) -> Learning:
        return edit.supersede(self._ctx, old, new, reason=reason, expect=expect)

    def merge(self, keep: str, other: str, *, reason: str = "", expect: int | None = None) -> Learning:
        return edit.merge(self._ctx, keep, other, reason=reason, expect=expect)

    def pin(self, id: str, *, on: bool = True) -> Learning:
        return edit.pin(self._ctx, id, on=on)

    def adopt(self, id: str, *, expect: int | None = None) -> Learning:
        return edit.adopt(self._ctx, id, expect=expect)

    def undo(self) -> list[Learning]:
        return edit.undo_learning(self._ctx)

    def history(self, id: str) -> list[Event]:
        """How its confidence moved, oldest first."""
        return edit.history(self._ctx, id)

    def injections(self, id: str) -> list[Injection]:
        """Where it was shown, newest first."""
        return edit.injections(self._ctx, id)


class Decisions(Facet):
    """Recording choices, saying what became of them, and reading them as they age."""

    def record(self, new: NewDecision | None = None, /, *, anyway: bool = False, **fields: Any) -> Decided:
        return decide.decide(self._ctx, as_record(new, NewDecision, fields), anyway=anyway)

    def get(self, id: str) -> Decision:
        """The decision whole, whatever its age."""
        return self._ctx.read(decision_rows.get, id)

    def page(self, *, limit: int = 50, offset: int = 0, **wanted: Any) -> tuple[list[Decision], int]:
        """Whole decisions, newest first, and how many there are in all; `wanted` are fields of DecisionFilter."""
        check_page(limit, offset)
        return self._ctx.read(decision_rows.listed, checked(DecisionFilter, wanted), limit=limit, offset=offset)

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
        rules = checked(DecisionFilter, wanted)
        return decisions.query(self._ctx, text, rules, level=level, limit=limit, offset=offset, whole=whole)

    def review(self, id: str, review: Review | None = None, *, expect: int | None = None, **fields: Any) -> Decision:
        return decide.review(self._ctx, id, as_record(review, Review, fields), expect=expect)

    def edit(self, id: str, edit: DecisionEdit | None = None, *, expect: int | None = None, **fields: Any) -> Decision:
        return decide.edit(self._ctx, id, as_record(edit, DecisionEdit, fields), expect=expect)

    def reverse(self, id: str, *, reason: str, by: str | None = None, expect: int | None = None) -> Decision:
        return decide.reverse(self._ctx, id, reason=reason, by=by, expect=expect)

    def preserve(self, id: str, *, on: bool = True, expect: int | None = None) -> Decision:
        return decide.preserve(self._ctx, id, on=on, expect=expect)

    def undo(self) -> list[Decision]:
        """Take back the last change to decisions."""
        return decide.undo_decision(self._ctx)

    def adopt(self, id: str, *, expect: int | None = None) -> Decision:
        return decide.adopt(self._ctx, id, expect=expect)

    def compacted(self, **wanted: Any) -> DecisionPage:
        """Every decision at the level its age asks for; see `distil.decisions.compacted` for the options."""
        return decisions.compacted(self._ctx, **wanted)

    def wisdom(self, *, category: str | None = None, agent: str | None = None) -> list[Wisdom]:
        return decisions.wisdom(self._ctx, category=category, agent=agent)

    def calibration(
        self, *, category: str | None = None, agent: str | None = None, window_days: int | None = None
    ) -> dict[str, Any]:
        return decisions.calibration(self._ctx, category=category, agent=agent, window_days=window_days)

    def review_queue(self, *, agent: str | None = None, due_only: bool = False) -> list[AwaitedReview]:
        return decisions.review_queue(self._ctx, agent=agent, due_only=due_only)

    def compact(self, *, dry_run: bool = False) -> Compaction:
        return decisions.compact(self._ctx, dry_run=dry_run)


class Inbox(Facet):
    """What waits for a person."""

    def waiting(self) -> list[Escalation]:
        return self._ctx.read(events.waiting_escalations)

    def get(self, number: int) -> Escalation:
        return self._ctx.read(events.get_escalation, number)

    def verbs(self, matter: Escalation) -> tuple[str, ...]:
        """What settles a matter of its kind."""
        return inbox.verbs_of(matter)

    def resolve(self, number: int, verb: str) -> Escalation:
        return inbox.resolve(self._ctx, number, verb)


class Work(Facet):
    """What trackers and hosts said about outcomes and tasks, and what tasks discovered and were shown.

    A list gives the first rows, a page gives some rows and how many there are in all.
    """

    def add_outcome(self, id: str, *, name: str = "") -> Outcome:
        return observe.name_outcome(self._ctx, id, name=name)

    def add_task(self, id: str, *, outcome: str | None = None, title: str = "") -> Task:
        return observe.name_task(self._ctx, id, outcome=outcome, title=title)

    def outcomes(self, *, limit: int = 50) -> list[Outcome]:
        return observe.outcome_page(self._ctx, limit=limit)[0]

    def tasks(self, *, outcome: str | None = None, limit: int = 50) -> list[Task]:
        return observe.task_page(self._ctx, outcome=outcome, limit=limit)[0]

    def discoveries(self, *, task: str | None = None, limit: int = 50) -> list[Discovery]:
        return observe.discovery_page(self._ctx, task=task, limit=limit)[0]

    def injections(self, *, task: str | None = None, limit: int = 50) -> list[Injection]:
        """What a task was shown, or what was shown lately."""
        return observe.injection_page(self._ctx, task=task, limit=limit)[0]

    def called(self, *, task: str, outcome: str) -> tuple[str, str]:
        """The title of a task and the name of an outcome; empty where none was given."""
        return observe.titles(self._ctx, task=task, outcome=outcome)

    def preview(self, wanted: NewInjection | None = None, /, **fields: Any) -> Chosen:
        """What a task would be shown; nothing is recorded."""
        return choose(self._ctx, as_record(wanted, NewInjection, fields))

    def outcome_page(self, *, limit: int = 50, offset: int = 0) -> tuple[list[Outcome], int]:
        return observe.outcome_page(self._ctx, limit=limit, offset=offset)

    def task_page(self, *, outcome: str | None = None, limit: int = 50, offset: int = 0) -> tuple[list[Task], int]:
        return observe.task_page(self._ctx, outcome=outcome, limit=limit, offset=offset)

    def discovery_page(
        self, *, task: str | None = None, limit: int = 50, offset: int = 0
    ) -> tuple[list[Discovery], int]:
        return observe.discovery_page(self._ctx, task=task, limit=limit, offset=offset)

    def injection_page(self, *, limit: int = 50, offset: int = 0) -> tuple[list[Injection], int]:
        return observe.injection_page(self._ctx, limit=limit, offset=offset)
