"""claude-mem's database: what it observed and how it summed up sessions.

A session's summary becomes an entry of the day it is from. An observation that says what to do becomes a learning, any
other an entry. A decision stays an entry too: ours carry a confidence that was stated when they were made, and nobody
stated one here. Prompts are left: the summaries say what was asked. So is what claude-mem itself calls sensitive.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from recollect.capture.insight import learning_in
from recollect.capture.pieces import Passed, Piece
from recollect.core.choices import DiscoveryType
from recollect.core.errors import BadInput, StoreDamaged
from recollect.core.journal import NewEntry
from recollect.core.new_learning import NewLearning
from recollect.store import foreign
from recollect.text.sentences import first_sentence

OBSERVATIONS = (
    "id", "project", "merged_into_project", "type", "title", "subtitle", "narrative", "text", "facts", "concepts",
    "files_modified", "created_at_epoch",
)  # fmt: skip
SUMMARIES = (
    "id", "project", "merged_into_project", "request", "investigated", "learned", "completed", "next_steps", "notes",
    "files_edited", "created_at_epoch",
)  # fmt: skip
SECONDS = 100_000_000_000  # an epoch below this is in seconds: as milliseconds it would be in 1973
_KINDS: dict[str, DiscoveryType] = {
    "bugfix": "blocker",
    "discovery": "pattern",
    "security_alert": "constraint",
    "security_note": "constraint",
}


def file_of(home: Path) -> Path:
    """Where claude-mem keeps its database."""
    return home / ".claude-mem" / "claude-mem.db"


def read(file: Path, project: str) -> Iterator[Piece | Passed]:
    """What the database holds of one project."""
    with foreign.database(file) as connection:
        if not foreign.columns(connection, "observations"):
            raise BadInput(f"{file} has no observations; it is no database of claude-mem")
        seen: Counter[str] = Counter()
        taken = 0
        try:
            for kind, row in _rows(connection):
                owner = _text(row, "merged_into_project") or _text(row, "project")
                seen[owner] += 1
                if owner == project:
                    taken += 1
                    yield _observation(row) if kind == "observation" else _summary(row)
        except StoreDamaged as damage:
            yield Passed(place=file.name, reason=f"{damage}; {taken} records before that were read")
            return
    if not taken and seen:
        there = ", ".join(f"{name} ({count})" for name, count in seen.most_common(20))
        raise BadInput(f"claude-mem knows no project {project!r}; say --of with one of: {there}")


def _rows(connection: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in foreign.rows(connection, "session_summaries", SUMMARIES):
        yield "summary", row
    for row in foreign.rows(connection, "observations", OBSERVATIONS):
        yield "observation", row


def _summary(row: dict[str, Any]) -> Piece | Passed:
    place = f"session summary {row['id']}"
    rest = {"Learned": "learned", "Next": "next_steps", "Notes": "notes"}
    text = "\n\n".join(f"{label}: {said}" for label, name in rest.items() if (said := _text(row, name)))
    request, investigated, completed = (_text(row, name) for name in ("request", "investigated", "completed"))
    if not (text or request or investigated or completed):
        return Passed(place=place, reason="it is empty", lost=False)
    entry = NewEntry(
        text=text,
        topic=first_sentence(request or completed or text, 12),
        request=request or None,
        analysis=investigated or None,
        outcome=completed or None,
        references=_items(row, "files_edited"),
    )
    return Piece(place=place, at=_at(row), what=entry)


def _observation(row: dict[str, Any]) -> Piece | Passed:
    place, kind = f"observation {row['id']}", _text(row, "type")
    if kind == "sensitive":
        return Passed(place=place, reason="claude-mem marked it as sensitive", lost=False)
    facts = _items(row, "facts")
    prose = _text(row, "narrative") or _text(row, "text")
    if not prose and not facts and not _text(row, "title"):
        return Passed(place=place, reason="it is empty", lost=False)
    learning = _learning(row, kind, " ".join((prose, *facts)))
    return Piece(place=place, at=_at(row), what=learning or _entry(row, kind, prose, facts))


def _learning(row: dict[str, Any], kind: str, content: str) -> NewLearning | None:
    if kind not in _KINDS:
        return None
    about = _text(row, "subtitle") or _text(row, "title")
    return learning_in(_KINDS[kind], content, title=_text(row, "title"), about=about, tags=_items(row, "concepts"))


def _entry(row: dict[str, Any], kind: str, prose: str, facts: tuple[str, ...]) -> NewEntry:
    title, subtitle = _text(row, "title"), _text(row, "subtitle")
    parts = [part for part in (subtitle, prose, "\n".join(f"- {fact}" for fact in facts)) if part]
    return NewEntry(
        text="\n\n".join(parts),
        topic=title or first_sentence(prose or facts[0], 12),
        decisions=(title or prose,) if kind == "decision" else (),
        outcome=title if not parts else None,
        references=_items(row, "files_modified"),
    )


def _text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


def _items(row: dict[str, Any], name: str) -> tuple[str, ...]:
    """A column that holds a JSON list of words; anything else in it is no list."""
    try:
        found = json.loads(_text(row, name) or "[]")
    except (ValueError, RecursionError):
        return ()
    words = found if isinstance(found, list) else []
    return tuple(each.strip() for each in words if isinstance(each, str) and each.strip())


def _at(row: dict[str, Any]) -> int | None:
    value = row.get("created_at_epoch")
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        return None
    return value * 1000 if value < SECONDS else value
