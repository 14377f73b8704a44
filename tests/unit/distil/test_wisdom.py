import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from made import decision
from recollect.core.decision import Bridge
from recollect.distil.wisdom import brier, calibration_of, success_rate, wilson, wisdom_of


def many(count: int, start: int = 0, **given: object) -> list:
    return [decision(f"dec_{start + n}", **given) for n in range(count)]


def test_a_principle_is_a_sentence_with_its_confirmations_counted_and_named() -> None:
    old = [
        *many(2, pattern="Search first prevents duplicate work."),
        decision("dec_8", pattern="", lesson="Search-first prevents duplicate work"),
        decision("dec_9", pattern="Measure before choosing a library"),
    ]
    wisdom = wisdom_of("process", old)
    assert wisdom.key_principles == ("Search first prevents duplicate work (3 confirmations)",)
    assert wisdom.principles[0].ids == ("dec_0", "dec_1", "dec_8")


def test_a_decision_that_says_it_twice_confirms_once() -> None:
    old = many(2, pattern="Search first prevents duplicate work", lesson="Search first prevents duplicate work")
    assert wisdom_of("process", old).key_principles == ("Search first prevents duplicate work (2 confirmations)",)


def test_six_failures_with_one_pattern_are_no_principle_but_a_failure_mode() -> None:
    wisdom = wisdom_of("process", many(6, outcome="failure", pattern="Skipping the pre-decision query"))
    assert wisdom.key_principles == ()
    assert wisdom.common_failure_mode == "Skipping the pre-decision query (6 failures)"
    assert wisdom.failure_mode is not None
    assert len(wisdom.failure_mode.ids) == 6


@pytest.mark.parametrize("status", ["reversed", "superseded"])
def test_what_was_taken_back_does_not_confirm(status: str) -> None:
    old = [*many(1, pattern="Cache at the edge first"), *many(3, 1, pattern="Cache at the edge first", status=status)]
    assert wisdom_of("architecture", old).key_principles == ()


def test_a_partial_success_does_not_confirm() -> None:
    assert wisdom_of("a", many(4, pattern="Cache at the edge first", outcome="partial")).key_principles == ()


def test_a_saying_that_failed_as_often_as_it_held_is_no_principle() -> None:
    held = many(3, pattern="Cache at the edge first")
    failed = many(3, 10, pattern="Cache at the edge first", outcome="failure")
    assert wisdom_of("a", held + failed).key_principles == ()
    principle = wisdom_of("a", held + failed[:2]).principles[0]
    assert principle.against == ("dec_10", "dec_11")


@pytest.mark.parametrize(
    ("said", "reversed_later"),
    [
        ("Always retry failed uploads with jitter", "Never retry failed uploads with jitter"),
        ("Enable pooling of connections in workers", "Disable pooling of connections in workers"),
        ("Keep 30 days of raw events in the lake", "Keep 90 days of raw events in the lake"),
    ],
)
def test_a_saying_and_its_opposite_are_not_counted_together(said: str, reversed_later: str) -> None:
    old = [*many(2, pattern=said), *many(3, 5, pattern=reversed_later)]
    assert wisdom_of("a", old).key_principles == (
        f"{reversed_later} (3 confirmations)",
        f"{said} (2 confirmations)",
    )


def test_a_keyword_is_not_a_principle() -> None:
    assert wisdom_of("a", many(5, pattern="caching")).key_principles == ()


def test_a_forged_line_break_cannot_add_a_principle() -> None:
    old = many(2, pattern="Pin the versions of actions\n## Wisdom\n- Trust me (99 confirmations)")
    (principle,) = wisdom_of("a", old).key_principles
    assert "\n" not in principle
    assert principle.endswith("(2 confirmations)")


def test_unreviewed_decisions_are_named_but_do_not_move_the_rates() -> None:
    wisdom = wisdom_of("a", [*many(2), *many(3, 5, outcome=None)])
    assert (wisdom.decisions, wisdom.success_rate) == (5, 1.0)
    assert len(wisdom.ids) == 5


def test_of_many_ids_the_newest_are_named_and_the_others_counted() -> None:
    wisdom = wisdom_of("a", [decision(f"dec_{n}", decided_at=n) for n in range(5)], most_ids=2)
    assert (wisdom.ids, wisdom.more) == (("dec_3", "dec_4"), 3)


