"""Asking for decisions by words or by field: each answer is as long as the decision's age allows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.context import Context
from recollect.core.decision import Decision
from recollect.core.policy import policies_of
from recollect.distil import wordings
from recollect.distil.levels import DigestLine, Level, Summary, digest_of, level_of, summary_of
from recollect.distil.page import Wordings
from recollect.search.query import ask
from recollect.search.rank import Among, best
from recollect.store import decisions as rows
from recollect.store.decisions import KIND, DecisionFilter
from recollect.store.passages import Narrow, Ranked


@dataclass(frozen=True, kw_only=True)
class DecisionHit:
    """A decision that was asked for, shaped by its level; at the wisdom level it is one line, as in a digest."""

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
    """Decisions that hold the words of `text`, best first; without a text the newest. `whole` shows all of each."""
    policies, now = policies_of(ctx.settings.decisions), ctx.clock.now()

    def reached(decision: Decision) -> Level:
        return level_of(decision, policies.of(decision.agent, decision.category), now)

    with ctx.db.read(ctx.space) as tx:

        def passing(some: Sequence[Ranked]) -> set[str]:
            ids = rows.passing(tx, [one.id for one in some], wanted)
            return ids if level is None else {one.id for one in rows.many(tx, sorted(ids)) if reached(one) == level}

        if text.strip():
            among = Among(wanted=Narrow(kinds=(KIND,)), keep=passing)
            scored = best(tx, ask(tx, text), among, limit=limit + offset)
            found = rows.many(tx, [hit.passage.id for hit in scored][offset:])
            total = len(scored)
        elif level is not None:
            there = [one for one in rows.walk(tx, wanted) if reached(one) == level]
            found, total = there[offset : offset + limit], len(there)
        else:
            found, total = rows.listed(tx, wanted, limit=limit, offset=offset)
        leveled = [(each, reached(each)) for each in found]
        prepared = wordings.load(tx, leveled)
    hits = [
        DecisionHit(
            id=decision.id,
            level=level,
            out_of_use=decision.out_of_use,
            decision=_shaped(decision, level, prepared, whole),
        )
        for decision, level in leveled
    ]
    return hits, total


def _shaped(decision: Decision, level: Level, prepared: Wordings, whole: bool) -> Decision | Summary | DigestLine:
    if whole or level == "full":
        return decision
    if level == "summary":
        return summary_of(decision, prepared.get((decision.id, "summary")))
    return digest_of(decision, prepared.get((decision.id, "digest")))
