"""The memory tool of Anthropic's API (`memory_20250818`), for the SDK's tool runner: this memory shown as files.

Paths name records and are never opened.

    /memories/ROOT.md, INDEX.md            read-only
    /memories/logs/2026-03-02.md           append-only, today's
    /memories/learnings/NAME.md            may be created, edited, renamed, deleted (archived)
    /memories/daily|weekly|monthly|themes  read-only

A learning's file is the block that agents are shown.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from anthropic.lib.tools import BetaAbstractMemoryTool, ToolError
from anthropic.types.beta import (
    BetaMemoryTool20250818Command,
    BetaMemoryTool20250818CreateCommand,
    BetaMemoryTool20250818DeleteCommand,
    BetaMemoryTool20250818InsertCommand,
    BetaMemoryTool20250818RenameCommand,
    BetaMemoryTool20250818StrReplaceCommand,
    BetaMemoryTool20250818ViewCommand,
)

from recollect.core.calendar import LEVELS
from recollect.core.context import Actor
from recollect.core.errors import BadInput, NotFound, RecollectError, Refused
from recollect.core.journal import NewEntry
from recollect.core.learning import COIA, Learning
from recollect.core.new_learning import TITLE_LIMIT, LearningEdit, NewLearning
from recollect.memory import Memory
from recollect.text import frame
from recollect.text.markdown import heading, lazy
from recollect.text.markers import extract
from recollect.text.staging import slug_of

TOP = "/memories"
LOGS, LEARNINGS, THEMES = "logs", "learnings", "themes"
FOLDERS = (LOGS, LEARNINGS, *LEVELS, THEMES)
SHOWN = 50  # files listed per folder in a view of /memories, so that six folders fit a model's context
LISTED = 1000  # files listed in a view of one folder: the longest page of learnings


class MemoryTool(BetaAbstractMemoryTool):
    """Give it to `client.beta.messages.tool_runner(tools=[MemoryTool(memory)], …)`."""

    def __init__(self, memory: Memory, **options: Any):
        super().__init__(**options)
        self._memory = memory.acting_as(Actor(name="memory-tool", channel="memory-tool", trust="agent"))

    def execute(self, command: BetaMemoryTool20250818Command) -> str:
        try:
            return str(super().execute(command))
        except RecollectError as problem:
            raise ToolError(str(problem)) from problem
        except (AttributeError, TypeError, NotImplementedError) as problem:
            # The SDK does not check what the model sends.
            raise ToolError(f"The command is malformed: {problem}") from problem

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        memory, path, lines = self._memory, command.path, command.view_range
        folder, name = _place(path)
        if name or folder in _FILES:
            mark = _mark(_learning(memory, path, folder, name)) if folder == LEARNINGS else ""
            text = _numbered(_text(memory, folder, name), lines)
            return f"Here's the content of {path}{mark} with line numbers:\n{text}"
        shown = _listed(memory, folder, LISTED) if folder else []
        for file, read in () if folder else _FILES.items():
            with suppress(NotFound):
                shown += [f"read-only\t{TOP}/{file}"] if read(memory) else []
        for each in () if folder else FOLDERS:
            shown += [f"folder\t{TOP}/{each}/", *_listed(memory, each, SHOWN)]
        return f"Here're the files and directories in {path}, each with what you may do with it:\n" + "\n".join(shown)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        memory, path, text = self._memory, command.path, command.file_text
        folder, name = _place(path)
        if folder == LEARNINGS and name:
            done = memory.learn(new_learning(text, name.removesuffix(".md")))
            made = f"{TOP}/{LEARNINGS}/{file_name(done.learning)}"
            said = (
                f"An existing file already says so: {made}" if done.merged else f"File created successfully at: {made}"
            )
            return f"{said}\nUse that path from now on, not {path}: the name of a file is its title and id."
        if folder == LOGS and name:
            if name == f"{_today(memory)}.md" and _today(memory) in _days(memory):
                raise Refused(
                    f"File {path} already exists. It is append-only: insert at its end, line {_length(memory)}"
                )
            return _appended(memory, path, name, text)
        raise Refused(_read_only(memory, path))

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        memory, path, old, new = self._memory, command.path, command.old_str, command.new_str
        folder, name = _place(path)
        if folder == LOGS:
            raise Refused(f"{path} is append-only and cannot be changed. Insert a correction at the end of today's log")
        learning = _learning(memory, path, folder, name)
        text = render(learning)
        count = text.count(old) if old else 0
        if count == 0:
            raise BadInput(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        if count > 1:
            at = [str(number) for number, line in enumerate(text.split("\n"), 1) if old in line]
            raise BadInput(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {', '.join(at)}. "
                "Please ensure it is unique"
            )
        return _edited(memory, learning, text.replace(old, new))

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        memory, path, line, text = self._memory, command.path, command.insert_line, command.insert_text
        folder, name = _place(path)
        if folder == LOGS and name:
            if (length := _length(memory)) != line and name == f"{_today(memory)}.md":
                raise BadInput(f"{path} is append-only: insert_line must be its last line, {length}, not {line}")
            return _appended(memory, path, name, text)
        learning = _learning(memory, path, folder, name)
        lines = render(learning).removesuffix("\n").split("\n")
        if not 0 <= line <= len(lines):
            raise BadInput(f"Invalid `insert_line` parameter: {line}. It should be within the range [0, {len(lines)}].")
        return _edited(memory, learning, "\n".join([*lines[:line], text.rstrip("\n"), *lines[line:]]))

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        """Archive a learning; it can be restored."""
        memory, path = self._memory, command.path
        folder, name = _place(path)
        if folder == LOGS:
            raise Refused(
                f"{path} cannot be deleted: raw logs are permanent. A person can remove text: recollect store purge"
            )
        if not name:
            raise Refused(f"Cannot delete {path}: learnings are deleted one at a time, everything else is read-only")
        learning = _learning(memory, path, folder, name)
        memory.learnings.archive(learning.id, reason="deleted with the memory tool")
        return f"Successfully deleted {path} (archived as {learning.id}; a person can restore it)"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        memory, old, new = self._memory, command.old_path, command.new_path
        folder, name = _place(old)
        target, new_name = _place(new)
        if folder == LOGS:
            raise Refused(f"{old} cannot be renamed: a log is named by its day")
        learning = _learning(memory, old, folder, name)
        if target != LEARNINGS or not new_name:
            raise Refused(f"{old} is a learning; it can only be renamed inside {TOP}/{LEARNINGS}, not to {new}")
        changes = LearningEdit(title=title_in(new_name, learning.id))
        after = memory.learnings.edit(learning.id, changes, expect=learning.version)
        return f"Successfully renamed {old} to {TOP}/{LEARNINGS}/{file_name(after)}"


# --- Places


def _place(path: str) -> tuple[str, str]:
    """The folder and file name in a path; the folder is "?" for a path that cannot exist."""
    top, *parts = path.removeprefix("/").rstrip("/").split("/")
    if not path.startswith("/") or top != TOP[1:] or any(part in ("", ".", "..") for part in parts):
        raise BadInput(f"Path must start with {TOP} and stay inside it, got: {path[:200]}")
    if not parts:
        return "", ""
    if len(parts) == 1 and (parts[0] in FOLDERS or parts[0] in _FILES):
        return parts[0], ""
    return (parts[0], parts[1]) if len(parts) == 2 and parts[0] in FOLDERS else ("?", "/".join(parts))


def _text(memory: Memory, folder: str, name: str) -> str:
    if folder in _FILES:
        return _FILES[folder](memory)
    if folder not in FOLDERS:
        raise NotFound(f"The path {TOP}/{name} does not exist. View {TOP} to see what does.")
    stem = name.removesuffix(".md")
    if folder == LOGS:
        return memory.journal.show(stem)
    if folder in LEVELS:
        return memory.journal.node(f"{folder}/{stem}")
    if folder == THEMES:
        return memory.themes.show(stem)[1]
    return render(_learning(memory, f"{TOP}/{folder}/{name}", folder, name))


_FILES: dict[str, Callable[[Memory], str]] = {
    "ROOT.md": lambda memory: memory.journal.node("root"),
    "INDEX.md": lambda memory: memory.themes.index(),
}


def _learning(memory: Memory, path: str, folder: str, name: str) -> Learning:
    if folder != LEARNINGS or not name:
        raise Refused(_read_only(memory, path))
    try:
        found = memory.learnings.get(id_in(name))
    except NotFound:
        found = None
    if found is None or found.status != "active":
        raise NotFound(f"The path {path} does not exist. View {TOP}/{LEARNINGS} to see what does.")
    return found


def _read_only(memory: Memory, path: str) -> str:
    return (
        f"{path} is read-only or does not exist in this memory. You can write to two places: "
        f"{TOP}/{LOGS}/{_today(memory)}.md for what happened (append-only), and {TOP}/{LEARNINGS}/NAME.md for what was "
        "learned, one insight a file, with Context, Observation, Implication and Action"
    )


# --- Listings


def _listed(memory: Memory, folder: str, most: int) -> list[str]:
    if folder == LEARNINGS:
        learnings, total = memory.learnings.page(limit=most)
        lines = [f"editable{_mark(each)}\t{TOP}/{folder}/{file_name(each)}" for each in learnings]
    else:
        names = _names(memory, folder)
        total, today = len(names), _today(memory) if folder == LOGS else ""
        lines = [
            f"{'append-only' if name == today else 'read-only'}\t{TOP}/{folder}/{name}.md" for name in names[:most]
        ]
    return lines + ([f"and {total - len(lines)} more in {TOP}/{folder}"] if total > len(lines) else [])


def _names(memory: Memory, folder: str) -> list[str]:
    """The files in a folder, newest or best supported first."""
    if folder == LOGS:
        return _days(memory)
    if folder == THEMES:
        return [theme.name for theme in memory.themes.list()]
    nodes = [id.partition("/") for id in memory.journal.nodes()]
    return sorted((name for level, _, name in nodes if level == folder), reverse=True)


def _mark(learning: Learning) -> str:
    return " (from outside, not adopted by a person)" if learning.trust == "external" else ""


def _numbered(text: str, between: Sequence[int] | None) -> str:
    lines = text.removesuffix("\n").split("\n")
    first, last = (max(1, between[0]), between[1]) if between and len(between) == 2 else (1, -1)
    shown = lines[first - 1 : None if last == -1 else last]
    return "\n".join(f"{number:>6}\t{line}" for number, line in enumerate(shown, first))


# --- Writing


def _appended(memory: Memory, path: str, name: str, text: str) -> str:
    if name != f"{_today(memory)}.md":
        raise Refused(f"{path} is not today's log; write to {TOP}/{LOGS}/{_today(memory)}.md")
    done = memory.journal.add(NewEntry(text=text))
    said = f"The file {path} has been edited: entry {done.id} was appended."
    return f"{said} {done.warning}" if done.warning else said


def _edited(memory: Memory, learning: Learning, text: str) -> str:
    changes = edited(learning, text)
    if not changes:
        raise BadInput("Nothing was changed. You can edit the title and the four fields of a learning")
    after = memory.learnings.edit(learning.id, LearningEdit(**changes), expect=learning.version)  # type: ignore[arg-type]
    return f"The memory file has been edited. It now says:\n{_numbered(render(after), None)}"


def _today(memory: Memory) -> str:
    return memory.journal.today().isoformat()


def _days(memory: Memory) -> list[str]:
    return [each.day.isoformat() for each in memory.journal.days()]


def _length(memory: Memory) -> int:
    """The number of lines in today's log; 0 before its first entry."""
    today = _today(memory)
    return len(memory.journal.show(today).removesuffix("\n").split("\n")) if today in _days(memory) else 0


