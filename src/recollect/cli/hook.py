"""`recollect hook EVENT --host H [--pid PID]`: a host calls it at its events, with JSON on standard input.

It always exits with 0 and prints nothing but its answer: an agent must never stop, or stumble, because of its memory.
"""

from __future__ import annotations

import json
import os
import sys
import time

from recollect.cli.printing import put


def main(arguments: list[str]) -> int:
    try:
        event, host, pid = _read(arguments)
        from recollect.hosts.hook import respond, seconds_of, time_limit

        began = time.monotonic()
        with time_limit(seconds_of(host, event)):
            given = _payload()
        respond(host, event, given, os.environ, put, pid=pid, spent=time.monotonic() - began)
    except BaseException:  # noqa: BLE001 — the fail-open edge: not even Ctrl-C may look like a refusal to the host
        pass
    return 0


def _read(arguments: list[str]) -> tuple[str, str, int]:
    """The event, the host, and the host's process where it is known; options may stand on either side."""
    rest = [part for argument in arguments for part in argument.split("=", 1)]
    given = {}
    for name in ("--host", "--pid"):
        if name in rest:
            at = rest.index(name)
            given[name] = rest.pop(at + 1)
            rest.pop(at)
    (event,) = rest
    return event, given["--host"], int(given.get("--pid", 0))


def _payload() -> object:
    if sys.stdin.isatty():
        return {}
    return json.loads(sys.stdin.buffer.read().decode("utf-8", "replace") or "{}")
