"""Points: what a log entry has to say to the levels above it, as lines `- topic [type]: text (2026-03-01#3)`.

Owns how an entry becomes points (decided, done, learned, left open), and how points are written
and read back. Code blocks, stack traces and lines marked as temporary stay in the log. Also how much a text tells, by
TF-IDF. Knows nothing about budgets or levels.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import groupby

from recollect.core.journal import ENTRY_TYPES, Entry, EntryType, Point, Section
from recollect.core.records import replace
from recollect.text import entries, markdown
from recollect.text.markdown import lazy, split_item
from recollect.text.markers import read_states, without_states
from recollect.text.sentences import EPHEMERAL_WHOLE, TO_DO, is_ephemeral, split_sentences
from recollect.text.tokens import NOISE, written
from recollect.text.topics import reads_as_name

_REF = r"\d{4}-\d{2}-\d{2}#\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*"
_REFS = lazy(rf" \(({_REF}(?: {_REF})*)\)$")
_LINE = lazy(rf"[-*] (.*?)(?: \[({'|'.join(ENTRY_TYPES)})\])?(?:: (.*))?")
_MORE = lazy(r"[-*] \d+ more entries")  # those that found no line
_TAG_AT_END = lazy(rf"\[({'|'.join(ENTRY_TYPES)})\]$")
_SPACE = lazy(r"\s+")
_CONTROL = lazy("[\x00-\x1f\x7f-\x9f\u2028\u2029]+")

_REFS_SHOWN = 12  # spans of one day on one line; beyond it the first and the last stand for all between

LONGEST_SPAN = 20_000  # more entries than a log is read into; a longer span was not written by us


def plain(text: str) -> str:
    """One line that cannot be mistaken for more: no line breaks, no comment."""
    return _SPACE.sub(" ", _CONTROL.sub(" ", text.replace("<!--", "< !--"))).strip()


def render(points: Iterable[Point]) -> str:
    return "\n".join(map(point_line, points))


def point_line(point: Point) -> str:
    if point.section == "more":
        return f"- {len(point.refs)} more entries ({show_refs(point.refs)})"
    tag = f" [{point.type}]" if point.type != "project" or point.section == "topic" else ""
    text = f": {point.text}" if point.text else ""
    refs = f" ({show_refs(point.refs)})" if point.refs else ""
    return f"- {topic_name(point.topic)}{tag}{text}{refs}"


def topic_name(topic: str) -> str:
    """A topic as a line can carry it: `: ` would end it, a tag at its end would change its type."""
    return _TAG_AT_END.sub(r"(\1)", plain(topic).replace(": ", " - ").rstrip(":"))


def parse(section: Section, text: str, *, fallback: Sequence[str] = ()) -> list[Point]:
    """The points under one heading. Lines of other tools carry no references: they get the fallback."""
    found = []
    for raw in text.split("\n"):
        stripped = raw.strip()
        if not stripped or stripped.startswith(("#", "<!--", "---")):
            continue
        refs_at = _REFS.search(stripped)
        said = stripped[: refs_at.start()] if refs_at else stripped
        refs = tuple(read_refs(refs_at[1])) if refs_at else tuple(fallback)
        if refs_at and _MORE.fullmatch(said):
            found.append(Point(section="more", topic="", refs=refs))
            continue
        item = _LINE.fullmatch(said) or _LINE.fullmatch(f"- {said}")
        assert item is not None
        kind: EntryType = next((known for known in ENTRY_TYPES if known == item[2]), "project")
        topic, rest = item[1], item[3] or ""
        here: Section = "note" if section == "topic" and not item[2] else section
        if not rest and not item[2] and not refs_at:
            topic, rest = "notes", topic
        found.append(Point(section=here, topic=topic, type=kind, text=rest, refs=refs))
    return found


def place_of(ref: str) -> tuple[str, int]:
    """A reference's day and number, by which references are ordered."""
    return ref[:10], int(ref[11:])


def latest(point: Point) -> tuple[str, int]:
    """The place of the last entry that a point was taken from."""
    return max(map(place_of, point.refs), default=("", 0))


def newest_first(point: Point) -> tuple[int, int]:
    day, number = latest(point)
    return -int(day.replace("-", "") or 0), -number


def show_refs(refs: Sequence[str]) -> str:
    """`2026-03-01#1,3-5 2026-03-02#2`: by day, neighbours joined."""
    shown = []
    for day, group in groupby(sorted(set(map(place_of, refs))), key=lambda place: place[0]):
        spans: list[list[int]] = []
        for _, number in group:
            if spans and number == spans[-1][1] + 1:
                spans[-1][1] = number
            else:
                spans.append([number, number])
        if len(spans) > _REFS_SHOWN:
            spans = [[spans[0][0], spans[-1][1]]]
        shown.append(f"{day}#" + ",".join(f"{a}-{b}" if b > a else f"{a}" for a, b in spans))
    return " ".join(shown)


