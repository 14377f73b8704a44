"""JSON bodies of requests: one model for each, with every rule that the OpenAPI document can state.

Names in camelCase and other names of a field (`ALSO_NAMED`) work too. Values are never converted, and unknown fields
are refused at any depth. The limits belong to other rooms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema, model_validator

from recollect.capture.stage import BODY_LIMIT
from recollect.capture.stage import TITLE_LIMIT as STAGED_TITLE_LIMIT
from recollect.core.choices import PatternType, Verdict
from recollect.core.decision import (
    LIST_LIMIT,
    SHORT_LIMIT,
    TEXT_LIMIT,
    WORD_LIMIT,
    Bridge,
    DecisionEdit,
    DecisionStatus,
    NewDecision,
    OutcomeOf,
    Reason,
    Review,
    Stakes,
)
from recollect.core.errors import BadInput
from recollect.core.finding import FINDING_LIMIT, THEME_NAME_LIMIT, WORK_ID_LIMIT, NewFinding
from recollect.core.journal import FIELDS, EntryType, NewEntry
from recollect.core.new_learning import FIELD_LIMIT, TAG_LENGTH, TAG_LIMIT, TITLE_LIMIT, LearningEdit, NewLearning
from recollect.core.records import ID_LIMIT
from recollect.inject.learnings import LIMIT as MOST_LEARNINGS
from recollect.inject.learnings import MOST_TOKENS, NewInjection

# Letters, marks, numbers, punctuation and symbols of any script: what `str.isprintable` allows except the space.
_SEEN = r"\p{L}\p{M}\p{N}\p{P}\p{S}"
_LETTER = r"\p{L}\p{N}"
VISIBLE = f"[{_SEEN}]"
LINE = f"^ *[{_SEEN}][{_SEEN} ]*$"
LINE_OR_EMPTY = f"^[{_SEEN} ]*$"
WORD = f"^[{_LETTER}][{_LETTER}_.:/-]*$"
WORK_ID = f"^[{_LETTER}]([{_LETTER}_-]|[.][{_LETTER}_-])*[.]?$"
THEME_NAME = "^[a-z0-9]+(-[a-z0-9]+)*$"
TIME_SPAN = "^([0-9]{1,5}[hdHD]|[0-9]{1,4}[wmWM])$"
DATE = "^(19|[2-8][0-9])[0-9]{2}-[0-9]{2}-[0-9]{2}"  # the years of `core/clock.py`

PATTERNS = {
    VISIBLE: "is empty; it needs at least one visible character",
    LINE: "must be printable characters on one line, and not empty",
    LINE_OR_EMPTY: "must be printable characters on one line",
    WORD: "must be one word, such as architecture",
    WORK_ID: "must be letters, digits, dashes, underscores and single dots, beginning with a letter or digit",
    THEME_NAME: "must be lower-case words joined by dashes, such as build-caching",
    TIME_SPAN: "must be a time span such as 36h, 10d, 2w or 3m",
    DATE: "must be an ISO 8601 day or time, such as 2026-03-01 or 2026-03-01T09:30:00Z",
}
"""What each pattern requires, in words."""

Title = Annotated[str, Field(max_length=TITLE_LIMIT, pattern=VISIBLE)]
Said = Annotated[str, Field(max_length=FIELD_LIMIT, pattern=VISIBLE)]
Tag = Annotated[str, Field(max_length=TAG_LENGTH, pattern=LINE)]
Tags = Annotated[list[Tag], Field(max_length=TAG_LIMIT)]
Id = Annotated[str, Field(max_length=ID_LIMIT, pattern=LINE)]
Share = Annotated[float, Field(ge=0, le=1)]
Word = Annotated[str, Field(max_length=WORD_LIMIT, pattern=WORD)]
LongText = Annotated[str, Field(max_length=TEXT_LIMIT)]
ShortText = Annotated[str, Field(max_length=SHORT_LIMIT)]
FindingText = Annotated[str, Field(max_length=FINDING_LIMIT)]
Span = Annotated[str, Field(pattern=TIME_SPAN)]
_DATED = [{"type": "string", "format": form, "pattern": DATE} for form in ("date-time", "date")]
Instant = Annotated[str, Field(pattern=DATE), WithJsonSchema({"anyOf": _DATED})]
WORDS_OF_TIME = "^(today|yesterday|(this|last) (week|month|year)|[1-9][0-9]?[dwmy])$"
TimeOrWords = Annotated[
    str,
    Field(max_length=SHORT_LIMIT),
    WithJsonSchema({"anyOf": [*_DATED, {"type": "string", "pattern": WORDS_OF_TIME}]}),
]


def _whole(given: Any) -> Any:
    """In JSON, 5.0 is a whole number."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


