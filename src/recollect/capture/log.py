"""The journal: appending entries to raw logs, reading them back, and making them searchable.

A log is append-only and permanent. The file is written first; rows follow and can be made again from it. Logs of any
size are read in bounded memory. Knows nothing about how nodes are made.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta
from functools import partial
from zoneinfo import ZoneInfo

from recollect.capture.bring_fields import check_trust
from recollect.core import calendar
from recollect.core.calendar import parse_day
from recollect.core.clock import day_of, iso, parse_time
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, NotFound, Stale
from recollect.core.journal import FIELDS, Entry, NewEntry
from recollect.core.passage import Passage
from recollect.store import events, journal, passages, readings
from recollect.store.files import content_hash
from recollect.store.journal import LogEnd, LogRow
from recollect.text import entries, frame, nodes
from recollect.text.normal import clean
from recollect.text.redact import redact
from recollect.text.summarise import topic_from
from recollect.text.tree import log_path, path_of

KIND = "log"
ENTRY_LIMIT = 10_000_000
"""Characters one entry may have; more is a file, not an entry."""
INDEXED_AT_ONCE = 2_000_000
"""A log above this size is made searchable by the next cycle, not by the append."""

UNREAD = "unread"

_LOG = re.compile(r"\d{4}-\d{2}-\d{2}\.md")


@dataclass(frozen=True, kw_only=True)
class Logged:
    """Where an entry went, and what was taken out of it first."""

    id: str
    day: date
    topic: str
    path: str
    redacted: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class LogText:
    """A log as read: its entries, its hash, and the text itself where it is short enough to be copied."""

    day: date
    entries: tuple[Entry, ...]
    hash: str
    raw: str | None
    stamp: str  # of its file, from before it was read: a later change is seen later


def add(ctx: Context, new: NewEntry, *, change: str | None = None) -> Logged:
    """Append an entry to the log of the day its session began (without a session: today).

    While nobody else writes to the log, that costs the same however many entries it has: it is not read again.
    """
    replayed, change = change is not None, change or ctx.ids("change")
    new, kinds = redacted(new)
    now = ctx.clock.now()
    day = today(ctx)
    with ctx.db.write(ctx.space) as tx:  # first, so that a store that takes no writes leaves no entry in the log
        if new.session:
            day = journal.session_day(tx, new.session, day)
        end = journal.log_end(tx, day)
    topic = _topic(new)
    section = entries.render(new, topic=topic, at=iso(now), key=change, trust=ctx.actor.trust)
    there = replayed and change in keys(ctx, day)
    added = _added_behind(ctx, day, section, end) if end and not there else None
    if not there and not added:
        # A line left unfinished by another tool must not swallow our heading.
        begun = next(ctx.vault.pieces(log_path(day)), None) is not None
        ctx.vault.append(log_path(day), f"\n{section}" if begun else section)
    take_in = partial(_take_in_last, ctx, *added) if added else partial(_take_in_whole, ctx, read(ctx, day), change)
    with ctx.db.write(ctx.space) as tx:
        id = take_in(tx)
        events.record(
            tx,
            ctx,
            change=change,
            subject=id,
            what="log.added",
            new={"topic": topic},
            reason=f"redacted: {', '.join(kinds)}" if kinds else "",
        )
    return Logged(id=id, day=day, topic=topic, path=log_path(day), redacted=kinds)


def _added_behind(ctx: Context, day: date, section: str, end: LogEnd) -> tuple[Entry, LogEnd] | None:
    """Append behind the end we know; None, and nothing appended, when the log is another by now or has to be read."""
    found = entries.at_the_end(day, end.number + 1, section)
    if found is None or found.number > entries.LOG_ENTRIES or end.size + len(found.text) > INDEXED_AT_ONCE:
        return None
    try:
        stamp = ctx.vault.append(log_path(day), f"\n{section}", after=end.stamp)
    except Stale:
        return None
    return found, LogEnd(stamp=stamp, number=found.number, size=end.size + len(found.text))


@dataclass(frozen=True, kw_only=True)
class Dated:
    """An entry from another time. `key` is the same whenever it is given again; see `add_all`."""

    new: NewEntry
    key: str
    at: int


def add_all(ctx: Context, day: date, given: Sequence[Dated]) -> None:
    """Append entries to the log of a day, however many, reading and indexing the log once. Already redacted.

    What is in the log already, by its key, is not appended again.
    """
    there = keys(ctx, day)
    topics = {each.key: _topic(each.new) for each in given}
    sections = [
        entries.render(each.new, topic=topics[each.key], at=iso(each.at), key=each.key, trust=ctx.actor.trust)
        for each in given
        if each.key not in there
    ]
    path = log_path(day)
    begun = next(ctx.vault.pieces(path), None) is not None
    if sections:
        ctx.vault.append(path, ("\n" if begun else "") + "\n".join(sections))
    log = read(ctx, day)
    ids = {each.key: each.id for each in log.entries}
    with ctx.db.write(ctx.space) as tx:
        read_in(tx, ctx, log)
        for key, topic in topics.items():
            id = ids.get(key, source(day))
            events.record(tx, ctx, change=key, subject=id, what="log.added", new={"topic": topic})


def adopt(ctx: Context, id: str) -> Entry:
    """Vouch for an entry that came from outside: it is written once more below, as the agent's.

    A log is never changed, so what came in stays as it is, marked. Adopting again changes nothing.
    """
    check_trust(ctx, "agent")
    outside = entry(ctx, id)
    if outside.trust != "external":
        return outside
    again = NewEntry(text=outside.text, topic=outside.topic, type=outside.type, session=outside.session or None)
    key = adopted_key(id, outside.key)
    vouched = replace(ctx, actor=replace(ctx.actor, trust="agent"))
    add_all(vouched, outside.day, [Dated(new=again, key=key, at=_moment(outside.at, midday(ctx, outside.day)))])
    return next(each for each in read(ctx, outside.day).entries if each.key == key)


def adopted_key(id: str, key: str) -> str:
    """The key under which an entry from outside is written again."""
    return f"adopted_{content_hash(f'{id} {key}')[:24]}"


def searched(found: Iterable[Entry]) -> list[Entry]:
    """The entries of a log that search shows: one from outside that was adopted stands for itself no more."""
    found = list(found)
    keys = {each.key for each in found}
    return [each for each in found if each.trust != "external" or adopted_key(each.id, each.key) not in keys]


def today(ctx: Context) -> date:
    """The day it is in the project's time zone."""
    return day_of(ctx.clock.now(), ZoneInfo(ctx.settings.timezone))


