"""Recording decisions and what becomes of them: review, edit, reverse, preserve.

Redaction and the quality gate come before anything is stored. A change drops the wisdom derived from the decision.
"""

from __future__ import annotations

import re
from functools import partial

from recollect.capture.change import Noun, changed, checked_reason, record_new, redaction, save
from recollect.core.clock import DAY, HOUR, iso, parse_time
from recollect.core.context import Context, Event, Tx, lowest
from recollect.core.decision import Decision, DecisionEdit, NewDecision, Review, check_decision, policies_of
from recollect.core.errors import BadInput, Refused, Rejected
from recollect.core.records import record, replace, thousandths
from recollect.core.trust import LOWERS, check_may
from recollect.store import db
from recollect.store import decisions as rows
from recollect.text.quality import is_status_update
from recollect.text.storable import storable_record

STATE = (
    "decision", "confidence", "category", "stakes", "context", "reasons", "pattern", "tags", "bridge", "components",
    "agent", "status", "superseded_by", "closed_at", "preserve", "outcome", "result", "lesson", "reviewed_at",
    "review_at", "trust",
)  # fmt: skip
LABELS = frozenset({"tags", "category", "stakes", "review_at"})
_SPAN = re.compile(r"(\d{1,5}(?=\s*[hd])|\d{1,4})\s*([hdwm])", re.IGNORECASE)  # 9999m is 821 years
_UNITS = {"h": HOUR, "d": DAY, "w": 7 * DAY, "m": 30 * DAY}


@record
class Decided:
    decision: Decision
    redacted: tuple[str, ...]


def decide(ctx: Context, new: NewDecision, *, anyway: bool = False, change: str | None = None) -> Decided:
    """Record a decision. A report of work done is rejected unless the caller insists.

    The same decision within an hour is not recorded again: a caller whose answer was lost may repeat it.
    """
    if not anyway and is_status_update(new.decision):
        raise Rejected(
            "this reads as a report of work, not as a choice. Say what was chosen, over what and why; a report "
            "belongs in the log (recollect log add). With `anyway` it is recorded as it is"
        )
    made = new_decision(ctx, new, id=ctx.ids("dec"))
    decision, change = made.decision, change or ctx.ids("change")
    with ctx.db.write(ctx.space) as tx:
        if before := _given_before(tx, decision):
            return replace(made, decision=before)
        rows.insert(tx, decision)
        record_new(DECISION, tx, ctx, decision, change, redaction(made.redacted))
        if decision.decided_at < decision.created_at:
            rows.forget_wisdom(tx)  # a decision of the past may be old enough for wisdom already
        if new.supersedes:
            before, reason = rows.get(tx, new.supersedes), f"replaced by {decision.id}"
            if before.status != "active":
                raise Refused(f"{before.id} is {before.status} already")
            effect = check_may(ctx.actor.trust, DECISION.name, "supersede", before.trust)
            closed = _closed(ctx, before, reason, decision.id)
            if effect == LOWERS:
                closed = replace(closed, trust=lowest(before.trust, ctx.actor.trust))
            save(DECISION, tx, ctx, before, closed, "decision.superseded", change, reason)
    return made


def _given_before(tx: Tx, decision: Decision) -> Decision | None:
    """The same decision, recorded within the last hour and not changed since."""
    lately = rows.DecisionFilter(
        category=decision.category, agent=decision.agent, after=decision.decided_at - HOUR, until=decision.decided_at
    )
    times = {name: getattr(decision, name) for name in ("id", "decided_at", "review_at", "created_at", "updated_at")}
    return next((one for one in rows.walk(tx, lately) if replace(one, **times) == decision), None)


def new_decision(ctx: Context, new: NewDecision, *, id: str) -> Decided:
    """Build the record, without secrets; nothing is stored yet."""
    new, kinds = storable_record(new)
    now = ctx.clock.now()
    decided_at = parse_time(new.decided_at) if new.decided_at else now
    if decided_at > now:
        raise Rejected(f"decided_at {iso(decided_at)} is in the future")
    decision = Decision(
        id=id,
        decision=new.decision,
        confidence=thousandths(new.confidence) / 1000,
        category=new.category,
        stakes=new.stakes,
        context=new.context,
        reasons=tuple(new.reasons),
        pattern=new.pattern,
        tags=new.tags,
        bridge=new.bridge,
        components={name: thousandths(value) / 1000 for name, value in new.components.items()},
        agent=new.agent,
        status="active",
        superseded_by=None,
        closed_at=None,
        preserve=False,
        outcome=None,
        result="",
        lesson="",
        reviewed_at=None,
        review_at=decided_at + time_span(new.review_in) if new.review_in else None,
        trust=ctx.actor.trust,
        version=1,
        decided_at=decided_at,
        created_at=now,
        updated_at=now,
    )
    return Decided(decision=decision, redacted=kinds)


