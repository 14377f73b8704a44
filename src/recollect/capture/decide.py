"""Recording decisions and what becomes of them: review, edit, reverse, preserve, adopt; and undo for all nouns.

Redaction and the quality gate come before anything is stored. Every change is versioned, leaves an event, and drops the
wisdom that was derived from the decision before.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from recollect.capture import edit as capture_edit
from recollect.capture.edit import check_trust, check_undo, check_version
from recollect.core.clock import DAY, HOUR, iso, parse_time
from recollect.core.context import Context, Event, Tx
from recollect.core.decision import (
    Bridge,
    Decision,
    DecisionEdit,
    NewDecision,
    Reason,
    Review,
    check_decision,
    policies_of,
)
from recollect.core.errors import BadInput, Refused, Rejected, Stale
from recollect.core.learning import Learning
from recollect.core.records import plain
from recollect.core.values import thousandths
from recollect.store import decisions as rows
from recollect.store import events
from recollect.text.quality import is_status_update
from recollect.text.storable import storable, storable_record

# The fields that a change may touch; events keep them before and after.
STATE = (
    "decision", "confidence", "category", "stakes", "context", "reasons", "pattern", "tags", "bridge", "components",
    "agent", "status", "superseded_by", "closed_at", "preserve", "outcome", "result", "lesson", "reviewed_at",
    "review_at", "trust",
)  # fmt: skip
_SPAN = re.compile(r"(\d{1,5})\s*(h|d|w|m)", re.IGNORECASE)
_UNITS = {"h": HOUR, "d": DAY, "w": 7 * DAY, "m": 30 * DAY}


@dataclass(frozen=True, kw_only=True)
class Decided:
    """A recorded decision and what was redacted from it."""

    decision: Decision
    redacted: tuple[str, ...]


def decide(ctx: Context, new: NewDecision, *, anyway: bool = False, change: str | None = None) -> Decided:
    """Record a decision. A report of work done is rejected unless the caller insists."""
    if not anyway and is_status_update(new.decision):
        raise Rejected(
            "this reads as a report of work, not as a choice. Say what was chosen, over what and why; a report "
            "belongs in the log (recollect log add). With `anyway` it is recorded as it is"
        )
    made = new_decision(ctx, new, id=ctx.ids("dec"))
    decision, kinds = made.decision, made.redacted
    change = change or ctx.ids("change")
    with ctx.db.write(ctx.space) as tx:
        rows.insert(tx, decision)
        events.record(
            tx,
            ctx,
            change=change,
            subject=decision.id,
            what="decision.recorded",
            new={"decision": decision.decision, "confidence": decision.confidence},
            reason=f"redacted: {', '.join(kinds)}" if kinds else "",
        )
        if decision.decided_at < decision.created_at:
            rows.forget_wisdom(tx)  # a decision of the past may be old enough for wisdom already
        if new.supersedes:
            before, reason = rows.get(tx, new.supersedes), f"replaced by {decision.id}"
            if before.status != "active":
                raise Refused(f"{before.id} is {before.status} already")
            _save(tx, ctx, before, _closed(ctx, before, reason, decision.id), "decision.superseded", change, reason)
    return made


def new_decision(ctx: Context, new: NewDecision, *, id: str) -> Decided:
    """The record of a new decision, without secrets; nothing is stored yet."""
    new, kinds = storable_record(new)
    now = ctx.clock.now()
    decided_at = parse_time(new.decided_at) if new.decided_at else now
    if decided_at > now:
        raise BadInput(f"decided_at {iso(decided_at)} is in the future")
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
        return replace(
            decision,
            outcome=outcome.outcome,
            result=outcome.result,
            lesson=outcome.lesson,
            reviewed_at=ctx.clock.now(),
            review_at=None,
        )

    return _changed(ctx, id, "decision.reviewed", change, expect=expect)


def edit(ctx: Context, id: str, changes: DecisionEdit, *, expect: int | None = None) -> Decision:
    """Change fields. With `expect` (the version you read) the edit is refused when the decision changed since."""
    given = {name: value for name, value in vars(storable_record(changes)[0]).items() if value is not None}
    if not given:
        raise BadInput("say what to change")
    if "category" in given:
        given["category"] = given["category"].lower()
    if "confidence" in given:
        given["confidence"] = thousandths(given["confidence"]) / 1000
    if "components" in given:
        given["components"] = {name: thousandths(value, name) / 1000 for name, value in given["components"].items()}
    if "review_in" in given:
        given["review_at"] = ctx.clock.now() + time_span(given.pop("review_in"))
    return _changed(ctx, id, "decision.edited", lambda _, now: replace(now, **given), expect=expect)


def reverse(ctx: Context, id: str, *, reason: str, by: str | None = None, expect: int | None = None) -> Decision:
    """Reverse a decision, or let `by` replace it. A decision without a review counts as abandoned."""
    reason = storable(reason).strip()
    if not reason:
        raise BadInput("the reason is empty; say why the decision is reversed")

    def change(tx: Tx, decision: Decision) -> Decision:
        if decision.status != "active":
            raise Refused(f"{id} is {decision.status} already")
        if by:
            rows.get(tx, by)
            if by == id or id in rows.successors(tx, by):
                raise Refused(f"{by} is itself replaced by {id}")
        return _closed(ctx, decision, reason, by)

    return _changed(ctx, id, "decision.superseded" if by else "decision.reversed", change, reason=reason, expect=expect)


def preserve(ctx: Context, id: str, *, on: bool = True, expect: int | None = None) -> Decision:
    """Show a decision whole at any age."""
    what = "decision.preserved" if on else "decision.released"
    return _changed(ctx, id, what, lambda _, now: replace(now, preserve=on), expect=expect)


def adopt(ctx: Context, id: str, *, expect: int | None = None) -> Decision:
    """Vouch for an external decision, so that it counts for wisdom; only a person can."""
    check_trust(ctx, "agent")
    return _changed(ctx, id, "decision.adopted", lambda _, now: replace(now, trust="agent"), expect=expect)


def adopt_known_decision(tx: Tx, ctx: Context, known: Decision, *, change: str, reason: str) -> None:
    """The same as part of an import; whether a person vouches was checked when the import began."""
    person = ctx.trusted_as("human")
    _save(tx, person, known, replace(known, trust="agent"), "decision.adopted", change, reason)


def undo_decision(ctx: Context) -> list[Decision]:
    """Take back the last change to decisions. A decision that was just recorded is reversed and counts for nothing."""
    with ctx.db.write(ctx.space) as tx:
        change = last_undoable(tx)
        check_undo(ctx, change)
        undo_id = ctx.ids("change")
        restored = []
        for event in reversed(change):
            current = rows.get(tx, event.subject)
            if event.what == "decision.recorded":
                after = replace(current, status="reversed", closed_at=ctx.clock.now())
            else:
                if any(plain(getattr(current, name), name) != value for name, value in event.new.items()):
                    raise Stale(f"{event.subject} was changed since; undo would lose that. Edit it instead")
                after = replace(current, **{name: _unplain(name, value) for name, value in event.old.items()})
            _save(tx, ctx, current, after, "decision.undone", undo_id, f"undo of {event.what} ({event.change})")
            restored.append(rows.get(tx, event.subject))
        return restored


def last_undoable(tx: Tx) -> list[Event]:
    """The newest change to decisions that was not undone; empty when there is none."""
    return events.last_undoable(tx, "decision")


def _unplain(name: str, value: Any) -> Any:
    """The value of a field, from the form that an event keeps."""
    if value is None:
        return None
    if name.endswith("_at"):
        return parse_time(value)
    if name == "reasons":
        return tuple(Reason(**each) for each in value)
    if name == "bridge":
        return Bridge(**value)
    return tuple(value) if name == "tags" else value


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


def _changed(
    ctx: Context,
    id: str,
    what: str,
    change: Callable[[Tx, Decision], Decision],
    *,
    reason: str = "",
    expect: int | None = None,
) -> Decision:
    with ctx.db.write(ctx.space) as tx:
        before = rows.get(tx, id)
        check_version(before, expect)
        _save(tx, ctx, before, change(tx, before), what, ctx.ids("change"), reason)
        return rows.get(tx, id)


def _save(tx: Tx, ctx: Context, before: Decision, after: Decision, what: str, change: str, reason: str) -> None:
    """Write what differs, with its event; without a difference nothing is written."""
    moved = [name for name in STATE if getattr(before, name) != getattr(after, name)]
    if not moved:
        return
    check_decision(after)
    after = replace(after, version=before.version + 1, updated_at=ctx.clock.now())
    rows.save(tx, after, expect=before.version)
    if after.updated_at - before.decided_at >= policies_of(ctx.settings.decisions).shortest() * DAY:
        rows.forget_wisdom(tx)  # no wisdom holds a younger one
    events.record(
        tx,
        ctx,
        change=change,
        subject=before.id,
        what=what,
        old={name: plain(getattr(before, name), name) for name in moved},
        new={name: plain(getattr(after, name), name) for name in moved},
        reason=reason,
    )


def undo(ctx: Context) -> list[Learning] | list[Decision]:
    """Take back the newest change to learnings or decisions. Undoing again goes one further back."""
    with ctx.db.read(ctx.space) as tx:
        learnings, decisions = capture_edit.last_undoable(tx), last_undoable(tx)
    if not learnings and not decisions:
        raise Refused("there is nothing to undo")
    later = learnings and (not decisions or learnings[-1].seq > decisions[-1].seq)
    return capture_edit.undo_learning(ctx) if later else undo_decision(ctx)
