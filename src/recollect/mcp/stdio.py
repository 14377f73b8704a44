"""MCP on standard input and output: one message a line, one client a process.

The server starts in every folder. Where there is no memory it lists one tool that says how to begin; a server that
failed would be hidden by some clients for minutes, in every project.
"""

from __future__ import annotations

import json
import sys

from recollect.core.context import Actor
from recollect.core.errors import RecollectError
from recollect.mcp.protocol import PARSE_ERROR, answer, failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from recollect.memory import Memory

CHANGED = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
NAME_CHARACTERS = 80


class Conversation:
    """One client: the name it gave, and the memory once a call opened it.

    `begun` says whether there is a memory here; `opened` opens it.
    """

    def __init__(self, begun: Callable[[], bool], opened: Callable[[], Memory]):
        self._begun = begun
        self._opened = opened
        self._memory: Memory | None = None
        self._client = "mcp"

    def said(self, line: bytes) -> list[dict[str, Any]]:
        """What to send for a line of the client's."""
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            return [failure(PARSE_ERROR, "the message is not JSON")]
        before = self._memory is not None or self._begun()
        if isinstance(message, dict) and message.get("method") == "initialize":
            self._client = _name_of(message) or self._client
        sent = answer(message, self._acting, begun=before)
        after = before or self._begun()
        return [*([sent] if sent else []), *([CHANGED] if after and not before else [])]

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()

    def _acting(self, writing: bool) -> Memory:
        if self._memory is None:
            self._memory = self._opened()
        return self._memory.acting_as(Actor(name=self._client, channel="mcp", trust="agent"))


def _name_of(message: dict[str, Any]) -> str:
    """The client's name as it gives it; the name grants nothing."""
    from recollect.text.frame import one_line

    params = message.get("params")
    client = params.get("clientInfo") if isinstance(params, dict) else None
    name = client.get("name") if isinstance(client, dict) else None
    return one_line(name)[:NAME_CHARACTERS] if isinstance(name, str) else ""


def speak(begun: Callable[[], object], opened: Callable[[], Memory]) -> None:
    """Answer until the client goes away. Nothing but the protocol reaches standard output."""
    out, sys.stdout = sys.stdout.buffer, sys.stderr

    def is_begun() -> bool:
        try:
            begun()
        except RecollectError:
            return False
        return True

    conversation = Conversation(is_begun, opened)
    try:
        for line in sys.stdin.buffer:
            if line.strip():
                for message in conversation.said(line):
                    out.write(json.dumps(message, ensure_ascii=False).encode("utf-8", "replace") + b"\n")
                out.flush()
    except BrokenPipeError:
        pass  # the client went away
    finally:
        conversation.close()
