"""The facet of decisions."""

from __future__ import annotations

from typing import Any

from recollect.capture import decide as changes
from recollect.capture.decide import Decided
from recollect.core.context import Context
from recollect.core.decision import OUTCOMES, STAKES, Decision, DecisionEdit, NewDecision, Review
from recollect.core.errors import BadInput
from recollect.core.limits import check_page
from recollect.core.record import as_record, checked
from recollect.distil import decisions as views
from recollect.distil.decision_query import DecisionHit, query
from recollect.distil.decisions import Compaction, Waiting
from recollect.distil.levels import check_level
from recollect.distil.page import Page
from recollect.distil.wisdom import Wisdom
from recollect.store import decisions as rows
from recollect.store.decisions import DecisionFilter


class Decisions:
    """Recording choices, saying what became of them, and reading them as they age."""

    def __init__(self, context: Context):
        self._context = context

    def record(self, new: NewDecision | None = None, /, *, anyway: bool = False, **fields: Any) -> Decided:
        return changes.decide(self._context, as_record(new, NewDecision, fields), anyway=anyway)

    def get(self, id: str) -> Decision:
        """The decision whole, whatever its age."""
        with self._context.db.read(self._context.space) as tx:
            return rows.get(tx, id)

    def page(self, *, limit: int = 50, offset: int = 0, **wanted: Any) -> tuple[list[Decision], int]:
        """Whole decisions, newest first, and how many there are in all."""
        check_page(limit, offset)
        with self._context.db.read(self._context.space) as tx:
            return rows.listed(tx, _filter(wanted), limit=limit, offset=offset)

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

    def preserve(self, id: str, *, on: bool = True) -> Decision:
        return changes.preserve(self._context, id, on=on)

    def undo(self) -> list[Decision]:
        """Take back the last change to decisions."""
        return changes.undo(self._context)

    def adopt(self, id: str) -> Decision:
        return changes.adopt(self._context, id)

    def compacted(self, **wanted: Any) -> Page:
        """Every decision at the level its age asks for; see `distil.decisions.compacted` for the options."""
        return views.compacted(self._context, **wanted)

    def wisdom(
        self, *, category: str | None = None, agent: str | None = None, as_of: int | None = None
    ) -> list[Wisdom]:
        return views.wisdom(self._context, category=category, agent=agent, as_of=as_of)

    def calibration(
        self, *, category: str | None = None, agent: str | None = None, window_days: int | None = None
    ) -> dict[str, Any]:
        return views.calibration(self._context, category=category, agent=agent, window_days=window_days)

    def review_queue(self, *, agent: str | None = None, due_only: bool = False) -> list[Waiting]:
        return views.review_queue(self._context, agent=agent, due_only=due_only)

    def compact(self, *, dry_run: bool = False) -> Compaction:
        return views.compact(self._context, dry_run=dry_run)


def _filter(wanted: dict[str, Any]) -> DecisionFilter:
    known = {"outcome": OUTCOMES, "stakes": STAKES, "status": ("active", "reversed", "superseded")}
    for name, values in known.items():
        if wanted.get(name) is not None and wanted[name] not in values:
            raise BadInput(f"{name} must be one of {', '.join(values)}, not {wanted[name]!r}")
    return checked(DecisionFilter, wanted)
