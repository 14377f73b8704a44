"""The offline summariser, and the checks on a summary that a model wrote.

Summarising is deterministic and extractive: every line is made of words from its sources and carries their references.
Topics get their most telling sentence; decisions, open items, lessons and results compete by how much they tell for
their length. Knows nothing about files, levels or models.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

from recollect.core.journal import EntryType, Point, Section
from recollect.core.records import record, replace
from recollect.text.markdown import lazy
from recollect.text.markers import VERBS
from recollect.text.points import DONE, densities, latest, newest_first, place_of, point_line, statements
from recollect.text.sentences import MAY_BE_OPEN, cut, split_sentences
from recollect.text.tokens import plain_words, terms

TEXT_CHARS = 320  # what is kept of a point that is neither a person's word nor a reference
Density = Callable[[str], float]
HALF = 0.5  # of an open item's words, which a result that settles it says again
THIRD = 1 / 3  # of the words of a sentence that says "closed", which are the item's
SAME = 0.75  # share of terms from which two points say the same

_PRIORS: dict[Section, float] = {"decision": 1.3, "open": 1.2, "lesson": 1.2, "done": 1.0, "note": 0.6}
_CLOSES = lazy(r"\b(?:closed|shipped|completed|finished|done)\b(?! except)", re.IGNORECASE)
_NO_RESULT = lazy(  # a question, a failure, a plan
    r"(?i)\?\W*$|^\W*(?:let(?:['’]?s| me)|consider|here['’]s what)\b|"
    r"n['’]t\b|['’]ll\b|\b(?:not|never|nothing|no|can|could|cannot|unable|fail\w*|refused|rejected|"
    r"timed out|revert(?:ed)?|tried|attempt\w*|will|shall|should|would|may|might|must|next|tomorrow|plan\w*|propos\w*|"
    r"options?|need\w*|required|want\w*|wait\w*|blocked|postponed|deferred|skipped|still|yet|left|to be|if|half)\b"
)
_NUMBERED = lazy(r"#\d+|\b[A-Z][A-Z0-9]+-\d+\b")
_ALL = lazy(r"(?:all|both|everything)\b(?: of (?:it|that|them|these))?(?: (?:is|are))?(?: done)?\W*", re.IGNORECASE)


@record
class Budget:
    lines: int
    chars: int


def summarise(points: Sequence[Point], budget: Budget) -> list[Point]:
    """The points worth a line each, grouped by section in reading order.

    What people told us and references stay whole, outside the budget. Nothing drops out unseen: entries that no line
    carries are counted, with their references, on one last line.
    """
    points = [point if _is_whole(point) else replace(point, text=cut(point.text, TEXT_CHARS)) for point in points]
    density = densities(point.text for point in points)
    whole = _distinct([point for point in points if _is_whole(point)])
    rest = [point for point in points if not _is_whole(point) and point.section != "more"]
    lines, chars = budget.lines - 1, budget.chars - len(point_line(_more(points)).encode()) - 1
    chosen: list[Point] = []

    def take(point: Point) -> None:
        nonlocal lines, chars
        cost = len(point_line(point).encode()) + 1
        if lines > 0 and cost <= chars:
            lines, chars = lines - 1, chars - cost
            chosen.append(point)

    topics = _topics(rest, density, lines * 2 // 3, chars * 2 // 3)
    said = {point.text for point in topics}
    others = [point for point in rest if point.section in _PRIORS and point.text and point.text not in said]
    for point in [*topics, *_ranked(_distinct(still_open(others)), density)]:
        take(point)
    carried = {ref for point in (*whole, *chosen) for ref in point.refs}
    left = [replace(point, refs=tuple(ref for ref in point.refs if ref not in carried)) for point in points]
    more = _more(left)
    return _in_order([*whole, *chosen, *([more] if more.refs else [])])


def _is_whole(point: Point) -> bool:
    """Whether a point is a person's word or a reference, which are never shortened."""
    return (point.kept or point.type == "reference") and bool(point.text)


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


def left_open(texts: Iterable[str]) -> list[tuple[int, str]]:
    """What the entries of one topic, oldest first, mark as open and no later one settles, each with its entry's place;
    not prose that only sounds open."""
    given = list(enumerate(texts))
    first = next((place for place, text in given if MAY_BE_OPEN.search(text)), len(given))
    said = [(place, *each) for place, text in given[first:] for each in statements(text)]
    points = [Point(section=section, topic="", text=text, refs=(f"0000-00-00#{n}",)) for n, section, text, _ in said]
    marked = {(n, text) for n, section, text, is_marked in said if section == "open" and is_marked}
    found = ((latest(point)[1], point.text) for point in still_open(points) if point.section == "open")
    return [each for each in dict.fromkeys(found) if each in marked]