def read_refs(text: str) -> list[str]:
    refs = []
    for part in text.split(" "):
        day, _, numbers = part.partition("#")
        for span in numbers.split(","):
            first, _, last = span.partition("-")
            end = min(int(last or first), int(first) + LONGEST_SPAN)
            refs += [f"{day}#{number}" for number in range(int(first), end + 1)]
    return refs


_TRACE_START = lazy(r"\s*(?:Traceback \(most recent call last\)|goroutine \d+ \[|stack (?:trace|backtrace):)", re.I)
_TRACE_LINE = lazy(
    r"\s+at\s+\S.*[:(]|\s*File \".*\", line \d+|\s+\.\.\. \d+ more|\s+\d+: +0x|\t\S+:\d+ \+0x|\s+\^+\s*$|"
    r"#\d+\s+0x[0-9a-f]+ in "
)

_CHECKBOX = lazy(r"^\[([ xX])\][ \t]+")
_POINTER = lazy(r"https?://[^\s<>)\"']+|(?<![\w/])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]+")


def _cue(words: str) -> re.Pattern[str]:
    return lazy(rf"\b(?:{words})\b", re.IGNORECASE)


_CUES: tuple[tuple[Section, re.Pattern[str]], ...] = (
    (
        "decision",
        _cue(
            r"decid\w+|decisions?|chose|chosen|picked|opted|agreed|settled on|(?:went|going|go) with|instead of|"
            r"rather than|we(?:'ll| will) use|switch(?:ed|ing)? (?:to|from)|reject(?:ed|ing)|"
            r"prefer(?:red)? \S+ (?:over|to)"
        ),
    ),
    (
        "lesson",
        _cue(
            r"lessons?|learn(?:ed|t)|turn(?:s|ed) out|gotchas?|root cause|caused by|never|always|avoid|beware|"
            r"pitfalls?|mistakes?|workaround|the reason"
        ),
    ),
    (
        "done",
        _cue(
            r"done|shipped|closed|fixed|merged|released|deployed|completed?|finished|landed|implemented|resolved|"
            r"migrated|rolled out|all green|tests? pass(?:es|ed|ing)?"
        ),
    ),
)
# A sentence goes on in a line that begins with a small word or a quote, as in a commit's message.
_WRAPPED = lazy(r"(?<=[\w,)`\"'])\n[ \t]*+(?=[\"'`]\w|[a-z]\w*[\s,.;])")
_FIELD_SECTIONS: dict[str, Section] = {"decisions": "decision", "outcome": "done", "rule": "lesson", "why": "lesson"}
DONE = "done: "  # before what a DONE line says, which could be read as a task otherwise
# Of strangers' sentences with a mere cue ("pending") 13 to 32 % leave something open; of these 63 % (experiments.md).
_LABEL_OF_OPEN = lazy(
    r"(?i)\W*+(?:(?:the|my|our|known|recommended|proposed|user) )*(?:todo|tbd|blocked|paused|pending|wip|unresolved|"
    r"in progress|partial(?:ly done)?(?=[:,])|waiting (?:for|on)|still (?:open|to|needs?|waiting)|left to do|needs? to|"
    r"follow[- ]?ups?(?: work)?(?: needed)?(?=:)|not (?:yet|done|finished|started)|open (?:questions?|items?|issues?)|"
    r"next(?: up|(?: steps?)?:| steps?\W* (?:is|are|would|will))|remaining(?=[^.:(]{0,40}: ))(?!\w)\W+\w+\W+\w"
)
_IS_OPEN = lazy(
    r"(?i)\b(?:is|are|remains?|still|but) (?:(?:still|currently) )?(?:pending|blocked|paused|unresolved|in progress|"
    r"waiting|missing\W*$|not (?:done|finished|started|implemented|tested|written))\b|\bstill needs?\b|\bnot yet\b|"
    r": follow-up\b|(?:[:(–—]| - )\W*(?:in progress|partial|pending|blocked|unresolved|backlog|deferred|todo)\b"
)
_MAY_BE_DONE = lazy(r"(?i)\?\W*$|\b(?:no|while|when(?:ever)?|if|until|unless|was|were|would|that|where|which|only)\b")


