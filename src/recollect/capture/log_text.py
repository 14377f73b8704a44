"""One log as its file and its rows tell it: which section of the file is which remembered entry, and what is missing.

Git or a person may take a file away, but only `purge` and undo forget. Writes nothing; that is `capture/logs.py`.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import date

from recollect.core.context import Context, Tx
from recollect.core.journal import Entry
from recollect.core.records import record, replace
from recollect.store import events, journal
from recollect.store.journal import EntryRow
from recollect.text import entries
from recollect.text.entries import LogSection
from recollect.text.nodes import log_path

ACCEPTED = "log.accepted"  # the event by which a person accepts what others write into the shared folder
_AFTER_ALL = 1 << 62  # the place of an entry that has none yet and is behind all others


@record
class LogItem:
    """A section of a log with its number; `row` is what was remembered of it, `held` whether the file holds it."""

    number: int
    section: LogSection
    row: EntryRow | None
    held: bool
    entry: Entry | None

    @property
    def same(self) -> bool:
        """Whether the words are those that are remembered."""
        return self.row is not None and self.row.words == self.section.words


@record
class LogText:
    """A log that was read: its items and entries, its hash, and its text where that is short enough to be copied."""

    day: date
    items: tuple[LogItem, ...]
    hash: str
    raw: str | None
    last: int  # the highest number that was given
    stamp: str  # taken before the file was read, so that a later change is noticed

    @property
    def entries(self) -> tuple[Entry, ...]:
        return tuple(item.entry for item in self.items if item.entry)

    @property
    def text(self) -> str:
        return "\n".join(item.section.text for item in self.items)


def read(ctx: Context, day: date, *, copied: int = 0) -> LogText:
    """Read a log of any size; its text is kept when it has at most `copied` characters."""
    return ctx.read(read_within, ctx, day, copied=copied)


def read_within(tx: Tx, ctx: Context, day: date, *, copied: int = 0, ours: Mapping[str, str] | None = None) -> LogText:
    """The same in an open transaction. `ours` are texts by key that this process has just appended."""
    vault, path = ctx.vault.inside(tx), log_path(day)
    stamp = vault.stamps(names=[path]).get(path, "")
    found = list(entries.sections(day, lines(vault.pieces(path))))
    # In a folder of others a changed entry is not taken for ours: their words would have our id and trust.
    trusted = not ctx.settings.vault.share or accepted(tx)
    rows = journal.entry_rows(tx, day)
    pairs, missing = _recognised(tx, day, found, rows, edits=trusted)
    last = max((row.number for row in rows), default=0)
    first = 0 if all(row.number for row in rows) else None  # the number of the text before the first heading
    known, items = last, list[LogItem]()
    for (section, row), place in zip(zip(found, pairs, strict=True), _places(pairs), strict=True):
        while missing and section.position and missing[0][0].place < place:
            items.append(_item(*missing.pop(0), held=False))
        if row is None:
            number = last + 1 if section.position or first is None else first
            last = max(last, number)
            key = section.entry.key if section.entry else ""
            items.append(new_item(section, number, outside=not trusted and key not in (ours or {})))
        else:
            items.append(_item(row, section, held=True))
    items += [_item(row, section, held=False) for row, section in missing]
    text = "\n".join(_marked(items))
    return LogText(
        day=day,
        items=tuple(items),
        hash=hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest(),
        raw="\n".join(_numbered(items)) if len(text) <= copied else None,
        last=known,
        stamp=stamp,
    )


def _recognised(
    tx: Tx, day: date, found: list[LogSection], rows: list[EntryRow], *, edits: bool
) -> tuple[list[EntryRow | None], list[tuple[EntryRow, LogSection]]]:
    """For each section of a file the entry that it is, and the entries that the file does not hold.

    1. The same key and the same words: the entry itself. A purged section is the next purged entry.
    2. The same key and other words: the entry was edited; or it was purged, and an old file brought it back. Of two
       sections with one key the second is a copy, and a new entry.
    3. No key, and the heading or the body of an entry without a key that the file does not hold otherwise: that entry
       was edited. The text before the first heading is known by its place.
    4. A purged section, and an entry between its neighbours that the file does not hold otherwise: a backup from before
       the purge was restored, and the entry is purged again.

    Every other entry that the file does not hold was removed from the file, and is remembered.
    """
    left = {row.number: row for row in rows}
    pairs: list[EntryRow | None] = [None] * len(found)
    alike: dict[tuple[str, str], list[EntryRow]] = defaultdict(list)  # rows by what they are recognised by, in order

    def pair(*names: tuple[str, str]) -> EntryRow | None:
        for name in names:
            while of := alike[name]:
                if row := left.pop(of.pop(0).number, None):
                    return row
        return None

    keys = [section.entry.key if section.entry else "" for section in found]
    for row in rows:
        alike[("", journal.PURGED) if row.purged else (row.key, row.words)].append(row)
    for number, section in enumerate(found):
        pairs[number] = pair((keys[number], journal.PURGED if section.purged else section.words))
    for row in rows:
        if row.key and (edits or row.purged):
            alike[("key", row.key)].append(row)
    for number, key in enumerate(keys):
        if key and pairs[number] is None:
            pairs[number] = pair(("key", key))
    texts = journal.entry_texts(tx, day, list(left))
    for row in left.values():
        if edits and not row.key and not row.purged:
            for name in _names(texts[row.number], row.number):
                alike[name].append(row)
    for number, section in enumerate(found):
        if pairs[number] is None and not keys[number] and not section.purged:
            pairs[number] = pair(*_names(section.text, section.position))
        elif pairs[number] is None and section.purged:
            after = max((row.place for row in pairs[:number] if row), default=0)
            before = min((row.place for row in pairs[number:] if row), default=_AFTER_ALL)
            between = (row.number for row in left.values() if after < row.place < before)
            pairs[number] = left.pop(next(between, -1), None)
    return pairs, [(row, entries.remembered(day, texts[row.number])) for row in left.values()]


def _names(text: str, number: int) -> list[tuple[str, str]]:
    """What an entry without a key is recognised by after an edit: its heading or its body."""
    heading, _, body = text.partition("\n")
    return [("heading", heading), ("body", body.strip() or heading)] if number else [("first", "")]


def _places(pairs: list[EntryRow | None]) -> list[int]:
    """The place of each section of a file: a new one is where the next known one is, or behind all of them."""
    places, place = [], _AFTER_ALL
    for row in reversed(pairs):
        place = row.place if row else place
        places.append(place)
    return places[::-1]


def new_item(section: LogSection, number: int, *, outside: bool) -> LogItem:
    entry = replace(section.entry, number=number) if section.entry else None
    if entry and outside:
        entry = replace(entry, trust="external")
    return LogItem(number=number, section=section, row=None, held=True, entry=entry)


def _item(row: EntryRow, section: LogSection, *, held: bool) -> LogItem:
    if row.purged:
        section = replace(section, text=entries.PURGED_SECTION, entry=None, purged=True, secret=False)
    entry = replace(section.entry, number=row.number) if section.entry else None
    if entry and section.words == row.words:
        entry = replace(entry, trust=row.trust)  # its mark may not say that it came from others
    return LogItem(number=row.number, section=section, row=row, held=held, entry=entry)


def _marked(items: Iterable[LogItem]) -> Iterator[str]:
    """The texts of a log, each marked as external where it is."""
    for item in items:
        said, entry = item.section.entry, item.entry
        unmarked = said and entry and entry.trust == "external" != said.trust
        yield entries.with_mark(item.section.text, trust="external") if unmarked else item.section.text


def _numbered(items: Iterable[LogItem]) -> Iterator[str]:
    """The same as a node copies them: with a number where the place does not say it."""
    expected = 0
    items = list(items)
    for item, text in zip(items, _marked(items), strict=True):
        expected = expected + 1 if item.section.position else 0
        if item.section.position and (item.number != expected or " number=" in text):
            text = entries.with_mark(text, number=None if item.number == expected else item.number)
        expected = item.number
        yield text


def accepted(tx: Tx) -> bool:
    """Whether a person accepted what others write into the shared folder."""
    return any(event.what == ACCEPTED for event in events.of(tx, "log"))


def keys(ctx: Context, day: date) -> set[str]:
    known = ctx.read(journal.entry_keys, day)
    return known | set(entries.keys(lines(ctx.vault.pieces(log_path(day)))))


def lines(pieces: Iterable[str]) -> Iterator[str]:
    """The lines of a text that comes in pieces; a line longer than an entry may be is cut."""
    rest: str | None = None
    for piece in filter(None, pieces):
        *whole, rest = ((rest or "") + piece).split("\n")
        yield from whole
        rest = rest[: entries.ENTRY_CHARS]
    if rest is not None:
        yield rest
