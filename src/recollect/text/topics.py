"""Topics of entries: how a name is recognised, and how alike two entries are.

Without a model and with no word list of any subject: words count by how rare they are in the store. Likeness is a
logistic regression (`benchmarks/topics.py --fit`). Names are made in `text/topic_names.py`. Knows nothing about rows.
"""

from __future__ import annotations

import math
import re
from functools import cache

from recollect.core.journal import FIELDS
from recollect.core.records import record
from recollect.text.patterns import lazy
from recollect.text.tokens import terms
from recollect.text.topic_names import NAME_LIMIT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

NAME_WORDS = 6
FEW_TERMS = 4  # an entry with fewer says too little to be about something: "yes", "run the tests"
COMPARED_TERMS = 300  # of an entry, in order: its title, its request and the beginning of its answer

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


# Fitted to pairs of commits of django, sqlalchemy and spring-boot that name the same issue or not. CROWDED and JOINS
# were chosen there: 0.6 to 1.0 and -3.5 to -2.5 hardly differ.
WEIGHTS = (2.58, 0.94, -0.60, 2.00)
BIAS = -6.09
JOINS = -3.0  # log odds from which on an entry joins a topic: the best of 70 has to be good, not certain
ALIKE = 0.25  # least cosine of two titles for one topic: 0.1 groups alike, but a brief then names less of chats
CROWDED = 0.8  # log odds that each factor e of its size costs a topic, lest one takes in everything


def features(one: EntryWords, other: EntryWords, rarity: Mapping[str, float]) -> tuple[float, ...]:
    """How alike two entries are: words of their titles, files, days between them, and their rarest common word."""
    files = len(one.files & other.files) / max(1, min(len(one.files), len(other.files)))
    days = abs(one.at - other.at) / 86_400_000
    rarest = max((rarity.get(term, 0.0) for term in one.terms & other.terms), default=0.0)
    return _cosine(one.title, other.title, rarity), files, math.log1p(days), min(rarest / 3, 3.0)


def likeness(one: EntryWords, other: EntryWords, rarity: Mapping[str, float]) -> float:
    """The log odds that two entries are about the same."""
    found = features(one, other, rarity)
    odds = BIAS + sum(weight * value for weight, value in zip(WEIGHTS, found, strict=True))
    return odds if found[0] >= ALIKE else -math.inf


def _cosine(one: frozenset[str], other: frozenset[str], rarity: Mapping[str, float]) -> float:
    shared = math.fsum(rarity.get(term, 0.0) ** 2 for term in one & other)
    if not shared:
        return 0.0
    lengths = (math.fsum(rarity.get(term, 0.0) ** 2 for term in side) for side in (one, other))
    return shared / math.sqrt(math.prod(lengths))
