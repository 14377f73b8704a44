"""The calendar of the tree: days, ISO weeks, the months that weeks belong to, and when each of them is over.

A week belongs to the month of its Thursday, so a month's days are the days of its weeks. Knows nothing about logs,
nodes or the time of day.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Literal

from recollect.core.clock import YEARS
from recollect.core.errors import BadInput
from recollect.core.records import record

Level = Literal["daily", "weekly", "monthly"]
LEVELS: tuple[Level, ...] = ("daily", "weekly", "monthly")
ROOT = "root"

SETTLING = timedelta(days=7)  # after its last day a week or month stays open this long for late entries

_DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})", re.ASCII)
_PERIOD_YEARS = range(YEARS.start, YEARS.stop + 1)  # the last days of a year may lie in the first week of the next
_WEEK = re.compile(r"(\d{4})-W(\d{2})", re.ASCII)
_MONTH = re.compile(r"(\d{4})-(\d{2})", re.ASCII)


@record
class Period:
    """A day, week or month with its days; `name` is 2026-03-01, 2026-W09 or 2026-02, as in file names."""

    level: Level
    name: str
    first: date
    last: date

    @property
    def id(self) -> str:
        return f"{self.level}/{self.name}"

    @property
    def days(self) -> Iterator[date]:
        return (self.first + timedelta(days=n) for n in range((self.last - self.first).days + 1))

    @property
    def fixed_from(self) -> date:
        """The first day on which the node of this period may be fixed; its children must be fixed too."""
        if self.level == "daily":
            return self.last + timedelta(days=1)
        if self.level == "weekly":
            return self.last + SETTLING
        thursday = self.last - timedelta(days=3)
        return _first_of_next_month(thursday) + SETTLING


def day(when: date) -> Period:
    return Period(level="daily", name=when.isoformat(), first=when, last=when)


def week(when: date) -> Period:
    year, number, weekday = when.isocalendar()
    monday = when - timedelta(days=weekday - 1)
    return Period(level="weekly", name=f"{year:04d}-W{number:02d}", first=monday, last=monday + timedelta(days=6))


def month(when: date) -> Period:
    """The month that a day's week belongs to: not always the month in its date."""
    thursday = week(when).first + timedelta(days=3)
    return _month(thursday.year, thursday.month)


def parent(period: Period) -> Period | None:
    """The week of a day, the month of a week; None for a month, whose parent is the root."""
    if period.level == "daily":
        return week(period.first)
    return month(period.first) if period.level == "weekly" else None


def parse_day(text: str) -> date:
    parts = _DAY.fullmatch(text)
    try:
        if parts and int(parts[1]) in YEARS:
            return date(int(parts[1]), int(parts[2]), int(parts[3]))
    except ValueError:
        pass
    raise BadInput(f"{text!r} is not a day such as 2026-03-01")


def parse_period(text: str) -> Period:
    """A node's id (`weekly/2026-W09`) or its bare name (`2026-W09`)."""
    level, _, name = text.rpartition("/")
    found = _named(name)
    if found is None or level not in ("", found.level):
        raise BadInput(f"{text!r} is not a period: write a day 2026-03-01, a week 2026-W09 or a month 2026-03")
    return found


def _named(name: str) -> Period | None:
    try:
        if _DAY.fullmatch(name):
            return day(parse_day(name))
        if (parts := _WEEK.fullmatch(name)) and int(parts[1]) in _PERIOD_YEARS:
            return week(date.fromisocalendar(int(parts[1]), int(parts[2]), 1))
        if (parts := _MONTH.fullmatch(name)) and int(parts[1]) in _PERIOD_YEARS:
            return _month(int(parts[1]), int(parts[2]))
    except (ValueError, BadInput):
        pass
    return None


def _month(year: int, number: int) -> Period:
    first = date(year, number, 1)
    last = _first_of_next_month(first) - timedelta(days=1)
    first_thursday = first + timedelta(days=(3 - first.weekday()) % 7)
    last_thursday = last - timedelta(days=(last.weekday() - 3) % 7)
    return Period(
        level="monthly",
        name=f"{year:04d}-{number:02d}",
        first=first_thursday - timedelta(days=3),
        last=last_thursday + timedelta(days=3),
    )


def _first_of_next_month(when: date) -> date:
    return (when.replace(day=28) + timedelta(days=4)).replace(day=1)
