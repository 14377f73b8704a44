"""Topics of entries: how a name is recognised and made, and how alike two entries are.

Without a model and with no word list of any subject: words count by how rare they are in the store. Likeness is a
logistic regression (`benchmarks/topics.py --fit`).

A topic is called by the part of one of its titles that says most of what all of them are about (`docs/topics.md`). A
candidate begins where a clause begins, at its second word or after a preposition, and ends with the clause or before a
preposition, so that no phrase is cut. Knows nothing about rows.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from recollect.core.journal import BROKE_OFF, FIELDS
from recollect.core.records import record
from recollect.text.frame import one_line
from recollect.text.markdown import lazy
from recollect.text.markers import VERBS
from recollect.text.tokens import NOISE, terms

FEW_TERMS = 4  # an entry with fewer says too little to be about something: "yes", "run the tests"
COMPARED_TERMS = 300  # of an entry, in order: its title, its request and the beginning of its answer

_REFERENCE_LINE = lazy(r"^[-*] references?:\s+(\S+)\s*$", re.MULTILINE)
_MARKS = lazy(r"^(?:\*\*|`|[-*+] )*|(?:\*\*|`)+$")


@cache
def _labels() -> frozenset[str]:
    """The stems of fields' names and of `BROKE_OFF`; on first use, because stemming loads a library."""
    return frozenset(term for name in (*FIELDS, BROKE_OFF) for term in terms(name)[:1])


def key_of(name: str) -> str:
    """What two spellings of a name have in common: their stems, in order."""
    return " ".join(terms(name)) or name.casefold().strip()


def as_name(text: str) -> str:
    """A given name on one line, without marks around it and a full stop."""
    return " ".join(_MARKS.sub("", text.strip().rstrip(".:")).split()).rstrip(".:")[:NAME_LIMIT].strip()


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
    body = [term for line in lines for place, term in enumerate(line.split()) if place > 1 or term not in _labels()]
    every = [*title.split(), *body][:COMPARED_TERMS]
    return EntryWords(
        title=frozenset(title.split()), terms=frozenset(every), files=frozenset(_REFERENCE_LINE.findall(text)), at=at
    )


def is_thin(one: EntryWords) -> bool:
    return len(one.terms) < FEW_TERMS and not one.files


# Fitted to pairs of commits of django, sqlalchemy and spring-boot that name the same issue or not. CROWDED and JOINS
# were chosen there: 0.6 to 1.0 and -3.5 to -2.5 hardly differ.
WEIGHTS = (2.58, 0.94, -0.60, 2.00)
BIAS = -6.09  # fitted with them
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


NAME_LIMIT = 60  # characters; a name fits on a line of a brief with its counts
GIVEN_WORDS = 6  # of a heading; a longer one is a sentence, and a model is asked for four
LONGEST, WORDS = 56, 8  # characters and words, articles apart, of a name that we make
SHARED = 4  # words of a phrase that two titles share
CLAUSES = 3  # of a title; a prompt can be a page

_LINKS = frozenset(
    "about across after against and as at because before between but by during for from if in inside instead into of "
    "on onto or over since so than that through to under unless until upon using via vs when where whether which while "
    "with within".split()
)
_NOT = frozenset("can't cannot doesn't don't dont isn't never no non not only shouldn't without won't".split())
_ARTICLES = frozenset("a an its my our the their these this those your".split())
_FILLERS = frozenset(
    "absolutely awesome can could considering definitely fascinating help helpful hoping interesting just let's like "
    "looking planning please possible recently sounds think thinking trying wonder wondering would".split()
) | (NOISE - _NOT - _LINKS - frozenset("made make makes need needs new use using".split()))
"""With these a sentence begins before it comes to its subject."""
_TYPES = frozenset(
    "build chore ci doc docs done feat feature fix misc perf refactor revert style test tests typo".split()
)
"""Kinds of change, with which a title begins where others name a part of the project: "chore: …", "caddytls: …"."""

