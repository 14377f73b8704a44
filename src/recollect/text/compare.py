"""What two texts say to each other: the same, the opposite, something newer, or things that hold side by side.

Both are read into claims (`text/claims`), and claims are compared one by one. Rules answer where one sign decides: the
same words, a negation, an opposite, another number or order. A judge, when the caller has one, gives chances for pairs
that are near; they are weighed together with what the rules say. From `MAYBE` on a person is asked. What is acted on:
a repetition that a rule finds, or that is `MERGED` by the judge; a conflict that the judge is `SURE` of, where a rule
finds it too or both are `CLOSE` in meaning: a judge trained on pairs about one subject finds conflicts in texts about
two. A text repeats another only if each of its claims does, so that a correction is never taken for a repetition.
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import product
from math import exp, log
from typing import Literal

from recollect.core.records import record, replace
from recollect.text.claims import (
    LABEL,
    MILD,
    Statement,
    below,
    opposites,
    parts_of,
    rules_in,
    sentence,
    statements,
    turned,
)
from recollect.text.tokens import terms

Kind = Literal["same", "opposite", "newer", "near"]
# That a claim says the same, the opposite, something newer, something else; then the cosine of both claims.
# All chances are 0 for claims too far apart to be read.
Chances = tuple[float, float, float, float, float]
Judge = Callable[[Sequence[tuple[str, str]]], Sequence[Chances]]

# The weight of each of `signs` for same, conflict and neither, fitted on writers that training did not see and on pairs
# that share their words by `training/calibrate_judge.py`. The bars are chances.
WEIGHTS = (
    (1.0, -0.39, -0.44),
    (-0.17, 0.57, -0.24),
    (-0.4, -0.32, 0.88),
    (1.06, -0.91, -0.15),
    (-1.36, 1.53, -0.17),
    (-0.36, 0.14, 0.22),
    (-0.75, -0.46, 1.21),
    (0.06, 0.15, -0.21),
    (1.31, -0.58, -0.73),
)
SURE = 0.9  # chosen: acted on
MAYBE = 0.75  # chosen: a person is asked
# A chance of a repetition from which the judge merges two texts alone, unless nearly all words are shared: then the one
# that differs may turn the meaning, and a rule has to find the repetition.
MERGED = 0.78
REWORDED = 0.8  # Dice overlap from which a pair counts as sharing most of its words, as said above
# Cosines, read off `blind-7` and `blind-8`: between texts of different pairs the judge found a sure change 12 and 28
# times, 2 and 7 times from .4 on, 0 and 2 times from .5 on.
CLOSE = 0.5
FAR = 0.4
DOUBTFUL = 0.6  # Dice overlap from which a sign between sentences that differ in more is worth a person's time
RULE_AND_REASON = 2  # sentences of one rule; a claim of more may hold several
JUDGED = 1  # pair of claims that a judge is asked about for two texts: the one that shares the most words


@record
class Comparison:
    """The answer for two texts, and the two claims that it rests on."""

    kind: Kind
    sure: bool
    score: float
    reason: str
    claim: str = ""
    against: str = ""
    chances: Chances | None = None
    partly: bool = False  # the known text claims other things too, which a conflict leaves as they are

    @property
    def explained(self) -> str:
        """Which claim met which, what was found, and what it rests on: the sign, words in common, a judge's chances."""
        said = {"same": "the same", "opposite": "the opposite", "newer": "something newer", "near": "something else"}
        told = [self.reason, f"{shared_words(self.claim, self.against):.0%} of the words shared"]
        if self.chances:
            *chances, closeness = self.chances
            parts = zip(said.values(), chances, strict=True)
            told.append("judge: " + ", ".join(f"{name} {chance:.0%}" for name, chance in parts))
            told.append(f"closeness {closeness:.2f}")
        sure = "" if self.sure or self.kind == "near" else ", unsure"
        claim, against = self.sides
        return f"“{claim}” says {said[self.kind]}{sure}, beside “{against}”: {'; '.join(told)}"

    @property
    def sides(self) -> tuple[str, str]:
        """Both claims, each on a line; of claims that clash, the heading or the text below it that does so alone."""
        ones, others = parts_of(self.claim), parts_of(self.against)
        clashes = (pair for pair in product(ones, others) if self.conflicts and _by_rules(*pair).conflicts)
        return next(clashes, (" — ".join(dict.fromkeys(ones)), " — ".join(dict.fromkeys(others))))

    @property
    def repeats(self) -> bool:
        return self.kind == "same" and self.sure

    @property
    def conflicts(self) -> bool:
        return self.kind in ("opposite", "newer")

    @property
    def question(self) -> str:
        """What the person is told who has to settle it."""
        may = "" if self.sure else "may "
        told = {
            "same": f"they {may}say the same",
            "newer": "one may replace the other" if may else "one replaces the other",
        }
        return f"{told.get(self.kind, f'they {may}contradict each other')} ({self.reason})"


