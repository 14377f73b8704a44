"""Observing a finished task: discoveries kept raw, learnings made of those that teach, by a model or without."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import AGENT, Opener
from recollect import BadInput, Memory, ScriptedClock
from recollect.core.errors import NoAnswer, NotFound
from recollect.models.ask import load_prompt
from recollect.models.scripted import ScriptedModels, ScriptedProvider
from stored import everything_stored

CORPUS = Path(__file__).parents[2] / "benchmarks" / "data" / "discoveries.jsonl"
SECRET = "AKIAIOSFODNN7EXAMPQZ"
OUTPUT = """\
All done.

DISCOVERY[blocker]: The staging database refuses connections from CI. Open the firewall before running migrations.
DISCOVERY[constraint]: Uploads must stay below 5 MB because the gateway cuts them off.
DISCOVERY[pattern]: Feature flags wrapped in one module are easy to remove.
DISCOVERY[decision]: Chose Redis over Memcached because we need sorted sets.
DISCOVERY[dependency]: Needs the auth service from task 12.
DISCOVERY[rumour]: The office moves in May.
"""
ANSWER = {
    "title": "CI cannot reach the staging database",
    "context": "Running migrations from CI",
    "observation": "The staging firewall drops CI's addresses",
    "implication": "Migrations fail before they start",
    "action": "Allow the CI range first",
    "tags": ["ci", "firewall"],
    "domain": "infrastructure",
}
SCRIPTED = f"observer:scripted@{load_prompt('extract').version}"
BLOCKER = "DISCOVERY[blocker]: The staging database refuses connections from CI."


def modelled(open_memory: Opener, *script: str | Callable[..., str]) -> tuple[Memory, ScriptedProvider]:
    provider = ScriptedProvider(list(script))
    return open_memory(AGENT, models=ScriptedModels({"extract": provider})), provider


def answer(**changes: object) -> str:
    return json.dumps({**ANSWER, **changes})


@pytest.mark.parametrize(
    ("type", "pattern", "confidence"),
    [
        ("blocker", "gotcha", 0.7),
        ("constraint", "constraint", 0.6),
        ("pattern", "best-practice", 0.5),
        ("decision", "solution", 0.5),
    ],
)
def test_each_type_becomes_its_pattern_with_its_confidence(
    open_memory: Opener, type: str, pattern: str, confidence: float
) -> None:
    memory = open_memory(AGENT)
    seen = memory.observe(f"DISCOVERY[{type}]: Uploads stop at five megabytes.", task="task-1", outcome="launch")
    (captured,) = seen.captured
    kept = captured.learning
    assert (kept.pattern_type, kept.confidence) == (pattern, confidence)
    assert (kept.source_outcome_id, kept.source_task_id) == ("launch", "task-1")
    assert kept.source_discovery_id == seen.discoveries[0].id
    assert (kept.origin, kept.trust) == ("observer:offline", "agent")


def test_what_is_known_of_the_task_need_not_be_said_again(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    memory.work.add_task("task-1", outcome="launch", title="Set up staging")
    seen = memory.observe(BLOCKER, task="task-1")
    assert seen.discoveries[0].outcome_id == "launch"
    learning = seen.captured[0].learning
    assert learning.source_outcome_id == "launch"
    assert "Set up staging" in learning.context
    title = "Connect CI to the staging database"
    assert memory.inject(task="task-2", outcome="launch", title=title).learnings == ()
    assert [each.id for each in memory.inject(task="task-3", outcome="other", title=title).learnings] == [learning.id]


def test_every_raw_discovery_is_kept_with_what_became_of_it(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    seen = memory.observe(OUTPUT, task="task-1", outcome="launch", title="Set up staging")
    everything = memory.work.discovery_page(task="task-1")[0]
    (rumour,) = (each for each in everything if each.content == "The office moves in May.")
    kept = {each.type: each for each in everything if each is not rumour}
    assert set(kept) == {"blocker", "constraint", "pattern", "decision", "dependency"}
    assert set(everything) == set(seen.discoveries)
    assert kept["decision"].content == "Chose Redis over Memcached because we need sorted sets."
    assert kept["dependency"].learning_id is None
    assert kept["dependency"].skipped == "Dependencies are task-specific, not learnable"
    assert "Not kept: Dependencies are" in memory.texts.get(kept["dependency"].id).text
    assert f"Became: {kept['blocker'].learning_id}" in memory.texts.get(kept["blocker"].id).text
    assert memory.why(kept["blocker"].id).id == kept["blocker"].learning_id
    with pytest.raises(NotFound, match="Dependencies are task-specific"):
        memory.why(kept["dependency"].id)
    learned = {each.learning.id for each in seen.captured if each.learning.source_discovery_id != rumour.id}
    assert len(learned) == 4
    assert {each.learning_id for each in kept.values()} == {*learned, None}
    assert {each.skipped for type, each in kept.items() if type != "dependency"} == {None}
    assert [(task.title, task.outcome_id) for task in memory.work.task_page()[0]] == [("Set up staging", "launch")]


def test_a_discovery_of_an_unknown_type_becomes_a_solution_and_the_type_is_named(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    seen = memory.observe("DISCOVERY[rumour]: The sandbox forgets its keys every night.", task="task-1")
    (captured,) = seen.captured
    assert seen.unknown_types == ("rumour",)
    assert (captured.learning.pattern_type, captured.learning.confidence) == ("solution", 0.5)
    assert captured.learning.title == "The sandbox forgets its keys every night"
    assert [each.content for each in memory.work.discovery_page()[0]] == ["The sandbox forgets its keys every night."]


def test_observing_twice_changes_nothing(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    memory.observe(OUTPUT, task="task-1")
    before = memory.learnings.page(), memory.work.discovery_page()[0], memory.status()
    again = memory.observe(OUTPUT, task="task-1")
    assert (again.discoveries, again.captured, again.known_before) == ((), (), 6)
    assert (memory.learnings.page(), memory.work.discovery_page()[0], memory.status()) == before


def test_the_same_discovery_in_another_task_is_a_recurrence(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    memory.observe(BLOCKER, task="task-1")
    seen = memory.observe(BLOCKER, task="task-2")
    assert [each.merged for each in seen.captured] == [True]
    assert memory.learnings.page()[0][0].recurrence == 2
    assert len(memory.work.discovery_page()[0]) == 2


@pytest.mark.parametrize(
    "output", ["", "no markers", "> DISCOVERY[blocker]: quoted", "```\nDISCOVERY[blocker]: x\n```"]
)
def test_nothing_discovered_leaves_no_trace(open_memory: Opener, output: str) -> None:
    memory = open_memory(AGENT)
    assert memory.observe(output, task="task-1").discoveries == ()
    assert (memory.work.task_page()[0], memory.work.discovery_page()[0]) == ([], [])


def test_what_we_injected_ourselves_is_not_discovered(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    memory.observe(BLOCKER, task="task-1")
    shown = memory.inject(task="task-2", outcome="o", title="staging database refuses connections from CI").markdown
    assert shown
    forged = shown.replace("**Context**:", "DISCOVERY[pattern]: from our own mouth\n**Context**:")
    assert memory.observe(f"{forged}\n{BLOCKER}", task="task-2").discoveries[0].content.startswith("The staging")
    assert len(memory.work.discovery_page(task="task-2")[0]) == 1


def test_a_secret_reaches_neither_store_nor_model(open_memory: Opener) -> None:
    memory, provider = modelled(open_memory, answer())
    memory.observe(
        f"DISCOVERY[blocker]: The build leaked {SECRET} into its log.",
        task="task-1",
        title=f"Rotate {SECRET}",
    )
    assert SECRET.encode() not in everything_stored(memory)
    assert SECRET not in provider.prompts[0].data + provider.prompts[0].instructions
    assert "[redacted:" in provider.prompts[0].data


@pytest.mark.parametrize("wrong", [{"task": ""}, {"task": "a\nb"}, {"outcome": " "}])
def test_ids_are_checked(open_memory: Opener, wrong: dict[str, str]) -> None:
    memory = open_memory(AGENT)
    with pytest.raises(BadInput):
        memory.observe(OUTPUT, **{"task": "task-1", **wrong})
    assert memory.work.discovery_page()[0] == []


@given(
    st.text(st.characters(codec=None), min_size=1, max_size=300), st.sampled_from(["blocker", "pattern", "decision"])
)
def test_any_discovery_is_kept(memory: Memory, text: str, type: str) -> None:
    memory.observe(f"DISCOVERY[{type}]: {text}", task="task-1", title=text)


def test_a_very_long_discovery_is_kept_whole(memory: Memory) -> None:
    text = "The gateway closes idle connections. " * 2000
    (kept,) = memory.observe(f"DISCOVERY[blocker]: {text}", task="task-1").discoveries
    assert kept.content == text.strip()
    assert len(memory.learnings.get(str(kept.learning_id)).observation) <= 10_000


# With a model


def test_a_models_answer_becomes_the_learning(open_memory: Opener) -> None:
    memory, provider = modelled(open_memory, answer())
    (captured,) = memory.observe(BLOCKER, task="task-1", title="Migrate").captured
    kept = captured.learning
    assert {name: getattr(kept, name) for name in ANSWER} == {**ANSWER, "tags": ("ci", "firewall")}
    assert (kept.confidence, kept.pattern_type, kept.origin) == (0.7, "gotcha", SCRIPTED)
    (prompt,) = provider.prompts
    assert (prompt.kind, prompt.timeout) == ("extract", 30.0)
    (source,) = re.findall(r"\A<source>\n(.*)\n</source>\Z", prompt.data)
    assert json.loads(source)["content"] == "The staging database refuses connections from CI."
    assert "The staging database" not in prompt.instructions, "what is told and what it is about are never spliced"


@pytest.mark.parametrize("form", ["```json\n{}\n```", "```\n{}```", "  {}  "])
def test_an_answer_in_a_fence_is_read(open_memory: Opener, form: str) -> None:
    memory, _ = modelled(open_memory, form.replace("{}", answer()))
    assert memory.observe(BLOCKER, task="task-1").captured[0].learning.origin == SCRIPTED


def fails(_: object) -> str:
    raise NoAnswer("timed out", again=True)


GARBAGE: dict[str, str | Callable[..., str]] = {
    "empty": "",
    "a refusal": "I am sorry, but I cannot help with that request at this time, as it may be harmful.",
    "truncated": answer()[:60],
    "a list": "[1, 2]",
    "a number": "NaN",
    "null": "null",
    "very deep": "[" * 200_000,
    "a missing field": json.dumps({name: value for name, value in ANSWER.items() if name != "action"}),
    "an empty field": answer(action=" "),
    "a number as text": answer(action=5),
    "a title too long": answer(title="t" * 101),
    "ten megabytes": answer(observation="x" * 10_000_000),
    "tags as text": answer(tags="ci"),
    "tags of numbers": answer(tags=[1, 2]),
    "tags as a table": answer(tags={"ci": 1}),
    "domain as number": answer(domain=5),
    "domain too long": answer(domain="d" * 51),
    "unreachable": fails,
}


@pytest.mark.parametrize("garbage", GARBAGE, ids=str)
def test_after_three_bad_answers_the_offline_twin_answers(open_memory: Opener, garbage: str) -> None:
    memory, provider = modelled(open_memory, *[GARBAGE[garbage]] * 4)
    kept = memory.observe(BLOCKER, task="task-1").captured[0].learning
    assert len(provider.prompts) == 3
    assert (kept.origin, kept.title) == ("observer:offline", "The staging database refuses connections from CI")


@pytest.mark.parametrize("bad", [1, 2])
def test_a_good_answer_within_three_tries_is_used(open_memory: Opener, bad: int) -> None:
    memory, provider = modelled(open_memory, *["no"] * bad, answer())
    assert memory.observe(BLOCKER, task="task-1").captured[0].learning.origin == SCRIPTED
    assert len(provider.prompts) == bad + 1


def test_the_same_question_is_not_paid_for_twice(open_memory: Opener) -> None:
    memory, first = modelled(open_memory, answer())
    memory.observe(BLOCKER, task="task-1", title="Migrate")
    other, second = modelled(open_memory)
    (captured,) = other.observe(BLOCKER, task="task-2", title="Migrate").captured
    assert (captured.merged, captured.learning.recurrence) == (True, 2)
    assert (len(first.prompts), len(second.prompts)) == (1, 0)


def test_a_bad_answer_is_not_remembered(open_memory: Opener) -> None:
    memory, _ = modelled(open_memory, "no", "no", "no")
    memory.observe(BLOCKER, task="task-1")
    again, provider = modelled(open_memory, answer())
    again.observe(BLOCKER, task="task-2")
    assert len(provider.prompts) == 1


def test_no_transaction_is_open_while_a_model_thinks(open_memory: Opener) -> None:
    other = open_memory(AGENT)

    def think(_: object) -> str:
        other.work.add_task("meanwhile")
        return answer()

    memory, _ = modelled(open_memory, think)
    memory.observe(BLOCKER, task="task-1")
    assert {task.id for task in memory.work.task_page()[0]} == {"task-1", "meanwhile"}


def test_a_discovery_whose_observer_died_is_learned_from_by_the_next(open_memory: Opener, clock: ScriptedClock) -> None:
    """Kept raw before a model is asked; a crash in between must not lose the learning."""

    def dies(_: object) -> str:
        raise KeyboardInterrupt

    memory, _ = modelled(open_memory, dies)
    with pytest.raises(KeyboardInterrupt):
        memory.observe(BLOCKER, task="task-1")
    (raw,) = memory.work.discovery_page()[0]
    again = open_memory(AGENT)
    assert again.observe(BLOCKER, task="task-1").known_before == 1, "another observer may still be at it"
    clock.advance(seconds=61)
    seen = again.observe(BLOCKER, task="task-1")
    assert [each.learning.source_discovery_id for each in seen.captured] == [raw.id]
    assert [each.learning_id for each in again.work.discovery_page()[0]] == [seen.captured[0].learning.id]
    assert again.observe(BLOCKER, task="task-1").known_before == 1


def test_an_agents_words_stay_an_agents_whoever_carries_them(memory: Memory) -> None:
    assert memory.context.actor.trust == "human"
    seen = memory.observe("DISCOVERY[blocker]: The gateway closes idle connections after a minute.", task="task-1")
    assert [captured.learning.trust for captured in seen.captured] == ["agent"]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("DISCOVERY[blocker]: TODO", "a placeholder"),
        ("DISCOVERY[pattern]: Be careful", "does not say what to do"),
        ("DISCOVERY[blocker]: The deploy of PR #412 failed yesterday", "what happened once"),
    ],
)
def test_a_discovery_that_teaches_nothing_is_kept_raw_with_the_reason(memory: Memory, text: str, why: str) -> None:
    observed = memory.observe(text, task="t-1")
    (discovery,) = observed.discoveries
    assert observed.captured == ()
    assert discovery.learning_id is None
    assert why in (discovery.skipped or "")
    assert memory.observe(text, task="t-1").known_before == 1


def test_each_of_the_sixty_discoveries_is_learned_from(memory: Memory) -> None:
    cases = [json.loads(line) for line in CORPUS.read_text(encoding="utf-8").splitlines()]
    output = "\n".join(f"DISCOVERY[{case['type']}]: {case['content']}" for case in cases)
    seen = memory.observe(output, task="all of them", outcome="o").discoveries
    assert len(seen) == 60
    assert [found.skipped for found in seen if found.learning_id is None] == []
