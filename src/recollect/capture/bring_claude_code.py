"""Claude Code's auto memory: a folder of one-fact files with a type, and MEMORY.md that lists them.

The four types are the journal's own, so each fact becomes an entry of its type; what the user corrected (`feedback`)
keeps rule, reason and application apart. Of MEMORY.md only what is no link to such a file is taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from recollect.capture.pieces import Passed, Piece
from recollect.core.journal import ENTRY_TYPES, EntryType, NewEntry
from recollect.store.foreign import ForeignFile, markdown_files
from recollect.text import markdown

INDEX = "MEMORY.md"
_LISTED = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(([^)\s]+\.md)\).*")
_WHY = re.compile(r"^\s*(?:[-*]\s+)?\*{0,2}(why|how to apply)\s*:?\*{0,2}\s*:?\s*", re.IGNORECASE | re.MULTILINE)


def folder_of(project: Path, home: Path, environ: Mapping[str, str]) -> Path:
    """Where Claude Code keeps what it remembers of a project."""
    users = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    return users / "projects" / re.sub(r"[^0-9A-Za-z]", "-", str(project)) / "memory"


def read(folder: Path) -> Iterator[Piece | Passed]:
    """The facts in a memory folder; the project's folder above it will do too."""
    inner = folder / "memory"
    files = list(markdown_files(inner if (inner / INDEX).is_file() else folder))
    names = {file.path for file in files}
    for file in files:
        if file.text is None:
            yield Passed(place=file.path, reason=file.why)
        elif file.path == INDEX:
            yield from _index(file, names)
        else:
            yield _fact(file)


def _fact(file: ForeignFile) -> Piece | Passed:
    fields, body = markdown.frontmatter(file.text or "")
    body = body.strip()
    said = _text(fields, "description")
    if not body and not said:
        return Passed(place=file.path, reason="it is empty", lost=False)
    kind = _kind(fields)
    lead = body if not said or said in body else f"{said}\n\n{body}".strip()
    return Piece(
        place=file.path,
        at=file.modified,
        what=_feedback(lead, _topic(fields, file)) if kind == "feedback" else _entry(kind, lead, _topic(fields, file)),
    )


def _entry(kind: EntryType, text: str, topic: str) -> NewEntry:
    return NewEntry(text=text, topic=topic, type=kind)


def _feedback(text: str, topic: str) -> NewEntry:
    """What the user said to do differently, why, and when that applies."""
    rule, *labelled = _WHY.split(text)
    parts = {name.lower(): part.strip() for name, part in zip(labelled[::2], labelled[1::2], strict=True)}
    if not labelled or not rule.strip():
        return _entry("feedback", text, topic)
    return NewEntry(
        topic=topic,
        type="feedback",
        rule=rule.strip(),
        why=parts.get("why") or None,
        how_to_apply=parts.get("how to apply") or None,
    )


def _index(file: ForeignFile, names: set[str]) -> Iterator[Piece]:
    """Notes that stand in MEMORY.md itself, one entry per heading."""
    topic, lines = INDEX, list[str]()
    for line in [*(file.text or "").split("\n"), "# "]:
        if line.startswith(("# ", "## ")):
            if text := "\n".join(lines).strip():
                yield Piece(place=f"{INDEX} ({topic})", at=file.modified, what=_entry("project", text, topic))
            topic, lines = line.lstrip("# ").strip() or INDEX, []
        elif not ((listed := _LISTED.fullmatch(line)) and listed[1].removeprefix("./") in names):
            lines.append(line)


def _kind(fields: dict[str, Any]) -> EntryType:
    inner = fields.get("metadata")
    said = _text(fields, "type") or (_text(inner, "type") if isinstance(inner, dict) else "")
    return next((kind for kind in ENTRY_TYPES if kind == said.lower()), "project")


def _topic(fields: dict[str, Any], file: ForeignFile) -> str:
    return _text(fields, "name") or Path(file.path).stem.replace("_", " ").replace("-", " ")


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields.get(name)
    return value.strip() if isinstance(value, str) else ""
