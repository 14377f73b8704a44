"""The life of a learning after capture: list, edit, tag, archive, restore, supersede, merge, pin, adopt, undo.

Every change is versioned and leaves an event with the state before and after, which undo goes back to. Also the checks
of version, trust and undo that decisions share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from recollect.core.choices import STATUSES, Trust
from recollect.core.context import Context, Event, Tx, lowest
from recollect.core.decision import Decision
from recollect.core.errors import BadInput, Forbidden, Refused, Stale
from recollect.core.learning import COIA, Injection, Learning
from recollect.core.new_learning import TAG_LIMIT, LearningEdit, check_content, check_tags
from recollect.core.records import check_page
from recollect.core.values import thousandths
from recollect.store import events, tasks
from recollect.store import learnings as rows
from recollect.text.markers import Coia
from recollect.text.storable import storable, storable_record


def check_trust(ctx: Context, trust: Trust) -> None:
    """Refuse any trust but external, and agent where a person vouches."""
    if trust not in ("external", "agent"):
        raise BadInput(f"trust must be external or agent, not {trust!r}")
    if trust == "agent" and ctx.actor.trust != "human":
        raise Forbidden("only a person may vouch for what comes from outside; run this from your own terminal")


WORDS = ("title", *COIA)  # what an agent is shown, so the author of these decides the trust
LABELS = ("tags", "domain", "pattern_type")
# The fields that an edit may change and undo restores. Counters of what happened are not among them.
STATE = (*WORDS, *LABELS, "confidence", "status", "superseded_by", "pinned", "trust", "recurrence")


def page(
    ctx: Context,
    *,
    status: str = "active",
    domain: str | None = None,
    tag: str | None = None,
    min_confidence: float = 0.0,
    sort: str = "newest",
    limit: int = 50,
    offset: int = 0,
) -> tuple[list[Learning], int]:
    """A page of learnings and how many there are in all."""
    if sort not in rows.SORTS:
        raise BadInput(f"sort must be one of {', '.join(rows.SORTS)}, not {sort!r}")
    if status not in (*STATUSES, "all"):
        raise BadInput(f"status must be one of {', '.join(STATUSES)} or all, not {status!r}")
    check_page(limit, offset)
    return ctx.read(
        rows.listed,
        status=None if status == "all" else status,
        domain=domain,
        tag=None if tag is None else tag.strip().lower(),  # as tags are stored
        min_confidence=thousandths(min_confidence, "min confidence"),
        sort=sort,
        limit=limit,
        offset=offset,
    )


def history(ctx: Context, id: str) -> list[Event]:
    """How a learning's confidence moved, oldest first."""
    with ctx.db.read(ctx.space) as tx:
        rows.get(tx, id)
        return [event for event in events.of(tx, id) if "confidence" in event.new]


def injections(ctx: Context, id: str) -> list[Injection]:
    """Where a learning was shown, newest first."""
    with ctx.db.read(ctx.space) as tx:
        rows.get(tx, id)
        return tasks.injections_of_learning(tx, id)


def edit(ctx: Context, id: str, changes: LearningEdit, *, expect: int | None = None) -> Learning:
    """Change fields. With `expect` (the version you read) the edit is refused when the learning changed since."""
    given = storable_record(changes)[0].given
    if "confidence" in given:
        if ctx.actor.trust != "human":
            raise Forbidden("only a person sets a confidence; an agent says what helped: recollect learn rate")
        given["confidence"] = thousandths(given["confidence"]) / 1000

    def change(tx: Tx, learning: Learning) -> Learning:
        after = replace(learning, **given)
        if after.status == "archived" and learning.status == "superseded":
            raise Refused(f"{id} is superseded by {learning.superseded_by}; it is out of use already")
        if after.status == "active":
            after = replace(after, superseded_by=None)
        after = _aging_again(tx, ctx, learning, after)
        rewritten = any(getattr(after, name) != getattr(learning, name) for name in WORDS)
        return replace(after, trust=lowest(learning.trust, ctx.actor.trust)) if rewritten else after

    return _changed(ctx, id, "learning.edited", change, expect=expect)


def reword(ctx: Context, id: str, said: Coia, *, origin: str, expect: int) -> Learning:
    """Replace an observer's first words by better ones."""
    words, _ = storable_record(LearningEdit(**{name: getattr(said, name) for name in (*WORDS, "tags", "domain")}))

    def change(tx: Tx, learning: Learning) -> Learning:
        rows.set_origin(tx, id, origin)
        return replace(learning, **{**words.given, "domain": words.domain}, trust=lowest(learning.trust, "agent"))

    return _changed(ctx, id, "learning.reworded", change, expect=expect, reason=origin)


