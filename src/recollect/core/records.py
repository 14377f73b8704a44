"""Records: how they are declared, how their text is stored, how they become JSON; and the small values they hold.

`@record` makes a frozen, keyword-only dataclass without `dataclasses`: that module imports `inspect` and compiles six
functions per class, which was a third of the prompt hook's time and of an idle cycle's. To `dataclasses.fields`,
`replace`, msgspec and pydantic a record is a dataclass: it makes its real fields when they are first read.

A record that a caller gives declares in `STORED` how its text is stored: `STORED = {"task": ID, "tags": TAG}`. A field
that is not named is free text. `text/storable.py` cleans and redacts a record by this declaration.

An id is a prefix that names the noun and a random tail; texts in files are named by their place instead
(`log/2026-03-01#3`, see docs/words.md). Confidence is stored in integer thousandths and shown as a decimal, because
0.55 + 0.05 must reach the injection threshold of 0.6 exactly, on every engine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from recollect.core.clock import iso
from recollect.core.errors import BadInput

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Set
    from typing import Any, NoReturn, TypeVar, dataclass_transform

    from recollect.core.choices import Trust

    T = TypeVar("T")
else:

    def dataclass_transform(**_):
        return lambda function: function


TEXT = "text"  # free text: cleaned, redacted, without white space around it
MESSAGE = "message"  # what people and agents said: cleaned, redacted, without what we injected; white space stays
TAG = "tag"  # labels: free text in lower case, each once
ID = "id"  # an id that a caller chose: one printable line
GIVEN = "given"  # paths and our own ids, stored unchanged


def line(limit: int) -> tuple[str, int]:
    """A title: free text on one line, cut at so many characters where redaction made it longer."""
    return ("line", limit)


_set = object.__setattr__  # the only way to set an attribute of a frozen record


@dataclass_transform(frozen_default=True, kw_only_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a class with annotations into a record; `__post_init__`, if any, checks its invariants."""
    annotations = {k: v for base in reversed(cls.__mro__) for k, v in vars(base).get("__annotations__", {}).items()}
    wanted = frozenset(annotations)
    defaults = {name: getattr(cls, name) for name in annotations if hasattr(cls, name)}
    check = getattr(cls, "__post_init__", None)

    def make(self: Any, **given: Any) -> None:
        values = {**defaults, **given} if defaults else given
        if len(values) != len(wanted) or not wanted.issuperset(values):
            raise TypeError(_misfit(cls.__name__, wanted - values.keys(), values.keys() - wanted))
        _set(self, "__dict__", values)
        if check is not None:
            check(self)

    members: dict[str, Any] = {
        "__init__": make,
        "__repr__": _repr,
        "__eq__": _eq,
        "__hash__": _hash,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        "__dataclass_fields__": _LazyFields(annotations, defaults),
    }
    for name, member in members.items():
        setattr(cls, name, member)
    return cls


def checked(cls: type[T], fields: dict[str, Any]) -> T:
    """A record made of a caller's fields; a missing or unknown field is bad input."""
    try:
        return cls(**fields)
    except TypeError:
        from dataclasses import MISSING
        from dataclasses import fields as fields_of

        known = {field.name: (field.default, field.default_factory) for field in fields_of(cls)}  # type: ignore[arg-type]
        required = {name for name, defaults in known.items() if defaults == (MISSING, MISSING)}
        if required <= fields.keys() <= known.keys():
            raise
        raise BadInput(_misfit(cls.__name__, required - fields.keys(), fields.keys() - known.keys())) from None


def as_record(given: T | None, cls: type[T], fields: dict[str, Any]) -> T:
    """The given record, or one made of the fields."""
    if given is None:
        return checked(cls, fields)
    if not isinstance(given, cls):
        raise BadInput(f"give a {cls.__name__} or its fields by name, not {type(given).__name__}")
    return given


def made(cls: type[T], values: dict[str, Any]) -> T:
    """A record made of a table's row, without any check: a third of the time, and the ranking makes hundreds."""
    one = cls.__new__(cls)
    _set(one, "__dict__", values)
    return one


def replace(one: T, /, **changes: Any) -> T:
    """A copy of a record with other values; `dataclasses.replace` would first make the record's dataclass fields."""
    return type(one)(**{**vars(one), **changes})


def _misfit(name: str, missing: Set[str], unknown: Set[str]) -> str:
    return (
        f"{name} needs {', '.join(sorted(missing))}" if missing else f"{name} has no field {', '.join(sorted(unknown))}"
    )


class _LazyFields:
    """A descriptor for `__dataclass_fields__` that makes the real fields when they are first read."""

    def __init__(self, annotations: dict[str, Any], defaults: dict[str, Any]):
        self._annotations = annotations
        self._defaults = defaults

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        import dataclasses
        import sys

        from recollect.core.choices import TYPES

        namespace = vars(sys.modules[owner.__module__])
        for name, kind in TYPES.items():  # for callers that resolve the annotations
            namespace.setdefault(name, kind)
        spec = [
            (name, kind, dataclasses.field(default=self._defaults[name])) if name in self._defaults else (name, kind)
            for name, kind in self._annotations.items()
        ]
        twin = dataclasses.make_dataclass(owner.__name__, spec, frozen=True, kw_only=True)
        owner.__dataclass_params__ = twin.__dataclass_params__  # type: ignore[attr-defined]
        fields: dict[str, Any] = twin.__dataclass_fields__  # type: ignore[attr-defined]
        owner.__dataclass_fields__ = fields  # type: ignore[attr-defined]
        return fields


