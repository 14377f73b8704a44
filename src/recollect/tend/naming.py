"""Saying what is damaged when a command meets a row that it cannot read."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from recollect.core.context import Context
from recollect.core.errors import BadInput, StoreDamaged

UNREADABLE = (StoreDamaged, BadInput, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading a row raises whose content is not what was written."""


@contextmanager
def naming_damage(ctx: Context) -> Iterator[None]:
    """Raise StoreDamaged that names what in the file or a row does not read; an error that nothing explains stays."""
    try:
        yield
    except UNREADABLE as error:
        from recollect.tend.verify import what_does_not_read  # loads every room, and is seldom needed

        first = next(what_does_not_read(ctx), None)
        if first is None:
            raise
        raise StoreDamaged(
            f"{ctx.db.place} is damaged: {first.subject}: {first.detail}. Nothing was deleted. Run: {first.remedy}"
        ) from error
