"""A folder of Markdown notes, as basic-memory and Obsidian keep them.

A note becomes one entry of type reference, whole, on the day it says it is from: cut up, it would lose its subject.
Its observations (`- [category] text #tag`) that say what to do become learnings beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.capture.insight import learning_in, usable_tags
from recollect.capture.pieces import Passed, Piece
from recollect.core.choices import DiscoveryType
from recollect.core.clock import parse_time
from recollect.core.errors import BadInput
from recollect.core.journal import NewEntry
from recollect.store.foreign import ForeignFile, markdown_files
from recollect.text import markdown

DATES = ("created", "created_at", "date", "updated", "modified")
_OBSERVATION = re.compile(r"\s*[-*+]\s+\[(?P<category>[^\[\]()]{2,40})\]\s+(?P<text>\S.*)")
_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]+)")
_CONTEXT = re.compile(r"\s*\([^()]*\)\s*$")
_HEADING = re.compile(r"^#[ \t]+(.+)$", re.MULTILINE)
_KINDS: dict[DiscoveryType, tuple[str, ...]] = {
    "blocker": ("problem", "issue", "bug", "gotcha", "pitfall", "risk", "blocker", "warning"),
    "constraint": ("constraint", "requirement", "rule", "limitation", "policy"),
    "decision": ("decision", "choice"),
    "dependency": ("dependency", "prerequisite"),
}


def read(folder: Path) -> Iterator[Piece | Passed]:
    """Every note below a folder."""
    for file in markdown_files(folder):
        if file.text is None:
            yield Passed(place=file.path, reason=file.why)
            continue
        fields, body = markdown.frontmatter(file.text)
        if not body.strip():
            yield Passed(place=file.path, reason="it is empty", lost=False)
            continue
        yield from _note(file, fields, body.strip())


def _note(file: ForeignFile, fields: dict[str, Any], body: str) -> Iterator[Piece]:
    heading = _HEADING.search(body)
    title = _text(fields.get("title")) or (heading[1].strip() if heading else Path(file.path).stem)
    tags = _tags(fields.get("tags"))
    at = _date(fields) or file.modified
    listed = "\n\nTags: " + " ".join(f"#{tag}" for tag in tags) if tags else ""
    yield Piece(place=file.path, at=at, what=NewEntry(text=body + listed, topic=title, type="reference"))
    whole = (file.text or "").replace("\r\n", "\n")
    above = whole.count("\n", 0, max(0, whole.find(body)))
    for number, (line, fenced) in enumerate(markdown.fenced(body.split("\n")), above + 1):
        found = None if fenced else _OBSERVATION.fullmatch(line)
        if found is None:
            continue
        own = _TAG.findall(found["text"])
        said = _CONTEXT.sub("", _TAG.sub("", found["text"])).strip()
        learning = learning_in(_kind(found["category"]), said, about=title, tags=(*own, *tags))
        if learning is not None:
            yield Piece(place=f"{file.path}:{number}", at=at, what=learning)


def _kind(category: str) -> DiscoveryType:
    wanted = category.strip().lower()
    return next((kind for kind, words in _KINDS.items() if wanted in words), "pattern")


def _tags(value: object) -> tuple[str, ...]:
    """A list, or words with commas or spaces between, with or without a hash."""
    if isinstance(value, str):
        value = re.split(r"[,\s]+", value)
    words = value if isinstance(value, list) else []
    return usable_tags(tag.strip().lstrip("#") for tag in words if isinstance(tag, str))


def _date(fields: dict[str, Any]) -> int | None:
    for name in DATES:
        said = _text(fields.get(name))
        try:
            if said:
                return parse_time(said if len(said) > 10 else f"{said}T12:00:00Z")
        except BadInput:
            continue
    return None


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""
