"""Markdown as files carry it: frontmatter, fences, headings.

Reads what people and other tools wrote, so nothing here trusts its input: frontmatter that cannot be read
safely counts as absent. Knows nothing about entries or nodes.

The lines an author says in their own voice: outside fenced code blocks, quotes and HTML comments.

What an agent shows (a file, a tool's output, somebody's message) it fences or quotes. A marker in there is
not the agent's word. Nor is one in a comment: nobody who reads the rendered message sees it. A fence or comment
that is never closed hides the rest, as in Markdown: unsure means not said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

_FRONTMATTER_LINES = 2_000
_FRONTMATTER_CHARS = 200_000
_FRONTMATTER_DEPTH = 8

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r"(#{1,6})(?=[ \t]|$)")
_FOREIGN_TOPICS = re.compile(r"topics:[ \t]+(?![ \t]*(?:\[.*\][ \t]*$|['\"|>&*!]))(.+)")
_CONFLICT = re.compile(r"^<{7} .*$(?:\n.*)*?\n={7}$(?:\n.*)*?\n>{7} ", re.MULTILINE)


def frontmatter(text: str) -> tuple[dict[str, Any], str]:
    """The fields before the text, all scalars as strings, and the text.

    Absent, never closed, hostile or broken frontmatter gives no fields and the whole text.
    """
    text = text.removeprefix("\ufeff")
    if "\r" in text[:_FRONTMATTER_CHARS]:
        text = text.replace("\r\n", "\n")
    if not text.startswith("---\n"):
        return {}, text
    end = _end_of_frontmatter(text)
    if end is None:
        return {}, text
    fields = _yaml(text[4 : end[0]])
    return ({}, text) if fields is None else (fields, text[end[1] :])


def with_frontmatter(fields: Mapping[str, Any], body: str) -> str:
    """A file: fields in the given order, a blank line, the body, one newline at the end."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    head = yaml.dump(dict(fields), Dumper=dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    return f"---\n{head}---\n\n{body.strip(chr(10))}\n"


class Fences:
    """Follows code fences line by line."""

    def __init__(self) -> None:
        self.fence = ""

    def inside(self, line: str) -> bool:
        """Whether this line belongs to a fence, the fence's own lines included."""
        mark = _FENCE.match(line)
        if self.fence:
            if mark and mark[1].startswith(self.fence) and not mark[2].strip():
                self.fence = ""
            return True
        if mark and not (mark[1][0] == "`" and "`" in mark[2]):
            self.fence = mark[1]
            return True
        return False


def fenced(lines: Iterable[str]) -> Iterator[tuple[str, bool]]:
    """Each line and whether it belongs to a code fence."""
    fences = Fences()
    return ((line, fences.inside(line)) for line in lines)


def close_fence(text: str) -> str:
    """The text with its last fence closed, so that it cannot swallow what follows."""
    fences = Fences()
    for line in text.split("\n"):
        fences.inside(line)
    return f"{text.rstrip(chr(10))}\n{fences.fence}" if fences.fence else text


def heading(line: str) -> tuple[int, str] | None:
    """Level and title of an ATX heading at the start of a line."""
    mark = _HEADING.match(line)
    return (len(mark[1]), line[mark.end() :].strip()) if mark else None


def demote(text: str) -> str:
    """Every heading one level down; the sixth level has nowhere to go."""
    return _shift(text, lambda level: min(level + 1, 6))


def promote(text: str) -> str:
    """Every heading one level up: takes `demote` back for all but the deepest."""
    return _shift(text, lambda level: max(level - 1, 1))


def sections(text: str, level: int) -> list[tuple[str, str]]:
    """The parts of a text under its headings of one level; what comes before the first has an empty title."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line, in_fence in fenced(text.split("\n")):
        found = None if in_fence else heading(line)
        if found and found[0] == level:
            parts.append((found[1], []))
        else:
            parts[-1][1].append(line)
    return [(title, "\n".join(lines)) for title, lines in parts]


def without_fences(text: str) -> str:
    return "\n".join(line for line, in_fence in fenced(text.split("\n")) if not in_fence)


def has_conflict(text: str) -> bool:
    """Whether git left its conflict markers in the text."""
    return bool(_CONFLICT.search(text))


def without_conflict_marks(lines: Iterable[str]) -> Iterator[str]:
    """Both sides of every conflict: an append-only file lost nothing, git only could not order it."""
    side = ""
    for line in lines:
        if line.startswith("<<<<<<< "):
            side = "ours"
        elif side and line.startswith("||||||| "):
            side = "base"
        elif side and line == "=======":
            side = "theirs"
        elif side and line.startswith(">>>>>>> "):
            side = ""
        elif side != "base":
            yield line


def _shift(text: str, to: Callable[[int], int]) -> str:
    lines = []
    for line, in_fence in fenced(text.split("\n")):
        found = None if in_fence else heading(line)
        lines.append("#" * to(found[0]) + line[found[0] :] if found else line)
    return "\n".join(lines)


def _end_of_frontmatter(text: str) -> tuple[int, int] | None:
    """Where the closing line starts and where the body begins."""
    start = 4
    for _ in range(_FRONTMATTER_LINES):
        stop = text.find("\n", start)
        line = text[start : stop if stop >= 0 else len(text)]
        if line.rstrip() in ("---", "..."):
            body = stop + 1 if stop >= 0 else len(text)
            return start, body + 1 if text.startswith("\n", body) else body
        if stop < 0 or stop > _FRONTMATTER_CHARS:
            return None
        start = stop + 1
    return None


def _yaml(text: str) -> dict[str, Any] | None:
    """Fields, or None for what is no mapping, holds an alias, nests deeply, repeats a key or is not YAML."""
    import yaml

    # Other tools write `topics: C# [project], issue #12`, which YAML would cut at the second `#`.
    text = "\n".join(_quoted_topics(line) for line in text.split("\n"))
    base: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

    class Loader(base):  # type: ignore[misc]
        def construct_mapping(self, node: Any, deep: bool = False) -> Any:
            keys = [key.value for key, _ in node.value]
            if len(keys) != len({str(key) for key in keys}):
                raise yaml.YAMLError("repeated key")
            return super().construct_mapping(node, deep)

    try:
        depth = 0
        for event in yaml.parse(text, Loader=base):
            if isinstance(event, yaml.AliasEvent):
                return None
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _FRONTMATTER_DEPTH:
                return None
        fields = yaml.load(text, Loader=Loader)
    except (yaml.YAMLError, ValueError):
        return None
    return fields if isinstance(fields, dict) else None


def _quoted_topics(line: str) -> str:
    found = _FOREIGN_TOPICS.fullmatch(line)
    return f"topics: {json.dumps(found[1].strip())}" if found else line


# A fence or quote may stand in a list item. Possessive, so that no line costs more than its length.
_LIST = r"[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++){0,4}+"
_PROSE_FENCE = re.compile(rf"{_LIST}(?:(?P<ticks>`{{3,}}+)[^`\n]*+$|(?P<tildes>~{{3,}}+))")
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
        elif opening := _PROSE_FENCE.match(line):  # ends a paragraph, and with it a comment that began there
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
