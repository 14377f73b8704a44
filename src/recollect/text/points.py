"""Points as lines of Markdown: `- topic [type]: text (2026-03-01#3)`, and back.

The references in brackets are what makes every line of a summary traceable. Knows nothing about which points are worth
a line.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from recollect.core.journal import ENTRY_TYPES, EntryType, Point, Section

_REF = r"\d{4}-\d{2}-\d{2}#\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*"
_REFS = re.compile(rf" \(({_REF}(?: {_REF})*)\)$")
_LINE = re.compile(rf"[-*] (.*?)(?: \[({'|'.join(ENTRY_TYPES)})\])?(?:: (.*))?")
_TAG_AT_END = re.compile(rf"\[({'|'.join(ENTRY_TYPES)})\]$")
_SPACE = re.compile(r"\s+")
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_REFS_SHOWN = 12
"""Spans of one day on one line; beyond it the first and the last stand for all between."""

LONGEST_SPAN = 20_000
"""More entries than a log is read into; a longer span was not written by us."""


def plain(text: str) -> str:
    """One line that cannot be mistaken for more: no line breaks, no comment."""
    return _SPACE.sub(" ", _CONTROL.sub(" ", text.replace("<!--", "< !--"))).strip()


def render(points: Iterable[Point]) -> str:
    return "\n".join(map(line, points))


def line(point: Point) -> str:
    tag = f" [{point.type}]" if point.type != "project" or point.section == "topic" else ""
    text = f": {point.text}" if point.text else ""
    refs = f" ({show_refs(point.refs)})" if point.refs else ""
    return f"- {topic_name(point.topic)}{tag}{text}{refs}"


def topic_name(topic: str) -> str:
    """A topic as a line can carry it: `: ` would end it, a tag at its end would change its type."""
    return _TAG_AT_END.sub(r"(\1)", plain(topic).replace(": ", " - ").rstrip(":"))


def parse(section: Section, text: str, *, fallback: Sequence[str] = ()) -> list[Point]:
    """The points under one heading. Lines of other tools carry no references: they get the fallback."""
    found = []
    for raw in text.split("\n"):
        stripped = raw.strip()
        if not stripped or stripped.startswith(("#", "<!--", "---")):
            continue
        refs_at = _REFS.search(stripped)
        said = stripped[: refs_at.start()] if refs_at else stripped
        refs = tuple(read_refs(refs_at[1])) if refs_at else tuple(fallback)
        item = _LINE.fullmatch(said)
        if item is None:
            item = _LINE.fullmatch(f"- {said}")
        assert item is not None
        kind: EntryType = next((known for known in ENTRY_TYPES if known == item[2]), "project")
        topic, rest = item[1], item[3] or ""
        here: Section = "note" if section == "topic" and not item[2] else section
        if not rest and not item[2] and not refs_at:
            topic, rest = "notes", topic
        found.append(Point(section=here, topic=topic, type=kind, text=rest, refs=refs))
    return found


def cut(text: str, limit: int) -> str:
    """At most so many characters, cut at a space."""
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0].rstrip(",;") + "…"


def place_of(ref: str) -> tuple[str, int]:
    """A reference's day and number, by which references are ordered."""
    return ref[:10], int(ref[11:])


def show_refs(refs: Sequence[str]) -> str:
    """`2026-03-01#1,3-5 2026-03-02#2`: by day, neighbours joined."""
    shown = []
    for day, group in groupby(sorted(set(map(place_of, refs))), key=lambda place: place[0]):
        spans: list[list[int]] = []
        for _, number in group:
            if spans and number == spans[-1][1] + 1:
                spans[-1][1] = number
            else:
                spans.append([number, number])
        if len(spans) > _REFS_SHOWN:
            spans = [[spans[0][0], spans[-1][1]]]
        shown.append(f"{day}#" + ",".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans))
    return " ".join(shown)


def read_refs(text: str) -> list[str]:
    """What `show_refs` wrote, one reference each."""
    refs = []
    for part in text.split(" "):
        day, _, numbers = part.partition("#")
        for span in numbers.split(","):
            first, _, last = span.partition("-")
            end = min(int(last or first), int(first) + LONGEST_SPAN)
            refs += [f"{day}#{number}" for number in range(int(first), end + 1)]
    return refs
