"""`--json`: snake_case names, ISO 8601 times, confidence as a decimal, the schema's own field names."""

from __future__ import annotations

import re
from typing import Any

import pytest

from samples import WEBHOOKS
from shell import Shell

SCHEMA = """id title context observation implication action source_outcome_id source_task_id source_discovery_id tags
  domain pattern_type confidence times_injected times_helpful times_not_helpful created_at updated_at last_injected_at
  last_helpful_at status superseded_by""".split()

COMMANDS = [
    "status",
    "cycle",
    "learn list",
    "learn show ID",
    "learn history ID",
    "learn edit ID --title Newer",
    "learn tag ID --add more",
    "learn archive ID",
    "learn pin ID",
    "search webhooks",
    "why ID",
    "undo",
    "learn rate ID --verdict helpful",
    "task list",
    "task add TASK-9",
    "task shown TASK-7",
    "task outcome list",
    "task outcome add imports",
    "task discovery list",
    "inbox",
    "init",
    "host trust",
    "store verify",
    "inject --task TASK-8 --outcome other --title webhooks",
]


@pytest.fixture
def id(shell: Shell) -> str:
    id = shell.learn()
    shell.inject()
    shell.said("task", "observe", "--task", "TASK-7", stdin="DISCOVERY[constraint]: Amounts are stored in cents\n")
    return id


def test_a_learning_has_the_field_names_of_the_schema(shell: Shell, id: str) -> None:
    learning = shell.json("learn", "show", id)
    assert set(SCHEMA) <= set(learning)
    assert learning["confidence"] == 0.7
    assert learning["created_at"] == "2026-03-02T09:00:00Z"
    assert learning["last_injected_at"] == "2026-03-02T09:00:00Z"
    assert learning["last_helpful_at"] is None
    assert learning["times_injected"] == 1
    assert learning["tags"] == ["stripe", "webhooks"]


def test_adding_gives_the_record_and_what_became_of_it(shell: Shell, id: str) -> None:

    again = shell.json(
        *("learn", "add"),
        *(
            part
            for name in ("title", "context", "observation", "implication", "action")
            for part in (f"--{name}", WEBHOOKS[name])
        ),
    )
    assert (again["id"], again["merged"], again["redacted"], again["recurrence"]) == (id, True, [], 2)


@pytest.mark.parametrize("line", COMMANDS)
def test_every_answer_is_one_json_value_with_plain_names_and_iso_times(shell: Shell, id: str, line: str) -> None:
    seen = list(_members(shell.json(*line.replace("ID", id).split())))
    for name, value in seen:
        assert re.fullmatch(r"[a-z0-9_]+", name), name
        if name == "at" or name.endswith("_at"):
            assert value is None or re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z", value), (name, value)
        if name == "confidence":
            assert isinstance(value, float), value
            assert 0 <= value <= 1


def test_observing_and_feedback_say_what_was_taken(shell: Shell, id: str) -> None:
    seen = shell.json(
        "task", "observe", "--task", "TASK-8", stdin="DISCOVERY[blocker]: The cache ignores Vary\nDISCOVERY[odd]: x\n"
    )
    assert [discovery["type"] for discovery in seen["discoveries"]] == ["blocker", "decision"]
    assert seen["unknown_types"] == ["odd"]
    assert seen["captured"][0]["learning"]["pattern_type"] == "gotcha"
    taken = shell.json("task", "feedback", "--task", "TASK-7", stdin=f"LEARNING_HELPFUL: {id}\n")
    assert taken == {"counted": [id], "repeated": [], "both": [], "not_injected": []}


def _members(value: Any) -> Any:
    if isinstance(value, dict):
        for name, part in value.items():
            yield name, part
            yield from _members(part)
    elif isinstance(value, list):
        for part in value:
            yield from _members(part)


def test_every_list_is_under_its_noun(shell: Shell) -> None:
    assert shell.json("store", "verify")["differences"] == []
    assert shell.json("model", "apply", stdin="[]")["answers"] == []


def test_a_list_of_work_says_how_many_there_are_in_all(shell: Shell) -> None:
    for number in range(3):
        shell.said("task", "add", f"task-{number}", "--outcome", f"outcome-{number}")
    shell.run("task", "observe", "--task", "task-0", stdin="DISCOVERY[dependency]: one\nDISCOVERY[dependency]: two\n")
    for line, key, total in (
        ("task list", "tasks", 3),
        ("task outcome list", "outcomes", 3),
        ("task discovery list", "discoveries", 2),
    ):
        found = shell.json(*line.split(), "--limit", "1", "--offset", "1")
        assert (len(found[key]), found["total"], found["limit"], found["offset"]) == (1, total, 1, 1)
    assert "1 of 3; --offset shows more" in shell.said("task", "list", "--limit", "1")


def test_the_list_of_logs_has_the_newest_day_first(shell: Shell) -> None:
    for day in ("2026-03-01", "2026-03-02"):
        shell.said("log", "add", f"Repaired the importer on {day}", RECOLLECT_NOW=f"{day}T09:00:00Z")
    found = shell.json("log", "list", "--limit", "1")
    assert (found["days"], found["total"]) == ([{"day": "2026-03-02", "entries": 1}], 2)
    assert shell.said("log", "list").splitlines()[1:] == ["2026-03-02  1", "2026-03-01  1"]
