"""Opening a memory for a command, and saying who is at the keyboard.

Trust comes from the channel: a terminal is a person's, unless a host's environment says that an agent types.
"""

from __future__ import annotations

import os

from recollect.core.actor import Actor
from recollect.memory import Memory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

HOSTS = {
    "CLAUDECODE": "claude-code",
    "CLAUDE_CODE_ENTRYPOINT": "claude-code",
    "CODEX_SANDBOX": "codex",
    "CODEX_THREAD_ID": "codex",
    "GEMINI_CLI": "gemini",
    "OPENCLAW_SESSION": "openclaw",
    "CURSOR_AGENT": "cursor",
    "AI_AGENT": "agent",
}


def actor_of(environ: Mapping[str, str]) -> Actor:
    """Who runs this process."""
    for variable, host in HOSTS.items():
        if environ.get(variable):
            return Actor(name=host, channel="cli", trust="agent")
    return Actor(name=environ.get("USER") or environ.get("LOGNAME") or "person", channel="cli", trust="human")


def open_memory(project: str | None = None) -> Memory:
    """The memory of the folder a command runs in, or of `--project`."""
    return Memory.open(project or ".", actor=actor_of(os.environ))
