"""Bringing in a decision that somebody else wrote: what was foretold and what came of it stay what they were."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import msgspec

from recollect.capture.bring_fields import Fate, Terms, Values, reference, row_id, time_of
from recollect.capture.decide import adopt_known, new_decision
from recollect.core.clock import ScriptedClock, iso
from recollect.core.context import Context, Tx
from recollect.core.decision import Decision, NewDecision, Review
from recollect.core.errors import BadInput
from recollect.store import decisions, events, wisdom
from recollect.text.normal import clean
from recollect.text.redact import redact

CONTENT = ("decision", "confidence", "category", "context", "reasons", "pattern", "decided_at")


def read_decision(ctx: Context, terms: Terms, values: Values) -> Decision:
    """A decision with its outcome: what was foretold and what came of it stay what they were."""
    names = ("decision", "confidence", "category", "stakes", "context", "pattern", "agent")
    given: dict[str, Any] = {name: values[name] for name in names if values.get(name) is not None}
    given |= {name: values[name] or () for name in ("reasons", "tags") if name in values}
    given |= {name: values[name] for name in ("bridge", "components") if values.get(name)}
    said = {name: values.get(name) or "" for name in ("outcome", "result", "lesson")}
    try:
        new = msgspec.convert(given, NewDecision)
        review = msgspec.convert(said, Review) if said["outcome"] else None
    except msgspec.ValidationError as problem:
        raise BadInput(str(problem)) from None
    made = time_of(values, "decided_at", terms)
    status = values.get("status", "active")
    if status not in ("active", "reversed", "superseded"):
        raise BadInput(f"status {status!r:.40} is not one of active, reversed, superseded")
    successor = reference(values, "superseded_by") if status == "superseded" else None
    decision = new_decision(
        replace(ctx.trusted_as(terms.trust), clock=ScriptedClock(terms.now)),
        replace(new, decided_at=iso(made)),
        id=row_id(values, "dec", f"{new.decision}:{made}"),
    )
    closed = max(made, time_of(values, "closed_at", terms)) if status != "active" else None
    return replace(
        decision.decision,
        status="superseded" if successor else ("active" if status == "active" else "reversed"),
        superseded_by=successor,
        closed_at=closed,
        preserve=values.get("preserve") is True and terms.trust != "external",
        outcome=review.outcome if review else None,
        result=redact(clean(review.result)).text if review else "",
        lesson=redact(clean(review.lesson)).text if review else "",
        reviewed_at=max(made, time_of(values, "reviewed_at", terms)) if review else None,
        created_at=made,
        updated_at=terms.now,
    )


def put_decision(tx: Tx, ctx: Context, terms: Terms, given: Decision) -> Fate:
    known = decisions.many(tx, [given.id])
    if known:
        if any(getattr(known[0], name) != getattr(given, name) for name in CONTENT):
            return "conflict"
        if known[0].trust == "external" and terms.trust != "external":
            adopt_known(tx, ctx, known[0], change=terms.change, reason=terms.reason)
            return "adopted"
        return "known"
    if given.superseded_by is not None and not decisions.many(tx, [given.superseded_by]):
        given = replace(given, status="reversed", superseded_by=None)  # an export names successors first
    decisions.insert(tx, given)
    wisdom.forget(tx)
    events.record(
        tx,
        ctx,
        change=terms.change,
        subject=given.id,
        what="decision.recorded",
        new={"decision": given.decision, "confidence": given.confidence},
        reason=terms.reason,
    )
    return "added"
