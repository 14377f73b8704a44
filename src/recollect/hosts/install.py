"""Edits the configuration files of hosts for `init` and `uninstall`, and tests them for `doctor --host`.

Insertions are recorded beside the store, or for all projects in the user's state folder, to be taken out again. Where
the Claude Code plugin is enabled, which brings its own hooks, we write nothing and remove earlier insertions.

The test runs the commands as the host would, in no session.
"""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Collection, Mapping
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path
from typing import TYPE_CHECKING, Any

from recollect.core.errors import BadInput
from recollect.core.records import record
from recollect.core.settings import in_ci, running_hosts
from recollect.hosts import host_files
from recollect.hosts.hook import CYCLE, FAILED, LAUNCHER, PAUSED, SILENT
from recollect.hosts.host_files import (
    BEGIN,
    CLAUDE_CODE_SETTINGS,
    END,
    HIDDEN,
    HOOKS,
    NO_VERSION,
    RUN,
    Addition,
    HostFiles,
    additions,
    read,
    users_file,
)
from recollect.store.files import text_in, write_path
from recollect.store.project import Project
from recollect.store.register import spot_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollect.memory import Memory
    from recollect.store.sessions import HostSession, ReportedEvent

RECORD = "hosts.json"
PLUGIN = "recollect"
_FOLDERS = {".claude": "claude-code", ".codex": "codex", ".gemini": "gemini"}


def project_target(project: Project, environ: Mapping[str, str]) -> HostFiles:
    return HostFiles(root=project.root, record=project.data / RECORD, environ=environ, data=project.data)


def users_target(state: Path, environ: Mapping[str, str]) -> HostFiles:
    return HostFiles(root=Path(environ.get("HOME") or "/nonexistent"), record=state / RECORD, environ=environ)


@record
class FileChange:
    """A file as it is and as it should be; None where it does not exist. `pieces` are our texts in it, verbatim.

    `place` is the file on disk, which `file` may link to.
    """

    file: str
    place: Path
    before: str | None
    after: str | None
    pieces: tuple[str, ...] = ()
    additions: tuple[Addition, ...] = ()

    def diff(self) -> str:
        old, new = ((text or "").splitlines(keepends=True) for text in (self.before, self.after))
        was = f"a/{self.file}" if self.before is not None else "/dev/null"
        becomes = f"b/{self.file}" if self.after is not None else "/dev/null"
        lines = unified_diff(old, new, was, becomes)
        return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)


# What a file raises that belongs to a host or came with a clone: where it has another shape, nothing in it is ours.
_NOT_OURS = (OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError, BadInput)


def detected(root: Path, environ: Mapping[str, str]) -> list[str]:
    if at_work := [host for host in running_hosts(environ) if host in HOOKS]:
        return at_work
    homes = [root, *([Path(environ["HOME"])] if environ.get("HOME") else [])]
    return [host for folder, host in _FOLDERS.items() if any((home / folder).is_dir() for home in homes)]


def has_plugin(root: Path, environ: Mapping[str, str]) -> bool:
    """Whether Claude Code has our plugin enabled, for this project or for the user."""
    users = users_file(".claude/settings.json", environ)
    for file in (users, root / ".claude/settings.json", root / CLAUDE_CODE_SETTINGS):
        with suppress(*_NOT_OURS):
            plugins = json.loads(text_in(file)).get("enabledPlugins") or {}
            if any(name.split("@")[0] == PLUGIN and on for name, on in plugins.items()):
                return True
    return False


def plugin_folder(environ: Mapping[str, str]) -> Path | None:
    with suppress(*_NOT_OURS):
        file = users_file(".claude/plugins/installed_plugins.json", environ)
        for name, installed in json.loads(text_in(file))["plugins"].items():
            if name.split("@")[0] == PLUGIN:
                return Path(installed[-1]["installPath"])
    return None


