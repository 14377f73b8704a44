"""Ranking by words: candidates from the rarest terms, then our own BM25F over their stored term lines.

The same code ranks on both engines: an engine only says which passages hold a term (`store/lookup.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.record import record
from recollect.store import passages
from recollect.store.lookup import Query, candidates
from recollect.store.passages import HEADER_LINES, Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from recollect.core.context import Tx

BATCH = 64  # candidates scored at a time
K1 = 1.2
LENGTH_WEIGHT = 0.75
TYPICAL_LENGTH = (
    60  # terms; an absolute length, because a store of long notes should not change the score of a short one
)
TITLE_WEIGHT = 4.0
KEYWORD_WEIGHT = 3.0
WHO_WEIGHT = 1.0


@record
class Scored:
    """A passage with its score, the same as a share of a full match, and the lines and terms that matched."""

    passage: Stored
    score: float
    relevance: float
    matched: tuple[int, ...]
    terms: tuple[str, ...]


def ranked(
    tx: Tx, query: Query, *, keep: Callable[[Sequence[Stored]], set[str]], kinds: tuple[str, ...] = ()
) -> Iterator[Scored]:
    """Passages in batches, best candidates first; `keep` says which ids of a batch a caller may see.

    Candidates are ordered by the summed rarity of the terms they hold; within and across batches the caller sorts by
    `score`. A caller stops reading when it has enough.
    """
    docs = candidates(tx, query)
    for start in range(0, len(docs), BATCH):
        batch = passages.by_docs(tx, docs[start : start + BATCH], kinds=kinds)
        wanted = keep(batch)
        for stored in batch:
            if stored.id in wanted:
                yield _scored(stored, query)


def best(
    tx: Tx, query: Query, *, limit: int, keep: Callable[[Sequence[Stored]], set[str]], kinds: tuple[str, ...] = ()
) -> list[Scored]:
    """The `limit` best passages. Reads a few batches beyond the limit, since candidates come roughly in order."""
    enough = max(limit * 5, 2 * BATCH)
    found: list[Scored] = []
    for scored in ranked(tx, query, keep=keep, kinds=kinds):
        found.append(scored)
        if len(found) >= enough:
            break
    found.sort(key=lambda hit: (-hit.score, hit.passage.id))
    return found[:limit]


def _scored(stored: Stored, query: Query) -> Scored:
    lines = stored.terms.split("\n")
    body = [line.split(" ") for line in lines[HEADER_LINES:]]
    title, who, keywords = (line.split(" ") for line in lines[:HEADER_LINES])
    length = sum(map(len, body))
    norm = (1 - LENGTH_WEIGHT) + LENGTH_WEIGHT * length / TYPICAL_LENGTH
    score = 0.0
    matched: set[int] = set()
    hits: list[str] = []
    for term, weight in query.weights.items():
        if term not in stored.terms:  # a cheap look before the exact one
            continue
        in_title, in_who, in_keywords = title.count(term), who.count(term), keywords.count(term)
        in_body = 0
        for number, line in enumerate(body):
            count = line.count(term)
            if count:
                in_body += count
                matched.add(HEADER_LINES + number)
        frequency = in_body / norm + TITLE_WEIGHT * in_title + KEYWORD_WEIGHT * in_keywords + WHO_WEIGHT * in_who
        if not frequency:
            continue
        matched.update(number for number, count in enumerate((in_title, in_who, in_keywords)) if count)
        score += weight * frequency * (K1 + 1) / (frequency + K1)
        hits.append(term)
    return Scored(
        passage=stored,
        score=score,
        relevance=min(1.0, score / ((K1 + 1) * query.whole)) if query.whole else 0.0,
        matched=tuple(sorted(matched)),
        terms=tuple(hits),
    )
