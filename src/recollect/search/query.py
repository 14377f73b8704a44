"""What a text asks for: weighed terms, pairs of them, ids, quoted phrases, a person, a time.

Nothing in a text is syntax that could be wrong: a quote that is never closed is a letter like any other. However long
the text, what is made of it is bounded.
"""

from __future__ import annotations

import re
from itertools import pairwise

from recollect.core.records import record
from recollect.store import passages
from recollect.store.lookup import LONG, QUERY_CHARACTERS, RARITY_POWER, Query, rarity, understand
from recollect.text.storable import clean
from recollect.text.tokens import is_unspaced, stem, terms, words

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import date

    from recollect.core.context import Tx
    from recollect.text.dates import Span

WHOLE = 6  # rare words that make a full match: a long text is not expected to be met in every word
SHORT = 16  # terms up to which a query is read with care for its spelling
MISSPELT = 3  # words of a query that may be looked for in another spelling
MISSPELT_LETTERS = range(5, 25)  # in shorter words one letter makes another word
BEGUN_LETTERS = range(3, 25)  # two letters begin too many words
COMPLETIONS = 8  # words that a beginning stands for, the most common ones; chosen
ENDINGS = tuple(
    "able ably ally ance ation ed ence ful ibility ible ies ing ion ism ity ive ization ly ment ness ous".split()
)
ENDING = 3  # letters at the end of a word in which a slip may hide how it is stemmed
MISSPELT_WEIGHT = 0.7  # of a word in another spelling; chosen
SPELLINGS = 2  # spellings taken for one word
PAIRED = 256  # terms of a text of which those side by side are held against a passage
CHARACTER_PAIRS = 12  # pairs of characters that one character stands for
PHRASES = 4  # quoted phrases of a query that are looked up; chosen
IDS = 10  # ids of a query that are looked up; chosen

# Compiled where they can match: the process of a hook pays for every pattern.
_ID = r"\b(?:(?:learn|dec)_\w+|(?:log|daily|weekly|monthly|finding|theme|staged|doc)/[^\s,;]+)\b"
_PHRASE = r'"([^"\n]{2,200})"|“([^”\n]{2,200})”'
_SPEAKER = frozenset("i my me mine we our us myself".split())
_LISTENER = frozenset("you your yours yourself".split())
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


@record
class Question:
    """A text as search understands it.

    `weights` say what each of its `terms` is worth, `whole` what a full match would be (`whole_rarity` in plain
    rarity). `person` is 1 for a text about the speaker ("what did I buy"), -1 for one about the listener ("what did you
    recommend").
    """

    query: Query
    weights: dict[str, float]
    terms: frozenset[str]
    whole: float
    whole_rarity: float
    pairs: dict[tuple[str, str], float]
    person: int = 0
    ids: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    span: Span | None = None


def ask(tx: Tx, text: str, *, today: date | None = None, respell: bool = True) -> Question:
    """Understand any text; with `today`, the times it names too."""
    text = clean(text[:QUERY_CHARACTERS])
    said = terms(text)
    query = understand(tx, said)
    if respell:
        query = _respelt(tx, _paired(tx, query), text)
    weights = {term: weight**RARITY_POWER for term, weight in query.weights.items()}
    pairs = {
        pair: (weights[pair[0]] + weights[pair[1]]) / 2
        for pair in pairwise(said[:PAIRED])
        if pair[0] in weights and pair[1] in weights
    }
    said_words = re.findall(r"\w+", text.lower())
    span = None
    if today is not None and len(query.weights) <= LONG:  # a longer text names days in passing
        from recollect.text.dates import span_in

        span = span_in(text, today)
    return Question(
        query=query,
        weights=weights,
        terms=frozenset(weights),
        whole=min(sum(weights.values()), WHOLE * rarity(query.total, 0) ** RARITY_POWER),
        whole_rarity=min(sum(query.weights.values()), WHOLE * rarity(query.total, 0)),
        pairs=pairs,
        person=(not _SPEAKER.isdisjoint(said_words)) - (not _LISTENER.isdisjoint(said_words)),
        ids=_ids(text),
        phrases=_phrases(text),
        span=span,
    )


def person_of(text: str) -> float:
    """Whether a text speaks of its speaker (towards 1) or of its listener (towards -1)."""
    plain = f" {text.lower()} "
    first = sum(map(plain.count, (" i ", " i'", " my ", " me ", " we ", " our ")))
    second = sum(map(plain.count, (" you ", " you'", " your ")))
    return (first - second) / (first + second + 2)


