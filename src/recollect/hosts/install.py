"""Telling hosts about us, and taking it back: which files change, how the change looks, and how it is undone.

What was put into which file is kept beside the store, so that `uninstall` restores every file byte for byte. With the
Claude Code plugin installed its files already call us; then nothing is written for that host, and what was is undone.

What each host's own files need to say, so that it calls us: tables, no logic.

Commands are written with the absolute path of the interpreter: a host's PATH is not the user's. `-P` keeps modules of
the project that happens to be the current folder out of our process.
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Collection, Mapping
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import Any

from recollect.core.errors import BadInput, RecollectError
from recollect.core.records import record
from recollect.hosts import edit_files
from recollect.hosts.event import running
from recollect.hosts.hook import HOSTS
from recollect.store.files import write_path
from recollect.store.project import Project

SERVER = "recollect"
BEGIN_TOML, END_TOML = "# >>> recollect", "# <<< recollect"
BEGIN_MARKDOWN, END_MARKDOWN = "<!-- recollect: begin -->", "<!-- recollect: end -->"

CLAUDE_CODE_HOOKS: tuple[tuple[str, int], ...] = (
    ("SessionStart", 10),
    ("UserPromptSubmit", 6),
    ("SubagentStart", 6),
    ("SubagentStop", 10),
    ("PreCompact", 10),
    ("PostCompact", 10),
    ("Stop", 10),
    ("TaskCompleted", 10),
    ("SessionEnd", 2),
)
"""Events and the seconds the host waits; ours end earlier (`limits`)."""
CODEX_HOOKS = tuple((event, seconds) for event, seconds in CLAUDE_CODE_HOOKS if event != "TaskCompleted")
GEMINI_HOOKS = (("SessionStart", 10), ("BeforeAgent", 6), ("AfterAgent", 10), ("PreCompress", 10), ("SessionEnd", 2))
GEMINI_MATCHERS = {"PreCompress": "manual"}
"""The automatic one comes before every request, whether something is compressed or not."""
CYCLE_SECONDS = 120


@record
class Addition:
    """Something a file must say: a value at a path of its JSON, a block of text between marks, or the whole file."""

    file: str
    path: tuple[str, ...] = ()
    value: Any = None
    item: bool = False
    marks: tuple[str, str] = ("", "")
    body: str = ""


def additions(host: str, python: str) -> list[Addition]:
    """What a host's files in a project must say."""
    return _ADDITIONS[host](python)


def command(python: str, *arguments: str) -> list[str]:
    return [python, "-P", "-m", "recollect", *arguments]


def claude_code_hooks(program: list[str]) -> dict[str, list[dict[str, Any]]]:
    """The hooks table, for a program and its first arguments; the plugin's file is made from it, too."""

    def hook(event: str, seconds: int, **more: Any) -> dict[str, Any]:
        arguments = [*program[1:], "hook", event, "--host", "claude-code"]
        return {"type": "command", "command": program[0], "args": arguments, "timeout": seconds, **more}

    table = {event: [{"hooks": [hook(event, seconds)]}] for event, seconds in CLAUDE_CODE_HOOKS}
    table["SessionStart"][0]["hooks"].append(hook("Cycle", CYCLE_SECONDS, **{"async": True}))
    return table


def _claude_code(python: str) -> list[Addition]:
    settings, servers = ".claude/settings.local.json", ".mcp.json"
    hooks = claude_code_hooks(command(python))
    program, *arguments = command(python, "mcp")
    return [
        *(Addition(file=settings, path=("hooks", event), value=group, item=True) for event, (group,) in hooks.items()),
        Addition(file=settings, path=("enabledMcpjsonServers",), value=SERVER, item=True),
        Addition(file=servers, path=("mcpServers", SERVER), value={"command": program, "args": arguments}),
    ]


