"""What each host needs in its configuration files: hooks, the MCP server, permission to read; and inserting it there.

No command contains a path of this machine: `init` writes a launcher into the user's state folder. Without it, hooks are
silent.

Removing an inserted piece restores a file byte for byte. If its owner edited a piece, our values are found in the JSON.
"""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from recollect.core.errors import BadInput, RecollectError
from recollect.core.records import record
from recollect.hosts.hook import LAUNCHER
from recollect.store.files import text_in, write_path

EMPTY_JSON = "{}\n"
_SPACE = " \t\r\n"


def into_json(text: str, path: tuple[str, ...], value: Any, *, item: bool) -> tuple[str, list[str]]:
    """A JSON text with one more value, and the inserted pieces in order.

    `path` names nested members; missing ones are created. The value becomes the last one, or with `item` the first item
    of its list.
    """
    pieces: list[str] = []
    at = _skip(text, 0)
    for depth, name in enumerate(path):
        if text[at : at + 1] != "{":
            raise BadInput(f"{'.'.join(path[:depth]) or 'the file'} is not a JSON object")
        found = _member(text, at, name)
        last = depth == len(path) - 1
        if found is None:
            made = _shown(value, depth + 1) if last and not item else "[]" if last else "{}"
            text, piece = _put_first(text, at, f"{json.dumps(name)}: {made}", depth)
            pieces.append(piece)
            found = _member(text, at, name)
            assert found is not None
        elif last and not item:
            raise BadInput(
                f"{'.'.join(path)} already exists and is not Recollect's. Remove it, or choose other hosts with --host"
            )
        at = found
    if item:
        if text[at : at + 1] != "[":
            raise BadInput(f"{'.'.join(path)} is not a JSON list")
        text, piece = _put_first(text, at, _shown(value, len(path) + 1), len(path))
        pieces.append(piece)
    return text, pieces


def as_block(text: str, begin: str, body: str, end: str) -> tuple[str, str]:
    """A text with a block between two marks appended, and the inserted piece.

    A block that another clone inserted and committed is not inserted again.
    """
    block = f"{begin}\n{body.strip()}\n{end}\n"
    if block in text:
        return text, block
    text = block_without(text, begin, end)
    gap = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
    return text + gap + block, gap + block


def without(text: str, pieces: list[str]) -> str | None:
    """A text without these pieces; None if one of them was changed."""
    for piece in reversed(pieces):
        if text.count(piece) != 1:
            return None
        text = text.replace(piece, "")
    return text


def holds(text: str, path: tuple[str, ...], value: Any, *, item: bool) -> bool:
    found = json.loads(text)
    for name in path:
        found = found.get(name) if isinstance(found, dict) else None
    return isinstance(found, list) and value in found if item else bool(found == value)


def json_without(text: str, path: tuple[str, ...], value: Any, *, item: bool) -> str:
    """A JSON text, reformatted without a value and without the objects and lists that this leaves empty."""
    document = json.loads(text)
    way = [document]
    for name in path if item else path[:-1]:
        if not isinstance(way[-1], dict) or name not in way[-1]:
            return text
        way.append(way[-1][name])
    if item and isinstance(way[-1], list) and value in way[-1]:
        way[-1].remove(value)
    elif not item and isinstance(way[-1], dict) and way[-1].get(path[-1]) == value:
        del way[-1][path[-1]]
    for name, outer, inner in zip(reversed(path), reversed(way[:-1]), reversed(way[1:]), strict=False):
        if not inner:
            del outer[name if item else next(key for key, found in outer.items() if found is inner)]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def block_without(text: str, begin: str, end: str) -> str:
    first, found, rest = text.partition(f"{begin}\n")
    return first + rest.partition(f"{end}\n")[2] if found else text


def is_json_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _member(text: str, at: int, name: str) -> int | None:
    """The offset of a member's value in the object that begins at `at`."""
    decoder = json.JSONDecoder()
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = decoder.raw_decode(text, at)
        at = _skip(text, _skip(text, at) + 1)
        if key == name:
            return at
        _, at = decoder.raw_decode(text, at)
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return None


def _put_first(text: str, at: int, item: str, depth: int) -> tuple[str, str]:
    """Insert an item before all others in the object or list that begins at `at`."""
    empty = text[_skip(text, at + 1)] in "]}"
    piece = "\n" + "  " * (depth + 1) + item + ("\n" + "  " * depth if empty else ",")
    return text[: at + 1] + piece + text[at + 1 :], piece


def _shown(value: Any, depth: int) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False).replace("\n", "\n" + "  " * depth)


def _skip(text: str, at: int) -> int:
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


