"""Topics: which topic an entry belongs to, and how people name, join, part, close and open topics.

An entry is placed in the transaction that makes it searchable, at a cost that hardly depends on the store. It joins
the topic that it names, else that of its session, else that of the nearest entry (`text/topics.py`) among the latest
and those that share rare words; else it begins one. Text from outside joins topics but names none.

A change is one event for each topic that it touched, with what differs before and after; undo puts that back, unless
the topic was changed since.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import takewhile
from typing import Any

from recollect.core.clock import DAY
from recollect.core.context import Context, Event, Tx
from recollect.core.errors import BadInput, Forbidden, Refused, Stale
from recollect.core.journal import Entry
from recollect.core.records import check_choice, check_page, record
from recollect.core.trust import check_may, outranks
from recollect.store import events, lookup, passages, sessions
from recollect.store import topics as rows
from recollect.store.passages import Narrow
from recollect.store.topics import TopicRow
from recollect.text import topics as text
from recollect.text.markers import read_states
from recollect.text.points import DONE
from recollect.text.sentences import OPEN_AMONG, gist, is_ephemeral
from recollect.text.storable import storable
from recollect.text.summarise import left_open, settles
from recollect.text.topics import NAME_LIMIT, EntryWords, as_name, key_of, names, reads_as_name
from recollect.text.transcript import goes_on

NEAREST = 60  # entries that share rare words with a new one and are compared with it
LATEST = 12  # entries before it that are compared with it, whatever their words
LIVING = 30  # latest topics in which a DONE line without a topic looks for what it settles
BEFORE = 7 * DAY  # a turn that says nothing of its own belongs to the work before it, if that is not older
FEW = 5  # entries up to which an offline name may still change
NAMELESS = "Unnamed work"  # after a purge that left no words to make a name of
TRIED = 5  # names; later ones are odd parts of a title
TITLES = 8  # entries of a topic whose words make its name


@record
class _Found:
    """An entry and the words by which it is compared."""

    entry: Entry
    said: EntryWords


def place_all(tx: Tx, ctx: Context, found: Sequence[Entry]) -> None:
    """Give entries their topics, in order; an entry that has one keeps it."""
    known = rows.first_of(tx, [entry.id for entry in found])
    for entry in found:
        if entry.id not in known:
            place(tx, ctx, entry)


def place(tx: Tx, ctx: Context, entry: Entry) -> None:
    """Give a searchable entry its topics: at most two, none where it says nothing or is marked as temporary."""
    stored = passages.by_id(tx, entry.id)
    if stored is None or is_ephemeral(entry.topic):
        return
    stream, asked = stored.terms, dict(entry.fields).get("request", "")
    continues = bool(asked) and goes_on(asked)
    if continues:  # its title is that of the work before it, and not its own words
        stream = "\n" + stream.partition("\n")[2]
    one = _Found(entry=entry, said=text.said(stream, stored.text, stored.at))
    answers = [value for name, value in entry.fields if name == "outcome"]
    states = read_states("\n".join(answers) if entry.fields else entry.text)
    ours = entry.trust != "external"
    named = chosen = _named(tx, ctx, one, states.topic) if ours else None
    nearest = _nearest(tx, one, stored.doc)
    chosen = chosen or _of_work(tx, one, states.done if ours else (), nearest) or nearest
    if chosen is None and ours:
        asks = not continues and bool(asked or not entry.fields)  # a note that was written down continues no work
        before = rows.latest(tx, since=one.said.at - BEFORE)
        chosen = _begun(tx, ctx, one, None if asks else before) if asks or not text.is_thin(one.said) else before
    if chosen is None:
        return
    both = [chosen] if nearest in (None, chosen) else [chosen, str(nearest)]
    rows.put_entry(tx, entry.id, both, session=entry.session, at=stored.at)
    if ours and (named or states.done or states.open or not text.is_thin(one.said)):  # "thanks" opens nothing
        rows.change(tx, chosen, state="done" if states.done and not _left_open(tx, chosen) else "open")
    if ours:
        _name_again(tx, chosen)


def _named(tx: Tx, ctx: Context, one: _Found, line: str) -> str | None:
    """The topic that an entry names: in a line of its own, else in its heading where that is a name."""
    heading = one.entry.topic
    name = as_name(line or (heading if not one.entry.titled and reads_as_name(heading) else ""))
    if not name or is_ephemeral(name) or not one.entry.number:
        return None
    by, key = "model" if line else "person", key_of(name)
    known = rows.keyed(tx, key, now=one.said.at)
    before, same = rows.latest(tx, session=one.entry.session), list[str]()
    own = rows.get(tx, before, now=0) if before and (known is None or before != known.id) else None
    if own and own.named_by == "offline" and rows.of_one_session(tx, own.id, one.entry.session):
        members = (entry for entry, _ in rows.entries_of(tx, own.id))  # "go on" has the title of its work
        same = list(takewhile(lambda entry: (old := passages.by_id(tx, entry)) and old.title == heading, members))
    if known is None and own and len(same) == own.entries:
        rename(tx, own.id, name, by=by, keep=False)
        return own.id
    id = known.id if known else ctx.ids(rows.KIND)
    if known is None:
        rows.add(tx, id, name=name, key=key, named_by=by, at=one.said.at)
    if own and len(same) == own.entries:
        rows.absorb(tx, id, own.id)
    elif own:
        rows.move(tx, same, own.id, id)
    return id


def _of_work(tx: Tx, one: _Found, done: Sequence[str], nearest: str | None) -> str | None:
    """The topic with an open item that DONE lines settle: that of the session, or another living one, if it is the only
    one or the nearest; in a session with a topic only where a line says half of the item. Else that of the session."""
    own, found = rows.latest(tx, session=one.entry.session), list[str]()
    for row in rows.listed(tx, now=one.said.at, state="open", limit=LIVING)[0] if done else ():
        items = _left_open(tx, row.id)
        mark = DONE if own in (None, row.id) else ""
        if any(settles(f"{mark}{line}", items, any_all=False) for line in done):
            found.append(row.id)
    return own if own in found else found[0] if len(found) == 1 else nearest if nearest in found else own


def _left_open(tx: Tx, topic: str) -> list[str]:
    members = reversed(sessions.entries_of(tx, topic, OPEN_AMONG))
    return [item for _, item in left_open(each.text for each in members)]


def _nearest(tx: Tx, one: _Found, doc: int) -> str | None:
    """The topic of the entry that is most like this one, if they are alike enough."""
    if text.is_thin(one.said):
        return None
    words = sorted(one.said.terms)
    docs = set(lookup.candidates(tx, lookup.understand(tx, words), most=NEAREST))
    docs |= set(passages.docs_of(tx, [id for id, _ in rows.last_of(tx, limit=LATEST)]))
    found = passages.ranked(tx, sorted(docs - {doc}), Narrow(kinds=("log",)))
    texts = passages.texts_of(tx, [each.doc for each in found])
    others = {each.id: text.said(each.terms, texts[each.doc], each.at) for each in found}
    of = rows.first_of(tx, list(others))
    total, counts = passages.document_counts(tx, {*words, *(term for other in others.values() for term in other.title)})
    rarity = {term: lookup.rarity(max(total, lookup.SMALLEST), count) for term, count in counts.items()}
    sizes = rows.sizes(tx, list(of.values()))
    scored = [
        (text.likeness(one.said, other, rarity) - text.CROWDED * math.log(sizes[of[id]]), of[id])
        for id, other in others.items()
        if id in of
    ]
    best, topic = max(scored, default=(text.JOINS - 1, ""))
    return topic if best >= text.JOINS else None


def _begun(tx: Tx, ctx: Context, one: _Found, before: str | None) -> str | None:
    """A new topic with a name out of the entry's own words, or the one that has that name; without a name, `before`."""
    made = _names(tx, [one.entry.id])
    known = rows.keyed(tx, key_of(made[0]), now=0) if made else None
    if known is not None and " " in made[0]:  # "Upgrade dependencies" again; a single word would gather too much
        return known.id
    name = next(_free(tx, made), None)
    if name is None:
        return before
    id = ctx.ids(rows.KIND)
    rows.add(tx, id, name=name, key=key_of(name), named_by="offline", at=one.said.at)
    return id


