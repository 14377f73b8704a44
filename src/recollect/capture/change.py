"""Changing learnings and decisions: who may, the new version, and its event.

A change that needs a person's consent goes to the inbox; `distil/inbox.py` carries it out when a person accepts it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from recollect.core.context import Context, Event, Tx, lowest
from recollect.core.decision import Decision
from recollect.core.errors import BadInput, Proposed, Refused, Stale
from recollect.core.learning import Learning
from recollect.core.records import plain, record, replace
from recollect.core.trust import LOWERS, PROPOSED, check_may
from recollect.store import events
from recollect.store.files import content_hash
from recollect.text.sentences import clip
from recollect.text.storable import storable

PROPOSAL = "proposal"
MOST_PROPOSALS = 20  # chosen: what one caller from outside may have waiting in the inbox; a person can still read them
MOST_REASON = 10_000  # characters; the same as a field of a learning
UNDONE = (events.MOOT, "keep-old", "keep-new", "merge")  # resolutions that no longer hold once both sides are back
SHOWN_WORDS = 60  # of a proposal in the list of the inbox; `inbox show` prints all of it

R = TypeVar("R", Learning, Decision)


@record
class Noun(Generic[R]):
    """What differs between learnings and decisions.

    `state` names the fields that a change may touch, `words` those with text. `begins` is the event of a new record;
    undo skips `unasked` events. `checked` refuses what may not be saved. `undone` gives the record as it was before an
    event; its caller has put the state back already, unless the event began the record.
    """

    name: str
    get: Callable[[Tx, str], R]
    save: Callable[..., None]
    state: tuple[str, ...]
    words: tuple[str, ...]
    begins: str
    unasked: tuple[str, ...]
    checked: Callable[[Tx, Context, R, R], None]
    undone: Callable[[Tx, Context, Event, R], R]


def changed(
    noun: Noun[R],
    ctx: Context,
    id: str,
    what: str,
    change: Callable[[Tx, R], R],
    *,
    verbs: Sequence[str] | Callable[[R], Sequence[str]],
    given: Mapping[str, Any] | None = None,
    expect: int | None = None,
    reason: str = "",
) -> R:
    """Change a record, or propose the change.

    The strictest of the verbs decides. A proposal keeps `given`, so that it can be carried out later.
    """
    with ctx.db.write(ctx.space) as tx:
        before = noun.get(tx, id)
        check_version(before, expect)
        verbs = verbs(before) if callable(verbs) else verbs
        effect = check_may(ctx.actor.trust, noun.name, verbs, before.trust)
        if effect != PROPOSED:
            after = change(tx, before)
            if effect == LOWERS and after != before:
                after = replace(after, trust=lowest(before.trust, ctx.actor.trust))
            save(noun, tx, ctx, before, after, what, ctx.ids("change"), checked_reason(reason))
            return noun.get(tx, id)
        waits = propose(tx, ctx, noun.name, verbs[0], id, given or {}, was=proposed_on(noun, before, given or {}))
    raise waits


def adopt(noun: Noun[R], ctx: Context, id: str, *, expect: int | None = None) -> R:
    """Vouch for an external record, so that it counts as an agent's; only a person can."""
    return changed(
        noun, ctx, id, f"{noun.name}.adopted", lambda _, now: vouched_for(now), verbs=("adopt",), expect=expect
    )


def adopt_known(noun: Noun[R], tx: Tx, ctx: Context, known: R, *, change: str, reason: str) -> None:
    """Adopt during an import, which has checked that a person vouches."""
    save(noun, tx, ctx.trusted_as("human"), known, vouched_for(known), f"{noun.name}.adopted", change, reason)


def vouched_for(record: R) -> R:
    return replace(record, trust="agent") if record.trust == "external" else record


