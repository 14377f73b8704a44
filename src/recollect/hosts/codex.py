"""Codex: the same events as Claude Code under the same names, with less room and a summary only in the transcript."""

from __future__ import annotations

from recollect.hosts import claude_code
from recollect.hosts.claude_code import answer
from recollect.hosts.event import HostEvent, text
from recollect.text.frame import ContextBudget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

__all__ = ["ASYNC", "NAME", "ROOM", "answer", "read"]

NAME = "codex"
ROOM = ContextBudget(characters=10_000, tokens=2_500)
ASYNC = False


def read(event: str, given: Mapping[str, Any]) -> HostEvent | None:
    moment = claude_code.read(event, given)
    if moment is None:
        return None
    changes: dict[str, Any] = {"host": NAME}
    if text(given, "source") == "compact":
        changes["fresh"] = False  # its PreCompact was; and a resumed session, compacted at once, starts twice
    if moment.kind == "after_compact" and not moment.text:
        from recollect.capture.session import ending

        changes["text"] = ending(NAME, moment.transcript).summary
    return HostEvent(**{**vars(moment), **changes})
