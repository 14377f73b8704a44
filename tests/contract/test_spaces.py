"""Two projects in one store see nothing of each other (promise P31)."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from recollect import LearningEdit, Memory, NotFound, Refused
from recollect.store import db
from samples import FLAKY, learning


@pytest.fixture
def other(memory: Memory) -> Memory:
    """A second space in the same store, used before and after the first."""
    second = Memory(replace(memory.context, space=f"{memory.context.space}-other"), memory.project)
    second.work.add_outcome("warm-up")
    return second


def everything(memory: Memory) -> tuple[Any, ...]:
    return (
        memory.learnings.page(status="all"),
        memory.search("stripe webhooks", status="all", min_confidence=0),
        memory.work.task_page()[0],
        memory.work.outcome_page()[0],
        memory.work.discovery_page()[0],
        memory.work.injections(),
        memory.inbox.waiting(),
        vars(memory.status()),
    )


def test_nothing_done_in_one_space_shows_in_another(memory: Memory, other: Memory) -> None:
    before = everything(other)
    kept = memory.learn(learning(source_task_id="task-1", source_outcome_id="launch")).learning
    for task in ("task-2", "task-3"):
        memory.learn(learning(source_task_id=task))
    memory.observe("DISCOVERY[blocker]: The gateway closes idle connections.", task="task-4")
    memory.inject(task="task-9", outcome="billing", title="stripe webhooks order")
    memory.rate(kept.id, "helpful")
    memory.learnings.pin(kept.id)
    assert memory.inbox.waiting()
    assert everything(other) == before
    assert other.inject(task="task-9", outcome="billing", title="stripe webhooks order").learnings == ()


def test_an_id_of_another_space_is_not_found(memory: Memory, other: Memory) -> None:
    kept = memory.learn(learning()).learning
    memory.inject(task="task-1", outcome="billing", title="", learnings=(kept.id,))
    before = memory.learnings.get(kept.id)
    for attempt in (
        lambda: other.learnings.get(kept.id),
        lambda: other.learnings.edit(kept.id, LearningEdit(title="Taken over")),
        lambda: other.learnings.archive(kept.id),
        lambda: other.why(kept.id),
        lambda: other.rate(kept.id, "helpful"),
        lambda: other.inject(task="task-1", outcome="o", title="", learnings=(kept.id,)),
    ):
        with pytest.raises(NotFound):
            attempt()
    assert other.feedback(f"LEARNING_HELPFUL: {kept.id}", task="task-1").not_injected == (kept.id,)
    assert memory.learnings.get(kept.id) == before


def test_the_same_ids_live_side_by_side(memory: Memory, other: Memory) -> None:
    for each, base in ((memory, learning()), (other, learning(FLAKY))):
        each.work.add_task("task-1", outcome="launch", title=base.title)
        each.learn(replace(base, source_task_id="task-1"))
    assert [task.title for task in memory.work.task_page()[0]] != [task.title for task in other.work.task_page()[0]]
    assert (memory.learnings.page()[1], other.learnings.page()[1]) == (1, 1)


def test_the_same_insight_in_two_spaces_is_not_merged(memory: Memory, other: Memory) -> None:
    memory.learn(learning())
    assert not other.learn(learning()).merged
    assert memory.learn(learning()).merged
    assert [each.learnings.page()[0][0].recurrence for each in (memory, other)] == [2, 1]


def test_how_rare_a_word_is_is_counted_per_space(memory: Memory, other: Memory) -> None:
    memory.learn(learning())
    alone = memory.search("stripe")[0].score
    for word in ("alpha", "bravo", "delta"):
        other.learn(learning(title=f"Stripe {word}", observation=word, action=word))
    assert memory.search("stripe")[0].score == alone


def test_undo_and_decay_keep_to_their_space(memory: Memory, other: Memory, clock: Any) -> None:
    kept = memory.learn(learning()).learning
    with pytest.raises(Refused, match="nothing to undo"):
        other.learnings.undo()
    clock.advance(days=60)
    other.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.7


def test_a_lease_is_held_per_space(memory: Memory, other: Memory) -> None:
    assert db.take_lease(memory.context, "cycle", seconds=60)
    assert db.take_lease(other.context, "cycle", seconds=60)


@pytest.mark.parametrize("way", ["rows", "row", "value", "run", "run_many"])
@pytest.mark.parametrize("sql", ["SELECT id FROM learnings", "DELETE FROM learnings WHERE id = 'x'"])
def test_a_statement_without_a_space_is_refused(memory: Memory, way: str, sql: str) -> None:
    memory.learn(learning())
    with pytest.raises(AssertionError, match=":space"), memory.context.db.write(memory.context.space) as tx:
        getattr(tx, way)(sql, *([[{}]] if way == "run_many" else []))
    assert memory.learnings.page()[1] == 1


def test_a_caller_cannot_name_another_space(memory: Memory, other: Memory) -> None:
    memory.learn(learning())
    with other.context.db.read(other.context.space) as tx:
        assert tx.rows("SELECT id FROM learnings WHERE space = :space", space=memory.context.space) == []
