"""Sentences: cutting a text to its first words without breaking a line, a number or a file name.

Extractive only: every result is words of the input in their order, with "…" where something was cut.

Numbers with their noun: `1 node`, `2 nodes`, `3 entries`, `5 minutes`.

The piece of a line that shows why it matched.

The pieces of a text that get a vector each.

A vector blurs what it is made of, so beside the whole a short text has its sentences, a long one its further windows,
and a real title stands alone: what a question is near to is usually one of them. Who says it, or what it is about,
stands in front of each. Knows nothing about the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recollect.text.frame import one_line
from recollect.text.tokens import word_terms

_END = re.compile(r"(?<=[.!?؟])[\"')\]]*\s+(?=[\"'(\[]?(\w))|(?<=[。！？।])")
_ABBREVIATION = re.compile(r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|cf|approx|Mr|Mrs|Dr|No|Fig|[A-Z])\.$")
_LONGEST = len(" approx.")


def sentences(text: str) -> list[str]:
    """The sentences of a text, each on one line. Abbreviations, versions and file names do not end one."""
    found: list[str] = []
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+]|\d+[.)])\s)", text):
        start = 0
        flat = one_line(paragraph)
        for mark in _END.finditer(flat):
            # A small letter goes on; scripts without capitals have none.
            end = mark.start()
            if (mark[1] or "").islower() or _ABBREVIATION.search(flat, max(0, end - _LONGEST), end):
                continue
            found.append(flat[start : mark.end()].strip())
            start = mark.end()
        if flat[start:].strip():
            found.append(flat[start:].strip())
    return found


def first_sentence(text: str, words: int) -> str:
    """The first sentence, of at most so many words."""
    found = sentences(text)
    return _cut(found[0], words) if found else ""


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


NAMED = 10
"""How many names a line lists before it only counts the rest."""


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


_WORD = re.compile(r"\S+")
WIDTH = 160


def snippet(line: str, terms: frozenset[str], *, width: int = WIDTH) -> str:
    """At most `width` characters of the line around its first matching word, cut at spaces."""
    if len(line) <= width:
        return line
    word = next((m for m in _WORD.finditer(line) if terms.intersection(word_terms(m.group()))), None)
    first = word.start() + _first_in(word.group(), terms) if word else 0
    start = max(0, first - width // 4)
    if start:
        start = line.find(" ", start) + 1 or start
    end = min(len(line), start + width)
    if end < len(line):
        end = max(line.rfind(" ", start, end), start + width // 2)
    return ("… " if start else "") + line[start:end].strip() + (" …" if end < len(line) else "")


def _first_in(word: str, terms: frozenset[str]) -> int:
    """Where in what stands between two spaces the match is: that may be a path, or a whole text of another script."""
    places = (word.casefold().find(term) for term in terms)
    return min((at for at in places if at >= 0), default=0)


WHOLE = 0  # the number of the piece that every text has
TITLE = 1  # the number of the title alone; parts of the body follow
PARTS = 2

REAL_TITLE = 3  # words that make a title say something by itself
SHORT = 150  # words up to which a text is cut into sentences
LEAST = 8  # words a sentence needs to stand alone; shorter ones are glued together
WINDOW = 120  # words of a window of a long text
MOST = 12  # parts of one text
WHOLE_CHARACTERS = 2_000  # more than a model's window holds

_ROLES = frozenset("agent ai assistant bot human me model system tool unknown user you".split())


def pieces(*, title: str, who: str, text: str) -> list[tuple[int, str]]:
    """Numbered pieces, the whole first."""
    prefix = _prefix(title, who)
    found = [(WHOLE, (prefix + " ".join(text.split()))[:WHOLE_CHARACTERS])]
    if is_real(title):
        found.append((TITLE, title))
    words = len(text.split())
    parts = _sentences(text) if words <= SHORT else _windows(text)
    if len(parts) > 1 or words > SHORT:
        found += [(number, prefix + part) for number, part in enumerate(parts[:MOST], start=PARTS)]
    return found


def is_real(title: str) -> bool:
    """Whether a title says something by itself, more than a name or a label does."""
    return len(title.split()) >= REAL_TITLE


def _prefix(title: str, who: str) -> str:
    named = who if who.lower() not in _ROLES else ""
    first = title if is_real(title) else named or title
    return f"{first}: " if first and first.lower() not in _ROLES else ""


def _sentences(text: str) -> list[str]:
    return list(_glued((one for line in text.split("\n") for one in sentences(line)), LEAST))


def _windows(text: str) -> list[str]:
    """What follows the first words, which the whole stands for already."""
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
