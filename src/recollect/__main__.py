"""`recollect …` and `python -m recollect …`.

`inject` and `hook` are dispatched before click is imported: workers call them on every task, hosts on every prompt, and
pay for every import. So are `mcp`, whose client waits for the list of tools, and `--version`.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress

FAST = ("inject", "hook")
LASTING = {"serve"}
"""Commands whose threads end as Python ends them."""


def main() -> None:
    """Run a command and end the process with its exit code."""
    if sys.stdin is None:  # the caller closed it
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    # Bytes that are not UTF-8 reach Python as lone surrogates, which nothing can store.
    arguments = [argument.encode("utf-8", "replace").decode("utf-8") for argument in sys.argv[1:]]
    gc.set_threshold(100_000)  # most commands end before that many objects: collecting was a twentieth of `status`
    code = run(arguments)
    if LASTING & set(arguments):
        sys.exit(code)
    # All is committed and closed: to take the interpreter apart costs as much as to start it.
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError, AttributeError):  # closed by the reader, or never open
            stream.flush()
    os._exit(code)


def run(arguments: list[str]) -> int:
    """Run a command; an error of the system becomes one line on stderr and exit code 3."""
    try:
        return _run(arguments)
    except OSError as error:
        print(f"recollect: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] in FAST and not {"--help", "-h"} & set(arguments):
        if arguments[0] == "hook":
            from recollect.cli.printing import answer_hook

            return answer_hook(arguments[1:])
        from recollect.cli.inject import main as inject

        return inject(arguments[1:])
    if arguments == ["mcp"] or (arguments[:2] == ["mcp", "--project"] and len(arguments) == 3):
        from recollect.cli.printing import speak_mcp

        return speak_mcp(arguments[2] if len(arguments) == 3 else None)
    if arguments == ["--version"]:
        from recollect import __version__

        print(f"recollect, version {__version__}", flush=True)
        return 0
    from recollect.cli.command import run

    return run(arguments)


if __name__ == "__main__":
    main()
