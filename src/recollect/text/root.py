"""ROOT.md: the whole memory on one page, inside a token budget; and the digest of each month that it is made from.

A function of the months, the latest week and today, never of the old root, so it cannot drift. Over the cap, periods of
the history are merged first; then topics go to the overflow file: completed and long silent projects before living
ones, user and feedback items last. Months before the latest two are folded into one, so that its cost does not grow.
Knows nothing about files.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Any

from recollect.core.journal import KEPT, EntryType, Point
from recollect.core.records import record, replace
from recollect.text import markdown
from recollect.text.frame import age_of
from recollect.text.points import densities, latest, newest_first, place_of, spoken, topic_name
from recollect.text.sentences import cut
from recollect.text.summarise import still_open
from recollect.text.tokens import tokens

LATEST = 2  # months that are not folded: the current one and the one before it
LINE_TOKENS = 20  # what a line of the page costs at least: so many mentions of the past can be shown, no more
THEMES = 24  # topics of a month among which its history is chosen

_MENTIONS = 80  # project topics of a month that are kept; the page shows about as many in all
_LESSONS = 8  # of a month; the page shows ten of two months
_TELLING = ("open", "decision", "done", "lesson", "note", "topic")  # what is said of a topic, the most telling first


@record
class Mention:
    """A topic as a month knows it: what was said about it, and where last."""

    topic: str
    type: EntryType
    text: str
    last: str
    count: int = 1
    done: bool = False
    open: bool = False
    """Whether what was said is an open item."""

    @property
    def kept(self) -> bool:
        return self.type in KEPT

    @property
    def newest_first(self) -> tuple[bool, int, int, str]:
        """User and feedback items before others, later before earlier."""
        day, number = place_of(self.last)
        return not self.kept, -int(day.replace("-", "")), -number, self.topic


@record
class MonthDigest:
    month: str
    mentions: tuple[Mention, ...]
    lessons: tuple[Point, ...]

    @property
    def themes(self) -> tuple[tuple[str, int], ...]:
        """Its most mentioned topics, of equals the latest."""
        counts: Counter[str] = Counter()
        for mention in sorted(self.mentions, key=lambda mention: mention.newest_first):
            if not mention.kept:
                counts[mention.topic] += mention.count
        return tuple(counts.most_common(THEMES))


@record
class Past:
    """Folded months: the themes of each, the mentions a page may show, and the lines of all the others.

    `hidden` counts those lines, so that no pass reads ten years of them: all, user and feedback items, references.
    """

    themes: tuple[tuple[str, tuple[tuple[str, int], ...]], ...] = ()
    mentions: tuple[Mention, ...] = ()
    rest: str = ""
    hidden: tuple[int, int, int] = (0, 0, 0)


def make_digest(month: str, found: Sequence[Point]) -> MonthDigest:
    """A month in small: every user and feedback item and reference, its most mentioned topics, its lessons."""
    kept = [_mention([point], point) for point in found if point.kept and point.text and point.refs]
    groups: dict[tuple[str, EntryType], list[Point]] = {}
    for point in still_open(found):
        if point.section != "more" and point.refs and not (point.kept and point.text):
            groups.setdefault((point.topic.casefold(), point.type), []).append(point)
    density = densities(point.text for point in found)
    said = [group for group in groups.values() if any(point.text for point in group)]
    references = [group for group in said if group[0].type == "reference"]
    projects = sorted((group for group in said if group[0].type == "project"), key=lambda group: -_count(group))
    # What a topic's latest entry left open, else decided, did or said.
    told = ((group, [point for point in group if point.text]) for group in (*references, *projects[:_MENTIONS]))
    topics = [_mention(group, min(some, key=_first_told)) for group, some in told]
    lessons = [point for point in found if point.section == "lesson" and not point.kept]
    lessons.sort(key=lambda point: (-len(point.refs), -density(point.text), point.text))
    return MonthDigest(month=month, mentions=(*kept, *topics), lessons=tuple(lessons[:_LESSONS]))


def fold(capsules: Sequence[MonthDigest], cap: int) -> Past:
    shown = cap // LINE_TOKENS
    mentions = merged(mention for one in reversed(capsules) for mention in one.mentions)
    return Past(
        themes=tuple((one.month, one.themes) for one in capsules),
        mentions=tuple(mentions[:shown]),
        rest="\n".join(map(dated_line, mentions[shown:])),
        hidden=_counted(mentions[shown:]),
    )


def _counted(mentions: Sequence[Mention]) -> tuple[int, int, int]:
    return len(mentions), sum(one.kept for one in mentions), sum(one.type == "reference" for one in mentions)


def merged(mentions: Iterable[Mention]) -> list[Mention]:
    """Mentions given from the latest month back: user and feedback items one by one, others one per topic."""
    found: dict[tuple[str, str, str], Mention] = {}
    for mention in mentions:
        key = (mention.topic.casefold(), mention.type, mention.text.casefold() if mention.kept else "")
        newer = found.get(key)
        if newer is None:
            found[key] = mention
        else:
            found[key] = replace(newer, text=newer.text or mention.text, count=newer.count + mention.count)
    return sorted(found.values(), key=lambda mention: mention.newest_first)


def dated_line(mention: Mention) -> str:
    """A line with a date instead of an age, so that it only changes when its content does."""
    said = f": {mention.text}" if mention.text else ""
    return f"- {mention.topic} [{mention.type}, {mention.last[:10]}]{said} → log/{mention.last}"


def pack_digest(one: MonthDigest) -> str:
    lessons = [[point.topic, point.text, list(point.refs)] for point in one.lessons]
    return json.dumps([one.month, _rows(one.mentions), lessons], ensure_ascii=False)


def unpack_digest(text: str) -> MonthDigest:
    month, mentions, lessons = json.loads(text)
    return MonthDigest(
        month=month,
        mentions=_mentions(mentions),
        lessons=tuple(
            Point(section="lesson", topic=topic, text=said, refs=tuple(refs)) for topic, said, refs in lessons
        ),
    )


def pack_past(past: Past) -> str:
    """A fold as a row keeps it, but for its rest, which is a text as it is."""
    return json.dumps([past.themes, _rows(past.mentions), past.hidden], ensure_ascii=False)


def unpack_past(text: str) -> Past:
    themes, mentions, hidden = json.loads(text)
    return Past(
        themes=tuple((month, tuple((topic, count) for topic, count in found)) for month, found in themes),
        mentions=_mentions(mentions),
        hidden=tuple(hidden),
    )


def _rows(mentions: Iterable[Mention]) -> list[list[object]]:
    return [[getattr(mention, name) for name in Mention.__annotations__] for mention in mentions]


def _mentions(rows: Iterable[list[Any]]) -> tuple[Mention, ...]:
    return tuple(Mention(**dict(zip(Mention.__annotations__, row, strict=False))) for row in rows)


def _mention(group: Sequence[Point], told: Point) -> Mention:
    last = max((ref for point in group for ref in point.refs), key=place_of)
    ended = any(point.section == "done" and latest(point)[0] == last[:10] for point in group)
    done = ended and all(point.section != "open" for point in group)
    said = Mention(topic=_shown(group[0].topic), type=told.type, text=told.text, last=last, count=_count(group))
    return replace(said, done=done, open=told.section == "open")


def _shown(topic: str) -> str:
    """A topic's name as the page has it: square brackets hold types and ages."""
    return topic_name(topic).replace("[", "(").replace("]", ")")


