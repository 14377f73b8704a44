"""Where a learning belongs: the document most like it, and the heading there; a new one where nothing is near.

A document attracts the words and the meaning of its sections and of the entries that went there before. Words are
weighed by their rarity among the sections; the cosine of embeddings, when the caller can give it, counts beside them.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence

from recollect.core.records import record
from recollect.text.claims import claims
from recollect.text.documents import Section, sections
from recollect.text.markdown import lazy
from recollect.text.tokens import terms

Likeness = Callable[[str, Sequence[str]], Sequence[float]]
"""A text and others → how alike they are in meaning, from -1 to 1."""

# Of a document's words and meaning in its chance. Fitted on sections taken out of 120 documents of six projects and
# on six consolidations of a real history (`docs/experiments.md`).
WORDS, MEANING, WORDS_ALONE = 20.0, 8.0, 30.0
DECIDED = 0.3  # chance below which three places are offered instead: there, three of ten first places were right
# How like the nearest section is, on words and with an embedder, whose cosine is hardly ever 0 (`benchmarks.routing`):
NEAR = (0.12, 0.22)  # below it nothing is near
UNDER = (0.25, 0.37)  # from it on a section is about the same; below it a learning gets a heading of its own
_TITLE_WEIGHT = 2  # chosen: a word of the heading counts twice
GIST = 500  # characters whose meaning is compared: a section says at its beginning what it is about

_NO_TARGET = lazy(
    r"(?:^|[/_.-])(?:archives?|archived|changelog|changes|history|releases?|generated|vendor)(?:[/_.-]|$)"
)
_GENERATED = lazy(r"(?:auto-?)?generated (?:by|from|file)\b.*|do not edit (?:this|by hand)")
_LINK_LINE = lazy(r"\s*[-*] \[[^\]]+\]\([^)]+\)")
_NOWHERE = Section(title="", slug="", level=1, text="", first=0, last=0)


@record
class Placement:
    """`path` is empty for a new file; `heading` is the slug to write under, empty for a new heading; `score` is the
    chance of the document among all."""

    path: str = ""
    heading: str = ""
    title: str = ""
    score: float = 0.0
    says: str = ""

    @property
    def where(self) -> str:
        return f"{self.path}#{self.heading}" if self.heading else self.path


NEW_FILE = Placement()


def manner(texts: Sequence[str]) -> frozenset[str]:
    """The words that more than half of the learnings share: how they are written ("how to apply"), not what about."""
    counts = Counter(term for text in texts for term in set(terms(text)))
    return frozenset(term for term, count in counts.items() if count > max(len(texts) / 2, 2))


def is_target(path: str, text: str) -> bool:
    """Whether a learning may be put there: not into an archive, a changelog, a generated file, or what a split left."""
    lines = [line for line in text.split("\n") if line.strip() and not line.startswith("#")]
    links = sum(bool(_LINK_LINE.match(line)) for line in lines)
    return not (_NO_TARGET.search(path.lower()) or _GENERATED.search(text[:400].lower()) or 2 * links > len(lines))


@record
class _Piece:
    """A section, or an entry that went to a document earlier; `under` is the H2 section that one can write under."""

    path: str
    title: str
    said: str
    under: Section = _NOWHERE


class Router:
    """What some documents attract, learnt once; `earlier` are entries and the document that each went to."""

    def __init__(
        self,
        documents: Mapping[str, str],
        *,
        alike: Likeness | None = None,
        earlier: Sequence[tuple[str, str, str]] = (),
    ) -> None:
        self.paths = frozenset(documents)
        targets = {path: text for path, text in sorted(documents.items()) if is_target(path, text)}
        self._alike = alike
        self._pieces = [piece for path, text in targets.items() for piece in _pieces(path, text)]
        self._pieces += [_Piece(path=path, title=title, said=said) for path, title, said in earlier if path in targets]
        counted = [_counted(each.title, each.said) for each in self._pieces]
        self._spread = Counter(term for counts in counted for term in counts)
        self._words = [self._weighed(counts) for counts in counted]
        self._gists = [_gist(each.title, each.said) for each in self._pieces]
        self._members: dict[str, list[int]] = defaultdict(list)
        for at, piece in enumerate(self._pieces):
            self._members[piece.path].append(at)
        self._attracted = {path: _united([self._words[at] for at in its]) for path, its in self._members.items()}
        self._lengths = {path: self._length([self._gists[at] for at in its]) for path, its in self._members.items()}

    def ranked(self, title: str, body: str, ignored: Collection[str] = ()) -> list[Placement]:
        """The best place of each document that is near, likeliest first; words that are `ignored` bring none nearer."""
        if not self._pieces:
            return []
        wanted = self._weighed({term: n for term, n in _counted(title, body).items() if term not in ignored})
        near = by_words = [_product(wanted, words) for words in self._words]
        attraction = {path: WORDS_ALONE * _product(wanted, words) for path, words in self._attracted.items()}
        if self._alike:
            meanings = self._alike(_gist(title, body), self._gists)
            near = [(word + max(0.0, meaning)) / 2 for word, meaning in zip(by_words, meanings, strict=True)]
            for path, its in self._members.items():
                meant = sum(meanings[at] for at in its) / self._lengths[path]
                attraction[path] = WORDS / WORDS_ALONE * attraction[path] + MEANING * meant
        most = max(attraction.values())
        powers = {path: math.exp(each - most) for path, each in attraction.items()}
        ranked = sorted(powers, key=lambda path: (-powers[path], path))
        least = NEAR[self._alike is not None]
        best = {path: max(self._members[path], key=lambda at: near[at]) for path in ranked}
        return [
            self._placement(best[path], near, powers[path] / sum(powers.values()))
            for path in ranked
            if near[best[path]] >= least
        ]

    def _placement(self, at: int, near: Sequence[float], chance: float) -> Placement:
        """Under the nearest section of a document, or under a heading of its own where none is about the same."""
        path, chance = self._pieces[at].path, round(chance, 3)
        own = [each for each in self._members[path] if self._pieces[each].under.level == 2]
        nearest = max(own, key=lambda each: near[each], default=at)
        under, says = self._pieces[nearest].under, " ".join(self._pieces[nearest].said.split())
        if under.level == 1 or near[nearest] < UNDER[self._alike is not None]:
            under = _NOWHERE
        return Placement(path=path, heading=under.slug, title=under.title, score=chance, says=says)

    def _weighed(self, counts: Mapping[str, int]) -> dict[str, float]:
        # A word that no document has weighs most: one word in common is little of a learning about something else.
        number = len(self._pieces)
        return _unit(
            {
                term: (1 + math.log(count)) * math.log(1 + number / max(self._spread[term], 1))
                for term, count in counts.items()
            }
        )

    def _length(self, gists: Sequence[str]) -> float:
        """The length of the sum of the pieces' vectors, from their cosines: the mean of a document has length 1."""
        if self._alike is None:
            return 1.0
        return math.sqrt(max(1.0, sum(sum(self._alike(one, gists)) for one in gists)))


