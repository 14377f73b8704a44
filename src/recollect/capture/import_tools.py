"""Reading the memory of other tools: Claude Code, claude-mem, and folders of Markdown notes.

Each reader gives pieces (`capture/import_notes.py`); nothing here writes.

- Claude Code's auto memory is a folder of one-fact files with a type, and MEMORY.md that lists them. The four types are
  the journal's own, so a fact becomes an entry of its type. So do lines of MEMORY.md that link to no such file.
- claude-mem has a database. A session's summary becomes an entry. An observation that says what to do becomes a
  learning, any other an entry; so does a decision, because nobody stated a confidence. Prompts are left out, because
  summaries say what was asked, and so is what claude-mem calls sensitive.
- A Markdown note of basic-memory or Obsidian becomes one entry of type reference, whole: cut up, it would lose its
  subject. Its observations (`- [category] text #tag`) that say what to do become learnings beside it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, Literal, get_args

from recollect.capture.import_notes import Piece, SkippedPiece, learning_in, usable_tags
from recollect.core.choices import DiscoveryType
from recollect.core.clock import parse_time
from recollect.core.errors import BadInput, StoreDamaged
from recollect.core.journal import ENTRY_TYPES, EntryType, NewEntry
from recollect.store import foreign
from recollect.store.foreign import ForeignFile, markdown_files
from recollect.text import markdown
from recollect.text.sentences import first_sentence

Source = Literal["claude-code", "claude-mem", "markdown"]
SOURCES: tuple[Source, ...] = get_args(Source)


def pieces(
    source: Source, path: Path | None, *, of: str | None, root: Path, home: Path, environ: Mapping[str, str]
) -> Iterator[Piece | SkippedPiece]:
    """What a tool remembers of the project at `root`, read from `path` or from the tool's usual place."""
    if source == "claude-code":
        users = Path(environ.get("CLAUDE_CONFIG_DIR") or home / ".claude")
        usual = users / "projects" / re.sub(r"[^0-9A-Za-z]", "-", str(root)) / "memory"
        return read_claude_code(path or usual)
    if source == "claude-mem":
        return read_claude_mem(path or home / ".claude-mem" / "claude-mem.db", of or root.name)
    if path is None:
        raise BadInput("name the folder that holds the notes")
    return read_markdown(path)


INDEX = "MEMORY.md"
_LISTED = re.compile(r"\s*[-*+]\s+\[[^\]]*\]\(([^)\s]+\.md)\).*")
_WHY = re.compile(r"^\s*(?:[-*]\s+)?\*{0,2}(why|how to apply)\s*:?\*{0,2}\s*:?\s*", re.IGNORECASE | re.MULTILINE)


def read_claude_code(folder: Path) -> Iterator[Piece | SkippedPiece]:
    """The facts in a memory folder, or in the memory folder of a project's folder."""
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
    inner = fields.get("metadata")
    stated = _text(fields, "type") or (_text(inner, "type") if isinstance(inner, dict) else "")
    kind: EntryType = next((kind for kind in ENTRY_TYPES if kind == stated.lower()), "project")
    topic = _text(fields, "name") or Path(file.path).stem.replace("_", " ").replace("-", " ")
    lead = body if not said or said in body else f"{said}\n\n{body}".strip()
    entry = _feedback(lead, topic) if kind == "feedback" else NewEntry(text=lead, topic=topic, type=kind)
    return Piece(place=file.path, at=file.modified, what=entry)


def _feedback(text: str, topic: str) -> NewEntry:
    rule, *labelled = _WHY.split(text)
    parts = {name.lower(): part.strip() for name, part in zip(labelled[::2], labelled[1::2], strict=True)}
    if not labelled or not rule.strip():
        return NewEntry(text=text, topic=topic, type="feedback")
    return NewEntry(
        topic=topic,
        type="feedback",
        rule=rule.strip(),
        why=parts.get("why") or None,
        how_to_apply=parts.get("how to apply") or None,
    )


def _index(file: ForeignFile, names: set[str]) -> Iterator[Piece]:
    """Notes in MEMORY.md itself, one entry per heading."""
    topic, lines = INDEX, list[str]()
    for line in [*(file.text or "").split("\n"), "# "]:
        if line.startswith(("# ", "## ")):
            if text := "\n".join(lines).strip():
                yield Piece(place=f"{INDEX} ({topic})", at=file.modified, what=NewEntry(text=text, topic=topic))
            topic, lines = line.lstrip("# ").strip() or INDEX, []
        elif not ((listed := _LISTED.fullmatch(line)) and listed[1].removeprefix("./") in names):
            lines.append(line)


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


