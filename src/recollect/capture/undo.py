"""Undo: taking back the caller's newest change, or one that is named, to learnings, decisions, topics or the log.

What agents did is also a person's to take back. A newer edit is never lost, and undoing again goes one further back.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial
from typing import Any

from recollect.capture import log, log_text, topics
from recollect.capture.change import Noun, R, save
from recollect.capture.decide import DECISION
from recollect.capture.edit import LEARNING, MOVED
from recollect.capture.learn import ARRIVED
from recollect.core.clock import parse_time
from recollect.core.context import PROJECT, Actor, Context, Event, Tx
from recollect.core.decision import Bridge, Decision, Reason
from recollect.core.errors import Forbidden, Refused, Stale
from recollect.core.journal import Entry
from recollect.core.learning import Learning
from recollect.core.records import plain, replace
from recollect.core.trust import outranks
from recollect.store import events, learnings
from recollect.store.topics import TopicRow

Undone = list[Learning] | list[Decision] | list[TopicRow] | list[Entry]


def undo(ctx: Context, *, change: str = "") -> Undone:
    """Take back the caller's newest change, in the project or a ring, or the one named here; of a move both halves."""
    skipped: list[str] = []
    here = partial(_newest, by=ctx.actor, change=change, but=skipped)
    while True:
        found = [(PROJECT, ctx.read(here, mine=lambda event: bool(change) or _is_own(event, ctx.actor)))]
        if not skipped:  # what is older than another project's move in a ring may be that project's, too
            mine = partial(here, mine=lambda event: event.who == ctx.actor.name, files=False)
            found += ctx.rings.ask(ctx, lambda ring, mine=mine: ring.read(mine))  # type: ignore[misc]
        known = [(name, last) for name, last in found if last]
        if not known or (change and known[0][0] != PROJECT):
            if not change and (other := ctx.read(here)):
                raise _not_own(other, ctx.actor)
            raise Refused("that change was undone already" if change else "there is nothing to undo")
        # Of a move within one millisecond, leaving the source is the later half.
        name, last = max(known, key=lambda pair: (pair[1].at, pair[1].what == MOVED))
        if last.what not in (MOVED, ARRIVED):
            return _taken_back(_space(ctx, name), last)
        # Another of the person's agents may have moved the half in a ring.
        half = partial(_newest, by=ctx.actor, change=last.change, files=False)
        both = [(PROJECT, ctx.read(half)), *ctx.rings.ask(ctx, lambda ring, half=half: ring.read(half))]  # type: ignore[misc]
        halves = [(name, event) for name, event in both if event and event.what in (MOVED, ARRIVED)]
        if PROJECT in dict(halves) or len(halves) == 2:
            break
        skipped.append(last.change)  # a move between a ring and another project, which takes it back whole
    if len(halves) == 1 and (broken := ctx.rings.left_out):
        raise Refused(f"the last change is a move, and ring {', '.join(broken)} cannot be read now; try again later")
    for name, half in halves:
        if half.what == ARRIVED and (gone := _space(ctx, name).read(learnings.get, half.subject).out_of_use):
            raise Refused(f"{half.subject} in ring {name} is {gone}; undo that first, where it was done")
    halves.sort(key=lambda pair: pair[1].what == MOVED)  # cut off between the two, it can be taken back again
    restored = [_taken_back(_space(ctx, name), half) for name, half in halves]
    return [each for half in reversed(restored) for each in half]  # type: ignore[return-value]


def _space(ctx: Context, name: str) -> Context:
    return ctx if name == PROJECT else ctx.rings.named(ctx, name)  # a caller of the server may use no other


def _is_own(event: Event, by: Actor) -> bool:
    """Whether a caller takes it back without naming it. A person answers for what agents did, and moves learnings to
    rings under more than one name."""
    return event.who == by.name or (by.trust == "human" and (event.trust != "human" or event.what in (MOVED, ARRIVED)))


