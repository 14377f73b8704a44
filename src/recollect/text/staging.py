"""The staging file: a preamble, then one H2 section per staged learning; merging two versions of it, and what is due.

Reading and changing it as text; every line that is not asked for stays as it was. Headings inside fences and comments
are text. The merge is the one of the git merge driver, entry by entry. When to consolidate, and which entries, are two
questions with thresholds of their own; an age is a number of days with a commit, never mixed with calendar days. Pure:
ages, sizes and days are passed in.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from datetime import date
from functools import lru_cache
from itertools import pairwise
from typing import Literal

from recollect.core.records import record
from recollect.text.markdown import Fences, heading, headings, lazy, lines_of

HEADING_LINE = lazy(r"## +\S")  # the heading of an entry, for git's history of the file

EXTERNAL = "<!-- recollect: from outside, not adopted -->"  # begins the body of such an entry until a person adopts it
_CONSOLIDATED = lazy(r"<!-- recollect: consolidated on (\d{4}-\d{2}-\d{2}) -->\n?")
PENDING = "<!-- pending -->"
_PENDING = lazy(r"(?im)^\s*(?:<!--\s*pending\b|[*_]*status[*_:]*\s*:?\s*pending\b).*$")


@record
class StagedEntry:
    """One staged learning; its lines in the file are `first` to `last`, counted from 0, `last` excluded."""

    title: str
    body: str
    slug: str
    first: int
    last: int

    @property
    def text(self) -> str:
        return f"## {self.title}\n\n{self.body}\n" if self.body else f"## {self.title}\n"

    @property
    def external(self) -> bool:
        """It came from outside, and no person has adopted it."""
        return self.body.startswith(EXTERNAL)

    @property
    def said(self) -> str:
        """The body without the mark of an entry from outside."""
        return self.body.removeprefix(EXTERNAL).lstrip("\n")

    @property
    def pending(self) -> bool:
        """Its author marked it as not validated yet, or a person holds it back."""
        return bool(_PENDING.search(self.body))

    def held(self, on: bool) -> str:
        """The body with or without such a mark."""
        return f"{self.body}\n\n{PENDING}".strip() if on else _PENDING.sub("", self.body).strip("\n")


@record
class StagingText:
    """A staging file, read. `consolidated_on` is what the last consolidation left in the preamble."""

    preamble: str
    entries: tuple[StagedEntry, ...]
    lines: int
    consolidated_on: date | None

    def entry(self, slug: str) -> StagedEntry | None:
        return next((entry for entry in self.entries if entry.slug == slug), None)


@lru_cache(maxsize=16)  # one run asks for the same text a dozen times
def read_staging(text: str) -> StagingText:
    lines = lines_of(text)
    starts = [at for at in headings(lines, deepest=2) if lines[at].startswith("##")]
    entries: list[StagedEntry] = []
    taken: set[str] = set()
    for first, last in pairwise([*starts, len(lines)]):
        _, title = heading(lines[first]) or (2, "")
        slug = free_slug(slug_of(title), taken)
        taken.add(slug)
        body = _trimmed(lines[first + 1 : last])
        entries.append(StagedEntry(title=title, body=body, slug=slug, first=first, last=last))
    preamble = "\n".join(lines[: starts[0]] if starts else lines)
    return StagingText(
        preamble=preamble,
        entries=tuple(entries),
        lines=len(lines),
        consolidated_on=_consolidated_on(preamble),
    )


def without(text: str, slugs: Collection[str]) -> str:
    """The file without these entries; all other lines are untouched."""
    lines = lines_of(text)
    for entry in reversed(read_staging(text).entries):
        if entry.slug in slugs:
            del lines[entry.first : entry.last]
    return "\n".join(lines) + "\n" if lines else ""


def with_body(text: str, title: str, body: str, new: str | None) -> str:
    """The file with another body for the first entry of exactly these words, in its place; without the entry for None.

    An entry is known by its words, because slugs of one title change when one of them leaves.
    """
    for entry in read_staging(text).entries:
        if (entry.title, entry.body) == (title, body):
            lines = lines_of(text)
            said = [] if new is None else [lines[entry.first], "", *lines_of(new), *[""] * (entry.last < len(lines))]
            lines[entry.first : entry.last] = said
            return "\n".join(lines) + "\n" if lines else ""
    return text


def with_entry(text: str, title: str, body: str) -> str:
    entry = f"## {title}\n\n{body.strip()}\n" if body.strip() else f"## {title}\n"
    return f"{text.rstrip()}\n\n{entry}" if text.strip() else entry


def marked_consolidated(text: str, day: date) -> str:
    """The file with the day of this consolidation in its preamble, in place of the last one's."""
    mark = f"<!-- recollect: consolidated on {day.isoformat()} -->\n"
    staging = read_staging(text)
    if staging.consolidated_on:
        return _CONSOLIDATED.sub(mark, text, count=1)
    lines = lines_of(text)
    start = staging.entries[0].first if staging.entries else len(lines)
    head = "\n".join(lines[:start]).rstrip()
    rest = "\n".join(lines[start:])
    return (f"{head}\n\n" if head else "") + mark + (f"\n{rest}\n" if rest else "")


