"""Sentences and other short pieces of a text: splitting, clipping, snippets, counted nouns, and chunks for embedding.

Extractive only: every result is words of the input in their order, with "…" where something was cut.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recollect.text.frame import one_line
from recollect.text.markdown import lazy
from recollect.text.tokens import is_unspaced, words
from recollect.text.tokens import terms as terms_of

# --- Sentences

_END = lazy(r"(?<=[.!?؟])(?<!\(\.\.\.)[\"')\]]*\s+(?=[\"'(\[]?(\w?))|(?<=[。！？।])[”」』）]*\s*")
_ABBREVIATION = lazy(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|resp|incl|ca|nr|Mr|Mrs|Dr|St|No|Fig|al|[A-Z])\.$")
_LONGEST_ABBREVIATION = len(" approx.")


def split_sentences(line: str, *, lower_case: bool = False) -> list[str]:
    """The sentences of one line, each with the space after it: joined they are the line again.

    Abbreviations, versions, file names and code in backticks do not end a sentence. A lower-case letter continues one,
    except where `lower_case` says that sentences of this text may begin with one.
    """
    found: list[str] = []
    start = counted = ticks = 0
    last_tick = line.rfind("`")
    for mark in _END.finditer(line):
        ticks += line.count("`", counted, mark.end())
        counted = mark.end()
        in_code = ticks % 2 and last_tick >= counted
        begins = mark[1] is None or lower_case or (mark[1] and not mark[1].islower())  # None: after a CJK mark
        before = max(0, mark.start() - _LONGEST_ABBREVIATION)
        if begins and not in_code and not _ABBREVIATION.search(line, before, mark.start()):
            found.append(line[start:counted])
            start = counted
    return [*found, line[start:]] if line[start:].strip() else found


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line; list items are sentences of their own."""
    paragraphs = re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)", text)
    return [part.strip() for paragraph in paragraphs for part in split_sentences(one_line(paragraph))]


def first_sentence(text: str, words: int) -> str:
    found = sentences(text)
    return _cut(found[0], words) if found else ""


def cut(text: str, limit: int) -> str:
    """At most so many characters, cut at a space."""
    return text if len(text) <= limit else text[: limit - 1].rsplit(" ", 1)[0].rstrip(",;: ") + "…"


def clip(text: str, words: int) -> str:
    """Whole sentences from the start while they fit, at least the first one's first words."""
    found = sentences(text)
    if not found:
        return ""
    kept: list[str] = []
    for sentence in found:
        if kept and len(" ".join([*kept, sentence]).split()) > words:
            return _cut(" ".join(kept), words).removesuffix(" …") + " …"
        kept.append(sentence)
    return _cut(" ".join(kept), words)


def _cut(text: str, words: int) -> str:
    parts = text.split()
    if len(parts) > words:
        parts = [*parts[:words], "…"]
    limit = 12 * words  # a "word" can be a megabyte of base64
    line = " ".join(parts)
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"


NAMED = 10  # names that a line lists; it counts the rest


def counted(count: int, noun: str) -> str:
    if count == 1:
        return f"1 {noun}"
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2:-1] not in "aeiou" else f"{noun}s"
    return f"{count:,} {plural}"


