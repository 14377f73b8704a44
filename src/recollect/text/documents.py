"""Permanent Markdown documents as sections: find one, add to it, take something out again.

A section is a heading with everything up to the next heading of its own level or above. Headings inside fences and
comments are text. Changes are made line by line; what is not asked for stays byte for byte.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from recollect.text.staging import headings, lines_of, text_lines

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+")
_LIST_MARK = re.compile(r"\s*(?:(?:[-*+]|\d+[.)])\s+)?")
_ANY_HEADING = re.compile(r"#{1,6} +\S")


@dataclass(frozen=True, kw_only=True)
class Section:
    """`text` is the section's own, without deeper sections; lines `first` to `last` (excluded) hold all of it."""

    title: str
    slug: str
    level: int
    text: str
    first: int
    last: int


def sections(text: str) -> list[Section]:
    """Every section of a document, in order; what stands before the first heading belongs to none."""
    lines = lines_of(text)
    starts = headings(lines, _ANY_HEADING)
    found: list[Section] = []
    taken: set[str] = set()
    for position, first in enumerate(starts):
        level = _level(lines[first])
        later = starts[position + 1 :]
        last = next((at for at in later if _level(lines[at]) <= level), len(lines))
        title = lines[first][level:].strip().rstrip("#").strip()
        slug = _anchor(title, taken)
        taken.add(slug)
        own = lines[first + 1 : later[0] if later else len(lines)]
        found.append(Section(title=title, slug=slug, level=level, text="\n".join(own).strip(), first=first, last=last))
    return found


def _anchor(title: str, taken: set[str]) -> str:
    """The link target that GitHub makes of a heading: punctuation goes, spaces become hyphens, repeats are numbered."""
    plain = re.sub(r"[^\w\- ]", "", title.strip().lower()).replace(" ", "-")
    number, free = 0, plain
    while free in taken:
        number += 1
        free = f"{plain}-{number}"
    return free


def rendered_entry(title: str, body: str, level: int) -> str:
    """A learning as a section of a document; headings in its body go below its own."""
    lines = lines_of(body.strip())
    for at in headings(lines, _ANY_HEADING):
        lines[at] = "#" * min(6, level + 1) + " " + lines[at].lstrip("#").strip()
    return "\n".join([f"{'#' * min(6, level)} {title}", *(["", *lines] if lines != [""] else [])]) + "\n"


def rendered_section(title: str, text: str, level: int) -> str:
    """A section with its own text."""
    return f"{'#' * level} {title}\n" + (f"\n{text}\n" if text else "")


def with_block(text: str, block: str, under: str | None) -> str:
    """The document with a block at the end of the section `under` (a slug), or at its own end."""
    lines = lines_of(text)
    section = next((each for each in sections(text) if each.slug == under), None) if under else None
    at = section.last if section else len(lines)
    while at > 0 and not lines[at - 1].strip():
        at -= 1
    gap = [""] if at else []
    return "\n".join([*lines[:at], *gap, *lines_of(block), *lines[at:]]) + "\n"


def with_section(text: str, section: Section, own: str) -> str:
    """The document with another heading and text for a section; deeper sections stay."""
    lines = lines_of(text)
    deeper = (at for at in headings(lines, _ANY_HEADING) if section.first < at)
    end = next(deeper, len(lines))
    gap = [""] if end < len(lines) else []
    return "\n".join([*lines[: section.first], *lines_of(own), *gap, *lines[end:]]) + "\n"


def sentences(text: str) -> list[str]:
    """What a section says, sentence by sentence, without list marks and code."""
    lines = lines_of(text)
    return [part for at in text_lines(lines) for part in _said(lines[at])[1] if part]


def without_sentences(text: str, unwanted: Callable[[str], bool]) -> str:
    """A text without some of its sentences; code stays, and a line of which nothing is left goes."""
    lines = lines_of(text)
    gone: set[int] = set()
    for at in text_lines(lines):
        mark, parts = _said(lines[at])
        left = [part for part in parts if not part or not unwanted(part)]
        if len(left) < len(parts):
            lines[at] = mark + " ".join(left)
            gone |= set() if left else {at}
    return "\n".join(line for at, line in enumerate(lines) if at not in gone).strip()


def _said(line: str) -> tuple[str, list[str]]:
    """A line's indent and list mark, and its sentences."""
    mark = _LIST_MARK.match(line)
    at = mark.end() if mark else 0
    return line[:at], _SENTENCE_END.split(line[at:].rstrip())


def without_block(text: str, block: str, *, instead: str = "") -> str | None:
    """The document without a block that stands in it exactly once; None when it does not (any more)."""
    lines, wanted = lines_of(text), lines_of(block)
    found = _places(lines, wanted)
    if len(found) != 1:
        return None
    at = found[0]
    start = at - 1 if at and not lines[at - 1].strip() and not instead else at
    rest = [*lines[:start], *(lines_of(instead) if instead else []), *lines[at + len(wanted) :]]
    return "\n".join(rest) + "\n" if rest else ""


def holds_block(text: str, block: str) -> bool:
    return bool(_places(lines_of(text), lines_of(block)))


def _places(lines: list[str], wanted: list[str]) -> list[int]:
    """Where some lines stand one after the other."""
    return [at for at in range(len(lines) - len(wanted) + 1) if lines[at : at + len(wanted)] == wanted]


def _level(line: str) -> int:
    return len(line) - len(line.lstrip("#"))
