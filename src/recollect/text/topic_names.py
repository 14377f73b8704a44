"""What a topic is called: the phrase of its entries' titles that is nearest to all of them.

A title is read as noun phrases between stop words, marks and verbs; each of them, a shorter end of it, and two with a
preposition between them are candidates. Their likeness to the titles is a cosine with words weighed by rarity, so what
recurs in a topic beats what is odd; form, place and length decide between alike ones. No word list of any subject.
Knows nothing about rows.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import cache

from recollect.core.journal import FIELDS
from recollect.core.records import record
from recollect.text.frame import one_line
from recollect.text.markers import VERBS
from recollect.text.patterns import lazy
from recollect.text.points import NOISE
from recollect.text.tokens import terms, written

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

NAME_LIMIT = 60  # characters; a name fits on a line of a brief with its counts
LONGEST = 48  # characters of a name that we make
BODY = 600  # characters of an entry's text that are read for a name

_OPENERS = VERBS | frozenset(
    "accept adapt address adjust align appease catch change clarify clean cleanup consider correct deal deprecate "
    "disallow do document drop eliminate emit enhance expand explain expose extend factor fall favor fix fixup "
    "generalize hide honor ignore implement improve initial integrate introduce mark mention minor modernize modify "
    "omit optimize prepare preserve propagate rearrange refine reformat relax reorder restore return revise reword "
    "rework run shorten show simplify speed stop suggest support suppress tell tighten track tweak unify update "
    "upgrade warn "
    "can continue could debug find finish got hello help hey hi investigate learn look made need ran review should "
    "thank think tidy want wonder work would".split()
)
"""Verbs with which requests and commit subjects begin. Those before the last two lines open at least 40 % of the
subjects that they stand in, in eight histories (`benchmarks/topics.py --openers`); the last open prompts in chats."""
_LINKS = frozenset("against and at between by for from in of on to with".split())
_DETERMINERS = frozenset("a all an any each her his its more most my our some the their these this those your".split())
_BREAKS = (NOISE - _OPENERS - {"go"}) | frozenset(
    "across again already also along always among another during earlier else esp etc even first incl instead just "
    "last later maybe multiple never next now only per please rather really several since still together toward "
    "towards upon various versus via vs whether within without yet".split()
)
_TYPES = frozenset("build chore ci doc docs feat feature fix misc perf refactor revert style test tests typo".split())
"""Kinds of change, with which a title begins where others name a part of the project: "chore: …", "caddytls: …"."""

_SCOPE = lazy(r"\s*(?:\[([^\]]{1,30})\]\s*:?|([\w./&*-]+(?:[ ,/]+[\w.*-]+)?)(?:\([\w ./,&*-]+\))?!?:)\s+(?=\S)")
_ODD = lazy(
    r"[\W\d]+|[0-9a-f]{7,40}|(?=(?:\w*\d){5})\w{16,}|https?:.*|.*@.*\..*|.{49,}|v?\d+(?:\.\w+)+|#\w*|\w", re.IGNORECASE
)
_VERSION = lazy(r"v?\d[\w.]*")
_TRAILING = lazy(r"[a-z].*(?:ed|ly)")
_WORD = lazy(r"[a-z]+(?:['’-][a-z]+)*")
_LABEL = lazy(rf"^[-*] (?:references: .*|(?:{'|'.join(FIELDS)}):)".replace("_", "-"), re.MULTILINE)
_QUOTES = "`\"'“”‘’*"

# Chosen by reading 300 names of four histories (Caddy, borg, lazygit, Datasette) beside their titles.
PHRASE = 4  # words of a noun phrase; of a longer one the last, where English has what it is about
LENGTHS = (0.0, 0.72, 1.0, 1.0, 0.93, 0.85)
"""What a name of so many words counts for."""
PLAIN = 0.8  # a single everyday word: "performance" says less than "mount performance" or "OAuth"
LATER = 0.9  # a phrase against the one before it: a title begins with what it is about
END, END_WORD, BEGINNING = 0.75, 0.55, 0.6  # a part of a phrase: its end, its last word if that is plain, its beginning
WITH_VERB, WITH_SCOPE, SCOPE = 0.8, 0.8, 0.7
IN_TEXT = 0.5  # a phrase of the text against one of the title
ONCE = 0.7  # a word that occurs in one passage only: it may be a typing error or a made-up name


@record
class _Phrase:
    """A noun phrase with the preposition that links it to the one before, and the verb that stood in front of it."""

    link: str
    verb: str
    words: tuple[str, ...]


@record
class _Candidate:
    name: str
    worth: float
    words: int


def names(texts: Sequence[tuple[str, str]], docs: Mapping[str, int], total: int) -> list[str]:
    """Names for what some entries, each a title and a text, are about, best first.

    `docs` says how many of `total` passages hold each term.
    """

    def weights(some: Sequence[str]) -> dict[str, float]:
        # In order: floats summed in the order of a set would differ from run to run.
        counts = {term: docs.get(term, 0) for term in some}
        return {term: math.log(1 + total / (n + 0.5)) * (ONCE if n < 2 else 1) for term, n in counts.items()}

    centre: dict[str, float] = {}
    best: dict[str, _Candidate] = {}
    spelled: dict[str, Counter[str]] = {}
    titles = [weights(terms(title)) for title, _ in texts]
    for (title, text), held in zip(texts, titles, strict=True):
        body = _LABEL.sub("", text)[:BODY].rsplit(" ", 1)[0]  # not half a word
        for some, share in ((held, 1.0), (weights(terms(body)), 0.25)):
            length = _length(some)
            for term, weight in some.items():
                centre[term] = centre.get(term, 0.0) + share * weight / length
        for said, share in ((title, 1.0), (body, IN_TEXT)):
            for found in _candidates(said):
                if len(found.name) <= LONGEST and (key := " ".join(terms(found.name))):
                    spelled.setdefault(key, Counter())[found.name] += 1
                    new = _Candidate(name=found.name, worth=found.worth * share, words=found.words)
                    best[key] = max(best.get(key, new), new, key=lambda one: one.worth)
    scores = {}
    for key, found in best.items():
        own = weights(key.split())
        near = sum(centre.get(term, 0.0) * weight for term, weight in own.items()) / _length(own)
        covered = sum((sum(own[term] for term in own if term in held) / sum(own.values())) ** 2 for held in titles)
        form = LENGTHS[min(found.words, 5)] * (PLAIN if found.words == 1 and _WORD.fullmatch(found.name) else 1)
        short = math.sqrt(24 / max(len(found.name), 24))
        scores[key] = near * math.sqrt(max(covered, 0.1) / len(titles)) * form * short * found.worth
    ordered = sorted(scores, key=lambda key: (-scores[key], key))
    return [_spelling(spelled[key]) for key in ordered]


def is_phrase(words: Sequence[str]) -> bool:
    """Whether some words may name a subject: not "fix parser" nor "quickly"."""
    odd = any(_ODD.fullmatch(word) or word.lower() in _BREAKS for word in words)
    return not (odd or _is_trailing(words) or _is_trailing(words[:1]) or _is_opener(words[0]) or words[-1] in VERBS)


def shortened(title: str) -> str:
    """A title up to the last whole phrase that fits a name."""
    words = _SCOPE.sub("", one_line(title), count=1).split()
    while words and (
        len(" ".join(words)) > LONGEST or words[-1].lower().strip(",;:(") in _BREAKS | _LINKS | _DETERMINERS
    ):
        words.pop()
    return " ".join(words).strip(" ,;:.-(") if len(words) > 1 else ""


def _length(weights: Mapping[str, float]) -> float:
    return math.sqrt(sum(weight * weight for weight in weights.values())) or 1.0


def _spelling(forms: Counter[str]) -> str:
    """The commonest spelling, beginning with a capital letter unless its first word is an identifier."""
    phrase = min(forms, key=lambda form: (-forms[form], form))
    return phrase[0].upper() + phrase[1:] if _WORD.fullmatch(re.split("[ :]", phrase)[0]) else phrase


def _candidates(text: str) -> Iterator[_Candidate]:
    """The phrases of a text that could be a name."""
    scope = _SCOPE.match(text)
    found = [
        one for place, chunk in enumerate(_chunks(text[scope.end() :] if scope else text)) for one in _of(chunk, place)
    ]
    yield from found
    part = (scope[1] or scope[2]).strip() if scope else ""
    if part and not {*part.lower().split()} <= _TYPES and not _ODD.fullmatch(part):
        yield _Candidate(name=part, worth=SCOPE, words=len(part.split()))
        for one in found:
            if one.worth >= END and one.words <= 3:
                yield _Candidate(name=f"{part}: {one.name}", worth=one.worth * WITH_SCOPE, words=one.words + 1)


def _of(chunk: Sequence[_Phrase], place: int) -> Iterator[_Candidate]:
    """Each phrase, its ends and beginnings, and what it makes with its verb or the next phrase."""
    for number, phrase in enumerate(chunk):
        later = LATER ** min(place + number, 6)
        words = _last(phrase)
        for first in range(len(words)):
            end = words[first:]
            part = 1.0 if not first else END_WORD if len(end) == 1 and _WORD.fullmatch(end[0].lower()) else END
            yield _Candidate(name=" ".join(end), worth=part * later, words=len(end))
        for last in range(1, len(words)):
            yield _Candidate(name=" ".join(words[:last]), worth=BEGINNING * later, words=last)
        if phrase.verb and len(words) == 1 and _WORD.fullmatch(words[0].lower()):
            yield _Candidate(name=f"{phrase.verb} {words[0]}", worth=WITH_VERB * later, words=2)
        for following in chunk[number + 1 : number + 2]:
            more = _last(following)
            if len(words) + len(more) <= PHRASE + 1:
                whole = " ".join([*words, following.link, *more])
                worth = later if len(words) == 1 else 0.9 * later
                yield _Candidate(name=whole, worth=worth, words=len(words) + len(more))


def _last(phrase: _Phrase) -> tuple[str, ...]:
    """The last words of a long phrase, from one on that may begin a name."""
    words = phrase.words[-PHRASE:]
    while len(words) < len(phrase.words) and len(words) > 1 and (_ODD.fullmatch(words[0]) or _is_trailing(words[:1])):
        words = words[1:]
    return words


def _chunks(text: str) -> list[list[_Phrase]]:
    """The noun phrases of a text; those that prepositions link are together."""
    found: list[list[_Phrase]] = [[]]
    words: list[str] = []
    link = verb = ""
    for token in [*written(text, marks=True), "."]:
        low = token.lower()
        if token in _QUOTES or (low in _DETERMINERS and not words):
            continue
        if low in _DETERMINERS and (len(words) == 1 or not _is_opener(words[0])):
            # "webhooks undo a status", "modularize the providers": a word before an article is a verb.
            last = words.pop()
            if not words:
                link, verb = "", last
                continue
        if not _ends_phrase(low, words):
            words.append(token)
            continue
        phrase, trimmed = _phrase(words, link, verb, first=not found[-1])
        if phrase is not None and not phrase.link:
            found.append([])
        if phrase is not None:
            found[-1].append(phrase)
        link = low if low in _LINKS and phrase is not None and not trimmed else ""
        if not link:
            found.append([])
        words, verb = [], ""
    return [chunk for chunk in found if chunk]


def _ends_phrase(word: str, before: Sequence[str]) -> bool:
    plain = re.split("['’]", word)[0]  # "don't"
    if plain in _LINKS or plain in _BREAKS or plain in _DETERMINERS or not any(map(str.isalnum, word)):
        return True
    # "the reader takes an index": what is surely a verb ends a phrase, but for one that begins with a verb.
    return bool(before) and word.endswith("s") and word[:-1] in VERBS and not _is_opener(before[-1])


def _phrase(given: Sequence[str], link: str, verb: str, *, first: bool) -> tuple[_Phrase | None, bool]:
    """A noun phrase without the verb before it and the adverbs and numbers around it; whether its end was trimmed."""
    words = list(given)
    if first or link in ("to", "and"):
        while words and _is_adverb(words[0]):
            words.pop(0)
        if words and _is_opener(words[0]):
            verb, link = words.pop(0), ""
    while words and _ODD.fullmatch(words[0]):
        words.pop(0)
        link = ""
    whole = len(words)
    while words and _is_trailing(words):
        words.pop()
    phrase = _Phrase(link=link, verb=verb, words=tuple(words)) if words else None
    return phrase, len(words) < whole


def _is_trailing(words: Sequence[str]) -> bool:
    """Whether the last word belongs to what follows ("based on"), or says nothing as a name."""
    if _ODD.fullmatch(words[-1]):
        return not (len(words) > 1 and _VERSION.fullmatch(words[-1]))
    return bool(_TRAILING.fullmatch(words[-1]))


def _is_adverb(word: str) -> bool:
    return (word.islower() and len(word) > 4 and word.endswith("ly")) or word.lower() in ("better", "further")


@cache
def _is_opener(word: str) -> bool:
    """Whether a word, in any of its forms, is a verb with which requests begin."""
    low = word.lower()
    return low in _OPENERS or any(
        low.endswith(ending) and any(base in _OPENERS for base in _bases(low.removesuffix(ending)))
        for ending in ("s", "es", "d", "ed", "ing", "ied")
    )


def _bases(cut: str) -> tuple[str, ...]:
    return cut, f"{cut}e", f"{cut}y", cut[:-1] if cut[-2:-1] == cut[-1:] else cut
