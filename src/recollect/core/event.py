"""The record of a change."""

from __future__ import annotations

from recollect.core.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from recollect.core.choices import Trust


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
