"""The offline summariser: inside its budget, nothing unseen, every line traceable."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.journal import ENTRY_TYPES, Point, Section
from recollect.text import points as lines
from recollect.text.points import telling_words
from recollect.text.summarise import Budget, left_open, settles, summarise

SECTIONS: tuple[Section, ...] = ("topic", "note", "decision", "done", "lesson", "open")
WORDS = st.sampled_from(
    "deploy invoice api pgbouncer tenant 42 v2.1 src/auth.py decided shipped cache leak retry 409 ratio webhook".split()
)
TEXTS = st.lists(WORDS, min_size=1, max_size=25).map(" ".join)


@st.composite
def point_lists(draw: st.DrawFn) -> list[Point]:
    found = []
    for number in range(1, draw(st.integers(1, 60)) + 1):
        topic = draw(st.sampled_from(["auth", "billing: EU", "C# [user]", "search", "notes", f"rare {number}"]))
        kind = draw(st.sampled_from(ENTRY_TYPES))
        day = date(2026, 3, draw(st.integers(1, 28)))
        ref = (f"{day}#{number}",)
        if kind == "project":
            found.append(Point(section="topic", topic=topic, type=kind, refs=ref))
        section: Section = draw(st.sampled_from(SECTIONS)) if kind == "project" else "lesson"
        found.append(Point(section=section, topic=topic, type=kind, text=draw(TEXTS), refs=ref))
    return found


BUDGETS = st.builds(Budget, lines=st.integers(12, 80), chars=st.integers(2_500, 8_000))


@given(point_lists(), BUDGETS)
def test_every_entry_is_named_by_some_line(points: list[Point], budget: Budget):
    wanted = {ref for point in points for ref in point.refs}
    assert wanted <= {ref for point in summarise(points, budget) for ref in point.refs}


@given(point_lists(), BUDGETS)
def test_a_summary_stays_inside_its_budget(points: list[Point], budget: Budget):
    made = summarise(points, budget)
    shortened = [point for point in made if point.type == "project"]
    assert len(shortened) <= budget.lines
    assert len(lines.render(shortened).encode()) <= budget.chars
    assert sum(point.section == "more" for point in made) <= 1


@given(point_lists(), BUDGETS)
def test_user_and_feedback_items_and_references_are_whole_at_any_volume(points: list[Point], budget: Budget):
    made = {(point.topic, point.type, point.text) for point in summarise(points, budget)}
    assert {(point.topic, point.type, point.text) for point in points if point.type != "project"} <= made


@given(point_lists(), BUDGETS)
def test_a_summary_is_the_same_every_time(points: list[Point], budget: Budget):
    assert summarise(points, budget) == summarise(list(points), budget)


@given(point_lists())
def test_summarising_a_summary_loses_no_entry(points: list[Point]):
    once = summarise(points, Budget(lines=80, chars=8_000))
    twice = summarise(once, Budget(lines=60, chars=6_000))
    assert {r for p in points for r in p.refs} <= {r for p in twice for r in p.refs}


@given(point_lists())
def test_lines_read_back_as_the_points_they_were(points: list[Point]):
    for point in summarise(points, Budget(lines=80, chars=8_000)):
        (read,) = lines.parse("topic" if point.section == "note" else point.section, lines.point_line(point))
        assert (read.section, read.type, read.text) == (point.section, point.type, point.text)
        assert read.topic == lines.topic_name(point.topic)
        assert set(read.refs) >= set(point.refs)


def test_what_finds_no_line_is_counted_once_and_never_becomes_a_topic():
    points = [Point(section="topic", topic=f"topic {n}", refs=(f"2026-03-01#{n}",)) for n in range(1, 400)]
    once = summarise(points, Budget(lines=20, chars=2_500))
    read = lines.parse("topic", lines.render(once))
    twice = summarise(read, Budget(lines=10, chars=900))
    for made in (once, twice):
        (more,) = [point for point in made if point.section == "more"]
        assert lines.point_line(more).startswith(f"- {399 - (len(made) - 1)} more entries (2026-03-01#")
    assert not [point for point in twice if "more" in point.topic]


def test_a_decision_comes_before_a_longer_sentence_that_decides_nothing():
    points = [
        Point(
            section="note",
            topic=f"t{n}",
            text=f"Looked at file f{n}.py and moved g{n} to h{n}.",
            refs=(f"2026-03-01#{n}",),
        )
        for n in range(2, 80)
    ]
    decided = Point(section="decision", topic="lint", text="Decided to use ruff.", refs=("2026-03-01#1",))
    assert decided in summarise([*points, decided], Budget(lines=20, chars=2_500))


def test_user_and_feedback_are_kept_word_for_word():
    rule = "rule: Never deploy a floating tag; why: it took us down; how-to-apply: pin @sha256"
    points = [
        Point(section="lesson", topic="tags", type="feedback", text=rule, refs=("2026-03-01#1",)),
        *(
            Point(section="note", topic="noise", text=f"sentence {n} " * 8, refs=(f"2026-03-01#{n}",))
            for n in range(2, 200)
        ),
    ]
    assert rule in [point.text for point in summarise(points, Budget(lines=20, chars=2_500))]


def test_the_same_statement_twice_becomes_one_line_with_both_sources():
    points = [
        Point(section="decision", topic="db", text="Use cents instead of floats", refs=("2026-03-01#1",)),
        Point(section="decision", topic="db", text="use cents instead of floats.", refs=("2026-03-04#2",)),
    ]
    (made,) = [point for point in summarise(points, Budget(lines=20, chars=2_500)) if point.section == "decision"]
    assert made.refs == ("2026-03-01#1", "2026-03-04#2")


@pytest.mark.parametrize(
    ("day", "text", "is_open"),
    [
        ("2026-03-01", "the button shipped in v1", True),
        ("2026-03-03", "the button shipped", False),
        ("2026-03-03", "the search shipped", True),
        ("2026-03-03", "there is a button for the docs", True),
        ("2026-03-03", "set the status of the button's ticket to done and pushed all changes to the remote", True),
        ("2026-03-03", "the replay button is in the cart view", False),
        ("2026-03-03", "Let me look at the replay button again", True),
    ],
)
def test_an_open_item_goes_when_what_it_names_is_closed_later(day: str, text: str, is_open: bool):
    item = Point(section="open", topic="web", text="TODO replay button for saved carts", refs=("2026-03-02#1",))
    result = Point(section="done", topic="web", text=text, refs=(f"{day}#1",))
    made = summarise([item, result], Budget(lines=20, chars=2_500))
    assert ("open" in [point.section for point in made]) is is_open


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The quick fix for src/auth/token.py in v2.3.1", ["quick", "fix", "src/auth/token.py", "v2.3.1"]),
        ("1,204 of 1,207 equal (at 09:30)", ["1,204", "1,207", "equal", "09:30"]),
        ("see https://x.example/a?b=1, then stop.", ["https://x.example/a?b=1", "stop"]),
        ("one big long slow red train ride home", ["big", "long", "slow", "red", "train", "ride", "home"]),
    ],
)
def test_telling_words_keep_identifiers_whole_and_leave_out_stop_words(text: str, expected: list[str]):
    assert telling_words(text) == expected


@pytest.mark.parametrize(
    ("refs", "shown"),
    [
        (["2026-03-01#1"], "2026-03-01#1"),
        (["2026-03-01#1", "2026-03-01#2", "2026-03-01#3", "2026-03-02#7"], "2026-03-01#1-3 2026-03-02#7"),
        (["2026-03-01#10", "2026-03-01#9", "2026-03-01#2"], "2026-03-01#2,9-10"),
    ],
)
def test_references_are_joined_and_read_back(refs: list[str], shown: str):
    assert lines.show_refs(refs) == shown
    assert sorted(lines.read_refs(shown)) == sorted(refs)


@pytest.mark.parametrize(
    ("items", "result", "left"),
    [
        (["rotate production keys", "rotate staging keys"], "rotated the production keys", ["rotate staging keys"]),
        (["rotate production keys", "rotate staging keys"], "all keys are rotated", []),
        (["staging keys"], "production keys rotated", ["staging keys"]),
        (["inform partners", "new keys"], "Informed partners; the keys are new", []),
        (["rotate the staging keys of the payments cluster before Friday"], "staging keys", []),
        (["rotate the staging keys"], "Fixed the login. The keys are in the vault.", ["rotate the staging keys"]),
        (["translate the mails", "sort the events"], "Everything is done.", []),
    ],
)
def test_a_result_settles_the_open_items_of_which_it_says_most(items: list[str], result: str, left: list[str]):
    marked = "\n".join(f"OPEN: {item}" for item in items)
    assert [text for _, text in left_open([marked, f"DONE: {result}"])] == left
    assert [text for _, text in left_open([f"DONE: {result}", marked])] == items, "it was said before"


def test_a_list_that_a_person_asks_for_is_not_open():
    assert left_open(["- request: Please do\n  - [ ] the invoices\n- outcome: Both are sent.\n"]) == []


def test_two_rules_that_differ_in_one_word_both_stay():
    rules = [
        f"never deploy the {name} service on a Friday evening without a second reviewer" for name in ("web", "api")
    ]
    points = [
        Point(section="lesson", topic="deploys", type="feedback", text=rule, refs=("2026-03-01#1",)) for rule in rules
    ]
    assert [point.text for point in summarise(points, Budget(lines=20, chars=2_500))] == sorted(rules)


@pytest.mark.parametrize(
    ("item", "result", "settled"),
    [
        ("Fix the slow parser of imported dates and their zones #12", "#12 by caching what the parser returns", True),
        ("Fix the slow parser of imported dates and their zones #12", "#13 by caching what the parser returns", False),
        ("Fix the slow parser of imported dates", "the parser", True),
        ("Fix the slow parser of imported dates and their zones", "parser knows which month the cache keeps", False),
        ("rotate keys", "keys are in the vault of the staging cluster", True),
    ],
)
def test_a_done_line_settles_an_item_by_its_number_or_its_one_subject(item: str, result: str, settled: bool) -> None:
    assert settles(f"done: {result}", [item]) == ([0] if settled else [])
