"""Keys: read from the environment or printed by a command when a call needs one, and kept nowhere.

A repository's file can name neither before the user trusted it. No message here holds what was read.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Mapping, Sequence

from recollect.core.errors import NoAnswer

Key = Callable[[], str]
SECONDS = 10
NO_KEY = "none"


def key_from(environ: Mapping[str, str], variable: str, command: Sequence[str]) -> Key:
    """A function that gives the key. Without a variable or a command it gives a word that is none: a server of one's
    own may need no key, and must not be sent the key of another."""

    def read() -> str:
        if not variable and not command:
            return NO_KEY
        found = _printed(command) if command else environ.get(variable, "").strip()
        if not found:
            where = "the key command printed nothing" if command else f"{variable} is not set"
            raise NoAnswer(f"there is no key: {where}")
        if not found.isascii() or not found.isprintable():
            raise NoAnswer("what stands for the key is not one line of plain characters")
        return found

    return read


def _printed(command: Sequence[str]) -> str:
    try:
        done = subprocess.run(
            list(command), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=SECONDS
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise NoAnswer(f"the key command {command[0]} did not run: {type(error).__name__}") from None
    if done.returncode:
        raise NoAnswer(f"the key command {command[0]} failed with exit code {done.returncode}")
    return done.stdout.decode("utf-8", "replace").strip()
