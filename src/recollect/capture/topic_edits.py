"""What people do with topics: list, show, rename, merge, split, close and open them, and take that back.

A topic may be given by its id, its name or an alias. A change is one event for each topic that it touched, with what
differs before and after; undo puts that back, unless the topic was changed since. Which topic an entry gets is in
`capture/topics.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from recollect.capture.topics import absorb, rename
from recollect.core.context import Context, Event, Tx
from recollect.core.errors import BadInput, Forbidden, Refused, Stale
from recollect.core.records import check_page, record
from recollect.core.trust import check_may, outranks
from recollect.store import events, passages
from recollect.store import topics as rows
from recollect.store.topics import TopicRow
from recollect.text.storable import storable
from recollect.text.topic_names import NAME_LIMIT
from recollect.text.topics import as_name, key_of

STATES = ("open", "done", "dormant")
SHOWN = 50  # entries of a topic that `show` lists, newest first
ALL = 1_000_000  # entries: more than a topic can have


@record
class TopicEntry:
    """An entry of a topic in short."""

    id: str
    title: str
    at: int


@record
class TopicView:
    """A topic with the other names it is known by and its latest entries."""

    topic: TopicRow
    aliases: tuple[str, ...]
    entries: tuple[TopicEntry, ...]


def page(ctx: Context, *, state: str | None = None, limit: int = 50, offset: int = 0) -> tuple[list[TopicRow], int]:
    """Topics by their latest mention, and how many there are in all."""
    if state is not None and state not in STATES:
        raise BadInput(f"state must be one of {', '.join(STATES)}, not {state!r}")
    check_page(limit, offset)
    return ctx.read(rows.listed, now=ctx.clock.now(), state=state, limit=limit, offset=offset)


def show(ctx: Context, topic: str, *, offset: int = 0) -> TopicView:
    """A topic with its entries, newest first; `offset` skips that many."""
    with ctx.db.read(ctx.space) as tx:
        found = find(tx, ctx, topic)
        stored = [passages.by_id(tx, entry) for entry, _ in rows.entries_of(tx, found.id, limit=SHOWN, offset=offset)]
        names = [alias for alias, key in rows.aliases(tx, found.id) if key != key_of(found.name)]
    entries = (TopicEntry(id=each.id, title=each.title, at=each.at) for each in stored if each)
    return TopicView(topic=found, aliases=tuple(names), entries=tuple(entries))


def find(tx: Tx, ctx: Context, topic: str) -> TopicRow:
    """A topic by its id, its name or an alias."""
    return rows.found(tx, topic, key_of(as_name(topic)), now=ctx.clock.now())


def renamed(ctx: Context, topic: str, name: str) -> TopicRow:
    """Call a topic something else. Its old name still leads to it."""
    wanted = _checked(name)

    def change(tx: Tx, one: TopicRow) -> None:
        _check_free(tx, wanted, of=one.id)
        rename(tx, one.id, wanted, by="person" if ctx.actor.trust == "human" else "model", keep=True)

    return _changed(ctx, "renamed", [topic], change)


def merged(ctx: Context, keep: str, other: str) -> TopicRow:
    """Put all entries of `other` under `keep`, to which its names and its id lead from now on."""

    def change(tx: Tx, one: TopicRow, gone: TopicRow) -> None:
        if one.id == gone.id:
            raise Refused(f"{one.name} cannot be merged with itself")
        absorb(tx, one.id, gone.id)

    return _changed(ctx, "merged", [keep, other], change)


def split(ctx: Context, topic: str, entries: Sequence[str], name: str) -> TopicRow:
    """Put some entries of a topic under a new one; gives the new one."""
    wanted, id = _checked(name), ctx.ids(rows.KIND)

    def change(tx: Tx, one: TopicRow) -> None:
        held = dict(rows.entries_of(tx, one.id, limit=ALL))
        foreign = [entry for entry in entries if entry not in held]
        if foreign or not entries:
            raise BadInput(f"give entries of {one.name}; {foreign[0] if foreign else 'none'} is not one")
        if len({*entries}) == len(held):
            raise Refused(f"these are all entries of {one.name}; rename it instead")
        _check_free(tx, wanted)
        rows.add(tx, id, name=wanted, key=key_of(wanted), named_by="person", at=min(held[each] for each in entries))
        rows.move(tx, entries, one.id, id)

    return _changed(ctx, "split", [topic], change, made=id)


def closed(ctx: Context, topic: str) -> TopicRow:
    """Say that a topic is done; its next mention opens it again."""
    return _changed(ctx, "closed", [topic], lambda tx, one: rows.change(tx, one.id, state="done"))


def opened(ctx: Context, topic: str) -> TopicRow:
    return _changed(ctx, "opened", [topic], lambda tx, one: rows.change(tx, one.id, state="open"))


def undo(ctx: Context, *, named: str = "") -> list[TopicRow]:
    """Take back the last change to topics, or the one named; a newer change is never lost."""
    with ctx.db.write(ctx.space) as tx:
        change = events.last_undoable(tx, rows.KIND, change=named)
        if not change:
            raise Refused("there is nothing to undo")
        if any(outranks(event.trust, ctx.actor.trust) for event in change):
            raise Forbidden("a person made the last change, so only a person may take it back")
        undone, id = f"undo of {change[0].what} ({change[0].change})", ctx.ids("change")
        gained = {entry: event.subject for event in change for entry in event.new.get("entries", ())}
        for event in change:
            now = _state(tx, event.subject)
            if any(now[name] != value for name, value in event.new.items() if name != "entries"):
                raise Stale(f"{event.subject} was changed since; undo would lose that. Change it instead")
        for event in change:
            _put_back(tx, event, gained)
            events.record(tx, ctx, change=id, subject=event.subject, what="topic.undone", reason=undone)
        left = dict.fromkeys(event.subject for event in change if event.old)
        return [rows.get(tx, subject, now=ctx.clock.now()) for subject in left]


def _put_back(tx: Tx, event: Event, gained: dict[str, str]) -> None:
    id = event.subject
    if not event.old:  # it was split off; its entries go back with the other's event
        return
    if values := {name: value for name, value in event.old.items() if name not in ("aliases", "entries")}:
        rows.change(tx, id, **values)
    moved = event.old.get("entries", ())
    for entry in moved:
        if entry in gained:
            rows.move(tx, [entry], gained[entry], id)
        else:  # it had both topics
            rows.also(tx, entry, id)
    for made in {gained[entry] for entry in moved if entry in gained}:
        if not rows.entries_of(tx, made, limit=1) and event.what == "topic.split":
            rows.remove(tx, made)
    if "aliases" in event.old:
        rows.put_aliases(tx, id, [(alias, key_of(alias)) for alias in event.old["aliases"]])


def _changed(ctx: Context, verb: str, given: Sequence[str], change: Callable[..., None], *, made: str = "") -> TopicRow:
    """Change topics and record what differs; gives the first of them, or the one that was made."""
    with ctx.db.write(ctx.space) as tx:
        check_may(ctx.actor.trust, rows.KIND, "edit")
        found = [find(tx, ctx, topic) for topic in given]
        before: dict[str, dict[str, Any]] = {topic.id: _state(tx, topic.id) for topic in found}
        change(tx, *found)
        id = ctx.ids("change")
        for subject in (*before, *([made] if made else [])):
            old, new = before.get(subject, {}), _state(tx, subject)
            differs = [name for name in new if old.get(name) != new[name]]
            gone = {name: old[name] for name in differs if name in old}
            came = {name: new[name] for name in differs}
            if "entries" in differs:
                gone["entries"] = sorted({*old.get("entries", ())} - {*new["entries"]})
                came["entries"] = sorted({*new["entries"]} - {*old.get("entries", ())})
            if differs:
                told = gone if subject in before else {}
                events.record(tx, ctx, change=id, subject=subject, what=f"topic.{verb}", old=told, new=came)
        return rows.get(tx, made or found[0].id, now=ctx.clock.now())


def _state(tx: Tx, id: str) -> dict[str, Any]:
    """What a change may touch of a topic."""
    return {
        **rows.columns(tx, id),
        "aliases": [alias for alias, _ in rows.aliases(tx, id)],
        "entries": [entry for entry, _ in rows.entries_of(tx, id, limit=ALL)],
    }


def _checked(name: str) -> str:
    wanted = as_name(storable(name))
    if not wanted or len(name.strip()) > NAME_LIMIT:
        raise BadInput(f"a topic's name has 1 to {NAME_LIMIT} characters on one line")
    return wanted


def _check_free(tx: Tx, name: str, *, of: str = "") -> None:
    known = rows.keyed(tx, key_of(name), now=0)
    if known is not None and known.id != of:
        raise Refused(f"{known.name} ({known.id}) is called that already; merge the two instead")
