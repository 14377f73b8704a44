"""Wisdom of reviewed decisions: counts, principles, the common failure mode, and calibration of confidence.

Every number is counted here, and every principle is a sentence that a decision's author wrote; a model may reword a
principle but never counts.
"""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

from recollect.core.context import Context
from recollect.core.decision import ACTUAL, OUTCOMES, Decision
from recollect.core.records import record, replace
from recollect.models.ask import OFFLINE, RETOLD_SHARE, Ask, ask_within, read_line
from recollect.models.budget import CallLimit
from recollect.text.cluster import group, medoid, wording_vectors
from recollect.text.compare import Judge, agreeing
from recollect.text.frame import one_line
from recollect.text.sentences import counted, first_sentence

SAME_PRINCIPLE = 0.45
"""Chosen strict: patterns are repeated nearly word for word, and sentences that only share a subject are different
principles."""
MIN_CONFIRMATIONS = 2  # one success is an anecdote
MIN_FAILURES = 2  # the same
MAX_PRINCIPLES = 10  # of a category: what fits on a screen
PRINCIPLE_WORDS = 25  # a long sentence; chosen
MAX_SENTENCES = 2000  # of a category that are clustered; chosen, the cost is quadratic
SHOWN_WORDINGS = 12  # of a principle that a model is shown; chosen to keep the prompt short
_MIN_WORDS = 3  # a single keyword is not a principle
_NORMAL_95 = 1.959964  # 97.5th percentile of the standard normal distribution
JUDGED = 200  # wordings of a category up to which the judge is asked, 5 ms a pair; beyond, rules alone keep apart


@record
class SharedSentence:
    """A sentence that several decisions share: `ids` confirm it, `against` failed with it."""

    text: str
    ids: tuple[str, ...]
    against: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()
    """Its wordings, most used first, for a model that may be asked for a better one."""
    generator: str = "offline"

    def line(self, noun: str) -> str:
        """`Search-first prevents duplicate work (8 confirmations)`."""
        return f"{self.text} ({counted(len(self.ids), noun)})"


@record
class Wisdom:
    """One category's wisdom; `key_principles` and `common_failure_mode` are the lines that pages print."""

    category: str
    decisions: int
    success_rate: float | None
    success_interval: tuple[float, float] | None
    brier: float | None
    mean_confidence: float | None
    outcomes: dict[str, int]
    key_principles: tuple[str, ...]
    common_failure_mode: str | None
    principles: tuple[SharedSentence, ...]
    failure_mode: SharedSentence | None
    bridges: tuple[SharedSentence, ...]
    ids: tuple[str, ...]
    more: int = 0
    """Ids beyond the newest that `ids` names."""


def wisdom_of(
    category: str, decisions: Sequence[Decision], most_ids: int | None = None, judge: Judge | None = None
) -> Wisdom:
    """The wisdom of decisions of one category; rates are those of the reviewed ones."""
    ordered = sorted(decisions, key=lambda d: (d.decided_at, d.id))
    reviewed = [d for d in ordered if d.outcome is not None]
    named = ordered[-most_ids:] if most_ids is not None else ordered
    principles = principles_of(reviewed, judge)
    failure = failure_mode_of(reviewed, judge)
    pairs = [(round(d.confidence * 1000), ACTUAL[d.outcome]) for d in reviewed if d.outcome is not None]
    outcomes = Counter(d.outcome for d in reviewed)
    return Wisdom(
        category=category,
        decisions=len(ordered),
        **_rates(pairs, digits=2),
        outcomes={outcome: outcomes[outcome] for outcome in OUTCOMES},
        key_principles=tuple(saying.line("confirmation") for saying in principles),
        common_failure_mode=failure.line("failure") if failure else None,
        principles=principles,
        failure_mode=failure,
        bridges=bridges_of(ordered),
        ids=tuple(d.id for d in named),
        more=len(ordered) - len(named),
    )


Pairs = Sequence[tuple[int, int]]  # confidence and what came of it, both in thousandths


def _rates(pairs: Pairs, *, digits: int) -> dict[str, Any]:
    rate = success_rate(pairs)
    return {
        "success_rate": None if rate is None else round(rate, digits),
        "success_interval": None if rate is None else wilson(rate, len(pairs)),
        "brier": brier(pairs),
        "mean_confidence": round(sum(pair[0] for pair in pairs) / (1000 * len(pairs)), 3) if pairs else None,
    }


