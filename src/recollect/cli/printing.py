"""Answers to standard output and text from standard input, for every command; imports nothing a worker would pay for.

Output is UTF-8 whatever the locale says: what is piped must be what is stored.

Opening a memory for a command, and saying who is at the keyboard.

Trust comes from the channel: a terminal is a person's, unless a host's environment says that an agent types.
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
    """Stored words as a terminal may show them: no escape sequence, no control or direction character."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(c for c in text if c.isprintable() or c in "\n\t\u200c\u200d")


def put(text: str) -> None:
    """Print an answer; an empty one prints nothing. A reader that closes the pipe, as `head` does, is not an error."""
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
    """Drop the buffer, which would fail again when Python closes the stream."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)


def actor_of(environ: Mapping[str, str]) -> Actor:
    for host in running_hosts(environ):
        return Actor(name=host, channel="cli", trust="agent")
    return Actor(name=environ.get("USER") or environ.get("LOGNAME") or "person", channel="cli", trust="human")


def find_project(folder: str | None) -> Project:
    """The project of the folder a command runs in, or of `--project`."""
    return projects.find(Path(folder or "."), os.environ)


def open_memory(folder: str | None, *, replay: bool = True) -> Memory:
    """Its memory, on behalf of the user or agent that runs this process."""
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