NEITHER = Comparison(kind="near", sure=False, score=0.0, reason="no sign of either")


def compare(ones: Sequence[str], others: Sequence[str], judge: Judge | None = None) -> Comparison:
    """What the claims of a new text say to those of a known one; the new text is the newer one."""
    met = {pair: _by_rules(*pair) for pair in product(ones, others)}
    rules = set(product(rules_in(ones), rules_in(others)))  # evidence and examples may be repeated, not contradicted
    if judge is not None:
        open_pairs = [pair for pair, found in met.items() if pair in rules and (found.conflicts or not found.sure)]
        nearest = sorted(open_pairs, key=lambda pair: -shared_words(*pair))[:JUDGED]
        for pair, chances in zip(nearest, judge(nearest), strict=True):
            met[pair] = _by_judge(pair, chances, met[pair])
    # What both texts say in the same words, under whichever heading, cannot set them against each other.
    shared = {below(claim) for claim in ones} & {below(claim) for claim in others}
    conflicts = [
        found
        for pair, found in met.items()
        if pair in rules and found.conflicts and not shared.issuperset(map(below, pair))
    ]
    repeated = [max((met[one, other] for other in others), key=_sameness, default=NEITHER) for one in ones]
    conflict = max(conflicts, key=lambda found: (found.sure, found.score), default=None)
    weakest = min(repeated, key=_sameness, default=NEITHER)
    if conflict and (conflict.sure or weakest.kind != "same" or conflict.score >= weakest.score):
        several = len(rules_in(others)) > 1 or len(statements(conflict.against)) > RULE_AND_REASON
        return replace(conflict, partly=several)
    if weakest.kind == "same":
        return replace(weakest, sure=weakest.sure and conflict is None)
    nearest_claims = max(met.values(), key=lambda found: found.score, default=NEITHER)
    return nearest_claims if nearest_claims.kind == "near" else replace(nearest_claims, kind="near", sure=False)


def agreeing(texts: Sequence[str], judge: Judge | None = None) -> list[list[int]]:
    """The numbers of texts that share their words, in groups whose first text all others repeat, as far as is known."""
    left, groups = list(range(len(texts))), []
    while left:
        lead, *others = left
        met = {each: compare((texts[each],), (texts[lead],), judge) for each in others}
        left = [each for each, found in met.items() if found.conflicts or (judge and found.kind != "same")]
        groups.append([lead, *(each for each in others if each not in left)])
    return groups


def shared_words(one: str, other: str) -> float:
    """The Dice overlap of two texts' words."""
    left, right = _terms(one), _terms(other)
    return 2 * len(left & right) / (len(left) + len(right) or 1)


@lru_cache(maxsize=16384)
def _terms(text: str) -> frozenset[str]:
    return frozenset(terms(text))


def _sameness(found: Comparison) -> tuple[bool, bool, float]:
    return found.kind == "same", found.sure, found.score


