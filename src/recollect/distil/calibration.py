"""How well confidence foretold outcomes: reliability buckets, Brier score, gap.

Pure functions of (confidence, outcome) pairs in thousandths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from recollect.distil.wisdom import Pairs, brier, mean_confidence, success_rate, wilson

BUCKETS = 5
WINDOWS = (30, 60, 90)
MIN_REVIEWED = 5
"""Fewer reviewed decisions than this say nothing about a person's or agent's confidence."""
_FAIR_GAP = 0.05


@dataclass(frozen=True, kw_only=True)
class Bucket:
    """Decisions of about the same confidence. Half-open, the last one closed: [0.8, 1.0]."""

    low: float
    high: float
    decisions: int
    mean_confidence: float | None
    success_rate: float | None
    gap: float | None


@dataclass(frozen=True, kw_only=True)
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
    rate = success_rate(pairs)
    gap = _gap(pairs)
    return Calibration(
        decisions=len(pairs),
        mean_confidence=mean_confidence(pairs),
        success_rate=None if rate is None else round(rate, 3),
        success_interval=None if rate is None else wilson(rate, len(pairs)),
        brier=brier(pairs),
        gap=gap,
        verdict=verdict_of(gap, len(pairs)),
        buckets=tuple(_bucket(number, pairs) for number in range(BUCKETS)),
    )


def verdict_of(gap: float | None, decisions: int) -> str:
    if gap is None or decisions < MIN_REVIEWED:
        return "too few reviews"
    if abs(gap) <= _FAIR_GAP:
        return "well calibrated"
    return "over-confident" if gap > 0 else "under-confident"


def _bucket(number: int, pairs: Pairs) -> Bucket:
    inside = [pair for pair in pairs if min(pair[0] * BUCKETS // 1000, BUCKETS - 1) == number]
    rate = success_rate(inside)
    return Bucket(
        low=number / BUCKETS,
        high=(number + 1) / BUCKETS,
        decisions=len(inside),
        mean_confidence=mean_confidence(inside),
        success_rate=None if rate is None else round(rate, 3),
        gap=_gap(inside),
    )


def _gap(pairs: Sequence[tuple[int, int]]) -> float | None:
    """Confidence minus outcome on average, from whole thousandths, so that a gap of 0.05 is exactly that."""
    return round(sum(confidence - actual for confidence, actual in pairs) / (1000 * len(pairs)), 3) if pairs else None