def _repr(self: Any) -> str:
    return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in self.__dict__.items())})"


def _eq(self: Any, other: object) -> bool:
    return type(self) is type(other) and self.__dict__ == other.__dict__


def _hash(self: Any) -> int:
    return hash(tuple(self.__dict__[name] for name in sorted(self.__dict__)))


def _refuse(self: Any, name: str, *_: object) -> NoReturn:
    raise AttributeError(f"{type(self).__name__} is frozen; {name} cannot be changed")


def plain(value: Any, name: str = "") -> Any:
    """Records and containers for `json.dumps`; a number called `at` or `…_at` is a time and becomes ISO 8601 in UTC."""
    kind = type(value)
    if kind in _AS_THEY_ARE:  # nearly every field of a long list, so checked first
        return value
    if kind is int:
        return iso(value) if name == "at" or name.endswith("_at") else value
    if hasattr(kind, "__dataclass_fields__"):
        # A subclass lists only its own fields in its annotations; the full list loads `dataclasses` for a record.
        names = kind.__annotations__ if kind.__base__ is object else kind.__dataclass_fields__
        return {name: plain(getattr(value, name), name) for name in names}
    if isinstance(value, dict):
        return {key: plain(item, str(key)) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value.isoformat() if hasattr(value, "isoformat") else value


_AS_THEY_ARE = frozenset({str, bool, float, type(None)})


class _Strict:  # the defaults of `json.loads`
    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


_scan: Callable[[str, int], tuple[Any, int]]
try:
    from _json import make_scanner
except ImportError:
    from json import JSONDecoder

    _scan = JSONDecoder().raw_decode
else:
    _scan = make_scanner(_Strict)  # type: ignore[arg-type]


def loads(text: str) -> Any:
    """Read JSON that we wrote, and nothing around it. `json` compiles six patterns on import, and a hook waits."""
    try:
        value, end = _scan(text, 0)
    except (StopIteration, RecursionError):
        end = -1
    if end != len(text):
        raise ValueError("not JSON")
    return value


MOST = 1000  # rows of one page; a longer answer would fill an agent's context
FURTHEST = 2**31 - 1  # the largest integer that every engine takes as an offset


def check_limit(limit: object, name: str = "limit", *, least: int = 1, most: int = MOST) -> int:
    """Refuse anything but a whole number from `least` to `most`; nothing is clamped."""
    if not isinstance(limit, int) or isinstance(limit, bool) or not least <= limit <= most:
        raise BadInput(f"{name} must be a whole number between {least} and {most:,}, not {limit!r:.40}")
    return limit


def check_page(limit: object, offset: object) -> None:
    check_limit(limit)
    check_limit(offset, "offset", least=0, most=FURTHEST)


def check_choice(value: object, name: str, choices: Iterable[str]) -> None:
    known = tuple(choices)
    if value not in known:
        raise BadInput(f"{name} must be one of {', '.join(known)}, not {value!r:.60}")


def as_text(value: object, name: str) -> str:
    """Check that a value is text: callers may work without a type checker."""
    if not isinstance(value, str):
        raise BadInput(f"{name} must be text, not {type(value).__name__}")
    return value


def check_text(text: object, name: str, *, most: int) -> None:
    """Refuse a text of more than `most` characters; it is never cut."""
    if (length := len(as_text(text, name))) > most:
        raise BadInput(f"{name} has {length:,} characters; {most:,} is the most. Keep the rest in the log")


def says_nothing(text: str) -> bool:
    """Whether a text is empty, or has only white space and invisible characters."""
    if text[:1].isalnum():  # nearly always
        return False
    return not any(letter.isprintable() for letter in text if not letter.isspace())


Ids = Callable[[str], str]  # makes a fresh id for a prefix: `ids("learn")` → `learn_3k9q…`

ID_LIMIT = 200  # characters; the longest ids of trackers and hosts have about 100
ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # 32 letters, none that look alike
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


_NOUNS = {"learn": "learning", "dec": "decision", "disc": "discovery", "topic": "topic"}


def noun_of(id: str) -> str:
    """What an id names: `learning` for learn_…, `log` for log/…, also behind a ring's name (me:log/…); else empty."""
    first, slash, _ = id.partition("/")
    first = first.rpartition(":")[2]
    prefix, mark, _ = first.partition("_")
    return _NOUNS[prefix] if mark and prefix in _NOUNS else first if slash else ""


def check_id(value: str, name: str) -> str:
    """Check an id that a caller chose, such as a task's."""
    if not as_text(value, name).strip():
        raise BadInput(f"{name} is empty; give the id your tracker uses")
    if len(value) > ID_LIMIT or not value.isprintable():
        raise BadInput(f"{name} must be at most {ID_LIMIT} printable characters on one line")
    return value.strip()


FULL = 1000  # the confidence 1.0 in thousandths


def thousandths(value: float, name: str = "confidence") -> int:
    """A decimal between 0 and 1 as thousandths; nothing is clamped."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{name} must be a number between 0 and 1, not {value!r}")
    if not 0 <= value <= 1:  # NaN and the infinities are not
        raise BadInput(f"{name} must be between 0 and 1, not {value}")
    return round(value * FULL)


def decimal(stored: int) -> float:
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
