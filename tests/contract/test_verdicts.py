"""Verdicts: exact steps, once per injection, only where it was shown; a person may change one, an agent may not."""

from __future__ import annotations

import pytest

from conftest import AGENT, PERSON, Opener
from recollect import BadInput, Learning, Memory, NotFound, Refused, ScriptedClock
from samples import FLAKY, MIGRATIONS, learning

HELPFUL, NOT = "LEARNING_HELPFUL", "LEARNING_NOT_HELPFUL"


def injected(memory: Memory, *tasks: str, **changes: object) -> Learning:
    """A learning that these tasks were shown."""
    kept = memory.learn(learning(**changes)).learning
    for task in tasks or ("task-1",):
        memory.inject(task=task, outcome="billing", title="", learnings=(kept.id,))
    return memory.learnings.get(kept.id)


def numbers(memory: Memory, id: str) -> tuple[float, int, int]:
    now = memory.learnings.get(id)
    return now.confidence, now.times_helpful, now.times_not_helpful


@pytest.mark.parametrize(
    ("before", "marker", "after"),
    [
        (0.5, HELPFUL, 0.55),
        (0.55, HELPFUL, 0.6),
        (0.949, HELPFUL, 0.999),
        (0.95, HELPFUL, 1.0),
        (0.951, HELPFUL, 1.0),
        (1.0, HELPFUL, 1.0),
        (0.5, NOT, 0.4),
        (0.201, NOT, 0.101),
        (0.2, NOT, 0.1),
        (0.15, NOT, 0.1),
        (0.1, NOT, 0.1),
        (0.05, HELPFUL, 0.1),  # what was set below the floor rises from where it is …
        (0.05, NOT, 0.05),  # … and a bad verdict never raises it
        (0.0, NOT, 0.0),
    ],
)
def test_a_verdict_moves_confidence_by_its_step(memory: Memory, before: float, marker: str, after: float) -> None:
    kept = injected(memory, confidence=before)
    memory.feedback(f"{marker}: {kept.id}", task="task-1")
    assert numbers(memory, kept.id) == (after, int(marker == HELPFUL), int(marker == NOT))


def test_a_ceiling_below_a_confidence_does_not_lower_it(open_memory: Opener, environ: dict[str, str]) -> None:
    environ["RECOLLECT_CONFIDENCE_CEILING"] = "0.9"
    memory = open_memory()
    kept = injected(memory, confidence=0.95)
    memory.rate(kept.id, "helpful")
    assert numbers(memory, kept.id) == (0.95, 1, 0)


def test_many_steps_stay_exact(memory: Memory) -> None:
    """Thousandths are integers: ten cuts and twenty boosts are where they started."""
    tasks = [f"task-{number}" for number in range(15)]
    kept = injected(memory, *tasks, confidence=0.6)
    for number, task in enumerate(tasks):
        memory.feedback(f"{NOT if number < 5 else HELPFUL}: {kept.id}", task=task)
    assert numbers(memory, kept.id) == (0.6, 10, 5)


def test_a_verdict_is_kept_with_its_injection(memory: Memory, clock: ScriptedClock) -> None:
    kept = injected(memory)
    clock.advance(hours=2)
    memory.feedback(f"{HELPFUL}: {kept.id}", task="task-1")
    (injection,) = memory.learnings.injections(kept.id)
    assert (injection.feedback, injection.feedback_at) == ("helpful", clock.now())
    after = memory.learnings.get(kept.id)
    assert (after.last_helpful_at, after.updated_at, after.version) == (clock.now(), clock.now(), kept.version)


def test_a_bad_verdict_leaves_the_time_of_the_last_good_one(memory: Memory, clock: ScriptedClock) -> None:
    kept = injected(memory, "task-1", "task-2")
    memory.rate(kept.id, "helpful", task="task-1")
    helped = clock.now()
    clock.advance(days=1)
    memory.rate(kept.id, "not_helpful", task="task-2")
    assert memory.learnings.get(kept.id).last_helpful_at == helped


def test_replaying_an_output_changes_nothing(memory: Memory, clock: ScriptedClock) -> None:
    kept = injected(memory)
    output = f"Done.\n{HELPFUL}: {kept.id}\n"
    assert memory.feedback(output, task="task-1").counted == (kept.id,)
    before = memory.learnings.get(kept.id), len(memory.why(kept.id).events)
    clock.advance(days=1)
    for _ in range(3):
        taken = memory.feedback(output, task="task-1")
        assert (taken.counted, taken.repeated) == ((), (kept.id,))
    assert (memory.learnings.get(kept.id), len(memory.why(kept.id).events)) == before