def _first_told(point: Point) -> tuple[int, int, int, str]:
    return *newest_first(point), _TELLING.index(point.section), point.text


def _count(group: Sequence[Point]) -> int:
    return len({ref for point in group for ref in point.refs})


SETTLED_DAYS = 90  # a project topic that is not mentioned for this long counts as completed
ACTIVE_DAYS = 7  # a week is what the specification calls recent
OVERFLOW = "ROOT.overflow.md"
GENERATOR = "offline/1"
SECTIONS = ("Active Context (recent ~7 days)", "Recent Patterns", "Historical Summary", "Topics Index")

# Lines, and shares of the page: they leave more than half of it to history and index. Chosen.
_ACTIVE_LINES, _PATTERN_LINES = 20, 10
_ACTIVE_SHARE, _PATTERN_SHARE = 0.3, 0.15  # of the page
_LINE_CHARS = 240  # three lines of a terminal
_GRAINS = ((36, 1), (6, 3), (3, 12), (2, 12), (1, 0))
"""How many of the latest months keep a line of their own, and how many months share one before that (0: all)."""

Wording = Callable[[Sequence[str]], tuple[list[str], str]]
"""Lines in, lines that say no more and the name of what worded them out."""
Themes = tuple[str, tuple[tuple[str, int], ...]]  # a month and how often each of its topics was mentioned