def holds(text: str, phrase: str) -> bool:
    """Whether a text says a quoted phrase, whatever its case and spacing."""
    return phrase in _plain(text)


def _plain(text: str) -> str:
    return " ".join(text.casefold().split())


def _ids(text: str) -> tuple[str, ...]:
    if not any(mark in text for mark in ("_", "/", "root")):
        return ()
    if text.strip() == "root":  # alone it is an id, in a sentence a word
        return ("root",)
    return tuple(dict.fromkeys(found.rstrip(".?!:)") for found in re.findall(_ID, text)))[:IDS]


def _phrases(text: str) -> tuple[str, ...]:
    if '"' not in text and "“" not in text:
        return ()
    return tuple(_plain(one or other) for one, other in re.findall(_PHRASE, text))[:PHRASES]


def _paired(tx: Tx, query: Query) -> Query:
    """A query with each single character of a script without spaces replaced by the pairs that hold it: passages are
    indexed by pairs."""
    alone = [term for term in query.weights if len(term) == 1 and is_unspaced(term)]
    if not alone or len(query.weights) > SHORT:
        return query
    docs = dict(query.docs)
    for character in alone:
        docs |= passages.pairs_with(tx, character, most=CHARACTER_PAIRS)
    weights = {term: rarity(query.total, docs.get(term, 0)) for term in (*query.weights, *docs)}
    weights = {term: weight for term, weight in weights.items() if docs.get(term) or term not in alone}
    return Query(weights=_rarest_first(weights), docs=docs, total=query.total, held={})


def _rarest_first(weights: dict[str, float]) -> dict[str, float]:
    return dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))


def _respelt(tx: Tx, query: Query, text: str) -> Query:
    """A query with each unknown word replaced by known words that it begins, or else that are one letter away from it.

    In a long text the other words find what is meant.
    """
    if len(query.weights) > SHORT:
        return query
    absent = [
        word
        for word in dict.fromkeys(word.lower() for word in words(text))
        if len(word) in BEGUN_LETTERS and word.isascii() and word.isalpha() and _unknown(word, query)
    ][:MISSPELT]
    if not absent:
        return query
    weights, docs = dict(query.weights), dict(query.docs)
    for word in absent:
        (missing,) = terms(word)
        known, most = _begun(tx, word), COMPLETIONS
        if not known and len(word) in MISSPELT_LETTERS:
            # A slip in the stem is found without stemming, which takes long; one in the ending makes another stem.
            ending = min(len(missing), len(word) - ENDING)
            spelt = _one_letter_away(missing) | {stem(other) for other in _one_letter_away(word, start=ending)}
            known, most = passages.document_counts(tx, sorted(spelt))[1], SPELLINGS
        for term in sorted(known, key=lambda term: (-known[term], term))[:most]:
            if term not in weights:
                docs[term] = known[term]
                weights[term] = rarity(query.total, known[term]) * MISSPELT_WEIGHT
                weights.pop(missing, None)
    return Query(weights=_rarest_first(weights), docs=docs, total=query.total, held={})


def _begun(tx: Tx, word: str) -> dict[str, int]:
    """The known terms that a word may be the beginning of, and how many passages hold each.

    Terms are stems: of a word that is typed beyond its stem, the rest begins an ending.
    """
    if known := passages.beginning_with(tx, word, most=COMPLETIONS):
        return known
    stems = [word[:cut] for cut in range(len(word) - 1, MISSPELT_LETTERS.start - 2, -1)]
    ended = [each for each in stems if any(ending.startswith(word[len(each) :]) for ending in ENDINGS)]
    found = passages.document_counts(tx, ended)[1] if ended else {}
    return {each: found[each] for each in ended if each in found}


def _unknown(word: str, query: Query) -> bool:
    made = terms(word)
    return len(made) == 1 and made[0] in query.weights and not query.docs.get(made[0])


def _one_letter_away(word: str, *, start: int = 0) -> set[str]:
    """Every spelling that one slip of the hand makes: a letter too few, too many, wrong, or two swapped."""
    cuts = [(word[:at], word[at:]) for at in range(start, len(word) + 1)]
    missing = {one + other[1:] for one, other in cuts if other}
    swapped = {one + other[1] + other[0] + other[2:] for one, other in cuts if len(other) > 1}
    wrong = {one + letter + other[1:] for one, other in cuts if other for letter in _LETTERS}
    added = {one + letter + other for one, other in cuts for letter in _LETTERS}
    return (missing | swapped | wrong | added) - {word}
