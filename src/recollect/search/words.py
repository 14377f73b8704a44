"""Ranking by words: how much of a question one passage says, alone and together with what stands beside it.

BM25F with three turns, each measured in docs/experiments.md:

- Length is held against an absolute typical length, so a store of long notes does not change the score of a short one.
- The words of the passages before and after count a little, *inside* the saturation: they supply what a short turn
  leaves out ("Yes, in June!"), they do not double what it says. Long passages neither borrow nor lend: what they say
  has other subjects too. What follows a question borrows twice as much from it.
- The sum is divided by what a full match would have, so that scores of two questions can be compared.

The same code ranks on both engines: an engine only says which passages hold a term (`store/lookup.py`).
"""

from __future__ import annotations

from math import fsum

from recollect.core.record import record
from recollect.store.grades import HEADER_LINES, expected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from recollect.search.query import Question

K1 = 1.2  # how soon a repeated word stops counting
HEADER_WEIGHTS = (5.0, 1.0, 3.0)  # title, who, keywords: a word there is a word said several times
PAIR_WEIGHT = 0.8  # of two words of the question that stand together here too
BESIDE = {1: 0.4, 2: 0.12}  # share of their words that the passages one and two steps away lend
BORROWING_LENGTH = 45  # terms at which a passage borrows, and lends, half as much
ANSWER = 2.0  # times more that is borrowed from a question just before

FLOOR_LENGTH_WEIGHT = 0.75  # these three are what the floor of injection was measured with
FLOOR_TYPICAL_LENGTH = 60
FLOOR_HEADER_WEIGHTS = (4.0, 1.0, 3.0)

REAL_TITLE = 3  # words from which on a title says something by itself; fewer are a name or a label
TITLE_SLACK = 5.0  # so that a title of one common word is no full match
UNSAID_WORD = 4.0  # the rarity that a word of a title is given when the question does not say it


@record
class Reading:
    """How a passage holds the terms of a question: frequencies in body (for its length) and header, words side by side.

    `titled` is the share of its real title that the question says, `named` whether a short one (a speaker, a label) is
    mentioned; `asks` whether it ends with a question.
    """

    body: dict[str, float]
    header: dict[str, float]
    pairs: float
    length: int
    titled: float
    named: bool
    asks: bool


def read(stream: str, question: Question, *, title: str = "", end: str = "") -> Reading:
    """Read a passage's stored terms; `title` and `end` are as written."""
    asked = question.terms
    *header, text = stream.split("\n", HEADER_LINES)
    tokens = text.split()
    norm = expected(len(tokens))
    body = {term: tokens.count(term) / norm for term in asked.intersection(tokens)}
    above: dict[str, float] = {}
    for line, weight in zip(header, HEADER_WEIGHTS, strict=True):
        if line:
            words = line.split()
            for term in asked.intersection(words):
                above[term] = above.get(term, 0.0) + weight * words.count(term)
    heading = set(header[0].split()) if above else set()
    said = heading & asked
    real = bool(said) and len(title.split()) >= REAL_TITLE
    return Reading(
        body=body,
        header=above,
        pairs=_side_by_side(tokens, body.keys(), question.pairs, norm) if len(body) > 1 else 0.0,
        length=len(tokens),
        titled=_share_of_title(said, len(heading), question.query.weights) if real else 0.0,
        named=bool(said) and not real,
        asks=end.rstrip().endswith("?"),
    )


def share(reading: Reading, question: Question, beside: Iterable[tuple[int, Reading]] = ()) -> float:
    """How much of a full match a passage is, 0 to 1; `beside` are its neighbours with their distance (before: < 0)."""
    frequencies = dict(reading.body)
    for term, frequency in reading.header.items():
        frequencies[term] = frequencies.get(term, 0.0) + frequency
    gate = shortness(reading, BORROWING_LENGTH)
    for distance, other in beside:
        lent = gate * shortness(other, BORROWING_LENGTH) * BESIDE[abs(distance)]
        lent *= ANSWER if distance == -1 and other.asks else 1.0
        for term, frequency in other.body.items():
            frequencies[term] = frequencies.get(term, 0.0) + lent * frequency
    weights = question.weights
    # `fsum` is exact: in whatever order terms come, both engines and every run give the same last digit.
    total = fsum([weights[term] * often / (often + K1) for term, often in frequencies.items()]) * (K1 + 1)
    return min(1.0, (total + reading.pairs) / ((K1 + 1) * question.whole)) if question.whole else 0.0


def weight(reading: Reading, question: Question) -> float:
    """What the terms are worth that a passage holds, however often: a quick look before its neighbours are known."""
    return fsum([question.weights[term] for term in reading.body.keys() | reading.header.keys()])


def shortness(reading: Reading, middling: int) -> float:
    """1 for a short passage, a half for one of middling length, nearly nothing for a long one."""
    return 1 / (1 + (reading.length / middling) ** 2)


def relevance(stream: str, question: Question) -> float:
    """How much of a full match a passage is by itself, 0 to 1: what a floor can be set on.

    Plain BM25F with plain rarity. It orders less well than `share`, but tells better whether anything fits at all: long
    texts are not expected to be met in every rare word.
    """
    rarity = question.query.weights
    *header, text = stream.split("\n", HEADER_LINES)
    tokens = text.split()
    norm = (1 - FLOOR_LENGTH_WEIGHT) + FLOOR_LENGTH_WEIGHT * len(tokens) / FLOOR_TYPICAL_LENGTH
    frequencies = {term: tokens.count(term) / norm for term in rarity.keys() & tokens}
    for line, weight in zip(header, FLOOR_HEADER_WEIGHTS, strict=True):
        words = line.split()
        for term in rarity.keys() & words:
            frequencies[term] = frequencies.get(term, 0.0) + weight * words.count(term)
    total = fsum(rarity[term] * _saturated(often) for term, often in frequencies.items())
    return min(1.0, total / ((K1 + 1) * question.whole_rarity)) if question.whole_rarity else 0.0


def matched(stream: str, question: Question) -> tuple[tuple[int, ...], tuple[str, ...]]:
    """The lines of a passage that hold terms of the question, and those terms."""
    lines = [question.terms.intersection(line.split()) for line in stream.split("\n")]
    return tuple(number for number, shared in enumerate(lines) if shared), tuple(sorted(set().union(*lines)))


def _saturated(frequency: float) -> float:
    return frequency * (K1 + 1) / (frequency + K1)


def _side_by_side(
    tokens: list[str], held: Collection[str], pairs: Mapping[tuple[str, str], float], norm: float
) -> float:
    possible = [pair for pair in pairs if pair[0] in held and pair[1] in held]
    if not possible:
        return 0.0
    # Each term between two spaces of its own: looking for a pair in one string is ten times as fast as pair by pair.
    text = f" {'  '.join(tokens)} "
    often = ((pair, text.count(f" {pair[0]}  {pair[1]} ")) for pair in possible)
    return PAIR_WEIGHT * fsum(pairs[pair] * _saturated(count / norm) for pair, count in often if count)


def _share_of_title(said: set[str], length: int, rarity: Mapping[str, float]) -> float:
    """Which part of a title the question says; what it leaves unsaid counts as words of middling rarity."""
    weight = fsum(rarity[term] for term in said)
    return weight / (weight + UNSAID_WORD * (length - len(said)) + TITLE_SLACK)
