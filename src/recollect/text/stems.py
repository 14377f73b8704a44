"""Words down to what comparing needs: which carry meaning in a rule, their stems, some same-meaning ones.

Deliberately small and symmetric: a stem is only ever compared with another stem, never shown or stored.
"""

import re
from functools import lru_cache

_WORD = re.compile(r"[^\W_]+(?:['./:@_-]+[^\W_]+)*(?:\+\+|#)?")

# Grammar, and words that only say how strongly or how generally a rule holds.
_LIGHT = """
    a an the this that these those it its itself they them their there here we you your our us i he she
    his her is are was were be been being am do does did doing has have had having will would shall should
    must may might can could need needs needed to of in on at by for with from into onto as and or so than
    then that's while making too also just very always ever all every each any some both either such which
    who whom whose whoever what when where how if because since per via about within inside up out over
    through during before after prior use uses used using prefer prefers preferred favour favours favor
    favors ensure ensures sure make makes please allow allows allowed permit permits permitted fine ok
    okay want get gets go goes let lets belong belongs live lives happen happens first require requires
    required once own other another value values statement statements guaranteed guarantee guarantees keep
    keeps kept event events
"""
LIGHT = frozenset(_LIGHT.split())

_GROUPS = """
check verify confirm | delete remove erase | manually hand | change edit modify alter | several multiple many
repo repository | db database | env environment | dir directory folder | doc documentation
config configuration setting | short shorter under below less fewer | longer above exceed | max maximum most
min minimum least | call invoke | finish complete | fetch retrieve | suite test | big large | quick fast
store save put | start begin | ship deploy | async asynchronous | sync synchronous | auth authentication
param parameter argument | expiry expire | silent silently | id identifier | var variable
"""


def words_of(text: str) -> list[str]:
    """The words of a lower-case text that carry meaning, in order."""
    return [
        part
        for word in _WORD.findall(text)
        for part in _split_compound(word.removesuffix("'s"))
        if part not in LIGHT
    ]


def _split_compound(word: str) -> list[str]:
    # "search-first" is two words, so that "case-insensitive" has an opposite; "os.path" and "third_party" are
    # names and stay whole.
    return [part for part in word.replace("non-", "non").split("-") if part]


@lru_cache(maxsize=16384)
def stem_of(word: str) -> str:
    stem = _strip(word)
    return _SAME.get(stem, stem)


def _strip(word: str) -> str:
    if len(word) < 4 or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        word = word[:-3] + "y"
    elif word.endswith(("sses", "shes", "ches", "xes", "zes")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        bare = word[: -len(ending)]
        if word.endswith(ending) and word not in _NOT_INFLECTED and _VOWEL.search(bare) and len(bare) > 2:
            word = bare[:-1] if bare[-1] == bare[-2] and bare[-1] not in "ls" else bare
            break
    if len(word) > 3 and word[-1] in "ey" and word[-2] not in "aeiou":
        word = word[:-1]
    return word


_VOWEL = re.compile("[aeiouy]")
_NOT_INFLECTED = frozenset(
    {"embed", "need", "speed", "feed", "exceed", "proceed", "shed", "string", "during"}
)
_SAME = {
    _strip(word): _strip(group.split()[0])
    for line in _GROUPS.splitlines()
    for group in line.split("|")
    for word in group.split()
}
