"""What a script is written in: requests as they came, replies, and the ways in which a server fails."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Wire = Literal["anthropic", "openai", "gemini", "embeddings"]


@dataclass(frozen=True, kw_only=True)
class ToolUse:
    """A tool the model wants called; the ids are the server's."""

    name: str
    input: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the model says. Without `stop`, it stops as a model does: at its end, or to have its tools called."""

    text: str = ""
    tools: Sequence[ToolUse] = ()
    stop: str | None = None  # in Anthropic's words: end_turn, max_tokens, tool_use, refusal
    input_tokens: int | None = None  # None counts the request's words
    output_tokens: int | None = None  # None counts the reply's words
    delay: float = 0.0  # seconds before the first byte
    pause: float = 0.0  # seconds between two events of a stream
    cut_after: int | None = None  # the connection ends after so many bytes of the body


@dataclass(frozen=True, kw_only=True)
class Fault:
    """An answer that is none: an error in the words of the wire, or any bytes at all."""

    status: int = 500
    message: str = "scripted fault"
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None  # sent as it is, in place of the wire's own error
    delay: float = 0.0
    cut_after: int | None = None


@dataclass(frozen=True, kw_only=True)
class Request:
    """One request as it came, key and all: it never left this machine."""

    method: str
    path: str  # without the query
    headers: Mapping[str, str]  # names in lower case
    body: Mapping[str, Any]
    wire: Wire

    @property
    def model(self) -> str:
        if self.wire == "gemini":
            return self.path.rpartition("/")[2].partition(":")[0]
        return str(self.body.get("model", ""))

    @property
    def stream(self) -> bool:
        return bool(self.body.get("stream")) or self.path.endswith(":streamGenerateContent")

    @property
    def system(self) -> str:
        """The instructions, from where this wire keeps them."""
        if self.wire == "anthropic":
            return said(self.body.get("system"))
        if self.wire == "gemini":
            return said((self.body.get("systemInstruction") or {}).get("parts"))
        return "\n".join(_words(each) for each in self._messages if each.get("role") in ("system", "developer"))

    @property
    def text(self) -> str:
        """What the last message says, tool results included."""
        return _words(self._messages[-1]) if self._messages else ""

    @property
    def conversation(self) -> str:
        """What all messages say, in order."""
        return "\n".join(map(_words, self._messages))

    @property
    def inputs(self) -> list[str]:
        """The texts to be embedded."""
        given = self.body.get("input", [])
        return [given] if isinstance(given, str) else [str(each) for each in given]

    @property
    def _messages(self) -> list[Mapping[str, Any]]:
        given = self.body.get("contents" if self.wire == "gemini" else "messages", [])
        return [each for each in given if isinstance(each, Mapping)]


Line = str | Reply | Fault | Callable[[Request], "str | Reply | Fault"]
Script = Sequence[Line] | Callable[[Request], str | Reply | Fault]
Vectors = Callable[[Request], Sequence[Sequence[float]] | Fault]


def _words(message: Mapping[str, Any]) -> str:
    return said(message.get("content") or message.get("parts"))


def said(content: Any) -> str:
    """The words of a message, whichever way it carries them: a text, or a list of blocks that may hold others."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    blocks = [each for each in content if isinstance(each, Mapping)]
    parts = [each.get("text") or said(each.get("content")) or _returned(each) for each in blocks]
    return "\n".join(part for part in parts if part)


def _returned(block: Mapping[str, Any]) -> str:
    """What a function gave, where the wire brings an object of its own for it."""
    given = block.get("functionResponse")
    return json.dumps(given["response"]) if isinstance(given, Mapping) and "response" in given else ""
