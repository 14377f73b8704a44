"""How decisions are shown as they age: their levels, the compacted page within a token budget, and its wordings.

Levels (full, summary, digest, wisdom) follow from age and policy and are never stored. A wording is how a decision
reads at the summary or digest level: a cycle prepares it, with a model where one is configured, otherwise from the
first sentences, and it is stored until the decision changes.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, get_args

from recollect.core.clock import DAY, iso
from recollect.core.context import Context, Tx
from recollect.core.decision import STAKES, Decision, Policy
from recollect.core.records import check_choice, plain, record
from recollect.distil.wisdom import Wisdom, bridge_line
from recollect.models.ask import OFFLINE, RETOLD_SHARE, Ask, ModelAnswer, ask_within, prompt_version, read_line
from recollect.models.budget import CallLimit
from recollect.store import decisions as rows
from recollect.text.frame import escape, one_line
from recollect.text.sentences import clip, counted, first_sentence
from recollect.text.tokens import tokens

T = TypeVar("T")
Level = Literal["full", "summary", "digest", "wisdom"]
LEVELS: tuple[Level, ...] = get_args(Level)

SUMMARY_WORDS = 40  # about two sentences
DIGEST_WORDS = 14  # one line of a terminal


def check_level(level: str | None) -> None:
    if level is not None:
        check_choice(level, "level", LEVELS)


def level_of(decision: Decision, policy: Policy, now: int) -> Level:
    """The level by age; a preserved or kept decision is full at any age."""
    marks = {f"stakes:{decision.stakes}", *(f"tag:{tag}" for tag in decision.tags)}
    held = decision.preserve or not marks.isdisjoint(policy.keep)
    return "full" if held else level_by_age(decision, policy, now)


def level_by_age(decision: Decision, policy: Policy, now: int) -> Level:
    """The level by age, whether or not the decision is preserved; one that waits for its review is full."""
    age = now - decision.decided_at
    waits = decision.outcome is None and decision.status == "active" and policy.unreviewed == "full"
    if waits or age < policy.summary_days * DAY:
        return "full"
    if age < policy.digest_days * DAY:
        return "summary"
    return "digest" if age < policy.wisdom_days * DAY else "wisdom"


def priority(decision: Decision) -> tuple[int, float, int, str]:
    """The order of a page: high stakes first, then confidence (by its components), then the newest."""
    parts = decision.components.values()
    founded = sum(parts) / len(parts) if parts else decision.confidence
    return (-STAKES.index(decision.stakes), -founded, -decision.decided_at, decision.id)


@record
class Summary:
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


Wordings = Mapping[tuple[str, str], str]
"""Prepared wordings by decision id and level; one that is missing is made on the spot."""


def at_level(decision: Decision, level: str, wordings: Wordings) -> Decision | Summary | DigestLine:
    """A decision as a level shows it; at the wisdom level one line, as in a digest."""
    if level == "full":
        return decision
    wording = wordings.get((decision.id, level))
    return summary_of(decision, wording) if level == "summary" else digest_of(decision, wording)


def summary_of(decision: Decision, wording: str | None = None) -> Summary:
    return Summary(
        stakes=decision.stakes,
        decided_at=decision.decided_at,
        summary=wording or summary_wording(decision),
        pattern=one_line(decision.pattern),
        lesson=first_sentence(decision.lesson, SUMMARY_WORDS),
        **_shared_fields(decision),
    )


def digest_of(decision: Decision, wording: str | None = None) -> DigestLine:
    return DigestLine(text=wording or digest_wording(decision), **_shared_fields(decision))


def _shared_fields(decision: Decision) -> dict[str, Any]:
    names = ("id", "category", "outcome", "confidence", "actual", "status")
    return {**{name: getattr(decision, name) for name in names}, "bridge": bridge_line(decision)}


def summary_wording(decision: Decision) -> str:
    return clip(decision.decision, SUMMARY_WORDS)


def digest_wording(decision: Decision) -> str:
    return first_sentence(decision.decision, DIGEST_WORDS)


MODEL_CALLS = 10  # about decisions in one cycle, every try counted: under two minutes at ten seconds a call


@record
class DecisionPage:
    """The decisions of a page, most important first within each level; `ids` are those without a line in the budget."""

    as_of: str
    total: int
    full: tuple[Decision, ...]
    summary: tuple[Summary, ...]
    digest: Mapping[str, tuple[DigestLine, ...]]
    ids: Mapping[str, tuple[str, ...]]
    wisdom: tuple[Wisdom, ...]


def make_page(
    leveled: Sequence[tuple[Decision, Level]],
    wisdom: Sequence[Wisdom],
    as_of: int,
    total: int,
    budget: int | None = None,
    wordings: Wordings | None = None,
) -> DecisionPage:
    """A page of decisions above the wisdom level. Over the budget, the least important shrink first.

    Preserved decisions never shrink and no id is left out, so a page of ids and wisdom alone may exceed its budget.
    """
    wordings = wordings or {}
    shown: dict[str, str] = {decision.id: level for decision, level in leveled if level != "wisdom"}
    ordered = sorted((decision for decision, level in leveled if level != "wisdom"), key=priority)
    if budget is not None:
        _shrink(ordered, shown, budget - tokens(wisdom_text(wisdom)), wordings)
    at = {level: [each for each in ordered if shown[each.id] == level] for level in ("full", "summary", "digest", "id")}
    return DecisionPage(
        as_of=iso(as_of),
        total=total,
        full=tuple(at["full"]),
        summary=tuple(summary_of(each, wordings.get((each.id, "summary"))) for each in at["summary"]),
        digest=_by_category(at["digest"], lambda each: digest_of(each, wordings.get((each.id, "digest")))),
        ids=_by_category(at["id"], lambda each: each.id),
        wisdom=tuple(wisdom),
    )


def _by_category(decisions: Sequence[Decision], told: Callable[[Decision], T]) -> dict[str, tuple[T, ...]]:
    found: dict[str, list[T]] = defaultdict(list)
    for each in decisions:
        found[each.category].append(told(each))
    return {category: tuple(found[category]) for category in sorted(found)}


def _shrink(ordered: Sequence[Decision], shown: dict[str, str], budget: int, wordings: Wordings) -> None:
    """Move the least important decisions down, level by level, until the page fits."""

    def cost_at(decision: Decision, level: str) -> int:
        return tokens(decision.id if level == "id" else _text(at_level(decision, level, wordings)))

    cost = {decision.id: cost_at(decision, shown[decision.id]) for decision in ordered}
    spent = sum(cost.values())
    for level, below in (("full", "summary"), ("summary", "digest"), ("digest", "id")):
        for decision in reversed(ordered):
            if spent <= budget:
                return
            if shown[decision.id] == level and not decision.preserve:
                smaller = cost_at(decision, below)
                spent += smaller - cost[decision.id]
                shown[decision.id], cost[decision.id] = below, smaller


def _text(shown: Decision | Summary | DigestLine) -> str:
    if isinstance(shown, Decision):
        return full_text(shown)
    return summary_line(shown) if isinstance(shown, Summary) else digest_line(shown)


def render_page(page: DecisionPage) -> str:
    """The page as Markdown. Stored text is escaped onto one line, so it cannot open a section."""
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
        lines += ["", "## Wisdom", "", wisdom_text(page.wisdom)]
    return "\n".join(lines) + "\n"


def full_text(decision: Decision) -> str:
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
    if isinstance(shown, DigestLine):
        return shown.text
    return shown.summary if isinstance(shown, Summary) else digest_wording(shown)


def summary_line(summary: Summary) -> str:
    parts = [f"- {summary.id} ({summary.category}, {summary.stakes}): {_safe(summary.summary)}"]
    parts += [f"Pattern: {_safe(summary.pattern)}"] if summary.pattern else []
    parts.append(f"Outcome: {_against(summary)}")
    parts += [f"Lesson: {_safe(summary.lesson)}"] if summary.lesson else []
    parts += [f"Bridge: {_safe(summary.bridge)}"] if summary.bridge else []
    return " | ".join(parts)


def digest_line(line: DigestLine) -> str:
    bridge = f" | {_safe(line.bridge)}" if line.bridge else ""
    return f"- {line.id} {_safe(line.text)} — {_against(line)}{bridge}"


def wisdom_text(wisdom: Sequence[Wisdom]) -> str:
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
        lines += [f"- and {one.more} older ones: recollect decision list --category {one.category}"] if one.more else []
    return "\n".join(lines).strip()


def _against(shown: Summary | DigestLine) -> str:
    text = f"{shown.outcome or 'not reviewed'} {shown.confidence:.2f}"
    text += "" if shown.actual is None else f"→{shown.actual:g}"
    return text if shown.status == "active" else f"{text}, {shown.status}"


def _field(name: str, text: str) -> list[str]:
    return [f"{name}: {_safe(text)}"] if text.strip() else []


def _safe(text: str) -> str:
    return escape(one_line(text))


WORDED: dict[Level, tuple[Callable[[Decision], str], int]] = {
    "summary": (summary_wording, SUMMARY_WORDS),
    "digest": (digest_wording, DIGEST_WORDS),
}
"""The levels that have wordings: how one is made offline, and how many words it has."""


def load_wordings(tx: Tx, leveled: Sequence[tuple[Decision, str]]) -> Wordings:
    """The prepared wordings of decisions at their levels, where the decision has not changed since."""
    found: dict[tuple[str, str], str] = {}
    for level in WORDED:
        now = {decision.id: decision.version for decision, at in leveled if at == level}
        for id, (version, wording, _) in rows.wordings(tx, level, list(now)).items():
            if version == now[id]:
                found[id, level] = wording
    return found


def missing_wordings(
    ctx: Context, tx: Tx, leveled: Sequence[tuple[Decision, Level]]
) -> list[tuple[Decision, Level, bool]]:
    """Decisions without a wording of their version; and, with True, those whose wording is not by today's prompt."""
    lacking: list[tuple[Decision, Level, bool]] = []
    for level in WORDED:
        here = [decision for decision, at in leveled if at == level]
        stored = rows.wordings(tx, level, [decision.id for decision in here])
        prompt = prompt_version(ctx, f"decision-{level}")
        for decision in here:
            version, _, generator = stored.get(decision.id, (0, "", ""))
            usable = version == decision.version
            if not usable or not generator.endswith(prompt):
                lacking.append((decision, level, usable))
    return lacking


