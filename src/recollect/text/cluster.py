"""Grouping short texts by natural affinity, the same way every time.

Up to a thousand items: agglomerative clustering with average linkage, which is quadratic. Above that: a graph of mutual
nearest neighbours, cut into communities by Louvain's method. Items are unit vectors: sparse ones over words, made here,
or dense ones that the caller got from an embedder. Knows nothing about what the groups are for.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
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


@cache
def _weak_terms() -> frozenset[str]:
    return frozenset(term for word in WEAK_WORDS for term in word_terms(word))


def topic_vectors(texts: Sequence[str]) -> list[Words | Dense]:
    """Unit vectors over the words that texts share.

    A subject's name stands in many of its texts and few others, so words are weighed by how often *and* how
    rarely they occur. Plain TF-IDF favours words of one or two texts, which join nothing.
    """
    weak = _weak_terms()
    counted = [Counter(term for term in terms(text) if term not in weak) for text in texts]
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


SMALL = 1000
NEIGHBOURS = 15


@dataclass(frozen=True, kw_only=True)
class Affinity:
    """How alike items must be: on average within a small group, and pair by pair in the large graph."""

    together: float
    neighbour: float


BY_WORDS = Affinity(together=0.10, neighbour=0.10)
BY_BOTH = Affinity(together=0.16, neighbour=0.27)
MOVING = 4.0  # how much dearer it is to merge two groups that both had a home before


def group(vectors: Vectors, affinity: Affinity) -> list[list[int]]:
    """Groups of item numbers, largest first, every item in exactly one."""
    if len(vectors) <= SMALL:
        groups = _linked(similarities(vectors), affinity.together)
    else:
        groups = _communities(_mutual_neighbours(vectors, affinity.neighbour))
    return in_order(groups)


def merge_nearest(
    groups: Sequence[Sequence[int]],
    vectors: Vectors,
    most: int,
    *,
    apart: Collection[int] = (),
    settled: Collection[int] = (),
) -> list[list[int]]:
    """At most so many groups: the two nearest become one until they fit.

    Nearest in Ward's sense, the pair whose union is least spread out: two strays join before two large subjects
    do. Merging by average similarity instead piles everything into one group. Groups that hold two items of `apart`
    are never made; two groups that both hold `settled` items merge only when every other way is much worse.
    """
    left = {number: sorted(items) for number, items in enumerate(in_order(groups))}
    if len(left) <= most:
        return in_order(left.values())
    centres = {number: middle(items, vectors) for number, items in left.items()}

    kept_apart, at_home = frozenset(apart), frozenset(settled)

    def share(number: int, items: frozenset[int]) -> bool:
        return not items.isdisjoint(left[number])

    def spread(one: int, other: int) -> float:
        if share(one, kept_apart) and share(other, kept_apart):
            return math.inf
        weight = len(left[one]) * len(left[other]) / (len(left[one]) + len(left[other]))
        moving = MOVING if share(one, at_home) and share(other, at_home) else 1.0
        return moving * weight * max(0.0, squared_distance(centres[one], centres[other]))

    costs = {(one, other): spread(one, other) for one in left for other in left if one < other}
    while len(left) > most:
        kept, gone = min(costs, key=lambda pair: (costs[pair], pair))
        if costs[kept, gone] == math.inf:
            break
        left[kept] = sorted(left[kept] + left.pop(gone))
        centres[kept] = middle(left[kept], vectors)
        costs = {pair: cost for pair, cost in costs.items() if gone not in pair}
        for other in left:
            if other != kept:
                costs[min(kept, other), max(kept, other)] = spread(kept, other)
    return in_order(left.values())


def in_order(groups: Any) -> list[list[int]]:
    """Largest first, then by first item: one order whatever made the groups."""
    return sorted((sorted(items) for items in groups), key=lambda items: (-len(items), items))


def medoid(items: Sequence[int], vectors: Vectors) -> int:
    """The item most like the others of its group."""
    centre = middle(items, vectors)
    return max(items, key=lambda item: (round(similarity(vectors[item], centre), 9), -item))


def _linked(table: list[list[float]], together: float) -> list[list[int]]:
    """Average linkage by nearest-neighbour chains: quadratic, equal to merging the nearest pair each time."""
    near = [row[:] for row in table]
    size = [1] * len(near)
    alive = set(range(len(near)))
    chain: list[int] = []
    merges: list[tuple[int, int]] = []
    while len(alive) > 1:
        if not chain:
            chain = [min(alive)]
        last = chain[-1]
        before = chain[-2] if len(chain) > 1 else -1
        nearest = max(sorted(alive - {last}), key=lambda item: (near[last][item], item == before))
        if nearest != before:
            chain.append(nearest)
            continue
        del chain[-2:]
        kept, gone = min(last, nearest), max(last, nearest)
        if near[kept][gone] >= together:
            merges.append((kept, gone))
        alive.discard(gone)
        for other in alive - {kept}:
            mean = (near[kept][other] * size[kept] + near[gone][other] * size[gone]) / (size[kept] + size[gone])
            near[kept][other] = near[other][kept] = mean
        size[kept] += size[gone]
    root = list(range(len(near)))
    for kept, gone in merges:
        low, high = sorted((_root(root, kept), _root(root, gone)))
        root[high] = low
    return _by_label([_root(root, item) for item in range(len(near))])


def _root(root: list[int], item: int) -> int:
    while root[item] != item:
        item = root[item]
    return item


Graph = list[dict[int, float]]


def _mutual_neighbours(vectors: Sequence[Any], floor: float) -> Graph:
    """Edges between items that are among each other's nearest, at least `floor` alike."""
    near = _near_words(vectors, floor) if isinstance(vectors[0], Mapping) else _near_dense(vectors, floor)
    return [{j: score for j, score in row.items() if i in near[j]} for i, row in enumerate(near)]