def retag(ctx: Context, id: str, *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Learning:
    """Add and remove tags."""
    check_tags(remove)
    gone = {tag.strip().lower() for tag in remove}
    more = storable_record(LearningEdit(tags=add))[0].tags or ()

    def change(_: Tx, learning: Learning) -> Learning:
        kept = [tag for tag in learning.tags if tag not in gone]
        return replace(learning, tags=tuple(dict.fromkeys((*kept, *more))))

    return _changed(ctx, id, "learning.tagged", change)


def archive(ctx: Context, id: str, *, reason: str = "", expect: int | None = None) -> Learning:
    """Archive a learning: it is no longer found or injected, and never deleted."""

    def change(_: Tx, learning: Learning) -> Learning:
        if learning.status == "superseded":
            raise Refused(f"{id} is superseded by {learning.superseded_by}; it is out of use already")
        return replace(learning, status="archived")

    return _changed(ctx, id, "learning.archived", change, expect=expect, reason=reason)


def restore(ctx: Context, id: str) -> Learning:
    """Bring an archived or superseded learning back into use."""

    def change(tx: Tx, learning: Learning) -> Learning:
        return _aging_again(tx, ctx, learning, replace(learning, status="active", superseded_by=None))

    return _changed(ctx, id, "learning.restored", change)


def supersede(ctx: Context, old: str, new: str, *, reason: str = "", expect: int | None = None) -> Learning:
    """Mark `old` as replaced by `new`. A chain that would come back to itself is refused."""

    def change(tx: Tx, learning: Learning) -> Learning:
        successor = rows.get(tx, new)
        if new == old:
            raise Refused(f"{old} cannot replace itself")
        if old in rows.successors(tx, new):
            raise Refused(f"{new} is itself replaced by {old}; restore one of them first")
        if successor.status == "archived":
            raise Refused(f"{new} is archived; restore it before it replaces another")
        _check_in_use(successor, instead_of=learning)
        return replace(learning, status="superseded", superseded_by=new)

    return _changed(ctx, old, "learning.superseded", change, expect=expect, reason=reason)


def merge(ctx: Context, keep: str, other: str, *, reason: str = "", expect: int | None = None) -> Learning:
    """Merge two learnings that say the same: `keep` takes the other's tags, sources and recurrence and replaces it."""
    change_id, reason = ctx.ids("change"), storable(reason)
    with ctx.db.write(ctx.space) as tx:
        taker, gone = rows.get(tx, keep), rows.get(tx, other)
        check_version(taker, expect)
        if keep == other:
            raise Refused(f"{keep} cannot be merged with itself")
        if gone.status == "superseded":
            raise Refused(f"{other} is already superseded by {gone.superseded_by}")
        if taker.status != "active":
            raise Refused(f"{keep} is {taker.status}; restore it before it takes in another")
        _check_in_use(taker, instead_of=gone)
        own = rows.sources_of(tx, keep)
        for source in rows.sources_of(tx, other):
            rows.add_source(tx, keep, source)
        tags = tuple(dict.fromkeys((*taker.tags, *gone.tags)))[:TAG_LIMIT]
        merged = replace(taker, tags=tags, recurrence=taker.recurrence + gone.recurrence)
        _save(
            tx,
            ctx,
            taker,
            merged,
            "learning.merged",
            change_id,
            reason or f"took in {other}",
            sources=len(own),
        )
        superseded = replace(gone, status="superseded", superseded_by=keep)
        _save(tx, ctx, gone, superseded, "learning.superseded", change_id, reason or f"merged into {keep}")
        return rows.get(tx, keep)


def _check_in_use(successor: Learning, *, instead_of: Learning) -> None:
    """Refuse an external successor: it is not injected, so agents would be shown neither."""
    if successor.trust == "external" and instead_of.trust != "external":
        raise Refused(f"{successor.id} came from outside; adopt it first: recollect learn adopt {successor.id}")


def pin(ctx: Context, id: str, *, on: bool = True) -> Learning:
    """Pinned: never decayed or archived by the machine."""

    def change(tx: Tx, learning: Learning) -> Learning:
        return _aging_again(tx, ctx, learning, replace(learning, pinned=on))

    return _changed(ctx, id, "learning.pinned" if on else "learning.unpinned", change)


def adopt(ctx: Context, id: str, *, expect: int | None = None) -> Learning:
    """Vouch for an external learning, so that it may be injected; only a person can."""
    check_trust(ctx, "agent")
    return _changed(ctx, id, "learning.adopted", lambda _, learning: _vouched_for(learning), expect=expect)


def adopt_known(tx: Tx, ctx: Context, id: str, *, change: str, reason: str) -> None:
    """The same as part of an import; whether a person vouches was checked when the import began."""
    before = rows.get(tx, id)
    person = ctx.trusted_as("human")
    _save(tx, person, before, _vouched_for(before), "learning.adopted", change, reason)


def _vouched_for(learning: Learning) -> Learning:
    return replace(learning, trust="agent") if learning.trust == "external" else learning


def undo_learning(ctx: Context) -> list[Learning]:
    """Take back the last change to learnings. Undoing again goes one further back; a newer edit is never lost."""
    with ctx.db.write(ctx.space) as tx:
        change = last_undoable(tx)
        check_undo(ctx, change)
        undo_id = ctx.ids("change")
        restored = []
        for event in reversed(change):
            current = rows.get(tx, event.subject)
            created = event.what == "learning.created"
            before: dict[str, Any] = {"status": "archived", "superseded_by": None} if created else event.old
            moved = {} if created else {name: value for name, value in event.new.items() if name in STATE}
            if any(_shown(getattr(current, name)) != value for name, value in moved.items()):
                raise Stale(f"{event.subject} was changed since; undo would lose that. Edit it instead")
            state: dict[str, Any] = {name: value for name, value in before.items() if name in STATE}
            if "tags" in state:
                state["tags"] = tuple(state["tags"])
            if "sources" in before:
                rows.keep_first_sources(tx, event.subject, count=before["sources"])
            after = _aging_again(tx, ctx, current, replace(current, **state))
            _save(tx, ctx, current, after, "learning.undone", undo_id, f"undo of {event.what} ({event.change})")
            restored.append(rows.get(tx, event.subject))
        if not events.happened(tx, undo_id):  # nothing changed; the event lets the next undo go further back
            reason = f"undo of {change[0].what} ({change[0].change})"
            events.record(tx, ctx, change=undo_id, subject=change[0].subject, what="learning.undone", reason=reason)
        return restored


def check_version(before: Learning | Decision, expect: int | None) -> None:
    """Refuse a change that was based on another version."""
    if expect is not None and before.version != expect:
        raise Stale(
            f"{before.id} is at version {before.version}, you edited version {expect!r}; "
            "read it again and repeat your edit. Nothing was overwritten"
        )


def check_undo(ctx: Context, change: list[Event]) -> None:
    """Refuse an undo of nothing, and an agent's undo of a person's change: it could set a confidence that way."""
    if not change:
        raise Refused("there is nothing to undo")
    if ctx.actor.trust != "human" and any(event.trust == "human" for event in change):
        raise Forbidden("a person made the last change, so only a person may take it back")


def _aging_again(tx: Tx, ctx: Context, before: Learning, after: Learning) -> Learning:
    """When a change lets a learning decay again, start at now: the time before does not count."""
    if (after.status == "active" != before.status) or (before.pinned and not after.pinned):
        rows.set_decayed(tx, after.id, stored=round(after.confidence * 1000), until=ctx.clock.now())
    return after


def _changed(
    ctx: Context,
    id: str,
    what: str,
    change: Callable[[Tx, Learning], Learning],
    *,
    expect: int | None = None,
    reason: str = "",
) -> Learning:
    with ctx.db.write(ctx.space) as tx:
        before = rows.get(tx, id)
        check_version(before, expect)
        _save(tx, ctx, before, change(tx, before), what, ctx.ids("change"), storable(reason))
        return rows.get(tx, id)


def _save(
    tx: Tx,
    ctx: Context,
    before: Learning,
    after: Learning,
    what: str,
    change: str,
    reason: str,
    *,
    sources: int | None = None,
) -> None:
    """Write what differs, with its event; without a difference nothing is written.

    `sources` is the number of sources before the change, when it added some.
    """
    old = {name: getattr(before, name) for name in STATE}
    new = {name: getattr(after, name) for name in STATE}
    moved = [name for name in STATE if old[name] != new[name]]
    if not moved:
        return
    if before.pinned and ctx.actor.trust != "human" and _pinned_by(tx, before.id) == "human":
        raise Forbidden(f"a person pinned {before.id}, so only a person may change it; log what you found instead")
    fields = {name: getattr(after, name) for name in COIA}
    check_content(after.title, fields, after.tags, after.domain)
    after = replace(after, version=before.version + 1, updated_at=ctx.clock.now())
    rows.save(tx, after, expect=before.version)
    events.record(
        tx,
        ctx,
        change=change,
        subject=before.id,
        what=what,
        old={name: _shown(old[name]) for name in moved} | ({"sources": sources} if sources is not None else {}),
        new={name: _shown(new[name]) for name in moved},
        reason=reason,
    )


def last_undoable(tx: Tx) -> list[Event]:
    """The newest change to learnings that was not undone; empty when there is none."""
    return events.last_undoable(tx, "learning", besides=("learning.injected", "learning.recurred"))


def _pinned_by(tx: Tx, id: str) -> Trust:
    """The trust of the last pin; an import leaves no event of it, and a person runs imports."""
    pins = [event.trust for event in events.of(tx, id) if event.new.get("pinned")]
    return pins[-1] if pins else "human"


def _shown(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
