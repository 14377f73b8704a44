"""Which passages share rare words with a text: the candidates that search ranks and capture compares.

`POSTINGS` bounds the cost of any text: once the rare words have brought enough candidates, common words only order
them. Nothing in a text is syntax.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from recollect.core.context import Tx
from recollect.core.records import record
from recollect.store import passages
from recollect.text.storable import clean
from recollect.text.tokens import terms as terms_of

QUERY_CHARACTERS = 20_000  # of a text that are looked at; its first 400 terms are within a tenth of that
COUNTED_TERMS = 400  # distinct terms of a text that are looked at, in order of appearance
QUERY_TERMS = 64  # … of which so many count, the rarest that occur at all
POSTINGS = 25_000  # index entries read for one query; the rarest term always comes through
ENOUGH = 2_000  # candidates from which on further terms only help to order them
LONG = 8  # terms above which the least telling words of a text are left out
TELLING = 0.92  # … beyond so much of its weight, rarest words first; recall is flat from 0.9 to 1 on five sets
DECISIVE = 3  # if one of the first three terms brings enough candidates, the others only look among its passages
RARITY_POWER = 1.4  # rare words count for more than their share: in a chat the names and things, not the verbs
GRADES = (0.65, 0.35)  # the share of a word's weight for a passage with it as a main term, or as a mentioned one
SMALLEST = 100  # a store is weighed as if it held this many passages: in a tiny one no word would count as rare


@record
class Query:
    """A text as search understands it: its terms with the weight of each, rarest first.

    `docs` says how many passages hold each term, `total` against how many they were weighed. `held` caches which ones,
    so that several searches for the same text read the index once; its keys are the terms to whose passages the lookup
    was limited, none for all.
    """

    weights: dict[str, float]
    docs: dict[str, int]
    total: int
    held: dict[tuple[str, ...], dict[str, tuple[Sequence[int], Sequence[int]]]]


def terms_in(text: str) -> list[str]:
    return terms_of(clean(text[:QUERY_CHARACTERS]))


def understand(tx: Tx, terms: Iterable[str]) -> Query:
    """The terms of a text, weighed by how rare they are in this space."""
    distinct = list(dict.fromkeys(terms))[:COUNTED_TERMS]
    count, docs = passages.document_counts(tx, distinct)
    count = max(count, SMALLEST)
    if len(distinct) > QUERY_TERMS:
        distinct = sorted(distinct, key=lambda term: docs.get(term, count))[:QUERY_TERMS]
    weights = {term: rarity(count, docs.get(term, 0)) for term in distinct}
    ordered = dict(sorted(weights.items(), key=lambda item: (-item[1], item[0])))
    return Query(weights=ordered, docs=docs, total=count, held={})


def candidates(
    tx: Tx, query: Query, *, most: int, postings: int = POSTINGS, among: frozenset[int] | None = None
) -> list[int]:
    """Passages that hold at least one of the rarest terms, by the summed rarity of those they hold, main ones more."""
    sums: dict[int, float] = {}
    chosen = _affordable(query, postings)
    decisive = _decisive(query, chosen) if among is None else chosen
    others = chosen[len(decisive) :]
    found = {**_held(tx, query, decisive), **_held(tx, query, others, within=tuple(decisive))}
    for term in chosen:
        for held, share in zip(found[term], GRADES, strict=True):
            docs = held if among is None else among.intersection(held)
            worth = share * query.weights[term] ** RARITY_POWER
            if not sums:
                sums = dict.fromkeys(docs, worth)
            elif len(sums) < ENOUGH:
                for doc in docs:
                    sums[doc] = sums.get(doc, 0.0) + worth
            else:
                for doc in sums.keys() & docs:
                    sums[doc] += worth
    leading: Iterable[int] = sums
    if len(sums) > most:
        least = sorted(sums.values())[-most]
        leading = [doc for doc, worth in sums.items() if worth >= least]
    return sorted(sorted(leading), key=sums.__getitem__, reverse=True)[:most]


def _decisive(query: Query, chosen: list[str]) -> list[str]:
    """The first terms that alone bring enough candidates; the others are looked up only among those."""
    for place, term in enumerate(chosen[:DECISIVE], start=1):
        if query.docs[term] >= ENOUGH:
            return chosen[:place]
    return chosen


def _held(
    tx: Tx, query: Query, terms: list[str], *, within: tuple[str, ...] = ()
) -> dict[str, tuple[Sequence[int], Sequence[int]]]:
    known = query.held.setdefault(within, {})
    asked = [term for term in terms if term not in known]
    if asked:
        known.update(zip(asked, tx.match(asked, within=within), strict=True))
    return known


def _affordable(query: Query, postings: int) -> list[str]:
    """The rarest terms that occur, as many as may be read and tell what the text is about."""
    weights = {term: query.weights[term] ** RARITY_POWER for term in query.weights if query.docs.get(term)}
    enough = sum(weights.values()) * (TELLING if len(weights) > LONG else 1)
    chosen: list[str] = []
    read = 0
    told = 0.0
    for term, weight in weights.items():
        read += query.docs[term]
        if chosen and (read > postings or told > enough):
            break
        chosen.append(term)
        told += weight
    return chosen


def rarity(total: int, docs: int) -> float:
    """The weight of a term that `docs` of all passages hold."""
    return math.log(1 + (total - docs + 0.5) / (docs + 0.5))
