"""Gemini CLI: its own names for the same moments; a prompt comes with what hooks put around it, an answer in pieces."""

from __future__ import annotations

from recollect.hosts.claude_code import answer
from recollect.hosts.event import HostEvent, path, session_id, text
from recollect.text.frame import ContextBudget
from recollect.text.transcript import own_words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["ASYNC", "NAME", "ROOM", "answer", "read"]

NAME = "gemini"
ROOM = ContextBudget(characters=10_000)
"""It sets no limit itself; the brief and what a prompt brings have this much each."""
ASYNC = False

MOMENTS = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterAgent": "stop",
    "PreCompress": "before_compact",
    "SessionEnd": "end",
}
_IDLE = (("PreCompress", "auto"), ("SessionStart", "clear"))
"""It asks before every request whether to compress, and mostly does not; what is said to a clear is thrown away."""


def read(event: str, given: Mapping[str, Any]) -> HostEvent | None:
    kind = MOMENTS.get(event)
    if kind is None or (event, text(given, "trigger", "source")) in _IDLE:
        return None
    return HostEvent(
        kind=kind,
        event=event,
        host=NAME,
        session=session_id(given),
        folder=path(given, "cwd"),
        transcript=path(given, "transcript_path"),
        prompt=own_words(text(given, "prompt")),
        answer=_whole(text(given, "prompt_response"), path(given, "transcript_path")),
        text=text(given, "reason"),
        fresh=kind == "before_compact" or text(given, "source") == "startup",
        brief_too=kind == "prompt",  # after a clear or a compression it is the next that reaches the agent
    )


def _whole(answer: str, transcript: str) -> str:
    """An answer as the transcript has it: in the payload, pieces of the stream stand twice and apart."""
    if not answer:
        return ""
    from recollect.capture.session import ending

    said = ending(NAME, transcript).answer
    return said if said and _letters(said) in _letters(answer) else answer


def _letters(text: str) -> str:
    return "".join(text.split())
