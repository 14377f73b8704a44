"""How long a hook may take, always less than the host would wait, and the alarm that sees to it."""

from __future__ import annotations

# What `signal` adds to it is names for numbers.
from _signal import ITIMER_REAL, SIGALRM, setitimer, signal  # type: ignore[import-not-found]
from contextlib import contextmanager

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

SECONDS = {"prompt": 4.0, "subagent": 4.0, "end": 1.0, "cycle": 110.0, "heartbeat": 110.0}
"""What a moment may take. Claude Code gives all hooks of a session's end 1.5 seconds together."""
OTHERWISE = 8.0


class OutOfTime(BaseException):
    """The time is up. No room catches it by accident: it is no Exception."""


def seconds_for(kind: str) -> float:
    return SECONDS.get(kind, OTHERWISE)


@contextmanager
def time_limit(seconds: float) -> Iterator[None]:
    """Raise OutOfTime in the block when it takes longer."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(f"took longer than {seconds:g} seconds")

    before = signal(SIGALRM, ring)
    setitimer(ITIMER_REAL, max(seconds, 0.01))  # nothing would switch the alarm off
    try:
        yield
    finally:
        setitimer(ITIMER_REAL, 0)
        signal(SIGALRM, before)
