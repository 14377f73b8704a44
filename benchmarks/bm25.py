"""Textbook BM25 over all texts, and whether a ranking falls below it: the baseline of `benchmarks/retrieval.py`.

Exhaustive, with our tokeniser and the usual constants; a word of the title counts twice.
"""

from __future__ import annotations

import math
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from recollect.text.tokens import terms

K1, B, TITLE = 1.2, 0.75, 2.0
SHORT, LONG = 8, 20  # distinct terms of a question; a question of so few is short, of more than that long
SAMPLES = 2_000
DEEP = 200


class Bm25:
    """An index of titled texts by their ids."""

    def __init__(self, texts: Iterable[tuple[str, str, str]]) -> None:
        read = [(id, terms(title), terms(text)) for id, title, text in texts]
        mean = sum(len(body) for _, _, body in read) / max(1, len(read)) or 1.0
        self._total = len(read)
        self._holds: dict[str, dict[str, float]] = defaultdict(dict)
        for id, title, body in read:
            for term, count in Counter(body).items():
                self._holds[term][id] = count / (1 - B + B * len(body) / mean)
            for term, count in Counter(title).items():
                self._holds[term][id] = self._holds[term].get(id, 0.0) + TITLE * count

    def best(self, query: str) -> list[str]:
        """The ids, best first."""
        scores: dict[str, float] = defaultdict(float)
        for term in dict.fromkeys(terms(query)):
            held = self._holds.get(term, {})
            rarity = math.log(1 + (self._total - len(held) + 0.5) / (len(held) + 0.5))
            for id, often in held.items():
                scores[id] += rarity * often * (K1 + 1) / (often + K1)
        return sorted(scores, key=lambda one: (-scores[one], one))[:DEEP]


@dataclass
class Pairs:
    """Recall at 5 of each question, ours beside the baseline's, by category and by length of the question."""

    by_name: dict[str, list[tuple[float, float]]] = field(default_factory=lambda: defaultdict(list))

    def add(self, query: str, category: str, ours: Sequence[str], theirs: Sequence[str], gold: Iterable[str]) -> None:
        right, size = set(gold), len(set(terms(query)))
        pair = tuple(len(right.intersection(ranking[:5])) / len(right) for ranking in (ours, theirs))
        length = "short" if size <= SHORT else "long" if size > LONG else "middling"
        for name in ("all", category, f"{length} questions"):
            self.by_name[name].append((pair[0], pair[1]))

    def compared(self) -> Mapping[str, tuple[float, float, float, float, int]]:
        """Ours, the baseline's, and the bounds of 95 % of their difference by a paired bootstrap, in points."""
        return {name: (*_compared(pairs), len(pairs)) for name, pairs in sorted(self.by_name.items())}

    def below(self) -> list[str]:
        """Where ours is lower than the baseline beyond the interval."""
        return [name for name, (_, _, _, high, _) in self.compared().items() if high < 0]


def _compared(pairs: Sequence[tuple[float, float]]) -> tuple[float, float, float, float]:
    chance = random.Random(1)
    steps = [ours - theirs for ours, theirs in pairs]
    means = sorted(sum(chance.choices(steps, k=len(steps))) / len(steps) for _ in range(SAMPLES))
    ours, theirs = (100 * sum(pair[side] for pair in pairs) / len(pairs) for side in (0, 1))
    return ours, theirs, 100 * means[round(0.025 * SAMPLES)], 100 * means[round(0.975 * SAMPLES) - 1]
