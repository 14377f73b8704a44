"""What a caller without a type checker may get wrong; the rooms rely on it."""

from __future__ import annotations

from recollect.core.errors import BadInput
from recollect.core.record import checked

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    T = TypeVar("T")


def text(value: str, name: str) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{name} must be text, not {type(value).__name__}")
    return value


def as_record(given: T | None, kind: type[T], fields: dict[str, Any]) -> T:
    """A record that was given as such, or by its fields."""
    if given is None:
        return checked(kind, fields)
    if not isinstance(given, kind):
        raise BadInput(f"give a {kind.__name__}, or its fields by their names, not {type(given).__name__}")
    return given