@dataclass(frozen=True, kw_only=True)
class LogDay:
    """A day with a log, and how many entries were in it when it was last read."""

    day: date
    entries: int


def listed(ctx: Context) -> list[LogDay]:
    """The days with a log, newest first."""
    there = days(ctx.vault.stamps())
    with ctx.db.read(ctx.space) as tx:
        known = journal.entry_counts(tx)
    return [LogDay(day=day, entries=known.get(day, 0)) for day in sorted(there, reverse=True)]


def show(ctx: Context, day: date) -> str:
    """A day's log as it stands."""
    text = ctx.vault.read(log_path(day))
    if text is None:
        raise NotFound(f"no log for {day}; the days with one are listed by: recollect tree --period {day:%Y-%m}")
    return text


def entry(ctx: Context, id: str) -> Entry:
    """One entry by its id, `log/2026-03-01#3`."""
    day, _, number = id.removeprefix("log/").partition("#")
    if number.isdecimal():
        for found in entries.read(parse_day(day), lines(ctx.vault.pieces(f"{day}.md"))):
            if found.number == int(number):
                return found
        if int(number) == 0 and (kept := _told_by_another_tool(ctx, parse_day(day))):
            return kept
    raise NotFound(f"no entry {id}; see a day's entries with: recollect log show {day if number else 'DATE'}")


def _told_by_another_tool(ctx: Context, day: date) -> Entry | None:
    """Entry 0 of a day whose log we never had: what another tool's node says of the period that day begins."""
    for period in (calendar.day(day), calendar.week(day), calendar.month(day)):
        text = ctx.vault.read(path_of(period.id)) if period.first == day else None
        if text is not None and (node := nodes.parse(period.id, text)).generator == nodes.FOREIGN:
            return Entry(day=day, number=0, topic=f"{period.id}, made by another tool", text=node.body)
    return None


def day_of_entry(id: str) -> date:
    return parse_day(id.removeprefix(f"{KIND}/").partition("#")[0])


def day_named(ctx: Context, name: str) -> date:
    """`2026-03-01`, `today` or `yesterday`, in the project's time zone."""
    back = {"today": 0, "yesterday": 1}.get(name.strip().lower())
    if back is None:
        return parse_day(name)
    return day_of(ctx.clock.now(), ZoneInfo(ctx.settings.timezone)) - timedelta(days=back)


def days(stamps: Iterable[str]) -> list[date]:
    """The days among a folder's names; what only looks like one (2026-02-30.md) is somebody's own file."""
    found = []
    for name in stamps:
        if _LOG.fullmatch(name):
            try:
                found.append(parse_day(name.removesuffix(".md")))
            except BadInput:
                continue
    return sorted(found)


def read(ctx: Context, day: date, *, copied: int = 0) -> LogText:
    """A log, whatever its size; `copied` is the most characters that are kept as they are."""
    stamp = ctx.vault.stamps(names=[log_path(day)]).get(log_path(day), "")
    digest = hashlib.sha256()
    kept: list[str] = []
    size = 0

    def watched() -> Iterator[str]:
        nonlocal size
        for piece in ctx.vault.pieces(log_path(day)):
            digest.update(piece.encode("utf-8", "surrogatepass"))
            size += len(piece)
            if size <= copied:
                kept.append(piece)
            yield piece

    found = tuple(entries.read(day, lines(watched())))
    raw = "".join(kept) if size <= copied else None
    return LogText(day=day, entries=found, hash=digest.hexdigest(), raw=raw, stamp=stamp)


