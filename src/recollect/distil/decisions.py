"""Decisions as they are shown: the compacted page, wisdom, calibration, the review queue, and a search over them.

Levels are computed when a page is asked for. Only wordings and wisdom are stored, and both can be made again. Knows
nothing about how decisions are recorded or how a page is printed.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import Any

import msgspec

from recollect.core.clock import DAY
from recollect.core.context import Context, Tx
from recollect.core.decision import ACTUAL, Decision, Policies, policies_of
from recollect.core.errors import BadInput, Trouble
from recollect.core.records import plain
from recollect.distil import decision_page
from recollect.distil import wisdom as distil_wisdom
from recollect.distil.decision_levels import (
    LEVELS,
    DigestLine,
    Level,
    Summary,
    check_level,
    digest_of,
    level_of,
    summary_of,
)
from recollect.distil.decision_page import DecisionPage, Wordings, make_page
from recollect.distil.wisdom import Wisdom, calibration_of, wisdom_of
from recollect.models.ask import prompt_version
from recollect.models.budget import CallLimit
from recollect.search.query import ask
from recollect.search.rank import Candidates, best
from recollect.store import decisions as derived
from recollect.store import decisions as rows
from recollect.store.decisions import KIND, DecisionFilter
from recollect.store.files import content_hash
from recollect.store.passages import Narrow, Ranked

PAGE = 500  # decisions of a page unless the caller says otherwise
MAX_IDS = 500
"""Ids that one category's wisdom names; the others are counted, and `decisions --list` shows them."""


@dataclass(frozen=True, kw_only=True)
class AwaitedReview:
    """A decision without an outcome, and whether its review is due."""

    decision: Decision
    age_days: int
    due: bool


@dataclass(frozen=True, kw_only=True)
class Compaction:
    """How many decisions are at each level, and how many wordings were, or would be, prepared."""

    levels: dict[str, int]
    prepared: int
    waiting: int
    dry_run: bool


def compacted(
    ctx: Context,
    *,
    category: str | None = None,
    agent: str | None = None,
    level: str | None = None,
    budget: int | None = None,
    limit: int = PAGE,
    offset: int = 0,
) -> DecisionPage:
    """Decisions at the level their age asks for."""
    check_level(level)
    if not 1 <= limit <= 10_000 or not 0 <= offset < 2**31:
        raise BadInput("limit must be between 1 and 10,000, offset 0 or more")
    if budget is not None and budget < 1:
        raise BadInput("budget must be at least 1 token")
    now = ctx.clock.now()
    taught = wisdom(ctx, category=category, agent=agent) if level in (None, "wisdom") else []
    wanted = DecisionFilter(category=category, agent=agent, until=now)
    with ctx.db.read(ctx.space) as tx:
        found = _above_wisdom(ctx, tx, wanted, now) if level != "wisdom" else iter(())
        matching = (pair for pair in found if level is None or pair[1] == level)
        shown = list(islice(matching, offset, offset + limit))
        prepared = decision_page.load_wordings(tx, shown)
        return make_page(shown, taught, now, rows.count(tx, wanted), budget, prepared)


def wisdom(ctx: Context, *, category: str | None = None, agent: str | None = None) -> list[Wisdom]:
    """The wisdom of each category's oldest decisions, most decisions first; external decisions do not count.

    Stored until a decision changes or the next one reaches the wisdom level.
    """
    now = ctx.clock.now()
    policies = policies_of(ctx.settings.decisions)
    scope = content_hash(
        json.dumps(
            [category, agent, plain(policies), prompt_version(ctx, distil_wisdom.PRINCIPLE_KIND)], sort_keys=True
        )
    )
    wanted = DecisionFilter(category=category, agent=agent)
    with ctx.db.read(ctx.space) as tx:
        stored = derived.get_wisdom(tx, scope, now)
        if stored is not None:
            return msgspec.json.decode(stored, type=list[Wisdom])
        before = rows.fingerprint(tx)
        made = _wisdom_now(tx, wanted, policies, now)
        until = _next_change(tx, policies, now)
    made = distil_wisdom.reword_principles(ctx, made, CallLimit(left=0))
    # A store that cannot be written right now can still be read.
    with suppress(Trouble), ctx.db.write(ctx.space) as tx:
        if rows.fingerprint(tx) == before:
            packed = json.dumps(plain(made), ensure_ascii=False)
            derived.put_wisdom(tx, scope=scope, made_for=now, valid_until=until, wisdom=packed)
    return made


