"""One score out of many signs, each of which can be shown.

    score = words + title + meaning + label + opening + person + thread + time + confidence + recency + copy + phrase
            + id

`words` is a share of a full match and `meaning` a squared cosine, both as they are: neither is stretched to the best
hit of this question, so a weak match stays weak, and where words say little meaning decides by itself, and the other
way round. That is what makes the sum no worse than its better half, and scores of two questions comparable.
Knows nothing about where the signs come from.
"""

from __future__ import annotations

from recollect.core.record import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable


@record
class Weights:
    """What each sign counts. One setting for chats, long answers and titled notes (docs/experiments.md)."""

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


DEFAULT = Weights()


@record
class Signals:
    """What each sign brought to a score; they add up to it."""

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


def balanced(weights: Weights, semantic_weight: float) -> Weights:
    """The weights with the caller's share of meaning: 0.5 leaves both as they are."""
    return Weights(
        **{
            **vars(weights),
            "words": weights.words * 2 * (1 - semantic_weight),
            "title": weights.title * 2 * (1 - semantic_weight),
            "meaning": weights.meaning * 2 * semantic_weight,
        }
    )


def for_keywords(weights: Weights) -> Weights:
    """The weights for a word or two: no question in other words, so notes that say them keep their full share."""
    return Weights(**{**vars(weights), "titled_words": 1.0})


def nearness(weights: Weights, cosines: Iterable[tuple[int, float]], *, title: int) -> float:
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
