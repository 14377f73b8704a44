"""Times that a question names, against the calendar."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.dates import span_in

TODAY = date(2026, 3, 18)  # a Wednesday in week 12


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [
        ("what broke yesterday?", "2026-03-17", "2026-03-17"),
        ("what did we ship today", "2026-03-18", "2026-03-18"),
        ("last March", "2025-03-01", "2025-03-31"),
        ("in March", "2026-03-01", "2026-03-31"),
        ("in May", "2025-05-01", "2025-05-31"),
        ("since february", "2026-02-01", "2026-03-18"),
        ("since last week", "2026-03-09", "2026-03-18"),
        ("since the 3rd of May", "2025-05-03", "2026-03-18"),
        ("since yesterday", "2026-03-17", "2026-03-18"),
        ("after week 9", "2026-03-02", "2026-03-18"),
        ("after 2026-03-10", "2026-03-11", "2026-03-18"),
        ("until March", "1900-01-01", "2026-03-31"),
        ("before March", "1900-01-01", "2026-02-28"),
        ("before 2026", "1900-01-01", "2025-12-31"),
        ("two weeks before March", "2026-03-01", "2026-03-31"),
        ("till Monday", "1900-01-01", "2026-03-16"),
        ("in sept", "2025-09-01", "2025-09-30"),
        ("sept 2024", "2024-09-01", "2024-09-30"),
        ("in February 2024", "2024-02-01", "2024-02-29"),
        ("in week 9", "2026-02-23", "2026-03-01"),
        ("week 50", "2025-12-08", "2025-12-14"),
        ("week 53 of 2026", "2026-12-28", "2027-01-03"),
        ("2026-W09", "2026-02-23", "2026-03-01"),
        ("2026-03", "2026-03-01", "2026-03-31"),
        ("on 2026-03-01", "2026-03-01", "2026-03-01"),
        ("on 8 May, 2023", "2023-05-08", "2023-05-08"),
        ("May 8th, 2023", "2023-05-08", "2023-05-08"),
        ("on May 3", "2025-05-03", "2025-05-03"),
        ("last week", "2026-03-09", "2026-03-15"),
        ("this week", "2026-03-16", "2026-03-22"),
        ("last weekend", "2026-03-14", "2026-03-15"),
        ("last month", "2026-02-01", "2026-02-28"),
        ("last year", "2025-01-01", "2025-12-31"),
        ("last Monday", "2026-03-16", "2026-03-16"),
        ("on Wednesday", "2026-03-11", "2026-03-11"),
        ("3 days ago", "2026-03-15", "2026-03-15"),
        ("two weeks ago", "2026-03-01", "2026-03-07"),
        ("the past two months", "2026-01-17", "2026-03-18"),
        ("in 2023", "2023-01-01", "2023-12-31"),
    ],
)
def test_a_named_time_is_a_span_of_days(text: str, first: str, last: str) -> None:
    assert span_in(text, TODAY) == (date.fromisoformat(first), date.fromisoformat(last))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "how may I help",
        "march on",
        "2026-02-30",
        "2026-13",
        "2026-W60",
        "week 77",
        "port 2023",
        "second",
        "in 9999",
        "0001-01-01",
    ],
)
def test_what_names_no_time_gives_none(text: str) -> None:
    assert span_in(text, TODAY) is None


@given(st.text(), st.dates(min_value=date(1990, 1, 1), max_value=date(2200, 1, 1)))
def test_any_text_is_read(text: str, today: date) -> None:
    found = span_in(text, today)
    assert found is None or found[0] <= found[1]


@given(st.integers(0, 999), st.sampled_from(["day", "week", "month", "year"]))
def test_any_number_of_units_ago_is_in_the_past(count: int, unit: str) -> None:
    found = span_in(f"{count} {unit}s ago", TODAY)
    assert found is not None
    assert found[0] <= TODAY
