"""ROOT.md: the whole memory on one page, inside a token budget.

A function of the months, the latest week and today, never of the old root, so it cannot drift. A month comes as a
`Capsule`: what the root needs of it and no more, so that ten years cost little more than one month.
Knows nothing about files.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import date

from recollect.core.journal import EntryType, Point
from recollect.text import markdown, points
from recollect.text.keyphrases import Weights, keyphrases
from recollect.text.tokens import tokens

SETTLED_DAYS = 90
"""A project topic nobody mentions for this long counts as completed."""
DOUBT_DAYS = 30
"""A reference older than this is shown with `?`."""
OVERFLOW = "ROOT.overflow.md"

_MENTIONS = 80
_LESSONS = 8
_ACTIVE_LINES, _PATTERN_LINES = 20, 10
_ACTIVE_SHARE, _PATTERN_SHARE = 0.3, 0.15
_LINE_CHARS = 240
_AGED = re.compile(r"^(- .*? \[(\w+)), \d+d(?:, \?)?(\].* → log/(\d{4}-\d{2}-\d{2})#\d+)$", re.MULTILINE)


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A topic as a month knows it: what was said about it, and where last."""

    topic: str
    type: EntryType
    text: str
    last: str
    count: int = 1
    done: bool = False

    @property
    def kept(self) -> bool:
        return self.type in ("user", "feedback")


@dataclass(frozen=True, kw_only=True)
class Capsule:
    """What the root needs to know of a month."""

    month: str
    mentions: tuple[Mention, ...]
    lessons: tuple[Point, ...]


def capsule(month: str, found: Sequence[Point]) -> Capsule:
    """A month in small: every user and feedback item, its most mentioned topics, its most telling lessons."""
    kept = [_mention([point], point.text) for point in found if point.kept and point.text]
    groups: dict[tuple[str, EntryType], list[Point]] = {}
    for point in found:
        if point.section != "entity" and point.refs and not (point.kept and point.text):
            groups.setdefault((point.topic.casefold(), point.type), []).append(point)
    weights = Weights(point.text for point in found)
    said = [group for group in groups.values() if any(point.text for point in group)]
    best = sorted(said, key=lambda group: (-_count(group), group[0].topic))[:_MENTIONS]
    topics = [_mention(group, _about(group, weights)) for group in best]
    lessons = [point for point in found if point.section == "lesson" and not point.kept]
    lessons.sort(key=lambda point: (-len(point.refs), -weights.density(point.text), point.text))
    return Capsule(month=month, mentions=(*kept, *topics), lessons=tuple(lessons[:_LESSONS]))


def build(
    capsules: Sequence[Capsule], recent: Sequence[Point], today: date, cap: int, sources: str = ""
) -> tuple[str, str | None]:
    """ROOT.md and, when it cannot hold everything, its overflow file."""
    capsules = sorted(capsules, key=lambda capsule: capsule.month)
    mentions = _merged(capsules)
    fields = {
        "type": "root",
        "status": "tentative",
        "last-updated": today,
        "months": f"{capsules[0].month}~{capsules[-1].month}" if capsules else "",
        "sha256": sources,
    }
    active = _within(_active(recent, mentions), _ACTIVE_LINES, int(cap * _ACTIVE_SHARE))
    patterns = _within(_patterns(capsules[-2:]), _PATTERN_LINES, int(cap * _PATTERN_SHARE))
    link = f"- more topics → {OVERFLOW}"

    def page(history: Sequence[str], index: Sequence[str]) -> str:
        titles = ("Active Context (recent ~7 days)", "Recent Patterns", "Historical Summary", "Topics Index")
        parts = zip(titles, (active, patterns, history, index), strict=True)
        body = "\n\n".join("\n".join([f"## {title}", *lines]) for title, lines in parts)
        return markdown.with_frontmatter(fields, body)

    index = [_index_line(mention, today) for mention in mentions]
    for grain in range(len(_GRAINS)):
        history = _history(capsules, grain)
        text = page(history, index)
        if tokens(text) <= cap:
            return text, None
    left = cap - tokens(page(history, [link])) - 8
    shown: list[str] = []
    over: list[Mention] = []
    for mention in sorted(mentions, key=lambda mention: _settled(mention, today)):
        cost = tokens(line := _index_line(mention, today)) + 1
        if cost > left:
            over.append(mention)
        else:
            left -= cost
            shown.append(line)
    return page(history, [*shown, link]), _overflow(over, sources)


