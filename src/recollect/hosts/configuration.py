"""What each host's own files need to say, so that it calls us: tables, no logic.

Commands are written with the absolute path of the interpreter: a host's PATH is not the user's. `-P` keeps modules of
the project that happens to be the current folder out of our process.
"""

from __future__ import annotations

import shlex
from typing import Any

from recollect.core.record import record

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