def _name_again(tx: Tx, id: str) -> None:
    """Give a young topic a better offline name: one that several of its titles say."""
    topic = rows.get(tx, id, now=0)
    if topic.named_by != "offline" or not 1 < topic.entries <= FEW:
        return
    members = [entry for entry, _ in rows.entries_of(tx, id, limit=TITLES)]
    titles = [f" {key_of(stored.title)} " for entry in members if (stored := passages.by_id(tx, entry))]
    name = next(_free(tx, _names(tx, members), of=id), None)
    if name and sum(f" {key_of(name)} " in title for title in titles) > 1:
        rename(tx, id, name, by="offline", keep=False)


def _names(tx: Tx, entries: Sequence[str]) -> list[str]:
    found = [stored for id in entries if (stored := passages.by_id(tx, id))]
    said = [each for each in found if not text.is_thin(text.said(each.terms, each.text, each.at))] or found
    words = {term for stored in said for term in stored.terms.split()}
    total, counts = passages.document_counts(tx, words)
    total = max(total, lookup.SMALLEST)
    made = names([each.title for each in said], counts, total) or names(
        [gist(each.text) for each in said], counts, total
    )
    return made[:TRIED]


def _free(tx: Tx, made: Iterable[str], *, of: str = "") -> Iterator[str]:
    """The names that no other topic has."""
    for name in made:
        known = rows.keyed(tx, key_of(name), now=0)
        if known is None or known.id == of:
            yield name


