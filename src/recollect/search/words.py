"""Reading a passage's words: how it holds the terms of a question, and what that is worth.

`share` is BM25F with three changes, each measured on LoCoMo, LongMemEval and StackFAQ (docs/experiments.md):

- Length is held against an absolute typical length, so a store of long notes does not change the score of a short one.
- The words of the passages before and after count a little, *inside* the saturation: they supply what a short turn
  leaves out ("Yes, in June!") and do not double what it says. Long passages neither borrow nor lend, because they have
  other subjects too. A passage that follows a question borrows twice as much from it.
- The sum is divided by the score of a full match, so that a weak match stays weak.

`plain` is textbook BM25. Both are signals of the learnt order (`search/learnt.py`). The same code reads on both
engines: an engine only says which passages hold a term (`store/lookup.py`).
"""

from __future__ import annotations

from math import fsum, log1p

from recollect.core.records import made, record
from recollect.store.db import HEADER_LINES, expected
from recollect.text.sentences import is_real

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping
    from typing import Any

    from recollect.search.query import Question

K1 = 1.2  # how soon a repeated word stops counting; BM25's usual value
TITLE_WEIGHT = 5  # a word in the title, or among the keywords, is a word said several times
KEYWORD_WEIGHT = 3  # chosen between a word of the body and one of the title
PAIR_WEIGHT = 0.8  # of two words of the question that are side by side here too
BESIDE = {1: 0.4, 2: 0.12}  # share of their words that the passages one and two steps away lend
BORROWING_LENGTH = 45  # terms at which a passage borrows, and lends, half as much
ANSWER = 2.0  # times more that is borrowed from a question just before: +0.8 on LoCoMo, -0.2 on LongMemEval

PLAIN_LENGTH_WEIGHT = 0.75  # BM25's usual value
PLAIN_LENGTH = 60  # terms; a store's own mean, which textbook BM25 takes, was no better on git-dev
PLAIN_TITLE_WEIGHT = 2  # chosen; the learnt order weighs this signal itself

TITLE_SLACK = 5.0  # so that a title of one common word is no full match
UNSAID_WORD = 4.0  # the rarity that a word of a title is given when the question does not say it


@record
class Reading:
    """How a passage holds the terms of a question: how often in its body, in its title and in the rest of its header.

    `others` are weighed already; `held` and `headed` are the summed rarity of what it holds and of what its title
    holds, `rarest` the largest, `matched` the logarithm of how many; `pairs` is what words side by side are worth;
    `titled` the share of its real title that the question says, `named` whether a short one (a speaker, a label) is
    mentioned; `asks` whether it ends with a question.
    """

    body: dict[str, int]
    title: dict[str, int]
    others: dict[str, int]
    held: float
    headed: float
    rarest: float
    matched: float
    pairs: float
    length: int
    titled: float
    named: bool
    asks: bool


def read(stream: str, question: Question, *, title: str = "", end: str = "") -> Reading:
    """Read a passage's stored terms; `title` and `end` are as written."""
    asked = question.terms
    heading, who, keywords, text = stream.split("\n", HEADER_LINES)
    tokens = text.split()
    length = len(tokens)
    body: dict[str, int] = {}
    for term in tokens:
        if term in asked:
            body[term] = body.get(term, 0) + 1
    headed = heading.split()
    said = _counted(headed, asked)
    others: dict[str, int] = _counted(who.split(), asked) if who else {}
    for term, count in _counted(keywords.split(), asked).items() if keywords else ():
        others[term] = others.get(term, 0) + KEYWORD_WEIGHT * count
    real = bool(said) and is_real(title)
    rarity = question.query.weights
    held = [rarity[term] for term in ({*body, *said, *others} if said or others else body)]
    return made(
        Reading,
        {
            "body": body,
            "title": said,
            "others": others,
            "held": fsum(held),
            "headed": fsum([rarity[term] for term in said]),
            "rarest": max(held, default=0.0),
            "matched": log1p(len(held)),
            "pairs": _side_by_side(tokens, body, question.pairs, expected(length)) if len(body) > 1 else 0.0,
            "length": length,
            "titled": _share_of_title(said, len(set(headed)), rarity) if real else 0.0,
            "named": bool(said) and not real,
            "asks": end.rstrip().endswith("?"),
        },
    )