def keys(ctx: Context, day: date) -> set[str]:
    """The keys of a day's entries."""
    return set(entries.keys(lines(ctx.vault.pieces(log_path(day)))))


def index(tx: Tx, ctx: Context, log: LogText) -> None:
    """Make a log's entries searchable; those that are gone from it are gone from search."""
    wanted = {found.id for found in searched(log.entries)}
    for id in passages.ids_under(tx, f"{source(log.day)}#"):
        if id not in wanted:
            passages.remove(tx, id)
    for passage in passages_of(ctx, log):
        passages.put(tx, passage)


def source(day: date) -> str:
    """What a log is read in as."""
    return f"{KIND}/{day.isoformat()}"


def passages_of(ctx: Context, log: LogText) -> Iterator[Passage]:
    """The entries of a log as search sees them; those of one session stand together, whoever wrote in between."""
    noon = midday(ctx, log.day)
    reached: Counter[str] = Counter()
    for found in searched(log.entries):
        reached[_thread(found)] += 1
        yield _passage(found, reached[_thread(found)], noon)


def _thread(found: Entry) -> str:
    return source(found.day) + (f"/{found.session}" if found.session else "")


def _passage(found: Entry, position: int, noon: int) -> Passage:
    return Passage(
        id=found.id,
        kind=KIND,
        title=found.topic,
        lines=tuple(line for line in found.text.split("\n") if line.strip()),
        keywords=(found.type, found.session) if found.session else (found.type,),
        at=_moment(found.at, noon),
        trust=found.trust,
        thread=_thread(found),
        position=position,
    )


def lines(pieces: Iterable[str]) -> Iterator[str]:
    """Lines of a text that comes in pieces; of a line longer than an entry may be, only the beginning."""
    rest = ""
    for piece in pieces:
        *whole, rest = (rest + piece).split("\n")
        yield from whole
        rest = rest[: entries.ENTRY_CHARS]
    if rest:
        yield rest


def _take_in_whole(ctx: Context, log: LogText, change: str, tx: Tx) -> str:
    """Make a log searchable as it was read, and remember its end where that is our entry; the id of the entry."""
    read_in(tx, ctx, log)
    found = next((each for each in log.entries if each.key == change), None)
    if found and found is log.entries[-1]:
        size = sum(len(each.text) for each in log.entries)
        journal.put_log_end(tx, log.day, LogEnd(stamp=log.stamp, number=found.number, size=size))
    return found.id if found else source(log.day)


def _take_in_last(ctx: Context, found: Entry, end: LogEnd, tx: Tx) -> str:
    """The same for a log to which nothing but this entry was added."""
    readings.put(tx, ctx.clone, source(found.day), stamp=end.stamp, ids=(), at=ctx.clock.now())
    position = journal.last_position(tx, _thread(found)) + 1
    passages.put(tx, _passage(found, position, midday(ctx, found.day)))
    journal.put_log_end(tx, found.day, end)
    return found.id


def read_in(tx: Tx, ctx: Context, log: LogText) -> None:
    """Make a log searchable as it was read, and remember that it was: unchanged, it is not read again for a search."""
    readings.put(tx, ctx.clone, source(log.day), stamp=log.stamp, ids=(), at=ctx.clock.now())
    if sum(len(each.text) for each in log.entries) <= INDEXED_AT_ONCE:
        index(tx, ctx, log)
    if log.stamp and journal.log(tx, log.day) is None:
        # Known from now on, so that a cycle notices when the file is gone before it was ever read.
        journal.put_log(tx, LogRow(day=log.day, stamp=UNREAD, hash=log.hash, entries=len(log.entries)))


def _topic(new: NewEntry) -> str:
    return entries.one_line(new.topic or "") or entries.one_line(topic_from(entries.body(new)))


def redacted(new: NewEntry) -> tuple[NewEntry, tuple[str, ...]]:
    """Our own injected text and known secrets go before anything is stored."""
    kinds: list[str] = []

    def without(text: str) -> str:
        found = redact(clean(frame.strip(text)))
        kinds.extend(found.kinds)
        return found.text

    if sum(len(value) for _, value in new.fields) + len(new.text) > ENTRY_LIMIT:
        raise BadInput(f"an entry may have {ENTRY_LIMIT:,} characters; keep the rest in a file and refer to it")
    changed: dict[str, object] = {"text": without(new.text), "topic": without(new.topic) if new.topic else None}
    for name in FIELDS:
        value = getattr(new, name)
        if value:
            changed[name] = without(value) if isinstance(value, str) else tuple(map(without, value))
    return replace(new, **changed), tuple(kinds)  # type: ignore[arg-type]


def midday(ctx: Context, day: date) -> int:
    return round(datetime.combine(day, time(12), ZoneInfo(ctx.settings.timezone)).timestamp() * 1000)


def _moment(at: str, otherwise: int) -> int:
    try:
        return parse_time(at) if at else otherwise
    except BadInput:
        return otherwise
