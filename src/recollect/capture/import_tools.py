"""The tools whose memory can be taken in, where each keeps it, and what reads it.

Claude Code's auto memory: a folder of one-fact files with a type, and MEMORY.md that lists them.

The four types are the journal's own, so each fact becomes an entry of its type; what the user corrected (`feedback`)
keeps rule, reason and application apart. Of MEMORY.md only what is no link to such a file is taken.

claude-mem's database: what it observed and how it summed up sessions.

A session's summary becomes an entry of the day it is from. An observation that says what to do becomes a learning, any
other an entry. A decision stays an entry too: ours carry a confidence that was stated when they were made, and nobody
stated one here. Prompts are left: the summaries say what was asked. So is what claude-mem itself calls sensitive.

A folder of Markdown notes, as basic-memory and Obsidian keep them.

A note becomes one entry of type reference, whole, on the day it says it is from: cut up, it would lose its subject.
Its observations (`- [category] text #tag`) that say what to do become learnings beside it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, get_args

from recollect.capture.import_notes import Piece, SkippedPiece, learning_in, usable_tags
from recollect.core.choices import DiscoveryType
from recollect.core.clock import parse_time
from recollect.core.errors import BadInput, StoreDamaged
from recollect.core.journal import ENTRY_TYPES, EntryType, NewEntry
from recollect.core.new_learning import NewLearning
from recollect.store import foreign
from recollect.store.foreign import ForeignFile, markdown_files
from recollect.text import markdown
from recollect.text.sentences import first_sentence

INDEX = "MEMORY.md"
_LISTED = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(([^)\s]+\.md)\).*")
_WHY = re.compile(r"^\s*(?:[-*]\s+)?\*{0,2}(why|how to apply)\s*:?\*{0,2}\s*:?\s*", re.IGNORECASE | re.MULTILINE)


def folder_of(project: Path, home: Path, environ: Mapping[str, str]) -> Path:
    """Where Claude Code keeps what it remembers of a project."""
    users = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
    return users / "projects" / re.sub(r"[^0-9A-Za-z]", "-", str(project)) / "memory"


def read_claude_code(folder: Path) -> Iterator[Piece | SkippedPiece]:
    """The facts in a memory folder; the project's folder above it will do too."""
    inner = folder / "memory"
    files = list(markdown_files(inner if (inner / INDEX).is_file() else folder))
    names = {file.path for file in files}
    for file in files:
        if file.text is None:
            yield SkippedPiece(place=file.path, reason=file.why)
        elif file.path == INDEX:
            yield from _index(file, names)
        else:
            yield _fact(file)


def _fact(file: ForeignFile) -> Piece | SkippedPiece:
    fields, body = markdown.frontmatter(file.text or "")
    body = body.strip()
    said = _text(fields, "description")
    if not body and not said:
        return SkippedPiece(place=file.path, reason="it is empty", lost=False)
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


def read_claude_mem(file: Path, project: str) -> Iterator[Piece | SkippedPiece]:
    """What the database holds of one project."""
    with foreign.database(file) as connection:
        if not foreign.columns(connection, "observations"):
            raise BadInput(f"{file} has no observations; it is no database of claude-mem")
        seen: Counter[str] = Counter()
        taken = 0
        try:
            for kind, row in _rows(connection):
                owner = _bring_claude_mem_text(row, "merged_into_project") or _bring_claude_mem_text(row, "project")
                seen[owner] += 1
                if owner == project:
                    taken += 1
                    yield _observation(row) if kind == "observation" else _summary(row)
        except StoreDamaged as damage:
            yield SkippedPiece(place=file.name, reason=f"{damage}; {taken} records before that were read")
            return
    if not taken and seen:
        there = ", ".join(f"{name} ({count})" for name, count in seen.most_common(20))
        raise BadInput(f"claude-mem knows no project {project!r}; say --of with one of: {there}")


