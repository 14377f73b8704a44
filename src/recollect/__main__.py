"""`recollect …` and `python -m recollect …`.

`inject` and `hook` are dispatched before click is imported: workers call them on every task, hosts on every prompt, and
pay for every import.
"""

from __future__ import annotations

import sys

FAST = ("inject", "hook")


def main() -> None:
    """Run a command; what goes wrong becomes one line on stderr and an exit code."""
    try:
        code = _run([_readable(argument) for argument in sys.argv[1:]])
    except OSError as error:
        print(f"recollect: {error}", file=sys.stderr)
        code = 3
    except KeyboardInterrupt:
        code = 130
    sys.exit(code)


def _run(arguments: list[str]) -> int:
    if arguments and arguments[0] in FAST and not {"--help", "-h"} & set(arguments):
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
