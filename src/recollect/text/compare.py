"""Three questions about two texts: does one repeat, contradict or supersede the other?

Each answer is `yes`, `unsure` or `no` with a reason and a score. `unsure` is for a person or a model to settle; nothing
here is certain enough to act on silently. Words alone are enough. The cosine of two embeddings, when the caller has
one, lets a paraphrase be recognised; it never decides alone, because "always do X" and "don't do X" have a cosine of
.96. Knows nothing about where the texts are stored, nor what is done with an answer.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Literal

from recollect.text.lexicon import ARTICLES, LIGHT, TOKEN, general_stems, may_oppose, opposite, stem_of, words_of
from recollect.text.patterns import lazy
from recollect.text.statement import Statement, sentences, statements

_EXCLUSIVE = """
tabs spaces | snake_case camelcase pascalcase | merge rebase squash | npm yarn pnpm | pip poetry pipenv
single-quotes double-quotes | monorepo polyrepo | optimistic pessimistic | rest graphql grpc
mysql postgresql sqlite | json yaml toml | crlf lf | utf-8 latin-1 | rem px
"""
_CHOICE = lazy(
    r"(?:always |please |we )?(?:use|prefer|choose|adopt|pick|indent with|format with|default to)\s+"
    r"(?P<what>.{1,60}?)(?:\s+(?P<purpose>(?:for|as|in|on|when|to|across|inside)\s.+))?"
)
_NOT_ALONE = lazy(r"\b(?:and|or|also|with|plus|not|no|never|only)\b|,|/")
MOST_WORDS = 2  # of the chosen thing: a longer phrase is a description, not a name


def opposed_choice(one: str, other: str) -> Literal["yes", "unsure", "no"]:
    """Whether two sentences choose different things for the same purpose."""
    choices = [_CHOICE.fullmatch(sentence.strip(" .!").lower()) for sentence in (one, other)]
    if not choices[0] or not choices[1]:
        return "no"
    whats = [choice["what"] for choice in choices if choice]
    purposes = [frozenset(map(stem_of, words_of(choice["purpose"] or ""))) for choice in choices if choice]
    if purposes[0] != purposes[1] or any(_NOT_ALONE.search(what) for what in whats):
        return "no"
    if _GROUP_OF.get(_name(whats[0]), 0) == _GROUP_OF.get(_name(whats[1]), 1) and _name(whats[0]) != _name(whats[1]):
        return "yes"
    named = [frozenset(map(stem_of, words_of(what))) for what in whats]
    short = all(1 <= len(words) <= MOST_WORDS for words in named)
    return "unsure" if purposes[0] and short and not named[0] & named[1] else "no"


def _name(what: str) -> str:
    return "-".join(word for word in what.split() if word not in ("the", "a", "an"))


_GROUP_OF = {
    name: number
    for number, group in enumerate(_EXCLUSIVE.replace("\n", " | ").split("|"), start=2)
    for name in group.split()
}


Answer = Literal["yes", "unsure", "no"]

SAME_WORDS = 0.8  # Dice overlap from which two texts without a conflict say the same
SAME_SUBJECT = 0.5  # … from which two sentences are about the same thing
CHOICE_SCORE = 0.6  # of two choices for one purpose: all but the chosen thing is the same
SAME_ACTION = 0.9  # … although another verb is used
SAME_MEANING = 0.79  # cosine from which other words may say the same

_CUE = lazy(
    r"\b(no longer|instead of|rather than|replac(?:es|ed|ing)|supersed(?:es|ed|ing)|deprecated|correction"
    r"|(?:switched|moved|migrated|changed) (?:to|from)|as of|from now on|anymore|used to|now)\b"
)
_SINGLE_VALUED = frozenset(
    "current default deadline entry home language lead maintainer name owner primary source timezone version".split()
)
_ASSIGNED = lazy(r"(?<=\w=)[^\s,;]*\w")
_PASSIVE = lazy(r"\b(?:is|are|be|been|was|were)\s+\w+(?:ed|en|t)\s+by\b")


@dataclass(frozen=True, kw_only=True)
class Comparison:
    answer: Answer
    reason: str
    score: float

    @property
    def holds(self) -> bool:
        return self.answer == "yes"

    @property
    def conflict(self) -> str:
        """What a person is told who has to settle it: that the two contradict each other, or may, and by what sign."""
        return f"they {'contradict' if self.holds else 'may contradict'} each other ({self.reason})"


def redundancy(one: str, other: str, *, cosine: float | None = None) -> Comparison:
    """Does neither text say anything that the other does not?"""
    if _normal(one) == _normal(other):
        return Comparison(answer="yes", reason="identical", score=1.0)
    whole = _Whole(one, other)
    score = round(max(whole.overlap, cosine or 0.0), 3)

    def answer(answer: Answer, reason: str) -> Comparison:
        return Comparison(answer=answer, reason=reason, score=score)

    if whole.conflict:
        return answer("no", f"conflict:{whole.conflict}")
    alike = cosine is not None and cosine >= SAME_MEANING
    if not whole.shared or not (alike or whole.overlap >= SAME_WORDS):
        return answer("no", "different words")
    if whole.quantities_differ:
        return answer("no", "different quantities")
    if _roles_swapped(one, other):
        return answer("unsure", "same words in other roles")
    if not whole.only_one and not whole.only_other:
        return answer("yes", "same words")
    if whole.other_action and (cosine or 0.0) < SAME_ACTION:
        return answer("unsure", "another action")
    if whole.only_one and whole.only_other:
        # Beside the same word it is a substitution: "store images" and "store metadata" are two rules.
        near = alike or max(len(whole.only_one), len(whole.only_other)) == 1
        if near and whole.both_reject and not _substituted(one, other, whole.only_one, whole.only_other):
            return answer("yes", "same meaning")
        return answer("unsure", "a word substituted")
    extra = whole.only_one | whole.only_other
    if not whole.both_reject or extra & whole.qualifying or len(extra) > 1 + len(whole.shared) // 20:
        return answer("unsure", "one says more")
    if alike or len(whole.shared) >= 2:
        return answer("yes", "nearly the same words")
    return answer("unsure", "one says more")


def contradiction(one: str, other: str) -> Comparison:
    """Can both not be followed at once?"""
    best = Comparison(answer="no", reason="no conflict", score=0.0)
    for pair in _Whole(one, other).pairs():
        found = _judge_conflict(pair)
        if (found.answer == "yes", found.score) > (best.answer == "yes", best.score):
            best = found
    if best.answer == "no" and _changed_value(one, other):
        return Comparison(answer="yes", reason="value", score=best.score)
    if best.answer == "no" and (choice := _chosen_otherwise(one, other)) != "no":
        return Comparison(answer=choice, reason="choice", score=max(best.score, CHOICE_SCORE))
    return best


def supersession(newer: str, older: str, *, conflict: Comparison | None = None) -> Comparison:
    """Does the newer text take the older one's place? It must contradict it: a changed value, or a cue.

    Who has compared the two already gives the `conflict` that was found.
    """
    conflict = conflict or contradiction(newer, older)
    if conflict.answer == "no":
        return conflict
    cue = _CUE.search(newer.lower())
    if cue:
        return Comparison(answer="yes", reason=f"cue:{cue[1]}", score=conflict.score)
    return conflict


@dataclass(frozen=True, kw_only=True)
class _Pair:
    """Two sentences side by side."""

    one: Statement
    other: Statement

    @cached_property
    def shared(self) -> frozenset[str]:
        return self.one.words & self.other.words

    @cached_property
    def opposites(self) -> frozenset[tuple[str, str]]:
        ones = self.one.signs.keys() - self.other.signs.keys()
        lefts = [stem for stem in ones if may_oppose(self.one.forms[stem], self.other.bases)]
        if not lefts:
            return frozenset()
        rights = self.other.signs.keys() - self.one.signs.keys()
        return frozenset(
            (left, right)
            for left, right in product(lefts, rights)
            if opposite(self.one.forms[left], self.other.forms[right])
        )

    @cached_property
    def only_one(self) -> frozenset[str]:
        return self.one.words - self.shared - {left for left, _ in self.opposites}

    @cached_property
    def only_other(self) -> frozenset[str]:
        return self.other.words - self.shared - {right for _, right in self.opposites}

    @property
    def overlap(self) -> float:
        alike = 2 * len(self.shared | {left for left, _ in self.opposites})
        total = alike + len(self.only_one) + len(self.only_other)
        return alike / total if total else 0.0

    @cached_property
    def conflict(self) -> str:
        """Why the two cannot both hold, if they are about the same thing; "" when nothing says so."""
        if not self.shared:
            return ""
        if self.one.earlier & self.other.later and self.one.later & self.other.earlier:
            return "order"
        scoped = (self.one.scoped | self.other.scoped) & self.shared
        flips = sum(self.one.signs[stem] * self.other.signs[stem] for stem in scoped)
        if flips < 0 and len(self.opposites) % 2 == 0:
            return "rejects"
        odd = (self.one.negated != self.other.negated) != (len(self.opposites) % 2 == 1)
        if odd and not scoped:
            return "antonym" if self.opposites else "negation"
        if self._changed_dimensions():
            return "quantity"
        return ""

    @property
    def modifiers(self) -> frozenset[str]:
        """What narrows one side only: "contract tests" are not all tests, nor "for localhost" everywhere."""
        beside = self.one.qualifying | self.other.qualifying
        narrowing = {word for word, after in beside if after == "" or after in self.shared}
        return (self.only_one | self.only_other) & narrowing

    def only_quantity(self, side: Statement) -> bool:
        return bool(side.quantities - (self.one.quantities & self.other.quantities))

    def _changed_dimensions(self) -> set[str]:
        left, right = self.one.quantities - self.other.quantities, self.other.quantities - self.one.quantities
        return {dimension for dimension, _ in left} & {dimension for dimension, _ in right}


class _Whole:
    """Two texts side by side: their sentences, and the words and quantities of all of them."""

    def __init__(self, one: str, other: str) -> None:
        self._ones, self._others = statements(one), statements(other)
        ones = frozenset[str]().union(*(each.words for each in self._ones))
        others = frozenset[str]().union(*(each.words for each in self._others))
        self.shared = ones & others
        # What the pairs hold against each other is said on both sides: "below 5" and "not above 5".
        opposed = [
            (left, right)
            for pair in self.pairs()
            for left, right in pair.opposites
            if left not in pair.one.subject and right not in pair.other.subject
        ]
        self.only_one = ones - others - {left for left, _ in opposed} - self._needless
        self.only_other = others - ones - {right for _, right in opposed} - self._needless
        total = 2 * len(self.shared) + len(self.only_one) + len(self.only_other)
        self.overlap = 2 * len(self.shared) / total if total else 0.0

    @property
    def _needless(self) -> frozenset[str]:
        """The general words that narrow nothing the texts share."""
        beside = [each for side in (*self._ones, *self._others) for each in side.qualifying]
        return general_stems() - {word for word, after in beside if after in self.shared or not after}

    @property
    def qualifying(self) -> frozenset[str]:
        """The words that narrow what one of the texts is about."""
        return frozenset(word for each in (*self._ones, *self._others) for word, _ in each.qualifying)

    @property
    def other_action(self) -> bool:
        """Whether what is done in one text is not said in the other, and the other way round."""
        ones = frozenset[str]().union(*(each.actions for each in self._ones))
        others = frozenset[str]().union(*(each.actions for each in self._others))
        replaced = (ones & self.only_one and others - self.shared) or (others & self.only_other and ones - self.shared)
        return bool(replaced)

    @property
    def conflict(self) -> str:
        """Why not both texts can hold. What both say in the same words cannot set them against each other:
        "Evaluated at import, flags are stale. Never evaluate flags at import" is one insight.
        """
        pairs = list(self.pairs())
        same = [pair for pair in pairs if not (pair.conflict or pair.only_one or pair.only_other)]
        for pair in pairs:
            said_by_both = any(each.one is pair.one for each in same) and any(each.other is pair.other for each in same)
            if pair.conflict and not said_by_both:
                return pair.conflict
        return ""

    @property
    def both_reject(self) -> bool:
        """Whether both texts, or neither, put something aside: "X rather than Y" says more than "X"."""
        return any(each.scoped for each in self._ones) == any(each.scoped for each in self._others)

    @property
    def quantities_differ(self) -> bool:
        ones = {quantity for each in self._ones for quantity in each.quantities}
        others = {quantity for each in self._others for quantity in each.quantities}
        return ones != others

    def pairs(self) -> Iterator[_Pair]:
        """The sentence pairs that are about the same thing."""
        for one, other in product(self._ones, self._others):
            pair = _Pair(one=one, other=other)
            if pair.overlap >= SAME_SUBJECT:
                yield pair


def _judge_conflict(pair: _Pair) -> Comparison:
    score = round(pair.overlap, 3)
    if not pair.conflict:
        return Comparison(answer="no", reason="no conflict", score=score)
    left, right = bool(pair.only_one), bool(pair.only_other)
    # What only one side mentions narrows it: an exception, another subject. A changed value must fit exactly.
    if pair.conflict == "quantity":
        narrowed = left or right
    else:
        narrowed = (left or pair.only_quantity(pair.one)) and (right or pair.only_quantity(pair.other))
        if pair.conflict in ("negation", "antonym"):
            narrowed = narrowed or bool(pair.modifiers)
    return Comparison(answer="unsure" if narrowed else "yes", reason=pair.conflict, score=score)


def _changed_value(one: str, other: str) -> bool:
    """ "The default branch is A", "… is B": one subject that has one value, and another value; or NAME=a, NAME=b."""
    if one != other and _ASSIGNED.sub("", one) == _ASSIGNED.sub("", other):
        return True
    ones, others = (re.split(r"\b(?:is|are)\b", text.lower().strip(" ."), maxsplit=1) for text in (one, other))
    if len(ones) < 2 or len(others) < 2 or _frame(one) != _frame(other):
        return False
    subject = ones[0].split()
    return subject == others[0].split() and not _SINGLE_VALUED.isdisjoint(subject) and ones[1] != others[1]


def _chosen_otherwise(one: str, other: str) -> Answer:
    answers = {opposed_choice(*pair) for pair in product(sentences(one.strip()), sentences(other.strip()))}
    return "yes" if "yes" in answers else "unsure" if "unsure" in answers else "no"


def _normal(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _roles_swapped(one: str, other: str) -> bool:
    """The same frame with its words exchanged ("A calls B", "B calls A"), or a passive in the same order."""
    left, right = _frame(one), _frame(other)
    if left == right:
        return [*_heavy(one)] != [*_heavy(other)]
    passive = bool(_PASSIVE.search(one.lower())) != bool(_PASSIVE.search(other.lower()))
    return passive and [*_heavy(one)][:1] == [*_heavy(other)][:1]


def _substituted(one: str, other: str, only_one: frozenset[str], only_other: frozenset[str]) -> bool:
    """Whether a word of one text and another of the other stand beside the same word on the same side."""
    lefts, rights = _neighbours(one, only_one), _neighbours(other, only_other)
    return not lefts.isdisjoint(rights)


def _neighbours(text: str, words: frozenset[str]) -> set[tuple[str, str]]:
    """What stands before and after these words; beginning and end count as words."""
    stems = ["", *(stem_of(token) for token in _tokens(text)), ""]
    found: set[tuple[str, str]] = set()
    for before, here, after in zip(stems, stems[1:], stems[2:], strict=False):
        if here in words:
            found |= {("before", before), ("after", after)}
    return found


def _frame(text: str) -> list[str]:
    return [token if token in LIGHT or token == "," else "…" for token in _tokens(text)]


def _tokens(text: str) -> list[str]:
    return [token for token in TOKEN.findall(text.lower()) if token not in ARTICLES]


def _heavy(text: str) -> Iterator[str]:
    for each in statements(text):
        yield from each.forms
