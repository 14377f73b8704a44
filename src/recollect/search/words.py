"""Ranking by words: BM25F over the stored term lines of candidates.

The same code ranks on both engines: an engine only says which passages hold a term (`store/lookup.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.record import record
from recollect.store import passages
from recollect.store.lookup import ENOUGH, Query, candidates
from recollect.store.passages import HEADER_LINES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.core.context import Tx
    from recollect.store.passages import Terms

BATCH = 50  # candidates scored at a time
K1 = 1.2
LENGTH_WEIGHT = 0.75
TYPICAL_LENGTH = (
    60  # terms; an absolute length, because a store of long notes should not change the score of a short one
)
HEADER_WEIGHTS = (4.0, 1.0, 3.0)  # title, who, keywords


@record
class Scored:
    """A passage with its score, the same as a share of a full match, and the lines and terms that matched."""

    id: str
    doc: int
    score: float
    relevance: float
    matched: tuple[int, ...]
    terms: tuple[str, ...]


def best(
    tx: Tx,
    query: Query,
    *,
    limit: int,
    keep: Callable[[Sequence[str]], set[str]],
    kinds: tuple[str, ...] = (),
    docs: Sequence[int] | None = None,
) -> list[Scored]:
    """The `limit` best passages among those whose ids `keep` lets through.

    Candidates come roughly in order, so a few times the limit is scored; where `keep` refuses many, more are read.
    Who asks twice about one query finds the candidates (`docs`) once.
    """
    enough = max(limit * 4, BATCH)
    found: list[tuple[float, str, Terms]] = []
    if docs is None:
        docs = candidates(tx, query, most=max(ENOUGH, enough))
    for start in range(0, len(docs), BATCH):
        batch = passages.terms_of(tx, docs[start : start + BATCH], kinds=kinds)
        kept = keep([stored.id for stored in batch])
        found += [(-score(stored.terms, query), stored.id, stored) for stored in batch if stored.id in kept]
        if len(found) >= enough:
            break
    found.sort(key=lambda hit: hit[:2])
    return [_shown(stored, -negative, query) for negative, _, stored in found[:limit]]


def score(stream: str, query: Query) -> float:
    """BM25F with title and keywords inside the saturation: a word in the title is a word said several times."""
    *header, body = stream.split("\n", HEADER_LINES)
    tokens = body.split()
    norm = (1 - LENGTH_WEIGHT) + LENGTH_WEIGHT * len(tokens) / TYPICAL_LENGTH
    weights = query.weights
    frequencies = {term: tokens.count(term) / norm for term in weights.keys() & tokens}
    for line, weight in zip(header, HEADER_WEIGHTS, strict=True):
        words = line.split()
        for term in weights.keys() & words:
            frequencies[term] = frequencies.get(term, 0.0) + weight * words.count(term)
    # Summed in one order, so that both engines and every run give the same last digit.
    return sum(
        weights[term] * frequency * (K1 + 1) / (frequency + K1) for term, frequency in sorted(frequencies.items())
    )


def _shown(stored: Terms, total: float, query: Query) -> Scored:
    """What is worth knowing of the few that are shown."""
    lines = [query.weights.keys() & line.split() for line in stored.terms.split("\n")]
    return Scored(
        id=stored.id,
        doc=stored.doc,
        score=total,
        relevance=min(1.0, total / ((K1 + 1) * query.whole)) if query.whole else 0.0,
        matched=tuple(number for number, shared in enumerate(lines) if shared),
        terms=tuple(sorted(set().union(*lines))),
    )
