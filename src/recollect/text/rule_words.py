"""The words of a rule: which carry meaning, which only narrow it, which mean the same.

Deliberately small and symmetric: a stem from here is only ever compared with another, never shown or stored.
"""

import re
from functools import lru_cache
from itertools import pairwise

from recollect.text.stem import stem

_WORD = re.compile(r"[^\W_]+(?:['./:@_-]+[^\W_]+)*(?:\+\+|#)?")
_TOKEN = re.compile(r"[\w./'-]+|,")
_ARTICLES = frozenset({"a", "an", "the"})
_PREPOSITIONS = frozenset({"at", "by", "during", "for", "from", "if", "in", "on", "unless", "when", "with"})
_QUALIFIERS = frozenset(
    {"except", "hardly", "off", "only", "partially", "rarely", "seldom", "sometimes", "unlike", "usually"}
)

# Grammar, and words that only say how strongly or how generally a rule holds.
_LIGHT = """
    a an the this that these those it its itself they them their there here we you your our us i he she
    his her is are was were be been being am do does did doing has have had having will would shall should
    must may might can could need needs needed to of in on at by for with from into onto as and or so than
    then that's while making around approximately roughly too also just very always ever all every each any some both either such which
    who whom whose whoever what when where how if because since per via about within inside up out over
    through during before after prior use uses used using prefer prefers preferred favour favours favor
    favors ensure ensures sure make makes please fine ok okay want get gets go goes let lets belong
    belongs live lives happen happens first once own other another value values statement statements
    guaranteed guarantee guarantees event events whenever wherever whichever until between across among along
    against toward towards upon though although however therefore already yet still even able got
"""
LIGHT = frozenset(_LIGHT.split())

# Verbs that say little beside their object. Their opposites matter ("keep", "drop"); their absence does not.
_WEAK = """
    keep require allow permit store save put add create give return send pass carry issue run have hold set
    take provide perform apply stay write come contain occur exist cause represent become
"""

# Nouns and adverbs so general that a rule says the same without them, where they narrow nothing.
_GENERAL = """
    system thing something way kind sort part item piece step process operation access code file data information
    clause expression construct mood instance number amount full whole entire possible new actual explicit
    currently simply again otherwise properly strictly person people user everyone problem moment
"""

_GROUPS = """
check verify confirm look validate | delete remove erase drop purge cleanup | manual hand | change edit modify alter update
several multiple many multi | repo repository | db database | env environment | dir directory folder
doc documentation document note | config configuration | call invoke | finish complete done end
short shorter under below less fewer smaller max maximum most | longer above exceed larger bigger greater min minimum least
fetch retrieve obtain load | suite test | big large huge | quick fast rapid | start begin launch boot | stop halt abort
store save put | ship deploy rollout | async asynchronous | sync synchronous | auth authentication authenticate
param parameter argument | expiry expire | straight direct | id identifier | var variable
keep retain retention preserve | embed embedding | temp temporary | require mandatory necessary compulsory obligatory
increase raise bump increment | decrease reduce lower decrement | limit cap restrict | free release | see view | beside next near
show display | choose pick select | fix repair resolve | attempt try | notify alert tell | run execute | reply answer respond
watch monitor | hide mask conceal | allow permit | contain include comprise | old stale outdated obsolete | small tiny little
missing absent | empty blank | same identical equal | wrong incorrect | concurrent parallel simultaneous
memory ram | email mail e-mail | bug defect | row record | endpoint route | person human somebody someone
engineer programmer | function method | image picture | info information | app application | lib library
admin administrator | spec specification | prod production | perf performance
crash panic | secret credential | ask request prompt | dangerous unsafe destructive
immediate instant | often frequent | approve permission consent authorize | expose reachable accessible | treat count consider regard
publish emit | protect guard | refresh reload | restart reboot | incident outage | flag toggle | main master trunk
latency delay | body payload | field attribute property | list array | map dict dictionary | path location | last latest newest recent
rollback revert undo | password passphrase | cost price expense | separate split divide | combine join
"""

_IRREGULAR_VERBS = """
begin began begun | break broke broken | bring brought | build built | buy bought | catch caught | choose chose chosen
come came | draw drew drawn | drive drove driven | fall fell fallen | find found | forget forgot forgotten | freeze froze frozen
get got gotten | give gave given | go went gone | grow grew grown | hide hid hidden | hold held | keep kept | know knew known
lead led | leave left | lose lost | make made | mean meant | meet met | pay paid | ride rode ridden | rise rose risen | run ran
say said | see saw seen | seek sought | sell sold | send sent | shake shook shaken | show shown | sleep slept | speak spoke spoken
spend spent | stand stood | steal stole stolen | take took taken | teach taught | tell told | think thought | throw threw thrown
understand understood | wake woke woken | write wrote written
"""
IRREGULAR = {
    form: group.split()[0]
    for line in _IRREGULAR_VERBS.strip().splitlines()
    for group in line.split("|")
    for form in group.split()[1:]
}
"""The base form of an irregular one."""
_BASES = {**IRREGULAR, "setting": "config", "settings": "config"}  # a setting is none of the forms of "set"
MANNER = 5  # letters from which an ending -ly makes an adverb: not in "apply"
_AMERICAN = {"is": "iz", "yse": "yze", "our": "or"}
_BRITISH = re.compile(r"(?<=\w{2})is(?=e$|es$|ed$|ing$|er$|ation$|ations$)|(?<=\w{2})yse(?=[sdr]?$)|(?<=\w{2}[lvnb])our(?=s?$|ed$|ing$)")


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
    for token in _TOKEN.findall(text):
        here = _stems(token)
        if left and here and before not in _ARTICLES:
            found.add((left[-1], here[0]))
        found.update(pairwise(here))
        if token not in _ARTICLES:
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


_SAME = {
    _root(word): _root(group.split()[0])
    for line in _GROUPS.strip().splitlines()
    for group in line.split("|")
    for word in group.split()
}
WEAK = frozenset(map(stem_of, _WEAK.split()))
GENERAL = frozenset(map(stem_of, _GENERAL.split()))
