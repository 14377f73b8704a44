"""The lines an author says in their own voice: outside fenced code blocks, quotes and HTML comments.

What an agent shows (a file, a tool's output, somebody's message) it fences or quotes. A marker in there is
not the agent's word. Nor is one in a comment: nobody who reads the rendered message sees it. A fence or comment
that is never closed hides the rest, as in Markdown: unsure means not said.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

# A fence or quote may stand in a list item. Possessive, so that no line costs more than its length.
_LIST = r"[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++){0,4}+"
_FENCE = re.compile(rf"{_LIST}(?:(?P<ticks>`{{3,}}+)[^`\n]*+$|(?P<tildes>~{{3,}}+))")
_QUOTE = re.compile(rf"{_LIST}>")
_COMMENT = re.compile(rf"{_LIST}<!--")
_WHOLE_LINES = "until a line closes it"
_WITHIN_PARAGRAPH = "until it is closed or the paragraph ends"


def own_lines(text: str) -> Iterator[str]:
    """The lines that are neither fenced, quoted nor commented out, without their line feeds; nothing else ends a line.

    A comment within a line leaves a space. One that begins a line takes whole lines, until a line closes it; one that
    begins later ends with its paragraph.
    """
    fence = comment = ""
    for line in _lines(text):
        if comment == _WHOLE_LINES:
            if "-->" in line:
                comment = ""
        elif fence:
            if _closes(line, fence):
                fence = ""
        elif opening := _FENCE.match(line):  # ends a paragraph, and with it a comment that began there
            fence, comment = opening["ticks"] or opening["tildes"], ""
        elif comment and line.strip():
            _, closed, rest = line.partition("-->")
            if closed:
                shown, comment = _without_comments(rest)
                yield shown
        elif begun := _COMMENT.match(line):
            comment = "" if "-->" in line[begun.end() - 2 :] else _WHOLE_LINES  # `<!-->` is a whole comment
        elif not _QUOTE.match(line):
            shown, comment = _without_comments(line)
            yield shown


def _without_comments(line: str) -> tuple[str, str]:
    """A line without the comments in it, and how far one goes that is still open. `<!--` in code opens none."""
    shown: list[str] = []
    start = looked = ticks = 0
    while (at := line.find("<!--", looked)) >= 0:
        ticks += line.count("`", looked, at)
        looked = at + 4
        if ticks % 2:
            continue
        shown.append(line[start:at])
        end = line.find("-->", at + 2)
        if end < 0:
            return " ".join(shown), _WITHIN_PARAGRAPH
        start = looked = end + 3
    return " ".join([*shown, line[start:]]), ""


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