def success_rate(pairs: Pairs) -> float | None:
    """The mean outcome: success 1, partial 0.5, failure and abandoned 0."""
    return sum(actual for _, actual in pairs) / (1000 * len(pairs)) if pairs else None


def brier(pairs: Pairs) -> float | None:
    """Mean squared distance between confidence and outcome: 0 is perfect, 0.25 is always saying 0.5."""
    if not pairs:
        return None
    return round(sum((confidence - actual) ** 2 for confidence, actual in pairs) / (1e6 * len(pairs)), 4)


def wilson(rate: float, count: int) -> tuple[float, float]:
    """The 95 % interval of a share: honest for small counts, never outside 0 to 1."""
    z2 = _NORMAL_95**2
    middle = (rate + z2 / (2 * count)) / (1 + z2 / count)
    half = _NORMAL_95 / (1 + z2 / count) * math.sqrt(rate * (1 - rate) / count + z2 / (4 * count * count))
    return round(max(0.0, middle - half), 3), round(min(1.0, middle + half), 3)


def principles_of(decisions: Sequence[Decision], judge: Judge | None = None) -> tuple[SharedSentence, ...]:
    """Sentences that successful decisions share, most confirmed first.

    Only an active success confirms; a failure with the same pattern counts against. A sentence that failed at least as
    often as it was confirmed is dropped.
    """
    voices: list[tuple[str, str, bool]] = []
    for decision in decisions:
        if decision.outcome == "success" and decision.status == "active":
            voices += [(saying, decision.id, True) for saying in _first_sentences(decision.pattern, decision.lesson)]
        elif decision.outcome in ("failure", "abandoned"):
            voices += [(saying, decision.id, False) for saying in _first_sentences(decision.pattern)]
    found = []
    for texts, confirming, against in _group_sentences(voices, judge):
        if len(confirming) >= MIN_CONFIRMATIONS and len(confirming) > len(against):
            used = tuple(sorted(texts, key=lambda text: (-texts[text], text))[:SHOWN_WORDINGS])
            found.append(SharedSentence(text=_most_used(texts), ids=confirming, against=against, wordings=used))
    found.sort(key=lambda saying: (-len(saying.ids), len(saying.against), saying.text))
    return tuple(found[:MAX_PRINCIPLES])


def failure_mode_of(decisions: Sequence[Decision], judge: Judge | None = None) -> SharedSentence | None:
    """What failures have in common most often: their lessons, else their patterns."""
    voices = [
        (saying, decision.id, True)
        for decision in decisions
        if decision.outcome in ("failure", "abandoned")
        for saying in (_first_sentences(decision.lesson) or _first_sentences(decision.pattern))
    ]
    found = [
        SharedSentence(text=_most_used(texts), ids=failing)
        for texts, failing, _ in _group_sentences(voices, judge)
        if len(failing) >= MIN_FAILURES
    ]
    return min(found, key=lambda saying: (-len(saying.ids), saying.text), default=None)


def bridge_line(decision: Decision) -> str:
    return one_line(decision.bridge.line()) if decision.bridge else ""


def bridges_of(decisions: Iterable[Decision]) -> tuple[SharedSentence, ...]:
    """Every bridge, once per wording, with the decisions that share it."""
    behind: dict[str, list[str]] = defaultdict(list)
    for decision in decisions:
        if line := bridge_line(decision):
            behind[line].append(decision.id)
    return tuple(SharedSentence(text=text, ids=tuple(ids)) for text, ids in sorted(behind.items()))


def _first_sentences(*texts: str) -> list[str]:
    return [saying for text in texts if text and (saying := _first_sentence(text))]


@lru_cache(maxsize=4096)  # the same patterns come up again and again
def _first_sentence(text: str) -> str:
    sentence = first_sentence(text, PRINCIPLE_WORDS).rstrip(" .;:")
    return sentence if len(sentence.split()) >= _MIN_WORDS or not sentence.isascii() else ""


def _group_sentences(
    voices: Sequence[tuple[str, str, bool]], judge: Judge | None
) -> list[tuple[Counter[str], tuple[str, ...], tuple[str, ...]]]:
    """Sentences in groups that share their words and contradict each other in nothing: the wordings with their counts,
    the ids that confirm, the ids against."""
    by_wording: dict[str, list[tuple[str, str, bool]]] = {}
    for voice in voices:
        by_wording.setdefault(" ".join(voice[0].casefold().split()), []).append(voice)
    if len(by_wording) > MAX_SENTENCES:  # keep the most used ones
        by_wording = dict(sorted(by_wording.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:MAX_SENTENCES])
    gathered = []
    wordings = sorted(by_wording, key=lambda wording: (-len(by_wording[wording]), wording))
    judge = judge if len(wordings) <= JUDGED else None
    for items in group(wording_vectors(wordings), SAME_PRINCIPLE):
        alike = [wordings[item] for item in items]
        for agreed in agreeing(alike, judge):
            members = [voice for item in agreed for voice in by_wording[alike[item]]]
            texts = Counter(text for text, _, _ in members)
            confirming = dict.fromkeys(who for _, who, holds in members if holds)
            against = dict.fromkeys(who for _, who, holds in members if not holds)
            gathered.append((texts, tuple(confirming), tuple(against)))
    return gathered