WHOLE = BeforeValidator(_whole)

UNSET: Any = None
"""The default of a field that keeps its value when left out; the field does not accept null."""

_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake(name: str) -> str:
    """`reviewIn` → `review_in`."""
    return _HUMP.sub("_", name).lower()


def snaked(given: Mapping[str, Any]) -> dict[str, Any]:
    """The same values under snake_case names, each given once."""
    named: dict[str, Any] = {}
    for name, value in given.items():
        if snake(name) in named:
            raise BadInput(f"{snake(name)} is given twice")
        named[snake(name)] = value
    return named


class Body(BaseModel):
    """A JSON object in a request."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)
    ALSO_NAMED: ClassVar[Mapping[str, str]] = {}
    RECORD: ClassVar[type[Any]]
    """What becomes of it."""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, given: Any) -> Any:
        if not isinstance(given, Mapping):
            return given
        try:
            named = {cls.ALSO_NAMED.get(name, name): value for name, value in snaked(given).items()}
        except BadInput as twice:
            raise ValueError(str(twice)) from None
        if unknown := sorted(named.keys() - cls.model_fields.keys()):
            known = f"the fields are {', '.join(cls.model_fields)}" if cls.model_fields else "there are no fields here"
            raise ValueError(f"unknown field {', '.join(unknown)[:200]}; {known}")
        return named

    def given(self) -> dict[str, Any]:
        """The fields that were sent, with tuples for lists and records for nested objects."""
        return {name: _value(getattr(self, name)) for name in type(self).model_fields if name in self.model_fields_set}

    def record(self) -> Any:
        return self.RECORD(**self.given())


def _value(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(map(_value, value))
    return value.record() if isinstance(value, Body) else value


def _with_one_of(fields: Mapping[str, Any]) -> ConfigDict:
    """Have the document require at least one of these fields, not empty."""
    anyone: list[Any] = [{"required": [name], "properties": {name: schema}} for name, schema in fields.items()]
    return ConfigDict(json_schema_extra={"anyOf": anyone})


B = TypeVar("B", bound=Body)


def validated(kind: type[B], given: Any) -> B:
    """A body that did not come through FastAPI."""
    try:
        return kind.model_validate(given)
    except ValidationError as wrong:
        raise BadInput(explained(wrong.errors())) from None


def explained(errors: Any, *, skip: int = 0) -> str:
    """Validation errors in words, at most ten; `skip` leaves out the first parts of each place."""
    return "; ".join(_explained(error, skip) for error in errors[:10]) or "the request cannot be read"


def _explained(error: Mapping[str, Any], skip: int) -> str:
    place = ".".join(str(part) for part in error["loc"][skip:]) or "the body"
    kind, context, message = error["type"], error.get("ctx", {}), str(error["msg"])
    if kind == "missing":
        return f"{place} is missing"
    if kind == "json_invalid":
        return f"the body is not JSON: {context.get('error', message)}"[:300]
    if kind == "string_pattern_mismatch" and context["pattern"] in PATTERNS:
        return f"{place} {PATTERNS[context['pattern']]}"
    if kind == "string_too_long":
        return f"{place} has {len(error['input']):,} characters; {context['max_length']:,} is the most"
    if kind == "value_error":
        message = message.removeprefix("Value error, ")
        return message if place == "the body" else f"{place}: {message}"
    return f"{place}: {message[:1].lower()}{message[1:]}"


# Bodies of no noun


class Empty(Body):
    """No fields."""


class DryRun(Body):
    """A dry run says what would happen and changes nothing."""

    dry_run: bool = False


# Learnings


class LearningBody(Body):
    """A learning: an insight in four fields."""

    RECORD = NewLearning
    title: Title
    context: Said
    observation: Said
    implication: Said
    action: Said
    tags: Tags = []
    domain: Tag | None = None
    pattern_type: PatternType = "solution"
    confidence: Annotated[Share | None, Field(description="Only a person may set it.")] = None
    source_outcome_id: Id | None = None
    source_task_id: Id | None = None
    source_discovery_id: Id | None = None


class LearningEditBody(Body):
    """The fields to change; a field that is left out stays as it is, and an empty domain removes it."""

    RECORD = LearningEdit
    title: Title = UNSET
    context: Said = UNSET
    observation: Said = UNSET
    implication: Said = UNSET
    action: Said = UNSET
    tags: Tags = UNSET
    domain: Annotated[str, Field(max_length=TAG_LENGTH, pattern=LINE_OR_EMPTY)] = UNSET
    pattern_type: PatternType = UNSET
    confidence: Annotated[Share, Field(description="Only a person may set it.")] = UNSET
    status: Literal["active", "archived"] = UNSET
    pinned: bool = UNSET


class RatingBody(Body):
    """A verdict on a learning that a task was shown. `taskId` and `helpful` (true or false) work as well."""

    ALSO_NAMED = {"task_id": "task"}
    task: Id
    verdict: Verdict

    @model_validator(mode="before")
    @classmethod
    def _helpful(cls, given: Any) -> Any:
        if isinstance(given, Mapping) and isinstance(helpful := given.get("helpful"), bool):
            rest = {name: value for name, value in given.items() if name != "helpful"}
            return {**rest, "verdict": "helpful" if helpful else "not_helpful"} if "verdict" not in rest else given
        return given


class OtherLearning(Body):
    """The other learning: the one that replaces this one, or is merged into it."""

    id: str
    reason: str = ""


class RingBody(Body):
    """The ring that a learning goes to: me, a shared space, or project."""

    to: str


# Work


class InjectionBody(Body):
    """A task that needs learnings. `learnings` names some by id instead of a search."""

    RECORD = NewInjection
    task: Id
    outcome: Id
    title: Annotated[str, Field(pattern=VISIBLE)]
    description: str = ""
    learnings: list[str] = []
    max_learnings: Annotated[int, Field(ge=1, le=MOST_LEARNINGS), WHOLE] | None = None
    min_confidence: Share | None = None
    budget: Annotated[int, Field(ge=1, le=MOST_TOKENS, description="In tokens."), WHOLE] | None = None
    known: Annotated[list[str], Field(description="Ids of learnings that the agent has seen already.")] = []


class FinalMessage(Body):
    """What an agent said at the end of a task, with each verdict on a separate line."""

    output: str
    task: Id


class FinishedTask(FinalMessage):
    """A finished task's output."""

    outcome: Id | None = None
    title: str = ""


