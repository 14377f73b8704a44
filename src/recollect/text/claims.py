"""What a text claims, in a form that can be compared.

An entry, a section or a learning is read into claims: a short text is one, a long one has a claim for each paragraph or
bullet, and each carries its heading, because the heading says what the rule is about. A heading alone claims nothing
unless it is a sentence. A claim's sentences are read into words with their stems, their quantities and their polarity:
"30 s" and "30 seconds" are one quantity, and "never" turns a sentence round. Also which words carry meaning and which
are opposites: WordNet's antonym pairs and a few that engineers use, read on first use. What two claims mean to each
other is decided in `text/compare`.
"""

import re
from collections.abc import Sequence
from functools import cache, cached_property, lru_cache

from recollect.core.records import record
from recollect.text.markdown import own_lines
from recollect.text.patterns import lazy
from recollect.text.sentences import split_sentences
from recollect.text.tokens import stem, written

CLAIM_CHARS = 420  # of one claim; the judge was trained on texts of up to 60 words
CLAIMS = 40  # of one text; a rule has few, and the bound keeps the cost of a text that is none linear
SENTENCE_LIMIT = 1_000  # characters
LEAST_WORDS = 3  # of a heading that is a sentence
_VERB = lazy(
    r"\b(?:is|are|was|be|has|have|must|may|can|cannot|should|shall|will|do|does|don't|doesn't|never|always|only|no|not"
    r"|use|run|keep|avoid|prefer|make|write|add|set|check|put|call|read|send|test|need|needs|require|requires|\w+s)\b"
)
_TOPIC = lazy(
    r"(?:when|while|if|before|after|how|where|why|on|for|about|notes?)\b|.*(?:\?|:)$|\w+ing\b(?!.*\b(?:is|are)\b)"
)
_ASIDE = lazy(
    r"(?:##[^\n]*\n)?[-*+\d.)\s]*[*_]*(?:evidence|examples?|rationale|why|context|background|sources?|related|triggers?"
    r"|anti-?patterns?|wrong|bad)\b[^:\n]{0,20}:",
    re.IGNORECASE,
)
_BULLET = lazy(r"\s*(?:[-*+]|\d+[.)])\s+")


@lru_cache(maxsize=4096)
def claims(title: str, body: str = "") -> tuple[str, ...]:
    """The claims of a text with a heading; none for a bare topic."""
    blocks = _blocks(body)
    if not blocks:
        return (title.strip(),) if is_sentence(title) else ()
    heading = f"## {title.strip()}\n" if title.strip() else ""
    made = [blocks[0]]
    whole = sum(map(len, blocks)) <= CLAIM_CHARS
    for block in blocks[1:]:
        if whole:
            made[-1] += f"\n{block}"
        else:
            made.append(block)
    return tuple(f"{heading}{block}" for block in made[:CLAIMS])


def is_sentence(heading: str) -> bool:
    """Whether a heading says something about its subject: "Never mock the database", not "When testing"."""
    plain = heading.strip().lower()
    return len(plain.split()) >= LEAST_WORDS and not _TOPIC.match(plain) and bool(_VERB.search(plain))


def rules_in(said: Sequence[str]) -> list[str]:
    """The claims that state a rule, without evidence, examples and what not to do; all of them where none does."""
    return [claim for claim in said if not _ASIDE.match(claim)] or list(said)


def _blocks(body: str) -> list[str]:
    """Paragraphs and bullets, in order, without headings, code and quotes."""
    found: list[str] = []
    fresh = True
    for line in own_lines(body):
        text = line.strip()
        if not text or text.startswith("#"):
            fresh = True
            continue
        if fresh or _BULLET.match(line):
            found.append(text)
        else:
            found[-1] += f" {text}"
        fresh = False
    return [block[: 2 * CLAIM_CHARS] for block in found]


def spoken(claim: str) -> str:
    """The rule of a claim on one line, for a person who has to choose: its heading where that is a sentence."""
    heading, _, body = claim.partition("\n")
    title = heading.lstrip("# ")
    return title if is_sentence(title) or not body else " ".join(body.split())


# Sentences

