"""The pieces of a text that get a vector each.

A vector blurs what it is made of, so beside the whole a short text has its sentences, a long one its further windows,
and a real title stands alone: what a question is near to is usually one of them. Who says it, or what it is about,
stands in front of each. Knows nothing about the model.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from recollect.text.sentences import sentences

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
