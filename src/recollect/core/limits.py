"""How many: one rule for every limit a caller may give."""

from __future__ import annotations

from recollect.core.errors import BadInput

MOST = 1000
FURTHEST = 2**31 - 1


def check_limit(limit: object, name: str = "limit", *, least: int = 1, most: int = MOST) -> int:
    """A whole number from `least` to `most`; anything else is refused, never clamped."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not least <= limit <= most:
        raise BadInput(f"{name} must be a whole number between {least} and {most:,}, not {limit!r:.40}")
    return limit


def check_page(limit: object, offset: object) -> None:
    """Which part of a list is wanted."""
    check_limit(limit)
    check_limit(offset, "offset", least=0, most=FURTHEST)
