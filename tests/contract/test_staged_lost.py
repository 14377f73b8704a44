"""Staged entries whose file git or a person took away: still found, reported, and written again."""

from __future__ import annotations

import pytest

from recollect import Memory
from recollect.tend.doctor import verify

RULE = "Always pin the base image by digest"
HAND = "## Never mock the database in tests\n\nA mock hid a broken migration in March.\n"


def staged_file(memory: Memory) -> str:
    return memory.context.settings.staging.file


@pytest.fixture
def text(memory: Memory) -> str:
    """A staging file with one entry of ours and one written by hand."""
    memory.staging.stage(RULE, "Tags move between builds.")
    path = staged_file(memory)
    before = memory.context.worktree.read(path) or ""
    memory.context.worktree.replace(path, before + "\n" + HAND)
    memory.cycle()
    return memory.context.worktree.read(path) or ""


def reported(memory: Memory) -> list[str]:
    return [found.detail for found in verify(memory.context) if found.subject == staged_file(memory)]


def test_a_deleted_staging_file_is_reported_found_and_written_again(memory: Memory, text: str) -> None:
    assert reported(memory) == []
    memory.context.worktree.delete(staged_file(memory))
    memory.cycle()
    assert reported(memory) == ["the file is gone; 2 staged entries remembered"]
    assert [fault.path for fault in memory.status().faults] == [staged_file(memory)]
    memory.data.rebuild()
    assert {hit.id for hit in memory.search("mock database pin image")} >= {
        "staged/always-pin-the-base-image-by-digest",
        "staged/never-mock-the-database-in-tests",
    }
    assert memory.data.rebuild(files=True).files == (staged_file(memory),)
    assert memory.context.worktree.read(staged_file(memory)) == text
    assert reported(memory) == []


def test_staging_one_more_brings_the_lost_ones_back(memory: Memory, text: str) -> None:
    memory.context.worktree.delete(staged_file(memory))
    memory.staging.stage("Run migrations before the deploy, never after it", "The old code reads the new column.")
    after = memory.context.worktree.read(staged_file(memory)) or ""
    assert after.startswith(text.rstrip("\n"))
    assert "Run migrations before the deploy" in after


def test_an_entry_that_a_reset_took_out_of_the_file_can_be_restored(memory: Memory, text: str) -> None:
    memory.context.worktree.replace(staged_file(memory), text[: text.index("## Never mock")])
    memory.cycle()
    assert memory.staging.restore("never-mock-the-database-in-tests").title == "Never mock the database in tests"
    assert (memory.context.worktree.read(staged_file(memory)) or "").split() == text.split()


def test_purged_words_are_not_written_again(memory: Memory, text: str) -> None:
    memory.data.purge(text="A mock hid a broken migration in March.")
    memory.context.worktree.delete(staged_file(memory))
    memory.data.rebuild(files=True)
    after = memory.context.worktree.read(staged_file(memory)) or ""
    assert RULE in after
    assert "hid a broken" not in after