def rename(tx: Tx, id: str, name: str, *, by: str, keep: bool) -> None:
    """Call a topic something else; with `keep` the old name still leads to it."""
    old = rows.aliases(tx, id)
    current = key_of(rows.get(tx, id, now=0).name)
    rows.change(tx, id, name=name, named_by=by)
    rows.put_aliases(tx, id, [*((alias, key) for alias, key in old if keep or key != current), (name, key_of(name))])


def forget(tx: Tx, entries: Sequence[str], *, renamed: Iterable[str] = ()) -> list[str]:
    """After a purge: purged entries belong to no topic, and no name holds their words; the topics that are gone.

    `renamed` are topics whose names held purged words. What a person or a model named keeps its name otherwise.
    """
    touched = {*renamed, *(topic for entry in entries for topic in rows.put_entry(tx, entry, (), session="", at=0))}
    gone = []
    for id in sorted(touched):
        topic = rows.get(tx, id, now=0)
        if not topic.entries:
            rows.remove(tx, id)
            gone.append(id)
        elif topic.named_by == "offline" or id in renamed:
            members = [entry for entry, _ in rows.entries_of(tx, id, limit=TITLES)]
            name = next(_free(tx, _names(tx, members), of=id), NAMELESS)
            rename(tx, id, name, by="offline", keep=False)
    return gone


STATES = ("open", "done", "dormant")
SHOWN = 50  # entries of a topic that `show` lists, newest first


@record
class TopicEntry:
    id: str
    title: str
    at: int


@record
class TopicView:
    topic: TopicRow
    aliases: tuple[str, ...]
    entries: tuple[TopicEntry, ...]


def page(ctx: Context, *, state: str | None = None, limit: int = 50, offset: int = 0) -> tuple[list[TopicRow], int]:
    """Topics by their latest mention, and how many there are in all."""
    if state is not None:
        check_choice(state, "state", STATES)
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
    return rows.found(tx, topic, key_of(as_name(topic)), now=ctx.clock.now())


def renamed(ctx: Context, topic: str, name: str) -> TopicRow:
    """Rename a topic; its old name still leads to it."""
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
        rows.absorb(tx, one.id, gone.id)

    return _changed(ctx, "merged", [keep, other], change)


def split(ctx: Context, topic: str, entries: Sequence[str], name: str) -> TopicRow:
    """Put some entries of a topic under a new one; gives the new one."""
    wanted, id = _checked(name), ctx.ids(rows.KIND)

    def change(tx: Tx, one: TopicRow) -> None:
        held = dict(rows.entries_of(tx, one.id))
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
            now = rows.state(tx, event.subject)
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
    for made in {gained[entry] for entry in moved if entry in gained and event.what == "topic.split"}:
        if not rows.entries_of(tx, made, limit=1):
            rows.remove(tx, made)
    if "aliases" in event.old:
        rows.put_aliases(tx, id, [(alias, key_of(alias)) for alias in event.old["aliases"]])


def _changed(ctx: Context, verb: str, given: Sequence[str], change: Callable[..., None], *, made: str = "") -> TopicRow:
    """Change topics and record what differs; gives the first of them, or the one that was made."""
    with ctx.db.write(ctx.space) as tx:
        check_may(ctx.actor.trust, rows.KIND, "edit")
        found = [find(tx, ctx, topic) for topic in given]
        before: dict[str, dict[str, Any]] = {topic.id: rows.state(tx, topic.id) for topic in found}
        change(tx, *found)
        id = ctx.ids("change")
        for subject in (*before, *([made] if made else [])):
            old, new = before.get(subject, {}), rows.state(tx, subject)
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


def _checked(name: str) -> str:
    wanted = as_name(storable(name))
    if not wanted or len(name.strip()) > NAME_LIMIT:
        raise BadInput(f"a topic's name has 1 to {NAME_LIMIT} characters on one line")
    return wanted


def _check_free(tx: Tx, name: str, *, of: str = "") -> None:
    known = rows.keyed(tx, key_of(name), now=0)
    if known is not None and known.id != of:
        raise Refused(f"{known.name} ({known.id}) is called that already; merge the two instead")
