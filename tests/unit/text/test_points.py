"""From entries to points: the type rules, and what stays in the log."""

from __future__ import annotations

from datetime import date

import pytest

from recollect.core.journal import Entry, Point
from recollect.text import points as text_points
from recollect.text.entries import parse

DAY = date(2026, 3, 1)


def points(log: str) -> list[Point]:
    return [point for entry in parse(DAY, log) for point in text_points.extract_points(entry)]


def said(log: str) -> list[tuple[str, str]]:
    return [(point.section, point.text) for point in points(log) if point.text]


def test_a_user_entry_is_kept_whole_in_one_point():
    assert said("## Hours [user]\nStarts at 09:30.\n\n- no deploys on Friday\n") == [
        ("topic", "Starts at 09:30. - no deploys on Friday")
    ]


def test_feedback_keeps_rule_why_and_how_to_apply():
    log = "## Mocks [feedback]\n- rule: no mocks.\n- why: hid a bug.\n- how-to-apply: use pg.\n"
    assert said(log) == [("lesson", "rule: no mocks; why: hid a bug; how-to-apply: use pg.")]


def test_a_reference_keeps_its_pointer_and_one_line():
    log = "## Board [reference]\nGrafana board for lag.\nLong story about who made it.\nhttps://g.example/d/114\n"
    assert said(log) == [("topic", "Grafana board for lag. https://g.example/d/114")]


@pytest.mark.parametrize(
    ("line", "section"),
    [
        ("Decided to use cents instead of floats", "decision"),
        ("We chose WeasyPrint rather than Chromium", "decision"),
        ("TODO: embed the fonts", "open"),
        ("- [ ] pin the sidecar", "open"),
        ("- [x] pin the sidecar", "done"),
        ("Blocked by the export", "open"),
        ("Turned out that flex ignores page breaks", "lesson"),
        ("Root cause was a floating tag", "lesson"),
        ("Shipped to staging", "done"),
        ("The nodes are abandoned", "note"),
        ("Latency is 40 ms", "note"),
        ("- decisions: integer cents", "decision"),
        ("- outcome: live for tenant 17", "done"),
        ("- outcome: in progress, tests remain", "open"),
        ("**Next step:** embed the fonts", "open"),
        ("Status: **IN PROGRESS** - the relay refuses the key", "open"),
        ("The relay key is not yet configured", "open"),
        ("Should we close the alert that is still pending?", "note"),
        ("The import no longer waits for pending rows", "note"),
        ("A row that is not yet written is skipped", "note"),
        ("Remaining items:", "note"),
        ("Fixed the remaining problems of the import", "done"),
        ("First we need to check the config", "note"),
    ],
)
def test_project_sentences_go_to_their_section(line: str, section: str):
    assert [found for found, _ in said(f"## T\n{line}\n")] == [section]


def test_a_sentence_that_is_wrapped_is_one():
    log = (
        "## T\n- outcome: Moved.\n  For this reason, always mark devices that were not seen\n  as inactive.\n  - next\n"
    )
    assert ("lesson", "For this reason, always mark devices that were not seen as inactive.") in said(log)


def test_what_a_request_leaves_open_its_answer_is_about():
    asked = "## T\n- request: Still need to handle two VAT rates.\n"
    assert ("open", "Still need to handle two VAT rates.") in said(asked)
    assert all(section != "open" for section, _ in said(asked + "- outcome: Both rates are on the note.\n"))


def test_code_and_stack_traces_stay_in_the_log_and_the_error_line_survives():
    log = """## T
Before.
```python
secret_constant = 1
```
Traceback (most recent call last):
  File "/srv/a.py", line 3, in run
    go()
ValueError: no such tenant
    at com.example.Main(Main.java:10)
After.
"""
    assert [text for _, text in said(log)] == ["Before.", "ValueError: no such tenant", "After."]


@pytest.mark.parametrize(
    "line",
    [
        "[temporary] print left in",
        "left a print in #temporary",
        "(임시) 확인",
        "- [delete later] scratch",
        "test run",
        "Test run.",
    ],
)
def test_lines_marked_as_temporary_stay_out(line: str):
    assert said(f"## T\nKeep this.\n{line}\n") == [("note", "Keep this.")]


@pytest.mark.parametrize(
    "line", ["the temporary table needs an index", "the test run took 4 minutes", "C# temporaries are fine"]
)
def test_a_mere_mention_of_a_marker_is_kept(line: str):
    assert line in [text for _, text in said(f"## T\n{line}\n")]


@pytest.mark.parametrize("log", ["## Scratch [project]\ntest run\n", "## Scratch [temporary] [project]\nA try.\n"])
def test_an_entry_that_is_nothing_but_temporary_makes_no_topic_and_is_counted(log: str):
    (point,) = points(log)
    assert (point.section, point.topic, point.text, point.refs) == ("more", "", "", ("2026-03-01#1",))


def test_a_rule_keeps_its_code_and_its_how_to_apply_whole():
    (point,) = points(
        "## Tags [feedback]\n- rule: pin images\n- why: "
        + "reason " * 400
        + "\n- how-to-apply: use\n```\n@sha256\n```\n"
    )
    assert "how-to-apply: use" in point.text
    assert "@sha256" in point.text
    assert point.text.count("reason") == 400


def test_every_point_names_the_entry_it_came_from():
    log = "## A\nOne. Two shipped.\n## B [user]\nthree\n"
    assert {point.refs for point in points(log) if point.topic == "B"} == {("2026-03-01#2",)}
    assert {point.refs for point in points(log) if point.topic == "A"} == {("2026-03-01#1",)}


def test_an_entry_without_a_topic_is_listed_as_notes():
    (point, *_) = text_points.extract_points(Entry(day=DAY, number=0, topic="", text="woke up"))
    assert point.topic == "notes"