def _not_own(last: Event, by: Actor) -> Forbidden:
    theirs = last.who if by.trust == "human" or last.trust != "human" else "a person"
    also = "" if last.trust == "human" else " or a person"
    return Forbidden(f"{theirs} made the last change, so only {theirs}{also} may take it back")


def _newest(
    tx: Tx,
    *,
    by: Actor,
    change: str = "",
    mine: Callable[[Event], bool] = lambda _: True,
    but: Collection[str] = (),
    files: bool = True,
) -> Event | None:
    """The last event of the newest change that is `mine`, or of the change named.

    Without `files` none to topics and logs, which are undone in the folder of their space.
    """
    look = partial(events.last_undoable, tx, change=change, mine=mine, but=but)
    found = [look(noun.name, besides=noun.unasked) for noun in (LEARNING, DECISION)]
    if files:
        found.append(look("topic"))
        if by.trust == "human":  # what an agent wrote is taken back by its change alone
            persons = mine if change else lambda event: event.trust == "human" and mine(event)
            found.append(look("log", besides=(log_text.ACCEPTED,), mine=persons))
    return max((each[-1] for each in found if each), key=lambda event: event.seq, default=None)


def _taken_back(ctx: Context, last: Event) -> Undone:
    noun = last.what.partition(".")[0]
    if noun in ("topic", "log"):
        return topics.undo(ctx, named=last.change) if noun == "topic" else log.undo(ctx, last)
    named = last.change
    return undo_noun(LEARNING, ctx, named=named) if noun == "learning" else undo_noun(DECISION, ctx, named=named)


def undo_noun(noun: Noun[R], ctx: Context, *, named: str = "") -> list[R]:
    """Take back the caller's last change, or the one named."""
    with ctx.db.write(ctx.space) as tx:
        look = partial(events.last_undoable, tx, noun.name, besides=noun.unasked)
        change = look(change=named) if named else look(mine=lambda event: _is_own(event, ctx.actor)) or look()
        if not change:
            raise Refused("that change was undone already" if named else "there is nothing to undo")
        if any(outranks(event.trust, ctx.actor.trust) for event in change):  # an undo could set a confidence
            by_person = any(event.trust == "human" for event in change)
            by, may = ("a person", "a person") if by_person else ("an agent", "an agent or a person")
            raise Forbidden(f"{by} made the last change, so only {may} may take it back")
        if not named and not _is_own(change[-1], ctx.actor):
            raise _not_own(change[-1], ctx.actor)
        undo_id, what = ctx.ids("change"), f"{noun.name}.undone"
        restored: list[R] = []
        for event in reversed(change):
            current = before = noun.get(tx, event.subject)
            if event.what == noun.begins:
                since = events.of(tx, event.subject)
                if any(one.what.startswith(f"{noun.name}.") and outranks(one.trust, ctx.actor.trust) for one in since):
                    raise Forbidden(
                        f"{event.subject} was changed since by someone more trusted; it is theirs to archive"
                    )
            else:
                if any(plain(getattr(current, name), name) != event.new[name] for name in _moved(noun, event.new)):
                    raise Stale(f"{event.subject} was changed since; undo would lose that. Edit it instead")
                state = {name: _unplain(name, event.old[name]) for name in _moved(noun, event.old)}
                before = replace(current, **state)
            before = noun.undone(tx, ctx, event, before)
            save(noun, tx, ctx, current, before, what, undo_id, _undo_of(event))
            restored.append(noun.get(tx, event.subject))
        if not events.happened(tx, undo_id):  # nothing changed; the event lets the next undo go further back
            events.record(tx, ctx, change=undo_id, subject=change[0].subject, what=what, reason=_undo_of(change[0]))
        return restored


def _undo_of(event: Event) -> str:
    return f"undo of {event.what} ({event.change})"


def _moved(noun: Noun[R], values: Mapping[str, Any]) -> list[str]:
    return [name for name in values if name in noun.state]


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