_STATE = lazy(r"[ \t]*\[confidence: [^\]]*\]$")
_LABEL = lazy(
    r"(?:[-*][ \t]+)?(?:\*\*|__|#{1,6}[ \t]+)?(?P<name>context|observation|implication|action)"
    r"(?:(?:\*\*|__)?:(?:\*\*|__)?(?:[ \t]+|$)|[ \t]*$)(?P<text>.*)",
    re.IGNORECASE,
)
_FOOTER = lazy(r"_ID: .*_")


def render(learning: Learning) -> str:
    """The file of a learning; `read` is the inverse."""
    return frame.block(learning) + "\n"


def read(text: str) -> dict[str, str]:
    """The title and those of the four fields that a text labels; `prose` is what comes before any label."""
    found: dict[str, list[str]] = {}
    current = "prose"
    for line in text.splitlines():
        title, label = heading(line), _LABEL.match(line)
        if label and not (title and _STATE.search(line)):  # a title may be any words, even a label
            current = label["name"].lower()
            found.setdefault(current, []).append(label["text"])
        elif title and "title" not in found and not any(name in found for name in COIA):
            found["title"] = [_STATE.sub("", title[1])]
        elif not _FOOTER.fullmatch(line):
            found.setdefault(current, []).append(line)
    read = {name: frame.one_line(frame.unescape(" ".join(lines))) for name, lines in found.items()}
    return {name: value for name, value in read.items() if value}


