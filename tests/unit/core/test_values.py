"""Confidence, time, ids, trust, limits and plain records: the small values everything stands on."""

from __future__ import annotations

import dataclasses
import json
from datetime import date
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import recollect
from recollect import BadInput, NewLearning, ScriptedClock
from recollect.core import errors
from recollect.core.clock import clock_from, day_of, iso, parse_time, zone_named
from recollect.core.context import TRUSTS, lowest
from recollect.core.learning import Injection, Learning
from recollect.core.records import check_id, check_limit, decimal, plain, random_id, record, thousandths
from samples import WEBHOOKS, learning

# Confidence


@pytest.mark.parametrize(
    ("value", "stored"), [(0, 0), (1, 1000), (0.599, 599), (0.6, 600), (0.5995, 600), (0.55 + 0.05, 600), (0.1, 100)]
)
def test_confidence_is_kept_in_thousandths(value: float, stored: int) -> None:
    assert thousandths(value) == stored


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), float("-inf"), -1, -0.0001, 1.0001, 2, 10**400, "0.9", "", None, True, False, [1], 1j],
    ids=lambda value: str(value)[:12],
)
def test_what_is_no_confidence_is_refused(value: Any) -> None:
    with pytest.raises(BadInput, match="confidence must be"):
        thousandths(value)


@given(st.integers(0, 1000))
def test_thousandths_and_decimals_go_both_ways(stored: int) -> None:
    assert thousandths(decimal(stored)) == stored


# Time


@pytest.mark.parametrize(
    ("text", "ms"),
    [
        ("1970-01-01", 0),
        ("1970-01-01T00:00:01Z", 1000),
        ("1970-01-01T00:00:00.001+00:00", 1),
        ("1970-01-01T01:00:00+01:00", 0),
        (" 2026-03-02T09:00:00Z ", 1772442000000),
        ("2026-03-02T09:00:00", 1772442000000),
    ],
)
def test_times_are_read_as_utc_milliseconds(text: str, ms: int) -> None:
    assert parse_time(text) == ms


@pytest.mark.parametrize("text", ["", "yesterday", "2026-02-30", "2026-13-01", "12:00", "2026-03-02T25:00:00Z"])
def test_what_is_no_time_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="ISO 8601"):
        parse_time(text)


@pytest.mark.parametrize("text", ["0001-01-01", "1899-12-31", "9000-01-01", "9999-12-31T23:59:59-12:00"])
def test_a_year_that_arithmetic_would_leave_is_refused(text: str) -> None:
    with pytest.raises(BadInput, match="years are 1900 to 8999"):
        parse_time(text)


@pytest.mark.parametrize(("ms", "text"), [(-(10**15), "0001-01-01T00:00:00Z"), (10**16, "9999-12-31T23:59:59Z")])
def test_a_stored_instant_outside_the_calendar_shows_its_edge(ms: int, text: str) -> None:
    assert iso(ms) == text
    assert day_of(ms, zone_named("America/Los_Angeles")).isoformat() == text[:10]


@pytest.mark.parametrize(("ms", "text"), [(0, "1970-01-01T00:00:00Z"), (1, "1970-01-01T00:00:00.001Z")])
def test_times_are_shown_with_milliseconds_where_there_are_any(ms: int, text: str) -> None:
    assert iso(ms) == text


@given(st.integers(0, 4_000_000_000_000))
def test_a_shown_time_reads_back(ms: int) -> None:
    assert parse_time(iso(ms)) == ms


@pytest.mark.parametrize(
    ("zone", "day"),
    [("UTC", date(2026, 3, 2)), ("Pacific/Auckland", date(2026, 3, 3)), ("Etc/GMT+12", date(2026, 3, 2))],
)
def test_the_day_is_the_zones(zone: str, day: date) -> None:
    assert day_of(parse_time("2026-03-02T20:00:00Z"), zone_named(zone)) == day


@pytest.mark.parametrize("name", ["Mars/Base", "../etc/passwd", "", "Europe", "/etc/localtime", "\x00"])
def test_an_unknown_zone_is_refused(name: str) -> None:
    with pytest.raises(BadInput, match="time zone"):
        zone_named(name)


def test_the_environment_sets_the_clock() -> None:
    clock = clock_from({"RECOLLECT_NOW": "2026-03-02T09:00:00Z"})
    assert clock.now() == clock.now() == 1772442000000


@pytest.mark.parametrize("time", ["soon", "0001-01-01", "9999-12-31T23:59:59Z", "1899-12-31", "0001-01-01T00:00+14:00"])
def test_a_clock_that_no_calendar_has_is_refused(time: str) -> None:
    with pytest.raises(BadInput, match="RECOLLECT_NOW"):
        clock_from({"RECOLLECT_NOW": time})


def test_a_scripted_clock_moves_when_told() -> None:
    clock = ScriptedClock(0)
    clock.advance(days=1, hours=1, seconds=1, ms=1)
    assert clock.now() == 90_001_001


# Ids, limits, trust


def test_random_ids_are_alphanumeric_and_differ() -> None:
    made = {random_id("learn") for _ in range(1000)}
    assert len(made) == 1000
    assert all(id.startswith("learn_") and id[6:].isalnum() and len(id) == 19 for id in made)


