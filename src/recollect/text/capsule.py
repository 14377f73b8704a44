"""What ROOT.md needs of each month, and of all the months before the latest two folded into one.

A fold makes the root cost the same after ten years as after three months: what could never be shown is already laid out
for the overflow file. Folding is pure, so a kept fold and a fresh one are the same. Knows nothing about the page.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from recollect.core.journal import KEPT, EntryType, Point
from recollect.text.keyphrases import Weights, keyphrases
from recollect.text.points import place_of, topic_name

LATEST = 2
"""Months that are not folded: the current one and the one before it."""
LINE_TOKENS = 20
"""What a line of the page costs at least: so many mentions of the past can be shown, no more."""
THEMES = 12

_MENTIONS = 80
_LESSONS = 8
_PHRASES = 8


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
        return self.type in KEPT

    @property
    def newest_first(self) -> tuple[bool, int, int, str]:
        """User and feedback items before others, later before earlier."""
        day, number = place_of(self.last)
        return not self.kept, -int(day.replace("-", "")), -number, self.topic


@dataclass(frozen=True, kw_only=True)
class Capsule:
    """What the root needs to know of a month."""

    month: str
    mentions: tuple[Mention, ...]
    lessons: tuple[Point, ...]

    @property
    def themes(self) -> tuple[tuple[str, int], ...]:
        """Its most mentioned topics."""
        counts: dict[str, int] = {}
        for mention in self.mentions:
            if not mention.kept:
                counts[mention.topic] = counts.get(mention.topic, 0) + mention.count
        return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:THEMES])


@dataclass(frozen=True, kw_only=True)
class Past:
    """Folded months: the themes of each, the mentions a page may show, and the lines of all the others."""

    themes: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    mentions: tuple[Mention, ...] = ()
    rest: str = ""


def capsule(month: str, found: Sequence[Point]) -> Capsule:
    """A month in small: every user and feedback item, its most mentioned topics, its most telling lessons."""
    kept = [_mention([point], point.text) for point in found if point.kept and point.text and point.refs]
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


def fold(capsules: Sequence[Capsule], cap: int) -> Past:
    """Many months as one, for a page of `cap` tokens."""
    shown = cap // LINE_TOKENS
    mentions = merged(mention for one in reversed(capsules) for mention in one.mentions)
    return Past(
        themes=tuple((one.month, one.themes) for one in capsules),
        mentions=tuple(mentions[:shown]),
        rest="\n".join(map(dated_line, mentions[shown:])),
    )


def merged(mentions: Iterable[Mention]) -> list[Mention]:
    """Mentions given from the latest month back: user and feedback items one by one, others one per topic."""
    found: dict[tuple[str, str, str], Mention] = {}
    for mention in mentions:
        key = (mention.topic.casefold(), mention.type, mention.text.casefold() if mention.kept else "")
        newer = found.get(key)
        if newer is None:
            found[key] = mention
        else:
            text = newer.text if newer.kept or mention.type == "reference" else _joined(newer.text, mention.text)
            found[key] = replace(newer, text=text or mention.text, count=newer.count + mention.count)
    return sorted(found.values(), key=lambda mention: mention.newest_first)


def dated_line(mention: Mention) -> str:
    """A line with a date instead of an age, so that it only changes when its content does."""
    said = f": {mention.text}" if mention.text else ""
    return f"- {mention.topic} [{mention.type}, {mention.last[:10]}]{said} → log/{mention.last}"


def packed(one: Capsule) -> str:
    """A capsule as a row keeps it."""
    lessons = [[point.topic, point.text, list(point.refs)] for point in one.lessons]
    return json.dumps([one.month, _rows(one.mentions), lessons], ensure_ascii=False)


def unpacked(text: str) -> Capsule:
    month, mentions, lessons = json.loads(text)
    return Capsule(
        month=month,
        mentions=tuple(_mentions(mentions)),
        lessons=tuple(
            Point(section="lesson", topic=topic, text=said, refs=tuple(refs)) for topic, said, refs in lessons
        ),
    )


def packed_past(past: Past) -> str:
    """A fold as a row keeps it, but for its rest, which is a text as it is."""
    return json.dumps([past.themes, _rows(past.mentions)], ensure_ascii=False)


def unpacked_past(text: str) -> Past:
    themes, mentions = json.loads(text)
    return Past(
        themes=tuple((month, tuple((topic, count) for topic, count in found)) for month, found in themes),
        mentions=tuple(_mentions(mentions)),
    )


def _rows(mentions: Iterable[Mention]) -> list[list[object]]:
    return [[m.topic, m.type, m.text, m.last, m.count, int(m.done)] for m in mentions]


def _mentions(rows: Iterable[list[object]]) -> Iterable[Mention]:
    for topic, kind, said, last, count, done in rows:
        yield Mention(topic=topic, type=kind, text=said, last=last, count=count, done=bool(done))  # type: ignore[arg-type]


def _mention(group: Sequence[Point], text: str) -> Mention:
    last = max((ref for point in group for ref in point.refs), key=place_of)
    ended = any(point.section == "done" and point.last_day == last[:10] for point in group)
    opened = any(point.section == "open" and point.last_day == last[:10] for point in group)
    name = topic_name(group[0].topic).replace("[", "(").replace("]", ")")
    done = ended and not opened
    return Mention(topic=name, type=group[0].type, text=text, last=last, count=_count(group), done=done)


def _about(group: Sequence[Point], weights: Weights) -> str:
    if group[0].type == "reference":
        return next((point.text for point in reversed(group) if point.text), "")
    return ", ".join(keyphrases([point.text for point in group], weights, _PHRASES))


def _count(group: Sequence[Point]) -> int:
    return len({ref for point in group for ref in point.refs})


def _joined(newer: str, older: str) -> str:
    parts = dict.fromkeys((*newer.split(", "), *older.split(", ")))
    return ", ".join([part for part in parts if part][:_PHRASES])
