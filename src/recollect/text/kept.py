"""A short text on its way to the store: cleaned, and without secrets.

Redaction takes longer to load than the prompt hook takes as a whole, so a text that is plainly without a secret passes
without it. Plain means short everyday words and none that names a secret; anything else is redacted.
"""

from __future__ import annotations

import re

from recollect.core.ids import check_id
from recollect.text.normal import clean

_WORD = 15  # characters; the shortest token that redaction knows is longer
_PLAIN = re.compile(rf"(?:[A-Za-z0-9.,()'#/]{{1,{_WORD}}}(?: |\Z))*")
_SHORT_RUNS = re.compile(rf"(?:[A-Za-z0-9]{{1,{_WORD}}}(?:[-_.#]|\Z))*")
_NAMES = re.compile("pass|pwd|key|secret|token|credential|auth|private|bearer|basic|machine|curl|wget", re.IGNORECASE)


def kept(text: str) -> str:
    """What may be stored of a text."""
    text = clean(text)
    if plain(text):
        return text
    from recollect.text.redact import redact

    return redact(text).text


def kept_id(value: str, name: str) -> str:
    """What may be stored of an id that a caller chose; the same id always becomes the same."""
    value = check_id(value, name)
    # Ids of trackers and sessions are short runs of letters and digits; a token that stands alone has a longer one.
    return value if _SHORT_RUNS.fullmatch(value) and not _NAMES.search(value) else kept(value)


def plain(text: str) -> bool:
    """True only where redaction would find nothing."""
    return bool(_PLAIN.fullmatch(text)) and not _NAMES.search(text)
