"""Moving a learning between rings, undoing the last change in any, and proposing what a person may want in their own
ring: entries about the person, and insights that came up in three projects.

A cycle only proposes; the person answers in the inbox. Other projects tell only how many of them know an insight. A
move writes the target first, then archives the source: a move that was cut off leaves both, and moving again merges
them. A learning takes along what it earned; the tasks and outcomes that it came from stay behind.
"""

from __future__ import annotations

from functools import partial

from recollect.capture import log, logs
from recollect.capture.decide import Undone, newest_undoable, undo_newest
from recollect.capture.edit import MOVED, archive
from recollect.capture.learn import Captured, known_insight, learn
from recollect.core.context import ME, PROJECT, Context, Event, Tx
from recollect.core.errors import Refused
from recollect.core.journal import NewEntry
from recollect.core.learning import COIA
from recollect.core.new_learning import NewLearning
from recollect.core.records import replace
from recollect.core.trust import check_may
from recollect.store import events, journal, sessions
from recollect.store import learnings as rows
from recollect.store.events import Escalation

ABOUT_PERSON, IN_PROJECTS = "about-you", "known-elsewhere"
PROJECTS = 3  # in which the same insight came up, this one included
LOOKED_AT = 20  # new learnings that one cycle asks other projects about; asking one takes milliseconds for each
OPEN = 5  # proposals of a kind that may wait at once: an inbox of fifty is not read
_SEEN = "rings"
ARRIVED = "learning.moved"
CARRIED = ("title", *COIA, "tags", "domain", "pattern_type")


def propose(ctx: Context) -> int:
    """Put what is new since the last cycle before the person; gives how many proposals that made."""
    if not ctx.rings.has_me:
        return 0
    now, made = ctx.clock.now(), 0
    since = min(int(ctx.read(journal.state, _SEEN) or 0), now)  # it is later where the clock was ahead
    entries = ctx.read(sessions.entries_of_types, ("user",), limit=OPEN, since=since)
    new, _ = ctx.read(
        rows.listed, status="active", domain=None, tag=None, min_confidence=0, sort="newest", limit=LOOKED_AT, offset=0
    )
    new = [one for one in new if one.created_at > since and one.trust != "external"]
    others = ctx.rings.count_elsewhere(lambda tx: [known_insight(tx, one, "agent") is not None for one in new])
    with ctx.db.write(ctx.space) as tx:
        for entry in entries[: OPEN - _open(tx, ABOUT_PERSON)]:
            detail = {"title": entry.title, "text": entry.text[:300]}
            reason = "it is about you rather than this project"
            made += events.raise_escalation(
                tx, kind=ABOUT_PERSON, subject=entry.id, reason=reason, detail=detail, at=now
            )
        wanted = [(one, count + 1) for one, count in zip(new, others, strict=False) if count + 1 >= PROJECTS]
        for one, count in wanted[: OPEN - _open(tx, IN_PROJECTS)]:
            reason = f"the same insight came up in {count} of your projects"
            made += events.raise_escalation(
                tx, kind=IN_PROJECTS, subject=one.id, reason=reason, detail={"title": one.title}, at=now
            )
        journal.put_state(tx, _SEEN, str(now))
    return made


def _open(tx: Tx, kind: str) -> int:
    return min(sum(item.kind == kind for item in events.waiting_escalations(tx)), OPEN)


def entry_to_me(ctx: Context, item: Escalation) -> None:
    bring_entry(ctx, item.subject, ctx.rings.named(ctx, ME))


def learning_to_me(ctx: Context, item: Escalation) -> None:
    move(ctx, item.subject, ctx.rings.named(ctx, ME), to=ME)


def move(ctx: Context, id: str, target: Context, *, to: str) -> Captured:
    """Move a learning from the space of `ctx` to another; `to` is what people call that. It keeps its trust.

    Both spaces record it under one change id, by which `undo` finds both halves.
    """
    check_may(ctx.actor.trust, "learning", "move")
    learning = ctx.read(rows.get, id)
    if learning.status != "active":
        raise Refused(f"{id} is {learning.out_of_use}; restore it first")
    if target.space == ctx.space:
        raise Refused(f"{id} is in ring {to} already")
    ctx = ctx.as_one_change()
    target = replace(target, ids=ctx.ids)
    new = NewLearning(**{name: getattr(learning, name) for name in CARRIED})
    done = learn(target.trusted_as(learning.trust), new, anyway=True, origin="move")
    earned = {} if done.merged else {"confidence": learning.confidence}
    with target.db.write(target.space) as tx:
        if not done.merged:
            rows.count_verdict(
                tx,
                done.learning.id,
                helpful=learning.times_helpful,
                not_helpful=learning.times_not_helpful,
                stored=round(learning.confidence * 1000),
                at=target.clock.now(),
            )
        events.record(tx, target, subject=done.learning.id, what=ARRIVED, new=earned, reason="moved here")
    archive(ctx, id, reason=f"moved to ring {to} as {done.learning.id}", what=MOVED)
    return Captured(**{**vars(done), "learning": target.read(rows.get, done.learning.id)})


def undo(ctx: Context, *, change: str = "") -> Undone:
    """Take back the newest change (in a ring, the caller's newest) or the one named here; of a move both halves."""
    skipped: list[str] = []
    mine = partial(newest_undoable, by=ctx.actor, change=change, who=ctx.actor.name, but=skipped, files=False)
    while True:
        found = [(PROJECT, ctx.read(newest_undoable, by=ctx.actor, change=change, but=skipped))]
        found += ctx.rings.ask(ctx, lambda ring: ring.read(mine))
        known = [(name, last) for name, last in found if last]
        if not known or (change and known[0][0] != PROJECT):
            raise Refused("that change was undone already" if change else "there is nothing to undo")
        name, last = max(known, key=lambda pair: _later(pair[1]))
        if last.what not in (MOVED, ARRIVED):
            return undo_newest(_space(ctx, name), change=last.change)
        halves = [(name, half) for name, half in known if half.change == last.change and half.what in (MOVED, ARRIVED)]
        if PROJECT in dict(halves) or len(halves) == 2:
            break
        skipped.append(last.change)  # a move between a ring and another project, which takes it back whole
    if len(halves) == 1 and (broken := ctx.rings.left_out):
        raise Refused(f"the last change is a move, and ring {', '.join(broken)} cannot be read now; try again later")
    halves.sort(key=lambda pair: pair[1].what == MOVED)  # cut off between the two, it can be taken back again
    restored = [undo_newest(_space(ctx, name), change=last.change) for name, _ in halves]
    return [each for half in reversed(restored) for each in half]  # type: ignore[return-value]


def _space(ctx: Context, name: str) -> Context:
    return ctx if name == PROJECT else ctx.rings.named(ctx, name)  # a caller of the server may use no other


def _later(event: Event) -> tuple[int, bool]:
    """Of a move within one millisecond, leaving the source is the later half."""
    return event.at, event.what == MOVED


def bring_entry(ctx: Context, id: str, target: Context) -> str:
    """Log an entry in another ring too; logs are permanent, so it also stays where it is."""
    found = logs.entry(ctx, id)
    title, topic = (found.topic, None) if found.titled else (None, found.topic)
    again = NewEntry(text=found.text, title=title, topic=topic, type=found.type)
    return log.add(target.trusted_as(found.trust), again).id
