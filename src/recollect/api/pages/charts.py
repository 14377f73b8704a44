"""The numbers of charts; `charts.html` draws them."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from recollect.core.records import record

WEEKS = 53
SHADES = (1, 3, 6, 10)
"""Entries a day from which a cell is one shade darker."""


@record
class Bar:
    """A span of time: how much there was, how much of it went up and how much down."""

    label: str
    total: int = 0
    up: int = 0
    down: int = 0

    @property
    def says(self) -> str:
        counts = (self.total, "shown"), (self.up, "up"), (self.down, "down")
        return ", ".join(f"{count} {word}" for count, word in counts if count) or "nothing"


def year_of_days(counts: Mapping[date, int], today: date) -> list[tuple[date, int, int]]:
    """The days of the last year from a Monday on, each with its entries and its shade."""
    monday = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    days = [monday + timedelta(days=number) for number in range((today - monday).days + 1)]
    return [(day, counts.get(day, 0), sum(counts.get(day, 0) >= least for least in SHADES)) for day in days]
