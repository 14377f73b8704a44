"""A short rule in a form that can be compared: its words with their signs, their order, and its quantities.

"Use the logger rather than print" affirms `logger` and rejects `print`; "never print" rejects `print`; "lint before
pushing" puts `lint` before `push`; "30 s" and "30 seconds" are one quantity; "never A unless B" is "only A if B". The
result is compared, never shown. Which words mean the same is decided in `text/lexicon`, and what two statements mean to
each other in `text/compare`.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from recollect.text.lexicon import base_forms, qualifying, stem_of, weak_stems, words_of
from recollect.text.patterns import lazy
from recollect.text.sentences import split_sentences

_SPELLINGS = (("won't", "will not"), ("can't", "can not"), ("cannot", "can not"), ("n't", " not"), ("no longer", "not"))

_TURN = r"(?:turn|switch)(?:ed|s)?\s+"
_SWITCH = lazy(rf"\b(?:{_TURN})?(on|off)(?=\s*(?:$|[.,;!]|by default))|\b{_TURN}(on|off)\b")
# Verb and particle are one word as a noun. "in" and "on" are prepositions too often.
_PARTICLE = lazy(
    r"\b(roll|fall|back|time|check|log|sign|set|clean|look|start|warm|shut|fail|take|hand|opt)"
    r"(?:s|ed|p?ing)? (back|off|out|up|down|over)\b"
)
_NEVER = r"\b(?:do not|must not|may not|can not|should not|never)\b"
_FORMS = (
    (lazy(r"\b(?:pull|merge)[ -]request"), "pr"),
    (lazy(r"\b(?:nobody|no one|none) (?:but|except)\b"), "only"),
    (lazy(r"\b(?:restricted to|limited to(?! \d)|reserved for|exclusively|solely)\b"), "only"),
    (lazy(rf"{_NEVER}([^,;]*?)\bunless\b"), r"only\1if"),
    # "Never A until B" puts B first, as "B before A" and "A only after B" do.
    (lazy(rf"{_NEVER}([^,;]*?)\b(?:before|until)\b"), r"\1 after"),
    (lazy(r"\bonly (?=after\b|once\b)"), ""),
    (lazy(r"\b(?:over|more than)(?= \d)"), "above"),
    (lazy(r"\b(?:no more than|up to|at most)(?= \d)"), "under"),
    (lazy(r"\bdaily(?=\s*(?:$|[.,;]))"), "every day"),
    (lazy(r"\b(hour|week|month|year)ly(?=\s*(?:$|[.,;]))"), r"every \1"),
    (_PARTICLE, r"\1\2"),
)


def one_phrasing(text: str) -> str:
    """The text in lower case, in the form that others with the same meaning come out in too."""
    plain = text.replace("\u2019", "'").lower()
    for short, full in _SPELLINGS:
        plain = plain.replace(short, full)
    for form, instead in _FORMS:
        plain = form.sub(instead, plain)
    return _SWITCH.sub(lambda match: "enabled" if "on" in match.groups() else "disabled", plain)


Quantity = tuple[str, str]  # dimension, value in the dimension's base unit

_NUMBER = lazy(r"(?<![\w./-])v?(\d+(?:[.,]\d+)*)\s?(%|[a-z]+)?(?![\w/-])", re.ASCII)
# A number that only names one of several is no quantity: "phase 2", "node pool 1", "the v1 endpoint".
_LABEL = lazy(
    r"\b(phase|stage|step|part|chapter|section|appendix|pool|tier|layer|shard|replica|partition|zone|region|cluster|rack"
    r"|sprint|milestone|option|figure|table|case|ticket|wave|lane|slot|bucket|environment|site|group|team|node|server|host"
    r"|worker|queue|rule|question|scenario|variant|plan)s?\s+(\d+[a-z]?)\b(?![.%\w])"
)
_VERSIONED = lazy(r"\bv(\d+(?:\.\d+)*)\s+(?=(?:endpoint|api|route|schema|client|server|format|protocol|contract)s?\b)")
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


def take_quantities(text: str) -> tuple[frozenset[Quantity], str]:
    """The quantities of a lower-case text, and the text without them (a counted noun stays: "40 lines")."""
    found: set[Quantity] = set()

    def number(match: re.Match[str]) -> str:
        digits, unit = match[1].replace(",", ""), match[2] or ""
        dimension, factor = _FACTORS.get(unit, ("count", 1))
        # Without a unit it may be a version, where 3.1 is not 3.10.
        measured = dimension != "count" and digits.count(".") < 2
        found.add((dimension, f"{float(digits) * factor:g}" if measured else digits))
        return " " if unit in _FACTORS else f" {unit} "

    def day(match: re.Match[str]) -> str:
        found.add(("weekday", match[1]))
        return " "

    plain = _ONE.sub(r"1 \1", _NUMBER_WORD.sub(lambda match: _VALUES[match[1]], text))
    plain = _VERSIONED.sub(r"v_\1 ", _LABEL.sub(r"\1_\2", plain))
    rest = _DAY.sub(day, _NUMBER.sub(number, plain))
    return frozenset(found), rest


# A rule is short. The bounds keep the cost of a text that is none linear.
TEXT_LIMIT = 50_000
SENTENCE_LIMIT = 1_000
SENTENCES = 200

_CLAUSE_END = lazy(r"\s*;\s*|:\s+|,?\s+but\s+|\s+[—–-]\s+")
_NEGATIVE_IMPERATIVE = lazy(r"^(?:do not|never|avoid)\b([^,]*),\s+(?!and\b|or\b|even\b|if\b|when\b|unless\b)(.*)$")
_PRONOUN = lazy(r"\b(?:it|them|they)\b")

_NEGATION = lazy(
    r"\b(?:not|never|no|none|neither|nothing|nobody|out of|outside(?: of)?|avoid(?:s|ing|ed)?|prevent(?:s|ing|ed)?"
    r"|forbid(?:s|den)?|prohibit(?:s|ed)?|disallow(?:s|ed)?|bann?(?:s|ed)?|den(?:y|ies|ied)|refuses?|stop(?:s|ped)?"
    r"|(?:optional|unnecessary)(?:,? (?:and )?(?:never|not))?)\b"
)
# "X rather than Y for Z": Y ends where what both share begins.
_REJECTED = lazy(
    r"(?:\binstead of\b|\brather than\b|\bas opposed to\b|\bwithout\b|, not\b|\bin place of\b)"
    r"(?: (?:in|into|inside|on|at|for|by|with|from|to|during)\b)?(.*?)"
    r"(?=\s(?:for|in|on|when|at|during|if|unless|because)\s|[,;]|$)"
)
_REPLACED = lazy(r"\breplac(?:e|es|ed|ing)\b(.*?)\b(?:with|by)\b")
_PREFERRED = lazy(
    r"\b(?:prefer(?:s|red)?|favou?r(?:s|ed)?|choose)\b(.*?)\b(?:over|to)\b(.*?)"
    r"(?=\s(?:for|in|on|when|at|during|if|unless|because)\s|[,;]|$)"
)
# One look for the word that each of those forms needs: most clauses have none.
_REJECTS = lazy(r"instead of|rather than|as opposed to|without|, not|in place of|replac|prefer|favou?r|choose")
_SUBJECT = lazy(r"(.*?)\b(?:may|must|can|should|shall|will|is|are|do|does|need|needs|has|have)\b")
_CONJUNCTION = r"\b(?:when|if|before|after|once|while|unless|because)\b"
_SUBORDINATE = lazy(rf"^{_CONJUNCTION}[^,]*,|{_CONJUNCTION}.*$")
_DONE = lazy(
    r"\b(?:is|are|be|been|gets?|must|should|shall|can|may|will|do|to)\s+(?:not |never |only |always |also |be )*(\w+)"
)
_ORDERS = lazy(r"before|after|once|then|prior to")
_IN_ORDER = (
    lazy(r"^(?:before)\b(?P<later>[^,]*),(?P<earlier>.*)$"),
    lazy(r"^(?:after|once)\b(?P<earlier>[^,]*),(?P<later>.*)$"),
    lazy(r"^(?P<earlier>.*?),?\s+first,?\s+(?:and\s+)?then\b(?P<later>.*)$"),
    lazy(r"^first,?(?P<earlier>.*?),?\s+then\b(?P<later>.*)$"),
    lazy(r"^(?P<earlier>.*?)\b(?:before|prior to)\b(?P<later>.*)$"),
    lazy(r"^(?P<later>.*?)\b(?:after|only once)\b(?P<earlier>.*)$"),
)


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One sentence. A sign is +1 for an affirmed word, -1 for a rejected one, 0 for one that is both."""

    signs: dict[str, int]
    forms: dict[str, str]  # stem → the word as written
    scoped: frozenset[str]  # stems of a part that is rejected on its own: "rather than …", "without …"
    negated: bool  # the sentence as a whole is a negation
    earlier: frozenset[str]
    later: frozenset[str]
    quantities: frozenset[Quantity]
    qualifying: frozenset[tuple[str, str]]  # see `rule_words.qualifying`
    subject: frozenset[str]  # the stems before its first auxiliary verb
    actions: frozenset[str]  # the stems of what is done: the verb of an order, or the one after "must" or "is"

    @cached_property
    def words(self) -> frozenset[str]:
        """The stems that tell one statement from another."""
        return frozenset(self.signs) - weak_stems()

    @cached_property
    def bases(self) -> frozenset[str]:
        """The dictionary forms that its words may come from."""
        return frozenset[str]().union(*map(base_forms, self.forms.values()))


