"""The compacted page: decisions at their levels, within a token budget, as one Markdown text, and its wordings.

A wording is how a decision reads at the summary or digest level: prepared by a cycle and stored until the decision
changes, by a model where one is configured, otherwise from the first sentences. Knows nothing about which decisions
are asked for or who reads the page.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from recollect.core.clock import iso
from recollect.core.context import Context, Tx
from recollect.core.decision import Decision
from recollect.core.records import plain
from recollect.distil.decision_levels import (
    DIGEST_WORDS,
    SUMMARY_WORDS,
    DigestLine,
    Level,
    Summary,
    bridge_line,
    digest_of,
    digest_wording,
    priority,
    summary_of,
    summary_wording,
)
from recollect.distil.wisdom import Wisdom
from recollect.models.ask import OFFLINE, RETOLD_SHARE, Ask, ask, ask_within, load_prompt, read_line
from recollect.models.budget import CallLimit
from recollect.store import decisions as derived
from recollect.text.frame import escape, one_line
from recollect.text.sentences import counted
from recollect.text.tokens import tokens


@dataclass(frozen=True, kw_only=True)
class DecisionPage:
    """The decisions of a page, most important first within each level; `ids` are what the budget left of some."""

    as_of: str
    total: int
    full: tuple[Decision, ...]
    summary: tuple[Summary, ...]
    digest: Mapping[str, tuple[DigestLine, ...]]
    ids: Mapping[str, tuple[str, ...]]
    wisdom: tuple[Wisdom, ...]


Wordings = Mapping[tuple[str, str], str]
"""Prepared wordings by decision id and level; one that is missing is made on the spot."""


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
        _shrink(ordered, shown, budget - tokens("\n".join(_wisdom_lines(wisdom))), wordings)

    def at(level: str) -> list[Decision]:
        return [decision for decision in ordered if shown[decision.id] == level]

    digest: dict[str, list[DigestLine]] = defaultdict(list)
    for decision in at("digest"):
        digest[decision.category].append(digest_of(decision, wordings.get((decision.id, "digest"))))
    ids: dict[str, list[str]] = defaultdict(list)
    for decision in at("id"):
        ids[decision.category].append(decision.id)
    return DecisionPage(
        as_of=iso(as_of),
        total=total,
        full=tuple(at("full")),
        summary=tuple(summary_of(decision, wordings.get((decision.id, "summary"))) for decision in at("summary")),
        digest={category: tuple(digest[category]) for category in sorted(digest)},
        ids={category: tuple(ids[category]) for category in sorted(ids)},
        wisdom=tuple(wisdom),
    )


def _shrink(ordered: Sequence[Decision], shown: dict[str, str], budget: int, wordings: Wordings) -> None:
    """Move the least important decisions down, level by level, until the page fits."""
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
        lines += [f"- and {one.more} older ones: recollect decision list --category {one.category}"] if one.more else []
    return lines


def _against(outcome: str | None, confidence: float, actual: float | None, status: str) -> str:
    text = f"{outcome or 'not reviewed'} {confidence:.2f}"
    text += "" if actual is None else f"→{actual:g}"
    return text if status == "active" else f"{text}, {status}"


def _field(name: str, text: str) -> list[str]:
    return [f"{name}: {_safe(text)}"] if text.strip() else []


def _safe(text: str) -> str:
    """Stored text as one escaped line."""
    return escape(one_line(text))


_OFFLINE = {"summary": summary_wording, "digest": digest_wording}
_WORDS = {"summary": SUMMARY_WORDS, "digest": DIGEST_WORDS}


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """How many wordings a cycle made, and how many still wait for a model."""

    made: int
    waiting: int


def source_of(decision: Decision) -> str:
    """The fields that a wording is made from, as JSON."""
    names = ("decision", "context", "reasons", "pattern", "outcome", "result", "lesson")
    return json.dumps({name: plain(getattr(decision, name)) for name in names}, ensure_ascii=False, sort_keys=True)


def load_wordings(tx: Tx, leveled: Sequence[tuple[Decision, str]]) -> Wordings:
    """The prepared wordings of decisions at their levels, where the decision has not changed since."""
    found: dict[tuple[str, str], str] = {}
    for level in _OFFLINE:
        now = {decision.id: decision.version for decision, at in leveled if at == level}
        for id, (version, wording, _) in derived.wordings(tx, level, list(now)).items():
            if version == now[id]:
                found[id, level] = wording
    return found


def missing_wordings(ctx: Context, tx: Tx, leveled: Sequence[tuple[Decision, Level]]) -> list[tuple[Decision, Level]]:
    """Decisions whose wording is missing, out of date, or not by the model and prompt that are configured now."""
    lacking: list[tuple[Decision, Level]] = []
    for level in _OFFLINE:
        here = [decision for decision, at in leveled if at == level]
        stored = derived.wordings(tx, level, [decision.id for decision in here])
        modelled = ctx.models.provider(f"decision-{level}") is not None
        by_prompt = f"@{load_prompt(f'decision-{level}').version}"
        for decision in here:
            version, _, generator = stored.get(decision.id, (0, "", ""))
            if version != decision.version or (modelled and not generator.endswith(by_prompt)):
                lacking.append((decision, level))  # type: ignore[arg-type]
    return lacking


def prepare_wordings(ctx: Context, lacking: Sequence[tuple[Decision, Level]]) -> Prepared:
    """Make wordings; a model is called for a few, newest first, and the others wait for the next cycle."""
    limit = CallLimit(left=ctx.settings.decisions.model_calls)
    made = waiting = 0
    done: list[tuple[Decision, Level, str, str]] = []
    with ctx.db.read(ctx.space) as tx:
        stored = load_wordings(tx, lacking)
    # Decisions that a model failed on come after those it was not asked about yet.
    for decision, level in sorted(lacking, key=lambda pair: (pair[0].id, pair[1]) in stored):
        asked = wording_question(decision, level)
        modelled = ctx.models.provider(asked.kind) is not None
        answer = ask_within(ctx, asked, limit) if modelled else ask(ctx, asked)
        if answer is None:
            waiting += 1
            continue
        if answer.generator == OFFLINE and modelled:
            waiting += 1
            if (decision.id, level) in stored:  # the stored wording is up to date, and may be a model's
                continue
        done.append((decision, level, answer.value, answer.generator))
    for start in range(0, len(done), 500):
        with ctx.db.write(ctx.space) as tx:
            for decision, level, wording, generator in done[start : start + 500]:
                made += derived.put_wording(
                    tx, decision.id, level, version=decision.version, wording=wording, generator=generator
                )
    return Prepared(made=made, waiting=waiting)


def wording_question(decision: Decision, level: Level) -> Ask[str]:
    """The question how one decision reads at a level."""
    return Ask(
        kind=f"decision-{level}",
        subject=decision.id,
        sources=(source_of(decision),),
        own_words=RETOLD_SHARE,
        offline=lambda: _OFFLINE[level](decision),
        accept=lambda text: _accepted(text, _WORDS[level]),
        max_tokens=200,
    )


def _accepted(text: str, words: int) -> str:
    """A model's wording if it is one short line."""
    return one_line(read_line(text, words=words * 3 // 2))
