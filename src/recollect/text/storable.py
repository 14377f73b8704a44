"""A short text on its way to the store: cleaned, and without secrets.

Redaction takes longer to load than the prompt hook takes as a whole, so a text that is plainly without a secret passes
without it. Plain means short everyday words and none that names a secret; anything else is redacted.

What every stored text goes through: characters that no engine or file may hold are taken out.
"""

from __future__ import annotations

from recollect.core.values import check_id


def clean(text: str) -> str:
    """NUL dropped, lone surrogates made visible; everything else stays as it was written."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


_WORD = 15  # characters; the shortest token that redaction knows is longer
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_NAMES = tuple("pass pwd key secret token credential auth private bearer basic machine curl wget".split())
_ONE_MARK = str.maketrans("_.#", "---")


def storable(text: str) -> str:
    """What may be stored of a text."""
    text = clean(text)
    if plain(text):
        return text
    from recollect.text.redact import redact

    return redact(text).text


def storable_id(value: str, name: str) -> str:
    """What may be stored of an id that a caller chose; the same id always becomes the same."""
    value = check_id(value, name)
    # Ids of trackers and sessions are short runs of letters and digits; a token that stands alone has a longer one.
    return value if _short(value.translate(_ONE_MARK).split("-"), _LETTERS) and not _named(value) else storable(value)


def plain(text: str) -> bool:
    """True only where redaction would find nothing."""
    return _short(text.split(" "), _LETTERS + ".,()'#/") and not _named(text)


def _short(runs: list[str], allowed: str) -> bool:
    """Whether all runs are short and of allowed letters, and none is empty but the last."""
    return all(runs[:-1]) and all(len(run) <= _WORD and not run.strip(allowed) for run in runs)


def _named(text: str) -> bool:
    text = text.lower()
    return any(name in text for name in _NAMES)
