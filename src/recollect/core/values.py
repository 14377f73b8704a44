"""Small values that every room uses: ids, confidence, and passages.

An id is a prefix that names the noun and a random tail; texts in files are named by their place instead
(`log/2026-03-01#3`, see docs/words.md). Confidence is an integer in thousandths inside and a decimal outside, because
0.55 + 0.05 must reach the injection bar of 0.6 exactly, on every engine. A passage is the one form in which every text
is searched.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from recollect.core.errors import BadInput
from recollect.core.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.choices import Trust

Ids = Callable[[str], str]
"""Makes a fresh id for a prefix: `ids("learn")` → `learn_3k9q…`."""

ID_LIMIT = 200  # characters; the longest ids of trackers and hosts have about 100
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""32 letters, none that look alike."""
_MOMENT = 26  # ids count time in units of 2**26 nanoseconds, 67 milliseconds
_LETTERS = ALPHABET.encode() * 8  # a letter for every byte


def random_id(prefix: str) -> str:
    """Five letters of time and 40 random bits: no clash, short enough to type.

    Ids made together sort together, so that a bulk load writes to the end of an index and not all over it. The letters
    of time repeat every month; nothing reads them back. Not for secrets: half of an id can be guessed.
    """
    moment = time.time_ns() >> _MOMENT
    letters = bytes((moment >> 20 & 31, moment >> 15 & 31, moment >> 10 & 31, moment >> 5 & 31, moment & 31))
    return f"{prefix}_{(letters + os.urandom(8)).translate(_LETTERS).decode()}"


def check_id(value: str, name: str) -> str:
    """Check an id that a caller chose, such as a task's: any printable text on one line."""
    if not isinstance(value, str):
        raise BadInput(f"{name} must be text, not {type(value).__name__}")
    if not value.strip():
        raise BadInput(f"{name} is empty; give the id your tracker uses")
    if len(value) > ID_LIMIT or not value.isprintable():
        raise BadInput(f"{name} must be at most {ID_LIMIT} printable characters on one line")
    return value.strip()


FULL = 1000  # the confidence 1.0 in thousandths


def thousandths(value: float, name: str = "confidence") -> int:
    """A decimal between 0 and 1 as thousandths; anything else is refused, never clamped."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{name} must be a number between 0 and 1, not {value!r}")
    if not 0 <= value <= 1:  # NaN and the infinities are not
        raise BadInput(f"{name} must be between 0 and 1, not {value}")
    return round(value * FULL)


def decimal(stored: int) -> float:
    """Thousandths as the decimal that people see."""
    return stored / FULL


@record
class Passage:
    """A searchable piece of text, written by the room that owns the text, in the same transaction.

    `lines` are the body's fields or paragraphs, one line each: search reports which of them matched. `thread` and
    `position` order it among its neighbours (turns of a session, entries of a day).
    """

    id: str
    kind: str
    title: str
    lines: tuple[str, ...]
    keywords: tuple[str, ...] = ()
    who: str = ""
    at: int
    trust: Trust
    thread: str = ""
    position: int = 0

    @property
    def text(self) -> str:
        return "\n".join(self.lines)
