"""Log entries as Markdown: one `## Topic [type]` section each, and back.

What is rendered reads back as it was given: no text can pose as a heading or as the mark of an entry, or leave a fence
open. Logs of any size are read in bounded memory. Knows nothing about where logs are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import replace
from datetime import date

from recollect.core.choices import Trust
from recollect.core.journal import ENTRY_TYPES, FIELDS, TOPIC_LIMIT, Entry, EntryType, NewEntry
from recollect.text import markdown
from recollect.text.patterns import lazy

ENTRY_CHARS = 64_000
"""What is read of one entry; the log keeps the rest."""
LOG_CHARS = 4_000_000
"""What is read of one day beyond its headings."""
LOG_ENTRIES = 20_000
"""More sections than this in one day are read as the text of the last one."""

PURGED = "<!-- recollect: purged=yes -->"
"""Stands where an entry was; its number is never given to another."""

_TAG = lazy(r"(.*?)\s*\[\s*(\w+)\s*\]")
_MARK = lazy(r"<!-- recollect:((?: \w+=\S*)*) -->")
_KEY = lazy(r"<!-- recollect:(?: \w+=\S*)*? key=(\S+)")
_FORGED_HEADING = lazy(r"\\*##(?=[ \t]|$)")
_FORGED_MARK = lazy(r"\\*(?:<!-- recollect:|<{7} )")
_NAMES = "|".join(name.replace("_", "[-_ ]") for name in FIELDS)
_FIELD = lazy(rf"[-*][ \t]+(?:\*\*)?({_NAMES})[ \t]*:(?:\*\*)?(?:[ \t]+(.*))?", re.IGNORECASE)


def render(new: NewEntry, *, topic: str, at: str = "", key: str = "", trust: Trust = "agent") -> str:
    """The section to append. External text carries a mark, so that every reader of the file knows."""
    marks = {
        "at": at,
        "key": key,
        "session": re.sub(r"[^\w.:@/+-]", "_", new.session or "")[:200],
        "trust": trust if trust == "external" else "",
    }
    mark = "".join(f" {name}={value}" for name, value in marks.items() if value)
    return f"## {one_line(topic)} [{new.type}]\n<!-- recollect:{mark} -->\n\n{_escaped(body(new))}\n"


def body(new: NewEntry) -> str:
    """What an entry says: its text, then its fields as list items, values over several lines indented."""
    parts = [markdown.close_fence(normalised(new.text))] if new.text.strip() else []
    items = []
    for name, value in new.fields:
        first, *more = normalised(value).strip().split("\n")
        items.append("\n".join([f"- {name.replace('_', '-')}: {first}", *(f"  {line}".rstrip() for line in more)]))
    return markdown.close_fence("\n\n".join([*parts, *(["\n".join(items)] if items else [])]))


def parse(day: date, text: str) -> list[Entry]:
    """The entries of a log, in order."""
    return list(read(day, text.split("\n")))


def read(day: date, lines: Iterable[str]) -> Iterator[Entry]:
    """The entries of a log, from lines without their ends. Long entries come clipped (see ENTRY_CHARS)."""
    left, number = LOG_CHARS, 0
    bounded = (line[:ENTRY_CHARS].removeprefix("\ufeff").rstrip("\r") for line in lines)
    for title, content in _split(markdown.without_conflict_marks(bounded)):
        if title is None and not (content := _preamble(content)):
            continue
        number = number + 1 if title is not None else 0
        if content and content[0] == PURGED:
            continue
        entry = _entry(day, number, title or "", content, min(left, ENTRY_CHARS))
        left -= len(entry.text)
        yield entry


def keys(lines: Iterable[str]) -> Iterator[str]:
    """The keys of a log's entries, without reading what they say: no text can pose as the mark that holds one."""
    return (mark[1] for line in lines if line.startswith("<!-- ") and (mark := _KEY.match(line)))


def at_the_end(day: date, number: int, section: str) -> Entry | None:
    """What `read` makes of a rendered section behind others of ours; None when that depends on what stands before."""
    lines = section.split("\n")
    if list(markdown.without_conflict_marks(["<<<<<<< before", *lines])) != lines:
        return None
    return replace(next(read(day, lines)), number=number)


def copied(text: str) -> str:
    """A log as a node carries it: without the marks of a merge, which would make the node look like one."""
    lines = markdown.without_conflict_marks(text.removeprefix("\ufeff").split("\n"))
    return without_external("\n".join(lines)).strip("\n")


def without_external(text: str) -> str:
    """A log for readers who may not be shown external text: such an entry leaves its place and nothing else."""
    if "trust=external" not in text:
        return text
    lines: list[str] = []
    for title, content in _split(text.split("\n")):
        mark = _MARK.fullmatch(content[0].strip()) if content else None
        if mark and "trust=external" in mark[1].split():
            content = [content[0], "", "(external text: it stays in the log, where search finds it)", ""]
            title = "external entry"
        lines += [*([] if title is None else [f"## {title}"]), *content]
    return "\n".join(lines)


def emptied(text: str, numbers: Collection[int]) -> str:
    """A log without what some entries say: heading and words go, the place and a mark stay."""
    lines: list[str] = []
    for number, title, content in _numbered(text):
        if number in numbers:
            content = [PURGED, ""]
            title = None if title is None else "purged"
        lines += [*([] if title is None else [f"## {title}"]), *content]
    return "\n".join(lines)


