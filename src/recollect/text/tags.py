"""What a short technical text is about: tags that occur in it, and a domain from a small table.

Tags are only ever words of the text (a known short form is spelled out), best first: technologies, then identifiers
and acronyms, then the longest words of its first line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

from recollect.core.new_learning import TAG_LENGTH
from recollect.text.markdown import lazy
from recollect.text.tokens import STOP_WORDS, without_clauses, written

FEWEST_TAGS, MOST_TAGS = 2, 5  # tags of a text; chosen

_NAMES = (Path(__file__).parent / "data" / "technologies.txt").read_text("ascii").split()
_TECHNOLOGIES = frozenset(name for name in _NAMES if "=" not in name)
_SHORT_FORMS = dict(name.split("=") for name in _NAMES if "=" in name)
# Everyday words count as technologies only with a capital letter inside a sentence, or before a version number.
_EVERYDAY = frozenset("black c express gin go node oracle qt rest spark spring swift unity vault".split())


@cache
def _domains() -> tuple[list[str], dict[str, list[str]]]:
    """The domains, and for each word that speaks of some which they are; read on first use."""
    words: dict[str, str] = json.loads((Path(__file__).parent / "data" / "domains.json").read_bytes())
    found: dict[str, list[str]] = {}
    for name, said in words.items():
        for word in said.split():
            found.setdefault(word, []).append(name)
    return [*words], found


def _domains_of(word: str) -> Sequence[str]:
    """The domains that a word, or what it is the plural of, speaks of."""
    _, found = _domains()
    return found.get(word) or found.get(word.removesuffix("s")) or ()


_IDENTIFIER = lazy(
    r"[^\W\d]\w*(?:[_./:-]+\w+)+|--\w[\w-]*|/\w[\w/-]*"  # snake_case, a.b, a/b, --flag, /path
    r"|[A-Za-z]+[a-z0-9][A-Z]\w*|[A-Za-z]+\d+[a-z]\w*"  # camelCase, argon2id
)
_PLAIN_COMPOUND = lazy(r"[a-z]+(?:-[a-z]+)+", re.IGNORECASE)
_ACRONYM = lazy(r"[A-Z][A-Z0-9]+|[A-Z]+[a-z]?[A-Z]+")
_SHOUTED = frozenset("AND ALL ALWAYS ID IN IS MUST NEVER NOT OK ONLY OR TODO URI URL".split())
_EMPTY = STOP_WORDS | _EVERYDAY | frozenset(map(str.lower, _SHOUTED))
_ENOUGH_TAGS = 4  # chosen: with so many names, plain words add nothing


def tags(text: str, spare: Iterable[str] = ()) -> tuple[str, ...]:
    """Two to five tags out of the words of a text; `spare` helps out when the text has fewer."""
    found = list(_words(text))
    words = [word for word, _ in found]
    names = [
        *(word for word, opening in found if _is_technology(word, opening)),
        *(
            word
            for word in words
            if _IDENTIFIER.fullmatch(word) and not (_PLAIN_COMPOUND.fullmatch(word) and word.islower())
        ),
        *(word for word in words if _ACRONYM.fullmatch(word) and word not in _SHOUTED),
    ]
    chosen = _distinct(names)
    if len(chosen) < _ENOUGH_TAGS:
        plain = [word for word in words if len(word) > 3 and word.isalpha() and word.lower() not in _EMPTY]
        telling = [word for word in plain if _domains_of(word.lower())]
        likely_nouns = [word for word in plain if not word.lower().endswith(("ed", "ing", "ly", "es"))]
        likely_nouns.sort(key=len, reverse=True)
        chosen = _distinct([*chosen, *telling, *likely_nouns])[:_ENOUGH_TAGS]
    if len(chosen) < FEWEST_TAGS:
        chosen = _distinct([*chosen, *spare])[:FEWEST_TAGS]
    return tuple(chosen[:MOST_TAGS])


def domain(text: str, hints: str = "") -> str | None:
    """The domain most of the text's words speak of. Hints (the task's name) weigh half; no word, no domain."""
    scores = dict.fromkeys(_domains()[0], 0)
    for source, weight in ((text, 2), (hints, 1)):
        spoken = {
            part
            for word, opening in _words(source)
            for part in (word.lower(), *(re.split(r"[_./:-]+", word.lower()) if _IDENTIFIER.fullmatch(word) else []))
            if part not in _EVERYDAY or _is_technology(word, opening)
        }
        for part in spoken:
            for name in _domains_of(part):
                scores[name] += weight
    best = max(scores, key=lambda name: scores[name])
    return best if scores[best] else None


def _words(text: str) -> Iterator[tuple[str, bool]]:
    """Each word, and whether it is capitalised for no better reason than that a sentence begins."""
    first = True
    for piece, after in pairwise([*written(without_clauses(text), marks=True), ""]):
        if piece[-1].isalnum() or len(piece) > 1:
            yield piece, first and not after.isdigit()
            first = False
        elif piece in ".!?:":
            first = True


def _is_technology(word: str, opening: bool) -> bool:
    tag = _tag(word)
    return tag in _TECHNOLOGIES and (tag not in _EVERYDAY or (not opening and not word.islower()))


def _tag(word: str) -> str:
    return _SHORT_FORMS.get(word.lower(), word.lower())


def _distinct(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(tag for tag in map(_tag, words) if len(tag) <= TAG_LENGTH and tag.isprintable()))