def test_the_opposite_marker_later_does_not_change_a_verdict(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    kept = injected(memory, pattern_type="gotcha")
    memory.feedback(f"{HELPFUL}: {kept.id}", task="task-1")
    assert memory.feedback(f"{NOT}: {kept.id}", task="task-1").repeated == (kept.id,)
    assert numbers(memory, kept.id) == (0.75, 1, 0)


def test_a_thousand_repeats_count_once(memory: Memory) -> None:
    kept = injected(memory)
    taken = memory.feedback(f"{HELPFUL}: {kept.id}\n" * 1000, task="task-1")
    assert taken.counted == (kept.id,)
    assert numbers(memory, kept.id) == (0.75, 1, 0)


def test_both_verdicts_at_once_count_as_none_and_are_reported(memory: Memory) -> None:
    kept = injected(memory)
    taken = memory.feedback(f"{HELPFUL}: {kept.id}\n{NOT}: {kept.id}\n", task="task-1")
    assert (taken.both, taken.counted) == ((kept.id,), ())
    assert numbers(memory, kept.id) == (0.7, 0, 0)
    assert memory.feedback(f"{HELPFUL}: {kept.id}", task="task-1").counted == (kept.id,), "nothing was used up"


def test_a_verdict_counts_only_from_the_task_that_was_shown_the_learning(memory: Memory) -> None:
    kept = injected(memory, "task-1")
    other = memory.learn(learning(FLAKY)).learning
    output = f"{HELPFUL}: {kept.id}\n{HELPFUL}: {other.id}\n{NOT}: learn_forged\n"
    assert memory.feedback(output, task="task-2").not_injected == (kept.id, other.id, "learn_forged")
    taken = memory.feedback(output, task="task-1")
    assert (taken.counted, taken.not_injected) == ((kept.id,), (other.id, "learn_forged"))
    assert numbers(memory, other.id) == (0.7, 0, 0)


@pytest.mark.parametrize(
    "output",
    [
        "> {marker}",
        "```\n{marker}\n```",
        "~~~text\n{marker}\n~~~",
        "    {marker}",
        "I would say {marker}",
        "{marker} because it fits",
        "LEARNING_HELPFUL:\n{id}",
        "LEARNING_HELPFUL: {id}-x",
        "LEARNING_HELPFUL: {id}_x",
        "learning_helpful: {id}",
        "LEARNING\\_HELPFUL: {id}",
        "```\n{marker}",  # never closed: the rest is hidden
    ],
)
def test_a_marker_that_is_not_the_agents_own_line_counts_for_nothing(memory: Memory, output: str) -> None:
    kept = injected(memory)
    taken = memory.feedback(output.format(marker=f"{HELPFUL}: {kept.id}", id=kept.id), task="task-1")
    assert taken.counted == ()
    assert numbers(memory, kept.id) == (0.7, 0, 0)


@pytest.mark.parametrize("form", ["{m}", "- {m}", "* {m}", "`{m}`", "**{m}**", "  {m}  ", "a\r\n{m}\r\nb"])
def test_a_marker_on_its_own_line_counts(memory: Memory, form: str) -> None:
    kept = injected(memory)
    assert memory.feedback(form.format(m=f"{HELPFUL}: {kept.id}"), task="task-1").counted == (kept.id,)


def test_a_verdict_after_archiving_counts_and_brings_nothing_back(memory: Memory) -> None:
    kept = injected(memory)
    memory.learnings.archive(kept.id)
    assert memory.feedback(f"{HELPFUL}: {kept.id}", task="task-1").counted == (kept.id,)
    assert numbers(memory, kept.id) == (0.75, 1, 0)
    assert memory.learnings.get(kept.id).status == "archived"


def test_a_verdict_in_an_output_is_an_agents_whoever_carries_it(open_memory: Opener) -> None:
    memory = open_memory(actor=PERSON)
    kept = injected(memory)
    memory.feedback(f"{HELPFUL}: {kept.id}", task="task-1")
    assert memory.learnings.history(kept.id)[-1].trust == "agent"
    memory.rate(kept.id, "not_helpful")
    assert memory.learnings.history(kept.id)[-1].trust == "human"


def test_verdicts_in_one_output_are_each_counted(memory: Memory) -> None:
    good, bad = injected(memory), injected(memory, **MIGRATIONS)
    taken = memory.feedback(f"{NOT}: {bad.id}\n{HELPFUL}: {good.id}", task="task-1")
    assert set(taken.counted) == {good.id, bad.id}
    assert numbers(memory, good.id) == (0.75, 1, 0)
    assert numbers(memory, bad.id) == (0.6, 0, 1)


def test_feedback_for_an_unknown_task_changes_nothing(memory: Memory) -> None:
    kept = injected(memory)
    memory.feedback(f"{HELPFUL}: {kept.id}", task="never-seen")
    assert [task.id for task in memory.work.task_page()[0]] == ["task-1"]
    with pytest.raises(BadInput, match="task"):
        memory.feedback(f"{HELPFUL}: {kept.id}", task=" ")


# By hand


def test_a_rating_without_a_task_is_about_the_last_time_it_was_shown(memory: Memory, clock: ScriptedClock) -> None:
    kept = injected(memory, "task-1")
    clock.advance(hours=1)
    memory.inject(task="task-2", outcome="billing", title="", learnings=(kept.id,))
    memory.rate(kept.id, "not_helpful")
    verdicts = {each.task_id: each.feedback for each in memory.learnings.injections(kept.id)}
    assert verdicts == {"task-1": None, "task-2": "not_helpful"}


def test_the_same_rating_again_changes_nothing(memory: Memory, clock: ScriptedClock) -> None:
    kept = injected(memory)
    first = memory.rate(kept.id, "helpful")
    clock.advance(days=1)
    assert memory.rate(kept.id, "helpful") == first
    assert len(memory.learnings.history(kept.id)) == 2


@pytest.mark.parametrize(
    ("start", "first", "second", "after_first", "after_second"),
    [
        (0.7, "helpful", "not_helpful", 0.75, 0.6),
        (0.7, "not_helpful", "helpful", 0.6, 0.75),
        (0.98, "helpful", "not_helpful", 1.0, 0.88),  # only the 0.02 that were added are taken back
        (0.15, "not_helpful", "helpful", 0.1, 0.2),  # only the 0.05 that were taken come back
        (1.0, "helpful", "not_helpful", 1.0, 0.9),
        (0.1, "not_helpful", "helpful", 0.1, 0.15),
    ],
)
def test_a_person_changes_a_verdict_as_if_the_first_had_not_been(
    open_memory: Opener, start: float, first: str, second: str, after_first: float, after_second: float
) -> None:
    kept = injected(open_memory(PERSON), confidence=start)
    marker = HELPFUL if first == "helpful" else NOT
    open_memory(AGENT).feedback(f"{marker}: {kept.id}", task="task-1")
    memory = open_memory(PERSON)
    assert memory.learnings.get(kept.id).confidence == after_first
    memory.rate(kept.id, second, task="task-1")  # type: ignore[arg-type]
    assert numbers(memory, kept.id) == (after_second, int(second == "helpful"), int(second == "not_helpful"))
    memory.rate(kept.id, first, task="task-1")  # type: ignore[arg-type]
    assert numbers(memory, kept.id) == (after_first, int(first == "helpful"), int(first == "not_helpful"))


def test_a_verdict_that_moved_nothing_takes_nothing_back(memory: Memory) -> None:
    kept = injected(memory, confidence=0.05)
    memory.rate(kept.id, "not_helpful")
    memory.rate(kept.id, "helpful")
    assert numbers(memory, kept.id) == (0.1, 1, 0)


def test_taking_a_verdict_back_after_decay_stays_within_the_bounds(memory: Memory, clock: ScriptedClock) -> None:
    kept = injected(memory, confidence=0.3)
    memory.rate(kept.id, "helpful")
    clock.advance(days=3000)
    memory.cycle()
    memory.rate(kept.id, "not_helpful")
    assert numbers(memory, kept.id) == (0.1, 0, 1)


def test_a_changed_verdict_says_what_it_was(open_memory: Opener) -> None:
    memory = open_memory(PERSON)
    kept = injected(memory)
    memory.rate(kept.id, "helpful")
    memory.rate(kept.id, "not_helpful")
    event = memory.learnings.history(kept.id)[-1]
    assert (event.what, event.who, event.reason) == ("confidence.not_helpful", "ada", "task task-1")
    assert event.old == {"confidence": 0.75, "verdict": "helpful"}
    assert event.new == {"confidence": 0.6, "verdict": "not_helpful"}


def test_only_a_person_may_change_a_verdict(open_memory: Opener) -> None:
    kept = injected(open_memory(AGENT))
    memory = open_memory(AGENT)
    memory.rate(kept.id, "helpful", task="task-1")
    with pytest.raises(Refused, match="only a person"):
        memory.rate(kept.id, "not_helpful", task="task-1")
    assert numbers(memory, kept.id) == (0.55, 1, 0)


def test_a_rating_needs_a_learning_that_was_shown_there(memory: Memory) -> None:
    kept = injected(memory, "task-1")
    memory.work.add_task("task-2")
    with pytest.raises(Refused, match="task-2"):
        memory.rate(kept.id, "helpful", task="task-2")
    with pytest.raises(NotFound, match="learn_nope"):
        memory.rate("learn_nope", "helpful")
    assert memory.rate(kept.id, "helpful", task=" task-1 ").times_helpful == 1


@pytest.mark.parametrize("verdict", ["great", "", "HELPFUL", 1])
def test_a_verdict_is_one_of_two(memory: Memory, verdict: object) -> None:
    kept = injected(memory)
    with pytest.raises(BadInput, match="helpful"):
        memory.rate(kept.id, verdict)  # type: ignore[arg-type]
    assert numbers(memory, kept.id) == (0.7, 0, 0)


def test_history_explains_every_move(memory: Memory, clock: ScriptedClock) -> None:
    kept = injected(memory, "task-1", "task-2", confidence=0.6)
    memory.rate(kept.id, "helpful", task="task-1")
    memory.rate(kept.id, "not_helpful", task="task-2")
    clock.advance(days=30)
    memory.cycle()
    moves = [(event.what, event.new["confidence"]) for event in memory.learnings.history(kept.id)]
    assert moves == [
        ("learning.created", 0.6),
        ("confidence.helpful", 0.65),
        ("confidence.not_helpful", 0.55),
        ("confidence.decayed", 0.53),
    ]
    assert memory.learnings.get(kept.id).confidence == moves[-1][1]
    with pytest.raises(NotFound):
        memory.learnings.history("learn_nope")