def _codex(python: str) -> list[Addition]:
    program, *arguments = command(python, "mcp")
    listed = ", ".join(_toml(argument) for argument in arguments)
    server = f"[mcp_servers.{SERVER}]\ncommand = {_toml(program)}\nargs = [{listed}]"
    return [
        *_shell_hooks(".codex/hooks.json", "codex", python, CODEX_HOOKS, unit=1),
        Addition(file=".codex/config.toml", marks=(BEGIN_TOML, END_TOML), body=server),
    ]


def _gemini(python: str) -> list[Addition]:
    settings = ".gemini/settings.json"
    program, *arguments = command(python, "mcp")
    return [
        *_shell_hooks(settings, "gemini", python, GEMINI_HOOKS, unit=1000, matchers=GEMINI_MATCHERS),
        Addition(file=settings, path=("mcpServers", SERVER), value={"command": program, "args": arguments}),
    ]


def _openclaw(python: str) -> list[Addition]:
    heartbeat = shlex.join(command(python, "hook", "Heartbeat", "--host", "openclaw"))
    start = shlex.join(command(python, "hook", "SessionStart", "--host", "openclaw"))
    recall = shlex.join(command(python, "recall"))
    marks = (BEGIN_MARKDOWN, END_MARKDOWN)
    body = f"- Memory upkeep: `{heartbeat}` compacts what is due and prints what waits, or HEARTBEAT_OK."
    skill = _SKILL.format(start=start, recall=recall, log=shlex.join(command(python, "log", "add")))
    return [
        Addition(file="HEARTBEAT.md", marks=marks, body=body),
        Addition(file="skills/recollect/SKILL.md", body=skill),
    ]


def _shell_hooks(
    file: str,
    host: str,
    python: str,
    hooks: tuple[tuple[str, int], ...],
    *,
    unit: int,
    matchers: dict[str, str] | None = None,
) -> list[Addition]:
    """Hooks of hosts that run a line of shell; `unit` is what a second is in their timeouts."""
    found = []
    for event, seconds in hooks:
        line = shlex.join(command(python, "hook", event, "--host", host))
        group: dict[str, Any] = {"hooks": [{"type": "command", "command": line, "timeout": seconds * unit}]}
        if matchers and event in matchers:
            group["matcher"] = matchers[event]
        found.append(Addition(file=file, path=("hooks", event), value=group, item=True))
    return found