_SPELLINGS = (
    ("won't", "will not"),
    ("can't", "can not"),
    ("cannot", "can not"),
    ("n't", " not"),
    ("no longer", "not"),
    ("instead of", "over"),
    ("rather than", "over"),
    ("prior to", "before"),
)
_TURN = r"(?:turn|switch)(?:ed|s)?\s+"
_SWITCH = lazy(rf"\b(?:{_TURN})?(on|off)(?=\s*(?:$|[.,;!]|by default))|\b{_TURN}(on|off)\b")
_NEGATION = lazy(
    r"\b(?:not|never|no|none|neither|nothing|nobody|without|avoid(?:s|ing|ed)?|prevent(?:s|ing|ed)?|forbid(?:s|den)?|prohibit(?:s|ed)?"
    r"|bann(?:s|ed)?|refuses?|stop(?:s|ped)?|ended|ends|dropped|retired|cancelled|reverted)\b"
)
# Small words that change what a sentence says: "may", "some", "from". A repetition has the same ones.
_TELLING = frozenset(
    "may might could should some both either before after up out from to into within first once other another until"
    " if unless when while between than".split()
)
_HEDGE = lazy(
    r"\b(?:unless|except|only|until|without|over|out of|avoid\w*|prevent\w*|that|which|may|prefer"
    r"|before|after|ends|ended)\b|[;:,]"
)
_PASSIVE = lazy(r"\b(?:is|are|be|been|was|were)\s+(?:\w+ly )?\w+(?:ed|en|t)\s+by\b")
_CUE = lazy(
    r"\b(no longer|instead of|rather than|replac(?:es|ed|ing)|supersed(?:es|ed|ing)|deprecated|correction"
    r"|(?:switched|moved|migrated|changed) (?:to|from)|as of|from now on|anymore|used to|now(?! and then))\b"
)
_IN_ORDER = (
    lazy(r"^(?P<first>.*?)\bfirst\b.*?\bthen\b(?P<then>.*)$"),
    lazy(r"^before\b(?P<then>[^,]*),(?P<first>.*)$"),
    lazy(r"^(?:after|once)\b(?P<first>[^,]*),(?P<then>.*)$"),
    lazy(r"^(?P<first>.*?)\b(?:before|over)\b(?P<then>.*)$"),
    lazy(r"^(?P<then>.*?)\bafter\b(?P<first>.*)$"),
)

Quantity = tuple[str, str]  # dimension, value in the dimension's base unit

_NUMBER = lazy(r"(?<![\w./-])v?(\d+(?:[.,]\d+)*)\s?(%|[a-z]+)?(?![\w/-])", re.ASCII)
# A number that only names one of several is no quantity: "phase 2", "node pool 1", "the v1 endpoint".
_LABEL = lazy(
    r"\b(phase|stage|step|part|section|pool|tier|shard|zone|region|sprint|option|case|ticket|team|node|worker|queue|v)"
    r"s?\s?(\d+[a-z]?)\b(?![.%\w])"
)
_ONE = lazy(r"\b(?:an?|every|each|per) (second|minute|hour|day|week|month|year)\b")
_DAY = lazy(r"\b(mon|tues|wednes|thurs|fri|satur|sun)days?\b")
_NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve"
_NUMBER_WORD = lazy(rf"\b({_NUMBER_WORDS.replace(' ', '|')})\b(?=\s+\w)")
_VALUES = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split(" "), start=1)}
_UNITS: dict[str, dict[float, str]] = {
    "time": {
        0.001: "ms msec millisecond milliseconds",
        1: "s sec secs second seconds",
        60: "min mins minute minutes",
        3600: "h hr hrs hour hours",
        86400: "d day days",
        604800: "week weeks",
    },
    "bytes": {2**0: "byte bytes", 2**10: "k kb kib", 2**20: "mb mib", 2**30: "gb gib", 2**40: "tb tib"},
    "share": {1: "% percent pct"},
    "months": {1: "month months", 12: "year years"},
}
_FACTORS = {
    name: (dimension, factor)
    for dimension, factors in _UNITS.items()
    for factor, names in factors.items()
    for name in names.split()
}


