"""The vocabulary of rules: which words carry meaning, and which are opposites.

Opposites are WordNet's antonym pairs, a few that engineers use, and opposite affixes; the list is read on first use.
Knows nothing about sentences: negation belongs to `text/claims`.
"""

from functools import cache, lru_cache

from recollect.text.patterns import lazy

_VERBS = """
begin began begun | break broke broken | bring brought | build built | buy bought | catch caught |
choose chose chosen | come came | draw drew drawn | drive drove driven | fall fell fallen | find found |
forget forgot forgotten | freeze froze frozen | get got gotten | give gave given | go went gone |
grow grew grown | hide hid hidden | hold held | keep kept | know knew known | lead led | leave left | lose lost |
make made | mean meant | meet met | pay paid | ride rode ridden | rise rose risen | run ran | say said |
see saw seen | seek sought | sell sold | send sent | shake shook shaken | show shown | sleep slept |
speak spoke spoken | spend spent | stand stood | steal stole stolen | take took taken | teach taught | tell told |
think thought | throw threw thrown | understand understood | wake woke woken | write wrote written
"""


IRREGULAR = {form: base for base, *forms in (group.split() for group in _VERBS.split("|")) for form in forms}


_WORD = lazy(r"[^\W_]+(?:['./:@_-]+[^\W_]+)*(?:\+\+|#)?")

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


def words_of(text: str) -> list[str]:
    """The words of a lower-case text that carry meaning, in order."""
    return [part for word in _WORD.findall(text) for part in _heavy_parts(word)]


@lru_cache(maxsize=16384)
def _heavy_parts(word: str) -> tuple[str, ...]:
    # "search-first" is two words, so that "case-insensitive" has an opposite; "os.path" and "third_party" are
    # names and stay whole.
    parts = word.removesuffix("'s").replace("non-", "non").split("-")
    return tuple(part for part in parts if part and part not in LIGHT)


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
        found.update(_pairs().get(form, ()))
        found |= _affixed(form)
    return frozenset(found)


@cache
def _pairs() -> dict[str, list[str]]:
    """Each word's opposites."""
    import json
    from pathlib import Path

    pairs: dict[str, list[str]] = json.loads((Path(__file__).parent / "data" / "antonyms.json").read_bytes())
    words = _ENGINEERS_OPPOSITES.split()
    for left, right in zip(words[::2], words[1::2], strict=True):
        pairs.setdefault(left, []).append(right)
        pairs.setdefault(right, []).append(left)
    return pairs


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
