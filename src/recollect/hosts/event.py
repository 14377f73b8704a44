"""An event of an agent's session, whatever host reports it, and which host runs this process."""

from __future__ import annotations

import os

from recollect.core.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any


@record
class HostEvent:
    """What a host reported. A text that it left out is empty.

    `kind` is start, prompt, subagent, before_compact, after_compact, stop, subagent_stop, task or end; our own
    configuration adds cycle.
    """

    kind: str
    event: str
    host: str
    session: str
    folder: str
    agent: str = ""
    transcript: str = ""
    prompt: str = ""
    answer: str = ""
    topic: str = ""
    text: str = ""
    fresh: bool = False
    """The agent's context begins anew with this event."""
    pid: int = 0
    """The host's process; 0 when it is not known."""
    brief_too: bool = False
    """A brief may be added to the answer, unless the agent has one."""


def text(given: Mapping[str, Any], *names: str) -> str:
    """The first value that is a text; a host may leave any of them out, or change a type between releases."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def path(given: Mapping[str, Any], name: str) -> str:
    """A path that the host names; empty when no file can have that name."""
    place = text(given, name)
    try:
        return "" if b"\0" in os.fsencode(place) else place
    except ValueError:
        return ""


def session_id(given: Mapping[str, Any]) -> str:
    """A host's session id, without characters that a file name cannot hold."""
    return "".join(c for c in text(given, "session_id") if c.isascii() and (c.isalnum() or c in "._:-"))[:100]


_VARIABLES = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini",
    "OPENCLAW_SESSION": "openclaw",
    "CURSOR_AGENT": "cursor",
    "AI_AGENT": "agent",
}


def running(environ: Mapping[str, str]) -> list[str]:
    """The hosts whose environment this process runs in; none when a person types."""
    return list(dict.fromkeys(host for variable, host in _VARIABLES.items() if environ.get(variable)))