def _nearest(item: int, scores: Mapping[int, float], floor: float) -> dict[int, float]:
    """Among equals the nearest by number, which both sides see alike: many copies of one text stay neighbours."""
    ranked = sorted((-round(score, 9), abs(other - item), other) for other, score in scores.items() if score >= floor)
    return {other: -score for score, _, other in ranked[:NEIGHBOURS]}


def _near_words(vectors: Sequence[Words], floor: float) -> Graph:
    holders: dict[str, list[tuple[int, float]]] = defaultdict(list)
    for item, vector in enumerate(vectors):
        for term, weight in vector.items():
            holders[term].append((item, weight))
    near: Graph = []
    for item, vector in enumerate(vectors):
        scores: dict[int, float] = defaultdict(float)
        for term, weight in vector.items():
            for other, its in holders[term]:
                scores[other] += weight * its
        scores.pop(item, None)
        near.append(_nearest(item, scores, floor))
    return near


def _near_dense(vectors: Sequence[Dense], floor: float) -> Graph:
    import numpy as np

    matrix = np.asarray(vectors, dtype=np.float32)
    near: Graph = []
    for start in range(0, len(matrix), 512):
        block = matrix[start : start + 512] @ matrix.T
        for item, row in enumerate(block, start=start):
            row[item] = -1.0
            bar = max(floor, float(np.partition(row, -NEIGHBOURS)[-NEIGHBOURS]))
            near.append(_nearest(item, {int(i): float(row[i]) for i in np.flatnonzero(row >= bar)}, floor))
    return near


def _communities(graph: Graph) -> list[list[int]]:
    """Louvain: move items where modularity gains most, treat the communities as items, repeat."""
    label = list(range(len(graph)))
    loops = [0.0] * len(graph)
    while True:
        moved = _settle(graph, loops)
        names = {old: new for new, old in enumerate(sorted(set(moved)))}
        label = [names[moved[item]] for item in label]
        if len(names) == len(graph):
            return _by_label(label)
        folded: Graph = [defaultdict(float) for _ in names]
        folded_loops = [0.0] * len(names)
        for item, edges in enumerate(graph):
            home = names[moved[item]]
            folded_loops[home] += loops[item]
            for other, weight in edges.items():
                there = names[moved[other]]
                if there == home:
                    folded_loops[home] += weight
                else:
                    folded[home][there] += weight
        graph, loops = folded, folded_loops


def _settle(graph: Graph, loops: list[float]) -> list[int]:
    home = list(range(len(graph)))
    degree = [sum(edges.values()) + loops[item] for item, edges in enumerate(graph)]
    total = dict(enumerate(degree))
    whole = sum(degree) or 1.0
    moving = True
    while moving:
        moving = False
        for item, edges in enumerate(graph):
            links: dict[int, float] = defaultdict(float)
            for other, weight in edges.items():
                links[home[other]] += weight
            total[home[item]] -= degree[item]

            best = home[item]
            most = links.get(best, 0.0) - degree[item] * total[best] / whole
            for place in sorted(links):
                gain = links[place] - degree[item] * total[place] / whole
                if gain > most + 1e-12:
                    best, most = place, gain
            total[best] += degree[item]
            if best != home[item]:
                home[item] = best
                moving = True
    return home


def _by_label(labels: Sequence[int]) -> list[list[int]]:
    groups: dict[int, list[int]] = defaultdict(list)
    for item, label in enumerate(labels):
        groups[label].append(item)
    return list(groups.values())
