"""Claude Code: its hook payloads as moments, and answers in its form."""

from __future__ import annotations

import json
import re

from recollect.hosts.event import HostEvent, path, session_id, text
from recollect.text.frame import ContextBudget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "claude-code"
ROOM = ContextBudget(characters=10_000)
"""What is longer is put into a file that the agent would have to open."""
ASYNC = True
"""It can run a hook beside the session: the cycle is one."""

MOMENTS = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "SubagentStart": "subagent",
    "PreCompact": "before_compact",
    "PostCompact": "after_compact",
    "Stop": "stop",
    "SubagentStop": "subagent_stop",
    "TaskCompleted": "task",
    "SessionEnd": "end",
}
_FRESH = ("startup", "clear", "compact")


def read(event: str, given: Mapping[str, Any]) -> HostEvent | None:
    kind = MOMENTS.get(event)
    if kind is None or (event == "SubagentStop" and not text(given, "agent_type")):
        return None  # an agent without a type is the host's own, such as the one that writes a compaction's summary
    return HostEvent(
        kind=kind,
        event=event,
        host=NAME,
        session=session_id(given),
        folder=path(given, "cwd"),
        agent=text(given, "agent_id"),
        transcript=path(given, "transcript_path"),
        prompt=text(given, "prompt"),
        answer=text(given, "last_assistant_message"),
        topic=text(given, "task_subject", "agent_type"),
        text=_bare(text(given, "compact_summary", "task_description", "reason")),
        fresh=kind == "before_compact" or text(given, "source") in _FRESH,
    )


def _bare(text: str) -> str:
    """A compaction's summary without the tags, and the thinking, that its prompt asked for."""
    return text and re.sub(r"<analysis>.*?</analysis>|</?summary>", "", text, flags=re.DOTALL).strip()


def answer(moment: HostEvent, text: str) -> str:
    inner = {"hookEventName": moment.event, "additionalContext": text}
    return json.dumps({"hookSpecificOutput": inner}, ensure_ascii=False)
