"""Nodes as text: joined and parted, read back, and refused when a model did badly."""

from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core import calendar
from recollect.core.calendar import parse_period
from recollect.core.journal import Node, Point, Source, Topic
from recollect.text import entries, markdown, nodes
from recollect.text.nodes import Material, budget

WEEK = parse_period("2026-W09")


def node(id: str, body: str, generator: str = nodes.COPY) -> Node:
    return Node(id=id, status="tentative", topics=(), sources=(), generator=generator, body=body)


BODIES = st.lists(
    st.sampled_from(
        [
            *("# a", "## B [user]", "### c", "text", "", "```", "~~~", "- item: x", "---"),
            *("<!-- source: daily/2026-02-24 copy -->", "<!-- source: weekly/2026-W09 copy -->", "\\## kept"),
            "\\<!-- source: daily/2026-02-24 copy -->",
        ]
    ),
    min_size=1,
    max_size=12,
).map(lambda lines: "\n".join(lines).strip("\n") or "x")


@given(BODIES, BODIES)
def test_what_is_joined_can_be_parted_again(first: str, second: str):
    children = [node("daily/2026-02-24", first), node("daily/2026-02-25", second, "offline/1")]
    parts = nodes.parted("weekly", nodes.join(children))
    assert [(id, generator) for id, generator, _ in parts] == [
        ("daily/2026-02-24", "copy"),
        ("daily/2026-02-25", "offline/1"),
    ]
    assert [body for _, _, body in parts] == [markdown.close_fence(child.body).strip("\n") for child in children]


def test_joining_closes_fences_and_demotes_headings():
    joined = nodes.join([node("daily/2026-02-24", "## A\n```\n## code"), node("daily/2026-02-25", "## B")])
    assert joined == (
        "<!-- source: daily/2026-02-24 copy -->\n## 2026-02-24\n\n### A\n```\n## code\n```\n\n"
        "<!-- source: daily/2026-02-25 copy -->\n## 2026-02-25\n\n### B"
    )


def test_points_come_through_two_levels_of_joining():
    day = node("daily/2026-02-24", "## Auth [feedback]\n- rule: no mocks\n")
    week = node("weekly/2026-W09", nodes.join([day]))
    month = node("monthly/2026-02", nodes.join([week]))
    expected = nodes.points_of(day.id, day.body, day.generator)
    assert expected
    assert nodes.points_of(week.id, week.body, week.generator) == expected
    assert nodes.points_of(month.id, month.body, month.generator) == expected


def test_a_node_reads_back_as_it_was_rendered():
    made = Node(
        id="weekly/2026-W09",
        status="fixed",
        topics=(Topic(name="C# & co", type="user"), Topic(name="a: b")),
        sources=(Source(path="daily/2026-02-24.md", sha256="ab" * 32),),
        generator="offline/1",
        body="## Topics\n- x [project] (2026-02-24#1)",
        incomplete=("2026-02-25.md",),
    )
    text = nodes.render(made)
    assert nodes.parse("weekly/2026-W09", text) == made
    assert "dates: 2026-02-23 to 2026-03-01" in text


def test_the_node_of_another_tool_is_read_and_counts_as_out_of_date():
    text = (
        "---\ntype: daily\nstatus: fixed\nperiod: 2026-02-24\nsource-files: [memory/2026-02-24.md]\n"
        "topics: auth [project], C# issue #12, tz [user]\n---\n\n## Topics\nauth, tz\n\n"
        "## Key Decisions\n- db: chose cents over floats\n"
    )
    read = nodes.parse("daily/2026-02-24", text)
    assert [str(topic) for topic in read.topics] == ["auth [project]", "C# issue #12 [project]", "tz [user]"]
    assert (read.sources, read.generator) == ((), nodes.FOREIGN)
    found = nodes.points_of(read.id, read.body, read.generator)
    assert Point(section="decision", topic="db", text="chose cents over floats", refs=("2026-02-24#0",)) in found


def test_a_node_left_in_conflict_has_no_sources_to_trust():
    text = nodes.render(node("daily/2026-02-24", "<<<<<<< HEAD\na\n=======\nb\n>>>>>>> x"))
    assert nodes.parse("daily/2026-02-24", text).generator == nodes.FOREIGN


def test_status_is_read_from_the_frontmatter_only():
    assert nodes.parse("daily/2026-02-24", "## A\nstatus: fixed\n").status == "tentative"


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", "too short"),
        ("short", "too short"),
        ("I'm sorry, but I cannot summarise these notes for you because of their content.", "refusal"),
        ("## Topics\n\nAs an AI language model I am not able to do this, so here is nothing at all.", "refusal"),
        ("- words " * 400, "longer"),
    ],
)
def test_a_bad_summary_is_refused(body: str, reason: str):
    kept = Point(section="lesson", topic="tags", type="feedback", text="rule: never deploy a floating image tag")
    material = Material(period=WEEK, text="x" * 2_000, points=(kept,), budget=budget(300))
    assert reason in (nodes.fault(body, material) or "")


