"""The lines an author says in their own voice: outside fenced code blocks and quotes.

What an agent shows (a file, a tool's output, somebody's message) it fences or quotes. A marker in there is
not the agent's word. A fence that is never closed hides the rest, as in Markdown: unsure means not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A fence or quote may stand in a list item. Possessive, so that no line costs more than its length.
_LIST = r"[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++){0,4}+"
_FENCE = re.compile(rf"{_LIST}(?:(?P<ticks>`{{3,}}+)[^`\n]*+$|(?P<tildes>~{{3,}}+))")
_QUOTE = re.compile(rf"{_LIST}>")


def own_lines(text: str) -> Iterator[str]:
    """The lines that are neither fenced nor quoted, without their line feeds; nothing else ends a line."""
    fence = ""
    for line in _lines(text):
        if fence:
            if _closes(line, fence):
                fence = ""
        elif opening := _FENCE.match(line):
            fence = opening["ticks"] or opening["tildes"]
        elif not _QUOTE.match(line):
            yield line


def _closes(line: str, fence: str) -> bool:
    run = line.strip(" \t\r")
    return len(run) >= len(fence) and run == fence[0] * len(run)


def _lines(text: str) -> Iterator[str]:
    """One line at a time: a transcript may be a hundred megabytes."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]