@record
class Statement:
    """One sentence: its stems in order, with the word each was written as; and whether it denies."""

    forms: dict[str, str]
    negated: bool
    denied: frozenset[tuple[str, ...]]  # the words after its negations
    hedged: bool  # more than a plain sentence: what it denies is not clear
    passive: bool  # "X is done by Y"
    first: tuple[str, ...]  # what comes first, or is chosen; empty where the sentence orders nothing
    then: tuple[str, ...]
    telling: frozenset[str]
    cue: str  # what announces a change: "no longer", "as of", "now"
    prefers: bool  # `first` over `then`
    quantities: tuple[Quantity, ...]

    def rejects(self, other: "Statement") -> bool:
        """Whether it puts aside what the other says: "webhooks over polling" and "use polling"."""
        return self.prefers and not other.prefers and other.words <= frozenset(self.then) and not other.negated

    @cached_property
    def words(self) -> frozenset[str]:
        return frozenset(self.forms)

    @cached_property
    def bases(self) -> frozenset[str]:
        """The dictionary forms that its words may come from."""
        return frozenset[str]().union(*map(base_forms, self.forms.values()))


@lru_cache(maxsize=4096)
def statements(claim: str) -> tuple[Statement, ...]:
    """The sentences of a claim that say anything, in order; a heading over a body is none."""
    heading, _, body = claim.partition("\n")
    bare = body and heading.startswith("#") and not is_sentence(heading.lstrip("# "))
    parts = [part for line in (body if bare else claim).split("\n") for part in split_sentences(line, lower_case=True)][
        :CLAIMS
    ]
    read = (_read(part[:SENTENCE_LIMIT].strip(" .!?-*#>\t\r")) for part in parts)
    return tuple(one for one in read if one.forms or one.quantities)


@lru_cache(maxsize=4096)
def _read(sentence: str) -> Statement:
    plain = sentence.replace("\u2019", "'").lower()
    for short, full in _SPELLINGS:
        plain = plain.replace(short, full)
    plain = _SWITCH.sub(lambda match: "enabled" if "on" in match.groups() else "disabled", plain)
    quantities, rest = take_quantities(plain)
    denied = [tuple(_stems(rest[match.end() :]))[:1] for match in _NEGATION.finditer(rest)]
    rest = _NEGATION.sub(" ", rest)
    ordered = next((match for form in _IN_ORDER if (match := form.match(rest))), None)
    return Statement(
        forms=_stems(rest),
        negated=len(denied) % 2 == 1,
        denied=frozenset(denied),
        hedged=bool(_HEDGE.search(plain)),
        passive=bool(_PASSIVE.search(plain)),
        first=tuple(_stems(ordered["first"])) if ordered else (),
        then=tuple(_stems(ordered["then"])) if ordered else (),
        telling=_TELLING.intersection(plain.replace(",", " ").split()),
        cue=cue[1] if (cue := _CUE.search(sentence.lower())) else "",
        prefers=bool(ordered) and " over " in plain,
        quantities=quantities,
    )


def _stems(text: str) -> dict[str, str]:
    return {stem(word) if word.isalpha() else word: word for word in words_of(text)}


def take_quantities(text: str) -> tuple[tuple[Quantity, ...], str]:
    """The quantities of a lower-case text, and the text without them (a counted noun stays: "40 lines")."""
    found: list[Quantity] = []

    def number(match: re.Match[str]) -> str:
        digits, unit = match[1].replace(",", ""), match[2] or ""
        dimension, factor = _FACTORS.get(unit, ("count", 1))
        # Without a unit it may be a version, where 3.1 is not 3.10.
        measured = dimension != "count" and digits.count(".") < 2
        found.append((dimension, f"{float(digits) * factor:g}" if measured else digits))
        return " " if unit in _FACTORS else f" {unit} "

    def day(match: re.Match[str]) -> str:
        found.append(("weekday", match[1]))
        return " "

    plain = _ONE.sub(r"1 \1", _NUMBER_WORD.sub(lambda match: _VALUES[match[1]], text))
    rest = _DAY.sub(day, _NUMBER.sub(number, _LABEL.sub(r"\1_\2", plain)))
    return tuple(found), rest


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
    return [part for word in written(text) for part in _heavy_parts(word)]


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
retain discard         stateful stateless     static dynamic         store delete           strict lax
strict lenient         sync async             together separately    under over             utc local
verbose quiet          whitelist blacklist
"""


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
    return frozenset(other for form in base_forms(word) for other in _pairs().get(form, ()))


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
