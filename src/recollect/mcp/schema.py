"""JSON schemas for the arguments of tools and prompts, the check of a call against them, and the answers of tools.

The check is lenient: it accepts a number sent as text, and one item in place of a list.

An answer is a few lines of text and a record with the same content: clients show the one or the other. Stored words are
escaped and in one line, so that a note cannot forge a heading or a verdict.
"""

from __future__ import annotations

from recollect.core.context import PROJECT
from recollect.core.errors import BadInput
from recollect.core.records import record
from recollect.text.frame import escape, one_line
from recollect.text.sentences import mark

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, Literal

    Effect = Literal["reads", "adds", "changes"]
    """What a call does: nothing, add a record each time, or leave the same state when it is repeated."""
    from collections.abc import Iterable, Sequence

    from recollect.capture.learn import Captured
    from recollect.core.choices import Trust
    from recollect.search.everything import Hit
    from recollect.tend.kinds import Neighbouring
    from recollect.tend.status import Status

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
    """An object with these members, all text; without names, any object."""
    said = {"type": "object", **({"description": about} if about else {})}
    return {**said, "properties": {name: {"type": "string"} for name in names}} if names else said


@record
class Tool:
    """A function of a memory with the schemas of its arguments. `about`, its docstring, is written for models."""

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
    """Turn a function of a memory into a tool; parameters without a default are required."""

    def made(run: Callable[..., Any]) -> Tool:
        names = run.__code__.co_varnames[1 : run.__code__.co_argcount]
        needed = names[: len(names) - len(run.__defaults__ or ())]
        about = " ".join((run.__doc__ or "").split())
        return Tool(name=run.__name__, about=about, effect=effect, arguments=arguments, needed=needed, run=run)

    return made


def checked(tool: Tool, given: Any) -> dict[str, Any]:
    """The arguments of a call, refused if one is missing, unknown or of another type. Null counts as left out."""
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


_FROM_OUTSIDE = "  [from outside, not adopted by a person]"


@record
class FoundHit:
    id: str
    kind: str
    title: str
    topic: str
    lines: tuple[str, ...]
    confidence: float | None
    out_of_use: str
    trust: Trust
    ring: str

    def shown(self) -> list[str]:
        sure = "" if self.confidence is None else f"  confidence {self.confidence:.2f}"
        about = f"  ({self.topic})" if self.topic else ""
        return [f"{self.id}{sure}  {self.title}{about}{self._from()}", *(f"    {line}" for line in self.lines)]

    def _from(self) -> str:
        ring = "" if self.ring == PROJECT else f"  [ring {self.ring}]"
        return ring + _marks(self.trust, self.out_of_use)


@record
class Found:
    hits: tuple[FoundHit, ...]
    note: str

    def text(self) -> str:
        return "\n".join(line for hit in self.hits for line in hit.shown()) or self.note


def found(hits: Sequence[Hit], query: str, given: Iterable[str]) -> Found:
    from recollect.search.everything import NARROWING, nothing_found

    return Found(
        note="" if hits else nothing_found(query, sorted({*given} & {*NARROWING})),
        hits=tuple(
            FoundHit(
                id=hit.id,
                kind=hit.kind,
                title=_marked(hit, hit.title),
                topic=_shown(hit.topic),
                lines=tuple(_marked(hit, line) for line in hit.lines),
                confidence=hit.learning.confidence if hit.learning else None,
                out_of_use=hit.out_of_use,
                trust=hit.trust,
                ring=hit.ring,
            )
            for hit in hits
        ),
    )


@record
class Around:
    """Texts before and after one, which has step 0."""

    texts: tuple[dict[str, Any], ...]

    def text(self) -> str:
        return "\n".join(
            f"{'>' if one['step'] == 0 else ' '} {one['id']}  {one['title']}\n    {one['line']}" for one in self.texts
        )


def around(texts: Sequence[Neighbouring]) -> Around:
    return Around(
        texts=tuple(
            {"id": one.id, "step": one.step, "title": _shown(one.title), "line": _shown(one.snippet)} for one in texts
        )
    )


@record
class Thing:
    id: str
    kind: str
    title: str
    body: str
    trust: Trust
    record: dict[str, Any]

    def text(self) -> str:
        return f"{self.id} ({self.kind}): {_shown(self.title)}{_marks(self.trust)}\n\n{self.body}"


@record
class Kept:
    """A record that was stored or changed. `note` says what else the caller should know."""

    id: str
    did: str = "saved"
    title: str = ""
    confidence: float | None = None
    redacted: tuple[str, ...] = ()
    note: str = ""

    def text(self) -> str:
        sure = "" if self.confidence is None else f" (confidence {self.confidence:.2f})"
        title = f": {_shown(self.title)}" if self.title else ""
        hidden = f"; redacted: {', '.join(dict.fromkeys(self.redacted))}" if self.redacted else ""
        return f"{self.did} {self.id}{sure}{title}{hidden}{f'. {self.note}' if self.note else ''}"


def kept_learning(done: Captured) -> Kept:
    known = done.learning
    notes = {
        "left unchanged": done.left,
        "replaces": done.replaced,
        "a person is asked whether it contradicts": done.asked,
    }
    return Kept(
        id=known.id,
        did="already known; counted again as" if done.merged else "saved",
        title=known.title,
        confidence=known.confidence,
        redacted=done.redacted,
        note="; ".join(f"{said}: {', '.join(names)}" for said, names in notes.items() if names),
    )


@record
class Said:
    lines: tuple[str, ...]
    ids: tuple[str, ...] = ()

    def text(self) -> str:
        return "\n".join(self.lines)


def state(found: Status) -> Said:
    counted = {"learnings": found.learnings, "decisions": found.decisions, "nodes of the tree": found.tree}
    lines = [f"{name}: {', '.join(f'{n} {what}' for what, n in counts.items())}" for name, counts in counted.items()]
    shown = f"shown to tasks: {found.injections}, of them {found.verdicts['helpful']} rated helpful"
    waits = f"waiting: {found.inbox} for a person, {found.spooled} to be written"
    if found.set_aside:
        waits += f", {found.set_aside} set aside as failed (recollect doctor --fix tries again)"
    return Said(lines=(f"memory of {found.space} ({found.engine})", *lines, shown, waits))


def _shown(text: str) -> str:
    return escape(one_line(text))


def _marked(hit: Hit, line: str) -> str:
    return mark(_shown(line), hit.marked, "**", "**")


def _marks(trust: Trust, out_of_use: str = "") -> str:
    return (f"  [{out_of_use}]" if out_of_use else "") + (_FROM_OUTSIDE if trust == "external" else "")
