"""The tree's calendar against the standard library's, day by day, 2024 to 2036."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from recollect.core import calendar
from recollect.core.errors import BadInput

EVERY_DAY = [date(2024, 1, 1) + timedelta(days=n) for n in range((date(2036, 12, 31) - date(2024, 1, 1)).days + 1)]


def test_every_day_is_in_the_iso_week_that_datetime_names():
    for day in EVERY_DAY:
        assert calendar.week(day).name == day.strftime("%G-W%V"), day


def test_every_week_runs_from_its_monday_to_its_sunday():
    for day in EVERY_DAY:
        week = calendar.week(day)
        assert week.first == date.fromisocalendar(*day.isocalendar()[:2], 1)
        assert week.last == date.fromisocalendar(*day.isocalendar()[:2], 7)


def test_every_week_belongs_to_the_month_of_its_thursday():
    for day in EVERY_DAY:
        thursday = date.fromisocalendar(*day.isocalendar()[:2], 4)
        assert calendar.month(day).name == thursday.strftime("%Y-%m"), day


def test_a_month_holds_exactly_the_days_whose_month_it_is():
    by_month: dict[str, list[date]] = {}
    for day in EVERY_DAY:
        by_month.setdefault(calendar.month(day).name, []).append(day)
    for name, days in list(by_month.items())[1:-1]:
        assert list(calendar.parse_period(name).days) == days


def test_the_weeks_of_a_month_hold_its_days_once():
    for day in EVERY_DAY:
        if day.day == 15:
            month = calendar.month(day)
            weeks = [calendar.week(monday) for monday in month.days if monday.weekday() == 0]
            assert [d for week in weeks for d in week.days] == list(month.days)
            assert len(weeks) in (4, 5)


def test_every_day_is_fixed_on_the_next():
    for day in EVERY_DAY:
        assert calendar.day(day).fixed_from == day + timedelta(days=1)


def test_every_week_is_fixed_on_the_sunday_after_it_ended():
    for day in EVERY_DAY:
        fixed = calendar.week(day).fixed_from
        assert fixed.weekday() == 6
        assert fixed == date.fromisocalendar(*day.isocalendar()[:2], 7) + timedelta(days=7)


def test_every_month_is_fixed_on_the_eighth_of_the_next():
    for day in EVERY_DAY:
        fixed = calendar.month(day).fixed_from
        name = calendar.month(day).name
        following = (int(name[:4]) + int(name[5:]) // 12, int(name[5:]) % 12 + 1)
        assert fixed == date(*following, 8), day


# Checked by hand against a printed calendar.
@pytest.mark.parametrize(
    ("day", "week", "month"),
    [
        ("2026-03-01", "2026-W09", "2026-02"),  # Sunday; the Thursday of its week is 26 February
        ("2026-03-15", "2026-W11", "2026-03"),  # Sunday, the last day of W11
        ("2026-03-16", "2026-W12", "2026-03"),  # Monday
        ("2026-12-31", "2026-W53", "2026-12"),  # 2026 has 53 weeks
        ("2027-01-03", "2026-W53", "2026-12"),
        ("2027-01-04", "2027-W01", "2027-01"),
        ("2024-12-30", "2025-W01", "2025-01"),  # a Monday in December of the week of 2 January
        ("2024-02-29", "2024-W09", "2024-02"),
        ("2028-02-29", "2028-W09", "2028-03"),  # Tuesday; its Thursday is 2 March
    ],
)
def test_straddling_days_are_in_the_right_week_and_month(day: str, week: str, month: str):
    when = date.fromisoformat(day)
    assert (calendar.week(when).name, calendar.month(when).name) == (week, month)


def test_parents_go_day_week_month_root():
    day = calendar.parse_period("daily/2026-03-01")
    week = calendar.parent(day)
    assert week is not None
    assert week.id == "weekly/2026-W09"
    month = calendar.parent(week)
    assert month is not None
    assert month.id == "monthly/2026-02"
    assert calendar.parent(month) is None


@pytest.mark.parametrize(
    "name", ["2026-03-01", "daily/2026-03-01", "weekly/2026-W09", "2026-W53", "monthly/2026-02", "weekly/9000-W01"]
)
def test_a_period_is_read_by_its_id_or_its_name(name: str):
    assert calendar.parse_period(name).id.endswith(name)


@pytest.mark.parametrize(
    "name",
    [
        *("2026-02-30", "2026-W54", "2025-W53", "2026-W00", "2026-13", "2026-00", "9999-12-31", "0001-01-01"),
        *("weekly/2026-03-01", "daily/2026-W09", "yearly/2026", "2026", "root", "", "../2026-03-01"),
        *("٢٠٢٦-٠٣-٠١", "2026-03-01\n", " 2026-03-01"),
    ],
)
def test_what_is_no_period_is_refused(name: str):
    with pytest.raises(BadInput):
        calendar.parse_period(name)