def read_claude_mem(file: Path, project: str) -> Iterator[Piece | SkippedPiece]:
    with foreign.database(file) as connection:
        if not foreign.columns(connection, "observations"):
            raise BadInput(f"{file} has no observations, so it is not a database of claude-mem; give another file")
        seen: Counter[str] = Counter()
        taken = 0
        try:
            summaries = ((_summary, row) for row in foreign.rows(connection, "session_summaries", SUMMARIES))
            observations = ((_observation, row) for row in foreign.rows(connection, "observations", OBSERVATIONS))
            for read, row in chain(summaries, observations):
                owner = _text(row, "merged_into_project") or _text(row, "project")
                seen[owner] += 1
                if owner == project:
                    taken += 1
                    yield read(row)
        except StoreDamaged as damage:
            yield SkippedPiece(place=file.name, reason=f"{damage}; {taken} records before that were read")
            return
    if not taken and seen:
        there = ", ".join(f"{name} ({count})" for name, count in seen.most_common(20))
        raise BadInput(f"claude-mem has no project {project!r}; give --of with one of: {there}")


def _summary(row: dict[str, Any]) -> Piece | SkippedPiece:
    place = f"session summary {row['id']}"
    rest = {"Learned": "learned", "Next": "next_steps", "Notes": "notes"}
    text = "\n\n".join(f"{label}: {said}" for label, name in rest.items() if (said := _text(row, name)))
    request, investigated, completed = (_text(row, name) for name in ("request", "investigated", "completed"))
    if not (text or request or investigated or completed):
        return SkippedPiece(place=place, reason="it is empty", lost=False)
    entry = NewEntry(
        text=text,
        title=first_sentence(request or completed or text, 12),
        request=request or None,
        analysis=investigated or None,
        outcome=completed or None,
        references=_items(row, "files_edited"),
    )
    return Piece(place=place, at=_at(row), what=entry)


def _observation(row: dict[str, Any]) -> Piece | SkippedPiece:
    place, kind = f"observation {row['id']}", _text(row, "type")
    if kind == "sensitive":
        return SkippedPiece(place=place, reason="claude-mem marked it as sensitive", lost=False)
    facts = _items(row, "facts")
    prose = _text(row, "narrative") or _text(row, "text")
    if not prose and not facts and not _text(row, "title"):
        return SkippedPiece(place=place, reason="it is empty", lost=False)
    learning = None
    if kind in _KINDS:
        title, tags = _text(row, "title"), _items(row, "concepts")
        about = _text(row, "subtitle") or title
        learning = learning_in(_KINDS[kind], " ".join((prose, *facts)), title=title, about=about, tags=tags)
    return Piece(place=place, at=_at(row), what=learning or _observed_entry(row, kind, prose, facts))


def _observed_entry(row: dict[str, Any], kind: str, prose: str, facts: tuple[str, ...]) -> NewEntry:
    title, subtitle = _text(row, "title"), _text(row, "subtitle")
    parts = [part for part in (subtitle, prose, "\n".join(f"- {fact}" for fact in facts)) if part]
    return NewEntry(
        text="\n\n".join(parts),
        title=title or first_sentence(prose or facts[0], 12),
        decisions=(title or prose,) if kind == "decision" else (),
        outcome=title if not parts else None,
        references=_items(row, "files_modified"),
    )


def _items(row: dict[str, Any], name: str) -> tuple[str, ...]:
    """The words of a column that holds a JSON list; empty for anything else."""
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


DATES = ("created", "created_at", "date", "updated", "modified")
_OBSERVATION = re.compile(r"\s*[-*+]\s+\[(?P<category>[^\[\]()]{2,40})\]\s+(?P<text>\S.*)")
_TAG = re.compile(r"(?:^|(?<=\s))#([\w/-]+)")
_CONTEXT = re.compile(r"\s*\([^()]*\)\s*$")
_CATEGORIES: dict[DiscoveryType, tuple[str, ...]] = {
    "blocker": ("problem", "issue", "bug", "gotcha", "pitfall", "risk", "blocker", "warning"),
    "constraint": ("constraint", "requirement", "rule", "limitation", "policy"),
    "decision": ("decision", "choice"),
    "dependency": ("dependency", "prerequisite"),
}


def read_markdown(folder: Path) -> Iterator[Piece | SkippedPiece]:
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
    title = _text(fields, "title") or (headings[0] if headings else Path(file.path).stem)
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
        category = found["category"].strip().lower()
        kind: DiscoveryType = next((kind for kind, words in _CATEGORIES.items() if category in words), "pattern")
        learning = learning_in(kind, said, about=title, tags=(*own, *tags))
        if learning is not None:
            yield Piece(place=f"{file.path}:{number}", at=at, what=learning)


def _tags(value: object) -> tuple[str, ...]:
    """A list, or words with commas or spaces between, with or without a hash."""
    if isinstance(value, str):
        value = re.split(r"[,\s]+", value)
    words = value if isinstance(value, list) else []
    return usable_tags(tag.strip().lstrip("#") for tag in words if isinstance(tag, str))


def _date(fields: dict[str, Any]) -> int | None:
    for name in DATES:
        said = _text(fields, name)
        try:
            if said:
                return parse_time(said if len(said) > 10 else f"{said}T12:00:00Z")
        except BadInput:
            continue
    return None
