"""Topics of entries: how a name is recognised, how alike two entries are, and what a topic is called.

Without a model and with no word list of any subject: words count by how rare they are in the store. Likeness is a
logistic regression (`benchmarks/topics.py --fit`). A name is a run of words out of the entries' own titles; it prefers
what recurs to what is odd. Knows nothing about rows.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache

from recollect.core.journal import FIELDS
from recollect.core.records import record
from recollect.text.markers import VERBS
from recollect.text.patterns import lazy
from recollect.text.points import runs
from recollect.text.tokens import stem, terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NAME_LIMIT = 60  # characters; a name fits on a line of a brief with its counts
NAME_WORDS = 6
FEW_TERMS = 4  # an entry with fewer says too little to be about something: "yes", "run the tests"
COMPARED_TERMS = 300  # of an entry, in order: its title, its request and the beginning of its answer

_LABEL = lazy(rf"^[-*] (?:references: .*|(?:{'|'.join(FIELDS)}):)".replace("_", "-"), re.MULTILINE)
_REFERENCE = lazy(r"^[-*] references?:\s+(\S+)\s*$", re.MULTILINE)
_SENTENCE = lazy(r"[.!?;:,…]\s|[!?…,;]$|[\n`\"<>{}|]")
_MARKS = lazy(r"^(?:\*\*|`|[-*+] )*|(?:\*\*|`)+$")


@cache
def _labels() -> frozenset[str]:
    """What the names of fields are stemmed to; on first use, because stemming loads a library."""
    return frozenset(term for name in FIELDS for term in terms(name)[:1])


def key_of(name: str) -> str:
    """What two spellings of a name have in common: their stems, in order."""
    return " ".join(terms(name)) or name.casefold().strip()


def as_name(text: str) -> str:
    """A given name on one line, without marks around it and a full stop."""
    return " ".join(_MARKS.sub("", text.strip().rstrip(".:")).split()).rstrip(".:")[:NAME_LIMIT].strip()


def reads_as_name(heading: str) -> bool:
    """Whether a heading names a topic, rather than being a sentence, a prompt or a list."""
    return (
        bool(heading)
        and len(heading) <= NAME_LIMIT
        and len(heading.split()) <= NAME_WORDS
        and not _SENTENCE.search(heading)
    )


@record
class EntryWords:
    """What is compared of an entry: the terms of its title, all its terms, the files it names, and its time."""

    title: frozenset[str]
    terms: frozenset[str]
    files: frozenset[str]
    at: int


def said(stream: str, text: str, at: int) -> EntryWords:
    """The same from a passage: its terms, one line per field, and its text."""
    title, _, _, *lines = stream.split("\n")  # who and keywords are not compared
    body = [term for line in lines for place, term in enumerate(line.split()) if place or term not in _labels()]
    every = [*title.split(), *body][:COMPARED_TERMS]
    return EntryWords(
        title=frozenset(title.split()), terms=frozenset(every), files=frozenset(_REFERENCE.findall(text)), at=at
    )


def is_thin(one: EntryWords) -> bool:
    """Whether an entry says too little to tell what it is about."""
    return len(one.terms) < FEW_TERMS and not one.files


# Fitted to pairs of commits of django, sqlalchemy and spring-boot that name the same issue or not. The next two were
# chosen on the same histories: 0.6 to 1.0 and -3.5 to -2.5 hardly differ in the mean.
WEIGHTS = (2.58, 0.94, -0.60, 2.00)
BIAS = -6.09
JOINS = -3.0
"""The log odds from which on an entry joins a topic: the best of 70 candidates has to be good, not certain."""
CROWDED = 0.8  # log odds that each factor e of its size costs a topic: one that takes in everything says nothing


def features(one: EntryWords, other: EntryWords, rarity: Mapping[str, float]) -> tuple[float, ...]:
    """How alike two entries are: words of their titles, files, days between them, and their rarest common word."""
    shared = one.files & other.files
    files = len(shared) / min(len(one.files), len(other.files)) if shared else 0.0
    days = abs(one.at - other.at) / 86_400_000
    rarest = max((rarity.get(term, 0.0) for term in one.terms & other.terms), default=0.0)
    return _cosine(one.title, other.title, rarity), files, math.log1p(days), min(rarest / 3, 3.0)


def likeness(one: EntryWords, other: EntryWords, rarity: Mapping[str, float]) -> float:
    """The log odds that two entries are about the same."""
    found = zip(WEIGHTS, features(one, other, rarity), strict=True)
    return BIAS + sum(weight * value for weight, value in found)


def _cosine(one: frozenset[str], other: frozenset[str], rarity: Mapping[str, float]) -> float:
    shared = math.fsum(rarity.get(term, 0.0) ** 2 for term in one & other)
    if not shared:
        return 0.0
    lengths = (math.fsum(rarity.get(term, 0.0) ** 2 for term in side) for side in (one, other))
    return shared / math.sqrt(math.prod(lengths))


# --- Names

_ASKING = frozenset(
    "adjust am bring bump can clarify clean continue correct could deal debug demote deprecate document does "
    "explain expose extend feat final find finish fix forward got hello help hey hi hide honor honour implement "
    "improve inline introduce investigate learn let look mention minor modify need optimise optimize polish prepare "
    "promote propose refine reorganise reorganize restore review revise rework should simplify suggest support tell "
    "thank think tidy tweak unify want wonder work would".split()
)


@cache
def _acts() -> frozenset[str]:
    """Stems of verbs with which requests and commit subjects begin; no name begins or ends with one."""
    return frozenset(map(stem, VERBS | _ASKING))


_VAGUE = frozenset(
    "another day every first hour last month multiple next second several various via week whole year yet".split()
)
_LAST = lazy(r".*(?:ed|ly)$", re.IGNORECASE)
_ODD = lazy(r"[\d.,:/%-]+|[0-9a-f]{7,40}|https?:.*|.*@.*\..*|.{31,}|\W*\w\W*", re.IGNORECASE)
ONCE = (
    0.7  # what the weight of a word counts that occurs in one passage only: it may be a typing error or a made-up name
)
LENGTHS = (0.0, 0.65, 1.0, 0.92)
"""What a phrase of so many words counts for; two words read best."""
PLAIN = 0.8  # what a single everyday word counts for: "performance" says less than "mount performance" or "OAuth"
LATER = 0.9  # what a run counts for against the one before it: a title begins with what it is about


def names(texts: Sequence[tuple[str, str]], docs: Mapping[str, int], total: int) -> list[str]:
    """Names for what some entries are about, best first, out of their titles and, where those say little, their texts.

    `docs` says how many of `total` passages hold each term.
    """
    scores: dict[str, float] = {}
    spelled: dict[str, Counter[str]] = {}
    for title, text in texts:
        found = [*_phrases(title, 1.0), *_phrases(_LABEL.sub("", text)[:600], 0.35)]
        repeats = Counter(key for key, _, _ in found)
        best: dict[str, float] = {}
        for key, phrase, worth in found:
            spelled.setdefault(key, Counter())[phrase] += 1
            best[key] = max(best.get(key, 0.0), worth)
        for key, worth in best.items():
            # In how many entries a phrase is counts in full, how often one of them repeats it a little.
            scores[key] = scores.get(key, 0.0) + worth * (1 + 0.3 * math.log(repeats[key]))
    weighed = {key: score**0.8 * _weight(key.split(" "), docs, total) for key, score in scores.items() if key}
    ordered = sorted(weighed, key=lambda key: (-weighed[key], key))
    return [_spelling(spelled[key]) for key in ordered]


def _phrases(text: str, worth: float) -> Iterator[tuple[str, str, float]]:
    """Runs of one to three words without a stop word between them: their stems, as written, and their worth."""
    for place, run in enumerate(runs(text)):
        words = run.split(" ")
        for first in range(len(words)):
            for last in range(first + 1, min(first + 3, len(words)) + 1):
                phrase = words[first:last]
                if is_phrase(phrase, opens=place == 0 and first == 0):
                    ends = (1.25 if last == len(words) else 1.0) * (1.1 if first == 0 else 1.0)
                    if len(phrase) == 1 and phrase[0].islower() and phrase[0].isalpha():
                        ends = PLAIN
                    value = worth * ends * LENGTHS[len(phrase)] * LATER ** min(place, 8)
                    yield key_of(" ".join(phrase)), " ".join(phrase), value


def is_phrase(phrase: Sequence[str], *, opens: bool) -> bool:
    """Whether some words may name a subject: not "fix parser" nor "quickly"; `opens` says that a text begins so."""
    if any(_ODD.fullmatch(word) or word.lower().rstrip("s") in _VAGUE for word in phrase) or _LAST.fullmatch(
        phrase[-1]
    ):
        return False
    first, last = (stem(word.lower()) for word in (phrase[0], phrase[-1]))
    return first not in _acts() and last not in _acts() and not (opens and _LAST.fullmatch(phrase[0]))


def _weight(stems: Sequence[str], docs: Mapping[str, int], total: int) -> float:
    """How telling the words of a phrase are, on average."""
    weights = [
        math.log(1 + total / (docs.get(term, 0) + 0.5)) * (ONCE if docs.get(term, 0) < 2 else 1) for term in stems
    ]
    return math.fsum(weights) / len(weights)


def _spelling(forms: Counter[str]) -> str:
    phrase = min(forms, key=lambda form: (-forms[form], form))
    first = phrase.split(" ")[0]
    return phrase if not first.islower() or not first.isalpha() else phrase[0].upper() + phrase[1:]
