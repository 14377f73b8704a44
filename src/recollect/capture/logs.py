"""Reading raw logs: which days have one, what their entries say, and how the entries are searched.

Logs of any size are read in bounded memory. What a log is made of is in `capture/log_text.py`, appending in
`capture/log.py`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import date, datetime, time, timedelta

from recollect.capture import topics
from recollect.capture.log_text import LogItem, LogText, lines, new_item, read, read_within
from recollect.core import calendar
from recollect.core.calendar import parse_day
from recollect.core.clock import day_of, parse_time, zone_named
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, NotFound, Trouble
from recollect.core.journal import Entry
from recollect.core.records import Passage, record, replace
from recollect.store import journal, passages
from recollect.store.files import content_hash
from recollect.store.journal import EntryRow, LogEnd, LogRow
from recollect.text import entries, nodes
from recollect.text.entries import PURGED_SECTION, LogSection
from recollect.text.nodes import log_path, path_of
from recollect.text.sentences import counted

KIND = "log"
INDEXED_AT_ONCE = 2_000_000  # characters; a longer log is indexed by the next cycle, so that an append stays quick
NAMED = 5  # missing logs that are reported one by one; a cleaned folder would fill the screen
ADOPTED = "adopted_"  # begins the key of the copy that adopting an external entry appends
UNREAD = "unread"  # the stamp of a log that no cycle has read yet

_LOG = re.compile(r"\d{4}-\d{2}-\d{2}\.md")
_LIKE_A_LOG = re.compile(r"\d{1,4}-\d{1,2}-\d{1,2}\.md")


@record
class LogDay:
    """A day with a log, and how many of its entries are searchable."""

    day: date
    entries: int


@record
class FileFault:
    path: str
    detail: str
    remedy: str


def today(ctx: Context) -> date:
    return day_of(ctx.clock.now(), zone_named(ctx.settings.timezone))


def day_named(ctx: Context, name: str) -> date:
    """`2026-03-01`, `today` or `yesterday`, in the project's time zone."""
    back = {"today": 0, "yesterday": 1}.get(name.strip().lower())
    if back is None:
        return parse_day(name)
    return today(ctx) - timedelta(days=back)


def days(stamps: Iterable[str]) -> list[date]:
    """The days among a folder's names; a name that only looks like a day (2026-02-30.md) is another file."""
    found = []
    for name in stamps:
        if _LOG.fullmatch(name):
            try:
                found.append(parse_day(name.removesuffix(".md")))
            except BadInput:
                continue
    return sorted(found)


def listed(ctx: Context) -> list[LogDay]:
    known = ctx.read(journal.entry_counts)
    there = {*days(ctx.vault.stamps()), *ctx.read(journal.entry_days)}
    return [LogDay(day=day, entries=known.get(day, 0)) for day in sorted(there, reverse=True)]


def show(ctx: Context, day: date) -> str:
    """The text of a day's log, with entries that the file lost, without secrets and entries that were taken back."""
    text = _written(ctx, day).text
    return text.replace(f"{PURGED_SECTION}\n", "").removesuffix(PURGED_SECTION)


def _written(ctx: Context, day: date) -> LogText:
    log = read(ctx, day)
    if not log.items:
        raise NotFound(f"no log for {day}; list the days that have one with: recollect log list")
    return log


@record
class WrittenEntry:
    entry: Entry
    who: str


def entries_of(ctx: Context, day: date) -> list[WrittenEntry]:
    """The entries of a day in order, without secrets and with those that the file lost."""
    items = _written(ctx, day).items
    return [WrittenEntry(entry=item.entry, who=item.row.who if item.row else "") for item in items if item.entry]


def entry(ctx: Context, id: str) -> Entry:
    """One entry by its id, `log/2026-03-01#3`. A new entry of the file gets its number for good before it is shown."""
    with ctx.db.read(ctx.space) as tx:
        found = entry_within(tx, ctx, id)
        new = found.number > journal.last_number(tx, found.day)
    if new:
        with suppress(Trouble), ctx.db.write(ctx.space) as tx:  # a store that can only be read shows it all the same
            read_in(tx, ctx, found.day)
            found = entry_within(tx, ctx, id)
    return found


def entry_within(tx: Tx, ctx: Context, id: str) -> Entry:
    day, _, number = id.removeprefix("log/").partition("#")
    if number.isdecimal():
        for found in read_within(tx, ctx, parse_day(day)).entries:
            if found.number == int(number):
                return found
        inside = replace(ctx, vault=ctx.vault.inside(tx))
        if int(number) == 0 and (kept := _told_by_another_tool(inside, parse_day(day))):
            return kept
    raise NotFound(f"no entry {id}; see a day's entries with: recollect log show {day if number else 'DATE'}")