def still_open(points: Sequence[Point]) -> list[Point]:
    """Without open items that a later result of their topic settles (`docs/topics.md`) or a later item repeats."""
    topics: dict[str, dict[frozenset[str], tuple[Point, bool]]] = {}  # items by their words; whether one is open
    places: dict[tuple[str, str], list[int]] = {}  # what a result settles: checklists repeat results
    of_state = [point for point in points if point.section in ("open", "done")]
    for point in sorted(of_state, key=lambda point: (latest(point), point.section == "open")):
        name = point.topic.casefold()
        items = topics.setdefault(name, {})
        if point.section == "open":
            words = _words_of(point.text) or frozenset([point.text])
            if words not in items:
                places.clear()
            items[words] = point, True
        elif items:
            if (key := (name, point.text)) not in places:
                places[key] = settles(point.text, [item.text for item, _ in items.values()])
            every = list(items)
            items.update({every[place]: (items[every[place]][0], False) for place in places[key]})
    kept = {id(item) for items in topics.values() for item, is_open in items.values() if is_open}
    return [point for point in points if point.section != "open" or id(point) in kept]


@lru_cache(maxsize=2_000)  # chosen: more items than a topic has
def _words_of(item: str) -> frozenset[str]:
    return frozenset(terms(item))


def settles(result: str, items: Sequence[str], *, any_all: bool = True) -> list[int]:
    """The places of the open items that a result settles; "all of it" settles them if `any_all`."""
    is_line, found = result.startswith(DONE), list[int]()
    words = list(map(_words_of, items))
    for sentence in map(str.strip, [result.removeprefix(DONE)] if is_line else split_sentences(result)):
        if not is_line and _NO_RESULT.search(sentence):
            continue
        found += range(len(items)) if any_all and _ALL.fullmatch(sentence) else ()
        said, numbers = frozenset(terms(sentence)), {*_NUMBERED.findall(sentence)}
        # "The button shipped" names an item by one word; "set the status to done and pushed the files" names no files.
        few = THIRD * len({*terms(_CLOSES.sub("", sentence))}) if _CLOSES.search(sentence) else math.inf
        shared = [each & said for each in words]
        distinct = set(shared)
        most = {both for both in distinct if both and not any(map(both.__lt__, distinct))}
        for place, both in enumerate(shared):
            if both not in most:
                continue
            half = max(min(HALF * len(words[place]), len(said)), min(2, len(words[place])))
            enough = len(both) >= min(half, few)
            if is_line and not enough:
                verb, _, others = items[place].partition(" ")
                rest = frozenset(terms(others)) if verb.casefold() in VERBS else words[place]
                same = not numbers.isdisjoint(_NUMBERED.findall(items[place]))
                enough = same or both == said or (len(rest) == 1 and rest <= said)
            if enough:
                found.append(place)
    return found


def _topics(points: Sequence[Point], density: Density, lines: int, chars: int) -> list[Point]:
    """A line per topic with its most telling note, shorter where many have to fit; the most mentioned topics first."""
    groups: dict[tuple[str, EntryType], list[Point]] = {}
    for point in points:
        groups.setdefault((point.topic.casefold(), point.type), []).append(point)
    made = []
    for group in groups.values():
        refs = tuple(dict.fromkeys(ref for point in group for ref in point.refs))
        notes = [point.text for point in group if point.section in ("topic", "note") and point.text]
        text = max(notes, key=lambda note: (density(note), note), default="")
        made.append(Point(section="topic", topic=group[0].topic, type=group[0].type, text=text, refs=refs))
    for limit in (TEXT_CHARS, TEXT_CHARS // 2, TEXT_CHARS // 4):
        made = [replace(point, text=cut(point.text, limit)) for point in made]
        if sum(len(point_line(point).encode()) + 1 for point in made) <= chars:
            break
    made.sort(key=lambda point: (-len(point.refs), *newest_first(point), point.topic))
    fitting = 0
    for point in made[: max(lines, 0)]:
        chars -= len(point_line(point).encode()) + 1
        fitting += chars >= 0
    return made[:fitting]


def _more(points: Iterable[Point]) -> Point:
    """One line that counts the entries there was no line for, and leads to them."""
    return Point(section="more", topic="", refs=tuple(dict.fromkeys(ref for point in points for ref in point.refs)))


def _ranked(points: Sequence[Point], density: Density) -> list[Point]:
    scored = [(density(point.text) * _PRIORS[point.section], point) for point in points]
    scored = [(score, point) for score, point in scored if point.section != "note" or len(point.text) > 40]
    scored.sort(key=lambda pair: (pair[1].section == "note", -pair[0], *newest_first(pair[1]), pair[1].text))
    return [point for _, point in scored]


def _in_order(points: Sequence[Point]) -> list[Point]:
    sections: tuple[Section, ...] = ("topic", "note", "more", "decision", "done", "lesson", "open")
    return sorted(
        points,
        key=lambda point: (sections.index(point.section), [*map(place_of, point.refs[:1])], point.topic, point.text),
    )


COVERED = 0.8  # share of a kept text's words that must be said again
ECHO = 60  # characters of an instruction that nobody writes by chance

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
    return [each for each in kept if len(said & (wanted := set(terms(each)))) < COVERED * len(wanted)]


def own_share(text: str, sources: Sequence[str]) -> float:
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


SAME_CLAUSE = 0.75  # share of a clause's other words that a source clause must have to be about the same
SAME_BACK = 0.5  # share of the source clause's other words that the clause must have

_REFERENCE = lazy(r"(?:→ *)?(?:log/)?\d{4}-\d{2}-\d{2}#[\d,#-]+|\(\s*\)")
_CLAUSE = lazy(
    r"[.!?:;](?:\s|$)|,(?!\d)|[()\n–—]|\s-\s|\b(?:but|because|so|since|while|whereas|and then)\b", re.IGNORECASE
)
_LIST_MARK = lazy(r"(?m)^\s*\d+[.)]\s")
_HEADING = lazy(r"(?m)^#.*$")
_NUMBER = lazy(r"\d+(?:[.,:/-]\d+)*")
_NEGATION = lazy(
    r"\b(?:not|no|never|none|nothing|nobody|neither|nor|without|cannot|avoid\w*|stop(?:s|ped)?|forbid\w*|refuse[sd]?|"
    r"nicht|kein\w*|nie(?:mals)?)\b|\b\w+n['’]t\b",
    re.IGNORECASE,
)
_ALWAYS = lazy(r"\b(?:always|never|ever)\b", re.IGNORECASE)
_OPPOSITE = ("dis", "un", "non", "in", "im", "ir", "mis")  # a word with one of these says the opposite of the word
_DAYS = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december".split()
)
_COUNTS = dict(zip("two three four five six seven eight nine ten eleven twelve".split(), range(2, 13), strict=True))


