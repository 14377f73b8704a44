"""Printing, reading and opening the memory without loading click; `recollect hook` and `mcp`, which programs wait for.

Output is UTF-8 in every locale. A command counts as a person's, unless the environment says that a host runs it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

from recollect.core.clock import clock_from
from recollect.core.context import Actor
from recollect.core.errors import Trouble
from recollect.core.settings import running_hosts
from recollect.memory import Memory
from recollect.store import project as projects
from recollect.store.project import Project


def visible(text: str) -> str:
    """Stored words without escape sequences, control and direction characters, safe for a terminal."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(c for c in text if c.isprintable() or c in "\n\t\u200c\u200d")


def put(text: str) -> None:
    """Print an answer unless it is empty. A reader that closes the pipe, as `head` does, is no error."""
    if not text or sys.stdout is None:
        return
    try:
        sys.stdout.flush()
        sys.stdout.buffer.write(text.encode("utf-8", "replace") + (b"" if text.endswith("\n") else b"\n"))
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        _forget_output()
    except OSError as error:
        _forget_output()
        raise Trouble(f"the answer could not be written: {error.strerror}") from None


def read_stdin() -> str:
    """Standard input as text, without a byte order mark; bytes that are not UTF-8 are replaced."""
    if sys.stdin.isatty():
        print("reading standard input; end it with Ctrl-D", file=sys.stderr)
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def _forget_output() -> None:
    """Redirect standard output: flushing its buffer would fail again when Python exits."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def actor_of(environ: Mapping[str, str]) -> Actor:
    for host in running_hosts(environ):
        return Actor(name=host, channel="cli", trust="agent")
    return Actor(name=environ.get("USER") or environ.get("LOGNAME") or "person", channel="cli", trust="human")


def find_project(folder: str | None) -> Project:
    return projects.find(Path(folder or "."), os.environ)


def open_memory(folder: str | None, *, replay: bool = True) -> Memory:
    """The memory, on behalf of the user or agent that runs this process."""
    return Memory.of(
        find_project(folder),
        actor=actor_of(os.environ),
        clock=clock_from(os.environ),
        environ=os.environ,
        replay=replay,
    )


def speak_mcp(folder: str | None) -> int:
    """Speak MCP on standard input and output. The clients are agents, even if a person started the server."""
    from recollect.core.settings import in_ci
    from recollect.mcp.protocol import speak

    ci = in_ci(os.environ)
    speak(lambda: find_project(folder), lambda: open_memory(folder, replay=not ci), read_only=ci)
    return 0


def answer_hook(arguments: list[str]) -> int:
    """Answer `recollect hook EVENT --host H [--pid PID]`, called with JSON on standard input.

    It always exits with 0 and prints only its answer: an agent must never stop because of its memory.
    """
    try:
        rest = [part for argument in arguments for part in argument.split("=", 1)]
        given = {}
        for name in ("--host", "--pid"):  # on either side of the event
            if name in rest:
                at = rest.index(name)
                given[name] = rest.pop(at + 1)
                rest.pop(at)
        (event,) = rest
        import json  # here, because `inject` does not need it
        import time

        from recollect.hosts.hook import respond, seconds_of, time_limit

        host, began = given["--host"], time.monotonic()
        with time_limit(seconds_of(host, event)):
            said = "{}" if sys.stdin.isatty() else sys.stdin.buffer.read().decode("utf-8", "replace") or "{}"
            payload = json.loads(said)
        pid = int(given.get("--pid", 0))
        respond(host, event, payload, os.environ, put, pid=pid, spent=time.monotonic() - began)
    except BaseException:  # noqa: BLE001 — fail open: not even Ctrl-C may look like a refusal to the host
        pass
    return 0
