"""A moment in an agent's session, whatever host it happens in.

Which agent program runs this process, as its environment says.
"""

from __future__ import annotations

import os

from recollect.core.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    from recollect.text.frame import ContextBudget
else:
    Protocol = object


@record
class HostEvent:
    """What a host said. Texts that it did not give are empty.

    `kind` is start, prompt, subagent, before_compact, after_compact, stop, subagent_stop, task or end; cycle and
    heartbeat are asked for by our own configuration, not by something that happened.
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
    """The agent's context begins anew with it."""
    brief_too: bool = False
    """A brief may come with it, where none is in front of the agent."""


class Adapter(Protocol):
    """What a host's module holds."""

    NAME: str
    ROOM: ContextBudget
    ASYNC: bool

    def read(self, event: str, given: Mapping[str, Any]) -> HostEvent | None:
        """The moment that an event of this host is; None for one that is not ours."""

    def answer(self, moment: HostEvent, text: str) -> str:
        """A text to put in front of the agent, in the host's form."""


def text(given: Mapping[str, Any], *names: str) -> str:
    """The first of some values that is a text; a host may leave out any of them, or change its mind about a type."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def path(given: Mapping[str, Any], name: str) -> str:
    """A place that the host names; empty when no file can be called so."""
    place = text(given, name)
    try:
        return "" if b"\0" in os.fsencode(place) else place
    except ValueError:
        return ""


def session_id(given: Mapping[str, Any]) -> str:
    """A host's session as an id that files and rows can carry."""
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
    """The hosts that are at work; none when a person types."""
    return list(dict.fromkeys(host for variable, host in _VARIABLES.items() if environ.get(variable)))