class OutcomeBody(Body):
    id: Id
    name: str = ""


class TaskBody(Body):
    id: Id
    outcome: Id | None = None
    title: str = ""


# Decisions


class ReasonBody(Body):
    """An independent argument."""

    RECORD = Reason
    kind: Annotated[Word, Field(description="Such as analysis, empirical, analogy or constraint.")] = "analysis"
    text: Annotated[str, Field(max_length=TEXT_LIMIT, pattern=VISIBLE)]


class BridgeBody(Body):
    """What a choice looks like in the work, what it is for, or both."""

    RECORD = Bridge
    model_config = _with_one_of({name: {"pattern": VISIBLE} for name in ("structure", "function")})
    structure: ShortText = ""
    function: ShortText = ""


Reasons = Annotated[list[ReasonBody], Field(max_length=LIST_LIMIT)]
Components = Annotated[
    dict[Word, Share],
    Field(max_length=LIST_LIMIT),
    WithJsonSchema(
        {
            "type": "object",
            "maxProperties": LIST_LIMIT,
            "propertyNames": {"maxLength": WORD_LIMIT, "pattern": WORD},
            "additionalProperties": {"type": "number", "minimum": 0, "maximum": 1},
        }
    ),
]


class DecisionBody(Body):
    """A choice and how sure its maker is."""

    RECORD = NewDecision
    decision: Annotated[str, Field(max_length=TEXT_LIMIT, pattern=VISIBLE)]
    confidence: Share
    category: Word
    stakes: Stakes = "medium"
    context: LongText = ""
    reasons: Reasons = []
    pattern: ShortText = ""
    tags: Tags = []
    bridge: BridgeBody | None = None
    components: Components = {}
    agent: Word | Literal[""] = ""
    supersedes: str | None = None
    decided_at: Annotated[Instant | None, Field(description="Now, unless given; not in the future.")] = None
    review_in: Span | None = None


