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
        _load_pathlib()
        if arguments[0] == "hook":
            from recollect.cli.hook import main as hook

            return hook(arguments[1:])
        from recollect.cli.inject import main as inject

        return inject(arguments[1:])
    from recollect.cli.app import run

    return run(arguments)


def _load_pathlib() -> None:
    """Until Python 3.13 `pathlib` loads `urllib.parse` for `Path.as_uri` alone: a sixteenth of the process."""
    if sys.version_info >= (3, 13) or "pathlib" in sys.modules or "urllib.parse" in sys.modules:
        return
    from types import ModuleType

    def quote_from_bytes(data: bytes) -> str:
        from urllib.parse import quote_from_bytes

        return quote_from_bytes(data)

    stand_in = ModuleType("urllib.parse")
    vars(stand_in)["quote_from_bytes"] = quote_from_bytes
    sys.modules["urllib.parse"] = stand_in
    try:
        import pathlib  # noqa: F401 — whoever imports it later finds it loaded
    finally:
        del sys.modules["urllib.parse"]  # the real one is there for whoever asks for it


def _readable(argument: str) -> str:
    """Bytes that are not UTF-8 reach Python as lone surrogates, which nothing can store."""
    return argument.encode("utf-8", "replace").decode("utf-8")


if __name__ == "__main__":
    main()
