"""Ages on ROOT.md: how long ago each topic was last mentioned, counted to the day it is read.

The page keeps the dates; whoever shows it counts again. Apart from `root`, because a session's start pays for imports.
"""

from __future__ import annotations

import re
from datetime import date

DOUBT_DAYS = 30
"""A reference older than this is shown with `?`."""

_AGED = re.compile(r"^(- .*? \[(\w+)), \d+d(?:, \?)?(\].* → log/(\d{4}-\d{2}-\d{2})#\d+)$", re.MULTILINE)


def age_of(type: str, day: str, today: date) -> str:
    """What stands behind a topic's type."""
    days = max((today - date.fromisoformat(day)).days, 0)
    return f", {days}d" + (", ?" if type == "reference" and days > DOUBT_DAYS else "")


def with_ages(text: str, today: date) -> str:
    """The page with its ages counted to another day: what is shown is never older than its reader."""

    def aged(found: re.Match[str]) -> str:
        return found[1] + age_of(found[2], found[4], today) + found[3]

    return _AGED.sub(aged, text)
