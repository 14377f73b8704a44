"""Decisions: a recorded choice with a confidence, later an outcome; and the policies by which they shrink.

A decision is stored once and whole. Policies hold ages only; what a level shows is decided when a decision is read
(`distil/decision_levels.py`).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args

from recollect.core.choices import Trust
from recollect.core.errors import BadInput
from recollect.core.learning import out_of_use
from recollect.core.new_learning import check_tags
from recollect.core.records import TAG, check_choice, check_text, record, replace, says_nothing, thousandths
from recollect.core.settings import DecisionSettings

Stakes = Literal["low", "medium", "high", "critical"]
OutcomeOf = Literal["success", "partial", "failure", "abandoned"]
DecisionStatus = Literal["active", "reversed", "superseded"]
STAKES: tuple[Stakes, ...] = get_args(Stakes)
OUTCOMES: tuple[OutcomeOf, ...] = get_args(OutcomeOf)

ACTUAL: dict[OutcomeOf, int] = {"success": 1000, "partial": 500, "failure": 0, "abandoned": 0}  # thousandths

TEXT_LIMIT = 10_000  # characters of a text; the same as a field of a learning
SHORT_LIMIT = 500  # characters of a pattern or a side of a bridge, which are one sentence
WORD_LIMIT = 50  # characters of a category, agent or component; the same as a tag
LIST_LIMIT = 20  # reasons and components; the same as tags
_WORD = re.compile(r"[^\W_][\w.:/-]*")
_NO_OTHER_FIELDS = {"extra": "forbid"}
"""For the surfaces that read these records with pydantic: an unknown field is refused, not dropped."""


@record
class Reason:
    """One independent argument; `kind` is a word such as analysis, empirical, analogy or constraint."""

    __pydantic_config__ = _NO_OTHER_FIELDS
    kind: str = "analysis"
    text: str


@record
class Bridge:
    """The form of a choice in the work (`structure`) and its purpose (`function`)."""

    __pydantic_config__ = _NO_OTHER_FIELDS
    structure: str = ""
    function: str = ""

    def line(self) -> str:
        return " → ".join(part.strip() for part in (self.structure, self.function) if part.strip())


@dataclass(frozen=True, kw_only=True)
class NewDecision:
    """`decided_at` is ISO 8601, now unless given; `review_in` is a time span such as `2w`."""

    decision: str
    confidence: float
    category: str
    stakes: Stakes = "medium"
    context: str = ""
    reasons: tuple[Reason, ...] = ()
    pattern: str = ""
    tags: tuple[str, ...] = ()
    bridge: Bridge | None = None
    components: dict[str, float] = field(default_factory=dict)
    agent: str = ""
    supersedes: str | None = None
    decided_at: str | None = None
    review_in: str | None = None

    STORED = {"tags": TAG}

    def __post_init__(self) -> None:
        thousandths(self.confidence)
        object.__setattr__(self, "category", str(self.category).strip().lower())
        check_decision(self)
        object.__setattr__(self, "tags", tuple(dict.fromkeys(tag.strip().lower() for tag in self.tags)))


@record
class Review:
    """A later review replaces an earlier one; events keep both."""

    outcome: OutcomeOf
    result: str = ""
    lesson: str = ""

    def __post_init__(self) -> None:
        check_choice(self.outcome, "outcome", OUTCOMES)
        check_text(self.result, "result", most=TEXT_LIMIT)
        check_text(self.lesson, "lesson", most=TEXT_LIMIT)


@record
class Decision:
    id: str
    decision: str
    confidence: float
    category: str
    stakes: Stakes
    context: str
    reasons: tuple[Reason, ...]
    pattern: str
    tags: tuple[str, ...]
    bridge: Bridge | None
    components: dict[str, float]
    agent: str
    status: DecisionStatus
    superseded_by: str | None
    closed_at: int | None  # when it was reversed or superseded
    preserve: bool
    outcome: OutcomeOf | None
    result: str
    lesson: str
    reviewed_at: int | None
    review_at: int | None
    trust: Trust
    version: int
    decided_at: int
    created_at: int
    updated_at: int

    @property
    def actual(self) -> float | None:
        """What the confidence is measured against: 1, 0.5 or 0; None before a review."""
        return None if self.outcome is None else ACTUAL[self.outcome] / 1000

    @property
    def out_of_use(self) -> str:
        return out_of_use(self.status, self.superseded_by)


@record
class DecisionEdit:
    """Fields to change; None leaves a field as it is."""

    decision: str | None = None
    confidence: float | None = None
    category: str | None = None
    stakes: Stakes | None = None
    context: str | None = None
    reasons: tuple[Reason, ...] | None = None
    pattern: str | None = None
    tags: tuple[str, ...] | None = None
    bridge: Bridge | None = None
    components: dict[str, float] | None = None
    agent: str | None = None
    review_in: str | None = None

    STORED = {"tags": TAG}


def check_decision(given: NewDecision | Decision) -> None:
    """Raise BadInput for what no decision may hold."""
    check_text(given.decision, "decision", most=TEXT_LIMIT)
    if not given.decision.strip():
        raise BadInput("decision is empty")
    check_text(given.context, "context", most=TEXT_LIMIT)
    check_text(given.pattern, "pattern", most=SHORT_LIMIT)
    _check_word(given.category, "category")
    if given.agent:
        _check_word(given.agent, "agent")
    check_choice(given.stakes, "stakes", STAKES)
    check_tags(given.tags)
    if max(len(given.components), len(given.reasons)) > LIST_LIMIT:
        raise BadInput(f"{LIST_LIMIT} components and {LIST_LIMIT} reasons are the most")
    for name, value in given.components.items():
        _check_word(name, "component")
        thousandths(value, f"component {name}")
    for reason in given.reasons:
        _check_word(reason.kind, "reason kind")
        check_text(reason.text, "reason", most=TEXT_LIMIT)
        if not reason.text.strip():
            raise BadInput("reason is empty")
    if given.bridge is not None:
        check_text(given.bridge.structure, "bridge structure", most=SHORT_LIMIT)
        check_text(given.bridge.function, "bridge function", most=SHORT_LIMIT)
        if says_nothing(given.bridge.structure) and says_nothing(given.bridge.function):
            raise BadInput("a bridge needs a structure, a function, or both")


def _check_word(value: str, name: str) -> None:
    if not isinstance(value, str) or len(value) > WORD_LIMIT or not _WORD.fullmatch(value):
        raise BadInput(f"{name} must be one word of at most {WORD_LIMIT} characters, not {str(value)[:60]!r}")


@record
class Policy:
    """When a decision shrinks. At exactly `summary_days` it is a summary."""

    summary_days: int = 7
    digest_days: int = 30
    wisdom_days: int = 90
    unreviewed: Literal["full", "age"] = "full"
    keep: tuple[str, ...] = ()  # decisions that stay full at any age: `stakes:critical`, `tag:adr`

    def __post_init__(self) -> None:
        days = (self.summary_days, self.digest_days, self.wisdom_days)
        if not all(type(day) is int for day in days) or not 0 <= days[0] <= days[1] <= days[2]:
            raise BadInput(f"summary_days, digest_days, wisdom_days must be whole days in rising order: {days}")
        check_choice(self.unreviewed, "unreviewed", ("full", "age"))
        object.__setattr__(self, "keep", tuple(self.keep))
        for rule in self.keep:
            kind, _, value = str(rule).partition(":")
            if kind not in ("stakes", "tag") or not value or (kind == "stakes" and value not in STAKES):
                raise BadInput(f"keep has {rule!r}; write stakes:high or tag:adr")


@record
class Policies:
    """The default policy, and what agents and categories change in it; a category wins over an agent."""

    default: Policy = Policy()
    agents: Mapping[str, Mapping[str, Any]]
    categories: Mapping[str, Mapping[str, Any]]

    def __post_init__(self) -> None:
        self.all()

    def all(self) -> list[Policy]:
        return [self.of(agent, category) for agent in (*self.agents, "") for category in (*self.categories, "")]

    def shortest(self) -> int:
        """The age in days below which no decision is wisdom under any policy."""
        return min(policy.wisdom_days for policy in self.all())

    def of(self, agent: str, category: str) -> Policy:
        if agent not in self.agents and category not in self.categories:
            return self.default
        wishes: dict[str, Any] = {}
        known = {field.name for field in fields(Policy)}
        for who, table in ((agent, self.agents), (category, self.categories)):
            wish = table.get(who, {})
            if not isinstance(wish, Mapping) or not known.issuperset(wish):
                raise BadInput(f"the decision policy of {who} may set {', '.join(sorted(known))}, nothing else")
            wishes.update(wish)
        return replace(self.default, **wishes)


def policies_of(given: DecisionSettings) -> Policies:
    """The policies in the settings; a contradictory one is refused even if no decision uses it."""
    default = Policy(**{field.name: getattr(given, field.name) for field in fields(Policy)})
    return Policies(default=default, agents=_wishes(given.agents), categories=_wishes(given.categories))


def _wishes(pairs: tuple[Any, ...]) -> dict[str, dict[str, Any]]:
    try:
        return {name: dict(wish) for name, wish in pairs}
    except (TypeError, ValueError):
        raise BadInput("write a policy as [decisions.agents.NAME] or [decisions.categories.NAME]") from None
