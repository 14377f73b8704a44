"""Reading raw logs: which days have one, what their entries say, and how the entries are searched.

Logs of any size are read in bounded memory. Rows are derived from the files. Appending is in `capture/log.py`.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import date, datetime, time, timedelta

from recollect.core import calendar
from recollect.core.calendar import parse_day
from recollect.core.clock import day_of, parse_time, zone_named
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, NotFound
from recollect.core.journal import Entry
from recollect.core.values import Passage
from recollect.store import journal, passages
from recollect.store.files import content_hash
from recollect.store.journal import LogEnd, LogRow
from recollect.text import entries, nodes
from recollect.text.tree import log_path, path_of

KIND = "log"
INDEXED_AT_ONCE = 2_000_000  # characters; a longer log is indexed by the next cycle, so that an append stays quick

UNREAD = "unread"  # the stamp of a log that no cycle has read yet

_LOG = re.compile(r"\d{4}-\d{2}-\d{2}\.md")


@dataclass(frozen=True, kw_only=True)
class LogText:
    """A log that was read: its entries, its hash, and its text where that is short enough to be copied."""

    day: date
    entries: tuple[Entry, ...]
    hash: str
    raw: str | None
    stamp: str  # taken before the file was read, so that a later change is noticed


@dataclass(frozen=True, kw_only=True)
class LogDay:
    """A day with a log, and how many entries were in it when it was last read."""

    day: date
    entries: int


def today(ctx: Context) -> date:
    """Today in the project's time zone."""
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
    """The days with a log, newest first."""
    there = days(ctx.vault.stamps())
    known = ctx.read(journal.entry_counts)
    return [LogDay(day=day, entries=known.get(day, 0)) for day in sorted(there, reverse=True)]


def show(ctx: Context, day: date) -> str:
    """The text of a day's log."""
    text = ctx.vault.read(log_path(day))
    if text is None:
        raise NotFound(f"no log for {day}; the days with one are listed by: recollect log tree --period {day:%Y-%m}")
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


def read(ctx: Context, day: date, *, copied: int = 0) -> LogText:
    """Read a log of any size; its text is kept when it has at most `copied` characters."""
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


def lines(pieces: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in pieces; a line longer than an entry may be is cut."""
    rest = ""
    for piece in pieces:
        *whole, rest = (rest + piece).split("\n")
        yield from whole
        rest = rest[: entries.ENTRY_CHARS]
    if rest:
        yield rest


def read_in(tx: Tx, ctx: Context, day: date) -> LogText:
    """Make a log searchable, and remember its stamp: while that is unchanged, a search does not read the log again.

    The log is read in the transaction that writes the rows, so that an entry appended meanwhile is not removed.
    """
    log = read(replace(ctx, vault=ctx.vault.inside(tx)), day)
    journal.put_reading(tx, ctx.clone, source(log.day), stamp=log.stamp, ids=(), at=ctx.clock.now())
    if sum(len(each.text) for each in log.entries) <= INDEXED_AT_ONCE:
        index(tx, ctx, log)
    if log.stamp and journal.log(tx, log.day) is None:
        # With a row, a cycle notices when the file is deleted before it was ever read.
        journal.put_log(tx, LogRow(day=log.day, stamp=UNREAD, hash=log.hash, entries=len(log.entries)))
    return log


def read_in_last(tx: Tx, ctx: Context, found: Entry, end: LogEnd) -> str:
    """The same for a log to which only this entry was added; gives the entry's id."""
    journal.put_reading(tx, ctx.clone, source(found.day), stamp=end.stamp, ids=(), at=ctx.clock.now())
    position = passages.last_position(tx, _thread(found)) + 1
    passages.put(tx, _passage(found, position, midday(ctx, found.day)))
    journal.put_log_end(tx, found.day, end)
    return found.id


def index(tx: Tx, ctx: Context, log: LogText) -> None:
    """Make a log's entries searchable, and remove those that are no longer in it.

    The known end is forgotten: a process that just appended behind it then reads the whole log.
    """
    journal.forget_log_end(tx)
    wanted = {found.id for found in searched(log.entries)}
    for id in passages.ids_under(tx, f"{source(log.day)}#"):
        if id not in wanted:
            passages.remove(tx, id)
    for passage in passages_of(ctx, log):
        passages.put(tx, passage)


def searched(found: Iterable[Entry]) -> list[Entry]:
    """The entries of a log that search finds: of an adopted external entry, only the adopted copy."""
    found = list(found)
    keys = {each.key for each in found}
    return [each for each in found if each.trust != "external" or adopted_key(each.id, each.key) not in keys]


def adopted_key(id: str, key: str) -> str:
    """The key of the adopted copy of an external entry."""
    return f"adopted_{content_hash(f'{id} {key}')[:24]}"


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