def build(
    past: Past,
    latest: Sequence[MonthDigest],
    recent: Sequence[Point],
    today: date,
    cap: int,
    word: Wording | None = None,
    done: Collection[str] = (),
) -> tuple[str, str | None]:
    """ROOT.md and, when it cannot hold everything, its overflow file. `word` may say the recent patterns better.

    Of topics whose names are in `done`, nothing is open, whatever their entries say.
    """
    ended = {_shown(name).casefold() for name in done}
    recent = [point for point in recent if point.section != "open" or _shown(point.topic).casefold() not in ended]
    mentions = [
        replace(each, done=True, text="" if each.open else each.text) if each.topic.casefold() in ended else each
        for each in merged([*(each for one in reversed(latest) for each in one.mentions), *past.mentions])
    ]
    months: list[Themes] = [*past.themes, *((one.month, one.themes) for one in latest)]
    active = _within(_active(recent), _ACTIVE_LINES, int(cap * _ACTIVE_SHARE))
    last = max((ref[:10] for point in recent for ref in point.refs), default=str(today))
    if (today - date.fromisoformat(last)).days >= ACTIVE_DAYS:
        active.insert(0, f"- nothing was logged after {last}; this is where things stood then")
    patterns, generator = (word or as_found)(patterns_of(latest, cap))
    fields = {
        "type": "root",
        "status": "tentative",
        "last-updated": today,
        "months": f"{months[0][0]}~{months[-1][0]}" if months else "",
        "generator": generator,
        "schema": 1,
    }

    def page(history: Sequence[str], index: Sequence[str]) -> str:
        parts = zip(SECTIONS, (active, patterns, history, index), strict=True)
        body = "\n\n".join("\n".join([f"## {title}", *lines]) for title, lines in parts)
        return markdown.with_frontmatter(fields, body)

    # Lines are counted one by one, which is never less than the page costs as a whole.
    room = cap - tokens(page((), ()))
    index = [_index_line(mention, today) for mention in mentions]
    costs = list(map(_cost, index))
    for grain in range(len(_GRAINS))[-1 if past.rest else 0 :]:  # with a rest there is an overflow file in any case
        history = _history(months, grain)
        if not past.rest and sum(map(_cost, history)) + sum(costs) <= room:
            return page(history, index), None
    room -= sum(map(_cost, [*history, _link(mentions, past)]))
    shown: set[int] = set()
    for place in sorted(range(len(mentions)), key=lambda place: _settled(mentions[place], today)):
        if costs[place] <= room:
            room -= costs[place]
            shown.add(place)
    lines = [line for place, line in enumerate(index) if place in shown]
    over = [mention for place, mention in enumerate(mentions) if place not in shown]
    overflow = "\n".join(["## Topics Index", *map(dated_line, over), *([past.rest] if past.rest else [])])
    return page(history, [*lines, _link(over, past)]), markdown.with_frontmatter({"type": "root-overflow"}, overflow)


def _link(over: Sequence[Mention], past: Past) -> str:
    """The one line that counts the topics in the overflow file."""
    count, kept, pointers = map(sum, zip(_counted(over), past.hidden, strict=True))
    return f"- {count} more topics, {kept} of them user and feedback items, {pointers} references → {OVERFLOW}"


def as_found(lines: Sequence[str]) -> tuple[list[str], str]:
    return list(lines), GENERATOR


