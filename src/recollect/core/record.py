"""Records: frozen, keyword-only dataclasses whose machinery is made when somebody asks for it.

`@dataclass` imports `inspect` and compiles six functions per class: on the path of the prompt hook that was a third of
the process, paid on every prompt. A record shares its methods with all others; `dataclasses.fields`, `replace`,
`is_dataclass`, msgspec and pydantic find real dataclass fields on it, made on their first look. Off that path a plain
`@dataclass(frozen=True, kw_only=True)` serves as well.
"""

from __future__ import annotations

from recollect.core.errors import BadInput

_set = object.__setattr__  # what a frozen record lets nobody else do

TYPE_CHECKING = False  # `typing` itself is worth avoiding here
if TYPE_CHECKING:
    from collections.abc import Set
    from typing import Any, NoReturn, TypeVar, dataclass_transform

    T = TypeVar("T")
else:

    def dataclass_transform(**_):
        return lambda function: function


@dataclass_transform(frozen_default=True, kw_only_default=True)
def record(cls: type[T]) -> type[T]:
    """Make a class with annotations into a record; its `__post_init__`, if any, checks its invariants."""
    names = tuple(cls.__annotations__)
    wanted = frozenset(names)
    defaults = {name: cls.__dict__[name] for name in names if name in cls.__dict__}
    check = cls.__dict__.get("__post_init__")

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
        "__dataclass_fields__": _LateFields(names, defaults),
    }
    for name, member in members.items():
        setattr(cls, name, member)
    return cls


def checked(cls: type[T], fields: dict[str, Any]) -> T:
    """A record or dataclass of what a caller named; a name that it lacks or does not have is bad input."""
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
    """What a caller gave as a record, or by its fields."""
    if given is None:
        return checked(cls, fields)
    if not isinstance(given, cls):
        raise BadInput(f"give a {cls.__name__}, or its fields by their names, not {type(given).__name__}")
    return given


def made(cls: type[T], values: dict[str, Any]) -> T:
    """A record of values that are known to be complete, such as a row of our own tables: nothing is checked.

    A third of the time of a checked one; the ranking makes hundreds.
    """
    one = cls.__new__(cls)
    _set(one, "__dict__", values)
    return one


def _misfit(name: str, missing: Set[str], unknown: Set[str]) -> str:
    return (
        f"{name} needs {', '.join(sorted(missing))}" if missing else f"{name} has no field {', '.join(sorted(unknown))}"
    )


class _LateFields:
    """Stands for `__dataclass_fields__` until somebody reads it, then puts the real thing in its place."""

    def __init__(self, names: tuple[str, ...], defaults: dict[str, Any]):
        self._names = names
        self._defaults = defaults

    def __get__(self, instance: object, owner: type) -> dict[str, Any]:
        import dataclasses
        import sys

        from recollect.core.choices import TYPES

        namespace = vars(sys.modules[owner.__module__])
        for name, kind in TYPES.items():  # whoever asks for fields may want to know what their annotations name
            namespace.setdefault(name, kind)
        spec = [
            (name, owner.__annotations__[name], dataclasses.field(default=self._defaults[name]))
            if name in self._defaults
            else (name, owner.__annotations__[name])
            for name in self._names
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