def extract_points(entry: Entry, name: str = "") -> list[Point]:
    """What an entry has to say to the levels above it. Always at least one point, so that it can be found there.

    `name` is what its topic is called now; a heading that is no name is then part of what it says.
    """
    heading = plain(entry.topic)
    topic = plain(name) or heading or "notes"

    def point(section: Section, text: str) -> Point:
        text = plain(_CHECKBOX.sub("", text, count=1))
        return Point(section=section, topic=topic, type=entry.type, text=text, refs=(entry.ref,))

    def headed(text: str) -> str:
        said = spoken(heading)
        known = not name or said in spoken(topic) or said in spoken(text)
        return text if known else f"{heading}: {text}"

    if is_ephemeral(entry.topic) or EPHEMERAL_WHOLE.fullmatch(entry.text):
        return [Point(section="more", topic="", refs=(entry.ref,))]
    if entry.type == "user":
        return [point("topic", headed(entry.text))]
    if entry.type == "feedback":
        return [point("lesson", headed(_feedback(entry.text)))]
    if entry.type == "reference":
        return [point("topic", headed(_reference(_worth_summarising(entry.text))))]
    is_title = name and (entry.titled or not reads_as_name(heading)) and spoken(heading) != spoken(topic)
    said = (point(section, each) for section, each, _ in statements(entry.text))
    return [point("topic", heading if is_title else ""), *said]


def renamed(found: Iterable[Point], names: Mapping[str, str]) -> list[Point]:
    """Points under the present names of their latest entries' topics."""
    return [
        replace(point, topic=names[last]) if (last := max(point.refs, key=place_of, default="")) in names else point
        for point in found
    ]


def spoken(text: str) -> str:
    """The words alone: a heading has no colons where its text has them."""
    return " ".join(re.findall(r"\w+", text.casefold()))


def statements(text: str) -> Iterator[tuple[Section, str, bool]]:
    """What an entry says, each with its section and whether a mark says so: `DONE:`, `OPEN:`, `TODO`, `- [ ]`.

    A log indents the lines of a field, the store keeps no indent: in both a field goes on to the next one.
    """
    flat = (" ".join(line.split()) for line in _WRAPPED.sub(" ", _worth_summarising(text)).split("\n") if line.strip())
    items, prose = entries.fields("\n".join(line if entries.FIELD.fullmatch(line) else f"  {line}" for line in flat))
    for name, value in [*items, ("", prose)]:
        if name == "references":
            yield "note", value, False
            continue
        states = read_states(value)
        yield from (("done", f"{DONE}{each}", True) for each in states.done)
        yield from (("open", each, True) for each in states.open)
        value = without_states(value)
        found = list(sentences(value))
        if name != "request":  # the answer is about that list
            yield from (("open", left[1], True) for each in found if (left := TO_DO.match(each)))
            found = [each for each in found if not TO_DO.match(each)]
        section = _FIELD_SECTIONS.get(name)
        if section == "done":
            first, parts = set(sentences(value.partition("\n")[0])), dict[Section, list[str]]()
            for each in found:
                here = _section(each)
                here = "done" if here != "open" and (here == "note" or each in first) else here
                parts.setdefault(here, []).append(each)
            yield from ((here, " ".join(some), False) for here, some in parts.items())
        elif section and found:
            yield section, " ".join(found), False
        elif not section:
            said = ((_section(each), each) for each in found)
            answered = name == "request" and any(other == "outcome" for other, _ in items)
            yield from (("note" if here == "open" and answered else here, each, False) for here, each in said)


def _section(sentence: str) -> Section:
    box = _CHECKBOX.match(sentence)
    if box:
        return "open" if box[1] == " " else "done"
    is_heading = sentence.rstrip("*_` ").endswith(":")
    if not is_heading and (
        _LABEL_OF_OPEN.match(sentence) or (_IS_OPEN.search(sentence) and not _MAY_BE_DONE.search(sentence))
    ):
        return "open"
    cues = () if is_heading or sentence.endswith("?") else _CUES  # "How do we avoid that?" is no lesson
    return next((section for section, cue in cues if cue.search(sentence)), "note")


def _feedback(text: str) -> str:
    items, prose = entries.fields(text)
    said = [f"{name.replace('_', '-')}: {' '.join(sentences(value))}" for name, value in items]
    parts = [*([" ".join(sentences(prose))] if prose.strip() else []), *said]
    return "; ".join([*(part.rstrip(".") for part in parts[:-1]), *parts[-1:]])


def _reference(text: str) -> str:
    flat = list(sentences(re.sub(r"^[-*] references:", "-", text, flags=re.MULTILINE)))
    pointers = list(dict.fromkeys(found.rstrip(".,;:") for found in _POINTER.findall(" ".join(flat))))
    line = next((sentence for sentence in flat if _POINTER.sub("", sentence).strip(" .,:;-")), "")
    return " ".join([line, *(pointer for pointer in pointers if pointer not in line)])