def _active(recent: Sequence[Point]) -> list[str]:
    """Per topic two lines: what is open, with a count of the others, then what was decided, else what was said last;
    at the end, of what is done, the result."""
    groups: dict[str, list[Point]] = {}
    for point in still_open(recent):
        if point.type == "project" and point.refs and point.text and point.section != "more":
            groups.setdefault(point.topic.casefold(), []).append(point)
    found: list[tuple[bool, tuple[int, int], list[str]]] = []
    for group in groups.values():
        done = _mention(group, group[0]).done
        telling = ("done",) if done else ("open", "decision")
        newest = sorted(group, key=newest_first)
        wanted = [point for section in telling for point in newest if point.section == section]
        *first, last = (wanted or [min(group, key=_first_told)])[:2]
        others = sum(point.section == "open" for point in wanted[2:])
        lines = [*map(_line, first), _line(last, f" (and {others} more open)" if others else "")]
        found.append((done, min(map(newest_first, group)), lines))
    return [line for _, _, lines in sorted(found, key=lambda one: one[:2]) for line in lines]


def patterns_of(latest: Sequence[MonthDigest], cap: int) -> list[str]:
    """Lessons of this month and the last, most support and latest first, as far as there is room."""
    found = {point.text.casefold(): point for one in latest for point in one.lessons}
    best = sorted(found.values(), key=lambda point: (-len(point.refs), *newest_first(point), point.text))
    return _within(map(_line, best), _PATTERN_LINES, int(cap * _PATTERN_SHARE))


def _line(point: Point, more: str = "") -> str:
    last = max(point.refs, key=place_of)
    topic = topic_name(point.topic)
    said = point.text if f" {spoken(topic)} " in f" {spoken(point.text)} " else f"{topic}: {point.text}"
    return f"- {cut(said, _LINE_CHARS)}{more} → log/{last}"


def _index_line(mention: Mention, today: date) -> str:
    said = f": {mention.text if mention.kept else cut(mention.text, _LINE_CHARS)}" if mention.text else ""
    age = age_of(mention.type, mention.last[:10], today)
    return f"- {mention.topic} [{mention.type}{age}]{said} → log/{mention.last}"


def _settled(mention: Mention, today: date) -> tuple[bool, bool, int]:
    """The order in which topics find room: user and feedback items, living projects, then completed ones."""
    age = (today - date.fromisoformat(mention.last[:10])).days
    over = mention.type == "project" and (age > SETTLED_DAYS or (mention.done and age > 7))
    return not mention.kept, over, age


def _history(months: Sequence[Themes], grain: int) -> list[str]:
    """Past periods, latest last, coarser with every grain. Every month is inside exactly one of them."""
    single, together = _GRAINS[grain]
    old = max(len(months) - single, 0)
    groups: dict[object, list[Themes]] = {}
    for place, month in enumerate(months):
        number = int(month[0][:4]) * 12 + int(month[0][5:]) - 1
        shared = (number // together if together else 0) if place < old else month[0]
        groups.setdefault(shared, []).append(month)
    totals = _times(months)
    return [_period_line(group, 12 if grain < 2 else 8, totals) for group in groups.values()]


def _times(months: Iterable[Themes]) -> Counter[str]:
    found: Counter[str] = Counter()
    for _, themes in months:
        found.update(dict(themes))
    return found


def _period_line(group: Sequence[Themes], count: int, totals: Mapping[str, int]) -> str:
    """A period and what rose in it: topics by their log-odds against all other periods, in units of its error."""
    first, last = group[0][0], group[-1][0]
    name = first if first == last else f"{first}~{last[5:] if first[:4] == last[:4] else last}"
    counts = _times(reversed(group))
    here, everywhere = sum(counts.values()), sum(totals.values())

    def rise(topic: str) -> float:
        inside, outside = counts[topic] + 0.5, totals[topic] - counts[topic] + 0.5
        odds = math.log(inside / (here - counts[topic] + 0.5)) - math.log(
            outside / (everywhere - here - totals[topic] + counts[topic] + 0.5)
        )
        return odds / math.sqrt(1 / inside + 1 / outside)

    best = sorted(counts, key=lambda topic: -rise(topic))[:count]  # of equals the latest stays first
    return f"- {name}: {cut(', '.join(best), _LINE_CHARS) or 'user and feedback items only'} → monthly/{last}"


def _within(lines: Iterable[str], count: int, budget: int) -> list[str]:
    shown: list[str] = []
    for line in lines:
        budget -= _cost(line)
        if budget < 0 or len(shown) == count:
            break
        shown.append(line)
    return shown


def _cost(line: str) -> int:
    """Tokens of a line. The arrow is a word like any other, but would take the slow path for texts beyond ASCII."""
    return tokens(line.replace("→", ">"))