def _toml(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


_ADDITIONS = {"claude-code": _claude_code, "codex": _codex, "gemini": _gemini, "openclaw": _openclaw}

_SKILL = """\
---
name: recollect
description: The long memory of this workspace. Use it at the start of a session, when something may have been \
discussed or decided before, and when something was learned that later sessions should know.
---

# Memory with Recollect

Daily notes stay where they are: `memory/YYYY-MM-DD.md`, one `## Topic [type]` section per entry. Recollect reads
them in place and keeps `memory/daily`, `memory/weekly`, `memory/monthly` and `memory/ROOT.md` beside them. `MEMORY.md`
is yours; it is never touched.

- A session starts with `{start}`: what is remembered, as facts.
- `{recall} "QUESTION"` walks from ROOT.md down to the raw words that answer a question.
- `{log} "TEXT" --topic TOPIC` adds an entry to today's notes. `--type user` is for who the user is, `--type feedback`
  for what they want done differently; both are never shortened away.
- The heartbeat compacts what is due. Nodes are derived: the notes are the place for changes.
"""


RECORD = "hosts.json"
INTERPRETER = "interpreter"
PLUGIN = "recollect"
_FOLDERS = {".claude": "claude-code", ".codex": "codex", ".gemini": "gemini"}


@record
class FileChange:
    """A file as it is and as it should be. `pieces` are ours in it; `before` None means that it is not there.

    `place` is the file itself, where `file` is a link to it.
    """

    file: str
    place: Path
    before: str | None
    after: str | None
    pieces: tuple[str, ...] = ()
    additions: tuple[Addition, ...] = ()

    def diff(self) -> str:
        """The change as a unified diff."""
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        was = f"a/{self.file}" if self.before is not None else "/dev/null"
        becomes = f"b/{self.file}" if self.after is not None else "/dev/null"
        lines = unified_diff(old, new, was, becomes)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


def detected(root: Path, environ: Mapping[str, str]) -> list[str]:
    """Hosts that are at work here: by their environment, else by their folder in the project or at home."""
    if at_work := [host for host in running(environ) if host in HOSTS]:
        return at_work
    homes = [root, *([Path(environ["HOME"])] if environ.get("HOME") else [])]
    found = [host for folder, host in _FOLDERS.items() if any((home / folder).is_dir() for home in homes)]
    return found + (["openclaw"] if (root / "HEARTBEAT.md").is_file() else [])


def has_plugin(root: Path, environ: Mapping[str, str]) -> bool:
    """Whether Claude Code has our plugin switched on, for this project or for the user."""
    for file in (
        _users(environ) / "settings.json",
        root / ".claude/settings.json",
        root / ".claude/settings.local.json",
    ):
        with suppress(OSError, ValueError, RecursionError, AttributeError):
            plugins = json.loads(file.read_text("utf-8")).get("enabledPlugins") or {}
            if any(name.split("@")[0] == PLUGIN and on for name, on in plugins.items()):
                return True
    return False


def plugin_folder(environ: Mapping[str, str]) -> Path | None:
    """Where Claude Code keeps the plugin it installed."""
    with suppress(OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError):
        plugins = json.loads((_users(environ) / "plugins/installed_plugins.json").read_text("utf-8"))["plugins"]
        for name, installed in plugins.items():
            if name.split("@")[0] == PLUGIN:
                return Path(installed[-1]["installPath"])
    return None


def _users(environ: Mapping[str, str]) -> Path:
    """Where Claude Code keeps what belongs to the user."""
    return Path(environ.get("CLAUDE_CONFIG_DIR") or os.path.join(environ.get("HOME") or "/nonexistent", ".claude"))


def installing(project: Project, host: str, environ: Mapping[str, str], python: str) -> list[FileChange]:
    """What has to change so that a host calls us; nothing when it does already."""
    if host not in HOSTS:
        raise BadInput(f"no host {host!r}; known are {', '.join(HOSTS)}")
    known = _known(project).get(host, {})
    wanted: dict[str, list[Addition]] = {}
    for addition in additions(host, python):
        wanted.setdefault(addition.file, []).append(addition)
    changes = [
        _changed(file, _place(project.root, file, environ), asked, known.get(file)) for file, asked in wanted.items()
    ]
    return [change for change in changes if change.before != change.after or change.file not in known]


def uninstalling(project: Project, hosts: Collection[str], environ: Mapping[str, str]) -> list[FileChange]:
    """What has to change so that these hosts call us no more: our pieces go, everything else stays as it is."""
    changes = []
    for files in (files for host, files in _known(project).items() if host in hosts):
        for file, kept in files.items():
            place = _place(project.root, file, environ)
            before = _read(place)
            if before is not None:
                bare = _taken_out(before, kept)
                empty = edit_files.EMPTY_JSON if file.endswith(".json") else ""
                after = None if kept["made"] and bare == empty else bare
                changes.append(FileChange(file=file, place=place, before=before, after=after))
    return [change for change in changes if change.before != change.after]


def apply(project: Project, host: str, changes: list[FileChange]) -> None:
    """Write a host's files, and what of them is ours."""
    known = _known(project)
    for change in changes:
        assert change.after is not None
        made = change.before is None or bool(known.get(host, {}).get(change.file, {}).get("made"))
        # The record first: a crash between the two leaves a record of pieces that are not there, which undoes nothing.
        additions = [vars(addition) for addition in change.additions]
        kept = {"made": made, "pieces": list(change.pieces), "additions": additions}
        known.setdefault(host, {})[change.file] = kept
        _remember(project, known)
        write_path(change.place, change.after)


def undo(project: Project, hosts: Collection[str], changes: list[FileChange]) -> None:
    """Restore files, and forget that these hosts were told about us."""
    for change in changes:
        if change.after is not None:
            write_path(change.place, change.after)
            continue
        change.place.unlink(missing_ok=True)
        for folder in (project.root / change.file).parents:
            if folder == project.root:
                break
            with suppress(OSError):  # not empty: somebody else's too
                folder.rmdir()
    left = {host: files for host, files in _known(project).items() if host not in hosts}
    if left:
        _remember(project, left)
    else:
        (project.data / RECORD).unlink(missing_ok=True)


def told(project: Project) -> dict[str, list[str]]:
    """Which files of which hosts hold something of ours."""
    return {host: list(files) for host, files in _known(project).items()}


def remember_interpreter(project: Project, python: str) -> None:
    """The plugin's launcher looks here: it cannot know where we are installed. One for all the user's projects."""
    with suppress(RecollectError):  # no folder of the user's own: the launcher goes by the PATH
        write_path(project.state / INTERPRETER, f"{python}\n", mode=0o600)


def _place(root: Path, file: str, environ: Mapping[str, str]) -> Path:
    """The file that a host reads under this name. A link may lead to its namesake among the user's own files, where
    people keep such things; a repository's link does not make us write into any other file.
    """
    place = (root / file).resolve()
    at_home = bool(environ.get("HOME")) and place.is_relative_to(Path(environ["HOME"]).resolve())
    if place.is_relative_to(root) or (at_home and place.name == Path(file).name):
        return place
    raise BadInput(f"{file} is a link to {place}, which is no file of the project or your own; put a file in its place")


def _changed(file: str, place: Path, asked: list[Addition], kept: dict[str, Any] | None) -> FileChange:
    """A file with our additions. What an earlier init put in goes first, so that a moved interpreter is followed."""
    before = _read(place)
    text = before or ""
    if kept and before is not None:
        text = _taken_out(text, kept)
    if file.endswith(".json"):
        text = text or edit_files.EMPTY_JSON
        if not edit_files.is_json_object(text):
            raise BadInput(f"{file} is not plain JSON, so nothing was written; add the hooks by hand (docs/hosts.md)")
        for each in asked:  # put in by another clone, and committed
            if edit_files.holds(text, each.path, each.value, item=each.item):
                text = edit_files.json_without(text, each.path, each.value, item=each.item)
    pieces: list[str] = []
    for addition in reversed(asked):  # each goes in front of the others
        if addition.path:
            text, made = edit_files.into_json(text, addition.path, addition.value, item=addition.item)
            pieces += made
        elif addition.marks[0]:
            text, piece = edit_files.as_block(text, addition.marks[0], addition.body, addition.marks[1])
            pieces.append(piece)
        elif text and text != addition.body:
            raise BadInput(f"{file} is there already and is not ours")
        else:
            text = addition.body
            pieces.append(text)
    return FileChange(file=file, place=place, before=before, after=text, pieces=tuple(pieces), additions=tuple(asked))


def _taken_out(text: str, kept: dict[str, Any]) -> str:
    """A file without what is ours: piece by piece, or by meaning where its owner wrote into a piece."""
    bare = edit_files.without(text, kept["pieces"])
    if bare is not None:
        return bare
    for given in kept["additions"]:
        if given["path"] and edit_files.is_json_object(text):
            text = edit_files.json_without(text, tuple(given["path"]), given["value"], item=given["item"])
        elif given["marks"][0]:
            text = edit_files.block_without(text, *given["marks"])
    return text


def _read(path: Path) -> str | None:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read()
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as text: {error}") from None


def _remember(project: Project, known: dict[str, dict[str, Any]]) -> None:
    write_path(project.data / RECORD, json.dumps(known, ensure_ascii=False, indent=2) + "\n", mode=0o600)


def _known(project: Project) -> dict[str, dict[str, Any]]:
    try:
        return dict(json.loads((project.data / RECORD).read_text("utf-8")))
    except (OSError, ValueError, RecursionError):
        return {}
