"""Who acts, and the record of what they changed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Trust = Literal["human", "agent", "external"]
TRUSTS: tuple[Trust, ...] = ("human", "agent", "external")


@dataclass(frozen=True, kw_only=True)
class Actor:
    """Who writes, through which channel. The channel decides the trust, never the text."""

    name: str
    channel: str
    trust: Trust


@dataclass(frozen=True, kw_only=True)
class Event:
    """One change to one thing. Events of one transaction share `change`, so that undo takes them back together."""

    seq: int
    change: str
    at: int
    subject: str
    what: str
    who: str
    channel: str
    trust: Trust
    old: dict[str, Any]
    new: dict[str, Any]
    reason: str


def lowest(*trusts: Trust) -> Trust:
    """Derived text is as trustworthy as its worst source."""
    return max(trusts, key=TRUSTS.index)