def _counted(title: str, said: str) -> Counter[str]:
    return Counter(terms(f"{' '.join([title] * _TITLE_WEIGHT)}\n{said}"))


def _pieces(path: str, text: str) -> list[_Piece]:
    """The sections of a document that say something, each with the H2 section that holds it."""
    found = sections(text)
    tops = [section for section in found if section.level == 2]
    pieces = [
        _Piece(
            path=path,
            title=each.title,
            said=each.text,
            under=next((top for top in tops if top.first <= each.first < top.last), _NOWHERE),
        )
        for each in found
        if each.text or each.level == 2
    ]
    return pieces or [_Piece(path=path, title=found[0].title if found else "", said=text)]


def _gist(title: str, said: str) -> str:
    """The beginning of what a text claims, as it is compared elsewhere too: a text is embedded once."""
    return " ".join(claims(title, said))[:GIST] or title


def _united(vectors: Sequence[Mapping[str, float]]) -> dict[str, float]:
    total: dict[str, float] = defaultdict(float)
    for vector in vectors:
        for term, weight in vector.items():
            total[term] += weight
    return _unit(total)


def _unit(weights: Mapping[str, float]) -> dict[str, float]:
    length = math.hypot(*weights.values()) or 1.0
    return {term: weight / length for term, weight in weights.items()}


def _product(one: Mapping[str, float], other: Mapping[str, float]) -> float:
    return sum(weight * other.get(term, 0.0) for term, weight in one.items())