def save(
    noun: Noun[R],
    tx: Tx,
    ctx: Context,
    before: R,
    after: R,
    what: str,
    change: str,
    reason: str,
    *,
    also: Mapping[str, Any] | None = None,
) -> None:
    """Write the fields that differ, and their event. `also` is what undo needs besides them."""
    moved = [name for name in noun.state if getattr(before, name) != getattr(after, name)]
    if not moved:
        return
    noun.checked(tx, ctx, before, after)
    after = replace(after, version=before.version + 1, updated_at=ctx.clock.now())
    noun.save(tx, after, expect=before.version)
    if "status" in moved:
        # An item about a record that goes out of use is closed; one about two that are in use again is reopened.
        for item in events.contradictions_of(tx, after.id):
            other = item.other if item.subject == after.id else item.subject
            if after.status != "active":
                if item.resolved_at is None:
                    events.resolve_escalation(tx, item.number, resolution=events.MOOT, at=after.updated_at)
            elif (
                item.resolution in (events.MOOT, "keep-old", "keep-new", "merge")
                and noun.get(tx, other).status == "active"
            ):
                events.reopen_escalation(tx, item.number)
    old, new = ({name: plain(getattr(one, name), name) for name in moved} for one in (before, after))
    events.record(
        tx, ctx, change=change, subject=before.id, what=what, old={**old, **(also or {})}, new=new, reason=reason
    )


def record_new(noun: Noun[R], tx: Tx, ctx: Context, new: R, change: str, reason: str) -> None:
    said = {name: getattr(new, name) for name in (noun.words[0], "confidence")}
    events.record(tx, ctx, change=change, subject=new.id, what=noun.begins, new=said, reason=reason)


def redaction(kinds: Sequence[str]) -> str:
    """Name the redacted kinds of secrets, as the reason of an event."""
    return f"redacted: {', '.join(dict.fromkeys(kinds))}" if kinds else ""


def checked_reason(reason: str) -> str:
    if len(reason) > MOST_REASON:
        raise BadInput(f"the reason has {len(reason):,} characters; {MOST_REASON:,} is the most")
    return storable(reason)


def who(ctx: Context) -> str:
    return f"{ctx.actor.name} ({ctx.actor.trust}, {ctx.actor.channel})"


def has_room(tx: Tx, ctx: Context) -> bool:
    """Whether the caller may put another item into the inbox: a caller from outside may not flood it."""
    if ctx.actor.trust != "external":
        return True
    theirs = [item for item in events.waiting_escalations(tx) if item.detail.get("by") == who(ctx)]
    return len(theirs) < MOST_PROPOSALS


def proposed_on(noun: Noun[R], before: R, given: Mapping[str, Any]) -> dict[str, Any]:
    """The values that a proposal would replace, or its subject's words and status, as its caller found them."""
    replaced = [name for name in given.get("changes", given) if name in noun.state] or ["status", *noun.words]
    return {name: plain(getattr(before, name), name) for name in replaced}


def propose(
    tx: Tx,
    ctx: Context,
    noun: str,
    verb: str,
    id: str,
    given: Mapping[str, Any],
    *,
    was: Mapping[str, Any] | None = None,
) -> Proposed:
    """Put a change into the inbox; the caller raises the returned error after the commit.

    `was` is what the caller found: a change since then makes the proposal void.
    """
    given = plain(dict(given))
    by = who(ctx)
    if not has_room(tx, ctx):
        raise Refused(f"{MOST_PROPOSALS} items of {ctx.actor.name} wait already; a person answers them first")
    words = "; ".join(f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in given.items())
    digest = content_hash(json.dumps([verb, given], sort_keys=True))[:8]
    new = events.raise_escalation(
        tx,
        kind=PROPOSAL,
        subject=id,
        other=f"{PROPOSAL}/{digest}",
        reason=clip(f"{by} proposes to {verb} this {noun}. {words}", SHOWN_WORDS),
        detail={"by": by, "noun": noun, "verb": verb, "given": given, "old": words, "was": dict(was or {})},
        at=ctx.clock.now(),
    )
    if new:
        events.record(tx, ctx, subject=id, what="proposal.made", new={"verb": verb})
    return Proposed(f"{id} is more trusted than you, so nothing changed; your change waits in the inbox for a person")


def check_version(before: Learning | Decision, expect: int | None) -> None:
    if expect is not None and before.version != expect:
        raise Stale(
            f"{before.id} is at version {before.version}, you edited version {expect!r}; "
            "read it again and repeat your edit. Nothing was overwritten"
        )