def closed(body: str) -> str:
    """A body that cannot end its entry early nor run on into the next: headings deeper, fences and comments closed."""
    lines = lines_of(body)
    for at in headings(lines, deepest=2):
        lines[at] = "### " + lines[at].lstrip("#").strip()
    still_open, _ = _open_at_end(lines)
    return "\n".join([*lines, still_open] if still_open else lines)


def open_line(text: str) -> int | None:
    """The line, counted from 1, of a fence or comment that nothing closes: whatever is appended falls into it."""
    still_open, at = _open_at_end(lines_of(text))
    return at + 1 if still_open else None


def unmarked(preamble: str) -> str:
    """A preamble without the day of the last consolidation."""
    return _CONSOLIDATED.sub("", preamble + "\n")


def _open_at_end(lines: list[str]) -> tuple[str, int]:
    """What would close the fence or comment that is open at the end, and the line that the last one began at."""
    fences = Fences(comments=True)
    opened = 0
    for at, line in enumerate(lines):
        was_open = fences.closing
        fences.inside(line)
        opened = at if fences.closing and not was_open else opened
    return fences.closing, opened


def slug_of(title: str) -> str:
    """A title as an id and a link target: lower-case words with hyphens."""
    plain = unicodedata.normalize("NFKD", title).lower()
    kept = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return "-".join(re.findall(r"\w+", kept))[:80].strip("-") or "untitled"


def free_slug(slug: str, taken: Collection[str]) -> str:
    """The slug itself, or with the first free number."""
    number, free = 2, slug
    while free in taken:
        free, number = f"{slug}-{number}", number + 1
    return free


def _trimmed(lines: list[str]) -> str:
    """A body without the blank lines and rules around it."""
    while lines and lines[0].strip() == "":
        lines = lines[1:]
    while lines and lines[-1].strip() in ("", "---", "***", "___"):
        lines = lines[:-1]
    return "\n".join(lines)


def _consolidated_on(preamble: str) -> date | None:
    match = _CONSOLIDATED.search(preamble + "\n")
    try:
        return date.fromisoformat(match[1]) if match else None
    except ValueError:
        return None


@record
class Merged:
    """The merged file, and the titles that a person has to settle."""

    text: str
    conflicts: tuple[str, ...]


@record
class _Part:
    """A preamble or an entry of one side: what it says, and its lines as they are; empty when it is not there."""

    title: str = ""
    says: str = ""
    lines: str = ""


def merge_staging(base: str, ours: str, theirs: str) -> Merged:
    """What both sides made of the common version `base`."""
    old, mine, other = (_parts(text) for text in (base, ours, theirs))
    conflicts: list[str] = []
    parts: list[str] = []
    for slug in {**mine, **other}:
        before, here, there = (side.get(slug, _Part()) for side in (old, mine, other))
        merge = _merged_entry if slug else _merged_text
        parts += merge(before, here, there, conflicts)
    text = "\n\n".join(parts) + "\n" if parts else ""
    days = [day for side in (ours, theirs) if (day := read_staging(side).consolidated_on)]
    return Merged(text=marked_consolidated(text, max(days)) if days else text, conflicts=tuple(conflicts))


