"""ROOT.md: its caps, what gives way first, and its ages."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.journal import Point
from recollect.text import root
from recollect.text.root import LATEST, Mention, MonthDigest, fold
from recollect.text.tokens import tokens

TODAY = date(2026, 3, 1)


def mention(topic: str, age: int = 1, type: str = "project", **more: object) -> Mention:
    day = TODAY - timedelta(days=age)
    given = {"text": f"words about {topic}", **more}
    return Mention(topic=topic, type=type, last=f"{day}#1", **given)  # type: ignore[arg-type]


def months(count: int, mentions: tuple[Mention, ...] = ()) -> list[MonthDigest]:
    first = 2026 * 12 + 1 - (count - 1)
    names = [f"{(first + n) // 12}-{(first + n) % 12 + 1:02d}" for n in range(count)]
    made = [
        MonthDigest(month=name, mentions=tuple(mention(f"old {name} {k}", 400) for k in range(5)), lessons=())
        for name in names[:-1]
    ]
    return [*made, MonthDigest(month=names[-1], mentions=mentions, lessons=())]


def build(capsules: list[MonthDigest], recent: list[Point], today: date, cap: int) -> tuple[str, str | None]:
    return root.build(fold(capsules[:-LATEST], cap), capsules[-LATEST:], recent, today, cap)


def index(text: str) -> list[str]:
    return [line for line in text.partition("## Topics Index\n")[2].split("\n") if line.startswith("- ")]


def history(text: str) -> list[str]:
    part = text.partition("## Historical Summary\n")[2].partition("\n\n")[0]
    return [line[2:].partition(":")[0] for line in part.split("\n") if line]


def test_the_page_has_its_four_sections_in_order():
    text, _ = build(months(2, (mention("auth"),)), [], TODAY, 3_000)
    assert [line for line in text.split("\n") if line.startswith("## ")] == [
        "## Active Context (recent ~7 days)",
        "## Recent Patterns",
        "## Historical Summary",
        "## Topics Index",
    ]
    assert "last-updated: 2026-03-01" in text


@pytest.mark.parametrize(
    ("type", "age", "shown"),
    [
        ("project", 0, "[project, 0d]"),
        ("project", 5, "[project, 5d]"),
        ("reference", 30, "[reference, 30d]"),
        ("reference", 31, "[reference, 31d, ?]"),
        ("user", 300, "[user, 300d]"),
        ("project", -2, "[project, 0d]"),
    ],
)
def test_ages_are_days_since_the_last_mention(type: str, age: int, shown: str):
    text, _ = build(months(1, (mention("auth", age, type),)), [], TODAY, 3_000)
    assert f"- auth {shown}: words about auth → log/" in text


@given(st.integers(1, 140), st.integers(0, 120), st.integers(0, 60), st.sampled_from([600, 1_500, 3_000]))
def test_the_page_never_passes_its_cap_and_no_topic_vanishes(count: int, projects: int, kept: int, cap: int):
    mine = (
        *(mention(f"p{n}", n) for n in range(projects)),
        *(mention(f"u{n}", n, "user", text=f"the user likes {n} " * 6) for n in range(kept)),
    )
    capsules = months(count, mine)
    text, overflow = build(capsules, [], TODAY, cap)
    assert tokens(text) <= cap
    everywhere = text + (overflow or "")
    for each in mine:
        assert f"- {each.topic} [{each.type}" in everywhere


@given(st.integers(1, 140), st.sampled_from([600, 3_000]))
def test_every_month_is_inside_exactly_one_period(count: int, cap: int):
    capsules = months(count, tuple(mention(f"p{n}", n) for n in range(200)))
    text, _ = build(capsules, [], TODAY, cap)
    covered: list[str] = []
    for period in history(text):
        first, _, last = period.partition("~")
        last = last if len(last) == 7 else (first[:5] + last if last else first)
        covered += [one.month for one in capsules if first <= one.month <= last]
    assert covered == [one.month for one in capsules]


def test_periods_of_one_year_are_written_short():
    pages = (build(months(14), [], TODAY, cap)[0] for cap in range(4_000, 500, -10))
    merged = next(page for page in pages if any("~" in period for period in history(page)))
    assert "2025-04~06" in history(merged)


def test_history_gives_way_before_any_topic():
    capsules = months(40, tuple(mention(f"p{n}", 1) for n in range(5)))
    wide, none = build(capsules, [], TODAY, 100_000)
    cap = tokens(wide) - 10
    text, overflow = build(capsules, [], TODAY, cap)
    assert none is None
    assert overflow is None
    assert len(history(text)) < len(history(wide))
    assert len(index(text)) == len(index(wide))


def test_completed_and_long_silent_projects_go_before_living_ones_and_kept_ones_stay():
    mine = (
        *(mention(f"living {n}", 3) for n in range(10)),
        *(mention(f"silent {n}", 91) for n in range(10)),
        *(mention(f"closed {n}", 20, done=True) for n in range(10)),
        *(mention(f"rule {n}", 600, "feedback") for n in range(10)),
    )
    text, overflow = build(months(1, mine), [], TODAY, 500)
    shown = " ".join(index(text))
    assert overflow is not None
    assert all(f"rule {n} [" in shown for n in range(10))
    for given_up in ("silent", "closed"):
        if given_up in shown:
            assert all(f"living {n} [" in shown for n in range(10))


def test_a_rule_given_twice_in_other_words_is_kept_twice():
    rules = ("no mocks", "mocks only for mail")
    mine = tuple(mention("mocks", 3, "feedback", text=rule) for rule in rules)
    text, _ = build(months(1, mine), [], TODAY, 3_000)
    assert "no mocks" in text
    assert "mocks only for mail" in text


def test_active_context_shows_what_is_open_and_puts_what_is_done_last():
    recent = [
        Point(section="done", topic="old", text="old shipped", refs=("2026-02-28#2",)),
        Point(section="open", topic="new", text="TODO index", refs=("2026-02-27#1",)),
    ]
    mine = (mention("old", 1, done=True), mention("new", 2))
    text, _ = build(months(1, mine), recent, TODAY, 3_000)
    active = text.partition("## Active Context (recent ~7 days)\n")[2].partition("\n\n")[0].split("\n")
    assert active == ["- new: TODO index → log/2026-02-27#1", "- old shipped → log/2026-02-28#2"]


def test_what_holds_no_phrase_is_shown_in_its_own_words() -> None:
    said = Point(section="note", topic="misc", text="We did it and then that", refs=("2026-02-28#1",))
    text, _ = build(months(1, (mention("misc"),)), [said], TODAY, 3000)
    assert "- misc: We did it and then that → log/2026-02-28#1" in text


def test_history_tells_what_rose_in_a_period_against_the_rest():
    always = [mention("standup", 1, count=5)]
    told = [
        MonthDigest(month=f"2026-0{n}", mentions=(*always, mention(word, 1, count=3)), lessons=())
        for n, word in enumerate(("zebra", "yak", "aardvark"), start=1)
    ]
    text, _ = build(told, [], TODAY, 3_000)
    for month, word in (("2026-01", "zebra"), ("2026-02", "yak"), ("2026-03", "aardvark")):
        assert f"- {month}: {word}, standup → monthly/{month}" in text


def test_one_link_counts_what_is_in_the_overflow_file():
    mine = tuple(mention(f"rule {n}", 600, "feedback", text="never " * 40) for n in range(30))
    text, overflow = build(months(1, (*mine, *(mention(f"p{n}", 5) for n in range(50)))), [], TODAY, 500)
    moved = [line for line in (overflow or "").split("\n") if line.startswith("- ")]
    kept = sum("[feedback, " in line for line in moved)
    assert [line for line in text.split("\n") if "more topics" in line] == [
        f"- {len(moved)} more topics, {kept} of them user and feedback items, 0 references → ROOT.overflow.md"
    ]


def test_a_capsule_reads_back_from_its_row():
    made = root.make_digest(
        "2026-02", [Point(section="lesson", topic="t [x]: y", text="never x", refs=("2026-02-03#1",))]
    )
    assert root.unpack_digest(root.pack_digest(made)) == made


@given(st.integers(3, 40), st.integers(0, 600))
def test_a_fold_reads_back_and_loses_no_mention(count: int, many: int):
    capsules = [
        *months(count)[:-1],
        MonthDigest(month="2026-01", mentions=tuple(mention(f"m{n}", n) for n in range(many)), lessons=()),
    ]
    past = fold(capsules, 3_000)
    assert replace(root.unpack_past(root.pack_past(past)), rest=past.rest) == past
    named = {each.topic for each in past.mentions} | {line[2:].partition(" [")[0] for line in past.rest.split("\n")}
    assert {each.topic for one in capsules for each in one.mentions} <= named


@pytest.mark.parametrize(("age", "said"), [(0, False), (6, False), (7, True), (400, True)])
def test_after_a_silence_of_seven_days_active_context_says_that_it_is_not_recent(age: int, said: bool) -> None:
    day = TODAY - timedelta(days=age)
    point = Point(section="open", topic="auth", text="rotate the key", refs=(f"{day}#1",))
    text, _ = build(months(1), [point], TODAY, 3_000)
    assert (f"- nothing was logged after {day}; this is where things stood then" in text) == said


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fix(protocol): avoid deadlock at the start", "fix(protocol): avoid deadlock at the start"),
        ("Always avoid deadlocks", "Avoid deadlock: Always avoid deadlocks"),
    ],
)
def test_a_line_that_says_its_topic_does_not_begin_with_it_again(text: str, expected: str):
    lesson = Point(section="lesson", topic="Avoid deadlock", text=text, refs=("2026-02-28#1",))
    page, _ = build([MonthDigest(month="2026-02", mentions=(), lessons=(lesson,))], [], TODAY, 3_000)
    assert f"- {expected} → log/2026-02-28#1" in page