def fields(text: str) -> tuple[list[tuple[str, str]], str]:
    """The structured items of a body, in order, and the prose around them."""
    found: list[tuple[str, list[str]]] = []
    prose: list[str] = []
    continues = False
    for line, in_fence in markdown.fenced(text.split("\n")):
        item = None if in_fence else _FIELD.fullmatch(line)
        if item:
            found.append((re.sub("[- ]", "_", item[1].lower()), [(item[2] or "").strip()]))
            continues = True
        elif continues and (line.startswith(("  ", "\t")) or not line.strip()):
            found[-1][1].append(line.removeprefix("  "))
        else:
            continues = False
            prose.append(line)
    return [(name, "\n".join(lines).strip()) for name, lines in found], "\n".join(prose).strip("\n")


def normalised(text: str) -> str:
    """Text as a log keeps it: Unix line ends, no control characters, no blank edges."""
    text = re.sub("\r\n?|\u2028|\u2029|\x85|\x0b|\x0c", "\n", text)
    text = re.sub("[\x00-\x08\x0e-\x1f\x7f\ud800-\udfff\ufeff]", "", text)
    return "\n".join(line.rstrip() for line in text.split("\n")).strip("\n")


def one_line(topic: str) -> str:
    """A topic as a heading carries it."""
    return " ".join(normalised(topic).split())[:TOPIC_LIMIT].strip()


def type_tag(title: str) -> tuple[str, EntryType]:
    """`Auth [feedback]` as topic and type. What has no known tag is a project topic."""
    found = _TAG.fullmatch(title)
    if found:
        for known in ENTRY_TYPES:
            if found[2].lower() == known:
                return found[1].strip(), known
    return title.strip(), "project"


def _entry(day: date, number: int, title: str, content: list[str], limit: int) -> Entry:
    topic, kind = type_tag(title)
    mark = _MARK.fullmatch(content[0].strip()) if content else None
    marks = dict(pair.split("=", 1) for pair in mark[1].split()) if mark else {}
    text = _unescaped("\n".join(content[1:] if mark else content).strip("\n"))[:limit]
    return Entry(
        day=day,
        number=number,
        topic=one_line(topic),
        type=kind,
        text=text,
        fields=tuple(fields(text)[0]),
        at=marks.get("at", ""),
        key=marks.get("key", ""),
        session=marks.get("session", ""),
        trust="external" if marks.get("trust") == "external" else "agent",
    )


def _split(lines: Iterable[str], *, limit: int = ENTRY_CHARS) -> Iterator[tuple[str | None, list[str]]]:
    """Heading and body lines of every section; None heads what stands before the first."""
    title: str | None = None
    content: list[str] = []
    size = started = fence_at = 0
    previous = ""
    fences = markdown.Fences()
    for line in lines:
        was_open = bool(fences.closing)
        in_fence = fences.inside(line)
        if in_fence and not was_open:
            fence_at = len(content)
        if in_fence and _MARK.fullmatch(line) and _is_heading(previous):
            # Only we write a heading with a mark below it: the fence before it was never closed.
            if content and content[-1] == previous:
                content.pop()
            yield title, content
            title, content, size, fences = previous[2:].strip(), [line], 0, markdown.Fences()
            started += 1
        elif not in_fence and _is_heading(line) and started < LOG_ENTRIES:
            yield title, content
            title, content, size = line[2:].strip(), [], 0
            started += 1
        elif size <= limit:
            content.append(line)
            size += len(line) + 1
        previous = line
    if fences.closing and size <= limit:
        # A fence that never closes would swallow every later entry: its first line counts as text.
        inside = _split(content[fence_at + 1 :], limit=limit)
        yield title, [*content[: fence_at + 1], *next(inside)[1]]
        yield from inside
    else:
        yield title, content


def _numbered(text: str) -> Iterator[tuple[int, str | None, list[str]]]:
    """Sections with the numbers `read` gives them, nothing clipped."""
    number = 0
    for title, content in _split(text.split("\n"), limit=len(text)):
        number += title is not None
        yield number, title, content


def _is_heading(line: str) -> bool:
    found = markdown.heading(line)
    return bool(found and found[0] == 2)


def _preamble(lines: list[str]) -> list[str]:
    """What stands before the first heading, without frontmatter and a bare title; empty when nothing is left."""
    _, text = markdown.frontmatter("\n".join(lines))
    left = text.split("\n")
    if not any(line.strip() and not line.startswith("# ") for line in left):
        return []
    return left


def _escaped(text: str) -> str:
    return "\n".join(
        f"\\{line}" if _FORGED_MARK.match(line) or (not in_fence and _FORGED_HEADING.match(line)) else line
        for line, in_fence in markdown.fenced(text.split("\n"))
    )


def _unescaped(text: str) -> str:
    return "\n".join(
        line[1:]
        if line.startswith("\\") and (_FORGED_MARK.match(line) or (not in_fence and _FORGED_HEADING.match(line)))
        else line
        for line, in_fence in markdown.fenced(text.split("\n"))
    )