def _by_judge(pair: tuple[str, str], chances: Chances, ruled: Comparison) -> Comparison:
    *asked, closeness = chances
    if closeness < FAR or not any(asked):
        return ruled
    same, conflict, _ = weighed(signs(pair, chances, ruled))
    if ruled.conflicts and ruled.sure:
        return replace(ruled, sure=conflict >= SURE, chances=chances)
    score = max(same, conflict)
    kind: Kind = "near"
    if score >= MAYBE:
        _, opposed, newer, *_ = chances
        kind = "same" if same > conflict else "newer" if ruled.kind == "newer" or newer > opposed else "opposite"
    reason = ruled.reason if ruled.conflicts else "judged"
    merged = chances[0] >= MERGED and shared_words(*pair) < REWORDED and not ruled.conflicts and not reversed_by(*pair)
    acted = merged if kind == "same" else conflict >= SURE
    return Comparison(
        kind=kind,
        sure=acted and closeness >= CLOSE,
        score=round(score, 3),
        reason=reason,
        claim=pair[0],
        against=pair[1],
        chances=chances,
    )


def signs(pair: tuple[str, str], chances: Chances, ruled: Comparison) -> tuple[float, ...]:
    """What is known of two claims: the judge's chances, what the rules say, words in common, other numbers."""
    same, opposed, newer, near, _ = chances
    ones, others = ({number for each in statements(claim) for number in each.quantities} for claim in pair)
    return (
        *(log(max(chance, 1e-4)) for chance in (same, opposed + newer, near)),
        float(ruled.repeats),
        float(ruled.conflicts and ruled.sure),
        float(ruled.conflicts and not ruled.sure),
        shared_words(*pair),
        float(ones != others),
        1.0,
    )


def weighed(given: Sequence[float]) -> tuple[float, float, float]:
    """The chances of a repetition, a conflict and neither, from the signs and their weights."""
    sums = [sum(sign * weights[at] for sign, weights in zip(given, WEIGHTS, strict=True)) for at in range(3)]
    powers = [exp(each - max(sums)) for each in sums]
    same, conflict, neither = (each / sum(powers) for each in powers)
    return same, conflict, neither


# Rules


def _by_rules(one: str, other: str) -> Comparison:
    """What the sentences of two claims say to each other by their words alone."""
    if one.lower().split() == other.lower().split():
        return Comparison(kind="same", sure=True, score=1.0, reason="identical", claim=one, against=other)
    ones, others = statements(one), statements(other)
    found = [(left, right, _sign(left, right)) for left, right in product(ones, others)]
    same = [(left, right) for left, right, sign in found if sign.kind == "same"]
    said_by_one, said_by_other = [left for left, _ in same], [right for _, right in same]
    # What both say in the same words cannot set them against each other.
    signs = [
        sign for left, right, sign in found if sign.conflicts and not (left in said_by_one and right in said_by_other)
    ]
    if signs:
        return replace(max(signs, key=lambda sign: (sign.sure, sign.score)), claim=one, against=other)
    if same and all(each in said_by_one for each in ones) and _under_one_heading(one, other):
        return Comparison(kind="same", sure=True, score=1.0, reason="same words", claim=one, against=other)
    says_all = bool(same) and all(each in said_by_other for each in others) and not any(each.cue for each in ones)
    return replace(
        NEITHER, claim=one, against=other, sure=says_all, reason="says it and more" if says_all else NEITHER.reason
    )


def _under_one_heading(one: str, other: str) -> bool:
    """Whether the headings of two claims name one subject: the same advice for another one is no repetition."""
    heads = [claim.partition("\n")[0].lower() if claim.startswith("#") else "" for claim in (one, other)]
    words = [set(terms(head)) or set(head.split()) for head in heads]
    one_in_other = words[0] <= words[1] or words[1] <= words[0]
    return not all(words) or (one_in_other and not turned(*map(sentence, heads)))


