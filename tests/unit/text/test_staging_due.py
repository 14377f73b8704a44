"""The two tests of whether a consolidation is due, at their boundaries, and which entries it takes."""

from datetime import date, timedelta

import pytest

from recollect.text.staging import (
    Aged,
    StagedEntry,
    Thresholds,
    active_days_after,
    fresh,
    plan,
    read_staging,
    triggered,
)

DAY = date(2026, 3, 2)
LIMITS = Thresholds()


def staged(*ages: int | None, body: str = "Because.", lines: int = 5) -> list[Aged]:
    """Entries e0, e1, … with these ages, in the file's order."""
    return [
        Aged(
            entry=StagedEntry(title=f"Entry e{at}", body=body, slug=f"e{at}", first=at * lines, last=(at + 1) * lines),
            added=None if age is None else DAY - timedelta(days=age),
            age=age,
        )
        for at, age in enumerate(ages)
    ]


@pytest.mark.parametrize(("lines", "fires"), [(149, "none"), (150, "size"), (151, "size")])
def test_the_size_trigger_fires_at_150_lines(lines: int, fires: str) -> None:
    assert triggered(lines, 0, LIMITS)[0] == fires


@pytest.mark.parametrize(("days", "fires"), [(13, "none"), (14, "stale"), (None, "none")])
def test_the_staleness_trigger_fires_at_14_active_days(days: int | None, fires: str) -> None:
    assert triggered(10, days, LIMITS)[0] == fires


@pytest.mark.parametrize(("age", "ripe"), [(6, False), (7, True), (8, True), (None, False)])
def test_an_entry_is_ripe_at_7_active_days(age: int | None, ripe: bool) -> None:
    assert (fresh(age, LIMITS) == "") is ripe


@pytest.mark.parametrize(("ripe", "short"), [(2, True), (3, False)])
@pytest.mark.parametrize(("lines", "since"), [(150, 0), (10, 14)])
def test_fewer_than_3_ripe_entries_are_not_worth_a_run(ripe: int, short: bool, lines: int, since: int) -> None:
    entries = staged(*[20] * ripe, 0, 0, 0)
    made = plan(entries, lines=lines, since_last=since, limits=LIMITS)
    assert made.short is short
    assert len(made.batch) == (0 if short else ripe)


@pytest.mark.parametrize(("ripe", "taken"), [(3, ["e1", "e2"]), (1, [])])
def test_an_entry_that_waits_for_a_person_does_not_hold_up_the_others(ripe: int, taken: list[str]) -> None:
    made = plan(staged(*[20] * ripe, 0, 0, 0), lines=150, since_last=0, limits=LIMITS, waiting={"e0": "waits"})
    assert [one.entry.slug for one in made.batch] == taken
    assert made.short is not bool(taken)


def test_the_newest_three_stay_staged_however_old_they_are() -> None:
    made = plan(staged(50, 40, 30, 20, 20, 20), lines=10, since_last=14, limits=LIMITS)
    assert [one.entry.slug for one in made.batch] == ["e0", "e1", "e2"]
    assert {held.reason for held in made.held} == {"one of the newest 3"}


def test_a_stale_file_gives_everything_that_qualifies_oldest_first() -> None:
    made = plan(staged(9, 30, 6, 8, 10, 1, 0, 0), lines=10, since_last=14, limits=LIMITS)
    assert [one.entry.slug for one in made.batch] == ["e1", "e4", "e0", "e3"]


def test_a_long_file_gives_the_oldest_until_it_is_below_the_limit() -> None:
    entries = staged(*range(40, 20, -1), 0, 0, 0, lines=10)
    made = plan(entries, lines=185, since_last=0, limits=LIMITS)
    assert [one.entry.slug for one in made.batch] == ["e0", "e1", "e2", "e3"]
    assert made.held[-1].reason == "the file is below its limit without it"


def test_a_long_file_gives_at_least_a_whole_batch() -> None:
    entries = staged(*range(40, 30, -1), 0, 0, 0, lines=20)
    assert len(plan(entries, lines=150, since_last=0, limits=LIMITS).batch) == 3


def test_pending_waiting_and_referred_entries_are_held_back() -> None:
    text = (
        "## Alpha rule\n\nx\n\n## Beta rule\n\nStatus: pending\n\n## Gamma rule\n\nx\n\n"
        '## Delta rule\n\nSee "Alpha rule" and [it](#gamma-rule).\n\n## Epsilon rule\n\nAlpha rules.\n'
    )
    entries = [Aged(entry=entry, added=DAY, age=30) for entry in read_staging(text).entries]
    limits = Thresholds(keep_newest=0, batch=1)
    made = plan(entries, lines=10, since_last=14, limits=limits, waiting={"epsilon-rule": "waits in the inbox"})
    assert [one.entry.slug for one in made.batch] == ["delta-rule"]
    assert {held.slug: held.reason for held in made.held} == {
        "alpha-rule": "'Delta rule' refers to it",
        "beta-rule": "marked pending",
        "gamma-rule": "'Delta rule' refers to it",
        "epsilon-rule": "waits in the inbox",
    }


def test_active_days_are_counted_after_the_day_and_up_to_today() -> None:
    active = [DAY + timedelta(days=number) for number in (-3, 0, 1, 4, 9)]
    assert active_days_after(DAY, active, DAY + timedelta(days=4)) == 2
