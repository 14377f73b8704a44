"""Where a learning belongs: the document and the heading nearest in meaning, or a new one where nothing is near.

Words are weighed by their rarity among the documents; the cosine of embeddings, when the caller can give it, counts
beside them. Knows nothing about files or what is written there.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Literal

from recollect.core.records import record
from recollect.text.documents import Section, sections
from recollect.text.patterns import lazy
from recollect.text.tokens import terms

Kind = Literal["heading", "new heading", "new file"]
Likeness = Callable[[str, Sequence[str]], Sequence[float]]
"""A text and others → how alike they are in meaning, from -1 to 1."""

NEAR = 0.12  # on words; below it nothing is near
NEAR_IN_MEANING = 0.2  # with an embedder, whose cosine is hardly ever 0
UNDER = 0.22  # from which a section is about the same; below it a learning gets a heading of its own
_WORDS, _MEANING = 0.5, 0.5  # shares when both are known
_TITLE_WEIGHT = 2  # chosen: a word of the heading counts twice
_GIST = 500  # characters whose meaning is compared: a section says at its beginning what it is about

_NO_TARGET = lazy(
    r"(?:^|[/_.-])(?:archives?|archived|changelog|changes|history|releases?|generated|vendor)(?:[/_.-]|$)"
)
_GENERATED = lazy(r"(?:auto-?)?generated (?:by|from|file)\b.*|do not edit (?:this|by hand)")
_LINK_LINE = lazy(r"\s*[-*] \[[^\]]+\]\([^)]+\)")


@record
class Placement:
    """`path` is empty for a new file; `heading` is the slug to write under, empty for a new heading."""

    kind: Kind
    path: str
    heading: str
    title: str
    score: float


@record
class Candidate:
    """A near place and its text."""

    placement: Placement
    path: str
    title: str
    says: str


def manner(texts: Sequence[str]) -> frozenset[str]:
    """The words that more than half of the learnings share: how they are written ("how to apply"), not what about."""
    counts = Counter(term for text in texts for term in set(terms(text)))
    return frozenset(term for term, count in counts.items() if count > max(len(texts) / 2, 2))


def place(
    text: str, documents: Mapping[str, str], *, alike: Likeness | None = None, ignored: Collection[str] = ()
) -> Placement:
    """The place for a learning among documents by path. Words that are `ignored` do not bring anything nearer."""
    scored = _scored(text, documents, alike, ignored)
    if not scored:
        return Placement(kind="new file", path="", heading="", title="", score=0.0)
    best: dict[str, tuple[float, float, Section]] = {}
    for path, section, score, whole in scored:
        if path not in best or score > best[path][0]:
            best[path] = (score, whole, section)
    path = max(best, key=lambda each: (best[each][0] + best[each][1], each))
    score, whole, section = best[path]
    together = round((score + whole) / 2, 3)
    near_enough = NEAR if alike is None else NEAR_IN_MEANING
    if together < near_enough:
        return Placement(kind="new file", path="", heading="", title="", score=together)
    return _at(path, section, together, under=score >= UNDER)


def candidates(text: str, documents: Mapping[str, str], *, alike: Likeness | None = None, most: int) -> list[Candidate]:
    """The nearest places, nearest first, for a model to choose from."""
    nearest = sorted(_scored(text, documents, alike), key=lambda one: (-(one[2] + one[3]), one[0], one[1].first))
    return [
        Candidate(
            placement=_at(path, section, round((score + whole) / 2, 3), under=True),
            path=path,
            title=section.title,
            says=" ".join(section.text.split()),
        )
        for path, section, score, whole in nearest[:most]
    ]


def is_target(path: str, text: str) -> bool:
    """Whether a learning may be put there: not into an archive, a changelog, a generated file, or what a split left."""
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    links = sum(bool(_LINK_LINE.match(line)) for line in lines)
    return not (_NO_TARGET.search(path.lower()) or _GENERATED.search(text[:400].lower()) or 2 * links > len(lines))


def _scored(
    text: str, documents: Mapping[str, str], alike: Likeness | None, ignored: Collection[str] = ()
) -> list[tuple[str, Section, float, float]]:
    """Every place with its own nearness and its document's."""
    documents = {path: said for path, said in documents.items() if is_target(path, said)}
    targets = [(path, section) for path in sorted(documents) for section in _candidates(documents[path])]
    if not targets:
        return []
    by_section = _nearness(
        text, [f"{' '.join([section.title] * _TITLE_WEIGHT)}\n{section.text}" for _, section in targets], alike, ignored
    )
    whole = dict(
        zip(
            sorted(documents),
            _nearness(text, [documents[path] for path in sorted(documents)], alike, ignored),
            strict=True,
        )
    )
    return [(path, section, score, whole[path]) for (path, section), score in zip(targets, by_section, strict=True)]


def _at(path: str, section: Section, score: float, *, under: bool) -> Placement:
    """Under a section, or under a heading of its own where the section is only the document's title."""
    if not under or section.level == 1:
        return Placement(kind="new heading", path=path, heading="", title="", score=score)
    return Placement(kind="heading", path=path, heading=section.slug, title=section.title, score=score)


def _candidates(text: str) -> list[Section]:
    """What one can write under: H2 sections, with the words of what is below them."""
    found = sections(text)
    lines = text.split("\n")
    return [
        Section(**{**vars(section), "text": "\n".join(lines[section.first + 1 : section.last])})
        for section in found
        if section.level == 2
    ] or found[:1]


def _nearness(text: str, others: Sequence[str], alike: Likeness | None, ignored: Collection[str]) -> list[float]:
    words = _word_nearness(text, others, ignored)
    if alike is None:
        return words
    meanings = alike(text[:_GIST], [other[:_GIST] for other in others])
    return [_WORDS * word + _MEANING * max(0.0, meaning) for word, meaning in zip(words, meanings, strict=True)]


def _word_nearness(text: str, others: Sequence[str], ignored: Collection[str]) -> list[float]:
    wanted, *counted = (Counter(term for term in terms(each) if term not in ignored) for each in (text, *others))
    frequency = Counter(term for counts in counted for term in counts)

    def weighed(counts: Mapping[str, int]) -> dict[str, float]:
        # A word that no document has weighs most: one word in common is little of a learning about something else.
        rarity = {term: math.log(1 + len(others) / max(frequency[term], 1)) for term in counts}
        return {term: (1 + math.log(count)) * rarity[term] for term, count in counts.items()}

    weights = weighed(wanted)
    return [_cosine(weights, weighed(counts)) for counts in counted]


def _cosine(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    product = sum(weight * other.get(term, 0.0) for term, weight in one.items())
    norms = math.hypot(*one.values()) * math.hypot(*other.values())
    return product / norms if norms else 0.0