def reversed_by(one: str, other: str) -> bool:
    """Whether one word may turn the meaning of one text into that of the other, headings included; of texts that share
    few words none can."""
    if shared_words(one, other) < DOUBTFUL:
        return False
    ones, others = (sentence(each.replace("\n", " ")) for each in (one, other))
    words, other_words = frozenset(ones.words), frozenset(others.words)
    opposed = any(opposites().get(word, frozenset()) & (other_words - words) for word in words - other_words)
    return opposed or turned(
        ones, others, alike=2 * len(words & other_words) >= DOUBTFUL * (len(words) + len(other_words)) - 1
    )


def _sign(one: Statement, other: Statement) -> Comparison:
    """The one sign that sets two sentences against each other, or shows that they say the same."""
    ones, others = frozenset(one.words), frozenset(other.words)
    pairs = {(left, right) for left in ones - others for right in (others - ones) & opposites().get(left, frozenset())}
    if {word for pair in pairs for word in pair} == {"befor", "after"} and (
        [word for word in one.words if word in others] != [word for word in other.words if word in ones]
    ):
        pairs = set()  # "migrate before deploying" and "deploy after migrating" agree
    left = ones - others - {each for each, _ in pairs}.union(MILD)
    right = others - ones - {each for _, each in pairs}.union(MILD)
    alike = len(ones & others) + len(pairs)
    overlap = 2 * alike / (2 * alike + len(left) + len(right) or 1)
    numbers, other_numbers = frozenset(one.quantities), frozenset(other.quantities)
    changed = {each for each, _ in numbers - other_numbers} & {each for each, _ in other_numbers - numbers}
    reverse = (len(one.denied) + len(other.denied) + len(pairs)) % 2 == 1
    plain = not (left or right)
    reason, exact = "", plain
    if _rejects(one, other) or _rejects(other, one):
        reason, exact = "rejects", True
    elif not ones & others or overlap < DOUBTFUL:
        return NEITHER
    elif _swapped(one.words, other.words) and one.denied == other.denied:
        reason = "order"
    elif reverse:
        reason, exact = "antonym" if pairs else "negation", plain and numbers == other_numbers
    elif changed:
        reason, exact = "quantity", plain and changed != {LABEL}
    if reason:
        # Announced by the newer text, a change replaces what the older one says.
        told = f"{reason}, “{one.cue}”" if one.cue else reason
        return Comparison(
            kind="newer" if one.cue else "opposite", sure=exact, score=round(max(overlap, DOUBTFUL), 3), reason=told
        )
    if one.quantities == other.quantities and _same_order(one, other) and not turned(one, other):
        return Comparison(kind="same", sure=True, score=1.0, reason="same words")
    return replace(NEITHER, score=round(overlap, 3), reason="shared words")


def _rejects(one: Statement, other: Statement) -> bool:
    """Whether a sentence puts aside what the other says: "webhooks over polling" and "use polling"."""
    if "over" not in one.words or "over" in other.words or other.denied or not other.words:
        return False
    return set(other.words) <= set(one.words[one.words.index("over") + 1 :])


def _swapped(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether what comes first, or is preferred, in one sentence comes second in the other."""
    for pivot in ("befor", "over"):
        if pivot in one and pivot in other:
            at, there = one.index(pivot), other.index(pivot)
            return one[:at] == other[there + 1 :] and one[at + 1 :] == other[:there] and one[:at] != other[:there]
    return False


def _same_order(one: Statement, other: Statement) -> bool:
    """Whether sentences say the same words of the same things: "A calls B" is not "B calls A".

    One may begin elsewhere ("no raw logs in CI", "in CI no raw logs"), or have a word in another form and place
    ("delete no raw logs", "raw logs are not deleted").
    """
    ones, others = one.said, other.said
    if sorted(ones) != sorted(others):
        return False
    if any(ones[at:] + ones[:at] == others for at in range(max(1, len(ones)))):
        return True
    moved = [word for word, form in zip(ones, one.written, strict=True) if form not in other.written]
    return any([each for each in ones if each != word] == [each for each in others if each != word] for word in moved)
