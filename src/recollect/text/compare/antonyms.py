"""Are two words opposites? WordNet's antonym pairs, a few that engineers use, and opposite affixes.

Knows nothing about sentences: negation and scope belong to `statement`. The pairs are read on first use, so
importing this module costs nothing.
"""

import json
from functools import cache
from importlib.resources import files

from recollect.text.compare.thesaurus import IRREGULAR

_ENGINEERS_OPPOSITES = """
above under            acquire release        add remove             append overwrite       approve reject
before after           block ignore           commit rollback        create delete          eager lazy
eagerly lazily         exceed below           exceed under           fixed flexible         forever temporary
grant revoke           grow shrink            hold release           include omit           inline extract
join leave             keep delete            keep discard           keep drop              keep remove
load unload            longer below           longer under           mandatory optional     manually automatically
merge split            mock real              optional require       optional required      parallel sequential
pause resume           pin float              preserve delete        preserve discard       retain delete
retain discard         static dynamic         store delete           strict lax             strict lenient
sync async             together separately    under over             utc local              verbose quiet
whitelist blacklist
"""
_NEGATIVE_PREFIXES = ("un", "in", "im", "ir", "il", "non", "dis", "a", "de", "mis")


def opposite(one: str, other: str) -> bool:
    """True when the two words, in any inflection, mean the opposite of each other."""
    forms = base_forms(other)
    return not _opposites(one).isdisjoint(forms) and base_forms(one).isdisjoint(forms)


def may_oppose(word: str, bases: frozenset[str]) -> bool:
    """Whether a word can have an opposite among words with these base forms at all: few do, and it is one look."""
    return not _opposites(word).isdisjoint(bases)


@cache
def _opposites(word: str) -> frozenset[str]:
    """Every base form that is the opposite of this word: comparing texts asks for many pairs of few words."""
    found: set[str] = set()
    for form in base_forms(word):
        found |= _pairs().get(form, frozenset())
        found |= _affixed(form)
    return frozenset(found)


@cache
def _pairs() -> dict[str, frozenset[str]]:
    text = files("recollect.text.compare").joinpath("data/antonyms.json").read_text("utf-8")
    pairs: dict[str, set[str]] = {}
    listed = [(left, right) for left, rights in json.loads(text).items() for right in rights]
    words = _ENGINEERS_OPPOSITES.split()
    for left, right in listed + list(zip(words[::2], words[1::2], strict=True)):
        pairs.setdefault(left, set()).add(right)
        pairs.setdefault(right, set()).add(left)
    return {word: frozenset(opposites) for word, opposites in pairs.items()}


def _affixed(form: str) -> set[str]:
    """`irreversible` for `reversible` and back, `stateless` for `stateful`; the rest must be a word of some length."""
    if form.endswith("ful"):
        return {form[:-3] + "less"}
    if form.endswith("less"):
        return {form[:-4] + "ful"}
    made = {prefix + form for prefix in _NEGATIVE_PREFIXES} if len(form) >= 5 else set()
    return made | {
        form.removeprefix(prefix)
        for prefix in _NEGATIVE_PREFIXES
        if form.startswith(prefix) and len(form) - len(prefix) >= 5
    }


@cache
def base_forms(word: str) -> frozenset[str]:
    """The dictionary forms a word may come from; wrong guesses do no harm, they are in no list."""
    word = word.replace("-", "")
    forms = {word}
    for ending in ("s", "es", "d", "ed", "ing", "ly"):
        if word.endswith(ending) and len(word) - len(ending) >= 2:
            stem = word[: -len(ending)]
            forms |= {stem, stem + "e"}
            if len(stem) > 3 and stem[-1] == stem[-2]:
                forms.add(stem[:-1])
    if word.endswith("ily"):
        forms.add(word[:-3] + "y")
    if word.endswith(("ies", "ied")):
        forms.add(word[:-3] + "y")
    return frozenset(forms | {IRREGULAR.get(word, word)})