def prepare_wordings(
    ctx: Context, lacking: Sequence[tuple[Decision, Level, bool]], limit: CallLimit
) -> tuple[int, int]:
    """Make wordings; how many were made, and how many wait for a model's."""
    made = waiting = 0
    done: list[tuple[Decision, Level, ModelAnswer[str]]] = []
    # Decisions that a model failed on come after those it was not asked about yet.
    for decision, level, usable in sorted(lacking, key=lambda one: one[2]):
        answer = ask_within(ctx, wording_question(decision, level), limit)
        lacks = answer is None or (answer.generator == OFFLINE and ctx.models.provider(f"decision-{level}") is not None)
        waiting += lacks
        if answer is not None and not (lacks and usable):  # what is stored may be a model's
            done.append((decision, level, answer))
    for start in range(0, len(done), 500):  # rows of one transaction; chosen, other writers wait meanwhile
        with ctx.db.write(ctx.space) as tx:
            for decision, level, answer in done[start : start + 500]:
                made += rows.put_wording(
                    tx,
                    decision.id,
                    level,
                    version=decision.version,
                    wording=answer.value,
                    generator=answer.generator,
                )
    return made, waiting


def wording_question(decision: Decision, level: Level) -> Ask[str]:
    offline, words = WORDED[level]
    names = ("decision", "context", "reasons", "pattern", "outcome", "result", "lesson")
    told = {name: plain(getattr(decision, name)) for name in names}
    return Ask(
        kind=f"decision-{level}",
        subject=decision.id,
        sources=(json.dumps(told, ensure_ascii=False, sort_keys=True),),
        own_words=RETOLD_SHARE,
        offline=lambda: offline(decision),
        accept=lambda text: one_line(read_line(text, words=words * 3 // 2)),
        max_tokens=200,
    )
