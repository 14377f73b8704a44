"""The one door to the store: text and records cleaned and redacted before anything is compared or written.

`storable_record` does this for a whole record by the declaration in its class (see `core/records.py`), `storable` for
one text, `storable_id` for one id. The redaction patterns take longer to load than the prompt hook takes as a whole,
so a text that is plainly without a secret passes without them: short everyday words, none of which names a secret or
could be one. Whatever name stands before a value, the value has a digit, five consonants in a row or quotes.
Doing it twice is doing it once.
"""

from __future__ import annotations

from recollect.core.records import GIVEN, ID, MESSAGE, TAG, TEXT, check_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")

_WORD = 15  # characters; the shortest token that redaction knows is longer
_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_NAMES = tuple(
    "pass pwd pw psk key secret token credential auth private bearer basic machine curl wget kennwort senha wachtwoord"
    " heslo mnemonic phrase backup recovery rescue scratch".split()
)
_SHORTEST = 6  # characters; a shorter value than this is none, see `secret_context`
_MARKS = str.maketrans("0123456789bcdfghjklmnpqrstvwxzBCDFGHJKLMNPQRSTVWXZ", "0" * 10 + "x" * 40)
_ONE_MARK = str.maketrans("_.#", "---")


def storable_record(record: T) -> tuple[T, tuple[str, ...]]:
    """A record as it may be stored, and the kinds of secrets that were in it."""
    kinds: list[str] = []
    given = vars(record)
    declared: dict[str, Any] = getattr(type(record), "STORED", {})
    stored = {name: _stored(value, declared.get(name, TEXT), name, kinds) for name, value in given.items()}
    return (record if stored == given else type(record)(**stored)), tuple(kinds)


def _stored(value: Any, how: str | tuple[str, int], name: str, kinds: list[str]) -> Any:
    if how == GIVEN or value is None or isinstance(value, int | float):
        return value
    if isinstance(value, str):
        return storable_id(value, name) if how == ID else _stored_text(value, how, kinds)
    if isinstance(value, tuple | list):
        parts = tuple(_stored(part, how, name, kinds) for part in value)
        return tuple(dict.fromkeys(parts)) if how == TAG else parts
    if isinstance(value, dict):
        return {_stored(key, TEXT, name, kinds): part for key, part in value.items()}
    inner, found = storable_record(value)
    kinds += found
    return inner


def _stored_text(text: str, how: str | tuple[str, int], kinds: list[str]) -> str:
    if how == MESSAGE:
        from recollect.text.frame import strip

        return _redacted(strip(text), kinds)
    text = _redacted(text, kinds).strip()
    if isinstance(how, tuple):  # redaction may have made the line longer than it was when it was checked
        return " ".join(text.split())[: how[1]].rstrip()
    return text.lower() if how == TAG else text  # in lower case a key would no longer look like one


def storable(text: str) -> str:
    return redacted(text)[0]


def redacted(text: str) -> tuple[str, list[str]]:
    """One text as it may be stored, and the kinds of secrets that were in it."""
    kinds: list[str] = []
    return _redacted(text, kinds), kinds


def _redacted(text: str, kinds: list[str]) -> str:
    text = clean(text)
    if plain(text):
        return text
    from recollect.text.redact import redact

    found = redact(text)
    kinds += found.kinds
    return found.text


def storable_id(value: str, name: str) -> str:
    """An id that a caller chose, as it may be stored; the same id always becomes the same."""
    value = check_id(value, name)
    # Ids of trackers and sessions are short runs of letters and digits; a token that stands alone has a longer one.
    return value if _short(value.translate(_ONE_MARK).split("-"), _LETTERS) and not _named(value) else storable(value)


def clean(text: str) -> str:
    """Drop NUL and make lone surrogates visible: no engine or file may hold them."""
    if "\x00" in text:
        text = text.replace("\x00", "")
    return text.encode("utf-8", "replace").decode("utf-8") if not text.isascii() else text


def plain(text: str) -> bool:
    """True only where redaction would find nothing."""
    marked = text.translate(_MARKS).split(" ")
    if any(len(run) >= _SHORTEST and ("0" in run or "xxxxx" in run) for run in marked):
        return False
    return _short(text.split(" "), _LETTERS + ".,()#/") and not _named(text)


def _short(runs: list[str], allowed: str) -> bool:
    """Whether all runs are short and of allowed letters, and none is empty but the last."""
    return all(runs[:-1]) and all(len(run) <= _WORD and not run.strip(allowed) for run in runs)


def _named(text: str) -> bool:
    text = text.lower()
    return any(name in text for name in _NAMES)
