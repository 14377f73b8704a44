"""The words of a rule: which carry meaning, which only narrow it, and the stem that words of one meaning share.

Deliberately small and symmetric: a stem from here is only ever compared with another, never shown or stored.
"""

import re
from functools import lru_cache
from itertools import pairwise

from recollect.text.compare.thesaurus import IRREGULAR, SYNONYMS
from recollect.text.stem import stem

_WORD = re.compile(r"[^\W_]+(?:['./:@_-]+[^\W_]+)*(?:\+\+|#)?")
TOKEN = re.compile(r"[\w./'-]+|,")
ARTICLES = frozenset({"a", "an", "the"})
_PREPOSITIONS = frozenset("after at before by during for from if in on once per unless until when while with".split())
_QUALIFIERS = frozenset(
    {"except", "hardly", "off", "only", "partially", "rarely", "seldom", "sometimes", "unlike", "usually"}
)

# Grammar, and words that only say how strongly or how generally a rule holds.
_LIGHT = """
    a an the this that these those it its itself they them their there here we you your our us i he she
    his her is are was were be been being am do does did doing has have had having will would shall should
    must may might can could need needs needed to of in on at by for with from into onto as and or so than
    then that's while making too also just very always ever all every each any some both either such which
    around approximately roughly who whom whose whoever what when where how if because since per via about
    within inside up out over
    through during before after prior use uses used using prefer prefers preferred favour favours favor
    favors ensure ensures sure make makes please fine ok okay want get gets go goes let lets belong
    belongs live lives happen happens first once own other another value values statement statements
    guaranteed guarantee guarantees event events whenever wherever whichever until between across among along
    against toward towards upon though although however therefore already yet still even able got
"""
LIGHT = frozenset(_LIGHT.split())

# Verbs that say little beside their object. Their opposites matter ("keep", "drop"); their absence does not.
WEAK_VERBS = tuple(
    """
    keep require allow permit store save put add create give return send pass carry issue run have hold set
    take provide perform apply stay
    """.split()
)
_WEAK_IN_A_PAIR = "write come contain occur exist cause represent become".split()

# Nouns and adverbs so general that a rule says the same without them, where they narrow nothing.
_GENERAL = """
    system thing something way kind sort part item piece step process operation access code file data information
    clause expression construct mood instance number amount full whole entire possible new actual explicit
    currently simply again otherwise properly strictly person people user everyone problem moment
"""

_BASES = {**IRREGULAR, "setting": "config", "settings": "config"}  # a setting is none of the forms of "set"
MANNER = 5  # letters from which an ending -ly makes an adverb: not in "apply"
_AMERICAN = {"is": "iz", "yse": "yze", "our": "or"}
_BRITISH = re.compile(
    r"(?<=\w{2})is(?=e$|es$|ed$|ing$|er$|ation$|ations$)|(?<=\w{2})yse(?=[sdr]?$)|(?<=\w{2}[lvnb])our(?=s?$|ed$|ing$)"
)


def words_of(text: str) -> list[str]:
    """The words of a lower-case text that carry meaning, in order."""
    return [part for word in _WORD.findall(text) for part in _heavy_parts(word)]


def qualifying(text: str) -> frozenset[tuple[str, str]]:
    """Stems that narrow what a lower-case text is about, each with the stem it stands before ("" for none).

    "admin API" gives (admin, api); "in tests" gives (test, ""), and so does a word such as "only".
    """
    found: set[tuple[str, str]] = set()
    before = ""
    left: tuple[str, ...] = ()  # the stems of the token before
    spoken = ""  # the one before that is no article
    for token in TOKEN.findall(text):
        here = _stems(token)
        if left and here and before not in ARTICLES:
            found.add((left[-1], here[0]))
        found.update(pairwise(here))
        if token not in ARTICLES:
            if spoken in _PREPOSITIONS or token in _QUALIFIERS:
                found.update((stem, "") for stem in here)
            spoken = token
        before, left = token, here
    return frozenset(found)


@lru_cache(maxsize=16384)
def _stems(token: str) -> tuple[str, ...]:
    return tuple(map(stem_of, words_of(token)))


@lru_cache(maxsize=16384)
def _heavy_parts(word: str) -> tuple[str, ...]:
    # "search-first" is two words, so that "case-insensitive" has an opposite; "os.path" and "third_party" are
    # names and stay whole.
    parts = word.removesuffix("'s").replace("non-", "non").split("-")
    return tuple(part for part in parts if part and part not in LIGHT)


@lru_cache(maxsize=16384)
def stem_of(word: str) -> str:
    root = _root(word)
    return _SAME.get(root, root)


def _root(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    word = _BRITISH.sub(lambda match: _AMERICAN[match[0]], _BASES.get(word, word))
    return stem(word[:-2] if word.endswith("ly") and len(word) > MANNER else word)


_SAME = {_root(word): _root(group[0]) for group in SYNONYMS for word in group}
WEAK = frozenset(map(stem_of, (*WEAK_VERBS, *_WEAK_IN_A_PAIR)))
GENERAL = frozenset(map(stem_of, _GENERAL.split()))