def with_ages(text: str, today: date) -> str:
    """The page with its ages counted to another day: what is shown is never older than its reader."""

    def aged(found: re.Match[str]) -> str:
        return found[1] + _age(found[2], found[4], today) + found[3]

    return _AGED.sub(aged, text)


def _mention(group: Sequence[Point], text: str) -> Mention:
    first = group[0]
    last = max((ref for point in group for ref in point.refs), key=_place, default="")
    day = last[:10]
    ended = any(point.section == "done" and point.last_day == day for point in group)
    opened = any(point.section == "open" and point.last_day == day for point in group)
    name = points.topic_name(first.topic).replace("[", "(").replace("]", ")")
    return Mention(topic=name, type=first.type, text=text, last=last, count=_count(group), done=ended and not opened)


def _about(group: Sequence[Point], weights: Weights) -> str:
    if group[0].type == "reference":
        return next((point.text for point in reversed(group) if point.text), "")
    return ", ".join(keyphrases([point.text for point in group], weights, 8))


def _count(group: Sequence[Point]) -> int:
    return len({ref for point in group for ref in point.refs})


def _merged(capsules: Sequence[Capsule]) -> list[Mention]:
    """Topics of all months, the latest word first: user and feedback items one by one, others one per topic."""
    found: dict[tuple[str, str, str], Mention] = {}
    for one in reversed(capsules):
        for mention in one.mentions:
            key = (mention.topic.casefold(), mention.type, mention.text.casefold() if mention.kept else "")
            newer = found.get(key)
            if newer is None:
                found[key] = mention
            else:
                text = newer.text if newer.kept or mention.type == "reference" else _joined(newer.text, mention.text)
                found[key] = replace(newer, text=text or mention.text, count=newer.count + mention.count)
    return sorted(found.values(), key=lambda mention: (not mention.kept, *_newest_first(mention), mention.topic))


def _joined(newer: str, older: str) -> str:
    parts = dict.fromkeys((*newer.split(", "), *older.split(", ")))
    return ", ".join([part for part in parts if part][:8])


def _active(recent: Sequence[Point], mentions: Sequence[Mention]) -> list[str]:
    """Per topic what is open, else what was decided, else what it is about; of what is done, the result, at the end."""
    done = {mention.topic.casefold() for mention in mentions if mention.done}
    groups: dict[str, list[Point]] = {}
    for point in recent:
        if point.type == "project" and point.refs and point.text and point.section != "entity":
            groups.setdefault(point.topic.casefold(), []).append(point)
    order = sorted(groups.values(), key=lambda group: (group[0].topic.casefold() in done, _newest_first_of(group)))
    lines: list[str] = []
    for group in order:
        telling = ("done",) if group[0].topic.casefold() in done else ("open", "decision")
        wanted = [point for section in telling for point in group if point.section == section]
        if not wanted:
            phrases = keyphrases([point.text for point in group], Weights(point.text for point in group), 8)
            newest = max(group, key=lambda point: _place(point.refs[-1]))
            wanted = [replace(newest, text=", ".join(phrases))]
        wanted.sort(key=_newest_first_of_point)
        lines += [_line(point) for point in wanted[:2]]
    return lines


def _patterns(capsules: Sequence[Capsule]) -> list[str]:
    """Lessons of this month and the last, those with most support first."""
    found = {point.text.casefold(): point for one in capsules for point in one.lessons}
    return [_line(point) for point in sorted(found.values(), key=lambda point: (-len(point.refs), point.text))]


def _line(point: Point) -> str:
    last = max(point.refs, key=_place)
    return f"- {points.topic_name(point.topic)}: {_cut(point.text)} → log/{last}"