@lru_cache(maxsize=1024)
def statements(text: str) -> tuple[Statement, ...]:
    """The sentences of a text that say anything, in order."""
    plain = one_phrasing(text[:TEXT_LIMIT])
    read = (_read(part[:SENTENCE_LIMIT].strip(" .!?-*#>\t\r")) for part in sentences(plain))
    return tuple(one for one in read if one.signs or one.quantities)


def sentences(text: str) -> list[str]:
    """A rule's sentences, ended by a mark or a line; no more than a rule has."""
    return [part for line in text.split("\n") for part in split_sentences(line, lower_case=True)][:SENTENCES]


@lru_cache(maxsize=4096)
def _read(sentence: str) -> Statement:
    quantities, rest = take_quantities(sentence)
    signs: dict[str, int] = {}
    forms: dict[str, str] = {}
    scoped: set[str] = set()
    clause_signs: list[int] = []
    objects: list[str] = []
    for clause in _clauses(rest):
        affirmed, rejected = _split_rejected(clause)
        sign = -1 if len(_NEGATION.findall(affirmed)) % 2 else 1
        if _PRONOUN.search(clause):
            # "Don't skip flaky tests; fix them": the tests are neither rejected nor affirmed.
            signs.update(dict.fromkeys(objects, 0))
        for part, part_sign in ((affirmed, sign), (rejected, -sign)):
            for word in words_of(_NEGATION.sub(" ", part)):
                stem = stem_of(word)
                signs[stem] = part_sign if signs.get(stem, part_sign) == part_sign else 0
                forms.setdefault(stem, word)
        scoped.update(stem_of(word) for word in words_of(rejected))
        clause_signs.append(sign)
        objects = [stem_of(word) for word in words_of(_NEGATION.sub(" ", affirmed))[1:]]
    if len(set(clause_signs)) > 1:
        scoped.update(stem for stem, sign in signs.items() if sign < 0)
    earlier, later = _order(rest)
    return Statement(
        signs=signs,
        forms=forms,
        scoped=frozenset(scoped),
        negated=bool(clause_signs) and all(sign < 0 for sign in clause_signs),
        earlier=earlier - later,
        later=later - earlier,
        quantities=quantities,
        qualifying=qualifying(rest),
        subject=frozenset(map(stem_of, words_of(spoken[1]))) if (spoken := _SUBJECT.match(rest)) else frozenset(),
        actions=_actions(rest),
    )


