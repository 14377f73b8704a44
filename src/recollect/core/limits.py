"""How many and how long: one rule for every limit and every text a caller may give."""

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


def as_text(value: object, name: str) -> str:
    """What a caller without a type checker may get wrong; the rooms rely on it."""
    if not isinstance(value, str):
        raise BadInput(f"{name} must be text, not {type(value).__name__}")
    return value


def check_text(text: object, name: str, *, most: int) -> None:
    """A text of at most so many characters; anything else is refused, never cut."""
    if (length := len(as_text(text, name))) > most:
        raise BadInput(f"{name} has {length:,} characters; {most:,} is the most. Keep the rest in the log")


def says_nothing(text: str) -> bool:
    """Whether there is nothing to see in a text: zero-width and private characters are nothing."""
    if text[:1].isalnum():  # nearly always
        return False
    return not any(letter.isprintable() for letter in text if not letter.isspace())
