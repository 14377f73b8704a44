"""What the word index is told of a passage: its terms in two grades, those it makes much of and those it mentions.

Candidates are chosen by the index alone, before any passage is read. Without grades all that hold the same words look
alike, and of a large store the wrong hundred would be read. Ranking (`search/words.py`) holds length against the same
typical length. Whoever changes what is said here makes the word index anew (`WORDS_ANEW` in a migration).
"""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

HEADER_LINES = 3  # title, who, keywords: the first lines of a passage's terms
LENGTH_WEIGHT = 0.9
TYPICAL_LENGTH = 40  # terms


def expected(length: int) -> float:
    """How often a text of so many terms repeats what it is about, 1 for one of typical length."""
    return (1 - LENGTH_WEIGHT) + LENGTH_WEIGHT * length / TYPICAL_LENGTH


def graded(stream: str) -> tuple[set[str], set[str]]:
    """The terms a passage makes much of (in its header, or as often as its length lets expect), and the others."""
    *header, text = stream.split("\n", HEADER_LINES)
    tokens = text.split()
    strong = set(" ".join(header).split())
    often = expected(len(tokens))
    if often <= 1:
        return strong.union(tokens), set()
    said: set[str] = set()
    if often <= 2:  # most texts; said twice is often, and counting takes half as long again as seeing that
        strong.update([term for term in tokens if term in said or said.add(term)])  # type: ignore[func-returns-value]
    else:
        strong.update([term for term, count in Counter(tokens).items() if count >= often])
        said.update(tokens)
    return strong, said - strong


def tokens(space: int, strong: Iterable[str], others: Iterable[str]) -> str:
    """The terms of a passage as the index keeps them, parted by spaces: under the number of their space and grade."""
    return f"{_under(f'{space}+', strong)} {_under(f'{space}:', others)}".strip()


def _under(prefix: str, terms: Iterable[str]) -> str:
    joined = f" {prefix}".join(terms)  # adding it to each takes twice as long
    return prefix + joined if joined else ""
