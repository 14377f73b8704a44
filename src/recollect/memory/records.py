"""The facets of rows: learnings, decisions, the inbox, and work (outcomes, tasks, discoveries and injections)."""

from __future__ import annotations

from functools import partial
from typing import Any

from recollect.capture import change, decide, observe
from recollect.capture import edit as edits
from recollect.capture.decide import Decided
from recollect.capture.learn import Captured, move
from recollect.capture.undo import undo_noun
from recollect.core.context import PROJECT
from recollect.core.decision import Decision, DecisionEdit, NewDecision, Review
from recollect.core.learning import Injection, Learning
from recollect.core.new_learning import LearningEdit
from recollect.core.records import MOST, as_record, as_text, check_page, checked
from recollect.distil import decisions, inbox
from recollect.feedback import confidence
from recollect.inject.learnings import Chosen, NewInjection, choose
from recollect.memory.memory import Facet, call, reads
from recollect.memory.open import embed_at_once
from recollect.search.everything import SearchOptions, holder, search
from recollect.store import decisions as decision_rows
from recollect.store import events
from recollect.store import learnings as learning_rows
from recollect.store.decisions import DecisionFilter


class Learnings(Facet):
    get = reads(learning_rows.get)
    many = reads(learning_rows.many)
    page = call(edits.page)

    def search(self, query: str, **options: Any) -> list[Learning]:
        """Only learnings, best first; options are those of SearchOptions."""
        hits = search(self._ctx, query, checked(SearchOptions, {**options, "kinds": (learning_rows.KIND,)}))
        return [hit.learning for hit in hits if hit.learning is not None]

    sorted = reads(learning_rows.in_order)
    facets = reads(learning_rows.facets)

    def edit(
        self, id: str, changes: LearningEdit | None = None, *, expect: int | None = None, **fields: Any
    ) -> Learning:
        return edits.edit(self._ctx, id, as_record(changes, LearningEdit, fields), expect=expect)

    def remember(self, text: str, *, to: str = PROJECT, **given: Any) -> Captured:
        """Learn from one text, for the project or a ring; given fields of NewLearning are used unchanged."""
        ctx = self._ctx if to == PROJECT else self._ctx.rings.named(self._ctx, to)
        done = observe.learn_text(ctx, as_text(text, "text"), **given)
        embed_at_once(ctx)
        return done

    def move(self, id: str, *, to: str) -> Captured:
        """Move a learning to another ring: `me`, a shared space, or back to the `project`; only a person may."""
        ring, id = holder(self._ctx, id)
        rings = self._ctx.rings
        done = move(rings.named(self._ctx, ring), id, rings.named(self._ctx, to), to=to)
        embed_at_once(rings.named(self._ctx, to))
        return done

    tag = call(edits.retag)
    archive = call(edits.archive)
    restore = call(edits.restore)
    supersede = call(edits.supersede)
    merge = call(edits.merge)
    pin = call(edits.pin)
    adopt = call(partial(change.adopt, edits.LEARNING))
    undo = call(partial(undo_noun, edits.LEARNING))
    history = call(edits.history)
    injections = call(edits.injections)


class Decisions(Facet):
    def record(self, new: NewDecision | None = None, /, *, anyway: bool = False, **fields: Any) -> Decided:
        return decide.decide(self._ctx, as_record(new, NewDecision, fields), anyway=anyway)

    get = reads(decision_rows.get)
    many = reads(decision_rows.many)

    def page(self, *, limit: int = 50, offset: int = 0, **wanted: Any) -> tuple[list[Decision], int]:
        """Whole decisions, newest first, and how many there are in all; `wanted` are fields of DecisionFilter."""
        check_page(limit, offset)
        return self._ctx.read(decision_rows.listed, checked(DecisionFilter, wanted), limit=limit, offset=offset)

    query = call(decisions.query)

    def review(self, id: str, review: Review | None = None, *, expect: int | None = None, **fields: Any) -> Decision:
        return decide.review(self._ctx, id, as_record(review, Review, fields), expect=expect)

    def edit(self, id: str, edit: DecisionEdit | None = None, *, expect: int | None = None, **fields: Any) -> Decision:
        return decide.edit(self._ctx, id, as_record(edit, DecisionEdit, fields), expect=expect)

    reverse = call(decide.reverse)
    preserve = call(decide.preserve)
    undo = call(partial(undo_noun, decide.DECISION))
    adopt = call(partial(change.adopt, decide.DECISION))
    compacted = call(decisions.compacted)
    wisdom = call(decisions.wisdom)
    calibration = call(decisions.calibration)
    review_queue = call(decisions.review_queue)
    compact = call(decisions.compact)


class Inbox(Facet):
    waiting = reads(events.waiting_escalations)
    get = reads(events.get_escalation)

    verbs = staticmethod(inbox.verbs_of)
    resolve = call(inbox.resolve)
    take_back = call(inbox.take_back)
    count = reads(events.count_waiting)


class Work(Facet):
    """Outcomes and tasks as trackers and hosts reported them, and what tasks discovered and were shown.

    A page is some rows and the number of all rows.
    """

    add_outcome = call(observe.name_outcome)
    add_task = call(observe.name_task)

    def injections(self, *, task: str | None = None, limit: int | None = None) -> list[Injection]:
        return observe.injection_page(self._ctx, task=task, limit=(MOST if task else 50) if limit is None else limit)[0]

    called = call(observe.titles)
    signs = call(confidence.signs)

    def preview(self, wanted: NewInjection | None = None, /, **fields: Any) -> Chosen:
        return choose(self._ctx, as_record(wanted, NewInjection, fields))

    activity = reads(events.counts)
    latest = reads(events.latest)
    of_change = reads(events.of_change)
    last_number = reads(events.last_number)
    outcome_page = call(observe.outcome_page)
    task_page = call(observe.task_page)
    discovery_page = call(observe.discovery_page)
    injection_page = call(observe.injection_page)
