"""Hook events fired in this process, as a host would fire them, with what the agent is then shown."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from recollect.hosts.hook import respond

RECORDED = Path(__file__).parent / "data" / "hosts"


class Hooks:
    """A host in a project."""

    def __init__(self, folder: Path, environ: dict[str, str], *, host: str = "claude-code", session: str = "s-1"):
        self.folder = folder
        self.environ = environ
        self.host = host
        self.session = session

    def fire(self, event: str, *, pid: int = 0, **given: Any) -> str:
        """What the agent is shown at an event; empty for silence. `pid` is the host's process."""
        printed: list[str] = []
        payload = {"session_id": self.session, "cwd": str(self.folder), "hook_event_name": event, **given}
        respond(self.host, event, payload, self.environ, printed.append, pid=pid)
        assert len(printed) <= 1
        return shown(printed[0]) if printed else ""


def shown(answer: str) -> str:
    """What the agent is shown; the line for its user (`systemMessage`) stands beside it."""
    inner = json.loads(answer).get("hookSpecificOutput")
    if inner is None:
        return ""
    assert inner.keys() == {"hookEventName", "additionalContext"}
    text = inner["additionalContext"]
    assert isinstance(text, str)
    return text


def transcript(path: Path, *turns: tuple[str, str], files: tuple[str, ...] = ()) -> str:
    """Append turns to a Claude Code transcript; gives its path."""
    with path.open("a", encoding="utf-8") as file:
        for asked, answered in turns:
            lines: list[dict[str, Any]] = [{"type": "user", "message": {"role": "user", "content": asked}}]
            edits = [{"type": "tool_use", "name": "Edit", "input": {"file_path": each}} for each in files]
            lines += [{"type": "assistant", "message": {"content": [block]}} for block in edits]
            if answered:
                said = [{"type": "text", "text": answered}]
                lines.append({"type": "assistant", "message": {"role": "assistant", "content": said}})
            file.writelines(json.dumps(line) + "\n" for line in lines)
    return str(path)
