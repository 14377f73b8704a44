"""The facet of learnings."""

from __future__ import annotations

from typing import Any

from recollect.capture import edit as edits
from recollect.core.choices import STATUSES
from recollect.core.confidence import thousandths
from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.core.event import Event
from recollect.core.learning import Injection, Learning
from recollect.core.limits import check_page
from recollect.core.new_learning import LearningEdit
from recollect.core.record import as_record
from recollect.search.everything import SearchOptions, search
from recollect.store import events, injections
from recollect.store import learnings as rows
from recollect.store.learnings import SORTS


class Learnings:
    """Everything one does with learnings besides capturing, finding and injecting them."""

    def __init__(self, context: Context):
        self._context = context

    def get(self, id: str) -> Learning:
        with self._context.db.read(self._context.space) as tx:
            return rows.get(tx, id)

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
            return rows.listed(
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
        hits = search(self._context, query, SearchOptions(kinds=(rows.KIND,), **options))
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

    def supersede(self, old: str, new: str, *, reason: str = "") -> Learning:
        return edits.supersede(self._context, old, new, reason=reason)

    def merge(self, keep: str, other: str, *, reason: str = "") -> Learning:
        return edits.merge(self._context, keep, other, reason=reason)

    def pin(self, id: str, *, on: bool = True) -> Learning:
        return edits.pin(self._context, id, on=on)

    def adopt(self, id: str) -> Learning:
        return edits.adopt(self._context, id)

    def undo(self) -> list[Learning]:
        return edits.undo(self._context)

    def history(self, id: str) -> list[Event]:
        """How its confidence moved, oldest first: what a plot shows."""
        with self._context.db.read(self._context.space) as tx:
            rows.get(tx, id)
            return [event for event in events.of(tx, id) if "confidence" in event.new]

    def injections(self, id: str) -> list[Injection]:
        """Where it was shown, newest first."""
        with self._context.db.read(self._context.space) as tx:
            rows.get(tx, id)
            return injections.of_learning(tx, id)
