"""Which agent program runs this process, as its environment says."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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
