"""The vocabulary of rules: which words carry meaning, which mean the same, and which are opposites.

Deliberately small and symmetric. Synonyms are pairs where one can replace the other in nearly every rule; names of
things to choose between ("main", "master") are never synonyms. Opposites are WordNet's antonym pairs, a few that
engineers use, and opposite affixes. Stems from here are compared with each other, never shown or stored. Word lists are
read and stemmed on first use. Knows nothing about sentences: negation and scope belong to `text/statement`.
"""

from functools import cache, lru_cache
from itertools import pairwise

from recollect.text.patterns import lazy
from recollect.text.tokens import stem

_GROUPS = """
admin administrator | allow permit | app application | approve permission consent authorize | ask request prompt |
async asynchronous | attempt try | auth authentication | beside next near | big large huge |
body payload | bug defect | call invoke | change edit modify alter update | check verify confirm look validate |
choose pick select | combine join | concurrent parallel simultaneous | config configuration |
contain include comprise | crash panic | dangerous unsafe destructive | db database |
decrease reduce lower decrement | delete remove erase drop purge cleanup | dir directory folder |
doc document note | email mail e-mail | embed embedding | empty blank | endpoint route |
engineer programmer | env environment | expiry expire | expose reachable accessible | fetch retrieve obtain load |
field attribute property | finish complete done end | fix repair resolve | flag toggle | free release |
function method | hide mask conceal | id identifier | image picture | immediate instant | incident outage |
increase raise bump increment | info information | keep retain retention preserve | last latest newest recent |
latency delay | lib library | limit cap restrict | list array |
longer above exceed larger bigger greater min minimum least | manual hand | map dict dictionary | memory ram |
missing absent | notify alert tell | often frequent | old stale outdated obsolete | param parameter argument |
password passphrase | path location | perf performance | person human somebody someone | prod production |
protect guard | publish emit | quick fast rapid | refresh reload | reply answer respond | repo repository |
require mandatory necessary compulsory obligatory | restart reboot | rollback revert undo | row record |
run execute | same identical equal | secret credential | see view | separate split divide |
several multiple many multi | ship deploy rollout |
short shorter under below less fewer smaller max maximum most | show display | small tiny little |
spec specification | start begin launch boot | stop halt abort | store save put | straight direct | suite test |
sync synchronous | temp temporary | treat consider regard | var variable | watch monitor | wrong incorrect
"""
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


def _split(groups: str) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(group.split()) for group in groups.split("|"))


IRREGULAR = {form: base for base, *forms in _split(_VERBS) for form in forms}


_WORD = lazy(r"[^\W_]+(?:['./:@_-]+[^\W_]+)*(?:\+\+|#)?")
TOKEN = lazy(r"[\w./'-]+|,")
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
_BRITISH = lazy(
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
    return _synonym_stems().get(root, root)


def _root(word: str) -> str:
    if not (word.isascii() and word.isalpha()):
        return word
    word = _BRITISH.sub(lambda match: _AMERICAN[match[0]], _BASES.get(word, word))
    return stem(word[:-2] if word.endswith("ly") and len(word) > MANNER else word)


@cache
def _synonym_stems() -> dict[str, str]:
    """The stem of every synonym, with the one that stands for its group."""
    return {_root(word): _root(group[0]) for group in _split(_GROUPS) for word in group}


@cache
def weak_stems() -> frozenset[str]:
    """The stems of verbs that say little beside their object."""
    return frozenset(map(stem_of, (*WEAK_VERBS, *_WEAK_IN_A_PAIR)))


@cache
def general_stems() -> frozenset[str]:
    """The stems of words that a rule says the same without, where they narrow nothing."""
    return frozenset(map(stem_of, _GENERAL.split()))


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
    import json
    from importlib.resources import files

    text = files("recollect.text").joinpath("data/antonyms.json").read_text("utf-8")
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
