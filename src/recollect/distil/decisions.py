"""Decisions as they are shown: the compacted page, wisdom, calibration, the review queue, and a search over them."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from typing import Any

from recollect.core.clock import DAY, day_of, zone_named
from recollect.core.context import Context, Tx
from recollect.core.decision import ACTUAL, Decision, Policies, policies_of
from recollect.core.errors import BadInput, Trouble
from recollect.core.records import MOST, check_page, checked, plain, record
from recollect.core.trust import check_may
from recollect.distil import decision_levels
from recollect.distil.decision_levels import (
    LEVELS,
    DecisionPage,
    DigestLine,
    Level,
    Summary,
    at_level,
    check_level,
    level_by_age,
    level_of,
    make_page,
)
from recollect.distil.wisdom import PRINCIPLE_KIND, Wisdom, calibration_of, reword_principles, wisdom_of
from recollect.models.ask import prompt_version
from recollect.models.budget import CallLimit, limited
from recollect.models.embed import judge_of
from recollect.search.query import ask
from recollect.search.rank import Candidates, best
from recollect.store import decisions as rows
from recollect.store.decisions import KIND, DecisionFilter
from recollect.store.files import content_hash
from recollect.store.passages import Narrow, Ranked
from recollect.text.compare import Judge

PAGE = 500  # decisions of a page unless the caller says otherwise
MAX_IDS = 500  # that one category's wisdom names; the others are counted, and `decision list` shows them


@record
class AwaitedReview:
    decision: Decision
    age_days: int
    due: bool


@record
class Compaction:
    """Counts of decisions at each level, of wordings prepared, and of those that wait for a model."""

    levels: dict[str, int]
    prepared: int
    waiting: int


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
        matching = (pair for pair in _above_wisdom(ctx, tx, wanted, now) if level in (None, pair[1]))
        shown = list(islice(matching, offset, offset + limit))
        prepared = decision_levels.load_wordings(tx, shown)
        return make_page(shown, taught, now, rows.count(tx, wanted), budget, prepared)


def wisdom(ctx: Context, *, category: str | None = None, agent: str | None = None) -> list[Wisdom]:
    """The wisdom of each category's oldest decisions, most decisions first; external decisions do not count.

    Stored until a decision changes or the next one reaches the wisdom level.
    """
    now = ctx.clock.now()
    policies = policies_of(ctx.settings.decisions)
    made_from = [category, agent, plain(policies), prompt_version(ctx, PRINCIPLE_KIND)]
    scope = content_hash(json.dumps(made_from, sort_keys=True))
    with ctx.db.read(ctx.space) as tx:
        stored = rows.get_wisdom(tx, scope, now)
        if stored == "[]":
            return []
        if stored is not None:
            import msgspec  # takes as long as half a bare interpreter, and an idle cycle gets here

            return msgspec.json.decode(stored, type=list[Wisdom])
        before = rows.fingerprint(tx)
        made = _wisdom_now(tx, category, agent, policies, now, judge_of(ctx))
        # When the next decision reaches the wisdom level; at most that level's shortest age from now.
        spans = sorted({policy.wisdom_days * DAY for policy in policies.all()})
        moments = [now + max(spans[0], DAY)]
        for span in spans:
            youngest = rows.next_to_age(tx, now - span)
            if youngest is not None:
                moments.append(youngest + span)
        until = min(moments)
    made = reword_principles(ctx, made, CallLimit(left=0))
    # A store that cannot be written right now can still be read.
    with suppress(Trouble), ctx.db.write(ctx.space) as tx:
        if rows.fingerprint(tx) == before:
            packed = json.dumps(plain(made), ensure_ascii=False)
            rows.put_wisdom(tx, scope=scope, made_for=now, valid_until=until, wisdom=packed)
    return made


def compact(ctx: Context) -> Compaction:
    """Prepare the wordings and the wisdom that pages show. No decision changes."""
    check_may(ctx.actor.trust, KIND, "consolidate")
    ctx = limited(ctx)
    now = ctx.clock.now()
    with ctx.db.read(ctx.space) as tx:
        shown = list(_above_wisdom(ctx, tx, DecisionFilter(until=now), now))
        lacking = decision_levels.missing_wordings(ctx, tx, shown)
        total = rows.count(tx, DecisionFilter(until=now))
    levels: dict[str, int] = {level: sum(at == level for _, at in shown) for level in LEVELS}
    levels["wisdom"] = total - len(shown)
    limit = CallLimit(left=decision_levels.MODEL_CALLS)
    prepared, waiting = decision_levels.prepare_wordings(ctx, lacking, limit)
    taught = wisdom(ctx)
    if reword_principles(ctx, taught, limit) != taught:
        ctx.write(rows.forget_wisdom)  # the next page is made with the new words
    return Compaction(levels=levels, prepared=prepared, waiting=waiting)


def calibration(
    ctx: Context,
    *,
    category: str | None = None,
    agent: str | None = None,
    tag: str | None = None,
    window_days: int | None = None,
) -> dict[str, Any]:
    """How well confidence predicted outcomes: overall, and for each category, agent and month of review."""
    if window_days is not None and not 1 <= window_days <= 36_500:
        raise BadInput("window must be between 1 and 36,500 days")
    since = ctx.clock.now() - window_days * DAY if window_days is not None else None
    wanted = DecisionFilter(category=category, agent=agent, tag=tag)
    found = ctx.read(rows.calibration_pairs, wanted, reviewed_after=since)
    zone = zone_named(ctx.settings.timezone)
    parts = ("categories", "agents", "months")
    by: dict[str, dict[str, list[tuple[int, int]]]] = {name: defaultdict(list) for name in parts}
    everything: list[tuple[int, int]] = []
    for its_category, its_agent, confidence, outcome, reviewed_at in found:
        pair = (confidence, ACTUAL[outcome])
        everything.append(pair)
        by["categories"][its_category].append(pair)
        by["months"][f"{day_of(reviewed_at, zone):%Y-%m}"].append(pair)
        if its_agent:
            by["agents"][its_agent].append(pair)
    return {
        "window_days": window_days,
        "overall": calibration_of(everything),
        **{name: {key: calibration_of(pairs) for key, pairs in sorted(part.items())} for name, part in by.items()},
    }


def review_queue(ctx: Context, *, agent: str | None = None, due_only: bool = False) -> list[AwaitedReview]:
    """Decisions without an outcome, due ones first. One without a review date is due after `summary_days`."""
    now, days = ctx.clock.now(), ctx.settings.decisions.summary_days

    def due_at(decision: Decision) -> int:
        return decision.decided_at + days * DAY if decision.review_at is None else decision.review_at

    with ctx.db.read(ctx.space) as tx:
        waiting = list(rows.walk(tx, DecisionFilter(agent=agent, reviewed=False, status="active")))
    queue = [
        AwaitedReview(
            decision=decision,
            age_days=(now - decision.decided_at) // DAY,
            due=due_at(decision) <= now,
        )
        for decision in waiting
    ]
    queue.sort(key=lambda one: (not one.due, due_at(one.decision), one.decision.id))
    return [one for one in queue if one.due or not due_only]


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


def _wisdom_now(
    tx: Tx, category: str | None, agent: str | None, policies: Policies, now: int, judge: Judge | None
) -> list[Wisdom]:
    """Wisdom by age alone: preserving a decision changes how it is shown, not what it taught."""
    by_category: dict[str, list[Decision]] = defaultdict(list)
    aged = DecisionFilter(category=category, agent=agent, until=now - policies.shortest() * DAY)
    for decision in rows.walk(tx, aged, whole=False):
        policy = policies.of(decision.agent, decision.category)
        if decision.trust != "external" and level_by_age(decision, policy, now) == "wisdom":
            by_category[decision.category].append(decision)
    made = [wisdom_of(name, members, MAX_IDS, judge) for name, members in by_category.items()]
    return sorted(made, key=lambda one: (-one.decisions, one.category))


@record
class DecisionHit:
    id: str
    level: Level
    out_of_use: str
    decision: Decision | Summary | DigestLine


def query(
    ctx: Context,
    /,
    text: str = "",
    *,
    level: str | None = None,
    limit: int = 20,
    offset: int = 0,
    whole: bool = False,
    **fields: Any,
) -> tuple[list[DecisionHit], int]:
    """Decisions that match `text` and fields of DecisionFilter, best first; without a text the newest. Each is as long
    as its age allows, or `whole`. Of a text the best thousand are counted, more only to reach a page behind them."""
    check_page(limit, offset)
    check_level(level)
    wanted = checked(DecisionFilter, fields)
    policies, now = policies_of(ctx.settings.decisions), ctx.clock.now()

    def level_now(decision: Decision) -> Level:
        return level_of(decision, policies.of(decision.agent, decision.category), now)

    with ctx.db.read(ctx.space) as tx:

        def passing(some: Sequence[Ranked]) -> set[str]:
            ids = rows.passing(tx, [one.id for one in some], wanted)
            return ids if level is None else {one.id for one in rows.many(tx, sorted(ids)) if level_now(one) == level}

        if text.strip():
            among = Candidates(wanted=Narrow(kinds=(KIND,)), keep=passing)
            scored = best(tx, ask(tx, text), among, limit=max(MOST, limit + offset))
            found = rows.many(tx, [hit.passage.id for hit in scored][offset : offset + limit])
            total = len(scored)
        elif level is not None:
            there = [one for one in rows.walk(tx, wanted) if level_now(one) == level]
            found, total = there[offset : offset + limit], len(there)
        else:
            found, total = rows.listed(tx, wanted, limit=limit, offset=offset)
        leveled = [(each, level_now(each)) for each in found]
        prepared = decision_levels.load_wordings(tx, leveled)
    return [
        DecisionHit(
            id=decision.id,
            level=reached,
            out_of_use=decision.out_of_use,
            decision=decision if whole else at_level(decision, reached, prepared),
        )
        for decision, reached in leveled
    ], total
