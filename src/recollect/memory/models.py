"""The facet of models: what is configured, what waits for an agent, and taking its answers in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recollect.core.context import Context
from recollect.models.check import Checked, check
from recollect.store import usage
from recollect.store.usage import Usage
from recollect.tend import answering
from recollect.tend.answering import Applied, PendingAsk


class ModelsFacet:
    """Who answers questions, and the agent's way to answer them."""

    def __init__(self, context: Context):
        self._context = context

    def check(self) -> list[Checked]:
        """One tiny call to every provider that is configured."""
        return check(self._context)

    def usage(self) -> list[Usage]:
        """What was used, by day, kind and generator."""
        with self._context.db.read(self._context.space) as tx:
            return usage.everything(tx)

    def pending(self, *, limit: int | None = None) -> list[PendingAsk]:
        return answering.pending(self._context, limit=limit)

    def apply(self, answers: Sequence[Any]) -> list[Applied]:
        """Take in answers, each `{"id": …, "answer": …}`; one that is refused does not stop the others."""
        return answering.apply(self._context, answers)
