"""Words: how a text becomes search terms, and how many model tokens it will cost.

One tokeniser for both engines. It keeps what programmers search for: short names (Go, UI, C#), parts of camelCase and
snake_case words, path parts, version numbers; text without spaces (CJK) becomes pairs of characters.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from recollect.text.stem import stem

STOP_WORDS = frozenset(
    "a about after again all also am an and any are as at be because been before being between both but by can could "
    "did do does doing down during each few for from further had has have having he her here hers him his how i if in "
    "into is it its itself just me more most my no nor not now of off on once only or other our out over own same she "
    "should so some such than that the their them then there these they this those through to too under until up very "
    "was we were what when where which while who whom why will with would you your yours "
    "s t d ll m o re ve don didn doesn isn wasn aren won".split()
)

# As escapes: an editor that composes characters moves U+F900, and the range then takes in lone surrogates.
_CJK = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U000323af"
_ASCII_WORD = re.compile(
    r"[vV]?\d+(?:\.\d+)+|\.(?:NET|Net|net)\b|[A-Za-z0-9]+(?:_+[A-Za-z0-9]+)*(?:\+\+|#(?![A-Za-z0-9_]))?"
)
_HUMPS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[^\W\d_A-Z]+|[A-Z]+|\d+")
_CACHE_LIMIT = 200_000
_TERM_LIMIT = 64

_known: dict[str, tuple[str, ...]] = {}


def terms(text: str) -> list[str]:
    """The search terms of a text, in order, stop words left out. A compound gives itself and its parts."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    found: list[str] = []
    for word in words(text):
        made = _known.get(word)
        if made is None:
            made = _terms_of(word)
            if len(_known) < _CACHE_LIMIT and len(word) <= _TERM_LIMIT:
                _known[word] = made
        found += made
    return found


def words(text: str) -> list[str]:
    """The words of a text as written: what snippets and counts work on."""
    return _ASCII_WORD.findall(text) if text.isascii() else _any_word().findall(text)


def word_terms(word: str) -> tuple[str, ...]:
    """The terms one word as written stands for."""
    return tuple(terms(word))


def tokens(text: str) -> int:
    """What a text costs in a prompt: words / 0.75, where a CJK character is a word and a long word more than one."""
    if text.isascii():
        return max(-(-len(text.split()) * 4 // 3), len(text) // 6)
    wide = sum(len(run) for run in _cjk_run().findall(text))
    narrow = len(_cjk_run().sub(" ", text).split())
    return max(-(-(wide + narrow) * 4 // 3), (len(text) - wide) // 6 + wide)


@cache
def _any_word() -> re.Pattern[str]:
    """Compiled when first met: the wide character classes take longer than the rest of this module."""
    letter = rf"(?:(?![{_CJK}])[^\W_])"  # a word ends where text without spaces begins
    return re.compile(rf"[{_CJK}]+|[vV]?\d+(?:\.\d+)+|\.(?:NET|Net|net)\b|{letter}+(?:_+{letter}+)*(?:\+\+|#(?!\w))?")


@cache
def _cjk_run() -> re.Pattern[str]:
    return re.compile(rf"[{_CJK}]+")


def _terms_of(word: str) -> tuple[str, ...]:
    if not word.isascii() and _cjk_run().match(word):
        return tuple(word[i : i + 2] for i in range(len(word) - 1)) or (word,)
    whole = _plain(word)
    if "." in whole and whole[0] == "v":
        whole = whole[1:]
    made = [_stemmed(whole)] if whole not in STOP_WORDS else []
    parts = _HUMPS.findall(_without_accents(word))
    if len(parts) > 1 and "." not in whole:
        made += [_stemmed(part) for part in map(_plain, parts) if part not in STOP_WORDS]
    return tuple(dict.fromkeys(term[:_TERM_LIMIT] for term in made))


def _plain(word: str) -> str:
    """Lower case without accents."""
    return _without_accents(word.casefold())


def _without_accents(word: str) -> str:
    if word.isascii():
        return word
    return "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))


def _stemmed(word: str) -> str:
    return stem(word) if word.isascii() and word.isalpha() else word
