"""What a tool or prompt takes: its arguments as JSON schemas, and the check of what a client gives against them.

A function and its schemas stand together: `@takes` makes a tool of both. A model that sends a number as text, or one
word where a list is wanted, is understood.
"""

from __future__ import annotations

from recollect.core.errors import BadInput
from recollect.core.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    Effect = Literal["reads", "adds", "changes"]
    """What a call does: nothing, add a record each time, or leave the same state when it is repeated."""

_NAMES = {str: "text", int: "a whole number", float: "a number", list: "a list", dict: "an object"}
_TYPES = {"string": str, "integer": int, "number": float, "array": list, "object": dict}


def text(about: str, *among: str) -> dict[str, Any]:
    return {"type": "string", "description": about, **({"enum": list(among)} if among else {})}


def whole(about: str) -> dict[str, Any]:
    return {"type": "integer", "description": about}


def number(about: str) -> dict[str, Any]:
    return {"type": "number", "description": about}


def several(about: str, items: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"type": "array", "items": items or {"type": "string"}, "description": about}


def fields(about: str, *names: str) -> dict[str, Any]:
    """An object with these texts; without names, with whatever is given."""
    said = {"type": "object", **({"description": about} if about else {})}
    return {**said, "properties": {name: {"type": "string"} for name in names}} if names else said


@record
class Tool:
    """A function of a memory, with what it takes. The first line a model reads of it is its docstring."""

    name: str
    about: str
    effect: Effect
    arguments: dict[str, dict[str, Any]]
    needed: tuple[str, ...]
    run: Callable[..., Any]

    def listed(self) -> dict[str, Any]:
        hints: dict[str, bool] = {"readOnlyHint": self.effect == "reads", "openWorldHint": False}
        if self.effect != "reads":
            hints |= {"destructiveHint": False, "idempotentHint": self.effect == "changes"}
        schema = {"type": "object", "properties": self.arguments, "additionalProperties": False}
        if self.needed:
            schema["required"] = list(self.needed)
        return {"name": self.name, "description": self.about, "inputSchema": schema, "annotations": hints}


def takes(effect: Effect, **arguments: dict[str, Any]) -> Callable[[Callable[..., Any]], Tool]:
    """Make a tool of a function whose first parameter is the memory; parameters without a default are needed."""

    def made(run: Callable[..., Any]) -> Tool:
        names = run.__code__.co_varnames[1 : run.__code__.co_argcount]
        needed = names[: len(names) - len(run.__defaults__ or ())]
        about = " ".join((run.__doc__ or "").split())
        return Tool(name=run.__name__, about=about, effect=effect, arguments=arguments, needed=needed, run=run)

    return made


def checked(tool: Tool, given: Any) -> dict[str, Any]:
    """The arguments of a call; refused when one is missing, unknown or of another type. Null is as if left out."""
    if not isinstance(given, dict):
        raise BadInput(f"{tool.name} takes its arguments as an object")
    given = {name: value for name, value in given.items() if value is not None}
    if unknown := sorted(given.keys() - tool.arguments.keys()):
        known = ", ".join(tool.arguments) or "nothing"
        raise BadInput(f"{tool.name} does not take {', '.join(unknown)[:200]}; it takes {known}")
    if missing := [name for name in tool.needed if name not in given]:
        raise BadInput(f"{tool.name} needs {', '.join(missing)}")
    return {
        name: _fitting(tool.arguments[name], value, f"{tool.name} cannot use {name}") for name, value in given.items()
    }


def _fitting(schema: dict[str, Any], value: Any, refusal: str) -> Any:
    wanted: Any = _TYPES[schema["type"]]
    if wanted in (int, float) and isinstance(value, str):
        try:
            value = wanted(value)
        except ValueError:
            raise BadInput(f"{refusal}: {value[:40]!r} is not {_NAMES[wanted]}") from None
    if wanted is float and type(value) is int:
        value = float(value)
    if wanted is list and isinstance(value, str | dict):
        value = [value]
    if not isinstance(value, wanted) or isinstance(value, bool):
        raise BadInput(f"{refusal}: it must be {_NAMES[wanted]}")
    if "enum" in schema and value not in schema["enum"]:
        raise BadInput(f"{refusal}: {value[:40]!r} is none of {', '.join(schema['enum'])}")
    if wanted is list:
        return tuple(_fitting(schema["items"], each, refusal) for each in value)
    if properties := schema.get("properties"):
        if unknown := sorted(value.keys() - properties.keys()):
            raise BadInput(f"{refusal}: it has no {', '.join(unknown)[:200]}, only {', '.join(properties)}")
        return {name: _fitting(properties[name], each, f"{refusal}.{name}") for name, each in value.items()}
    return value
