"""How much of a decision is shown: full, summary, digest or wisdom, by its age and its policy.

Pure functions of a decision and the time. Levels are never stored: the same record is shown shorter as it ages, and
whole again when it is preserved. Knows nothing about rows, models or how a page is printed.
"""

from __future__ import annotations

from typing import Literal, get_args

from recollect.core.clock import DAY
from recollect.core.decision import STAKES, Decision, Policy
from recollect.core.errors import BadInput
from recollect.core.records import record
from recollect.text.frame import one_line
from recollect.text.sentences import clip, first_sentence

Level = Literal["full", "summary", "digest", "wisdom"]
LEVELS: tuple[Level, ...] = get_args(Level)

SUMMARY_WORDS = 40  # about two sentences
DIGEST_WORDS = 14  # one line of a terminal


def check_level(level: str | None) -> None:
    if level is not None and level not in LEVELS:
        raise BadInput(f"level must be one of {', '.join(LEVELS)}, not {level!r:.40}")


def level_of(decision: Decision, policy: Policy, now: int) -> Level:
    """The level by age; a preserved, kept or unreviewed decision is full at any age."""
    waits = decision.outcome is None and decision.status == "active" and policy.unreviewed == "full"
    if decision.preserve or waits or _kept(decision, policy):
        return "full"
    age = now - decision.decided_at
    if age < policy.summary_days * DAY:
        return "full"
    if age < policy.digest_days * DAY:
        return "summary"
    if age < policy.wisdom_days * DAY:
        return "digest"
    return "wisdom"


def priority(decision: Decision) -> tuple[int, float, int, str]:
    """The order of a page: high stakes first, then confidence (by its components), then the newest."""
    parts = decision.components.values()
    founded = sum(parts) / len(parts) if parts else decision.confidence
    return (-STAKES.index(decision.stakes), -founded, -decision.decided_at, decision.id)


@record
class Summary:
    """The summary level: the choice, its pattern, its outcome, and confidence against the outcome."""

    id: str
    category: str
    stakes: str
    decided_at: int
    summary: str
    pattern: str
    outcome: str | None
    confidence: float
    actual: float | None
    status: str
    bridge: str
    lesson: str


@record
class DigestLine:
    """The digest level: one line, grouped by category on the page."""

    id: str
    category: str
    text: str
    outcome: str | None
    confidence: float
    actual: float | None
    status: str
    bridge: str


def summary_of(decision: Decision, wording: str | None = None) -> Summary:
    """The summary level; `wording` is the text that a model or an earlier cycle prepared."""
    return Summary(
        id=decision.id,
        category=decision.category,
        stakes=decision.stakes,
        decided_at=decision.decided_at,
        summary=wording or summary_wording(decision),
        pattern=one_line(decision.pattern),
        outcome=decision.outcome,
        confidence=decision.confidence,
        actual=decision.actual,
        status=decision.status,
        bridge=bridge_line(decision),
        lesson=first_sentence(decision.lesson, SUMMARY_WORDS),
    )


def digest_of(decision: Decision, wording: str | None = None) -> DigestLine:
    return DigestLine(
        id=decision.id,
        category=decision.category,
        text=wording or digest_wording(decision),
        outcome=decision.outcome,
        confidence=decision.confidence,
        actual=decision.actual,
        status=decision.status,
        bridge=bridge_line(decision),
    )


def summary_wording(decision: Decision) -> str:
    return clip(decision.decision, SUMMARY_WORDS)


def digest_wording(decision: Decision) -> str:
    return first_sentence(decision.decision, DIGEST_WORDS)


def bridge_line(decision: Decision) -> str:
    if decision.bridge is None:
        return ""
    parts = (one_line(decision.bridge.structure), one_line(decision.bridge.function))
    return " → ".join(part for part in parts if part)


def _kept(decision: Decision, policy: Policy) -> bool:
    marks = {f"stakes:{decision.stakes}", *(f"tag:{tag}" for tag in decision.tags)}
    return not marks.isdisjoint(policy.keep)