def installing(target: HostFiles, host: str) -> list[FileChange]:
    """The changes that make a host call us; none if it does already."""
    if host not in HOOKS:
        raise BadInput(f"`recollect init` cannot set up {host!r}. Choose one of: {', '.join(HOOKS)}")
    known = _known(target).get(host, {})
    wanted: dict[str, list[Addition]] = {}
    for addition in additions(target, host):
        wanted.setdefault(addition.file, []).append(addition)
    changes = [_changed(file, target.place(file), asked, known.get(file)) for file, asked in wanted.items()]
    return [change for change in changes if change.before != change.after or change.file not in known]


def uninstalling(target: HostFiles, hosts: Collection[str]) -> list[FileChange]:
    """The changes that remove our additions from hosts' files and touch nothing else."""
    changes = []
    for files in (files for host, files in _known(target).items() if host in hosts):
        for file, kept in files.items():
            place = target.place(file)
            before = read(place)
            if before is not None:
                bare = _taken_out(before, kept)
                empty = host_files.EMPTY_JSON if file.endswith(".json") else ""
                after = None if kept["made"] and bare == empty else bare
                changes.append(FileChange(file=file, place=place, before=before, after=after))
    return [change for change in changes if change.before != change.after]


def apply(target: HostFiles, host: str, changes: list[FileChange]) -> None:
    known = _known(target)
    for change in changes:
        assert change.after is not None
        made = change.before is None or bool(known.get(host, {}).get(change.file, {}).get("made"))
        # The record first: after a crash in between, it lists pieces that are not in the file, which undo ignores.
        additions = [vars(addition) for addition in change.additions]
        kept = {"made": made, "pieces": list(change.pieces), "additions": additions}
        known.setdefault(host, {})[change.file] = kept
        _remember(target, known)
        write_path(change.place, change.after)


def undo(target: HostFiles, hosts: Collection[str], changes: list[FileChange]) -> None:
    """Restore the files and forget the insertions for these hosts."""
    for change in changes:
        if change.after is not None:
            write_path(change.place, change.after)
            continue
        change.place.unlink(missing_ok=True)
        for folder in (target.root / change.file).parents:
            if folder == target.root:
                break
            with suppress(OSError):  # it is not empty
                folder.rmdir()
    left = {host: files for host, files in _known(target).items() if host not in hosts}
    if left:
        _remember(target, left)
    else:
        target.record.unlink(missing_ok=True)


def keep_out_of_git(target: HostFiles, *, shared: bool) -> list[str]:
    """List the files that we created in `.git/info/exclude`, which is not committed; returns them.

    A file that git tracks stays tracked. A shared memory lists nothing: everyone with the repository needs the files.
    """
    spot = spot_of(target.root)
    if not spot.git or not Path(spot.path, "HEAD").is_file():
        return []
    known = [(file, kept) for files in _known(target).values() for file, kept in files.items()]
    made = [] if shared else sorted({file for file, kept in known if kept["made"]})
    place = Path(spot.path, "info/exclude")
    before = read(place) or ""
    lines = [f"/{spot.folder}/{file}" if spot.folder else f"/{file}" for file in made]
    bare = host_files.block_without(before, BEGIN, END)
    after = host_files.as_block(bare, BEGIN, "\n".join(lines), END)[0] if lines else bare
    if after != before:
        write_path(place, after)
    return made


def told(target: HostFiles) -> dict[str, list[str]]:
    return {host: list(files) for host, files in _known(target).items()}