_SCOPE = lazy(r"\s*(?:\[([^\]]{1,30})\]\s*:?|([\w./&*-]+(?:, ?[\w./&*-]+)*)(?: ?\(([\w ./,&*-]+)\))?!?:)\s+(?=\S)")
_REFERENCE = lazy(
    r"https?://\S+|\s*[(\[](?:(?:fix(?:es|ed)?|close[sd]?|refs?|see|part of|,)?[\s:]*(?:#|gh-)\d+[\s,]*)+[)\]]"
    r"|\s*\b(?:(?:fix(?:es|ed)?|close[sd]?|refs?|see)\s+)?(?:#|gh-)\d+\b|\s+from v?\d\S* to v?\d\S*"
    r"|\[purged\]",
    re.IGNORECASE,
)
_CLAUSE = lazy(r"[;.!?…]+(?:\s+|$)|\s+[-–—|]+\s+|\s+[(\[]|^[(\[]|\n")
_QUOTES = "`\"'“”‘’*;"
_ODD = lazy(
    r"[\W\d]+|[0-9a-f]{7,40}|(?=(?:\w*\d){5})\w{16,}|https?:.*|.*@.*\..*|.{49,}|v?\d+(?:\.\w+)+|#\w*|\w", re.IGNORECASE
)
_SENTENCE = lazy(r"[.!?;:,…]\s|[!?…,;]$|[\n`\"<>{}|]")
_WISH = lazy(
    r"(?:how )?(?:can|could|may|will|would) (?:i|we|you)\b|how do (?:i|we|you)\b|(?:are|is) (?:it|there)\b",
    re.IGNORECASE,
)
_ASKED = lazy(
    r"(?:(?:how|what|when|where|which|who|whose|why)\b(?P<what>(?:[^?.!;]|\.(?=\S))*?)\s)?"
    r"(?:am|are|can|could|did|do|does|had|has|have|is|may|might|must|shall|should|was|were|will|would)\s"
    r"(?:(?:i|they|we|you)\s(?:(?:already|ever|just|not|now|really|still)\s)*[\w-]+\s)?(?P<rest>(?:[^?!;]|\.(?=\S))*)\?",
    re.IGNORECASE,
)
"""A question is named without its verb, which would make it a fact or a task; a wish is not."""
_PREDICATE = lazy(r"\b(?:be|been)(?: \w+ed)?\b|\bhave\b", re.IGNORECASE)
_TRAILING = lazy(r"[a-z].*(?:ed|ly)")
_WORD = lazy(r"[a-z]+(?:['’-][a-z]+)*")

# Fitted to what a reader chose for 127 topics of seven histories; of a history left out, they choose the same for 69 %.
COVERED, HELD = 5.6, 4.2  # how much of the titles it says; the share of the other titles that hold all of it
FIRST, WHOLE, LATER = 1.3, 0.9, -1.6  # it begins its clause, is all of it, stands in a later clause
SCOPED = 0.5  # it names the part of the project that all titles do; chosen: without it 28 of 400 names were unclear
SINGLE, LENGTH = -2.2, -0.1  # it is one word; for each word
ONCE = 0.7  # a word that occurs in one passage only: it may be a typing error or a made-up name
NUMBER = 0.3  # a word without a letter: versions differ while the subject stays


@record
class _Candidate:
    words: tuple[str, ...]
    form: float  # what it is worth by its place and shape


def reads_as_name(heading: str) -> bool:
    """Whether a heading names a topic, rather than being a sentence, a prompt or a list."""
    return (
        bool(heading)
        and len(heading) <= NAME_LIMIT
        and len(heading.split()) <= GIVEN_WORDS
        and not _SENTENCE.search(heading)
    )


