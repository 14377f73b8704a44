"""Numbers with their noun: `1 node`, `2 nodes`, `3 entries`, `5 minutes`."""

from __future__ import annotations

from collections.abc import Sequence

NAMED = 10
"""How many names a line lists before it only counts the rest."""


def counted(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{count:,} {plural}"


def how_long(ms: int) -> str:
    """A stretch of time in the largest unit that it fills."""
    for unit, length in (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000)):
        if ms >= length:
            return counted(ms // length, unit)
    return "less than a minute"


def named(names: Sequence[str]) -> str:
    """How many, and which: `2 (a, b)`; of many only the first are named."""
    if not names:
        return "0"
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{len(names):,} ({', '.join(names[:NAMED])}{more})"
