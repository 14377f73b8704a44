"""The one reader of Markdown: lines, code fences, headings, frontmatter, and the lines that an author says themselves.

The texts come from people and other tools, so nothing here trusts its input: frontmatter that cannot be read safely
counts as absent, and a fence that is never closed hides the rest, as in Markdown. Edits are made on lines, so that
every line that is not asked for stays byte for byte. Sentences are split by `text/sentences`.

Patterns of this room are `lazy`: compiling them all takes longer than a short command may take as a whole, and most
commands use few of them. Hooks load this module: `yaml` and `json` are imported where they are needed.
"""

from __future__ import annotations

import re
from itertools import chain, groupby

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any


def lazy(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """A pattern that behaves as `re.compile(pattern, flags)` does and is compiled on first use."""
    return _Lazy(pattern, flags)  # type: ignore[return-value]


class _Lazy:
    def __init__(self, pattern: str, flags: int) -> None:
        self._source = (pattern, flags)

    def __getattr__(self, name: str) -> Any:
        # Python calls this for a name that the instance lacks: once for the pattern, and once for each method used.
        value = re.compile(*self._source) if name == "_compiled" else getattr(self._compiled, name)
        setattr(self, name, value)
        return value


# --- Lines


def lines_of(text: str) -> list[str]:
    """Lines as git and editors count them: `str.splitlines` would also break at form feeds and U+2028."""
    lines = text.replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


_ITEM = lazy(r"[ \t]*(?:(?:[-*+]|\d+[.)]|>+)[ \t]+)?")


def split_item(line: str) -> tuple[str, str]:
    """A line's indent with its list or quote mark, and the words after it."""
    mark = _ITEM.match(line)
    at = mark.end() if mark else 0
    return line[:at], line[at:]


_CONFLICT = lazy(r"(?m)^<{7} .*$(?:\n.*)*?\n={7}$(?:\n.*)*?\n>{7} ")


def has_conflict(text: str) -> bool:
    return "<<<<<<< " in text and bool(_CONFLICT.search(text))


def without_conflict_marks(lines: Iterable[str]) -> Iterator[str]:
    """Both sides of every conflict: in an append-only file nothing is lost, git only could not order it."""
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


# --- Fences

_FENCE = r"(?P<fence>`{3,}+(?=[^`\n]*+$)|~{3,}+)"
_FENCE_LINE = lazy(rf" {{0,3}}{_FENCE}")
_COMMENT_END = "-->"


class Fences:
    """Follows code fences line by line, and where `comments` is set also HTML comments that begin a line."""

    def __init__(self, *, comments: bool = False) -> None:
        self.closing = ""
        """What would close the fence or comment that is open; empty when none is."""
        self._comments = comments

    def inside(self, line: str) -> bool:
        """Whether this line belongs to a fence or comment, the lines that open and close it included."""
        if self.closing == _COMMENT_END:
            self.closing = "" if _COMMENT_END in line else self.closing
            return True
        mark = _FENCE_LINE.match(line)
        if self.closing:
            self.closing = "" if mark and _closes(line, self.closing) else self.closing
            return True
        if mark:
            self.closing = mark["fence"]
        elif self._comments and line.lstrip().startswith("<!--"):
            self.closing = "" if _COMMENT_END in line else _COMMENT_END
        else:
            return False
        return True


def fenced(lines: Iterable[str], *, comments: bool = False) -> Iterator[tuple[str, bool]]:
    """Each line and whether it belongs to a code fence (or a comment, where `comments` is set)."""
    fences = Fences(comments=comments)
    return ((line, fences.inside(line)) for line in lines)


def text_lines(lines: Iterable[str]) -> list[int]:
    """Which lines are neither in a fence nor in a comment."""
    return [at for at, (_, inside) in enumerate(fenced(lines, comments=True)) if not inside]


def close_fence(text: str) -> str:
    """The text with its last fence closed, so that it cannot swallow the text after it."""
    fences = Fences()
    for line in text.split("\n"):
        fences.inside(line)
    return f"{text.rstrip(chr(10))}\n{fences.closing}" if fences.closing else text


def without_fences(text: str) -> str:
    return "\n".join(line for line, in_fence in fenced(text.split("\n")) if not in_fence)


def code_blocks(text: str) -> list[str]:
    """The fenced blocks of a text, their fences included; neighbours without a line between them are one."""
    runs = groupby(fenced(text.split("\n")), key=lambda line: line[1])
    return ["\n".join(line for line, _ in run) for in_fence, run in runs if in_fence]


def _closes(line: str, fence: str) -> bool:
    run = line.strip(" \t\r")
    return len(run) >= len(fence) and run == fence[0] * len(run)


# --- Headings

_HEADING = lazy(r"(#{1,6})(?=[ \t]|$)")


def heading(line: str) -> tuple[int, str] | None:
    """Level and title of an ATX heading at the start of a line; a closing run of `#` is no part of the title."""
    mark = _HEADING.match(line) if line.startswith("#") else None
    if mark is None:
        return None
    title = line[mark.end() :].strip()
    bare = title.rstrip("#")
    return mark.end(), title if bare[-1:].strip() else bare.rstrip()


def headings(lines: list[str], *, deepest: int = 6) -> list[int]:
    """Which lines are headings with a title, at most so deep; those in fences and comments are text."""
    found = ((at, heading(lines[at])) for at in text_lines(lines))
    return [at for at, mark in found if mark and mark[0] <= deepest and mark[1]]


def sections(text: str, level: int) -> list[tuple[str, str]]:
    """The parts of a text under its headings of one level; the part before the first has an empty title."""
    parts: list[tuple[str, list[str]]] = [("", [])]
    for line, in_fence in fenced(text.split("\n")):
        found = None if in_fence else heading(line)
        if found and found[0] == level:
            parts.append((found[1], []))
        else:
            parts[-1][1].append(line)
    return [(title, "\n".join(lines)) for title, lines in parts]


def demote(text: str) -> str:
    """Every heading one level down; the sixth level stays."""
    return _shift(text, lambda level: min(level + 1, 6))


def promote(text: str) -> str:
    """Every heading one level up: reverses `demote` for all but the deepest."""
    return _shift(text, lambda level: max(level - 1, 1))


def _shift(text: str, to: Callable[[int], int]) -> str:
    lines = []
    for line, in_fence in fenced(text.split("\n")):
        found = None if in_fence else heading(line)
        lines.append("#" * to(found[0]) + line[found[0] :] if found else line)
    return "\n".join(lines)


# --- Frontmatter

# Real frontmatter has a few dozen lines and two levels; the limits keep hostile files cheap.
_FRONTMATTER_LINES = 2_000
_FRONTMATTER_CHARS = 200_000  # 100 a line
_FRONTMATTER_DEPTH = 8  # four times what is real
_FOREIGN_TOPICS = lazy(r"topics:[ \t]+(?![ \t]*(?:\[.*\][ \t]*$|['\"|>&*!]))(.+)")


def split_frontmatter(text: str) -> tuple[str | None, str]:
    """The frontmatter as written, None when there is none or it is never closed, and the text after it."""
    text = _unix(text)
    start = 4
    for _ in range(_FRONTMATTER_LINES if text.startswith("---\n") else 0):
        stop = text.find("\n", start)
        line = text[start : stop if stop >= 0 else len(text)]
        if line.rstrip() in ("---", "..."):
            body = stop + 1 if stop >= 0 else len(text)
            return text[4:start], text[body:].removeprefix("\n")
        if stop < 0 or stop > _FRONTMATTER_CHARS:
            break
        start = stop + 1
    return None, text


def _unix(text: str) -> str:
    text = text.removeprefix("\ufeff")
    return text.replace("\r\n", "\n") if "\r" in text[:_FRONTMATTER_CHARS] else text


def frontmatter(text: str) -> tuple[dict[str, Any], str]:
    """The fields before the text, all scalars as strings, and the text.

    Absent, never closed, hostile or broken frontmatter gives no fields and the whole text.
    """
    head, body = split_frontmatter(text)
    fields = None if head is None else _yaml(head)
    return ({}, _unix(text)) if fields is None else (fields, body)


def with_frontmatter(fields: Mapping[str, Any], body: str) -> str:
    """A file: fields in the given order, a blank line, the body, one newline at the end."""
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    head = yaml.dump(dict(fields), Dumper=dumper, sort_keys=False, allow_unicode=True, width=1_000_000)
    return f"---\n{head}---\n\n{body.strip(chr(10))}\n"


def _yaml(text: str) -> dict[str, Any] | None:
    """The fields; None for a text that is not a mapping, holds an alias, nests deeply, repeats a key or is not YAML."""
    import json

    import yaml

    # Other tools write `topics: C# [project], issue #12`, which YAML would cut at the second `#`.
    matches = ((line, _FOREIGN_TOPICS.fullmatch(line)) for line in text.split("\n"))
    text = "\n".join(f"topics: {json.dumps(found[1].strip())}" if found else line for line, found in matches)
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


# --- An author's own lines

# A fence or quote may begin in a list item. Possessive, so that no line costs more than its length.
_LIST = r"\ufeff?[ \t]*+(?:(?:[-*+]|\d{1,9}[.)])[ \t]++){0,4}+"
_FENCE_IN_LIST = lazy(_LIST + _FENCE)
_QUOTE = lazy(rf"{_LIST}>")
_COMMENT = lazy(rf"{_LIST}<!--")
# Elements in which agents put a file or a tool's output, and those that a reader of the rendered text does not see.
_NAMES = (
    r"(?:blockquote|code|details|diff|documents?|example|file(?:_content)?|function_results?|iframe|noscript|pre|quote"
    r"|script|source|stderr|stdout|style|template|textarea|tool_(?:output|result)s?)(?=[\s>])"
)
_SHOWN = lazy(
    _LIST + r"(?P<begin>\$\$|<(?:\?|!\[CDATA\[|![A-Za-z]|"
    rf"{_NAMES}|[a-z]++(?=[^<>]*?(?:\shidden[\s=>]|display: ?none))))",
    re.IGNORECASE,
)
_ELEMENT = lazy(rf"(?P<begin><{_NAMES})", re.IGNORECASE)
_TAG = lazy(r"(?<!`)<(?P<end>/?)(?P<name>[a-z]\w*+)(?=[\s>])", re.IGNORECASE)
_LINK = lazy(
    _LIST + r"\[(?!\^)[^\[\]\n]{1,999}+\]:[ \t]*+(?:\n[ \t]*+)?+\S++(?P<end>[ \t]*+)"
    r"(?:(?:\n[ \t]*+)?+(?P<title>[\"'(])|$)",
    re.MULTILINE,
)
_TICKS = lazy(r"(?<!\\)`++")
_BLOCK = lazy(r"[ \t]*(?:[-*+]|\d{1,9}[.)]|#{1,6})[ \t]")
_WHOLE_LINES = "until a line closes it"
_WITHIN_PARAGRAPH = "until it is closed or the paragraph ends"


def own_lines(text: str) -> Iterator[str]:
    """The lines that are neither fenced, quoted nor commented out, without their line feeds; nothing else ends a line.

    Agents fence, quote or put into elements what they show (a file, a tool's output, another message), and readers of
    the rendered text do not see comments: a marker in any of these is not the agent's word. A comment within a line
    leaves a space. One that begins a line takes whole lines, until a line closes it; one that begins later ends with
    its paragraph. An element takes whole lines too, and those of its name within it; one that is never closed is text.
    So does a formula, and the definition of a link, whose title may have many lines. Code between backticks takes the
    lines that it covers whole.
    """
    paragraph: list[str] = []
    for line in chain(_outside_blocks(text), (None,)):
        if line is None or not line.strip() or _BLOCK.match(line):
            yield from _not_in_code(paragraph)
            paragraph = []
        if line is not None:
            paragraph.append(line)


def _outside_blocks(text: str) -> Iterator[str | None]:
    """Each line that is in no block, without its comments, and None for each other line."""
    fence = comment = ""
    indent = 0
    ends: dict[int, int] = {}
    following: dict[str, int] = {}
    at = hidden = -1  # the end of the line, and how far a block goes that was looked up
    for line in _lines(text):
        start, at = at + 1, at + len(line) + 1
        shown: str | None = None
        if start < hidden:
            pass
        elif comment == _WHOLE_LINES:
            comment = _WHOLE_LINES if _left_open(line, 0) else ""
        elif fence:
            if _closes(line, fence) and _indent(line) <= indent:
                fence = ""
        elif opening := _FENCE_IN_LIST.match(line):  # ends a paragraph, and with it a comment that began there
            fence, comment = opening["fence"], ""
            before = line[: opening.start("fence")]
            indent = 3 + (len(before.expandtabs(4)) if before.strip("\ufeff ") else 0)  # more belongs to its text
        elif comment and line.strip():
            _, closed, rest = line.partition(_COMMENT_END)
            if closed:
                shown, comment = _without_comments(rest)
        elif begun := _COMMENT.match(line):
            comment = _WHOLE_LINES if _left_open(line, begun.end() - 2) else ""  # `<!-->` is a whole comment
        elif (tag := _SHOWN.match(text, start)) and (end := _end_of(text, tag, following, ends)) > at:
            hidden = end
        elif "]:" in line and (end_of_link := _end_of_link(text, start, following)):
            hidden = end_of_link
        elif not _QUOTE.match(line):
            shown, comment = _without_comments(line)
            looked, ticks = start, 0
            for tag in _ELEMENT.finditer(text, start, at) if "<" in line else ():
                ticks, looked = ticks + text.count("`", looked, tag.start()), tag.start()
                if ticks % 2 == 0 and (end := _end_of(text, tag, following, ends)) > at:
                    hidden = end
                    break
        yield shown


def _not_in_code(lines: list[str]) -> Iterator[str]:
    """The lines of a paragraph that no code begun on an earlier line covers whole; a run of backticks is closed by the
    next one as long."""
    runs = [run.span() for run in _TICKS.finditer("\n".join(lines))] if len(lines) > 1 else []
    closed_by: dict[int, int] = {}
    later: dict[int, int] = {}
    for number in reversed(range(len(runs))):
        size = runs[number][1] - runs[number][0]
        closed_by[number], later[size] = later.get(size, -1), number
    number = at = 0
    for line in lines:
        end = at + len(line.rstrip())
        while number < len(runs) and (closed_by[number] < 0 or runs[closed_by[number]][1] <= at):
            number = max(number, closed_by[number]) + 1
        if number == len(runs) or not runs[number][0] < at < end <= runs[closed_by[number]][1]:
            yield line
        at += len(line) + 1


def _left_open(line: str, at: int) -> bool:
    """Whether a comment is open at the end of a line, when one is open at this place."""
    closed = line.rfind(_COMMENT_END, at)
    return closed < 0 or line.find("<!--", closed) >= 0


def _indent(line: str) -> int:
    line = line.expandtabs(4)
    return len(line) - len(line.lstrip(" "))


def _end_of(text: str, tag: re.Match[str], known: dict[str, int], elements: dict[int, int]) -> int:
    """Where a block ends that begins here; 0 when it is never closed."""
    close = {"$$": "$$", "<?": "?>", "<!": ">"}.get(tag["begin"][:2], "")
    if close:
        end = _next(text, "]]>" if tag["begin"].endswith("[") else close, tag.end(), known)
        return end + 1 if end < len(text) else 0
    if not elements:
        elements.update(_elements(text))
    return elements.get(tag.start("begin"), 0)


def _elements(text: str) -> dict[int, int]:
    """Where each element that begins in a text ends: at the end that no other of its name within it has."""
    ends, opened = {-1: 0}, dict[str, list[int]]()
    for tag in _TAG.finditer(text):
        places = opened.setdefault(tag["name"].lower(), [])
        if not tag["end"]:
            places.append(tag.start())
        elif places:
            ends[places.pop()] = tag.end()
    return ends


def _end_of_link(text: str, start: int, known: dict[str, int]) -> int:
    """Where the definition of a link that begins at `start` ends; 0 when none begins there."""
    if not (link := _LINK.match(text, start)):
        return 0
    if not link["title"]:
        return link.end()
    close = {"(": ")"}.get(link["title"], link["title"])
    end = _next(text, close, link.end(), known)
    if end < _next(text, "\n\n", link.end(), known):
        return end
    return link.end("end") if "\n" in text[link.end("end") : link.end()] else 0  # what follows is no title


def _next(text: str, what: str, at: int, known: dict[str, int]) -> int:
    """Where `what` comes next, looked up once for each place: a text of many definitions is read once."""
    if known.get(what, -1) < at:
        found = re.compile(re.escape(what), re.IGNORECASE).search(text, at)
        known[what] = found.start() if found else len(text)
    return known[what]


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
        end = line.find(_COMMENT_END, at + 2)
        if end < 0:
            return " ".join(shown), _WITHIN_PARAGRAPH
        start = looked = end + 3
    return " ".join([*shown, line[start:]]), ""


def _lines(text: str) -> Iterator[str]:
    """One line at a time: a transcript may be a hundred megabytes."""
    start = 0
    while (end := text.find("\n", start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def unified(path: str, before: str | None, after: str, end: str = "\n") -> str:
    """A diff that `git apply` takes: a new file comes from /dev/null, a missing last line end is marked; `end` is what
    ends the file's lines."""
    import difflib
    from io import StringIO

    old, new = (StringIO(text.replace("\n", end), newline="\n").readlines() for text in (before or "", after))
    lines = difflib.unified_diff(old, new, "/dev/null" if before is None else f"a/{path}", f"b/{path}")
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