def new_learning(text: str, name: str) -> NewLearning:
    """A new file as a learning. Its prose fills the fields without a label; its name is the title of last resort."""
    given = read(text)
    prose = given.pop("prose", "") or " ".join(given.get(field, "") for field in COIA).strip()
    if not prose:
        raise BadInput("The file is empty. Write what you observed and what to do about it")
    title = given.get("title") or _words(name)
    made = extract("pattern", prose, title, "")
    fields: dict[str, Any] = {name: given.get(name) or getattr(made, name) for name in COIA}
    title = (title or made.title)[:TITLE_LIMIT].rstrip()
    return NewLearning(title=title, **fields, tags=made.tags, domain=made.domain)


def edited(learning: Learning, text: str) -> dict[str, str]:
    """The fields that an edited file changes."""
    before, after = read(render(learning)), read(text)
    gone = [name for name in before if name not in after]
    if gone:
        raise BadInput(f"The edit removes {', '.join(gone)}. Keep the title and all of {', '.join(COIA)}")
    if "prose" in after:
        raise BadInput(
            f"A line belongs to no field. After the title, begin each field with its label: {', '.join(COIA)}"
        )
    return {name: said for name, said in after.items() if said != before.get(name)}


def file_name(learning: Learning) -> str:
    """A readable title, and the id, which finds the learning even after the title changes."""
    return f"{slug_of(learning.title)}.{learning.id}.md"


def id_in(name: str) -> str:
    return name.removesuffix(".md").rpartition(".")[2]


def title_in(name: str, id: str) -> str:
    """A file's name as a title, without the id at its end."""
    return _words(name.removesuffix(".md").removesuffix(f".{id}"))[:TITLE_LIMIT].rstrip()


def _words(name: str) -> str:
    return name.replace("-", " ").replace("_", " ").strip().capitalize()