def _worth_summarising(text: str) -> str:
    lines: list[str] = []
    in_trace = False
    for line in markdown.without_fences(text).split("\n"):
        if _TRACE_START.match(line):
            in_trace = True
        elif not _TRACE_LINE.match(line) and not (in_trace and line.startswith((" ", "\t"))):
            in_trace = False
            if not is_ephemeral(markdown.split_item(line)[1]):
                lines.append(line)
    return "\n".join(lines)


_NAME = r"(?!\w+(?:day|ember|uary)\b|March|April|May|June|July|August|October)[A-Z][a-z]+"
_KINDS = {  # what names of each kind look like; services are `invoice-api` and `PostgreSQL`
    "people": lazy(
        rf"(?<![\w@/])@(?!sha)[a-z][\w-]+\b(?![./])|(?:(?<=\bwith )|(?<=\bby )|(?<=\basked )|(?<=\btold )|(?<=\bcc )|"
        rf"(?<=\band )){_NAME}\b(?!\.\w|-)|\b{_NAME}(?= (?:said|asked|joined|decide[ds]|approve[ds]|wants?|reviews|"
        r"works|agreed|reported|prefers|owns)\b)"
    ),
    "services": lazy(
        r"(?<![\w-])[a-z][a-z0-9]*(?:-[a-z0-9]+)*-(?:api|service|worker|gateway|server|db|proxy|queue|sidecar)\b"
        r"|\b(?!\w*(?:Error|Exception)\b)(?:(?:[A-Z][a-z]+){2,}[A-Z]*|[A-Z][a-z]+[A-Z]{2,})\b"
    ),
    "files": lazy(
        r"(?<![\w/:.@~-])(?:[\w.@~-]*/)*[\w@-][\w.@-]*\.[a-z]{1,5}\b(?![./]?\w)|(?<![\w/:.@~-])(?:[a-z_.-]{2,}/)+[a-z_-]{3,}"
    ),
    "errors": lazy(r"\b(?:[A-Z]\w*(?:Error|Exception)|E[A-Z]{5,}|HTTP [45]\d\d|SIG[A-Z]{3,}|[A-Z]+_[A-Z_]{3,})\b"),
}
_NAMED = lazy(r"(?:: |, )([^,]+) ×(\d+) \((\d{4}-\d{2}-\d{2}#\d+)\)")
_SHOWN = 10  # names of each kind; chosen, one line


def entities(parts: Iterable[tuple[str, Iterable[Point]]], *, least: int) -> list[Point]:
    """A line a kind: who and what is named at least so often, with its count and its last entry.

    A part is such lines of a node below, which are read, or none and the points of one, which are counted.
    """
    times: Counter[tuple[str, str]] = Counter()
    last: dict[tuple[str, str], str] = {}
    for lines, found in parts:
        said = {
            (kind, name, 1, max(point.refs, key=place_of))
            for kind, pattern in _KINDS.items()
            for point in found
            if point.refs and not lines
            for name in pattern.findall(point.text)
        }
        known = ((line[2:].partition(":")[0], each) for line in lines.split("\n") for each in _NAMED.findall(line))
        for kind, name, count, ref in (*said, *((kind, name, int(count), ref) for kind, (name, count, ref) in known)):
            times[kind, name] += count
            last[kind, name] = max(last.get((kind, name), ref), ref, key=place_of)
    best = sorted((each for each in times if times[each] >= least), key=lambda each: (-times[each], each))
    made = []
    for kind in _KINDS:
        names = [f"{name} ×{times[kind, name]} ({last[kind, name]})" for at, name in best if at == kind]
        if names:
            made.append(Point(section="entity", topic=kind, text=", ".join(names[:_SHOWN])))
    return made


def sentences(text: str) -> Iterator[str]:
    """Sentences and list items, one line each, without their bullets."""
    for line in text.split("\n"):
        for sentence in split_sentences(split_item(line)[1]):
            yield sentence.strip()


def telling_words(text: str) -> list[str]:
    """The words of a text that say something about its subject, in order."""
    found = (word for line in text.split("\n") for word in written(line, marks=True))
    return [word for word in found if word.casefold() not in NOISE and any(c.isalnum() for c in word)]


def densities(documents: Iterable[str]) -> Callable[[str], float]:
    """How much a text tells for its length: words that are rare among the documents more, identifiers more."""
    found = [{word.casefold() for word in telling_words(document)} for document in documents]
    counts = Counter(word for words in found for word in words)

    def weight(word: str) -> float:
        is_prose = word.replace("'", "").isalpha() and (word.islower() or word.istitle() or len(word) < 2)
        return math.log(1 + (len(found) + 1) / (counts[word.casefold()] + 0.5)) * (1 if is_prose else 1.4)

    # In the order of the text: floats summed in the order of a set would differ from run to run.
    return lambda text: sum(map(weight, dict.fromkeys(telling_words(text)))) / math.sqrt(4 + len(text.split()))