def compact(ctx: Context, *, dry_run: bool = False) -> Compaction:
    """Prepare the wordings and the wisdom that pages show. No decision changes."""
    now = ctx.clock.now()
    with ctx.db.read(ctx.space) as tx:
        shown = list(_above_wisdom(ctx, tx, DecisionFilter(until=now), now))
        lacking = decision_page.missing_wordings(ctx, tx, shown)
        total = rows.count(tx, DecisionFilter(until=now))
    levels: dict[str, int] = {level: sum(at == level for _, at in shown) for level in LEVELS}
    levels["wisdom"] = total - len(shown)
    if dry_run:
        return Compaction(levels=levels, prepared=len(lacking), waiting=0, dry_run=True)
    done = decision_page.prepare_wordings(ctx, lacking)
    taught = wisdom(ctx)
    if distil_wisdom.reword_principles(ctx, taught, CallLimit(left=ctx.settings.decisions.model_calls)) != taught:
        with ctx.db.write(ctx.space) as tx:
            derived.forget_wisdom(tx)  # the next page is made with the new words
    return Compaction(levels=levels, prepared=done.made, waiting=done.waiting, dry_run=False)


def calibration(
    ctx: Context, *, category: str | None = None, agent: str | None = None, window_days: int | None = None
) -> dict[str, Any]:
    """How well confidence predicted outcomes: overall, and for each category and agent."""
    if window_days is not None and not 1 <= window_days <= 36_500:
        raise BadInput("window must be between 1 and 36,500 days")
    since = ctx.clock.now() - window_days * DAY if window_days is not None else None
    with ctx.db.read(ctx.space) as tx:
        found = rows.calibration_pairs(tx, DecisionFilter(category=category, agent=agent), reviewed_after=since)
    by: dict[str, dict[str, list[tuple[int, int]]]] = {"categories": defaultdict(list), "agents": defaultdict(list)}
    everything: list[tuple[int, int]] = []
    for its_category, its_agent, confidence, outcome in found:
        pair = (confidence, ACTUAL[outcome])
        everything.append(pair)
        by["categories"][its_category].append(pair)
        if its_agent:
            by["agents"][its_agent].append(pair)
    return {
        "window_days": window_days,
        "overall": calibration_of(everything),
        **{name: {key: calibration_of(pairs) for key, pairs in sorted(part.items())} for name, part in by.items()},
    }


def review_queue(ctx: Context, *, agent: str | None = None, due_only: bool = False) -> list[AwaitedReview]:
    """Decisions without an outcome, due ones first. One without a review date is due after `summary_days`."""
    now = ctx.clock.now()
    with ctx.db.read(ctx.space) as tx:
        waiting = list(rows.walk(tx, DecisionFilter(agent=agent, reviewed=False, status="active")))
    queue = [
        AwaitedReview(
            decision=decision,
            age_days=(now - decision.decided_at) // DAY,
            due=_due_at(ctx, decision) <= now,
        )
        for decision in waiting
    ]
    queue.sort(key=lambda one: (not one.due, _due_at(ctx, one.decision), one.decision.id))
    return [one for one in queue if one.due or not due_only]


def _due_at(ctx: Context, decision: Decision) -> int:
    week = ctx.settings.decisions.summary_days * DAY
    return decision.review_at if decision.review_at is not None else decision.decided_at + week


