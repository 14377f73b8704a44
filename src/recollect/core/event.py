"""The record of a change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from recollect.core.record import record

if TYPE_CHECKING:
    from recollect.core.actor import Trust


@record
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
