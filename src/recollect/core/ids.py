"""Ids of rows: a prefix that names the noun and a random alphanumeric tail.

What lives in files is named by its place instead (`log/2026-03-01#3`); see docs/words.md.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from itertools import count

from recollect.core.errors import BadInput

Ids = Callable[[str], str]
"""Makes a fresh id for a prefix: `ids("learn")` → `learn_3k9q…`."""

ID_LIMIT = 200
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""32 letters, none that look alike."""
_MOMENT = 26  # the time in units of 2**26 nanoseconds, 67 milliseconds
_LETTERS = ALPHABET.encode() * 8  # a letter for every byte


def random_id(prefix: str) -> str:
    """Five letters of time and 40 random bits: no clash, short enough to type.

    What is made together stands together, so that a bulk load writes to the end of an index and not all over it. The
    letters of time come round every month; nothing reads them back. Not for secrets: half of it can be guessed.
    """
    moment = time.time_ns() >> _MOMENT
    letters = bytes((moment >> 20 & 31, moment >> 15 & 31, moment >> 10 & 31, moment >> 5 & 31, moment & 31))
    return f"{prefix}_{(letters + os.urandom(8)).translate(_LETTERS).decode()}"


def counted_ids() -> Ids:
    """Ids in order, for tests and documentation: `learn_000001`, `learn_000002`, …"""
    numbers = count(1)
    return lambda prefix: f"{prefix}_{next(numbers):06d}"


def check_id(value: str, name: str) -> str:
    """Ids of tasks and outcomes come from callers: any printable text on one line."""
    if not isinstance(value, str):
        raise BadInput(f"{name} must be text, not {type(value).__name__}")
    if not value.strip():
        raise BadInput(f"{name} is empty; give the id your tracker uses")
    if len(value) > ID_LIMIT or not value.isprintable():
        raise BadInput(f"{name} must be at most {ID_LIMIT} printable characters on one line")
    return value.strip()
