"""Export, verify, rebuild and purge keep to their space (P31)."""

from __future__ import annotations

from dataclasses import replace

import pytest

from embedded import fill
from recollect import Memory


@pytest.fixture
def other(memory: Memory) -> Memory:
    """Another project in the same database."""
    fill(memory)
    return Memory(replace(memory.context, space="another-project"), memory.project)


def test_another_space_exports_nothing_and_verifies_on_its_own(memory: Memory, other: Memory) -> None:
    lines: list[str] = []
    assert other.data.export(lines.append).records == {}
    assert other.data.verify() == ()
    other.data.rebuild()
    assert memory.data.verify() == ()


def test_a_purge_in_one_space_leaves_the_same_words_in_another(memory: Memory, other: Memory) -> None:
    fill(other)
    assert other.data.purge(text="Webhook deliveries can overtake each other").found == ()
    assert any("can overtake" in learning.observation for learning in memory.learnings.page()[0])
    assert not any("can overtake" in learning.observation for learning in other.learnings.page()[0])
