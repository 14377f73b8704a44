"""Scoring: how much of a question a passage says, by its words and its neighbours', and the weights of all signals.

BM25F with three changes, each measured on LoCoMo, LongMemEval and StackFAQ (docs/experiments.md):

- Length is held against an absolute typical length, so a store of long notes does not change the score of a short one.
- The words of the passages before and after count a little, *inside* the saturation: they supply what a short turn
  leaves out ("Yes, in June!") and do not double what it says. Long passages neither borrow nor lend, because they have
  other subjects too. A passage that follows a question borrows twice as much from it.
- The sum is divided by the score of a full match, so that scores of two questions can be compared.

A passage's score is the sum of its signals (`Score`). `words` is a share of a full match and `meaning` a squared
cosine. Neither is scaled to the best hit of the question, so a weak match stays weak, and where words say little
meaning decides, and the other way round. The same code ranks on both engines: an engine only says which passages hold a
term (`store/lookup.py`). Knows nothing about where the signals come from.
"""

from __future__ import annotations

from math import fsum

from recollect.core.records import made, record
from recollect.store.db import HEADER_LINES, expected

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from recollect.search.query import Question

K1 = 1.2  # how soon a repeated word stops counting; BM25's usual value
TITLE_WEIGHT = 5  # a word in the title, or among the keywords, is a word said several times
KEYWORD_WEIGHT = 3
PAIR_WEIGHT = 0.8  # of two words of the question that stand together here too
BESIDE = {1: 0.4, 2: 0.12}  # share of their words that the passages one and two steps away lend
BORROWING_LENGTH = 45  # terms at which a passage borrows, and lends, half as much
ANSWER = 2.0  # times more that is borrowed from a question just before: +0.8 on LoCoMo, -0.2 on LongMemEval

FLOOR_LENGTH_WEIGHT = 0.75  # the floor of injection was measured with these three (docs/experiments.md)
FLOOR_TYPICAL_LENGTH = 60
FLOOR_TITLE_WEIGHT = 4

FEW = 8  # terms of a question up to which a text is searched for each; of more, its words are looked up
REAL_TITLE = 3  # words from which on a title says something by itself; fewer are a name or a label
TITLE_SLACK = 5.0  # so that a title of one common word is no full match
UNSAID_WORD = 4.0  # the rarity that a word of a title is given when the question does not say it


@record
class Reading:
    """How a passage holds the terms of a question: how often in its body, in its title and in the rest of its header.

    `others` are weighed already; `pairs` is what words side by side are worth; `titled` the share of its real title
    that the question says, `named` whether a short one (a speaker, a label) is mentioned; `asks` whether it ends with a
    question.
    """

    body: dict[str, int]
    title: dict[str, int]
    others: dict[str, int]
    pairs: float
    length: int
    titled: float
    named: bool
    asks: bool


