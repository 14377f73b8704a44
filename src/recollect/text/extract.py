"""From an entry to its points: what was decided, done, learned, left open; and what is nobody's business tomorrow.

The type rules live here. Code blocks, stack traces and whatever is marked as temporary stay in the log and out of
points. Knows nothing about budgets or levels.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from recollect.core.journal import Entry, Point, Section
from recollect.text import entries, markdown
from recollect.text.keyphrases import BULLET, sentences
from recollect.text.points import plain

EPHEMERAL = ("임시", "테스트 중", "나중에 삭제", "temporary", "test run", "delete later")

_MARKERS = "|".join(map(re.escape, EPHEMERAL))
_EPHEMERAL_TAG = re.compile(rf"[\[(]\s*(?:{_MARKERS})\s*[\])]|(?<![\w#])#(?:{_MARKERS})(?!\w)", re.IGNORECASE)
_EPHEMERAL_WHOLE = re.compile(rf"\W*(?:{_MARKERS})\W*", re.IGNORECASE)

_TRACE_START = re.compile(
    r"\s*(?:Traceback \(most recent call last\)|goroutine \d+ \[|stack (?:trace|backtrace):)", re.I
)
_TRACE_LINE = re.compile(
    r"\s+at\s+\S.*[:(]|\s*File \".*\", line \d+|\s+\.\.\. \d+ more|\s+\d+: +0x|\t\S+:\d+ \+0x|\s+\^+\s*$|"
    r"#\d+\s+0x[0-9a-f]+ in "
)

_CHECKBOX = re.compile(r"^\[([ xX])\][ \t]+")
_POINTER = re.compile(r"https?://[^\s<>)\"']+|(?<![\w/])(?:~|\.{1,2})?/?(?:[\w.@-]+/)+[\w.@-]+")


def _cue(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})\b", re.IGNORECASE)


_CUES: tuple[tuple[Section, re.Pattern[str]], ...] = (
    (
        "open",
        _cue(
            r"todo|tbd|open (?:question|item|issue)s?|pending|blocked|waiting (?:for|on)|follow[- ]?up|"
            r"next(?: step| up)|remaining|not yet|unresolved|still (?:need|fail|open|to)\w*|needs? to|left to do"
        ),
    ),
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
_FIELD_SECTIONS: dict[str, Section] = {"decisions": "decision", "outcome": "done", "rule": "lesson", "why": "lesson"}
_SAYS_OPEN = re.compile(r"\b(?:in progress|partial\w*|paused|wip|blocked|not (?:yet |done|finished))", re.I)


def is_ephemeral(text: str) -> bool:
    """Tagged as temporary, or nothing but the marker. A mere mention of the word is not a mark."""
    return bool(_EPHEMERAL_TAG.search(text) or _EPHEMERAL_WHOLE.fullmatch(text))


def points(entry: Entry) -> list[Point]:
    """What an entry has to say to the levels above it. Always at least one point, so that it can be found there."""
    topic = plain(entry.topic) or "notes"

    def point(section: Section, text: str) -> Point:
        text = plain(_CHECKBOX.sub("", text, count=1))
        return Point(section=section, topic=topic, type=entry.type, text=text, refs=(entry.ref,))

    ephemeral = is_ephemeral(entry.topic) or _EPHEMERAL_WHOLE.fullmatch(entry.text)
    text = "" if ephemeral else _worth_summarising(entry.text)
    if entry.type == "user":
        return [point("topic", text)]
    if entry.type == "feedback":
        return [point("lesson", _feedback(text))]
    if entry.type == "reference":
        return [point("topic", _reference(text))]
    return [point("topic", ""), *(point(section, said) for section, said in _statements(text))]


def _statements(text: str) -> Iterator[tuple[Section, str]]:
    items, prose = entries.fields(text)
    for name, value in items:
        if name == "references":
            yield "note", value
            continue
        said = " ".join(sentences(value))
        section = _FIELD_SECTIONS.get(name)
        if section == "done" and _SAYS_OPEN.search(said):
            section = "open"
        if section:
            yield section, said
        else:
            yield from ((_section(sentence), sentence) for sentence in sentences(value))
    yield from ((_section(sentence), sentence) for sentence in sentences(prose))


def _section(sentence: str) -> Section:
    box = _CHECKBOX.match(sentence)
    if box:
        return "open" if box[1] == " " else "done"
    return next((section for section, cue in _CUES if cue.search(sentence)), "note")


def _feedback(text: str) -> str:
    items, prose = entries.fields(text)
    said = [f"{name.replace('_', '-')}: {' '.join(sentences(value))}" for name, value in items]
    parts = [*([" ".join(sentences(prose))] if prose.strip() else []), *said]
    return "; ".join([*(part.rstrip(".") for part in parts[:-1]), *parts[-1:]])


def _reference(text: str) -> str:
    """The pointers and one line that says what they point to."""
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
            if not is_ephemeral(BULLET.sub("", line, count=1)):
                lines.append(line)
    return "\n".join(lines)
