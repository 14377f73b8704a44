"""Time: one injectable clock, instants as integer milliseconds UTC, shown as ISO 8601.

`datetime` is imported where it is used, because the prompt hook only needs the current time.
"""

from __future__ import annotations

import time

from recollect.core.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, tzinfo
    from typing import Protocol
else:
    Protocol = object

SECOND = 1_000  # instants are milliseconds
MINUTE = 60 * SECOND
HOUR = 60 * MINUTE
DAY = 24 * HOUR

YEARS = range(1900, 9000)  # near year 1 and year 9999, arithmetic with weeks and zones leaves the calendar
_FIRST, _LAST = -62_135_596_800_000, 253_402_300_799_000  # the first and last second that `datetime` can show


class OutOfTime(BaseException):
    """A hook's time is up. Not an Exception, so that no room catches it by accident."""


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since the epoch, UTC."""


class SystemClock:
    def now(self) -> int:
        return time.time_ns() // 1_000_000


class ScriptedClock:
    """A clock that moves only when told to, also for users' tests."""

    def __init__(self, start: int | str):
        self._now = parse_time(start) if isinstance(start, str) else start

    def now(self) -> int:
        return self._now

    def advance(self, *, days: float = 0, hours: float = 0, seconds: float = 0, ms: int = 0) -> None:
        self._now += round(days * DAY + hours * HOUR + seconds * SECOND) + ms


def clock_from(environ: Mapping[str, str]) -> Clock:
    """`RECOLLECT_NOW` sets the clock for the whole process."""
    fixed = environ.get("RECOLLECT_NOW")
    if not fixed:
        return SystemClock()
    try:
        return ScriptedClock(fixed)
    except BadInput as error:
        raise BadInput(f"RECOLLECT_NOW: {error}") from None


def parse_time(text: str) -> int:
    """ISO 8601 to milliseconds; a time without a zone is UTC, a bare date is its midnight."""
    from datetime import UTC, datetime

    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        raise BadInput(f"{text!r} is not an ISO 8601 time such as 2026-03-01T09:30:00Z") from None
    if moment.year not in YEARS:
        raise BadInput(f"{text!r} cannot be used: years are {YEARS[0]} to {YEARS[-1]}")
    moment = moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return round(moment.timestamp() * 1000)


def iso(ms: int) -> str:
    """Milliseconds to ISO 8601 UTC; an instant outside the calendar, as in a damaged store, becomes its edge."""
    from datetime import UTC, datetime

    ms = min(max(ms, _FIRST), _LAST)
    moment = datetime.fromtimestamp(ms / 1000, UTC)
    text = moment.isoformat(timespec="milliseconds" if ms % 1000 else "seconds")
    return text.replace("+00:00", "Z")


def zone_named(name: str) -> tzinfo:
    if name in ("UTC", "Etc/UTC"):  # the start of a session then reads no time zone files
        from datetime import UTC

        return UTC
    from zoneinfo import ZoneInfo

    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError):
        raise BadInput(f"{name!r} is not an IANA time zone such as Europe/Berlin; set timezone") from None


def day_of(ms: int, zone: tzinfo) -> date:
    """The calendar day of an instant; at the calendar's edges, in UTC."""
    from datetime import date, datetime

    try:
        return datetime.fromtimestamp(ms / 1000, zone).date()
    except (ValueError, OverflowError):
        return date.fromisoformat(iso(ms)[:10])
