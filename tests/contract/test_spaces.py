"""Spaces are separate: what shares a store with another project's rows sees nothing of them (P31)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from embedded import fill
from recollect import Memory, NotFound, Refused


@pytest.fixture
def other(memory: Memory) -> Memory:
    """Another project in the same database."""
    fill(memory)
    return Memory(replace(memory.context, space="another-project"), memory.project)


def test_another_space_sees_no_learning(memory: Memory, other: Memory) -> None:
    mine = memory.learnings.page()[0]
    assert other.learnings.page() == ([], 0)
    for learning in mine:
        with pytest.raises(NotFound):
            other.learnings.get(learning.id)
    assert other.search("stripe webhooks order", min_confidence=0.0, status="all") == []


def test_another_space_sees_no_work(other: Memory) -> None:
    assert other.work.tasks() == []
    assert other.work.outcomes() == []
    assert other.work.discoveries() == []
    assert other.work.injections() == []
    assert other.inbox.waiting() == []
    assert other.status().learnings == {"active": 0, "archived": 0, "superseded": 0}


def test_another_space_exports_nothing_and_verifies_on_its_own(memory: Memory, other: Memory) -> None:
    lines: list[str] = []
    assert other.data.export(lines.append).records == {}
    assert other.data.verify() == ()
    other.data.rebuild()
    assert memory.data.verify() == ()


def test_another_space_cannot_rate_edit_or_undo(memory: Memory, other: Memory) -> None:
    mine = memory.learnings.page(limit=1)[0][0]
    with pytest.raises(NotFound):
        other.rate(mine.id, "helpful")
    with pytest.raises(NotFound):
        other.learnings.archive(mine.id)
    with pytest.raises(Refused, match="nothing to undo"):
        other.learnings.undo()


def test_a_purge_in_one_space_leaves_the_same_words_in_another(memory: Memory, other: Memory) -> None:
    fill(other)
    assert other.data.purge(text="Webhook deliveries can overtake each other").found == ()
    assert any("can overtake" in learning.observation for learning in memory.learnings.page()[0])
    assert not any("can overtake" in learning.observation for learning in other.learnings.page()[0])


def test_the_same_id_may_live_in_two_spaces(memory: Memory, other: Memory) -> None:
    memory.work.add_task("shared", title="mine")
    other.work.add_task("shared", title="theirs")
    assert [task.title for task in memory.work.tasks() if task.id == "shared"] == ["mine"]