@pytest.mark.parametrize("id", ["a", " padded ", "JIRA-12", "session/4#2", "漢字", "x" * 200])
def test_ids_of_trackers_are_any_printable_line(id: str) -> None:
    assert check_id(id, "task") == id.strip()


@pytest.mark.parametrize("id", ["", " ", "a\nb", "a\x00", "\ud800", "x" * 201, 5, None, "a\u2028b"], ids=ascii)
def test_what_is_no_id_is_refused(id: Any) -> None:
    with pytest.raises(BadInput, match="task"):
        check_id(id, "task")


@pytest.mark.parametrize("limit", [0, -1, 1001, 10**9, 1e9, 2.0, float("nan"), "5", None, True])
def test_what_is_no_limit_is_refused(limit: Any) -> None:
    with pytest.raises(BadInput, match="limit must be"):
        check_limit(limit)


@pytest.mark.parametrize("limit", [1, 10, 1000])
def test_limits_are_inclusive(limit: int) -> None:
    assert check_limit(limit) == limit


@pytest.mark.parametrize(
    ("trusts", "expected"),
    [
        (("human",), "human"),
        (("human", "agent"), "agent"),
        (("agent", "human"), "agent"),
        (("human", "external", "agent"), "external"),
    ],
)
def test_derived_text_is_as_trusted_as_its_worst_source(trusts: tuple[Any, ...], expected: str) -> None:
    assert lowest(*trusts) == expected
    assert set(trusts) <= set(TRUSTS)


# Records


@record
class Sample:
    name: str
    size: int = 3

    def __post_init__(self) -> None:
        if self.size < 0:
            raise BadInput("negative")


def test_a_record_is_a_frozen_dataclass() -> None:
    made = Sample(name="a")
    assert (made.name, made.size) == ("a", 3)
    assert made == Sample(name="a", size=3)
    assert made != Sample(name="b")
    assert hash(made) == hash(Sample(name="a"))
    assert "name='a'" in repr(made)
    for change in (lambda: setattr(made, "name", "b"), lambda: delattr(made, "name")):
        with pytest.raises(AttributeError, match="frozen"):
            change()
    assert dataclasses.replace(made, size=4) == Sample(name="a", size=4)
    assert [field.name for field in dataclasses.fields(Sample)] == ["name", "size"]
    assert dataclasses.asdict(made) == {"name": "a", "size": 3}


@pytest.mark.parametrize("given", [{}, {"size": 1}, {"name": "a", "colour": "red"}])
def test_a_record_needs_its_fields_and_no_others(given: dict[str, Any]) -> None:
    with pytest.raises(TypeError, match=r"needs name|has no field colour"):
        Sample(**given)


def test_a_record_checks_itself_whichever_way_it_is_made() -> None:
    with pytest.raises(BadInput):
        Sample(name="a", size=-1)
    with pytest.raises(BadInput):
        dataclasses.replace(Sample(name="a"), size=-1)


def test_new_learnings_are_normal_when_made() -> None:
    new = NewLearning(**{**WEBHOOKS, "tags": [" a ", "a", "b"], "source_task_id": " t "})
    assert (new.tags, new.source_task_id) == (("a", "b"), "t")


# Plain values


def test_plain_values_show_times_as_iso_and_tuples_as_lists() -> None:
    injection = Injection(learning_id="l", task_id="t", outcome_id="o", injected_at=0)
    assert plain([injection, {"at": 1000, "rate": 5, "seen_at": None}, (1, 2.5, True)]) == [
        {
            "learning_id": "l",
            "task_id": "t",
            "outcome_id": "o",
            "injected_at": "1970-01-01T00:00:00Z",
            "feedback": None,
            "feedback_at": None,
        },
        {"at": "1970-01-01T00:00:01Z", "rate": 5, "seen_at": None},
        [1, 2.5, True],
    ]
    json.dumps(plain(learning()))


def test_a_learning_has_the_seeds_field_names() -> None:
    assert set(Learning.__annotations__) >= set(
        "id title context observation implication action source_outcome_id source_task_id source_discovery_id tags "
        "domain pattern_type confidence times_injected times_helpful times_not_helpful created_at updated_at "
        "last_injected_at last_helpful_at status superseded_by".split()
    )


# Errors and names


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("BadInput", 2),
        ("Rejected", 2),
        ("NotInitialised", 2),
        ("NotFound", 1),
        ("Refused", 1),
        ("Forbidden", 1),
        ("NoHistory", 1),
        ("Stale", 1),
        ("Trouble", 3),
        ("StoreBusy", 3),
        ("StoreDamaged", 3),
        ("StoreNewer", 3),
        ("StoreUnreachable", 3),
        ("NoSpace", 3),
        ("RecollectError", 3),
    ],
)
def test_an_error_decides_the_exit_code(name: str, code: int) -> None:
    assert getattr(errors, name).exit_code == code
    assert name in errors.__doc__
    assert issubclass(getattr(errors, name), errors.RecollectError)


def test_all_names_what_is_public() -> None:
    assert sorted(recollect.__all__) == recollect.__all__
    for name in recollect.__all__:
        assert getattr(recollect, name).__name__ == name
    with pytest.raises(AttributeError):
        _ = recollect.nothing_here  # type: ignore[attr-defined]
    defined = {name for name, value in vars(errors).items() if isinstance(value, type) and issubclass(value, Exception)}
    assert defined == set(errors.__all__)