def names(titles: Sequence[str], docs: Mapping[str, int], total: int) -> list[str]:
    """Names for what entries with these titles are about, best first; none where no title says anything.

    `docs` says how many of `total` passages hold each term.
    """

    def weights(text: str) -> dict[str, float]:
        # In order: floats summed in the order of a set would differ from run to run.
        counts = {term: docs.get(term, 0) for term in terms(text)}
        return {
            term: math.log(1 + total / (n + 0.5))
            * (ONCE if n < 2 else 1)
            * (1 if any(map(str.isalpha, term)) else NUMBER)
            for term, n in counts.items()
        }

    titles = [_REFERENCE.sub("", one_line(title)) for title in titles]
    scoped = len({_without_scope(title)[0] for title in titles}) == 1
    found = [*_shared(titles), *(one for title in titles for one in _candidates(title, scoped))]
    held = [weights(title) for title in titles]
    best: dict[str, tuple[float, str]] = {}
    for one in found:
        name = " ".join(one.words)
        if _WORD.fullmatch(one.words[0].rstrip(",")):  # no identifier and no part of the project
            name = name[0].upper() + name[1:]
        own = weights(name)
        if not own or len(name) > LONGEST:
            continue
        covers = [
            sum(weight for term, weight in some.items() if term in own) / (sum(some.values()) or 1) for some in held
        ]
        others = sum(own.keys() <= some.keys() for some in held) - 1
        score = one.form + COVERED * sum(covers) / len(held) + HELD * others / max(len(held) - 1, 1)
        key = " ".join(own)
        if key not in best or score > best[key][0]:
            best[key] = (score, name)
    return [name for _, name in sorted(best.values(), key=lambda one: (-one[0], one[1]))]


def is_phrase(words: Sequence[str]) -> bool:
    """Whether some words may name a subject: not "fix parser" nor "quickly"."""
    odd = any(_ODD.fullmatch(word) or word.lower() in NOISE | _LINKS for word in words)
    return not (odd or words[0].lower() in VERBS or any(_TRAILING.fullmatch(word) for word in (words[0], words[-1])))


def _plain(word: str) -> str:
    return word.lower().replace("’", "'").rstrip(",:")


def _is_filler(word: str) -> bool:
    """Whether a word comes before the subject of a sentence: "that's", "using", an emoji."""
    return (
        word in _FILLERS | _LINKS
        or not any(map(str.isalnum, word))
        or ("'" in word and word not in _NOT and word.partition("'")[0] in NOISE)
    )


def _candidates(title: str, scoped: bool) -> Iterator[_Candidate]:
    """The parts of a title that could be a name; `scoped` where all titles name the same part of the project."""
    part, said = _without_scope(title)
    if (asked := _ASKED.match(said)) and not _WISH.match(said):
        said = f"{asked['what'] or ''}; {_PREDICATE.sub('', asked['rest'])}; {said[asked.end() :]}".lstrip("; ")
    for number, words in enumerate(_clauses(said)[:CLAUSES]):
        later = LATER if number else 0.0
        for one in _of(words):
            yield _Candidate(words=one.words, form=one.form + later)
            if part and scoped and not number:
                form = one.form + SCOPED + LENGTH - (SINGLE if len(one.words) == 1 else 0)
                yield _Candidate(words=(f"{part}:", *one.words), form=form)


def _without_scope(title: str) -> tuple[str, str]:
    """The part of the project that a title begins with, where it names one, and the rest of the title."""
    part = ""
    while scope := _SCOPE.match(title):
        named = [each.strip() for each in scope.groups() if each]
        fitting = [each for each in named if not {*re.split("[ ,/]+", each.lower())} <= _TYPES]
        part = part or next((each for each in reversed(fitting) if not _ODD.fullmatch(each)), "")
        title = title[scope.end() :]
    return part, title