SERVER = "recollect"
CLAUDE_CODE_SETTINGS, CODEX_SETTINGS = ".claude/settings.local.json", ".codex/config.toml"
CLAUDE_CODE_ROOTS, CODEX_SANDBOX = ("sandbox", "filesystem", "allowWrite"), "sandbox_workspace_write"
BEGIN, END = "# >>> recollect", "# <<< recollect"

RUN = '"${XDG_STATE_HOME:-$HOME/.local/state}/recollect/' + LAUNCHER + '"'
NO_VERSION = "none"  # by which `doctor --host` knows the stand-in
_COMMENTS = re.compile(r"^#.*\n", re.MULTILINE)
STAND_IN = _COMMENTS.sub("", text_in(Path(__file__).with_name("stand_in.sh"))).removesuffix("\n")
SERVER_LINE = f'run={RUN}; [ -x "$run" ] && exec "$run" mcp\n{STAND_IN}'
"""Starts our MCP server; a colleague may have only the files of `init`."""
PLACES = ("HOME", "XDG_STATE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "RECOLLECT_HOME")
"""Variables that locate our files; Codex passes a server only the variables that its configuration names."""
READING = ("search", "get", "why", "brief", "last", "learn list", "learn show", "log show", "status")
"""Read-only commands, which an agent may run without asking its user."""
READING_TOOLS = ("search", "timeline", "get", "wisdom", "status")
"""The read-only tools of our MCP server."""

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
"""Events, and the seconds the host waits; our hooks end earlier (`hook.SECONDS`)."""
CODEX_HOOKS = tuple((event, seconds) for event, seconds in CLAUDE_CODE_HOOKS if event != "TaskCompleted")
GEMINI_HOOKS = (("SessionStart", 10), ("BeforeAgent", 6), ("AfterAgent", 10), ("PreCompress", 10), ("SessionEnd", 2))
GEMINI_MATCHERS = {"PreCompress": "manual"}
"""The automatic event comes before every request, whether or not anything is compressed."""
HOOKS = {"claude-code": CLAUDE_CODE_HOOKS, "codex": CODEX_HOOKS, "gemini": GEMINI_HOOKS}


@record
class Addition:
    """An insertion: a value at a path of a JSON file, or a block of text between marks."""

    file: str
    path: tuple[str, ...] = ()
    value: Any = None
    item: bool = False
    body: str = ""


@record
class HostFiles:
    """Whose files are edited: a project's, or the user's own, which apply to all projects (`data` is None).

    `data` is the folder that a host's sandbox must let commands write; `record` is the file that lists our insertions.
    """

    root: Path
    record: Path
    environ: Mapping[str, str]
    data: Path | None = None

    @property
    def user(self) -> bool:
        return self.data is None

    def place(self, file: str) -> Path:
        """The file that a host reads under this name.

        A link may lead to a file of that name in the user's home; a repository's link must not make us write another.
        """
        if self.user:
            return users_file(file, self.environ).resolve()
        place, home = (self.root / file).resolve(), self.environ.get("HOME")
        at_home = bool(home) and place.is_relative_to(Path(home or "").resolve())
        if place.is_relative_to(self.root) or (at_home and place.name == Path(file).name):
            return place
        raise BadInput(f"{file} links to {place}. Let it link into the project, or to the same file in your home")


def users_file(file: str, environ: Mapping[str, str]) -> Path:
    folder, _, rest = file.partition("/")
    moved = environ.get({".claude": "CLAUDE_CONFIG_DIR", ".codex": "CODEX_HOME"}.get(folder.removesuffix(".json"), ""))
    if moved:
        return Path(moved, rest or file)
    return Path(environ.get("HOME") or "/nonexistent", file)


def write_launcher(state: Path, python: str) -> bool:
    """Write the launcher, one for all projects of the user, if it is not there as it should be."""
    text = text_in(Path(__file__).with_name("launcher.sh"))
    text = text.replace("@PYTHON@", shlex.quote(python)).replace("@STAND_IN@", STAND_IN)
    with suppress(OSError, ValueError, RecollectError):
        if os.access(state / LAUNCHER, os.X_OK) and text_in(state / LAUNCHER) == text:
            return False
    write_path(state / LAUNCHER, text, mode=0o700)
    return True


HIDDEN = " 2>/dev/null || :"


def hook_line(event: str, host: str, run: str = RUN) -> str:
    """The shell command for an event, silent if the launcher is missing; `$PPID` is the host."""
    return f"{run} hook {event} --host {host} --pid $PPID{HIDDEN}"


def hook_groups(host: str, run: str = RUN) -> dict[str, list[dict[str, Any]]]:
    """The hooks of a host by event, in the form of its configuration files."""
    unit = 1000 if host == "gemini" else 1  # of timeouts: milliseconds or seconds
    table: dict[str, list[dict[str, Any]]] = {}
    for event, seconds in HOOKS[host]:
        hook = {"type": "command", "command": hook_line(event, host, run), "timeout": seconds * unit}
        matcher = {"matcher": GEMINI_MATCHERS[event]} if host == "gemini" and event in GEMINI_MATCHERS else {}
        table[event] = [{"hooks": [hook], **matcher}]
    if host == "claude-code":  # in the background; the cycle ends itself after 110 seconds (`hook.SECONDS`)
        cycle = {"type": "command", "command": hook_line("Cycle", host, run), "timeout": 120, "async": True}
        table["SessionStart"][0]["hooks"].append(cycle)
    return table


def additions(target: HostFiles, host: str) -> list[Addition]:
    server = {"command": "/bin/sh", "args": ["-c", SERVER_LINE]}
    if host == "gemini":
        file = ".gemini/settings.json"
        return [*_hooks(file, host), Addition(file=file, path=("mcpServers", SERVER), value=server)]
    if host == "codex":
        pairs = {**server, "env_vars": list(PLACES)}.items()
        body = "\n".join([f"[mcp_servers.{SERVER}]", *(f"{name} = {_toml(value)}" for name, value in pairs)])
        if _may_name(target) and _codex_roots(target) is None:
            body += f"\n\n[{CODEX_SANDBOX}]\nwritable_roots = {_toml([_from_home(target)])}"
        return [*_hooks(".codex/hooks.json", host), Addition(file=CODEX_SETTINGS, body=body)]
    settings = ".claude/settings.json" if target.user else CLAUDE_CODE_SETTINGS
    allowed = [
        *(f"Bash(recollect {name}:*)" for name in READING),
        *(f"mcp__recollect__{name}" for name in READING_TOOLS),
    ]
    found = [
        *_hooks(settings, host),
        *(Addition(file=settings, path=("permissions", "allow"), value=rule, item=True) for rule in allowed),
    ]
    if _may_name(target):  # Claude Code joins the lists of all settings files
        found.append(Addition(file=settings, path=CLAUDE_CODE_ROOTS, value=_from_home(target), item=True))
    if not target.user:
        found.append(Addition(file=settings, path=("enabledMcpjsonServers",), value=SERVER, item=True))
    servers = ".claude.json" if target.user else ".mcp.json"
    return [*found, Addition(file=servers, path=("mcpServers", SERVER), value=server)]


def _hooks(file: str, host: str) -> list[Addition]:
    groups = hook_groups(host).items()
    return [Addition(file=file, path=("hooks", event), value=group, item=True) for event, (group,) in groups]


def _toml(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _from_home(target: HostFiles) -> str:
    """The folder of the space, as `~/…` if it is in the user's home."""
    folder, home = (target.data or Path()).resolve(), Path(target.environ.get("HOME") or "/nonexistent").resolve()
    return f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)


def _may_name(target: HostFiles) -> bool:  # no path of this machine
    return target.data is not None and _from_home(target).startswith("~/")


def sandbox_note(target: HostFiles, host: str) -> str:
    """What the user must add by hand so that commands in the host's sandbox may write the space's folder."""
    settings = {"claude-code": ".claude/settings.json", "codex": CODEX_SETTINGS}
    file = _codex_roots(target) if host == "codex" else None
    if target.user or host not in settings or (file is None and _may_name(target)):
        return ""
    why = f"{file} already configures Codex's sandbox"
    if file is None:
        file, why = users_file(settings[host], target.environ), "The memory is outside your home"
    folder, said = _from_home(target), read(file) or ""
    if _toml(folder) in said or _toml(str((target.data or Path()).resolve())) in said:
        return ""
    place = f"writable_roots of [{CODEX_SANDBOX}]" if host == "codex" else ".".join(CLAUDE_CODE_ROOTS)
    return f"{why}. To let sandboxed commands write it, add this to {place} in {file}: {_toml(folder)}"


def _codex_roots(target: HostFiles) -> Path | None:
    """The file that already says which folders Codex's sandbox may write; None if we may add the table.

    TOML allows a table only once in the project's file, and a list there would replace the user's list.
    """
    own = target.place(CODEX_SETTINGS)
    if _codex_sandbox(block_without(read(own) or "", BEGIN, END)):
        return own
    users = users_file(CODEX_SETTINGS, target.environ)
    return users if "writable_roots" in _codex_sandbox(read(users) or "") else None


def _codex_sandbox(text: str) -> dict[str, Any]:
    import tomllib  # only Codex needs it

    try:
        found = tomllib.loads(text).get(CODEX_SANDBOX)
    except (tomllib.TOMLDecodeError, RecursionError):  # Codex refuses the file too
        found = None
    return found if isinstance(found, dict) else {}


def read(path: Path) -> str | None:
    try:
        return text_in(path)
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise BadInput(f"{path} cannot be read as text: {error}") from None
