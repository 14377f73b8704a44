"""The life of a learning after capture: list, edit, tag, archive, restore, supersede, merge, pin.

`capture/change.py` asks who may and writes the change with its event; `capture/undo.py` takes it back.
"""

from __future__ import annotations

from functools import partial

from recollect.capture.change import Noun, changed, check_version, checked_reason, propose, proposed_on, save
from recollect.core.choices import STATUSES
from recollect.core.context import TRUSTS, Context, Event, Tx, lowest
from recollect.core.errors import Forbidden, Refused
from recollect.core.learning import COIA, Injection, Learning
from recollect.core.new_learning import TAG_LIMIT, LearningEdit, check_content, check_tags
from recollect.core.records import check_choice, check_page, replace, thousandths
from recollect.core.trust import PROPOSED, check_may
from recollect.store import db, events, tasks
from recollect.store import learnings as rows
from recollect.text.markers import Coia
from recollect.text.storable import storable_record

WORDS = ("title", *COIA)  # what an agent is shown, so the author of these decides the trust
LABELS = ("tags", "domain", "pattern_type")
MOVED = "learning.moved_out"  # archived here, and read from another ring now
_VERBS = {**dict.fromkeys(LABELS, "label"), "status": "archive", "pinned": "pin", "confidence": "label"}
# What an edit may change and undo restores: no counters.
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
    rows.checked_sort(sort)
    check_choice(status, "status", (*STATUSES, "all"))
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
        return _aging_again(tx, ctx, learning, after)

    def verbs(learning: Learning) -> list[str]:
        """The same text again is no edit: a form sends every field."""
        moved = [name for name, value in given.items() if getattr(learning, name) != value]
        return list(dict.fromkeys(_VERBS.get(name, "edit") for name in moved))

    return _changed(ctx, id, "learning.edited", change, verbs=verbs, given={"changes": given}, expect=expect)


def reword(ctx: Context, id: str, said: Coia, *, origin: str, expect: int) -> Learning:
    """Replace an observer's first words by better ones."""
    words, _ = storable_record(LearningEdit(**{name: getattr(said, name) for name in (*WORDS, "tags", "domain")}))

    def change(tx: Tx, learning: Learning) -> Learning:
        rows.set_origin(tx, id, origin)
        return replace(learning, **{**words.given, "domain": words.domain}, trust=lowest(learning.trust, "agent"))

    return _changed(ctx, id, "learning.reworded", change, verbs=("edit",), expect=expect, reason=origin)


def retag(ctx: Context, id: str, *, add: tuple[str, ...] = (), remove: tuple[str, ...] = ()) -> Learning:
    check_tags(remove)
    gone = {tag.strip().lower() for tag in remove}
    more = storable_record(LearningEdit(tags=add))[0].tags or ()

    def change(_: Tx, learning: Learning) -> Learning:
        kept = [tag for tag in learning.tags if tag not in gone]
        return replace(learning, tags=tuple(dict.fromkeys((*kept, *more))))

    given = {"add": list(more), "remove": sorted(gone)}
    return _changed(ctx, id, "learning.tagged", change, verbs=("label",), given=given)


def archive(
    ctx: Context, id: str, *, reason: str = "", expect: int | None = None, what: str = "learning.archived"
) -> Learning:
    """Archive a learning: it is no longer found or injected, and never deleted. `what` is the kind of its event."""

    def change(_: Tx, learning: Learning) -> Learning:
        if learning.status == "superseded":
            raise Refused(f"{id} is superseded by {learning.superseded_by}; it is out of use already")
        return replace(learning, status="archived")

    given = {"reason": checked_reason(reason)}
    return _changed(ctx, id, what, change, verbs=("archive",), given=given, expect=expect, reason=reason)


def restore(ctx: Context, id: str) -> Learning:
    def change(tx: Tx, learning: Learning) -> Learning:
        return _aging_again(tx, ctx, learning, replace(learning, status="active", superseded_by=None))

    return _changed(ctx, id, "learning.restored", change, verbs=("restore",))


def supersede(ctx: Context, old: str, new: str, *, reason: str = "", expect: int | None = None) -> Learning:
    """Mark `old` as replaced by `new`. A chain that would come back to itself is refused."""

    def change(tx: Tx, learning: Learning) -> Learning:
        successor = rows.get(tx, new)
        if new == old:
            raise Refused(f"{old} cannot replace itself")
        if old in db.successors(tx, "learnings", new):
            raise Refused(f"{new} is itself replaced by {old}; restore one of them first")
        if successor.status == "archived":
            raise Refused(f"{new} is archived; restore it before it replaces another")
        _check_in_use(successor, instead_of=learning)
        return replace(learning, status="superseded", superseded_by=new)

    given = {"new": new, "reason": checked_reason(reason)}
    return _changed(
        ctx, old, "learning.superseded", change, verbs=("supersede",), given=given, expect=expect, reason=reason
    )