def how_long(ms: int) -> str:
    """A stretch of time in the largest unit that it fills."""
    for unit, length in (("day", 86_400_000), ("hour", 3_600_000), ("minute", 60_000)):
        if ms >= length:
            return counted(ms // length, unit)
    return "less than a minute"


def named(names: Sequence[str]) -> str:
    """How many, and which: `2 (a, b)`; of many only the first are named."""
    if not names:
        return "0"
    more = f" and {len(names) - NAMED:,} more" if len(names) > NAMED else ""
    return f"{len(names):,} ({', '.join(names[:NAMED])}{more})"


_WORD = lazy(r"\S+")
WIDTH = 160  # characters of a snippet: two lines of a terminal


def snippet(line: str, terms: frozenset[str], *, width: int = WIDTH) -> str:
    """At most `width` characters of the line around its first matching word, cut at spaces."""
    if len(line) <= width:
        return line
    word = next((m for m in _WORD.finditer(line) if terms.intersection(terms_of(m.group()))), None)
    # What is between two spaces may be a path, or a whole text of another script: the match is somewhere in it.
    places = [word.group().casefold().find(term) for term in terms] if word else []
    first = word.start() + min((at for at in places if at >= 0), default=0) if word else 0
    start = max(0, first - width // 4)
    if start:
        start = line.find(" ", start) + 1 or start
    end = min(len(line), start + width)
    if end < len(line):
        end = max(line.rfind(" ", start, end), start + width // 2)
    return ("… " if start else "") + line[start:end].strip() + (" …" if end < len(line) else "")


def matched_words(text: str, asked: frozenset[str]) -> Iterator[str]:
    """The words of a text as written that hold a term asked for; of a script without spaces the terms themselves."""
    for word in dict.fromkeys(words(text)):
        if found := asked.intersection(terms_of(word)):
            yield from found if is_unspaced(word) else (word,)


def mark(text: str, marked: Sequence[str], before: str, after: str) -> str:
    if not marked:
        return text
    longest = sorted(marked, key=len, reverse=True)
    parts = (re.escape(word) if is_unspaced(word) else rf"(?<!\w){re.escape(word)}(?!\w)" for word in longest)
    return re.sub("|".join(parts), lambda found: f"{before}{found[0]}{after}", text)


WHOLE = 0  # the number of the piece that every text has
TITLE = 1  # the number of the title alone; parts of the body follow
PARTS = 2  # the number of the first part of the body

REAL_TITLE = 3  # words that make a title say something by itself
SHORT = 150  # words up to which a text is cut into sentences
LEAST = 8  # words a sentence needs to stand alone; shorter ones are glued together
WINDOW = 120  # words of a window of a long text
MOST = 12  # parts of one text
WHOLE_CHARACTERS = 2_000  # more than a model's window holds

_ROLES = frozenset("agent ai assistant bot human me model system tool unknown user you".split())


def pieces(*, title: str, who: str, text: str) -> list[tuple[int, str]]:
    """Numbered pieces, the whole first."""
    named = title if is_real(title) else who if who.lower() not in _ROLES else ""
    prefix = f"{named or title}: " if (named or title).lower() not in {"", *_ROLES} else ""
    found = [(WHOLE, (prefix + " ".join(text.split()))[:WHOLE_CHARACTERS])]
    if is_real(title):
        found.append((TITLE, title))
    words = len(text.split())
    parts = _sentences(text) if words <= SHORT else [*_opening(text), *_windows(text)]
    if len(parts) > 1 or words > SHORT:
        found += [(number, prefix + part) for number, part in enumerate(parts[:MOST], start=PARTS)]
    return found


def is_real(title: str) -> bool:
    """Whether a title says something by itself, more than a name or a label does."""
    return len(title.split()) >= REAL_TITLE


def _sentences(text: str) -> list[str]:
    return list(_glued((one for line in text.split("\n") for one in sentences(line)), LEAST))


def _opening(text: str) -> list[str]:
    """The first line of a long text, which is what a person asked or what the text is about."""
    first = text.strip().partition("\n")[0]
    return [first] if LEAST <= len(first.split()) <= SHORT else []


def _windows(text: str) -> list[str]:
    """The text after its first words, which the whole piece covers already."""
    words = text.split()
    starts = (min(start, len(words) - WINDOW) for start in range(SHORT, len(words), WINDOW))
    return [" ".join(words[start : start + WINDOW]) for start in starts]


def _glued(parts: Iterator[str], least: int) -> Iterator[str]:
    """Parts joined until each has enough words; what is left at the end goes with the one before it."""
    held: list[str] = []
    ready: Sequence[str] = ()
    for part in parts:
        held.append(part)
        if sum(len(one.split()) for one in held) >= least:
            if ready:
                yield " ".join(ready)
            ready, held = held, []
    if ready or held:
        yield " ".join([*ready, *held])


# --- The gist of an entry

_FIELD = lazy(r"[-*] (outcome|decisions|analysis|request|references|rule|why|how-to-apply): ?")
_SHORT = 5  # words; "Done." and "What a great idea!" say nothing
_CHECKED = lazy(r"^[-*+ ]*\[[xX]\]\s+")
MAY_BE_OPEN = lazy(r"OPEN|TODO|\[ \]")
OPEN_AMONG = 50  # latest entries of a topic, read for what is open; chosen, more than a session has
TO_DO = lazy(r"(?:TODO\b:?|\[ \])[ \t]+(\S.*)")
_FEW = 3  # words of letters alone; "This reverts commit 1a2b3c" says nothing
_EPHEMERAL = ("임시", "테스트 중", "나중에 삭제", "temporary", "test run", "delete later")

_MARKERS = "|".join(map(re.escape, _EPHEMERAL))
_EPHEMERAL_TAG = lazy(rf"[\[(]\s*(?:{_MARKERS})\s*[\])]|(?<![\w#])#(?:{_MARKERS})(?!\w)", re.IGNORECASE)
EPHEMERAL_WHOLE = lazy(rf"\W*(?:{_MARKERS})\W*", re.IGNORECASE)


def is_ephemeral(text: str) -> bool:
    """Tagged as temporary, or nothing but the marker. A mere mention of the word is not a mark."""
    return bool(_EPHEMERAL_TAG.search(text) or EPHEMERAL_WHOLE.fullmatch(text))


STATE = lazy(
    r" {0,3}(?:[-*+][ \t]++)?(?P<round>`|\*\*|)(?P<what>TOPIC|DONE|OPEN)"
    r"(?:(?P<closed>(?P=round):|:(?P=round))|:)[ \t]++(?P<text>\S.*?)(?(closed)|(?P=round))[ \t\r]*"
)
"""A line in which an agent says what is done, what is open and what it is about."""


def gist(text: str) -> str:
    """The sentence of an entry that says most: the result, else what was decided, said or asked; not what is open,
    which a later entry may settle."""
    found: dict[str, str] = {}
    name, in_code = "said", False
    for line in text.split("\n"):
        field = _FIELD.match(line)
        name = field[1] if field else name
        said = line[field.end() :] if field else line.strip()
        in_code ^= said.startswith(("```", "~~~"))
        state = STATE.fullmatch(said)
        unsaid = in_code or said[:1] == "|" or is_ephemeral(said) or TO_DO.match(said.removeprefix("- "))
        if not unsaid and (not state or state["what"] == "DONE"):
            # A line goes on in the next one, unless that begins an item: messages are wrapped.
            before = found.get(name, "") + ("\n" if state or said[:1] in ("-", "*", "#", "`") else " ")
            found[name] = before + (f"done: {state['text']}" if state else said)
    spare = ""
    for name in ("rule", "outcome", "decisions", "said", "analysis", "request"):
        lines = found.get(name, "").split("\n")
        told = [
            _CHECKED.sub("", each).strip("-*# ") for line in lines if line.strip("`~-* ") for each in sentences(line)
        ]
        telling = [each for each in told if tells(each)]
        if full := [each for each in telling if len(each.split()) > _SHORT and not each.endswith(("!", "?"))]:
            return one_line(full[0])
        spare = spare or next(iter(telling or told), "")
    return one_line(spare)


def tells(sentence: str) -> bool:
    """Whether a sentence says something: "Refs #1660, #1661" and "Done." do not."""
    return sum(word.strip(".,:;()'\"`").isalpha() for word in sentence.split()) > _FEW