def _rows(connection: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    for row in foreign.rows(connection, "session_summaries", SUMMARIES):
        yield "summary", row
    for row in foreign.rows(connection, "observations", OBSERVATIONS):
        yield "observation", row


def _summary(row: dict[str, Any]) -> Piece | SkippedPiece:
    place = f"session summary {row['id']}"
    rest = {"Learned": "learned", "Next": "next_steps", "Notes": "notes"}
    text = "\n\n".join(
        f"{label}: {said}" for label, name in rest.items() if (said := _bring_claude_mem_text(row, name))
    )
    request, investigated, completed = (
        _bring_claude_mem_text(row, name) for name in ("request", "investigated", "completed")
    )
    if not (text or request or investigated or completed):
        return SkippedPiece(place=place, reason="it is empty", lost=False)
    entry = NewEntry(
        text=text,
        topic=first_sentence(request or completed or text, 12),
        request=request or None,
        analysis=investigated or None,
        outcome=completed or None,
        references=_items(row, "files_edited"),
    )
    return Piece(place=place, at=_at(row), what=entry)


def _observation(row: dict[str, Any]) -> Piece | SkippedPiece:
    place, kind = f"observation {row['id']}", _bring_claude_mem_text(row, "type")
    if kind == "sensitive":
        return SkippedPiece(place=place, reason="claude-mem marked it as sensitive", lost=False)
    facts = _items(row, "facts")
    prose = _bring_claude_mem_text(row, "narrative") or _bring_claude_mem_text(row, "text")
    if not prose and not facts and not _bring_claude_mem_text(row, "title"):
        return SkippedPiece(place=place, reason="it is empty", lost=False)
    learning = _learning(row, kind, " ".join((prose, *facts)))
    return Piece(place=place, at=_at(row), what=learning or _bring_claude_mem_entry(row, kind, prose, facts))


def _learning(row: dict[str, Any], kind: str, content: str) -> NewLearning | None:
    if kind not in _KINDS:
        return None
    about = _bring_claude_mem_text(row, "subtitle") or _bring_claude_mem_text(row, "title")
    return learning_in(
        _KINDS[kind], content, title=_bring_claude_mem_text(row, "title"), about=about, tags=_items(row, "concepts")
    )


def _bring_claude_mem_entry(row: dict[str, Any], kind: str, prose: str, facts: tuple[str, ...]) -> NewEntry:
    title, subtitle = _bring_claude_mem_text(row, "title"), _bring_claude_mem_text(row, "subtitle")
    parts = [part for part in (subtitle, prose, "\n".join(f"- {fact}" for fact in facts)) if part]
    return NewEntry(
        text="\n\n".join(parts),
        topic=title or first_sentence(prose or facts[0], 12),
        decisions=(title or prose,) if kind == "decision" else (),
        outcome=title if not parts else None,
        references=_items(row, "files_modified"),
    )


def _bring_claude_mem_text(row: dict[str, Any], name: str) -> str:
    value = row.get(name)
    return value.strip() if isinstance(value, str) else ""


def _items(row: dict[str, Any], name: str) -> tuple[str, ...]:
    """A column that holds a JSON list of words; anything else in it is no list."""
    try:
        found = json.loads(_bring_claude_mem_text(row, name) or "[]")
    except (ValueError, RecursionError):
        return ()
    words = found if isinstance(found, list) else []
    return tuple(each.strip() for each in words if isinstance(each, str) and each.strip())


def _at(row: dict[str, Any]) -> int | None:
    value = row.get("created_at_epoch")
    if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
        return None
    return value * 1000 if value < SECONDS else value


DATES = ("created", "created_at", "date", "updated", "modified")
_OBSERVATION = re.compile(r"\s*[-*+]\s+\[(?P<category>[^\[\]()]{2,40})\]\s+(?P<text>\S.*)")
_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]+)")
_CONTEXT = re.compile(r"\s*\([^()]*\)\s*$")
_BRING_MARKDOWN_KINDS: dict[DiscoveryType, tuple[str, ...]] = {
    "blocker": ("problem", "issue", "bug", "gotcha", "pitfall", "risk", "blocker", "warning"),
    "constraint": ("constraint", "requirement", "rule", "limitation", "policy"),
    "decision": ("decision", "choice"),
    "dependency": ("dependency", "prerequisite"),
}


def read_markdown(folder: Path) -> Iterator[Piece | SkippedPiece]:
    """Every note below a folder."""
    for file in markdown_files(folder):
        if file.text is None:
            yield SkippedPiece(place=file.path, reason=file.why)
            continue
        fields, body = markdown.frontmatter(file.text)
        if not body.strip():
            yield SkippedPiece(place=file.path, reason="it is empty", lost=False)
            continue
        yield from _note(file, fields, body.strip())


def _note(file: ForeignFile, fields: dict[str, Any], body: str) -> Iterator[Piece]:
    headings = [title for title, _ in markdown.sections(body, 1)[1:] if title]
    title = _bring_markdown_text(fields.get("title")) or (headings[0] if headings else Path(file.path).stem)
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
        learning = learning_in(_bring_markdown_kind(found["category"]), said, about=title, tags=(*own, *tags))
        if learning is not None:
            yield Piece(place=f"{file.path}:{number}", at=at, what=learning)


def _bring_markdown_kind(category: str) -> DiscoveryType:
    wanted = category.strip().lower()
    return next((kind for kind, words in _BRING_MARKDOWN_KINDS.items() if wanted in words), "pattern")


def _tags(value: object) -> tuple[str, ...]:
    """A list, or words with commas or spaces between, with or without a hash."""
    if isinstance(value, str):
        value = re.split(r"[,\s]+", value)
    words = value if isinstance(value, list) else []
    return usable_tags(tag.strip().lstrip("#") for tag in words if isinstance(tag, str))


def _date(fields: dict[str, Any]) -> int | None:
    for name in DATES:
        said = _bring_markdown_text(fields.get(name))
        try:
            if said:
                return parse_time(said if len(said) > 10 else f"{said}T12:00:00Z")
        except BadInput:
            continue
    return None


def _bring_markdown_text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


Source = Literal["claude-code", "claude-mem", "markdown"]
SOURCES: tuple[Source, ...] = get_args(Source)


def pieces(
    source: Source, path: Path | None, *, of: str | None, root: Path, home: Path, environ: Mapping[str, str]
) -> Iterator[Piece | SkippedPiece]:
    """What a tool kept: at `path`, or where it keeps what it knows of the project at `root`."""
    if source == "claude-code":
        return read_claude_code(path or folder_of(root, home, environ))
    if source == "claude-mem":
        return read_claude_mem(path or file_of(home), of or root.name)
    if path is None:
        raise BadInput("say which folder holds the notes")
    return read_markdown(path)