def read(stream: str, question: Question, *, title: str = "", end: str = "") -> Reading:
    """Read a passage's stored terms; `title` and `end` are as written."""
    asked = question.terms
    heading, who, keywords, text = stream.split("\n", HEADER_LINES)
    text = text.replace("\n", " ")
    if "  " in text or text[:1] == " " or text[-1:] == " ":  # a line without a term
        text = " ".join(text.split())
    length = text.count(" ") + 1 if text else 0
    # Each term between two spaces of its own: counting in one string is several times as fast as token by token.
    spaced = f" {text.replace(' ', '  ')} "
    held = asked.intersection(text.split()) if len(asked) > FEW else [term for term in asked if term in text]
    body = {term: count for term in held if (count := spaced.count(f" {term} "))}
    headed = heading.split()
    said = _counted(headed, asked)
    others: dict[str, int] = _counted(who.split(), asked) if who else {}
    for term, count in _counted(keywords.split(), asked).items() if keywords else ():
        others[term] = others.get(term, 0) + KEYWORD_WEIGHT * count
    real = bool(said) and len(title.split()) >= REAL_TITLE
    return made(
        Reading,
        {
            "body": body,
            "title": said,
            "others": others,
            "pairs": _side_by_side(spaced, body, question.pairs, expected(length)) if len(body) > 1 else 0.0,
            "length": length,
            "titled": _share_of_title(said, len(set(headed)), question.query.weights) if real else 0.0,
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
    weights = question.weights
    # `fsum` is exact: in whatever order terms come, both engines and every run give the same last digit.
    total = fsum([weights[term] * often / (often + K1) for term, often in frequencies.items()]) * (K1 + 1)
    return min(1.0, (total + reading.pairs) / ((K1 + 1) * question.whole)) if question.whole else 0.0


def weight(reading: Reading, question: Question) -> float:
    """What the terms are worth that a passage holds, however often: a quick look before its neighbours are known."""
    return fsum([question.weights[term] for term in {*reading.body, *reading.title, *reading.others}])


def shortness(reading: Reading, middling: int) -> float:
    """1 for a short passage, a half for one of middling length, nearly nothing for a long one."""
    return 1 / (1 + (reading.length / middling) ** 2)


def relevance(reading: Reading, question: Question) -> float:
    """How much of a full match a passage is by itself, 0 to 1: what a floor can be set on.

    Plain BM25F with plain rarity. It orders less well than `share`, but tells better whether anything fits at all: long
    texts are not expected to be met in every rare word.
    """
    if not question.whole_rarity:
        return 0.0
    norm = (1 - FLOOR_LENGTH_WEIGHT) + FLOOR_LENGTH_WEIGHT * reading.length / FLOOR_TYPICAL_LENGTH
    frequencies = _frequencies(reading, norm, FLOOR_TITLE_WEIGHT)
    rarity = question.query.weights
    total = fsum([rarity[term] * _saturated(often) for term, often in frequencies.items()])
    return min(1.0, total / ((K1 + 1) * question.whole_rarity))


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


def _saturated(frequency: float) -> float:
    return frequency * (K1 + 1) / (frequency + K1)


def _side_by_side(spaced: str, held: Collection[str], pairs: Mapping[tuple[str, str], float], norm: float) -> float:
    possible = [pair for pair in pairs if pair[0] in held and pair[1] in held]
    often = [(pair, count) for pair in possible if (count := spaced.count(f" {pair[0]}  {pair[1]} "))]
    return PAIR_WEIGHT * fsum([pairs[pair] * _saturated(count / norm) for pair, count in often])


def _share_of_title(said: Collection[str], length: int, rarity: Mapping[str, float]) -> float:
    """Which part of a title the question says; what it leaves unsaid counts as words of middling rarity."""
    weight = fsum(rarity[term] for term in said)
    return weight / (weight + UNSAID_WORD * (length - len(said)) + TITLE_SLACK)


@record
class RankWeights:
    """The weight of each signal: one setting for chats, long answers and titled notes, measured on LoCoMo, LongMemEval
    and StackFAQ (docs/experiments.md)."""

    words: float = 2.0
    title: float = 1.0  # share of a real title that is said; where the title has a vector, that says it better
    meaning: float = 2.0
    titled_words: float = 0.5  # what has a real title is a note, and notes are asked for in other words than their own:
    titled_meaning: float = 1.25  # … with vectors, words count half and meaning more
    title_meaning: float = 0.3  # share of a real title in its meaning
    label: float = 0.3  # the question mentions the speaker, or another title of a word or two
    opening: float = 0.17  # a conversation's first turn tells the news, the next speak about it: half of it, a third …
    person: float = 0.2  # "my" asks for what the speaker says of himself, "you" for what he was told
    thread: float = 0.2  # what stands with a good hit is a little better for it
    titled_thread: float = 0.4  # … and more so when they share a real title: they are about the same thing
    time: float = 0.4  # said in the time that the question names
    dated: float = 2.0  # … a note written then: as much as a full match of words, since notes are not written later
    later: float = 0.2  # … or in the month after: people tell of things later
    confidence: float = 0.05
    recency: float = 0.05
    copy: float = -0.2  # a node repeats what entries say, so the entry comes first
    phrase: float = 3.0  # more than all of the above together: what is quoted is found first
    id: float = 10.0


DEFAULT_WEIGHTS = RankWeights()


@record
class Score:
    """What each signal added to a score; they sum up to it."""

    words: float = 0.0
    title: float = 0.0
    meaning: float = 0.0
    label: float = 0.0
    opening: float = 0.0
    person: float = 0.0
    thread: float = 0.0
    time: float = 0.0
    confidence: float = 0.0
    recency: float = 0.0
    copy: float = 0.0
    phrase: float = 0.0
    id: float = 0.0


def balanced_weights(weights: RankWeights, semantic_weight: float) -> RankWeights:
    """The weights with the caller's share of meaning: 0.5 leaves both as they are."""
    return RankWeights(
        **{
            **vars(weights),
            "words": weights.words * 2 * (1 - semantic_weight),
            "title": weights.title * 2 * (1 - semantic_weight),
            "meaning": weights.meaning * 2 * semantic_weight,
        }
    )


def keyword_weights(weights: RankWeights) -> RankWeights:
    """The weights for a word or two: no question in other words, so notes that say them keep their full share."""
    return RankWeights(**{**vars(weights), "titled_words": 1.0})


def nearness(weights: RankWeights, cosines: Iterable[tuple[int, float]], *, title: int) -> float:
    """One number from the cosines of a text's pieces: the nearest piece, and its title where it has a real one.

    Squared, and never below nothing: the difference between .6 and .7 tells more than that between .1 and .2.
    """
    by_piece = {piece: max(0.0, cosine) for piece, cosine in cosines}
    nearest = max(by_piece.values(), default=0.0)
    own = by_piece.get(title)
    if own is None:
        return nearest**2
    return (1 - weights.title_meaning) * nearest**2 + weights.title_meaning * own**2


def pulled(score: float, best_beside: float, pull: float) -> float:
    """What a passage gains from the best one of its thread; nothing when it is that one."""
    return pull / (1 + pull) * max(0.0, best_beside - score)