def _told_by_another_tool(ctx: Context, day: date) -> Entry | None:
    """Entry 0 of a day without a log: another tool's node for the period that begins on that day."""
    for period in (calendar.day(day), calendar.week(day), calendar.month(day)):
        text = ctx.vault.read(path_of(period.id)) if period.first == day else None
        if text is not None and (node := nodes.parse(period.id, text)).generator == nodes.FOREIGN:
            return Entry(day=day, number=0, topic=f"{period.id}, made by another tool", text=node.body)
    return None


def day_of_entry(id: str) -> date:
    return parse_day(id.removeprefix(f"{KIND}/").partition("#")[0])


def source(day: date) -> str:
    """The name of a day's log among the sources that were read."""
    return f"{KIND}/{day.isoformat()}"


def read_in(tx: Tx, ctx: Context, day: date, *, ours: Mapping[str, str] | None = None) -> LogText:
    """Remember a log's entries and make them searchable; while its stamp is unchanged, no search reads it again.

    The log is read in the transaction that writes the rows, so that an entry appended meanwhile is not removed.
    """
    log = read_within(tx, ctx, day, ours=ours)
    journal.put_reading(tx, ctx.clone, source(log.day), stamp=log.stamp, ids=(), at=ctx.clock.now())
    if sum(len(each.text) for each in log.entries) <= INDEXED_AT_ONCE:
        index(tx, ctx, log, ours=ours)
    else:
        remember(tx, ctx, log, ours=ours)
    if log.stamp and journal.log(tx, log.day) is None:
        # With a row, a cycle notices when the file is deleted before it was ever read.
        journal.put_log(tx, LogRow(day=log.day, stamp=UNREAD, hash=log.hash, entries=len(log.entries)))
    return log


def read_in_last(tx: Tx, ctx: Context, found: LogSection, text: str, end: LogEnd) -> str:
    """The same for a log to which only this entry was added, with its whole text; gives the entry's id."""
    assert found.entry is not None
    day = found.entry.day
    journal.put_reading(tx, ctx.clone, source(day), stamp=end.stamp, ids=(), at=ctx.clock.now())
    number = journal.last_number(tx, day) + 1
    item = new_item(found, number, outside=False)
    assert item.entry is not None
    # There are at most as many entries as numbers, so this place is behind all others.
    journal.put_entry(tx, day, _row(ctx, item, number, ours=True), text)
    position = passages.last_position(tx, _thread(item.entry)) + 1
    passages.put(tx, _passage(item.entry, position, midday(ctx, day)))
    topics.place(tx, ctx, item.entry)
    journal.put_log_end(tx, day, replace(end, number=item.number))
    return item.entry.id


def index(tx: Tx, ctx: Context, log: LogText, *, ours: Mapping[str, str] | None = None) -> None:
    """Remember a log's entries and make them searchable.

    The known end is forgotten: a process that just appended behind it then reads the whole log.
    """
    journal.forget_log_end(tx)
    if journal.last_number(tx, log.day) != log.last:  # numbers were given since the log was read
        log = read_within(tx, ctx, log.day, ours=ours)
    remember(tx, ctx, log, ours=ours)
    wanted = {found.id for found in searched(log.entries)}
    for id in passages.ids_under(tx, f"{source(log.day)}#"):
        if id not in wanted:
            passages.remove(tx, id)
    for passage in passages_of(ctx, log):
        passages.put(tx, passage)
    topics.place_all(tx, ctx, searched(log.entries))


def remember(tx: Tx, ctx: Context, log: LogText, *, ours: Mapping[str, str] | None = None) -> None:
    ours = ours or {}
    for place, item in enumerate(log.items, start=1):
        key = item.entry.key if item.entry else ""
        row, old = _row(ctx, item, place, ours=key in ours), item.row
        cut = item.held and place < len(log.items) and not log.items[place].held and item.same
        if old and (item.section.clipped or not item.held or old.purged or cut):
            row = replace(row, key=old.key, hash=old.hash)  # the text that is known is at least as good
        if old is None or row.hash != old.hash:
            whole = ours.get(key, "")
            known = whole and entries.remembered(log.day, whole).hash == item.section.hash
            journal.put_entry(tx, log.day, row, whole if known else item.section.text)
        elif row != old:
            journal.put_entry(tx, log.day, row)


def _row(ctx: Context, item: LogItem, place: int, *, ours: bool) -> EntryRow:
    old, entry = item.row, item.entry
    return EntryRow(
        number=item.number,
        place=place,
        key=entry.key if entry else old.key if old else "",
        hash=journal.PURGED if item.section.purged else item.section.hash,
        held=item.held,
        secret=item.held and item.section.secret,
        trust=entry.trust if entry else old.trust if old else "agent",
        who=ctx.actor.name if ours and not (old and old.who) else old.who if old else "",
        at=old.at if old else ctx.clock.now(),
    )


