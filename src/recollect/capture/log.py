"""The journal: appending entries to raw logs, and taking them back.

A log is append-only and permanent; only a person may take back an entry, and only their own. The file is written before
the rows, so an entry in the file is saved whatever happens to its rows. A caller who repeats an entry because the first
answer was lost gets the same entry: the log holds its words under a key that no event has.
Reading is in `capture/logs.py`, what a host's session says in `capture/turns.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import date

from recollect.capture import topics as placing
from recollect.capture.log_text import ACCEPTED, keys, read, read_within
from recollect.capture.logs import (
    ADOPTED,
    INDEXED_AT_ONCE,
    KIND,
    UNREAD,
    adopted_key,
    entry,
    index,
    midday,
    moment,
    read_in,
    read_in_last,
    source,
    today,
)
from recollect.core.clock import HOUR, iso
from recollect.core.context import Context, Event, Tx, Vault
from recollect.core.errors import NotFound, RecollectError, Stale, after, not_searchable
from recollect.core.journal import Entry, NewEntry
from recollect.core.records import record, replace
from recollect.core.trust import check_may
from recollect.store import events, journal, topics
from recollect.store.files import content_hash
from recollect.store.journal import LogEnd
from recollect.text import entries
from recollect.text.entries import LogSection
from recollect.text.nodes import log_path
from recollect.text.storable import storable_record

ADDED, UNDONE = "log.added", "log.undone"
GIVEN_AGAIN = HOUR  # an entry whose answer was lost is repeated within this time, chosen generously for a person
LOOKED_AT = 100  # latest entries of a log among which a repeated one is looked for


@record
class Logged:
    """Where an entry is, and the kinds of secrets taken out of it. `warning` when it is not searchable yet."""

    id: str
    day: date
    title: str
    topic: str
    path: str
    redacted: tuple[str, ...]
    warning: str = ""


@record
class Dated:
    """An entry from another time; given again, it has the same `key`."""

    new: NewEntry
    key: str
    at: int


def add(ctx: Context, new: NewEntry, *, change: str | None = None) -> Logged:
    """Append an entry to the log of the day its session began (without a session: today)."""
    new, kinds = storable_record(new)
    return add_storable(ctx, new, kinds, change=change)


def add_storable(ctx: Context, new: NewEntry, kinds: tuple[str, ...], *, change: str | None = None) -> Logged:
    """Append an entry without secrets; `kinds` are those that were redacted.

    While nobody else writes to the log it is not read again, so the cost does not grow with it.
    """
    replayed, change = change is not None, change or ctx.ids("change")
    day = today(ctx)
    with ctx.db.write(ctx.space) as tx:  # first, so that a store that takes no writes leaves no entry in the log
        if new.session:
            day = journal.session_day(tx, new.session, day)
        end = journal.log_end(tx, day)
    section = entries.render(new, at=iso(ctx.clock.now()), key=change, trust=ctx.actor.trust)
    there = replayed and change in keys(ctx, day)
    added = _added_behind(ctx, day, section, end) if end and not there else None
    if not there and not added:
        before = None if replayed else _given_before(ctx, day, section)
        change = before or change
        if not before:
            _append(ctx, day, section)
    warning, topic = "", new.topic or ""
    try:
        with ctx.db.write(ctx.space) as tx:
            if added and added[1].stamp and journal.log_end(tx, day) == end:
                id = read_in_last(tx, ctx, added[0], section, added[1])
            else:
                id = _index_whole(tx, ctx, day, change, section)
            _remember(tx, ctx, change, id, new, f"redacted: {', '.join(kinds)}" if kinds else "")
            topic = topics.first_name(tx, id)
    except RecollectError as trouble:  # the entry is in the log for good
        id = f"{source(day)}#{added[1].number}" if added else _id_of(ctx, day, change)
        warning = not_searchable("The log entry", trouble)
    return Logged(
        id=id, day=day, title=entries.title_of(new), topic=topic, path=log_path(day), redacted=kinds, warning=warning
    )


def add_all(ctx: Context, day: date, given: Sequence[Dated]) -> None:
    """Append entries without secrets to the log of a day, except those whose key it has; read and index it once."""
    there = keys(ctx, day)
    sections = {
        each.key: entries.render(each.new, at=iso(each.at), key=each.key, trust=ctx.actor.trust) for each in given
    }
    if new := [text for key, text in sections.items() if key not in there]:
        _append(ctx, day, "\n".join(new))
    kept = after(f"The entries are in the log of {day}", "Run this again: no entry is written twice")
    with kept, ctx.db.write(ctx.space) as tx:
        ids = {each.key: each.id for each in read_in(tx, ctx, day, ours=sections).entries}
        for each in given:
            _remember(tx, ctx, each.key, ids.get(each.key, source(day)), each.new)


def adopt(ctx: Context, id: str) -> Entry:
    """Vouch for an external entry: a copy is appended as the agent's, and the external one stays, marked.

    Adopting again changes nothing.
    """
    check_may(ctx.actor.trust, "log", "adopt")
    outside = entry(ctx, id)
    if outside.trust != "external":
        return outside
    title, topic = (outside.topic, None) if outside.titled else (None, outside.topic)
    again = NewEntry(text=outside.text, title=title, topic=topic, type=outside.type, session=outside.session or None)
    key = adopted_key(id, outside.key)
    vouched = ctx.trusted_as("agent")
    add_all(vouched, outside.day, [Dated(new=again, key=key, at=moment(outside.at, midday(ctx, outside.day)))])
    if adopted := next((each for each in read(ctx, outside.day).entries if each.key == key), None):
        return adopted
    raise NotFound(f"{id} was adopted before and its copy was purged. Log its words again to keep them")


@record
class Accepted:
    entries: int
    days: int


def accept(ctx: Context) -> Accepted:
    """Trust what others wrote and will write into the shared folder as an agent's."""
    check_may(ctx.actor.trust, "log", "adopt")
    count, found = 0, ctx.read(journal.days_of_others)
    with ctx.db.write(ctx.space) as tx:
        for day in found:
            outside = [row for row in journal.entry_rows(tx, day) if row.trust == "external" and not row.who]
            texts = journal.entry_texts(tx, day, [row.number for row in outside])
            for row in outside:
                said = entries.remembered(day, texts[row.number]).entry
                if said and said.trust != "external":  # a mark of its own stays
                    journal.put_entry(tx, day, replace(row, trust="agent"))
                    count += 1
        events.record(tx, ctx, subject=KIND, what=ACCEPTED, new={"entries": count})
        for day in found:
            index(tx, ctx, read_within(tx, ctx, day))
            if known := journal.log(tx, day):
                journal.put_log(tx, replace(known, stamp=UNREAD))  # the next cycle makes its nodes
    return Accepted(entries=count, days=len(found))


