"""Short texts as unit vectors: sparse ones over words, made here, and dense ones that the caller got from an embedder.

Knows nothing about what vectors are compared for.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from recollect.text.tokens import STOP_WORDS, terms, word_terms

Words = Mapping[str, float]
"""A sparse unit vector over words."""
Dense = Sequence[float]
"""A unit vector from an embedder."""
Vectors = Sequence[Words | Dense]

WEAK_WORDS = STOP_WORDS | {
    "add", "added", "adds", "always", "avoid", "cannot", "even", "every", "fail", "failed", "fails", "file", "files",
    "first", "found", "get", "instead", "keep", "last", "let", "like", "made", "make", "makes", "many", "may", "might",
    "much", "must", "need", "needed", "needs", "never", "new", "one", "ran", "rather", "run", "running", "runs", "see",
    "set", "still", "take", "takes", "took", "two", "use", "used", "uses", "using", "via", "well", "without", "work",
    "working", "works",
}  # fmt: skip
"""Words that say nothing about the subject of a note on somebody's work."""
_WEAK_TERMS = frozenset(term for word in WEAK_WORDS for term in word_terms(word))


def topic_vectors(texts: Sequence[str]) -> list[Words | Dense]:
    """Unit vectors over the words that texts share.

    A subject's name stands in many of its texts and few others, so words are weighed by how often *and* how
    rarely they occur. Plain TF-IDF favours words of one or two texts, which join nothing.
    """
    counted = [Counter(term for term in terms(text) if term not in _WEAK_TERMS) for text in texts]
    return _weighed(counted, lambda spread: math.log(1 + spread) * math.log((1 + len(texts)) / spread))


def wording_vectors(texts: Sequence[str]) -> list[Words | Dense]:
    """TF-IDF unit vectors over all words: near 1 only for texts that say the same in the same words."""
    return _weighed([Counter(terms(text)) for text in texts], lambda spread: math.log(1 + len(texts) / spread))


def blended(words: Sequence[Words | Dense], meaning: Sequence[Dense]) -> list[Words | Dense]:
    """Vectors whose product is half the cosine of the words and half that of the meaning: better than either alone."""
    import numpy as np  # comes with the embedder that made `meaning`

    spread = Counter(term for vector in words if isinstance(vector, Mapping) for term in vector)
    column = {term: number for number, term in enumerate(sorted(term for term, n in spread.items() if n > 1))}
    table = np.zeros((len(words), len(column)), dtype=np.float32)
    for row, vector in zip(table, words, strict=True):
        assert isinstance(vector, Mapping)
        for term, weight in vector.items():
            if term in column:
                row[column[term]] = weight
    both = np.hstack([table, np.asarray(meaning, dtype=np.float32)]) * math.sqrt(0.5)
    return list(both)


def _weighed(counted: Sequence[Counter[str]], weigh: Callable[[int], float]) -> list[Words | Dense]:
    spread = Counter(term for counts in counted for term in counts)
    vectors: list[Words | Dense] = []
    for counts in counted:
        weights = {term: (1 + math.log(n)) * weigh(spread[term]) for term, n in sorted(counts.items())}
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        vectors.append({term: weight / length for term, weight in weights.items() if weight} if length else {})
    return vectors


def middle(items: Sequence[int], vectors: Vectors) -> Words | Dense:
    """The mean of a group's vectors, not brought back to unit length: its product with an item is the mean cosine."""
    if isinstance(vectors[items[0]], Mapping):
        total: dict[str, float] = defaultdict(float)
        for item in items:
            vector = vectors[item]
            assert isinstance(vector, Mapping)
            for term, weight in vector.items():
                total[term] += weight
        return {term: weight / len(items) for term, weight in total.items()}
    import numpy as np  # comes with the embedder that made these vectors

    table: Any = [vectors[item] for item in items]
    mean: Any = np.mean(table, axis=0, dtype=np.float64)
    return mean  # type: ignore[no-any-return]


def similarity(one: Words | Dense, other: Words | Dense) -> float:
    """The product of two vectors of one kind: the cosine, when both are of unit length."""
    if isinstance(one, Mapping):
        assert isinstance(other, Mapping)
        if len(other) < len(one):
            one, other = other, one
        return math.fsum(weight * other[term] for term, weight in one.items() if term in other)
    import numpy as np

    return float(np.dot(np.asarray(one, np.float64), np.asarray(other, np.float64)))


def squared_distance(one: Words | Dense, other: Words | Dense) -> float:
    return similarity(one, one) + similarity(other, other) - 2 * similarity(one, other)


def similarities(vectors: Vectors) -> list[list[float]]:
    """Every cosine, as a square table."""
    count = len(vectors)
    if count and not isinstance(vectors[0], Mapping):
        import numpy as np

        matrix = np.asarray(vectors, dtype=np.float64)
        square: list[list[float]] = (matrix @ matrix.T).tolist()
        return square
    table = [[0.0] * count for _ in range(count)]
    for i in range(count):
        for j in range(i):
            table[i][j] = table[j][i] = similarity(vectors[i], vectors[j])
    return table