def _parts(text: str) -> dict[str, _Part]:
    """A side by slug; the preamble has none."""
    staging, lines = read_staging(text), lines_of(text)
    head = unmarked(staging.preamble).strip("\n")
    found = {"": _Part(title="the preamble", says=head, lines=head)}
    for entry in staging.entries:
        whole = "\n".join(lines[entry.first : entry.last]).strip("\n")
        found[entry.slug] = _Part(title=entry.title, says=entry.text, lines=whole)
    return found


def _merged_entry(before: _Part, here: _Part, there: _Part, conflicts: list[str]) -> list[str]:
    if not before.says and here.says and there.says and here.says != there.says:
        return [here.lines, there.lines]  # written on both sides under one title: two entries
    if not here.says or not there.says:
        # Taken out on one side: consolidated. It comes back only when the other side rewrote it meanwhile.
        left = here if here.says else there
        return [left.lines] if left.says != before.says else []
    return _merged_text(before, here, there, conflicts)


def _merged_text(before: _Part, here: _Part, there: _Part, conflicts: list[str]) -> list[str]:
    if here.says == there.says:
        kept = there if here.lines == before.lines else here
    elif there.says == before.says:
        kept = here
    elif here.says == before.says:
        kept = there
    else:
        conflicts.append(here.title)
        return [f"<<<<<<< ours\n{here.lines}\n=======\n{there.lines}\n>>>>>>> theirs"]
    return [kept.lines] if kept.lines else []


ActiveDays = int


@record
class Thresholds:
    """When a consolidation is due and what it takes up; each is a setting."""

    lines: int = 150
    stale_days: ActiveDays = 14
    fresh_days: ActiveDays = 7
    batch: int = 3
    keep_newest: int = 3


@record
class Aged:
    """A staged learning with the day it was added and its age; None for both before its first commit."""

    entry: StagedEntry
    added: date | None
    age: ActiveDays | None


Trigger = Literal["size", "stale", "none"]


@record
class HeldBack:
    slug: str
    reason: str


@record
class ConsolidationPlan:
    """What one consolidation takes up. `short` says that the trigger fired without enough to do.

    `spare` are ripe entries that are held because the batch suffices; each may stand in for one of it that stays.
    """

    trigger: Trigger
    reason: str
    batch: tuple[Aged, ...]
    held: tuple[HeldBack, ...]
    short: bool
    spare: tuple[Aged, ...] = ()


def active_days_after(day: date, active: Sequence[date], today: date) -> ActiveDays:
    """How many days with a commit came after `day`, up to today; 0 on the day itself."""
    return sum(day < each <= today for each in active)


def aged(
    entries: Sequence[StagedEntry],
    line_days: Sequence[date | None],
    active: Sequence[date],
    today: date,
    lines: Sequence[str],
) -> tuple[Aged, ...]:
    """Entries with the age of their oldest line, so that a new title does not make one young.

    A line that two entries share says nothing of either: git may have carried it from the one to the other.
    """
    words = ["".join(line.split()) for line in lines]
    holders = Counter(line for entry in entries for line in set(words[entry.first : entry.last]))
    found = []
    for entry in entries:
        own = [
            at for at in range(entry.first, entry.last) if holders[words[at]] == 1 and any(map(str.isalnum, lines[at]))
        ]
        days = [line_days[at] for at in own or [entry.first]]
        committed = [day for day in days if day]
        # Under a new title a line may come from an entry that left; a retitled entry brings most of its own.
        is_new = line_days[entry.first] is None and 2 * len(committed) < len(days)
        added = None if is_new else min(committed, default=None)
        age = None if added is None else active_days_after(added, active, today)
        found.append(Aged(entry=entry, added=added, age=age))
    return tuple(found)


