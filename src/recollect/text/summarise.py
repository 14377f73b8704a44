"""The offline summariser, and the checks on a summary that a model wrote.

Summarising is deterministic and extractive: every line is made of words from its sources and carries their references.
What the type rules keep stays whole; topics become keyphrases; decisions, open items, lessons and results compete by
how much they tell for their length. A model's text must not refuse, bring links or commands that its sources lack, or
drop what must stay. Knows nothing about files, levels or models.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.core.journal import EntryType, Point, Section
from recollect.text.keyphrases import WordWeights, keyphrases, sentences
from recollect.text.patterns import lazy
from recollect.text.points import cut, entities, place_of, point_line
from recollect.text.tokens import terms

Embed = Callable[[Sequence[str]], Sequence[Sequence[float]]]
"""Unit vectors of some texts. With one, variety is chosen by meaning instead of by words."""

PHRASES = 12
"""Keyphrases a topic gets while there is room."""
KEPT_CHARS = 1_200
"""What is kept of one user or feedback item; its reference leads to the rest."""
TEXT_CHARS = 320
"""What is kept of any other point."""
SAME = 0.75
"""Share of terms from which two points say the same."""
VARIETY = 0.6
"""Weight of telling against repeating, when an embedder is given."""

_PRIORS: dict[Section, float] = {"decision": 1.3, "open": 1.2, "lesson": 1.2, "done": 1.0, "note": 0.6}
_CLOSES = lazy(r"\b(?:closed|shipped|completed|finished|done)\b(?! except)", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class Budget:
    lines: int
    chars: int


def summarise(
    points: Sequence[Point], budget: Budget, *, with_entities: bool = False, embed: Embed | None = None
) -> list[Point]:
    """The points worth a line each, grouped by section in reading order.

    Nothing drops out unseen: every reference of the input is carried by at least one line of the output.
    """
    points = [_clipped(point) for point in points]
    weights = WordWeights(point.text for point in points if point.section != "entity")
    kept = _distinct([point for point in points if point.kept and point.text])
    said = [point for point in points if point.section in _PRIORS and not point.kept and point.text]
    lines, chars = budget.lines, budget.chars
    chosen: list[Point] = []

    def take(point: Point) -> bool:
        nonlocal lines, chars
        cost = len(point_line(point).encode()) + 1
        if lines < 1 or cost > chars:
            return False
        lines, chars = lines - 1, chars - cost
        chosen.append(point)
        return True

    found = entities(points) if with_entities else []
    lines, chars = lines - len(found), chars - sum(len(point_line(point)) for point in found)
    # What people told us goes first, but never at the price of the topics: those lead back to everything.
    spare = Budget(lines=budget.lines // 4 + 1, chars=budget.chars // 4)
    lines, chars = lines - spare.lines, chars - spare.chars
    left_out = [replace(point, text="") for point in kept if not take(point)]
    lines, chars = lines + spare.lines, chars + spare.chars
    topics, rest = _topics([*points, *left_out], weights, lines - lines // 3, chars - chars // 3)
    for point in [*topics, *rest]:
        lines, chars = lines - 1, chars - len(point_line(point).encode()) - 1
        chosen.append(point)
    for point in _ranked(_distinct(_still_open(said)), weights, embed):
        take(point)
    return _in_order([*chosen, *found])


def topic_from(text: str) -> str:
    """A topic for a text that came without one: its most telling phrases."""
    said = list(sentences(text))
    return ", ".join(keyphrases(said, WordWeights(said), 3)) or "notes"


def _clipped(point: Point) -> Point:
    limit = KEPT_CHARS if point.kept else TEXT_CHARS
    if len(point.text) <= limit:
        return point
    return replace(point, text=point.text[: limit - 1].rsplit(" ", 1)[0] + "…")


def _distinct(points: Iterable[Point]) -> list[Point]:
    """Points that say the same become one that names all their sources; the longer text stays."""
    groups: list[tuple[Point, frozenset[str]]] = []
    by_topic: dict[tuple[str, Section, EntryType], list[int]] = {}
    for point in points:
        words = frozenset(terms(point.text))
        places = by_topic.setdefault((point.topic.casefold(), point.section, point.type), [])
        for place in places:
            other, others = groups[place]
            same = point.text == other.text or (
                not point.kept and len(words & others) >= SAME * max(len(words | others), 1)
            )
            if same:
                longer = point if len(point.text) > len(other.text) else other
                refs = tuple(dict.fromkeys((*other.refs, *point.refs)))
                groups[place] = (replace(longer, refs=refs), words | others)
                break
        else:
            places.append(len(groups))
            groups.append((point, words))
    return [point for point, _ in groups]


def _still_open(points: Sequence[Point]) -> list[Point]:
    """Without the open items that a later result of the same topic answers, or that closed with their topic."""
    results: dict[str, list[tuple[tuple[str, int], frozenset[str]]]] = {}
    closed: dict[str, tuple[str, int]] = {}
    for point in points:
        if point.section == "done":
            topic = point.topic.casefold()
            results.setdefault(topic, []).append((_latest(point), frozenset(terms(point.text))))
            if _CLOSES.search(point.text):
                closed[topic] = max(closed.get(topic, ("", 0)), _latest(point))

    def answered(point: Point) -> bool:
        words = frozenset(terms(point.text))
        return closed.get(point.topic.casefold(), ("", 0)) > _latest(point) or any(
            when > _latest(point) and len(words & done) >= 0.5 * max(len(words), 1)
            for when, done in results.get(point.topic.casefold(), ())
        )

    return [point for point in points if point.section != "open" or not answered(point)]


def _topics(points: Sequence[Point], weights: WordWeights, lines: int, chars: int) -> tuple[list[Point], list[Point]]:
    """A line per topic with as many keyphrases as fit, and a last line for the topics that do not."""
    groups: dict[tuple[str, EntryType], list[Point]] = {}
    for point in points:
        if point.section != "entity":
            groups.setdefault((point.topic.casefold(), point.type), []).append(point)
    wanted = [group for group in groups.values() if not group[0].kept or not all(point.text for point in group)]
    if not wanted:
        return [], []
    full = [(group, _phrases(group, weights)) for group in wanted]
    for count in (PHRASES, 8, 5, 3, 2, 1, 0):
        made = [_topic(group, phrases[:count]) for group, phrases in full]
        if len(made) <= lines and sum(len(point_line(point).encode()) + 1 for point in made) <= chars:
            return made, []
    room = chars - len(point_line(_more(made)).encode())
    fitting = 0
    for point in made[: max(lines - 1, 0)]:
        room -= len(point_line(point).encode()) + 1
        if room < 0:
            break
        fitting += 1
    return made[:fitting], [_more(made[fitting:])]


def _more(over: Sequence[Point]) -> Point:
    """One line that leads to all the topics there was no line for."""
    names = ", ".join(dict.fromkeys(point.topic for point in over))
    refs = tuple(dict.fromkeys(ref for point in over for ref in point.refs))
    return Point(section="topic", topic=f"{len(over)} more topics", text=cut(names, 400), refs=refs)


def _phrases(group: Sequence[Point], weights: WordWeights) -> list[str]:
    if group[0].kept:
        return []
    if group[0].type == "reference":
        return list(dict.fromkeys(point.text for point in group if point.text))
    return keyphrases([point.text for point in group], weights, PHRASES)


def _topic(group: Sequence[Point], phrases: Sequence[str]) -> Point:
    refs = tuple(dict.fromkeys(ref for point in group for ref in point.refs))
    text = cut(", ".join(phrases), TEXT_CHARS)
    return Point(section="topic", topic=group[0].topic, type=group[0].type, text=text, refs=refs)


def _ranked(points: Sequence[Point], weights: WordWeights, embed: Embed | None) -> list[Point]:
    """Most telling first; among equals the later one."""
    scored = [(weights.density(point.text) * _PRIORS[point.section], point) for point in points]
    scored = [(score, point) for score, point in scored if point.section != "note" or len(point.text) > 40]
    scored.sort(key=lambda pair: (-pair[0], -int(pair[1].last_day.replace("-", "") or 0), pair[1].text))
    if embed is None or len(scored) < 2:
        return [point for _, point in scored]
    return _varied(scored, embed)


def _varied(scored: list[tuple[float, Point]], embed: Embed) -> list[Point]:
    """Maximal marginal relevance: the next point tells much and is unlike those before it."""
    import numpy as np  # comes with the embedder

    vectors = np.asarray(embed([point.text for _, point in scored]), np.float64)
    best = scored[0][0] or 1.0
    nearest = [0.0] * len(scored)
    order: list[Point] = []
    waiting = list(range(len(scored)))
    while waiting:
        place = max(waiting, key=lambda i: (VARIETY * scored[i][0] / best - (1 - VARIETY) * nearest[i], -i))
        waiting.remove(place)
        order.append(scored[place][1])
        likeness = (vectors @ vectors[place]).tolist()
        for i in waiting:
            nearest[i] = max(nearest[i], likeness[i])
    return order


def _in_order(points: Sequence[Point]) -> list[Point]:
    """By section and then by when it was last said."""
    sections: tuple[Section, ...] = ("topic", "note", "decision", "done", "entity", "lesson", "open")
    return sorted(points, key=lambda point: (sections.index(point.section), point.refs[:1], point.topic, point.text))


def _latest(point: Point) -> tuple[str, int]:
    return max(map(place_of, point.refs), default=("", 0))


COVERED = 0.8
"""Share of a kept text's words that must be said again."""
ECHO = 60
"""Characters of an instruction that nobody writes by chance."""

