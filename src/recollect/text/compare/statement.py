"""What a short rule says, in a form that can be compared: words, their signs, their order, its quantities.

"Use the logger rather than print" affirms `logger` and rejects `print`; "never print" rejects `print`; "lint
before pushing" puts `lint` before `push`; "30 s" and "30 seconds" are one quantity. Knows nothing about what
two statements mean to each other: that is `compare`.
"""

import re
from dataclasses import dataclass
from functools import cached_property, lru_cache

from recollect.text.compare.antonyms import base_forms
from recollect.text.compare.phrasing import one_phrasing
from recollect.text.compare.quantities import Quantity, take_quantities
from recollect.text.compare.rule_words import WEAK, qualifying, stem_of, words_of

# A rule is short. The bounds keep the cost of a text that is none linear.
TEXT_LIMIT = 50_000
SENTENCE_LIMIT = 1_000
SENTENCES = 200

_SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n+")
_CLAUSE_END = re.compile(r"\s*;\s*|:\s+|,?\s+but\s+|\s+[—–-]\s+")
_NEGATIVE_IMPERATIVE = re.compile(
    r"^(?:do not|never|avoid)\b([^,]*),\s+(?!and\b|or\b|even\b|if\b|when\b|unless\b)(.*)$"
)
_PRONOUN = re.compile(r"\b(?:it|them|they)\b")

_NEGATION = re.compile(
    r"\b(?:not|never|no|none|neither|nothing|nobody|out of|outside(?: of)?|avoid(?:s|ing|ed)?|prevent(?:s|ing|ed)?"
    r"|forbid(?:s|den)?|prohibit(?:s|ed)?|disallow(?:s|ed)?|bann?(?:s|ed)?|den(?:y|ies|ied)|refuses?|stop(?:s|ped)?"
    r"|(?:optional|unnecessary)(?:,? (?:and )?(?:never|not))?)\b"
)
# "X rather than Y for Z": Y ends where what both share begins.
_REJECTED = re.compile(
    r"(?:\binstead of\b|\brather than\b|\bas opposed to\b|\bwithout\b|, not\b|\bin place of\b)"
    r"(?: (?:in|into|inside|on|at|for|by|with|from|to|during)\b)?(.*?)"
    r"(?=\s(?:for|in|on|when|at|during|if|unless|because)\s|[,;]|$)"
)
_REPLACED = re.compile(r"\breplac(?:e|es|ed|ing)\b(.*?)\b(?:with|by)\b")
_PREFERRED = re.compile(
    r"\b(?:prefer(?:s|red)?|favou?r(?:s|ed)?|choose)\b(.*?)\b(?:over|to)\b(.*?)"
    r"(?=\s(?:for|in|on|when|at|during|if|unless|because)\s|[,;]|$)"
)
# One look for the word that each of those forms needs: most clauses have none.
_REJECTS = re.compile(r"instead of|rather than|as opposed to|without|, not|in place of|replac|prefer|favou?r|choose")
_SUBJECT = re.compile(r"(.*?)\b(?:may|must|can|should|shall|will|is|are|do|does|need|needs|has|have)\b")
_CONJUNCTION = r"\b(?:when|if|before|after|once|while|unless|because)\b"
_SUBORDINATE = re.compile(rf"^{_CONJUNCTION}[^,]*,|{_CONJUNCTION}.*$")
_DONE = re.compile(
    r"\b(?:is|are|be|been|gets?|must|should|shall|can|may|will|do|to)\s+(?:not |never |only |always |also |be )*(\w+)"
)
_ORDERS = re.compile(r"before|after|once|then|prior to")
_IN_ORDER = (
    re.compile(r"^(?:before)\b(?P<later>[^,]*),(?P<earlier>.*)$"),
    re.compile(r"^(?:after|once)\b(?P<earlier>[^,]*),(?P<later>.*)$"),
    re.compile(r"^(?P<earlier>.*?),?\s+first,?\s+(?:and\s+)?then\b(?P<later>.*)$"),
    re.compile(r"^first,?(?P<earlier>.*?),?\s+then\b(?P<later>.*)$"),
    re.compile(r"^(?P<earlier>.*?)\b(?:before|prior to)\b(?P<later>.*)$"),
    re.compile(r"^(?P<later>.*?)\b(?:after|only once)\b(?P<earlier>.*)$"),
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
        return frozenset(self.signs) - WEAK

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
    return _SENTENCE_END.split(text, maxsplit=SENTENCES)[:SENTENCES]


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