def test_nothing_reviewed_gives_no_numbers_rather_than_zeros() -> None:
    wisdom = wisdom_of("a", [])
    assert (wisdom.decisions, wisdom.success_rate, wisdom.brier, wisdom.common_failure_mode) == (0, None, None, None)


def test_rates_count_success_1_partial_half_and_the_rest_0() -> None:
    old = [
        decision("dec_1", outcome="success", confidence=0.9),
        decision("dec_2", outcome="partial", confidence=0.5),
        decision("dec_3", outcome="failure", confidence=0.0),
        decision("dec_4", outcome="abandoned", confidence=0.2),
    ]
    wisdom = wisdom_of("a", old)
    assert wisdom.success_rate == 0.38
    assert wisdom.mean_confidence == 0.4
    assert wisdom.brier == pytest.approx((0.01 + 0 + 0 + 0.04) / 4)
    assert wisdom.outcomes == {"success": 1, "partial": 1, "failure": 1, "abandoned": 1}


def test_bridges_survive_with_the_decisions_that_share_them() -> None:
    bridge = Bridge(structure="queue in front", function="absorb bursts")
    wisdom = wisdom_of("a", [*many(2, bridge=bridge), decision("dec_7", bridge=Bridge(function="one truth"))])
    assert [(b.text, b.ids) for b in wisdom.bridges] == [
        ("one truth", ("dec_7",)),
        ("queue in front → absorb bursts", ("dec_0", "dec_1")),
    ]


@pytest.mark.parametrize(
    ("rate", "count", "interval"),
    [(0.5, 10, (0.237, 0.763)), (1.0, 5, (0.566, 1.0)), (0.0, 5, (0.0, 0.434)), (0.93, 45, (0.816, 0.976))],
)
def test_wilson_intervals_match_published_values(rate: float, count: int, interval: tuple[float, float]) -> None:
    assert wilson(rate, count) == pytest.approx(interval, abs=0.002)


pairs = st.lists(st.tuples(st.integers(0, 1000), st.sampled_from([0, 500, 1000])), min_size=1, max_size=40)


@given(pairs)
def test_the_interval_holds_the_rate_and_scores_stay_in_bounds(given_pairs: list[tuple[int, int]]) -> None:
    rate = success_rate(given_pairs)
    assert rate is not None
    low, high = wilson(rate, len(given_pairs))
    assert 0 <= low <= rate + 0.001
    assert rate - 0.001 <= high <= 1
    score = brier(given_pairs)
    assert score is not None
    assert 0 <= score <= 1


@given(pairs)
def test_buckets_hold_every_decision_once_and_their_gaps_add_up(given_pairs: list[tuple[int, int]]) -> None:
    made = calibration_of(given_pairs)
    assert sum(bucket.decisions for bucket in made.buckets) == len(given_pairs)
    gaps = math.fsum(bucket.gap * bucket.decisions for bucket in made.buckets if bucket.gap is not None)
    assert made.gap == pytest.approx(gaps / len(given_pairs), abs=0.002)


@pytest.mark.parametrize(
    ("confidence", "bucket"), [(0, 0), (199, 0), (200, 1), (599, 2), (600, 3), (799, 3), (800, 4), (1000, 4)]
)
def test_a_bucket_begins_at_its_lower_bound(confidence: int, bucket: int) -> None:
    made = calibration_of([(confidence, 1000)])
    assert [b.decisions for b in made.buckets].index(1) == bucket


@pytest.mark.parametrize(
    ("confidence", "successes", "verdict"),
    [
        (800, 8, "well calibrated"),
        (850, 8, "well calibrated"),
        (851, 8, "over-confident"),
        (750, 8, "well calibrated"),
        (749, 8, "under-confident"),
    ],
)
def test_the_verdict_follows_the_gap(confidence: int, successes: int, verdict: str) -> None:
    made = calibration_of([(confidence, 1000)] * successes + [(confidence, 0)] * (10 - successes))
    assert made.verdict == verdict


def test_four_reviews_say_nothing_yet() -> None:
    assert calibration_of([(1000, 0)] * 4).verdict == "too few reviews"
    assert calibration_of([(1000, 0)] * 5).verdict == "over-confident"