def merge(ctx: Context, keep: str, other: str, *, reason: str = "", expect: int | None = None) -> Learning:
    """Merge two learnings that say the same: `keep` takes the other's tags, sources and recurrence and replaces it."""
    change_id, reason = ctx.ids("change"), checked_reason(reason)
    with ctx.db.write(ctx.space) as tx:
        taker, gone = rows.get(tx, keep), rows.get(tx, other)
        check_version(taker, expect)
        highest = min(taker.trust, gone.trust, key=TRUSTS.index)
        if check_may(ctx.actor.trust, LEARNING.name, "merge", highest) != PROPOSED:
            _merge(tx, ctx, taker, gone, change_id, reason)
            return rows.get(tx, keep)
        given = {"other": other, "reason": reason}
        waits = propose(tx, ctx, LEARNING.name, "merge", keep, given, was=proposed_on(LEARNING, taker, given))
    raise waits


def _merge(tx: Tx, ctx: Context, taker: Learning, gone: Learning, change: str, reason: str) -> None:
    keep, other = taker.id, gone.id
    if keep == other:
        raise Refused(f"{keep} cannot be merged with itself")
    if gone.status == "superseded":
        raise Refused(f"{other} is already superseded by {gone.superseded_by}")
    if taker.status != "active":
        raise Refused(f"{keep} is {taker.status}; restore it before it takes in another")
    _check_in_use(taker, instead_of=gone)
    own = {"sources": len(rows.sources_of(tx, keep))}
    for source in rows.sources_of(tx, other):
        rows.add_source(tx, keep, source)
    tags = tuple(dict.fromkeys((*taker.tags, *gone.tags)))[:TAG_LIMIT]
    merged = replace(taker, tags=tags, recurrence=taker.recurrence + gone.recurrence)
    save(LEARNING, tx, ctx, taker, merged, "learning.merged", change, reason or f"took in {other}", also=own)
    superseded = replace(gone, status="superseded", superseded_by=keep)
    save(LEARNING, tx, ctx, gone, superseded, "learning.superseded", change, reason or f"merged into {keep}")


def _check_in_use(successor: Learning, *, instead_of: Learning) -> None:
    """Refuse an external successor: it is not injected, so agents would be shown neither."""
    if successor.trust == "external" and instead_of.trust != "external":
        raise Refused(f"{successor.id} came from outside; adopt it first: recollect learn adopt {successor.id}")


def pin(ctx: Context, id: str, *, on: bool = True) -> Learning:
    """Pin a learning: the machine neither decays nor archives it."""

    def change(tx: Tx, learning: Learning) -> Learning:
        return _aging_again(tx, ctx, learning, replace(learning, pinned=on))

    return _changed(ctx, id, "learning.pinned" if on else "learning.unpinned", change, verbs=("pin",))


def _aging_again(tx: Tx, ctx: Context, before: Learning, after: Learning) -> Learning:
    """Decay starts at now when a change lets a learning decay again: the time before does not count."""
    if (after.status == "active" != before.status) or (before.pinned and not after.pinned):
        rows.set_decayed(tx, after.id, stored=round(after.confidence * 1000), until=ctx.clock.now())
    return after


def _check(tx: Tx, ctx: Context, before: Learning, after: Learning) -> None:
    pins = [event.trust for event in events.of(tx, before.id) if event.new.get("pinned")] if before.pinned else []
    # An import writes no event of a pin, but a person ran it.
    if before.pinned and ctx.actor.trust != "human" and (pins or ["human"])[-1] == "human":
        raise Forbidden(f"a person pinned {before.id}, so only a person may change it; log what you found instead")
    check_content(after.title, {name: getattr(after, name) for name in COIA}, after.tags, after.domain)


def _undone(tx: Tx, ctx: Context, event: Event, before: Learning) -> Learning:
    """Undoing a capture archives the learning; undoing a merge gives back the sources."""
    if event.what == LEARNING.begins:
        before = replace(before, status="archived", superseded_by=None)
    if "sources" in event.old:
        rows.keep_first_sources(tx, event.subject, count=event.old["sources"])
    return _aging_again(tx, ctx, rows.get(tx, event.subject), before)


LEARNING = Noun(
    name="learning",
    get=rows.get,
    save=rows.save,
    state=STATE,
    words=WORDS,
    begins="learning.created",
    unasked=("learning.injected", "learning.recurred"),
    checked=_check,
    undone=_undone,
)
_changed = partial(changed, LEARNING)
