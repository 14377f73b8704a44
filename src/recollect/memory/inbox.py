"""The facet of the inbox."""

from __future__ import annotations

from recollect.core.context import Context
from recollect.distil import inbox
from recollect.store import escalations
from recollect.store.escalations import Escalation


class Inbox:
    """What waits for a person."""

    def __init__(self, context: Context):
        self._context = context

    def waiting(self) -> list[Escalation]:
        with self._context.db.read(self._context.space) as tx:
            return escalations.waiting(tx)

    def get(self, number: int) -> Escalation:
        with self._context.db.read(self._context.space) as tx:
            return escalations.get(tx, number)

    def verbs(self, matter: Escalation) -> tuple[str, ...]:
        """What settles a matter of its kind."""
        return inbox.verbs_of(matter)

    def resolve(self, number: int, verb: str) -> Escalation:
        return inbox.resolve(self._context, number, verb)