@record
class _Clause:
    text: str
    negated: bool
    facts: frozenset[str]
    """Numbers, dates and names."""
    numbers: frozenset[str]
    words: frozenset[str]
    """Stems of everything else."""
    raw: frozenset[str]


def altered(text: str, sources: Sequence[str]) -> str:
    """The first clause whose negation, number, date or name is not that of the sources; empty when there is none."""
    text = _HEADING.sub("", text)
    names = _names((text, *(_HEADING.sub("", source) for source in sources)))
    known = [clause for source in sources for clause in _clauses(source, names)]
    every = frozenset(fact for clause in known for fact in clause.facts)
    for clause in _clauses(text, names):
        alike = [each for each in known if _about_the_same(clause, each)]
        allowed = frozenset(fact for each in alike for fact in each.facts) if alike else every | clause.facts
        if not clause.numbers <= every or not clause.facts <= allowed:
            return clause.text
        if alike and all(_opposed(clause, each) for each in alike):
            return clause.text
    return ""


def _about_the_same(clause: _Clause, other: _Clause) -> bool:
    shared = clause.words & other.words
    return (
        bool(shared) and len(shared) >= SAME_CLAUSE * len(clause.words) and len(shared) >= SAME_BACK * len(other.words)
    )


def _opposed(clause: _Clause, other: _Clause) -> bool:
    turned = any(
        f"{prefix}{word}" in theirs
        for ours, theirs in ((clause.raw, other.raw), (other.raw, clause.raw))
        for word in ours - theirs
        for prefix in _OPPOSITE
    )
    return (clause.negated != other.negated) != turned


def _clauses(text: str, names: frozenset[str]) -> Iterator[_Clause]:
    for part in _CLAUSE.split(_REFERENCE.sub(" ", _LIST_MARK.sub("", text))):
        said = part.strip(" #*>`-\t")
        numbers = {found.replace(",", "") for found in _NUMBER.findall(said)}
        raw = [word.casefold() for word in plain_words(said)]
        counts = {str(_COUNTS[word]) for word in raw if word in _COUNTS}
        dates = {word for word in raw if word in _DAYS}
        facts = frozenset(numbers | counts | dates | {word for word in raw if word in names})
        fact_terms = set(terms(" ".join((*facts, *(word for word in raw if word in _COUNTS)))))
        words = frozenset(terms(_ALWAYS.sub(" ", _NEGATION.sub(" ", said)))) - fact_terms
        turned = {word.removeprefix(prefix) for word in raw for prefix in _OPPOSITE if word.startswith(prefix)}
        if facts or words:
            yield _Clause(
                text=said,
                negated=bool(_NEGATION.search(said)),
                facts=facts,
                numbers=frozenset(numbers),
                words=words | frozenset(terms(" ".join(turned))),
                raw=frozenset(raw),
            )


def _names(texts: Iterable[str]) -> frozenset[str]:
    """Words with a capital letter inside a sentence. A line with mostly such words is a title and names nothing."""
    found: set[str] = set()
    for text in texts:
        for line in re.split(r"[.!?:]\s|\n", text):
            words = plain_words(line)
            capital = [word for word in words[1:] if word[0].isupper()]
            if 2 * len(capital) <= len(words):
                found.update(word.casefold() for word in capital)
    return frozenset(found) - {"i"}
