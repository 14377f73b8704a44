"""What a category's old decisions taught: counts, calibration, principles and the common way to fail.

Pure functions of reviewed decisions. Every number is counted here and every principle is a sentence somebody wrote;
a model may later word one better, never count. Knows nothing about rows, ages or who asks.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from recollect.core.decision import ACTUAL, OUTCOMES, Decision
from recollect.distil.levels import bridge_line
from recollect.text.cluster import Affinity, group, medoid
from recollect.text.counting import counted
from recollect.text.sentences import first_sentence
from recollect.text.vectors import wording_vectors

SAME_SAYING = Affinity(together=0.45, neighbour=0.5)
"""Patterns are repeated nearly word for word; sayings that only share a subject are different principles."""
MIN_CONFIRMATIONS = 2
MIN_FAILURES = 2
MAX_PRINCIPLES = 10
PRINCIPLE_WORDS = 25
MAX_WORDINGS = 2000
MOST_WORDINGS = 12
_MIN_WORDS = 3
_NORMAL_95 = 1.959964
NEGATION = re.compile(r"\b(?:not|no|never|without|avoid\w*|stop|cannot|don't|doesn't|isn't|can't|won't|shouldn't)\b")


@dataclass(frozen=True, kw_only=True)
class Saying:
    """A sentence that several decisions stand behind, or stand against."""

    text: str
    ids: tuple[str, ...]
    against: tuple[str, ...] = ()
    wordings: tuple[str, ...] = ()
    """How its authors put it, most used first, as far as a model may be asked for a better one."""
    generator: str = "offline"

    def line(self, noun: str) -> str:
        """`Search-first prevents duplicate work (8 confirmations)`."""
        return f"{self.text} ({counted(len(self.ids), noun)})"


@dataclass(frozen=True, kw_only=True)
class Wisdom:
    """One category's wisdom. `key_principles` and `common_failure_mode` are the seed's strings."""

    category: str
    decisions: int
    success_rate: float | None
    success_interval: tuple[float, float] | None
    brier: float | None
    mean_confidence: float | None
    outcomes: dict[str, int]
    key_principles: tuple[str, ...]
    common_failure_mode: str | None
    principles: tuple[Saying, ...]
    failure_mode: Saying | None
    bridges: tuple[Saying, ...]
    ids: tuple[str, ...]
    more: int = 0
    """Ids beyond the newest that `ids` names."""


def wisdom_of(category: str, decisions: Sequence[Decision], most_ids: int | None = None) -> Wisdom:
    """The wisdom of decisions of one category; rates are those of the reviewed ones."""
    ordered = sorted(decisions, key=lambda d: (d.decided_at, d.id))
    reviewed = [d for d in ordered if d.outcome is not None]
    named = ordered[-most_ids:] if most_ids is not None else ordered
    principles = principles_of(reviewed)
    failure = failure_mode_of(reviewed)
    pairs = [(round(d.confidence * 1000), ACTUAL[d.outcome]) for d in reviewed if d.outcome is not None]
    rate = success_rate(pairs)
    outcomes = Counter(d.outcome for d in reviewed)
    return Wisdom(
        category=category,
        decisions=len(ordered),
        success_rate=None if rate is None else round(rate, 2),
        success_interval=None if rate is None else wilson(rate, len(reviewed)),
        brier=brier(pairs),
        mean_confidence=mean_confidence(pairs),
        outcomes={outcome: outcomes[outcome] for outcome in OUTCOMES},
        key_principles=tuple(saying.line("confirmation") for saying in principles),
        common_failure_mode=failure.line("failure") if failure else None,
        principles=principles,
        failure_mode=failure,
        bridges=bridges_of(ordered),
        ids=tuple(d.id for d in named),
        more=len(ordered) - len(named),
    )


Pairs = Sequence[tuple[int, int]]
"""Confidence and what came of it, both in thousandths."""


def success_rate(pairs: Pairs) -> float | None:
    """The mean outcome: success 1, partial 0.5, failure and abandoned 0."""
    return sum(actual for _, actual in pairs) / (1000 * len(pairs)) if pairs else None


def mean_confidence(pairs: Pairs) -> float | None:
    return round(sum(confidence for confidence, _ in pairs) / (1000 * len(pairs)), 3) if pairs else None


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


def principles_of(decisions: Sequence[Decision]) -> tuple[Saying, ...]:
    """Sayings that successful decisions share, most confirmed first.

    Only a success that still stands confirms. A failure with the same pattern speaks against it, and a saying that
    failed at least as often as it held is no principle.
    """
    voices: list[tuple[str, str, bool]] = []
    for decision in decisions:
        if decision.outcome == "success" and decision.status == "active":
            voices += [(saying, decision.id, True) for saying in _sayings(decision.pattern, decision.lesson)]
        elif decision.outcome in ("failure", "abandoned"):
            voices += [(saying, decision.id, False) for saying in _sayings(decision.pattern)]
    found = []
    for texts, confirming, against in _gathered(voices):
        if len(confirming) >= MIN_CONFIRMATIONS and len(confirming) > len(against):
            used = tuple(
                text for text, _ in sorted(texts.items(), key=lambda pair: (-pair[1], pair[0]))[:MOST_WORDINGS]
            )
            found.append(Saying(text=_best(texts), ids=confirming, against=against, wordings=used))
    found.sort(key=lambda saying: (-len(saying.ids), len(saying.against), saying.text))
    return tuple(found[:MAX_PRINCIPLES])


def failure_mode_of(decisions: Sequence[Decision]) -> Saying | None:
    """What failures have in common most often: their lessons, else their patterns."""
    voices = [
        (saying, decision.id, True)
        for decision in decisions
        if decision.outcome in ("failure", "abandoned")
        for saying in (_sayings(decision.lesson) or _sayings(decision.pattern))
    ]
    found = [
        Saying(text=_best(texts), ids=failing)
        for texts, failing, _ in _gathered(voices)
        if len(failing) >= MIN_FAILURES
    ]
    return min(found, key=lambda saying: (-len(saying.ids), saying.text), default=None)


def bridges_of(decisions: Iterable[Decision]) -> tuple[Saying, ...]:
    """Every bridge, once per wording, with the decisions that share it."""
    behind: dict[str, list[str]] = defaultdict(list)
    for decision in decisions:
        if line := bridge_line(decision):
            behind[line].append(decision.id)
    return tuple(Saying(text=text, ids=tuple(ids)) for text, ids in sorted(behind.items()))


def _sayings(*texts: str) -> list[str]:
    """The first sentence of each text, where it is one: a single keyword is no principle."""
    return [saying for text in texts if text and (saying := _saying_in(text))]


@lru_cache(maxsize=4096)  # patterns are repeated: that is what makes them patterns
def _saying_in(text: str) -> str:
    sentence = first_sentence(text, PRINCIPLE_WORDS).rstrip(" .;:")
    return sentence if len(sentence.split()) >= _MIN_WORDS or not sentence.isascii() else ""


def _gathered(
    voices: Sequence[tuple[str, str, bool]],
) -> list[tuple[Counter[str], tuple[str, ...], tuple[str, ...]]]:
    """Voices grouped by what they say: the wordings with their counts, who confirms, who speaks against."""
    by_wording: dict[str, list[tuple[str, str, bool]]] = {}
    for voice in voices:
        by_wording.setdefault(" ".join(voice[0].casefold().split()), []).append(voice)
    if len(by_wording) > MAX_WORDINGS:  # the most used ones; the rest could only add to them
        by_wording = dict(sorted(by_wording.items(), key=lambda pair: (-len(pair[1]), pair[0]))[:MAX_WORDINGS])
    gathered = []
    for negated in (False, True):  # "always" and "never" share their words and say the opposite
        wordings = sorted(wording for wording in by_wording if bool(NEGATION.search(wording)) is negated)
        for items in group(wording_vectors(wordings), SAME_SAYING) if wordings else []:
            members = [voice for item in items for voice in by_wording[wordings[item]]]
            texts = Counter(text for text, _, _ in members)
            confirming = dict.fromkeys(who for _, who, holds in members if holds)
            against = dict.fromkeys(who for _, who, holds in members if not holds)
            gathered.append((texts, tuple(confirming), tuple(against)))
    return gathered


def _best(texts: Counter[str]) -> str:
    """The wording most used; among equals the one most like the others."""
    top = max(texts.values())
    wordings = sorted(texts)
    middle = wordings[medoid(range(len(wordings)), wording_vectors(wordings))]
    often = [text for text in wordings if texts[text] == top]
    return middle if middle in often else often[0]
