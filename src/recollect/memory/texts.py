"""The facet of any text by its id: what a search hit leads to."""

from __future__ import annotations

from recollect.core.context import Context
from recollect.tend import whole
from recollect.tend.whole import Beside, Whole


class Texts:
    """Whole texts, and what stands beside them."""

    def __init__(self, context: Context):
        self._context = context

    def get(self, id: str) -> Whole:
        """The whole of whatever an id names."""
        return whole.get(self._context, id)

    def around(self, id: str, *, before: int = 3, after: int = 3) -> list[Beside]:
        """What stands before and after it, in short."""
        return whole.around(self._context, id, before=before, after=after)
