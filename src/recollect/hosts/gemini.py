"""Gemini CLI: its own names for the same moments; a turn comes whole, with prompt and answer."""

from __future__ import annotations

from recollect.hosts.claude_code import answer
from recollect.hosts.moment import Moment, session_id, text
from recollect.inject.room import Room

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["ASYNC", "NAME", "ROOM", "answer", "read"]

NAME = "gemini"
ROOM = Room(characters=10_000)
ASYNC = False

MOMENTS = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterAgent": "stop",
    "PreCompress": "before_compact",
    "SessionEnd": "end",
}


def read(event: str, given: Mapping[str, Any]) -> Moment | None:
    kind = MOMENTS.get(event)
    if kind is None:
        return None
    return Moment(
        kind=kind,
        event=event,
        host=NAME,
        session=session_id(given),
        folder=text(given, "cwd"),
        prompt=text(given, "prompt"),
        answer=text(given, "prompt_response"),
        text=text(given, "reason"),
        fresh=kind == "before_compact" or text(given, "source") in ("startup", "clear"),
    )