def _above_wisdom(ctx: Context, tx: Tx, wanted: DecisionFilter, now: int) -> Iterator[tuple[Decision, Level]]:
    """Decisions above the wisdom level, newest first: the young ones, then old ones that stay full."""
    policies = policies_of(ctx.settings.decisions)
    young = now - max(policy.wisdom_days for policy in policies.all()) * DAY
    held = rows.HELD if not any(policy.keep for policy in policies.all()) else ""
    recent = DecisionFilter(category=wanted.category, agent=wanted.agent, after=young, until=now)
    aged = DecisionFilter(category=wanted.category, agent=wanted.agent, until=young)
    for part, only in ((recent, ""), (aged, held)):
        for decision in rows.walk(tx, part, only=only):
            level = level_of(decision, policies.of(decision.agent, decision.category), now)
            if level != "wisdom":
                yield decision, level


def _wisdom_now(tx: Tx, wanted: DecisionFilter, policies: Policies, now: int) -> list[Wisdom]:
    oldest_first: dict[str, list[Decision]] = defaultdict(list)
    until = now - policies.shortest() * DAY
    tags_matter = any(rule.startswith("tag:") for policy in policies.all() for rule in policy.keep)
    aged = DecisionFilter(category=wanted.category, agent=wanted.agent, until=until)
    for decision in rows.walk(tx, aged, whole=tags_matter):
        if decision.trust == "external":
            continue
        if level_of(decision, policies.of(decision.agent, decision.category), now) == "wisdom":
            oldest_first[decision.category].append(decision)
    made = [wisdom_of(category, members, MAX_IDS) for category, members in oldest_first.items()]
    return sorted(made, key=lambda one: (-one.decisions, one.category))


def _next_change(tx: Tx, policies: Policies, now: int) -> int:
    """When the next decision reaches the wisdom level; at most that level's shortest age from now."""
    spans = sorted({policy.wisdom_days * DAY for policy in policies.all()})
    moments = [now + max(spans[0], DAY)]
    for span in spans:
        youngest = rows.next_to_age(tx, now - span)
        if youngest is not None:
            moments.append(youngest + span)
    return min(moments)


@dataclass(frozen=True, kw_only=True)
class DecisionHit:
    """A decision that was found, as its level shows it; at the wisdom level one line, as in a digest."""

    id: str
    level: Level
    out_of_use: str
    decision: Decision | Summary | DigestLine


def query(
    ctx: Context,
    text: str,
    wanted: DecisionFilter,
    *,
    level: str | None = None,
    limit: int,
    offset: int,
    whole: bool,
) -> tuple[list[DecisionHit], int]:
    """Decisions that match `text`, best first; without a text the newest. `whole` shows each in full."""
    policies, now = policies_of(ctx.settings.decisions), ctx.clock.now()

    def reached(decision: Decision) -> Level:
        return level_of(decision, policies.of(decision.agent, decision.category), now)

    with ctx.db.read(ctx.space) as tx:

        def passing(some: Sequence[Ranked]) -> set[str]:
            ids = rows.passing(tx, [one.id for one in some], wanted)
            return ids if level is None else {one.id for one in rows.many(tx, sorted(ids)) if reached(one) == level}

        if text.strip():
            among = Candidates(wanted=Narrow(kinds=(KIND,)), keep=passing)
            scored = best(tx, ask(tx, text), among, limit=limit + offset)
            found = rows.many(tx, [hit.passage.id for hit in scored][offset:])
            total = len(scored)
        elif level is not None:
            there = [one for one in rows.walk(tx, wanted) if reached(one) == level]
            found, total = there[offset : offset + limit], len(there)
        else:
            found, total = rows.listed(tx, wanted, limit=limit, offset=offset)
        leveled = [(each, reached(each)) for each in found]
        prepared = decision_page.load_wordings(tx, leveled)
    hits = [
        DecisionHit(
            id=decision.id,
            level=level,
            out_of_use=decision.out_of_use,
            decision=_at_level(decision, level, prepared, whole),
        )
        for decision, level in leveled
    ]
    return hits, total


def _at_level(decision: Decision, level: Level, prepared: Wordings, whole: bool) -> Decision | Summary | DigestLine:
    if whole or level == "full":
        return decision
    if level == "summary":
        return summary_of(decision, prepared.get((decision.id, "summary")))
    return digest_of(decision, prepared.get((decision.id, "digest")))
