"""Confidence as integer thousandths inside and as a decimal outside.

Integers because 0.55 + 0.05 must reach the injection bar of 0.6 exactly, on every engine.
"""

from __future__ import annotations

from recollect.core.errors import BadInput

FULL = 1000


def thousandths(value: float, name: str = "confidence") -> int:
    """A decimal between 0 and 1 as thousandths; anything else is refused, never clamped."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{name} must be a number between 0 and 1, not {value!r}")
    if not 0 <= value <= 1:  # NaN and the infinities are not
        raise BadInput(f"{name} must be between 0 and 1, not {value}")
    return round(value * FULL)


def decimal(stored: int) -> float:
    """Thousandths as the decimal people see."""
    return stored / FULL
