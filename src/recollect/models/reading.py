"""Reading what a model said: JSON if it was asked for JSON, with whatever it wrapped around it taken off."""

from __future__ import annotations

import json
import re
from typing import Any

from recollect.core.errors import BadInput

_FENCED = re.compile(r"\A```[\w-]*\n(.*?)\n?```\Z", re.DOTALL)
DEEPEST = 20


def unwrapped(text: str) -> str:
    """The text without a code fence around all of it."""
    text = text.strip()
    fenced = _FENCED.match(text)
    return fenced[1].strip() if fenced else text


def read_object(text: str) -> dict[str, Any]:
    """The JSON object a model was asked for."""
    try:
        given = json.loads(unwrapped(text))
    except (ValueError, RecursionError):
        raise BadInput("not the JSON that was asked for") from None
    if not isinstance(given, dict):
        raise BadInput("not a JSON object")
    return given


def read_text(given: dict[str, Any], name: str, *, most: int) -> str:
    """A field that must be words, on one line."""
    value = given.get(name)
    if not isinstance(value, str) or not value.strip():
        raise BadInput(f"{name} must be a text")
    value = " ".join(value.split())
    if len(value) > most:
        raise BadInput(f"{name} is longer than {most} characters")
    return value


def read_line(text: str, *, words: int) -> str:
    """A short text on one line, as a person would write it: no JSON, no marks."""
    line = " ".join(unwrapped(text).split()).rstrip(" .;:")
    if not line or line[0] in "{[<" or len(line.split()) > words or len(line) > 8 * words:
        raise BadInput(f"not one line of at most {words} words")
    return line


def words_in(text: str) -> list[str]:
    """The words of an answer or a source: the strings of a JSON document, or the text as it is."""
    try:
        given = json.loads(unwrapped(text))
    except (ValueError, RecursionError):
        return [text]
    return list(_strings(given, DEEPEST)) if isinstance(given, dict | list) else [text]


def _strings(value: Any, depth: int) -> Any:
    if depth < 0:
        raise BadInput("nested too deeply")
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for each in value:
            yield from _strings(each, depth - 1)
    elif isinstance(value, dict):
        for name, each in value.items():
            yield name
            yield from _strings(each, depth - 1)
