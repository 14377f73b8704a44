"""OpenClaw: no payloads; its heartbeat and its agent run our command and read plain text."""

from __future__ import annotations

from recollect.hosts.event import HostEvent, session_id, text
from recollect.text.frame import ContextBudget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "openclaw"
ROOM = ContextBudget(characters=10_000)
ASYNC = True  # the heartbeat
MOMENTS = {"SessionStart": "start", "Heartbeat": "heartbeat"}


def read(event: str, given: Mapping[str, Any]) -> HostEvent | None:
    kind = MOMENTS.get(event)
    if kind is None:
        return None
    return HostEvent(
        kind=kind, event=event, host=NAME, session=session_id(given), folder=text(given, "cwd"), fresh=True
    )


def answer(moment: HostEvent, text: str) -> str:
    return text
