"""`recollect …` and `python -m recollect …`.

`inject` and `hook` are dispatched before click is imported: workers call them on every task, hosts on every prompt, and
pay for every import.
"""

from __future__ import annotations

import os
import sys

FAST = ("inject", "hook")


def main() -> None:
    """Run a command and end the process with its exit code."""
    if sys.stdin is None:  # whoever started us closed it
        sys.stdin = os.fdopen(os.open(os.devnull, os.O_RDONLY))
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    arguments = [_readable(argument) for argument in sys.argv[1:]]
    if not _fast(arguments):
        sys.exit(run(arguments))
    import gc

    gc.disable()  # the process ends before garbage could matter
    os._exit(run(arguments))  # all is committed, closed and flushed: Python need not be taken apart piece by piece


def run(arguments: list[str]) -> int:
    """Run a command; what goes wrong becomes one line on stderr and an exit code."""
    try:
        return _run(arguments)
    except OSError as error:
        print(f"recollect: {error}", file=sys.stderr)
        return 3
    except KeyboardInterrupt:
        return 130


def _fast(arguments: list[str]) -> bool:
    return bool(arguments) and arguments[0] in FAST and not {"--help", "-h"} & set(arguments)


def _run(arguments: list[str]) -> int:
    if _fast(arguments):
        if arguments[0] == "hook":
            from recollect.cli.hook import main as hook

            return hook(arguments[1:])
        from recollect.cli.inject import main as inject

        return inject(arguments[1:])
    from recollect.cli.app import run

    return run(arguments)


def _readable(argument: str) -> str:
    """Bytes that are not UTF-8 reach Python as lone surrogates, which nothing can store."""
    return argument.encode("utf-8", "replace").decode("utf-8")


if __name__ == "__main__":
    main()