def faults(tx: Tx, ctx: Context) -> list[FileFault]:
    """Logs that are missing or shorter than what is remembered, misnamed, unreadable, or that hold secrets."""
    vault = ctx.vault.inside(tx)
    stamps = vault.stamps()
    misnamed = sorted({name for name in stamps if _LIKE_A_LOG.fullmatch(name)} - set(map(log_path, days(stamps))))
    unread, rename = "its name is not a day, so it is not read", "rename the file to its day, such as 2026-03-01.md"
    found = [FileFault(path=name, detail=unread, remedy=rename) for name in misnamed]
    for name in journal.unreadable_logs(tx):
        detail = "it cannot be read, so its day, week and month stay open"
        found.append(FileFault(path=name, detail=detail, remedy="make it a readable file, or move it away"))
    again = "recollect store rebuild --files writes them again; recollect store purge ID forgets one"
    gone = [day for day in journal.entry_days(tx) if log_path(day) not in stamps]
    short = {day: count for day, count in journal.days_with(tx, held=False).items() if day not in gone}
    for day in gone[:NAMED]:
        found.append(FileFault(path=log_path(day), detail="the file is gone; its entries are remembered", remedy=again))
    if more := len(gone[NAMED:]):
        found.append(FileFault(path=f"{counted(more, 'more log')}", detail="their files are gone, too", remedy=again))
    for day, count in short.items():
        detail = f"the file lacks {counted(count, 'entry')} that {'is' if count == 1 else 'are'} remembered"
        found.append(FileFault(path=log_path(day), detail=detail, remedy=again))
    for day in journal.days_with(tx, held=True, secret=True):
        if log_path(day) in stamps:
            found.append(holding_secrets(log_path(day), lines(vault.pieces(log_path(day)))))
    return found


def holding_secrets(path: str, text: Iterable[str]) -> FileFault:
    """Name the lines of a hand-written file that hold a secret."""
    found = entries.secret_lines(text)
    many = len(found) > 1
    at = f"line{'s' * many} {', '.join(map(str, found[:20]))} hold{'s' * (not many)}" if found else "it holds"
    remedy = "nothing made from it holds it; take it out of the file, and change it if others can read the file"
    return FileFault(path=path, detail=f"{at} a secret or private text", remedy=remedy)


def write_again(ctx: Context) -> list[str]:
    """Put entries that the files lost back at their place; gives the files that were written."""
    with ctx.db.read(ctx.space) as tx:
        stamps = ctx.vault.inside(tx).stamps()
        gone = {day for day in journal.entry_days(tx) if log_path(day) not in stamps}
        wanted = sorted(gone | journal.days_with(tx, held=False).keys())
    written = []
    for day in wanted:
        before = ctx.vault.read(log_path(day))
        with ctx.db.read(ctx.space) as tx:
            log = read_within(tx, ctx, day)
            texts = journal.entry_texts(tx, day, [item.number for item in log.items if not item.held])
        # What the file holds stays as it is there, secrets included: it is the person's.
        verbatim = entries.verbatim(before or "")
        if len(verbatim) != sum(item.held for item in log.items):
            continue  # a conflict has to be resolved first
        held = iter(verbatim)
        parts = [next(held) if item.held else texts[item.number] for item in log.items]
        for number, (item, then) in enumerate(zip(log.items, log.items[1:], strict=False)):
            if item.held and not then.held and item.row:  # the file ended here, so its empty lines are not the log's
                parts[number] = parts[number].rstrip("\n") + "\n" * int(item.row.hash.partition(":")[2] or 1)
        text = "\n".join(parts)
        ctx.vault.replace(log_path(day), text, expect="" if before is None else content_hash(before))
        ctx.write(read_in, ctx, day)
        written.append(log_path(day))
    return written


def searched(found: Iterable[Entry]) -> list[Entry]:
    """The entries of a log that search finds: of an adopted external entry, only the adopted copy."""
    found = list(found)
    keys = {each.key for each in found}
    return [each for each in found if each.trust != "external" or adopted_key(each.id, each.key) not in keys]


def adopted_key(id: str, key: str) -> str:
    return f"{ADOPTED}{content_hash(f'{id} {key}')[:24]}"


def passages_of(ctx: Context, log: LogText) -> Iterator[Passage]:
    """A log's entries as passages; those of one session are neighbours, even when others wrote in between."""
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
        at=moment(found.at, noon),
        trust=found.trust,
        thread=_thread(found),
        position=position,
    )


def midday(ctx: Context, day: date) -> int:
    """The time of an entry that has none of its own."""
    return round(datetime.combine(day, time(12), zone_named(ctx.settings.timezone)).timestamp() * 1000)


def moment(at: str, otherwise: int) -> int:
    """The time in an entry's mark, which people may have edited."""
    try:
        return parse_time(at) if at else otherwise
    except BadInput:
        return otherwise
