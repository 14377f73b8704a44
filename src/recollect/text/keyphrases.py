"""Keyphrases: what a text is about, in its own words.

TF-IDF over runs of at most four words without a stop word between them, which beat the graph-based methods it was
measured against and needs no model. Identifiers, paths, versions and numbers stay whole. Knows nothing about nodes.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator

from recollect.text.markdown import split_item
from recollect.text.patterns import lazy
from recollect.text.sentences import split_sentences
from recollect.text.tokens import STOP_WORDS

RUN_WORDS = 4

_PIECE = lazy(r"https?://[^\s<>()\"']+|\d+(?:[.,:]\d+)+%?(?!\w)|[\w$§@#~][\w$§@#+%/.:~-]*|[^\w\s]")
_PLAIN = lazy(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_NOISE = STOP_WORDS | frozenset(
    "really also get got go going like one two much many lot good great nice thanks thank yes yeah ok okay hey hi oh "
    "wow "
    "sure thing things something anything make makes made new still even well want wants today yesterday tomorrow "
    "need needs use used using see way let know think say says said".split()
)


def sentences(text: str) -> Iterator[str]:
    """Sentences and list items, one line each, without their bullets."""
    for line in text.split("\n"):
        for sentence in split_sentences(split_item(line)[1]):
            yield sentence.strip()


def runs(text: str) -> list[str]:
    """The stop-word-free runs of a text, in order; a run ends at punctuation and after four words."""
    found: list[str] = []
    run: list[str] = []

    def end() -> None:
        found.extend(" ".join(run[start : start + RUN_WORDS]) for start in range(0, len(run), RUN_WORDS))
        run.clear()

    for line in text.split("\n"):
        for piece in _PIECE.findall(line):
            word = piece.rstrip(".:-/") if not piece.startswith("http") else piece.rstrip(".,;:")
            if not word or word.casefold() in _NOISE or not any(c.isalnum() for c in word):
                end()
                continue
            run.append(word)
            if piece != word:
                end()
        end()
    return found


def is_identifier(word: str) -> bool:
    """Whether a word is code, a path, a version or a number rather than prose."""
    return not _PLAIN.fullmatch(word) or (not word.islower() and not word.istitle() and len(word) > 1)


class WordWeights:
    """How telling each word is among the given documents: rare words more, identifiers more."""

    def __init__(self, documents: Iterable[str]):
        frequency: Counter[str] = Counter()
        count = 0
        for document in documents:
            count += 1
            frequency.update({word for run in runs(document) for word in run.casefold().split(" ")})
        self._count = count
        self._frequency = frequency

    def word(self, word: str) -> float:
        weight = math.log(1 + (self._count + 1) / (self._frequency[word.casefold()] + 0.5))
        return weight * 1.4 if is_identifier(word) else weight

    def density(self, text: str) -> float:
        """How much a sentence tells for its length."""
        # In the order of the text: floats summed in the order of a set would differ from run to run.
        words = dict.fromkeys(word for run in runs(text) for word in run.split(" "))
        return sum(map(self.word, words)) / math.sqrt(4 + len(text.split()))
