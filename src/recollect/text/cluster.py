"""Grouping short texts by natural affinity, the same way every time.

Agglomerative clustering with average linkage, in batches. Items are sparse unit vectors over words.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from recollect.text.tokens import STOP_WORDS, terms

Words = Mapping[str, float]  # a sparse unit vector over words
Vectors = Sequence[Words]

WEAK_WORDS = STOP_WORDS | {
    "add", "added", "adds", "always", "avoid", "cannot", "even", "every", "fail", "failed", "fails", "file", "files",
    "first", "found", "get", "instead", "keep", "last", "let", "like", "made", "make", "makes", "many", "may", "might",
    "much", "must", "need", "needed", "needs", "never", "new", "one", "ran", "rather", "run", "running", "runs", "see",
    "set", "still", "take", "takes", "took", "two", "use", "used", "uses", "using", "via", "well", "without", "work",
    "working", "works",
}  # fmt: skip
"""Words that say nothing about the subject of a work note."""


def topic_vectors(texts: Sequence[str]) -> list[Words]:
    """Unit vectors over the words that texts share.

    A subject's name is in many of its texts and few others, so words are weighed by how often *and* how rarely they
    occur. Plain TF-IDF favours words of one or two texts, which join nothing.
    """
    weak = {term for word in WEAK_WORDS for term in terms(word)}
    counted = [Counter(term for term in terms(text) if term not in weak) for text in texts]
    return _weighed(counted, lambda spread: math.log(1 + spread) * math.log((1 + len(texts)) / spread))


def wording_vectors(texts: Sequence[str]) -> list[Words]:
    """TF-IDF unit vectors over all words: near 1 only for texts that say the same in the same words."""
    return _weighed([Counter(terms(text)) for text in texts], lambda spread: math.log(1 + len(texts) / spread))


def _weighed(counted: Sequence[Counter[str]], weigh: Callable[[int], float]) -> list[Words]:
    spread = Counter(term for counts in counted for term in counts)
    vectors: list[Words] = []
    for counts in counted:
        weights = {term: (1 + math.log(n)) * weigh(spread[term]) for term, n in sorted(counts.items())}
        length = math.sqrt(math.fsum(weight * weight for weight in weights.values()))
        vectors.append({term: weight / length for term, weight in weights.items() if weight} if length else {})
    return vectors


def middle(items: Sequence[int], vectors: Vectors) -> Words:
    """The mean of a group's vectors, not brought back to unit length: its product with an item is the mean cosine."""
    total: dict[str, float] = defaultdict(float)
    for item in items:
        for term, weight in vectors[item].items():
            total[term] += weight
    return {term: weight / len(items) for term, weight in total.items()}


def similarity(one: Words, other: Words) -> float:
    """The product of two vectors: the cosine, when both are of unit length."""
    if len(other) < len(one):
        one, other = other, one
    return math.fsum(weight * other[term] for term, weight in one.items() if term in other)


def similarities(vectors: Vectors) -> list[list[float]]:
    count = len(vectors)
    table = [[0.0] * count for _ in range(count)]
    for i in range(count):
        for j in range(i):
            table[i][j] = table[j][i] = similarity(vectors[i], vectors[j])
    return table


BATCH = 1000  # items linked at once: the cost is quadratic, a second of CPU for a thousand
TOGETHER = 0.10  # mean cosine within a group; chosen with benchmarks.themes
MOVING = 4.0  # how much dearer it is to merge two groups that both had a home before; chosen


def group(vectors: Vectors, together: float) -> list[list[int]]:
    """Groups of item numbers, largest first, every item in exactly one; `together` is the least mean cosine.

    The first thousand items are linked; each later one joins the group it is most like, or waits for the next round.
    """
    groups: list[list[int]] = []
    left = list(range(len(vectors)))
    while left:
        batch, left = left[:BATCH], left[BATCH:]
        found = [[batch[at] for at in items] for items in _linked(similarities([vectors[i] for i in batch]), together)]
        strays: list[int] = []
        centres = [middle(items, vectors) for items in found] if left else []
        for item in left:
            likeness, best = max((similarity(vectors[item], centre), -at) for at, centre in enumerate(centres))
            (found[-best] if likeness >= together else strays).append(item)
        groups += found
        left = strays
    return in_order(groups)


def merge_nearest(
    groups: Sequence[Sequence[int]],
    vectors: Vectors,
    most: int,
    *,
    apart: Collection[int] = (),
    settled: Collection[int] = (),
) -> list[list[int]]:
    """Merge the two nearest groups until at most `most` are left.

    Nearest by Ward: the pair whose union is least spread out, so two strays join before two large subjects do; by
    average similarity everything would join one group. Groups that both hold items of `apart` stay apart; those that
    both hold `settled` items merge only when every other way is much worse.
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
        here, there = centres[one], centres[other]
        distance = similarity(here, here) + similarity(there, there) - 2 * similarity(here, there)
        return moving * weight * max(0.0, distance)

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
    centre = middle(items, vectors)
    return max(items, key=lambda item: (round(similarity(vectors[item], centre), 9), -item))


def _linked(table: list[list[float]], together: float) -> list[list[int]]:
    """Average linkage by nearest-neighbour chains: quadratic, equal to merging the nearest pair each time."""
    near = [row[:] for row in table]
    size = [1] * len(near)
    alive = set(range(len(near)))
    chain: list[int] = []
    groups = {item: [item] for item in alive}
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
            groups[kept] += groups.pop(gone)  # whatever is merged later is farther apart
        alive.discard(gone)
        for other in alive - {kept}:
            mean = (near[kept][other] * size[kept] + near[gone][other] * size[gone]) / (size[kept] + size[gone])
            near[kept][other] = near[other][kept] = mean
        size[kept] += size[gone]
    return list(groups.values())