def _changed(file: str, place: Path, asked: list[Addition], kept: dict[str, Any] | None) -> FileChange:
    """A file with our additions. Earlier ones are removed first: an older version may have inserted others."""
    before = read(place)
    text = before or ""
    if kept and before is not None:
        text = _taken_out(text, kept)
    if file.endswith(".json"):
        text = text or host_files.EMPTY_JSON
        if not host_files.is_json_object(text):
            raise BadInput(f"{file} is not plain JSON, so nothing was written. Add the hooks by hand (docs/hosts.md)")
        for each in asked:  # another clone may have inserted and committed it
            if host_files.holds(text, each.path, each.value, item=each.item):
                text = host_files.json_without(text, each.path, each.value, item=each.item)
    pieces: list[str] = []
    for addition in reversed(asked):  # each is inserted before the others
        if addition.path:
            text, made = host_files.into_json(text, addition.path, addition.value, item=addition.item)
            pieces += made
        else:
            text, piece = host_files.as_block(text, BEGIN, addition.body, END)
            pieces.append(piece)
    return FileChange(file=file, place=place, before=before, after=text, pieces=tuple(pieces), additions=tuple(asked))


def _taken_out(text: str, kept: dict[str, Any]) -> str:
    """A file without our additions: removed as text, or by their JSON values if the owner edited one."""
    bare = host_files.without(text, kept["pieces"])
    if bare is not None:
        return bare
    for given in kept["additions"]:
        if given["path"] and host_files.is_json_object(text):
            text = host_files.json_without(text, tuple(given["path"]), given["value"], item=given["item"])
        else:
            text = host_files.block_without(text, BEGIN, END)
    return text


def _remember(target: HostFiles, known: dict[str, dict[str, Any]]) -> None:
    write_path(target.record, json.dumps(known, ensure_ascii=False, indent=2) + "\n", mode=0o600)


def _known(target: HostFiles) -> dict[str, dict[str, Any]]:
    try:
        return dict(json.loads(text_in(target.record)))
    except _NOT_OURS:
        return {}


SECONDS = 20  # for one hook; our slowest ends itself after 8


@record
class ProbedEvent:
    """Whether the host's file has a working command for an event, and when the host last sent that event."""

    event: str
    answer: str
    good: bool
    last_heard: int | None


@record
class ProbeResult:
    host: str
    place: str
    tried: tuple[ProbedEvent, ...]
    notes: tuple[str, ...]
    session: HostSession | None
    given: tuple[ReportedEvent, ...]

    @property
    def good(self) -> bool:
        return bool(self.place) and all(one.good for one in self.tried)


def prove(project: Project, memory: Memory, host: str, environ: Mapping[str, str]) -> ProbeResult:
    plugin = host == "claude-code" and has_plugin(project.root, environ)
    here, users = project_target(project, environ), users_target(project.state, environ)
    files, everywhere = told(here).get(host, []), told(users).get(host, [])
    folder = plugin_folder(environ) if plugin else None
    written = dict(_commands([here.place(file) for file in files]))
    commands = written or dict(_commands([users.place(file) for file in everywhere]))
    run = RUN
    if folder is not None:
        run = f'"{folder}/bin/recollect"'
        commands = dict(_commands([folder / "hooks/hooks.json"], plugin=str(folder)))
    heard = memory.sessions.last_heard(host)
    tried = []
    # A hook hides its errors from the host, and the launcher is silent where it cannot start Recollect.
    fault = launcher_fault(folder / "bin/recollect" if folder else project.state / LAUNCHER)
    for event, _ in HOOKS.get(host, ()):
        answer, good = ("silent", False) if fault else _try(project.root, event, commands.get(event))
        tried.append(ProbedEvent(event=event, answer=answer, good=good, last_heard=heard.get(event)))
    if files or everywhere or plugin:
        answer, good = try_server(f"exec {run} mcp", project.root)
        tried.append(ProbedEvent(event="MCP server", answer=answer, good=good, last_heard=None))
    session = memory.sessions.latest(host)
    places = [file for file in files if (project.root / file).exists()] or [f"~/{file}" for file in everywhere]
    return ProbeResult(
        host=host,
        place="the plugin" if plugin else ", ".join(places),
        tried=tuple(tried),
        notes=(
            *([f"hooks are silent, since their launcher does not run: {fault}"] if fault else []),
            *_notes(project, files if (plugin or everywhere) and written else [], environ),
        ),
        session=session,
        given=tuple(memory.sessions.events(session.id)) if session else (),
    )