def test_a_good_summary_is_accepted():
    kept = Point(section="lesson", topic="tags", type="feedback", text="rule: never deploy a floating image tag")
    material = Material(period=WEEK, text="x" * 2_000, points=(kept,), budget=budget(300))
    assert (
        nodes.fault("## Lessons Learned\n- tags [feedback]: rule: never deploy a floating image tag", material) is None
    )


NEVER = Point(
    section="lesson", topic="tags", type="feedback", text="rule: never deploy a floating tag", refs=("2026-02-24#1",)
)
ADA = Point(section="topic", topic="ada", type="user", text="Ada lives in Berlin", refs=("2026-02-25#2",))


@pytest.mark.parametrize(
    "said",
    [
        "- tags [feedback]: rule: always deploy a floating tag (2026-02-24#1)",
        "- tags: always deploy a floating tag (2026-02-24#1)",
        "- ada [user]: Ada lives in Paris",
        "",
    ],
)
def test_what_a_person_said_stands_in_a_summary_as_it_was_said(said: str):
    material = Material(period=WEEK, text="x" * 2_000, points=(NEVER, ADA), budget=budget(300))
    body = nodes.completed(nodes.without_kept(f"## Topics\n{said}\n\n## Open Items", material.points), material)
    assert body == (
        "## Lessons Learned\n- tags [feedback]: rule: never deploy a floating tag (2026-02-24#1)\n\n"
        f"## Topics\n- ada [user]: Ada lives in Berlin (2026-02-25#2)\n{'' if said else chr(10)}\n## Open Items"
    )


def test_no_model_is_shown_what_a_person_said():
    text = (
        "## deploys [feedback]\n\n- rule: never on Friday\n### why\nIt broke.\n\n## cache [project]\n\nWarm.\n"
        "## ada [user]\n\nDislikes emoji.\n"
    )
    assert nodes.without_kept(text) == "## deploys [feedback]\n## cache [project]\n\nWarm.\n## ada [user]"
    lines = "## Topics\n- ada [user]: Dislikes emoji (2026-02-25#2)\n- cache: warm (2026-02-25#1)"
    assert nodes.without_kept(lines) == "## Topics\n- cache: warm (2026-02-25#1)"


@pytest.mark.parametrize(
    ("lines", "width", "fits"), [(200, 10, True), (201, 10, False), (10, 1_990, True), (10, 2_010, False)]
)
def test_a_log_is_copied_up_to_its_lines_and_its_bytes(lines: int, width: int, fits: bool):
    assert nodes.fits(["\n".join(["x" * width] * lines)], 200) is fits


def test_a_long_day_keeps_its_sections_in_order():
    log = "\n".join(f"## Topic {n}\nDecided on option {n}. Shipped v{n}." for n in range(120))
    day = date(2026, 2, 24)
    body, generator = nodes.daily_body(day, entries.parse(day, log), log, 200)
    assert generator == nodes.OFFLINE
    titles = [line for line in body.split("\n") if line.startswith("## ")]
    assert titles == ["## Topics", "## Key Decisions", "## Tasks Completed", "## Lessons Learned", "## Open Items"]


def test_who_and_what_is_named_is_counted_up_to_the_month_with_the_last_entry_of_each():
    log = "## Webhooks [project]\n- decisions: with Priya, to retry in webhook-worker; src/hooks.py raised RetryError\n"
    limits = nodes.Limits(daily=200, weekly=0, monthly=0)
    weeks = []
    for monday in (date(2026, 2, 2), date(2026, 2, 9)):
        days = [node(f"daily/{monday + timedelta(days=n)}", log) for n in range(2)]
        weeks.append(nodes.parent_node(calendar.week(monday), days, today=monday, limits=limits))
    month = nodes.parent_node(calendar.month(date(2026, 2, 1)), weeks, today=date(2026, 3, 1), limits=limits)
    said = "- people: Priya ×{0} ({1})\n- services: webhook-worker ×{0} ({1})\n- files: src/hooks.py ×{0} ({1})\n"
    said += "- errors: RetryError ×{0} ({1})"
    assert f"## Entities Referenced\n{said.format(2, '2026-02-10#1')}\n" in weeks[1].body
    assert f"## Recurring Entities\n{said.format(4, '2026-02-10#1')}\n" in month.body
    assert {topic.name for topic in month.topics} == {"Webhooks"}