def _clauses(text: str) -> list[list[str]]:
    """The words of each clause, without quotes and marks but for commas."""
    found = []
    for clause in _CLAUSE.split(text):
        words = []
        for given in clause.split():
            word = given.rstrip(",:").strip(_QUOTES).rstrip(",:")
            if word.count("(") < word.count(")") or word.count("[") < word.count("]"):
                word = word.rstrip(")]")
            if word:
                words.append(word + (given[-1] if given.endswith((",", ":")) else ""))
        if words:
            found.append(words)
    return found


def _of(words: Sequence[str]) -> Iterator[_Candidate]:
    """The parts of a clause that begin and end at the borders of its phrases."""
    low = [_plain(word) for word in words]
    first = 0
    while first < len(low) and _is_filler(low[first]) and low[first + 1 : first + 2] != ["not"]:
        first += 1
    border = {at for at in range(1, len(low)) if words[at - 1].endswith((",", ":"))}
    ends = sorted({len(low), *border, *(at for at, word in enumerate(low) if word in _LINKS and word != "of")})
    starts = {first, first + 1, *border, *(at for at in range(1, len(low)) if low[at - 1] in _LINKS)}
    whole = False
    for start in sorted(starts):
        begins = first <= start < len(low) and low[start] not in _LINKS and any(map(str.isalnum, low[start]))
        if begins and not _NOT & {*low[:start]}:
            for end in ends:
                if end < len(low) and low[end - 1] in _FILLERS:  # "when trying | to flush"
                    continue
                kept = _kept(words[start:end])
                if 0 < (count := _count(kept)) <= WORDS:
                    whole = whole or start == first
                    form = (FIRST if start == first else 0) + (WHOLE if start == first and end == len(low) else 0)
                    yield _Candidate(words=kept, form=form + LENGTH * count + (SINGLE if count == 1 else 0))
    if not whole and (kept := _kept(words[first:])[:WORDS]):  # no border before the limit
        while len(" ".join(kept)) > LONGEST and len(kept) > 1:
            kept = kept[:-1]
        yield _Candidate(words=_kept(kept), form=FIRST + LENGTH * len(kept))


def _count(words: Sequence[str]) -> int:
    return sum(_plain(word) not in _ARTICLES for word in words)


def _kept(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a name: no article but after a preposition, no preposition at the end; none where all are odd."""
    low = [_plain(word) for word in words]
    kept = [word for at, word in enumerate(words) if low[at] not in _ARTICLES or (at and low[at - 1] in _LINKS)]
    while kept and _plain(kept[-1]) in _LINKS | _NOT:
        kept.pop()
    if all(_ODD.fullmatch(word) for word in kept):
        return ()
    return (*kept[:-1], kept[-1].rstrip(",:"))


def _shared(titles: Sequence[str]) -> Iterator[_Candidate]:
    """Phrases that two titles share, where one ends with it or goes on with a verb: "refund webhooks undo a status"."""
    found: Counter[str] = Counter()
    spelled: dict[str, tuple[str, ...]] = {}
    for title in titles if len(titles) > 1 else ():
        own: set[str] = set()
        for words in _clauses(_without_scope(title)[1]):
            low = [_plain(word) for word in words]
            negated = next((at for at, word in enumerate(low) if word in _NOT), len(low))
            for start in range(negated):
                for end in range(start + 1, min(start + SHARED, negated) + 1):
                    if not {low[start], low[end - 1]} & (_LINKS | _FILLERS | _ARTICLES):
                        some = _kept(words[start:end])
                        key = " ".join(terms(" ".join(some)))
                        own.add(key)
                        ended = end == len(low) or low[end] in _LINKS | NOISE or words[end - 1].endswith((",", ":"))
                        if (
                            ended or _ODD.fullmatch(low[end]) or _ARTICLES & {*low[end + 1 : end + 2]}
                        ):  # a word before an article is a verb
                            spelled.setdefault(key, some)
        found.update(own)
    for key, count in found.items():
        if count > 1 and key and key in spelled:
            shared = spelled[key]
            yield _Candidate(words=shared, form=LENGTH * len(shared) + (SINGLE if len(shared) == 1 else 0))
