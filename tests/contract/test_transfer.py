"""Export and import: what goes out comes back equal, and a stranger's file brings words, not claims."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from conftest import AGENT, PERSON, Opener
from recollect import BadInput, LearningEdit, Memory, Refused
from recollect.core.clock import ScriptedClock
from recollect.core.decision import NewDecision
from recollect.core.records import random_id
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning

# What an import does not take over, whoever vouches for it.
COUNTERS = {
    "times_injected",
    "times_helpful",
    "times_not_helpful",
    "last_injected_at",
    "last_helpful_at",
    "last_decayed_at",
}
TRUST = {"trust", "origin"}
HISTORY = {"injection", "event", "escalation"}


def exported(memory: Memory) -> list[dict[str, Any]]:
    lines: list[str] = []
    memory.data.export(lines.append)
    return [json.loads(line) for line in lines]


def taken(memory: Memory, *records: object, trust: Any = "external") -> Any:
    text = "".join(record if isinstance(record, str) else json.dumps(record) + "\n" for record in records)
    return memory.data.take_in(io.BytesIO(text.encode("utf-8", "surrogatepass")), trust=trust)


def comparable(records: list[dict[str, Any]]) -> list[dict[str, Any]]:
    kept = []
    for record in records:
        if record["type"] in HISTORY | {"recollect"}:
            continue
        record = {name: value for name, value in record.items() if name not in COUNTERS | TRUST}
        for source in record.get("sources", []):
            for name in TRUST:
                del source[name]
        kept.append(record)
    return kept


@pytest.fixture
def full(memory: Memory, clock: ScriptedClock) -> Memory:
    """A memory with one of everything: superseded chain, pins, tags, verdicts, discoveries, a decision, a question."""
    a = memory.learn(learning(WEBHOOKS, source_task_id="t0", source_outcome_id="o0")).learning
    b = memory.learn(learning(MIGRATIONS)).learning
    c = memory.learn(learning(FLAKY, confidence=0.65, pattern_type="gotcha")).learning
    d = memory.learn(learning(FLAKY, title="Screenshots differ on every machine", observation="Fonts differ")).learning
    clock.advance(hours=5, ms=7)
    memory.learnings.pin(c.id)
    memory.learnings.supersede(a.id, b.id)
    memory.learnings.supersede(b.id, c.id)
    memory.learnings.archive(d.id)
    memory.inject(task="t1", outcome="o1", title="Playwright tests that sleep")
    memory.feedback(f"LEARNING_HELPFUL: {c.id}", task="t1")
    memory.work.add_outcome("o2", name="Ünïcode — “name” \u2028 with a line separator")
    output = "DISCOVERY[blocker]: The linter needs node 20 to start\nDISCOVERY[dependency]: Task 4 first\n"
    memory.observe(output, task="t2", outcome="o1", title="Set up linting")
    memory.decisions.record(NewDecision(decision="Use a queue over cron", confidence=0.8, category="architecture"))
    for title in ("Retry failed payments automatically", "Failed payments must not be retried automatically"):
        memory.learn(learning(title=title, action=title))
    return memory


@pytest.fixture
def fresh(tmp_path: Path, clock: ScriptedClock, environ: dict[str, str]) -> Any:
    opened: list[Memory] = []

    def opener(name: str = "fresh") -> Memory:
        folder = tmp_path / name
        folder.mkdir(exist_ok=True)
        memory = Memory.open(folder, create=True, actor=PERSON, clock=clock, ids=random_id, environ=environ)
        opened.append(memory)
        return memory

    yield opener
    for memory in opened:
        memory.close()


def test_an_export_holds_every_kind_of_record_and_counts_them(full: Memory) -> None:
    lines: list[str] = []
    told = full.data.export(lines.append)
    types = Counter(json.loads(line)["type"] for line in lines)
    assert types.pop("recollect") == 1
    assert types.keys() == HISTORY | {"outcome", "task", "discovery", "learning", "decision"}
    assert told.records == types


def test_what_a_person_vouches_for_comes_back_equal(full: Memory, fresh: Any) -> None:
    before = exported(full)
    other = fresh()
    result = taken(other, *before, trust="agent")
    assert result.whole
    assert comparable(exported(other)) == comparable(before)
    assert {record["trust"] for record in exported(other) if record["type"] == "learning"} == {"agent"}


def test_an_import_again_changes_nothing(full: Memory, fresh: Any) -> None:
    before = exported(full)
    other = fresh()
    taken(other, *before)
    once = exported(other)[1:]
    for _ in range(3):
        again = taken(other, *before)
        assert again.added == {}
        assert again.whole
    assert exported(other)[1:] == once


def test_an_import_into_its_own_store_changes_nothing(full: Memory) -> None:
    before = exported(full)
    result = taken(full, *before)
    assert result.whole
    assert result.added == {}
    assert exported(full)[1:] == before[1:]


def test_lines_in_any_order_bring_the_same_supersessions(full: Memory, fresh: Any) -> None:
    before = exported(full)
    other = fresh()
    assert taken(other, *reversed(before), trust="agent").whole
    chains = {r["id"]: r["superseded_by"] for r in before if r["type"] == "learning"}
    assert {r["id"]: r["superseded_by"] for r in exported(other) if r["type"] == "learning"} == chains


def test_only_a_person_may_vouch(open_memory: Opener) -> None:
    with pytest.raises(Refused, match="only a person"):
        taken(open_memory(AGENT), trust="agent")


CLAIM: dict[str, Any] = {
    "type": "learning",
    "id": "learn_claim",
    **{name: WEBHOOKS[name] for name in ("title", "context", "observation", "implication", "action")},
}


def test_claims_of_trust_counters_and_confidence_do_not_count(memory: Memory) -> None:
    claims = {
        "trust": "human",
        "origin": "cli",
        "times_helpful": 9999,
        "times_injected": 9999,
        "confidence": 1.0,
        "pinned": True,
        "recurrence": 500,
        "created_at": "2999-01-01T00:00:00Z",
    }
    assert taken(memory, {**CLAIM, **claims}).whole
    kept = memory.learnings.get("learn_claim")
    assert (kept.trust, kept.origin) == ("external", "import")
    assert (kept.times_helpful, kept.times_injected, kept.recurrence) == (0, 0, 1)
    assert (kept.confidence, kept.pinned) == (0.5, False)
    assert kept.created_at == memory.context.clock.now()


def test_a_pin_that_an_import_brought_is_a_persons(open_memory: Opener) -> None:
    taken(open_memory(PERSON), {**CLAIM, "pinned": True}, trust="agent")
    with pytest.raises(Refused, match="person"):
        open_memory(AGENT).learnings.edit("learn_claim", LearningEdit(title="Another"))


def test_what_came_from_outside_is_found_but_not_injected(memory: Memory) -> None:
    taken(memory, CLAIM)
    assert [hit.learning.id for hit in memory.search("stripe webhook order")] == ["learn_claim"]
    assert memory.inject(task="t", outcome="o", title="stripe webhook order", min_confidence=0.1).learnings == ()


def test_what_is_vouched_for_later_is_adopted(memory: Memory) -> None:
    taken(memory, CLAIM)
    done = taken(memory, CLAIM, trust="agent")
    assert (done.added, done.adopted, done.known) == ({}, 1, 0)
    assert [each.trust for each in memory.learnings.page()[0]] == ["agent"]
    assert taken(memory, CLAIM, trust="agent").known == 1


def test_a_decision_that_is_vouched_for_later_is_adopted_and_undo_takes_that_back(memory: Memory) -> None:
    foreign = {"type": "decision", "id": "dec_1", "decision": "Use a queue", "confidence": 0.8, "category": "ops"}
    foreign |= {"decided_at": "2026-03-01T09:00:00Z"}
    taken(memory, foreign)
    done = taken(memory, foreign, trust="agent")
    assert (done.added, done.adopted, done.known) == ({}, 1, 0)
    assert memory.decisions.get("dec_1").trust == "agent"
    assert taken(memory, foreign, trust="agent").known == 1
    memory.data.undo()
    assert memory.decisions.get("dec_1").trust == "external"


def test_the_same_id_with_another_content_is_a_conflict_and_what_is_here_stays(memory: Memory) -> None:
    taken(memory, CLAIM)
    result = taken(memory, {"type": "outcome", "id": "o"}, {**CLAIM, "title": "Something else entirely"})
    assert [problem.line for problem in result.conflicts] == [2]
    assert "learn_claim" in result.conflicts[0].reason
    assert memory.learnings.get("learn_claim").title == WEBHOOKS["title"]


def test_a_malformed_id_is_replaced_by_the_same_one_every_time(memory: Memory) -> None:
    for id in ("../../etc/passwd", "learn_a b", 7, None, "dec_1", "learn_" + "x" * 65):
        taken(memory, {**CLAIM, "id": id})
    assert [record["type"] for record in exported(memory)].count("learning") == 1


def test_secrets_are_redacted_before_they_are_stored(memory: Memory) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    taken(memory, {**CLAIM, "observation": f"The token {token} was refused", "tags": ["ok"]})
    taken(memory, {"type": "task", "id": "t", "title": f"use {token}"})
    taken(memory, {"type": "discovery", "discovery_type": "blocker", "content": f"{token} expired", "task_id": "t"})
    assert token not in json.dumps(exported(memory))


DECIDED = {"type": "decision", "decision": "Use a queue over cron", "confidence": 0.8, "category": "architecture"}
BAD: list[tuple[str, Any]] = [
    ("not JSON", "{nope\n"),
    ("not JSON", json.dumps(CLAIM)[:40]),
    ("not JSON", '{"type": "learning", "confidence": NaN}\n'),
    ("not JSON", "[" * 200_000 + "\n"),
    ("not JSON", '{"a":' * 200_000 + "\n"),
    ("not JSON", "<<<<<<< HEAD\n"),
    ("not a JSON object", "[1, 2]\n"),
    ("unknown type", {"type": "root"}),
    ("unknown type", {"type": ["learning"]}),
    ("tags", {**CLAIM, "tags": [f"t{i}" for i in range(10_000)]}),
    ("tags", {**CLAIM, "tags": "a,b"}),
    ("confidence", {**CLAIM, "confidence": -1}),
    ("confidence", {**CLAIM, "confidence": "0.9"}),
    ("confidence", '{"confidence": 1e999, ' + json.dumps(CLAIM)[1:] + "\n"),
    ("domain", {**CLAIM, "domain": 4}),
    ("title", {**CLAIM, "title": "x" * 101}),
    ("observation", {**CLAIM, "observation": ""}),
    ("status", {**CLAIM, "status": "gone"}),
    ("type must be", {**CLAIM, "pattern_type": ["solution"]}),
    ("sources", {**CLAIM, "sources": [{}] * 30_001}),
    ("sources", {**CLAIM, "sources": "x"}),
    ("created_at", {**CLAIM, "created_at": 17}),
    ("ISO 8601", {**CLAIM, "created_at": "yesterday"}),
    ("source_task_id", {**CLAIM, "source_task_id": {"a": 1}}),
    ("id", {"type": "task", "id": ""}),
    ("title", {"type": "task", "id": "t", "title": 5}),
    ("discovery_type", {"type": "discovery", "discovery_type": "hunch", "content": "x", "task_id": "t"}),
    ("years are", {**DECIDED, "decided_at": "0001-01-01"}),
    ("a reason has no field wieght", {**DECIDED, "reasons": [{"text": "x", "wieght": 3}]}),
    ("a bridge has no field form", {**DECIDED, "bridge": {"structure": "x", "form": "y"}}),
    ("longer than", '{"a": "' + "x" * 4_100_000 + '"}\n'),
]


@pytest.mark.parametrize(("reason", "line"), BAD, ids=[f"{i}-{reason}" for i, (reason, _) in enumerate(BAD)])
def test_a_bad_line_is_named_and_the_others_come_in(memory: Memory, reason: str, line: Any) -> None:
    if isinstance(line, str) and not line.endswith("\n"):
        result = taken(memory, {"type": "outcome", "id": "before"}, line)
    else:
        result = taken(memory, {"type": "outcome", "id": "before"}, line, {"type": "outcome", "id": "after"})
        assert memory.work.outcome_page()[0][0].id == "after"
    assert [problem.line for problem in result.bad] == [2]
    assert reason in result.bad[0].reason
    assert {outcome.id for outcome in memory.work.outcome_page()[0]} >= {"before"}


def test_of_many_lines_each_comes_in_once_and_the_first_thousand_problems_are_spelled_out(memory: Memory) -> None:
    good = [{"type": "outcome", "id": f"outcome-{number}"} for number in range(450)]
    result = taken(memory, *good, *[{"type": "root"}] * 1002)
    assert (result.added, result.known, result.left) == ({"outcome": 450}, 0, 0)
    assert [problem.line for problem in result.bad] == list(range(451, 1451))
    assert result.unreported == 2


def test_a_mark_before_the_first_line_is_no_part_of_it(memory: Memory) -> None:
    result = taken(memory, "\ufeff" + json.dumps({"type": "outcome", "id": "launch"}) + "\n")
    assert (result.added, result.bad) == ({"outcome": 1}, ())


def test_a_torn_last_line_says_so(memory: Memory) -> None:
    assert "in the middle" in taken(memory, CLAIM, json.dumps(CLAIM)[:50]).bad[0].reason


def test_a_supersession_that_comes_back_to_itself_is_broken_up(memory: Memory) -> None:
    one = {**CLAIM, "id": "learn_one", "status": "superseded", "superseded_by": "learn_two"}
    two = {**CLAIM, "id": "learn_two", "status": "superseded", "superseded_by": "learn_one"}
    alone = {**CLAIM, "id": "learn_alone", "status": "superseded", "superseded_by": "learn_alone"}
    assert taken(memory, one, two, alone).added == {"learning": 3}
    for id in ("learn_one", "learn_two", "learn_alone"):
        assert (memory.learnings.get(id).status, memory.learnings.get(id).superseded_by) == ("archived", None)


def test_a_newer_export_is_refused_as_a_whole(memory: Memory) -> None:
    with pytest.raises(Refused, match=r"format 2.* Nothing was imported"):
        taken(memory, {"type": "recollect", "format": 2}, CLAIM)


def test_an_import_can_be_taken_back(memory: Memory) -> None:
    newer = {**CLAIM, "id": "learn_newer", "title": "Deliveries overtake each other"}
    taken(memory, newer, {**CLAIM, "status": "superseded", "superseded_by": "learn_newer"})
    memory.learnings.undo()
    assert {memory.learnings.get(id).status for id in ("learn_newer", "learn_claim")} == {"archived"}


def test_taking_back_an_import_of_what_was_out_of_use_does_not_stop_there(memory: Memory) -> None:
    kept = memory.learn(learning(FLAKY)).learning
    taken(memory, {**CLAIM, "status": "archived"})
    assert [each.id for each in memory.learnings.undo()] == ["learn_claim"]
    assert [each.id for each in memory.learnings.undo()] == [kept.id]


def test_an_export_replaces_nothing_but_files(full: Memory, tmp_path: Path) -> None:
    pipe, link, target = tmp_path / "pipe", tmp_path / "link", tmp_path / "target"
    os.mkfifo(pipe)
    target.touch()
    link.symlink_to(target)
    with pytest.raises(BadInput, match="not a regular file"):
        full.data.export_file(pipe)
    assert pipe.is_fifo()
    full.data.export_file(link)
    assert (link.is_symlink(), target.read_text()[:9]) == (True, '{"type": ')


@pytest.mark.parametrize("content", ["# Notes of mine\n", '{"type": "learning"}\n', "[]\n", "\x00\x01"])
def test_a_file_that_is_no_export_is_not_replaced_by_one(full: Memory, tmp_path: Path, content: str) -> None:
    target = tmp_path / "notes.md"
    target.write_text(content)
    with pytest.raises(Refused, match="is not an export"):
        full.data.export_file(target)
    assert target.read_text() == content


def test_an_older_export_and_an_empty_file_give_way(full: Memory, tmp_path: Path) -> None:
    target = tmp_path / "all.jsonl"
    target.touch()
    for _ in range(2):
        assert full.data.export_file(target).records


def test_an_export_to_a_file_stands_there_whole_or_not_at_all(full: Memory, tmp_path: Path) -> None:
    target = tmp_path / "out.jsonl"
    done = full.data.export_file(target)
    assert len(target.read_bytes().splitlines()) == 1 + sum(done.records.values())
    with pytest.raises(RuntimeError):
        full.data.export_file(tmp_path / "half.jsonl", progress=_fail_at(3))
    assert not [path.name for path in tmp_path.iterdir() if "half" in path.name]


def _fail_at(number: int) -> Any:
    seen: list[int] = []

    def progress(_: int) -> None:
        seen.append(1)
        if len(seen) == number:
            raise RuntimeError

    return progress


def test_an_insight_that_came_up_very_often_comes_back(memory: Memory) -> None:
    kept = memory.learn(learning(WEBHOOKS)).learning
    line = next(each for each in exported(memory) if each.get("id") == kept.id)
    often = {**line, "id": "learn_often", "sources": line["sources"] * 1_001}
    assert taken(memory, often, trust="agent").whole
    assert memory.learnings.get("learn_often").recurrence == 1_001