def triggered(lines: int, since_last: ActiveDays | None, limits: Thresholds) -> tuple[Trigger, str]:
    """The trigger test: is it time to consolidate at all?"""
    if lines >= limits.lines:
        return "size", f"{lines} lines, the limit is {limits.lines}"
    if since_last is not None and since_last >= limits.stale_days:
        return "stale", f"{since_last} active days since the last consolidation, the limit is {limits.stale_days}"
    either = f"or {since_last} of {limits.stale_days} active days; either is enough"
    waited = ", nothing was consolidated yet" if since_last is None else f" {either}"
    return "none", f"{lines} of {limits.lines} lines{waited}"


def fresh(age: ActiveDays | None, limits: Thresholds) -> str:
    """The freshness test: why an entry has not proved itself yet; "" when it has."""
    if age is None:
        return "not committed yet"
    return "" if age >= limits.fresh_days else f"{age} of {limits.fresh_days} active days old"


def plan(
    entries: Sequence[Aged],
    *,
    lines: int,
    since_last: ActiveDays | None,
    limits: Thresholds,
    waiting: Mapping[str, str] | None = None,
    mark_lines: int = 0,
) -> ConsolidationPlan:
    """Both tests and the batch: oldest first until the file is below its limit; when stale, all that qualify.

    `waiting` names entries that something else holds back, with the reason; `mark_lines` are what the run adds.
    """
    trigger, reason = triggered(lines, since_last, limits)
    held, ripe = _sorted_out(entries, limits, waiting or {})
    # An entry that waits for a person has proved itself, too: the others need not wait for it.
    proved = len(ripe) + sum(each.reason == (waiting or {}).get(each.slug) for each in held)
    short = trigger != "none" and (not ripe or proved < limits.batch)
    if trigger == "none":
        reason += f"; entries old enough: {sum(not fresh(one.age, limits) for one in entries)} of {len(entries)}"
    if trigger == "none" or short:
        return ConsolidationPlan(trigger=trigger, reason=reason, batch=(), held=tuple(held), short=short)
    batch: list[Aged] = []
    spare: list[Aged] = []
    left = lines + mark_lines
    for one in ripe:
        if trigger == "size" and left < limits.lines and len(batch) >= limits.batch:
            spare.append(one)
        else:
            batch.append(one)
            left -= one.entry.last - one.entry.first
    held += [HeldBack(slug=one.entry.slug, reason="the file is below its limit without it") for one in spare]
    return ConsolidationPlan(
        trigger=trigger, reason=reason, batch=tuple(batch), held=tuple(held), short=False, spare=tuple(spare)
    )


def _sorted_out(
    entries: Sequence[Aged], limits: Thresholds, waiting: Mapping[str, str]
) -> tuple[list[HeldBack], list[Aged]]:
    oldest_first = sorted(entries, key=lambda one: (one.added or date.max, one.entry.first))
    newest = {one.entry.slug for one in oldest_first[-limits.keep_newest :]} if limits.keep_newest else set()
    held: list[HeldBack] = []
    ripe: list[Aged] = []
    for one in oldest_first:
        slug = one.entry.slug
        why = (
            fresh(one.age, limits)
            or (f"one of the newest {limits.keep_newest}" if slug in newest else "")
            or ("marked pending" if one.entry.pending else "")
            or _referred_to(one.entry, entries)
            or waiting.get(slug, "")
        )
        if why:
            held.append(HeldBack(slug=slug, reason=why))
        else:
            ripe.append(one)
    return held, ripe


def _referred_to(entry: StagedEntry, entries: Sequence[Aged]) -> str:
    """Another staged entry needs this one next to it: it links to it or quotes its title."""
    named = lazy(rf"#{re.escape(slug_of(entry.title))}\b|[\"“`*_\[]{re.escape(entry.title)}[\"”`*_\]]", re.IGNORECASE)
    for other in entries:
        if other.entry.slug != entry.slug and named.search(other.entry.body):
            return f"{other.entry.title!r} refers to it"
    return ""
