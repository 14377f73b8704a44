"""Times that a question names: "last March", "in week 9", "yesterday", "2026-03", "two weeks ago", "since May".

English, and dates in ISO form. The result is a span of days; what is only half a date ("March") means the latest one
that has begun. "Since" and "after" reach to today, "until" and "before" begin where time does.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import date, timedelta
from functools import cache

from recollect.core.clock import YEARS
from recollect.text.tokens import NOISE, stem, terms

Span = tuple[date, date]  # the first and the last day

_MONTHS = "january february march april may june july august september october november december".split()
_DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8}
_LENGTHS = {"day": 1, "week": 7, "month": 30, "year": 365}
_FARTHEST = 36_500  # days
_BEFORE = 40  # characters before a name in which a word that opens it is looked for
_OPEN = "since|after|until|till|before"


def span_in(text: str, today: date) -> Span | None:
    """The first time that a text names, the most exact kind of name first."""
    plain = text.lower()
    for pattern, made in _rules():
        for found in pattern.finditer(plain):
            try:
                first, last = _opened(plain, found, made(found, today), today)
            except (ValueError, OverflowError):
                continue  # 2026-02-30 and the like name no day
            if first.year in YEARS and last.year in YEARS:
                return first, last
    return None


def span_of(text: str, today: date) -> Span | None:
    """The time that a text as a whole names: what `span_in` reads, a bare "monday" or "march", and "3d", "2w", "6m"."""
    short = re.fullmatch(r"(\d{1,3})([dwmy])", text.strip().lower())
    if short:
        unit = {"d": "day", "w": "week", "m": "month", "y": "year"}[short[2]]
        text = f"last {short[1]} {unit}s"
    alone = (f"{word} {text}" for word in ("on", "in") if text.strip().isalnum())
    return next((found for each in (text, *alone) if (found := span_in(each, today))), None)


def span_alone(text: str, today: date) -> Span | None:
    """The time of a text that names nothing else: "2026-03-01", "what happened yesterday?"."""
    names = "|".join((*_MONTHS, *(name[:3] for name in _MONTHS), "sept", *_DAYS, *_NUMBERS))
    left = terms(re.sub(rf"\b(?:\d[\dw-]*(?:st|nd|rd|th)?|w\d+|{names})\b", " ", text.lower()))
    if re.search(r"[#/\"“]", text) or not _timely().issuperset(left):  # an id, or a quote
        return None
    return span_in(text, today)


@cache
def _timely() -> frozenset[str]:
    said = "ago day early entry happened late last month morning night past previous said since till tonight week"
    return frozenset(map(stem, (*NOISE, *said.split(), "weekend", "work", "written", "year")))


def _opened(plain: str, found: re.Match[str], named: Span, today: date) -> Span:
    """What "since", "after", "until" or "before" makes of the time that is named."""
    first, last = named
    begin = found.start(1) if found.re.groups else found.start()
    opening = _opening().search(plain[max(0, begin - _BEFORE) : begin])
    if opening is None:
        return named
    if opening[1] == "since":
        return first, max(last, today)
    if opening[1] == "after":
        return last + timedelta(1), max(last + timedelta(1), today)
    return date(YEARS[0], 1, 1), first - timedelta(1) if opening[1] == "before" else last


@cache
def _opening() -> re.Pattern[str]:
    # "Two weeks before May" is told of in May: that is no open end.
    lengths = "".join(rf"(?<!\b{unit} )(?<!\b{unit}s )" for unit in ("day", "week", "weekend", "month", "year"))
    return re.compile(rf"{lengths}\b({_OPEN})(?: (?:the|last|this|past|previous|week|early|late|mid))* $")


@cache
def _rules() -> tuple[tuple[re.Pattern[str], Callable[[re.Match[str], date], Span]], ...]:
    months = "|".join((*(f"{name}|{name[:3]}" for name in _MONTHS), "sept"))
    number = rf"(\d{{1,3}}|{'|'.join(_NUMBERS)})"
    nth = r"(\d{1,2})(?:st|nd|rd|th)?"
    written = (
        (r"\b(\d{4})-(\d{2})-(\d{2})\b", lambda m, _: (date(int(m[1]), int(m[2]), int(m[3])),) * 2),
        (r"\b(\d{4})-?w(\d{2})\b", lambda m, _: _week(date.fromisocalendar(int(m[1]), int(m[2]), 1))),
        (r"\b(\d{4})-(\d{2})\b(?!-)", lambda m, _: _month(int(m[1]), int(m[2]))),
        (rf"\b{nth} (?:of )?({months}),? (\d{{4}})\b", lambda m, _: _day(int(m[3]), m[2], int(m[1]))),
        (rf"\b({months})\.? {nth},? (\d{{4}})\b", lambda m, _: _day(int(m[3]), m[1], int(m[2]))),
        (rf"\b({months}),? (?:of )?(\d{{4}})\b", lambda m, _: _month(int(m[2]), _month_number(m[1]))),
        (rf"\b(?:on|by|{_OPEN}) (?:the )?{nth} (?:of )?({months})\b", lambda m, now: _past_day(now, m[2], int(m[1]))),
        (rf"\b(?:on|by|{_OPEN}) ({months})\.? {nth}\b", lambda m, now: _past_day(now, m[1], int(m[2]))),
        (r"\bweek (\d{1,2})(?: (?:of|in) (\d{4}))?\b", _week_number),
        (rf"\blast ({months})\b", lambda m, now: _past_month(now, m[1], this=False)),
        (rf"\b(?:in|of|during|this|early|late|mid|by|{_OPEN}) ({months})\b", lambda m, now: _past_month(now, m[1])),
        (r"\b(?:today|this morning|tonight)\b", lambda _, now: (now, now)),
        (r"\b(?:yesterday|last night)\b", lambda _, now: (now - timedelta(1), now - timedelta(1))),
        (rf"\b{number} (day|week|month|year)s? ago\b", _ago),
        (rf"\b(?:last|past|previous) {number} (day|week|month|year)s\b", _past),
        (r"\b(?:last|past|previous) (week|weekend|month|year)\b", _last),
        (r"\bthis (week|weekend|month|year)\b", lambda m, now: _unit(m[1], now)),
        (rf"\b(?:last|on|this|{_OPEN}) ({'|'.join(_DAYS)})\b", _weekday),
        (rf"\b(?:in|of|during|{_OPEN}) (\d{{4}})\b", lambda m, _: (date(int(m[1]), 1, 1), date(int(m[1]), 12, 31))),
    )
    return tuple((re.compile(pattern, re.ASCII), made) for pattern, made in written)


def _week_number(found: re.Match[str], today: date) -> Span:
    if found[2]:
        return _week(date.fromisocalendar(int(found[2]), int(found[1]), 1))
    year = today.isocalendar().year
    this = date.fromisocalendar(year, int(found[1]), 1)
    return _week(this if this <= today else date.fromisocalendar(year - 1, int(found[1]), 1))


def _day(year: int, month: str, day: int) -> Span:
    named = date(year, _month_number(month), day)
    return named, named


def _past_day(today: date, month: str, day: int) -> Span:
    named, _ = _day(today.year, month, day)
    return (named, named) if named <= today else _day(today.year - 1, month, day)


def _month(year: int, number: int) -> Span:
    first = date(year, number, 1)
    return first, (first + timedelta(31)).replace(day=1) - timedelta(1)


def _past_month(today: date, name: str, *, this: bool = True) -> Span:
    """The latest such month that has begun; "last March", said in March, is a year ago."""
    number = _month_number(name)
    begun = number < today.month or (this and number == today.month)
    return _month(today.year if begun else today.year - 1, number)


def _month_number(name: str) -> int:
    return next(number for number, month in enumerate(_MONTHS, start=1) if month.startswith(name))


def _week(day: date) -> Span:
    monday = day - timedelta(day.weekday())
    return monday, monday + timedelta(6)


def _unit(name: str, day: date) -> Span:
    """The week, weekend, month or year around a day."""
    if name == "month":
        return _month(day.year, day.month)
    if name == "year":
        return date(day.year, 1, 1), date(day.year, 12, 31)
    monday, sunday = _week(day)
    return (sunday - timedelta(1), sunday) if name == "weekend" else (monday, sunday)


def _last(found: re.Match[str], today: date) -> Span:
    name = found[1]
    if name in ("month", "year"):
        return _unit(name, _unit(name, today)[0] - timedelta(1))
    return _unit(name, today - timedelta(7))


def _weekday(found: re.Match[str], today: date) -> Span:
    """The latest such day before today."""
    back = (today.weekday() - _DAYS.index(found[1])) % 7 or 7
    day = today - timedelta(back)
    return day, day


def _ago(found: re.Match[str], today: date) -> Span:
    """Nobody counts exactly: the span is as wide as the unit."""
    length = _LENGTHS[found[2]]
    day = today - timedelta(min(_count(found[1]) * length, _FARTHEST))
    return day - timedelta(length // 2), day + timedelta(length // 2)


def _past(found: re.Match[str], today: date) -> Span:
    return today - timedelta(min(_count(found[1]) * _LENGTHS[found[2]], _FARTHEST)), today


def _count(word: str) -> int:
    return _NUMBERS.get(word) or int(word)