def _most_used(texts: Counter[str]) -> str:
    """The wording most used; among equals the one most like the others."""
    top = max(texts.values())
    wordings = sorted(texts)
    middle = wordings[medoid(range(len(wordings)), wording_vectors(wordings))]
    often = [text for text in wordings if texts[text] == top]
    return middle if middle in often else often[0]


PRINCIPLE_KIND = "principle"


def reword_principles(ctx: Context, taught: Sequence[Wisdom], limit: CallLimit) -> list[Wisdom]:
    """Wisdom with its principles in a model's words, as far as they are cached or the limit allows."""
    if ctx.models.provider(PRINCIPLE_KIND) is None:
        return list(taught)
    made: list[Wisdom] = []
    for one in taught:
        said: list[SharedSentence] = []
        for saying in one.principles:
            answer = ask_within(ctx, principle_question(one.category, saying), limit)
            if answer is not None and answer.generator != OFFLINE:
                saying = replace(saying, text=answer.value, generator=answer.generator)
            said.append(saying)
        lines = tuple(saying.line("confirmation") for saying in said)
        made.append(replace(one, principles=tuple(said), key_principles=lines))
    return made


def principle_question(category: str, saying: SharedSentence) -> Ask[str]:
    return Ask(
        kind=PRINCIPLE_KIND,
        subject=f"{category}: {saying.text}",
        sources=(json.dumps({"wordings": list(saying.wordings)}, ensure_ascii=False),),
        own_words=RETOLD_SHARE,
        offline=lambda: saying.text,
        accept=lambda text: one_line(read_line(text, words=PRINCIPLE_WORDS * 3 // 2)),
        longest=PRINCIPLE_WORDS * 12,
        max_tokens=100,
    )


BUCKETS = 5  # chosen: a few dozen reviews fill them
WINDOWS = (30, 60, 90)  # days; chosen
MIN_REVIEWED = 5  # reviewed decisions below which no verdict is given; chosen
_FAIR_GAP = 0.05  # between mean confidence and success rate; chosen


@record
class Bucket:
    """Decisions of about the same confidence. Half-open, the last one closed: [0.8, 1.0]."""

    low: float
    high: float
    decisions: int
    mean_confidence: float | None
    success_rate: float | None
    gap: float | None


@record
class Calibration:
    """`gap` is mean confidence minus success rate: above zero is over-confident."""

    decisions: int
    mean_confidence: float | None
    success_rate: float | None
    success_interval: tuple[float, float] | None
    brier: float | None
    gap: float | None
    verdict: str
    buckets: tuple[Bucket, ...]


def calibration_of(pairs: Pairs) -> Calibration:
    gap = _gap(pairs)
    if gap is None or len(pairs) < MIN_REVIEWED:
        verdict = "too few reviews"
    elif abs(gap) <= _FAIR_GAP:
        verdict = "well calibrated"
    else:
        verdict = "over-confident" if gap > 0 else "under-confident"
    return Calibration(
        decisions=len(pairs),
        **_rates(pairs, digits=3),
        gap=gap,
        verdict=verdict,
        buckets=tuple(_bucket(number, pairs) for number in range(BUCKETS)),
    )


def _bucket(number: int, pairs: Pairs) -> Bucket:
    inside = [pair for pair in pairs if min(pair[0] * BUCKETS // 1000, BUCKETS - 1) == number]
    rates = _rates(inside, digits=3)
    return Bucket(
        low=number / BUCKETS,
        high=(number + 1) / BUCKETS,
        decisions=len(inside),
        mean_confidence=rates["mean_confidence"],
        success_rate=rates["success_rate"],
        gap=_gap(inside),
    )


def _gap(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Confidence minus outcome on average, from whole thousandths, so that a gap of 0.05 is exactly that."""
    return round(sum(confidence - actual for confidence, actual in pairs) / (1000 * len(pairs)), 3) if pairs else None