class DecisionEditBody(Body):
    """The fields to change, at least one; a field that is left out stays as it is."""

    RECORD = DecisionEdit
    model_config = ConfigDict(json_schema_extra={"minProperties": 1})
    decision: Annotated[str, Field(max_length=TEXT_LIMIT, pattern=VISIBLE)] = UNSET
    confidence: Share = UNSET
    category: Word = UNSET
    stakes: Stakes = UNSET
    context: LongText = UNSET
    reasons: Reasons = UNSET
    pattern: ShortText = UNSET
    tags: Tags = UNSET
    bridge: BridgeBody = UNSET
    components: Components = UNSET
    agent: Word = UNSET
    review_in: Span = UNSET


class DecisionsWanted(Body):
    """Which decisions to list; `whole` shows them in full at any age."""

    category: str | None = None
    agent: str | None = None
    tag: str | None = None
    outcome: OutcomeOf | None = None
    status: DecisionStatus | None = None
    stakes: Stakes | None = None
    reviewed: bool | None = None
    whole: bool = False


class ReviewBody(Body):
    """What came of a decision."""

    RECORD = Review
    outcome: OutcomeOf
    result: LongText = ""
    lesson: LongText = ""


class ReversalBody(Body):
    """Why a decision is reversed, and which decision replaces it."""

    reason: Annotated[str, Field(pattern=VISIBLE)]
    by: str | None = None


class PreserveBody(Body):
    preserve: bool = True


# Journal


class EntryBody(Body):
    """An entry of a log: a text, or at least one of the fields that make up a structured entry."""

    RECORD = NewEntry
    model_config = _with_one_of(
        {name: {"type": "string", "pattern": VISIBLE} for name in ("text", *FIELDS)}
        | {name: {"type": "array", "contains": {"pattern": VISIBLE}} for name in ("decisions", "references")}
    )
    text: str = ""
    topic: str | None = None
    type: EntryType = "project"
    session: Id | None = None
    request: str | None = None
    analysis: str | None = None
    decisions: list[str] = []
    outcome: str | None = None
    references: list[str] = []
    rule: str | None = None
    why: str | None = None
    how_to_apply: str | None = None


class CompactTree(Body):
    """`everything` rebuilds all nodes, not only those that are due."""

    everything: bool = False


Verb = Literal["accept", "dismiss", "first", "keep-both", "keep-new", "keep-old", "merge", "new", "second", "third"]


class Resolution(Body):
    """What to do with an item of the inbox; its kind determines the verbs."""

    verb: Verb


# Findings, themes, staged learnings


class FindingBody(Body):
    """A finding and the work unit it belongs to."""

    work_id: Annotated[str, Field(max_length=WORK_ID_LIMIT, pattern=WORK_ID)]
    description: Annotated[FindingText, Field(pattern=VISIBLE)]
    category: FindingText = ""
    source: FindingText = ""
    proposed_rule: FindingText = ""
    disposition: FindingText = ""

    def record(self) -> NewFinding:
        return NewFinding(**{name: value for name, value in self.given().items() if name != "work_id"})


class PromotionBody(Body):
    """A title for the learning; by default the finding's first words."""

    title: Title | None = None


class Rename(Body):
    name: Annotated[str, Field(max_length=THEME_NAME_LIMIT, pattern=THEME_NAME)]


class Gather(Body):
    """`always` gathers even if nothing is due."""

    always: bool = False


class StagedBody(Body):
    title: Annotated[str, Field(max_length=STAGED_TITLE_LIMIT, pattern=VISIBLE)]
    body: Annotated[str, Field(max_length=BODY_LIMIT)] = ""


class StagedPromotion(Body):
    """The fields of a learning that the staged entry lacks."""

    context: str = ""
    implication: str = ""
    action: str = ""