def share(reading: Reading, question: Question, beside: Iterable[tuple[int, Reading]] = ()) -> float:
    """How much of a full match a passage is, 0 to 1; `beside` are its neighbours with their distance (before: < 0)."""
    frequencies = _frequencies(reading, expected(reading.length), TITLE_WEIGHT)
    for distance, other in beside:
        lent = shortness(reading, BORROWING_LENGTH) * shortness(other, BORROWING_LENGTH) * BESIDE[abs(distance)]
        lent *= ANSWER if distance == -1 and other.asks else 1.0
        norm = expected(other.length)
        for term, count in other.body.items():
            frequencies[term] = frequencies.get(term, 0.0) + lent * (count / norm)
    total = _sum(frequencies, question.weights)
    return min(1.0, (total + reading.pairs) / ((K1 + 1) * question.whole)) if question.whole else 0.0


def shortness(reading: Reading, middling: int) -> float:
    """1 for a short passage, a half for one of middling length, nearly nothing for a long one."""
    return 1 / (1 + (reading.length / middling) ** 2)


def plain(reading: Reading, question: Question) -> float:
    """Textbook BM25 by the passage's own words, as a share of a full match; a long text may have more than one."""
    if not question.whole_rarity:
        return 0.0
    norm = (1 - PLAIN_LENGTH_WEIGHT) + PLAIN_LENGTH_WEIGHT * reading.length / PLAIN_LENGTH
    frequencies = _frequencies(reading, norm, PLAIN_TITLE_WEIGHT)
    return _sum(frequencies, question.query.weights) / ((K1 + 1) * question.whole_rarity)


def matched(stream: str, question: Question) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The lines of a passage that hold terms of the question, and those terms."""
    lines = [question.terms.intersection(line.split()) for line in stream.split("\n")]
    return tuple(number for number, shared in enumerate(lines) if shared), tuple(sorted(set().union(*lines)))


def _counted(tokens: list[str], asked: frozenset[str]) -> dict[str, int]:
    return {term: tokens.count(term) for term in asked.intersection(tokens)}


def _frequencies(reading: Reading, norm: float, title_weight: float) -> dict[str, float]:
    """How often a passage says each term: in its body held against its length, in its header as weighed."""
    found = {term: count / norm for term, count in reading.body.items()}
    for term, count in reading.title.items():
        found[term] = found.get(term, 0.0) + title_weight * count
    for term, weighed in reading.others.items():
        found[term] = found.get(term, 0.0) + weighed
    return found


def _sum(frequencies: Mapping[Any, float], weights: Mapping[Any, float]) -> float:
    """The weights of terms, or pairs of them, each as far as it is saturated by how often it occurs.

    `fsum` is exact: in whatever order terms come, both engines and every run give the same last digit.
    """
    return (K1 + 1) * fsum([weights[term] * often / (often + K1) for term, often in frequencies.items()])


def _side_by_side(
    tokens: list[str], held: Collection[str], pairs: Mapping[tuple[str, str], float], norm: float
) -> float:
    possible = [pair for pair in pairs if pair[0] in held and pair[1] in held]
    if not possible:
        return 0.0
    spaced = f" {'  '.join(tokens)} "  # each term between two spaces, so that a pair ends where the next may begin
    return PAIR_WEIGHT * _sum({pair: spaced.count(f" {pair[0]}  {pair[1]} ") / norm for pair in possible}, pairs)


def _share_of_title(said: Collection[str], length: int, rarity: Mapping[str, float]) -> float:
    """Which part of a title the question says; what it leaves unsaid counts as words of middling rarity."""
    weight = fsum(rarity[term] for term in said)
    return weight / (weight + UNSAID_WORD * (length - len(said)) + TITLE_SLACK)