def _commands(files: list[Path], plugin: str = "") -> Iterator[tuple[str, str]]:
    """The command for each event in a host's files."""
    for file in files:
        with suppress(*_NOT_OURS):
            for event, groups in (json.loads(text_in(file)).get("hooks") or {}).items():
                for hook in (hook for group in groups for hook in group.get("hooks", [])):
                    line = hook["command"].replace("${CLAUDE_PLUGIN_ROOT}", plugin)
                    if f" hook {event} --host " in line and CYCLE not in line:
                        yield event, line


def _try(root: Path, event: str, line: str | None) -> tuple[str, bool]:
    if line is None:
        return "no command in the host's file", False
    asked: dict[str, Any] = {"hook_event_name": event, "cwd": str(root), "source": "startup"}
    began = time.monotonic()
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", line.removesuffix(HIDDEN)],
            input=json.dumps(asked).encode(),
            cwd=root,
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"failed: {error}", False
    took = f"{round((time.monotonic() - began) * 1000)} ms"
    if done.returncode or done.stderr:
        return f"failed: exit {done.returncode} {done.stderr.decode('utf-8', 'replace').strip()[-200:]}", False
    if event == "SessionStart":
        return (f"answers in {took}", True) if done.stdout.strip() else ("silent", False)
    return f"answers in {took}", True


def launcher_fault(launcher: Path) -> str:
    """Why a launcher does not start Recollect, and what to do; empty when it does."""
    try:
        done = subprocess.run([str(launcher), "--version"], capture_output=True, timeout=SECONDS, check=False)
    except OSError as error:
        return f"{launcher}: {error.strerror}. Run: recollect init"
    except subprocess.TimeoutExpired:
        return f"{launcher} gave no answer for {SECONDS} seconds"
    said = done.stderr.decode("utf-8", "replace").strip()[-200:]
    return (
        (said or f"{launcher} ended with exit code {done.returncode}. Run: recollect init") if done.returncode else ""
    )


_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}


def try_server(line: str, root: Path) -> tuple[str, bool]:
    asked = [("initialize", _HELLO), ("tools/list", {}), ("tools/call", {"name": "status", "arguments": {}})]
    lines = [
        json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params})
        for id, (method, params) in enumerate(asked)
    ]
    given, began, said = "\n".join([*lines, ""]).encode(), time.monotonic(), ""
    try:
        done = subprocess.run(["/bin/sh", "-c", line], cwd=root, input=given, capture_output=True, timeout=SECONDS)
        said = done.stderr.decode("utf-8", "replace").strip()[-200:]
        hello, listed, called = (json.loads(answer)["result"] for answer in done.stdout.splitlines())
        if hello["serverInfo"]["version"] == NO_VERSION:
            raise ValueError("the launcher cannot start Recollect. Run: recollect init")
        if called["isError"]:
            raise ValueError(called["content"][0]["text"])
        took = round((time.monotonic() - began) * 1000)
        return f"{len(listed['tools'])} tools, status answers in {took} ms", True
    except (OSError, ValueError, LookupError, TypeError, subprocess.TimeoutExpired) as error:
        return f"failed: {said or error}", False


def _notes(project: Project, doubled: list[str], environ: Mapping[str, str]) -> Iterator[str]:
    if doubled:
        yield f"hooks are set up twice, for all projects and in {', '.join(doubled)}. To fix this, run: recollect init"
    if (project.data / PAUSED).exists():
        yield SILENT
    if in_ci(environ):
        yield "CI is set, so nothing is captured"
    if project.settings.hosts.ignore:
        yield f"hooks are silent in {', '.join(project.settings.hosts.ignore)} (setting hosts.ignore)"
    try:
        yield f"the last failure: {text_in(project.data / FAILED).strip()}"
    except (OSError, BadInput):
        return