def _actions(sentence: str) -> frozenset[str]:
    main = _SUBORDINATE.sub("", sentence)
    done = [*words_of(main)[:1], *_DONE.findall(main)]
    return frozenset(stem_of(word) for action in done for word in words_of(action))


def _clauses(sentence: str) -> list[str]:
    clauses = []
    for clause in _CLAUSE_END.split(sentence):
        imperative = _NEGATIVE_IMPERATIVE.match(clause)
        clauses += ["not " + imperative[1], imperative[2]] if imperative else [clause]
    return [clause for clause in clauses if clause.strip()]


def _split_rejected(clause: str) -> tuple[str, str]:
    """The clause without the parts it rejects in favour of something else, and those parts."""
    rejected: list[str] = []

    def put_aside(match: re.Match[str]) -> str:
        rejected.append(match[match.lastindex or 1])
        return match[1] + " " if match.lastindex == 2 else " "

    if _REJECTS.search(clause):
        for form in (_PREFERRED, _REPLACED, _REJECTED):
            clause = form.sub(put_aside, clause)
    return clause, " ".join(rejected)


def _order(sentence: str) -> tuple[frozenset[str], frozenset[str]]:
    for form in _IN_ORDER if _ORDERS.search(sentence) else ():
        if match := form.match(sentence):
            return (
                frozenset(map(stem_of, words_of(match["earlier"]))),
                frozenset(map(stem_of, words_of(match["later"]))),
            )
    return frozenset(), frozenset()