def review(ctx: Context, id: str, outcome: Review, *, expect: int | None = None) -> Decision:
    """Say what came of a decision. A later review replaces an earlier one; events keep both."""
    outcome, _ = storable_record(outcome)

    def change(_: Tx, decision: Decision) -> Decision:
        return replace(decision, **vars(outcome), reviewed_at=ctx.clock.now(), review_at=None)

    return _changed(ctx, id, "decision.reviewed", change, verbs=("review",), given=vars(outcome), expect=expect)


def edit(ctx: Context, id: str, changes: DecisionEdit, *, expect: int | None = None) -> Decision:
    """Change fields. With `expect` (the version you read) the edit is refused when the decision changed since."""
    asked = {name: value for name, value in vars(storable_record(changes)[0]).items() if value is not None}
    if not asked:
        raise BadInput("name at least one field to change")
    given = dict(asked)
    if "category" in given:
        given["category"] = given["category"].lower()
    if "confidence" in given:
        given["confidence"] = thousandths(given["confidence"]) / 1000
    if "components" in given:
        given["components"] = {name: thousandths(value, name) / 1000 for name, value in given["components"].items()}
    if "review_in" in given:
        given["review_at"] = ctx.clock.now() + time_span(given.pop("review_in"))

    def verbs(decision: Decision) -> list[str]:
        moved = {name for name, value in given.items() if getattr(decision, name) != value}
        if not moved:
            return []
        return ["label"] if moved <= LABELS else ["edit"]

    def change(_: Tx, decision: Decision) -> Decision:
        return replace(decision, **given)

    return _changed(ctx, id, "decision.edited", change, verbs=verbs, given={"changes": asked}, expect=expect)


def reverse(ctx: Context, id: str, *, reason: str, by: str | None = None, expect: int | None = None) -> Decision:
    """Reverse a decision, or let `by` replace it. A decision without a review counts as abandoned."""
    reason = checked_reason(reason).strip()
    if not reason:
        raise BadInput("the reason is empty; say why the decision is reversed")

    def change(tx: Tx, decision: Decision) -> Decision:
        if decision.status != "active":
            raise Refused(f"{id} is {decision.status} already")
        if by:
            rows.get(tx, by)
            if by == id or id in db.successors(tx, "decisions", by):
                raise Refused(f"{by} is itself replaced by {id}")
        return _closed(ctx, decision, reason, by)

    what, verb = ("decision.superseded", "supersede") if by else ("decision.reversed", "reverse")
    return _changed(ctx, id, what, change, verbs=(verb,), reason=reason, expect=expect)


def preserve(ctx: Context, id: str, *, on: bool = True, expect: int | None = None) -> Decision:
    """Show a decision whole at any age."""
    what = "decision.preserved" if on else "decision.released"
    return _changed(ctx, id, what, lambda _, now: replace(now, preserve=on), verbs=("preserve",), expect=expect)


def time_span(text: str) -> int:
    """`36h`, `10d`, `2w` or `3m` (months of 30 days) in milliseconds."""
    found = _SPAN.fullmatch(str(text).strip())
    if not found:
        raise BadInput(f"{str(text)[:40]!r} is not a time span such as 36h, 10d, 2w or 3m")
    return int(found.group(1)) * _UNITS[found.group(2).lower()]


def _closed(ctx: Context, decision: Decision, reason: str, by: str | None) -> Decision:
    now = ctx.clock.now()
    closed = replace(decision, status="superseded" if by else "reversed", superseded_by=by, closed_at=now)
    if decision.outcome is None:
        closed = replace(closed, outcome="abandoned", result=reason, reviewed_at=now, review_at=None)
    return closed


def _check(tx: Tx, ctx: Context, before: Decision, after: Decision) -> None:
    check_decision(after)
    if ctx.clock.now() - before.decided_at >= policies_of(ctx.settings.decisions).shortest() * DAY:
        rows.forget_wisdom(tx)  # no wisdom holds a younger one


def _undone(_: Tx, ctx: Context, event: Event, before: Decision) -> Decision:
    """Undoing the recording of a decision reverses it."""
    return replace(before, status="reversed", closed_at=ctx.clock.now()) if event.what == DECISION.begins else before


DECISION = Noun(
    name="decision",
    get=rows.get,
    save=rows.save,
    state=STATE,
    words=("decision",),
    begins="decision.recorded",
    unasked=(),
    checked=_check,
    undone=_undone,
)
_changed = partial(changed, DECISION)