_REFUSAL = lazy(
    r"""\s*(?:\#+[ ].*\n+)?[\s"'*_]*(?:
      I(?:['’]m|\ am)\ (?:sorry|unable|afraid|not\ able|an\ AI) | I\ (?:can(?:no|['’])t|won['’]t|do\ not\ feel) |
      (?:I['’]m\ )?sorry,?\ (?:but|I) | sorry, | as\ an\ AI | unfortunately,\ I | I\ must\ (?:decline|refuse) |
      I\ apologi[sz]e | my\ guidelines
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LINK = lazy(r"(?:\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.|\bmailto:|\bdata:[a-z]+/)[^\s<>\"'`)\]}]+", re.IGNORECASE)
_TARGET = lazy(r"\]\(\s*<?([^)\s>]+)")
_SPAN = lazy(r"(`+)(.+?)\1", re.DOTALL)
_OPTION = lazy(r"(?<![\w-])--[a-z][\w-]+")
_TYPED = lazy(r"^\s*[-*]?\s*[$>%]\s+(\S.*)$", re.MULTILINE)
_PROGRAM = lazy(
    r"\b(?:sudo|curl|wget|chmod|chown|mkfs|eval|rm\s+-\w+|(?:pip3?|npm|gem|cargo|brew|apt(?:-get)?)\s+install"
    r"|(?:ba|z)?sh\s+-c|git\s+(?:push|reset|clean)|kubectl\s+\w+|docker\s+run)\b"
)


def refuses(text: str) -> bool:
    """Whether a text politely says no, in place of an answer."""
    return bool(_REFUSAL.match(text))


def additions(text: str, sources: Sequence[str]) -> list[str]:
    """Links and commands in a text that none of its sources has."""
    known = _plain("\n".join(sources))
    return [found for found in dict.fromkeys(_risky(text)) if _plain(found) not in known]


def lost(text: str, kept: Sequence[str]) -> list[str]:
    """Which of the texts that must stay are not said again."""
    said = set(terms(text))
    missing = []
    for each in kept:
        wanted = set(terms(each))
        if len(wanted & said) < COVERED * len(wanted):
            missing.append(each)
    return missing


def own_share(text: str, sources: Sequence[str]) -> float:
    """Which share of a text's words its sources have, too."""
    said = set(terms(text))
    return len(said & set(terms("\n".join(sources)))) / len(said) if said else 0.0


def echoes(text: str, instructions: str) -> bool:
    """Whether a text repeats what its writer was told to do."""
    said = _plain(text)
    return any(len(line) >= ECHO and _plain(line) in said for line in instructions.split("\n"))


def _risky(text: str) -> Iterator[str]:
    for pattern in (_LINK, _OPTION, _PROGRAM):
        for found in pattern.finditer(text):
            yield found[0].rstrip(".,;:!?")
    for found in _TARGET.finditer(text):
        yield found[1]
    for found in _SPAN.finditer(text):
        _, line, code = found[2].partition("\n")
        yield from (code if line and len(found[1]) > 2 else found[2]).strip().split("\n")
    for found in _TYPED.finditer(text):
        yield found[1]


def _plain(text: str) -> str:
    """What is compared: no case, no quotes' escapes, single spaces."""
    return " ".join(text.replace("\\", "").casefold().split())
