"""`recollect …` and `python -m recollect …`.

`inject` is dispatched before click is imported: hosts and workers call it on every task and pay for every import.
"""

from __future__ import annotations

import sys

FAST = ("inject",)


def main() -> None:
    """Run a command; errors of ours become one line on stderr and an exit code."""
    arguments = sys.argv[1:]
    if arguments and arguments[0] in FAST and not {"--help", "-h"} & set(arguments):
        from recollect.cli.inject import main as inject

        sys.exit(inject(arguments[1:]))
    from recollect.cli.app import run

    sys.exit(run(arguments))


if __name__ == "__main__":
    main()
