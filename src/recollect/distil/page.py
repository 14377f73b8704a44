"""The compacted page: decisions at their levels, within a token budget, as one Markdown text.

Pure: decisions with levels and ready-made wisdom in, a page out. Knows nothing about rows or who reads it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.core.clock import iso
from recollect.core.decision import Decision
from recollect.distil.levels import (
    DigestLine,
    Level,
    Summary,
    bridge_line,
    digest_of,
    digest_wording,
    priority,
    summary_of,
)
from recollect.distil.wisdom import Wisdom
from recollect.text.counting import counted
from recollect.text.frame import escape, one_line
from recollect.text.tokens import tokens


@dataclass(frozen=True, kw_only=True)
class Page:
    """What is shown, most important first within each level. `ids` is what a budget left only the id of."""

    as_of: str
    total: int
    full: tuple[Decision, ...]
    summary: tuple[Summary, ...]
    digest: Mapping[str, tuple[DigestLine, ...]]
    ids: Mapping[str, tuple[str, ...]]
    wisdom: tuple[Wisdom, ...]


Wordings = Mapping[tuple[str, str], str]
"""What was prepared for a decision (id) at a level; what is missing is worded on the spot."""


def arrange(
    leveled: Sequence[tuple[Decision, Level]],
    wisdom: Sequence[Wisdom],
    as_of: int,
    total: int,
    budget: int | None = None,
    wordings: Wordings | None = None,
) -> Page:
    """A page of decisions above the wisdom level. Over the budget, the least important shrink first.

    Preserved decisions never shrink and no id is ever lost: a page that is all ids and wisdom may pass its budget.
    """
    wordings = wordings or {}
    shown: dict[str, str] = {decision.id: level for decision, level in leveled if level != "wisdom"}
    ordered = sorted((decision for decision, level in leveled if level != "wisdom"), key=priority)
    if budget is not None:
        _shrink(ordered, shown, budget - tokens("\n".join(_wisdom_lines(wisdom))), wordings)

    def at(level: str) -> list[Decision]:
        return [decision for decision in ordered if shown[decision.id] == level]

    digest: dict[str, list[DigestLine]] = defaultdict(list)
    for decision in at("digest"):
        digest[decision.category].append(digest_of(decision, wordings.get((decision.id, "digest"))))
    ids: dict[str, list[str]] = defaultdict(list)
    for decision in at("id"):
        ids[decision.category].append(decision.id)
    return Page(
        as_of=iso(as_of),
        total=total,
        full=tuple(at("full")),
        summary=tuple(summary_of(decision, wordings.get((decision.id, "summary"))) for decision in at("summary")),
        digest={category: tuple(digest[category]) for category in sorted(digest)},
        ids={category: tuple(ids[category]) for category in sorted(ids)},
        wisdom=tuple(wisdom),
    )


def _shrink(ordered: Sequence[Decision], shown: dict[str, str], budget: int, wordings: Wordings) -> None:
    """Take the least important decisions down one level after the other until the page fits."""
    cost = {decision.id: _cost(decision, shown[decision.id], wordings) for decision in ordered}
    spent = sum(cost.values())
    for level, below in (("full", "summary"), ("summary", "digest"), ("digest", "id")):
        for decision in reversed(ordered):
            if spent <= budget:
                return
            if shown[decision.id] == level and not decision.preserve:
                smaller = _cost(decision, below, wordings)
                spent += smaller - cost[decision.id]
                shown[decision.id], cost[decision.id] = below, smaller


def _cost(decision: Decision, level: str, wordings: Wordings) -> int:
    wording = wordings.get((decision.id, level))
    if level == "full":
        return tokens(full_text(decision))
    if level == "summary":
        return tokens(summary_line(summary_of(decision, wording)))
    return tokens(digest_line(digest_of(decision, wording)) if level == "digest" else decision.id)


def render(page: Page) -> str:
    """The page as Markdown. Stored text is always on a line of its own making: it cannot open a section."""
    lines = [f"# Decisions as of {page.as_of}"]
    if page.full:
        lines += ["", "## Full"]
        for decision in page.full:
            lines += ["", full_text(decision)]
    if page.summary:
        lines += ["", "## Summary", "", *(summary_line(summary) for summary in page.summary)]
    if page.digest or page.ids:
        lines += ["", "## Digest"]
        for category in sorted({*page.digest, *page.ids}):
            lines += ["", f"### {category}", *(digest_line(line) for line in page.digest.get(category, ()))]
            if also := page.ids.get(category):
                lines.append(f"- also: {' '.join(also)}")
    if page.wisdom:
        lines += ["", "## Wisdom", *_wisdom_lines(page.wisdom)]
    return "\n".join(lines) + "\n"


def full_text(decision: Decision) -> str:
    """Everything about a decision, every field on its own line."""
    marks = [decision.category, decision.stakes, f"confidence {decision.confidence:.2f}", iso(decision.decided_at)]
    marks += [f"by {decision.agent}"] if decision.agent else []
    marks += ["preserved"] if decision.preserve else []
    marks += [decision.out_of_use] if decision.out_of_use else []
    marks += ["external, not vouched for"] if decision.trust == "external" else []
    lines = [f"### {decision.id} ({', '.join(marks)})", f"Decision: {_safe(decision.decision)}"]
    lines += _field("Context", decision.context)
    lines += [f"- Reason ({reason.kind}): {_safe(reason.text)}" for reason in decision.reasons]
    lines += _field("Pattern", decision.pattern)
    lines += _field("Bridge", bridge_line(decision))
    lines += _field("Components", ", ".join(f"{name} {value:.2f}" for name, value in decision.components.items()))
    lines += _field("Tags", ", ".join(decision.tags))
    if decision.outcome:
        lines.append(f"Outcome: {decision.outcome} ({decision.confidence:.2f} against {decision.actual:g})")
    lines += _field("Result", decision.result)
    lines += _field("Lesson", decision.lesson)
    return "\n".join(lines)


def headline(shown: Decision | Summary | DigestLine) -> str:
    """A decision of any level in a few words."""
    if isinstance(shown, DigestLine):
        return shown.text
    return shown.summary if isinstance(shown, Summary) else digest_wording(shown)


def summary_line(summary: Summary) -> str:
    parts = [f"- {summary.id} ({summary.category}, {summary.stakes}): {_safe(summary.summary)}"]
    parts += [f"Pattern: {_safe(summary.pattern)}"] if summary.pattern else []
    parts.append(f"Outcome: {_against(summary.outcome, summary.confidence, summary.actual, summary.status)}")
    parts += [f"Lesson: {_safe(summary.lesson)}"] if summary.lesson else []
    parts += [f"Bridge: {_safe(summary.bridge)}"] if summary.bridge else []
    return " | ".join(parts)


def digest_line(line: DigestLine) -> str:
    bridge = f" | {_safe(line.bridge)}" if line.bridge else ""
    return (
        f"- {line.id} {_safe(line.text)} — {_against(line.outcome, line.confidence, line.actual, line.status)}{bridge}"
    )


def wisdom_text(wisdom: Sequence[Wisdom]) -> str:
    """Wisdom alone, for reading."""
    return "\n".join(_wisdom_lines(wisdom)).strip()


def _wisdom_lines(wisdom: Sequence[Wisdom]) -> list[str]:
    lines: list[str] = []
    for one in wisdom:
        lines += ["", f"### {one.category}: {counted(one.decisions, 'decision')}"]
        if one.success_rate is not None and one.success_interval:
            low, high = one.success_interval
            lines.append(
                f"Success {one.success_rate:.2f} ({low:.2f}–{high:.2f}), mean confidence {one.mean_confidence:.2f}, "
                f"Brier {one.brier:.3f}"
            )
        lines += [f"- {_safe(principle)}" for principle in one.key_principles]
        lines += [f"- Fails by: {_safe(one.common_failure_mode)}"] if one.common_failure_mode else []
        lines += [f"- Bridge: {_safe(bridge.text)} ({len(bridge.ids)})" for bridge in one.bridges]
        lines += [f"- ids: {' '.join(one.ids)}"] if one.ids else []
        lines += (
            [f"- and {one.more} older ones: recollect decisions --list --category {one.category}"] if one.more else []
        )
    return lines


def _against(outcome: str | None, confidence: float, actual: float | None, status: str) -> str:
    text = f"{outcome or 'not reviewed'} {confidence:.2f}"
    text += "" if actual is None else f"→{actual:g}"
    return text if status == "active" else f"{text}, {status}"


def _field(name: str, text: str) -> list[str]:
    return [f"{name}: {_safe(text)}"] if text.strip() else []


def _safe(text: str) -> str:
    """Stored text on one line that can pose as nothing else."""
    return escape(one_line(text))