def undo(ctx: Context, added: Event) -> list[Entry]:
    """Take an entry back. Its words leave the log; a mark at its place and the event stay."""
    found = entry(ctx, added.subject)
    empty(ctx, found.day, found.number)
    with ctx.db.write(ctx.space) as tx:
        # An adopted copy may be made again; any other key tells a copy of the entry from a new one.
        key = "" if found.key.startswith(ADOPTED) else found.key
        journal.empty_entry(tx, found.day, found.number, text=entries.PURGED_SECTION, key=key)
        read_in(tx, ctx, found.day)
        placing.forget(tx, [found.id])
        said = {"title": found.topic, "text": found.text}
        events.record(tx, ctx, subject=found.id, what=UNDONE, old=said, reason=f"undo of {ADDED} ({added.change})")
    return [found]


def empty(ctx: Context, day: date, number: int) -> bool:
    """Remove an entry's heading and words from its log; False where the file lacks it."""
    items = read(ctx, day).items
    places = {item.section.position for item in items if item.held and item.number == number}
    if places:
        rewrite(ctx.vault, log_path(day), lambda text: entries.emptied(text, places))
    return bool(places)


def rewrite(vault: Vault, path: str, change: Callable[[str], str]) -> tuple[str, str]:
    """Change a file that others may append to meanwhile; gives its text before and after."""
    while True:
        text = vault.read(path) or ""
        after = change(text)
        with suppress(Stale):
            vault.replace(path, after, expect=content_hash(text))
            return text, after


def _added_behind(ctx: Context, day: date, section: str, end: LogEnd) -> tuple[LogSection, LogEnd] | None:
    """Append after the known end; None, with nothing appended, when the log changed since or has to be read."""
    found, number = entries.at_the_end(day, section), end.number + 1
    if found is None or number > entries.LOG_ENTRIES or end.size + len(found.text) > INDEXED_AT_ONCE:
        return None
    try:
        stamp = ctx.vault.append(log_path(day), f"\n{section}", after=end.stamp)
    except Stale:
        return None
    return found, LogEnd(stamp=stamp, number=number, size=end.size + len(found.text))


def _given_before(ctx: Context, day: date, section: str) -> str | None:
    """The key of an entry with the same words that has no event: its writer never got an answer."""
    at_the_end = entries.at_the_end(day, section)
    ours = at_the_end.entry if at_the_end else None
    if ours is None:
        return None
    since = ctx.clock.now() - GIVEN_AGAIN
    for found in read(ctx, day).entries[: -LOOKED_AT - 1 : -1]:
        same = found.key and _said(found) == _said(ours) and moment(found.at, 0) >= since
        if same and not events.comes(ctx, found.key):
            return found.key
    return None


def _said(entry: Entry) -> tuple[str, ...]:
    return entry.topic, entry.type, entry.text, entry.session or "", entry.trust


def _id_of(ctx: Context, day: date, change: str) -> str:
    """The id of an entry that is in the log; the id of the log when it cannot be read now."""
    with suppress(RecollectError):
        return next((each.id for each in read(ctx, day).entries if each.key == change), source(day))
    return source(day)


def _append(ctx: Context, day: date, text: str) -> None:
    begun = any(ctx.vault.pieces(log_path(day)))
    # The empty line keeps our heading apart from a line that another tool left unfinished.
    ctx.vault.append(log_path(day), f"\n{text}" if begun else text)


def _index_whole(tx: Tx, ctx: Context, day: date, change: str, section: str) -> str:
    """Index a log; where its last entry is ours, remember its end. Gives the id of our entry.

    Later appends do not read what came before that end, so no entry there may still be waiting for its event.
    """
    log = read_in(tx, ctx, day, ours={change: section})
    found = next((each for each in log.entries if each.key == change), None)
    since = ctx.clock.now() - GIVEN_AGAIN
    lately = {each.key for each in log.entries[-LOOKED_AT:] if each.key and moment(each.at, 0) >= since}
    if found and found is log.entries[-1] and not events.missing(tx, lately - {change}):
        size = sum(len(each.text) for each in log.entries)
        last = max(item.number for item in log.items)
        journal.put_log_end(tx, log.day, LogEnd(stamp=log.stamp, number=last, size=size))
    return found.id if found else source(log.day)


def _remember(tx: Tx, ctx: Context, change: str, id: str, new: NewEntry, reason: str = "") -> None:
    """Record who wrote an entry, once: given again, it is the same entry."""
    if not events.happened(tx, change):
        title = {"title": entries.title_of(new)}
        events.record(tx, ctx, change=change, subject=id, what=ADDED, new=title, reason=reason)
