"""Proof that a host calls us: the commands in its own files are run as it would run them, with a question of ours.

The question names no session, so it leaves no trace in the memory. Reads what hosts really asked from the memory.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from recollect.hosts.hook import CYCLE, FAILED, PAUSED, SILENT, in_ci
from recollect.hosts.install import CLAUDE_CODE_HOOKS, CODEX_HOOKS, GEMINI_HOOKS, has_plugin, plugin_folder, told
from recollect.store.project import is_begun

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from recollect.memory import Memory
    from recollect.store.project import Project
    from recollect.store.sessions import HostSession, ReportedEvent

SECONDS = 20
_EVENTS = {"claude-code": CLAUDE_CODE_HOOKS, "codex": CODEX_HOOKS, "gemini": GEMINI_HOOKS}


@dataclass(frozen=True, kw_only=True)
class ProbedEvent:
    """One event: whether the host's file names a command for it that works, and when the host last used it."""

    event: str
    answer: str
    good: bool
    last_heard: int | None


@dataclass(frozen=True, kw_only=True)
class ProbeResult:
    """What was found. `session` is the one heard of last, with everything it was given."""

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
    """Try every event of a host, and tell what its last session was given."""
    plugin = host == "claude-code" and has_plugin(project.root, environ)
    files = told(project).get(host, [])
    folder = plugin_folder(environ) if plugin else None
    written = dict(_commands(project.root, files))
    commands = dict(_commands(folder, ["hooks/hooks.json"])) if folder is not None else written
    heard = memory.sessions.last_heard(host)
    tried = []
    for event, _ in _EVENTS.get(host, ()):
        answer, good = _try(project.root, event, commands.get(event))
        tried.append(ProbedEvent(event=event, answer=answer, good=good, last_heard=heard.get(event)))
    session = memory.sessions.latest(host)
    return ProbeResult(
        host=host,
        place="the plugin" if plugin else ", ".join(files),
        tried=tuple(tried),
        notes=tuple(_notes(project, files if plugin and written else [], environ)),
        session=session,
        given=tuple(memory.sessions.events(session.id)) if session else (),
    )


def _commands(root: Path, files: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The command for each event, as the host's own file has it; a plugin's file names its folder by a variable."""
    for file in files:
        if not file.endswith(".json"):
            continue
        # The file is a host's or came with a clone: from where it has another shape, nothing of it is ours.
        with suppress(OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError):
            for event, groups in (json.loads((root / file).read_text("utf-8")).get("hooks") or {}).items():
                for hook in (hook for group in groups for hook in group.get("hooks", [])):
                    whole = hook.get("command", "")
                    command = [whole, *hook["args"]] if "args" in hook else shlex.split(whole)
                    if "hook" in command and CYCLE not in command:
                        yield event, [part.replace("${CLAUDE_PLUGIN_ROOT}", str(root)) for part in command]


def _try(root: Path, event: str, command: list[str] | None) -> tuple[str, bool]:
    if command is None:
        return "no command for it", False
    asked: dict[str, Any] = {"hook_event_name": event, "cwd": str(root), "source": "startup"}
    began = time.monotonic()
    try:
        done = subprocess.run(
            command, input=json.dumps(asked).encode(), cwd=root, capture_output=True, timeout=SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"failed: {error}", False
    took = f"{round((time.monotonic() - began) * 1000)} ms"
    if done.returncode or done.stderr:
        return f"failed: exit {done.returncode} {done.stderr.decode('utf-8', 'replace').strip()[-200:]}", False
    if event == "SessionStart":
        return (f"answers in {took}", True) if done.stdout.strip() else ("silent", False)
    return f"answers in {took}", True


def _notes(project: Project, doubled: list[str], environ: Mapping[str, str]) -> Iterator[str]:
    if doubled:
        yield f"everything comes twice, from the plugin and from {', '.join(doubled)}; recollect init mends it"
    if (project.data / PAUSED).exists():
        yield SILENT
    if not is_begun(project):
        yield f"hooks are silent: you did not begin this memory, or {project.state} cannot be written; recollect init"
    if in_ci(environ):
        yield "CI is set: nothing is captured"
    if project.settings.hosts.ignore:
        yield f"silent in: {', '.join(project.settings.hosts.ignore)}"
    try:
        yield f"the last failure: {(project.data / FAILED).read_text('utf-8').strip()}"
    except OSError:
        return
