"""When to consolidate staged learnings, and which: the trigger test and the freshness test (seed 001).

Two questions with thresholds of their own. An age is a number of active days, days with a commit; it is never
mixed with calendar days. Pure: ages, sizes and days are passed in.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Literal

from recollect.core.records import record
from recollect.text.patterns import lazy
from recollect.text.staging import StagedEntry, slug_of

ActiveDays = int


@record
class Thresholds:
    """Seed 001's parameters; each is a setting."""

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
    """An entry that stays staged, and why."""

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
