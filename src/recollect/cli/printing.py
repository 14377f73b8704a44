"""Answers to standard output and text from standard input, for every command; imports nothing a worker would pay for.

Output is UTF-8 whatever the locale says: what is piped must be what is stored.
"""

from __future__ import annotations

import os
import sys

from recollect.core.errors import Trouble


def visible(text: str) -> str:
    """Stored words as a terminal may show them: no escape sequence, no control or direction character."""
    if text.isascii() and text.replace("\n", "").isprintable():
        return text
    return "".join(c for c in text if c.isprintable() or c in "\n\t\u200c\u200d")


def put(text: str) -> None:
    """Print an answer; an empty one prints nothing. A reader that went away, as `head` does, is no error."""
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
    """All of standard input as text; a byte order mark is none of it, bytes that are not UTF-8 are shown as such."""
    if sys.stdin.isatty():
        print("reading standard input; end it with Ctrl-D", file=sys.stderr)
    return sys.stdin.buffer.read().decode("utf-8-sig", "replace")


def _forget_output() -> None:
    """What is still buffered would fail again when Python closes the stream."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.close(nowhere)
