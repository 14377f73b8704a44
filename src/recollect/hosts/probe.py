"""A test of a host's hooks and server: run the commands in its own files as the host would, and read when it last did.

The payload names no session, so it leaves no trace in the memory.
"""

from __future__ import annotations

import json
import subprocess
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from recollect.core.records import record
from recollect.core.settings import in_ci
from recollect.hosts.hook import CYCLE, FAILED, LAUNCHER, PAUSED, SILENT
from recollect.hosts.host_files import HOOKS, RUN
from recollect.hosts.install import has_plugin, plugin_folder, project_target, told, users_target

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from recollect.memory import Memory
    from recollect.store.project import Project
    from recollect.store.sessions import HostSession, ReportedEvent

SECONDS = 20  # for one hook; the slowest one of ours ends itself after 8


@record
class ProbedEvent:
    """One event: whether the host's file names a command for it that works, and when the host last used it."""

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
    for event, _ in HOOKS.get(host, ()):
        answer, good = _try(project.root, event, commands.get(event))
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
        notes=tuple(_notes(project, files if (plugin or everywhere) and written else [], environ)),
        session=session,
        given=tuple(memory.sessions.events(session.id)) if session else (),
    )


def _commands(files: list[Path], plugin: str = "") -> Iterator[tuple[str, str]]:
    """The line for each event, as the host's own files have it; a plugin's file names its folder by a variable."""
    for file in files:
        # The file is a host's or came with a clone: from where it has another shape, nothing of it is ours.
        with suppress(OSError, ValueError, RecursionError, AttributeError, TypeError, KeyError):
            for event, groups in (json.loads(file.read_text("utf-8")).get("hooks") or {}).items():
                for hook in (hook for group in groups for hook in group.get("hooks", [])):
                    line = hook["command"].replace("${CLAUDE_PLUGIN_ROOT}", plugin)
                    if f" hook {event} --host " in line and CYCLE not in line:
                        yield event, line


def _try(root: Path, event: str, line: str | None) -> tuple[str, bool]:
    if line is None:
        return "no command for it", False
    asked: dict[str, Any] = {"hook_event_name": event, "cwd": str(root), "source": "startup"}
    began = time.monotonic()
    try:
        done = subprocess.run(
            ["/bin/sh", "-c", line],
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


def launcher_fault(state: Path) -> str:
    """Why the launcher that hooks go through does not run; empty when it does."""
    try:
        done = subprocess.run([state / LAUNCHER, "--version"], capture_output=True, timeout=SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    return done.stderr.decode("utf-8", "replace").strip()[-200:] if done.returncode else ""


_HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "doctor", "version": "1"}}


def try_server(line: str, root: Path) -> tuple[str, bool]:
    began = time.monotonic()
    pipe = subprocess.PIPE
    with subprocess.Popen(["/bin/sh", "-c", line], cwd=root, stdin=pipe, stdout=pipe, stderr=pipe) as server:
        alarm = threading.Timer(SECONDS, server.kill)
        alarm.start()
        try:
            _asked(server, 1, "initialize", _HELLO)
            _send(server, {"jsonrpc": "2.0", "method": "notifications/initialized"})
            tools = _asked(server, 2, "tools/list", {})["tools"]
            free = next(tool["name"] for tool in tools if not tool["inputSchema"].get("required"))
            _asked(server, 3, "tools/call", {"name": free, "arguments": {}})
        except (OSError, ValueError, LookupError, StopIteration, TypeError) as error:
            server.kill()
            assert server.stderr is not None
            said = server.stderr.read().decode("utf-8", "replace").strip()[-200:]
            return f"failed: {said or error!r}", False
        finally:
            alarm.cancel()
        server.kill()
    return f"{len(tools)} tools, {free} answers in {round((time.monotonic() - began) * 1000)} ms", True


def _send(server: subprocess.Popen[bytes], message: dict[str, Any]) -> None:
    assert server.stdin is not None
    server.stdin.write(json.dumps(message).encode() + b"\n")
    server.stdin.flush()


def _asked(server: subprocess.Popen[bytes], id: int, method: str, given: dict[str, Any]) -> dict[str, Any]:
    _send(server, {"jsonrpc": "2.0", "id": id, "method": method, "params": given})
    assert server.stdout is not None
    for line in server.stdout:
        if (message := json.loads(line)).get("id") == id:
            return dict(message["result"])
    raise ValueError(f"no answer to {method}")


def _notes(project: Project, doubled: list[str], environ: Mapping[str, str]) -> Iterator[str]:
    if doubled:
        yield f"hooks are set up twice, for all projects and in {', '.join(doubled)}. Run `recollect init` to fix that"
    if (project.data / PAUSED).exists():
        yield SILENT
    if in_ci(environ):
        yield "CI is set: nothing is captured"
    if project.settings.hosts.ignore:
        yield f"silent in: {', '.join(project.settings.hosts.ignore)}"
    try:
        yield f"the last failure: {(project.data / FAILED).read_text('utf-8').strip()}"
    except OSError:
        return