def _index_line(mention: Mention, today: date) -> str:
    said = f": {mention.text if mention.kept else _cut(mention.text)}" if mention.text else ""
    age = _age(mention.type, mention.last[:10], today)
    return f"- {mention.topic} [{mention.type}{age}]{said} → log/{mention.last}"


def _age(type: str, day: str, today: date) -> str:
    days = max((today - date.fromisoformat(day)).days, 0)
    return f", {days}d" + (", ?" if type == "reference" and days > DOUBT_DAYS else "")


def _settled(mention: Mention, today: date) -> tuple[bool, bool, int]:
    """The order in which topics are given up, last one first: completed projects go, user and feedback stay."""
    age = (today - date.fromisoformat(mention.last[:10])).days
    over = mention.type == "project" and (age > SETTLED_DAYS or (mention.done and age > 7))
    return not mention.kept, over, age


_GRAINS = ((10_000, 0), (6, 3), (3, 12), (2, 12), (1, 0))
"""How many of the latest months keep a line of their own, and how many months share one before that (0: all)."""


def _history(capsules: Sequence[Capsule], grain: int) -> list[str]:
    """Past periods, latest last, coarser with every grain. Every month is inside exactly one of them."""
    single, together = _GRAINS[grain]
    groups: list[list[Capsule]] = []
    old = capsules[:-single] if len(capsules) > single else []
    for one in old:
        number = int(one.month[:4]) * 12 + int(one.month[5:]) - 1
        bucket = number // together if together else 0
        if groups and bucket == _bucket(groups[-1][0].month, together):
            groups[-1].append(one)
        else:
            groups.append([one])
    groups += [[one] for one in capsules[len(old) :]]
    return [_period_line(group, 12 if grain < 2 else 8) for group in groups]


def _bucket(month: str, together: int) -> int:
    return (int(month[:4]) * 12 + int(month[5:]) - 1) // together if together else 0


def _period_line(group: Sequence[Capsule], themes: int) -> str:
    first, last = group[0].month, group[-1].month
    name = first if first == last else f"{first}~{last[5:] if first[:4] == last[:4] else last}"
    counts: dict[str, int] = {}
    for mention in (mention for one in group for mention in one.mentions if not mention.kept):
        counts[mention.topic] = counts.get(mention.topic, 0) + mention.count
    best = sorted(counts, key=lambda topic: (-counts[topic], topic))[:themes]
    return f"- {name}: {_cut(', '.join(best)) or 'user and feedback items only'} → monthly/{last}"


def _overflow(over: Sequence[Mention], sources: str) -> str:
    """What ROOT.md had no room for; dates instead of ages, so that the file only changes when its content does."""
    lines = [
        f"- {mention.topic} [{mention.type}, {mention.last[:10]}]"
        + (f": {mention.text}" if mention.text else "")
        + f" → log/{mention.last}"
        for mention in sorted(over, key=lambda mention: (not mention.kept, *_newest_first(mention), mention.topic))
    ]
    fields = {"type": "root-overflow", "sha256": sources}
    return markdown.with_frontmatter(fields, "\n".join(["## Topics Index", *lines]))


def _within(lines: Iterable[str], count: int, budget: int) -> list[str]:
    shown: list[str] = []
    for line in lines:
        budget -= tokens(line) + 1
        if budget < 0 or len(shown) == count:
            break
        shown.append(line)
    return shown


def _cut(text: str) -> str:
    return text if len(text) <= _LINE_CHARS else text[: _LINE_CHARS - 1].rsplit(" ", 1)[0].rstrip(",;") + "…"


def _place(ref: str) -> tuple[str, int]:
    return ref[:10], int(ref[11:] or 0)


def _newest_first(mention: Mention) -> tuple[int, int]:
    day, number = _place(mention.last)
    return -int(day.replace("-", "") or 0), -number


def _newest_first_of_point(point: Point) -> tuple[int, int]:
    day, number = max(map(_place, point.refs))
    return -int(day.replace("-", "")), -number


def _newest_first_of(group: Sequence[Point]) -> tuple[int, int]:
    return min(map(_newest_first_of_point, group))
