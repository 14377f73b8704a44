"""How many: one rule for every limit a caller may give."""

from __future__ import annotations

from recollect.core.errors import BadInput

MOST = 1000


def check_limit(limit: object, name: str = "limit", *, most: int = MOST) -> int:
    """A whole number from 1 to `most`; anything else is refused, never clamped."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not 1 <= limit <= most:
        raise BadInput(f"{name} must be a whole number between 1 and {most:,}, not {limit!r:.40}")
    return limit
