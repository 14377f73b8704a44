"""The bucket that says how often."""

from __future__ import annotations

from recollect.api.guard import MOST_CALLERS, RateLimit


class Watch:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_minutes_worth_goes_at_once_and_then_it_refills_steadily() -> None:
    watch = Watch()
    rate = RateLimit(60, seconds=watch)
    assert [rate.wait("a") for _ in range(61)] == [0] * 60 + [2]
    watch.now += 1.0
    assert [rate.wait("a") for _ in range(2)] == [0, 2]
    watch.now += 3600
    assert [rate.wait("a") for _ in range(61)].count(0) == 60


def test_each_has_its_own() -> None:
    rate = RateLimit(1, seconds=Watch())
    assert [rate.wait("a"), rate.wait("b")] == [0, 0]
    assert rate.wait("a") > 0


def test_only_so_many_are_remembered() -> None:
    rate = RateLimit(1, seconds=Watch())
    for number in range(MOST_CALLERS + 5):
        rate.wait(str(number))
    assert rate.wait("0") == 0
    assert rate.wait(str(MOST_CALLERS)) > 0
