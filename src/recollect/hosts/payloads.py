"""The supported hosts: reads their hook payloads as events of a session, and writes our answers in their format."""

from __future__ import annotations

import json
import os
import re

from recollect.core.errors import BadInput
from recollect.core.records import record, replace
from recollect.text.tokens import ROOMS, ContextBudget

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any


@record
class HostEvent:
    """What a host reported; a text that it left out is empty.

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
    """The host's process; 0 if unknown."""
    brief_too: bool = False
    """The answer includes a brief if the agent has none."""


def text(given: Mapping[str, Any], *names: str) -> str:
    """The first of these values that is a text; a host may omit any, or change its type between releases."""
    for name in names:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return value
    return ""


def path(given: Mapping[str, Any], name: str) -> str:
    """A path that the host names; empty if no file can have it."""
    place = text(given, name)
    try:
        return "" if b"\0" in os.fsencode(place) else place
    except ValueError:
        return ""


def session_id(given: Mapping[str, Any]) -> str:
    """The session id, without characters that file names cannot contain."""
    return "".join(c for c in text(given, "session_id") if c.isascii() and (c.isalnum() or c in "._:-"))[:100]


def answer(event: HostEvent, text: str, message: str = "") -> str:
    """Our answer as every host reads it: a text for the agent, and a line that the host shows its user."""
    inner = {"hookSpecificOutput": {"hookEventName": event.event, "additionalContext": text}} if text else {}
    line = {"systemMessage": " ".join(message.split())} if message else {}
    return json.dumps({**inner, **line}, ensure_ascii=False)


@record
class Host:
    """One agent program. `kinds` maps its event names to ours; `read` returns None for an event that we ignore."""

    kinds: Mapping[str, str]
    read: Callable[[str, Mapping[str, Any]], HostEvent | None]
    room: ContextBudget = ContextBudget()
    """Limits of one answer; only Claude Code and Codex set any."""
    runs_async: bool = False
    """Whether it can run a hook, such as the cycle, in the background."""
    delegates: bool = False
    """Whether its transcript says what a subagent was asked, perhaps only just after the subagent's start."""


def _event(kind: str, event: str, host: str, given: Mapping[str, Any], **said: Any) -> HostEvent:
    folder, transcript = path(given, "cwd"), path(given, "transcript_path")
    session = session_id(given)
    return HostEvent(kind=kind, event=event, host=host, session=session, folder=folder, transcript=transcript, **said)


_CLAUDE_CODE = {
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


def _read_claude_code(event: str, given: Mapping[str, Any], host: str = "claude-code") -> HostEvent | None:
    kind = _CLAUDE_CODE.get(event)
    if kind is None or (event == "SubagentStop" and not text(given, "agent_type")):
        return None  # an agent without a type belongs to the host, such as the one that summarises for a compaction
    prompt = text(given, "prompt")
    if prompt.startswith("<"):  # perhaps a message of the host, such as that a subagent has finished
        from recollect.text.transcript import own_words

        prompt = own_words(prompt)
    return _event(
        kind,
        event,
        host,
        given,
        agent=text(given, "agent_id"),
        prompt=prompt,
        answer=text(given, "last_assistant_message"),
        topic=text(given, "task_subject", "agent_type"),
        text=_bare(text(given, "compact_summary", "task_description", "reason")),
        fresh=kind == "before_compact" or text(given, "source") in _FRESH,
    )


def _bare(text: str) -> str:
    """A compaction's summary without the host's tags and the model's analysis."""
    return text and re.sub(r"<analysis>.*?</analysis>|</?summary>", "", text, flags=re.DOTALL).strip()


def _read_codex(event: str, given: Mapping[str, Any]) -> HostEvent | None:
    """Claude Code's events under the same names; a compaction's summary is only in the transcript."""
    found = _read_claude_code(event, given, "codex")
    if found and text(given, "source") == "compact":
        # PreCompact was fresh already; and a resumed session that is compacted at once starts twice.
        found = replace(found, fresh=False)
    if found and found.kind == "after_compact" and not found.text:
        from recollect.capture.turns import ending

        return replace(found, text=ending("codex", found.transcript).summary)
    return found


_GEMINI = {
    "SessionStart": "start",
    "BeforeAgent": "prompt",
    "AfterAgent": "stop",
    "PreCompress": "before_compact",
    "SessionEnd": "end",
}
_GEMINI_IDLE = (("PreCompress", "auto"), ("SessionStart", "clear"))
"""Ignored: it asks before every request whether to compress, and discards an answer to a clear."""


def _read_gemini(event: str, given: Mapping[str, Any]) -> HostEvent | None:
    """A prompt includes the text that hooks added; an answer comes in pieces of the stream (`_joined`)."""
    kind = _GEMINI.get(event)
    if kind is None or (event, text(given, "trigger", "source")) in _GEMINI_IDLE:
        return None
    from recollect.text.transcript import own_words

    return _event(
        kind,
        event,
        "gemini",
        given,
        prompt=own_words(text(given, "prompt")),
        answer=_joined(text(given, "prompt_response"), path(given, "transcript_path")),
        text=text(given, "reason"),
        fresh=kind == "before_compact" or text(given, "source") == "startup",
        brief_too=kind == "prompt",  # after a clear or a compression it sees no answer of ours before
    )


def _joined(answer: str, transcript: str) -> str:
    """The answer as in the transcript: the payload repeats and separates pieces of the stream."""
    if not answer:
        return ""
    from recollect.capture.turns import ending

    said = ending("gemini", transcript).answer
    return said if said and "".join(said.split()) in "".join(answer.split()) else answer


_OPENCLAW = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")


def _read_openclaw(event: str, given: Mapping[str, Any]) -> HostEvent | None:
    """What `plugins/openclaw` sends, under Claude Code's names. OpenClaw drops our additions after each turn."""
    found = _read_claude_code(event, given, "openclaw")
    return replace(found, fresh=True) if found and found.kind == "prompt" else found


HOSTS = {
    "claude-code": Host(kinds=_CLAUDE_CODE, read=_read_claude_code, runs_async=True, delegates=True),
    "codex": Host(kinds=_CLAUDE_CODE, read=_read_codex, room=ROOMS["codex"]),
    "gemini": Host(kinds=_GEMINI, read=_read_gemini),
    "openclaw": Host(kinds={event: _CLAUDE_CODE[event] for event in _OPENCLAW}, read=_read_openclaw),
}


def host_named(name: str) -> Host:
    if name not in HOSTS:
        raise BadInput(f"unknown host {name!r}. Choose one of: {', '.join(HOSTS)}")
    return HOSTS[name]
