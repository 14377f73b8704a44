"""Secrets that an earlier version stored: found, and purged from rows and files."""

from __future__ import annotations

import pytest

from conftest import PERSON, Opener
from recollect import Memory, NotFound
from recollect.core.journal import NewEntry

SECRET = "acme_live_" + "9fK2mQ7xV4bN8cR1tY6wZ3pL5sD0hJ"


@pytest.fixture
def owner(open_memory: Opener) -> Memory:
    return open_memory(actor=PERSON)


def old_version_stored(memory: Memory) -> None:
    """Put a secret where an earlier version, which did not know its kind, would have left it."""
    memory.journal.add(NewEntry(text="The sandbox wants PLACEHOLDERWORD for every call.", topic="sandbox"))
    learning = memory.learn(
        title="The sandbox wants a token",
        context="Calling the sandbox",
        observation="It answers 401 without PLACEHOLDERWORD",
        implication="Every call fails",
        action="Send PLACEHOLDERWORD with each call to the sandbox",
    ).learning
    with memory.context.db.write(memory.context.space) as tx:
        sql = "UPDATE learnings SET action = :action WHERE space = :space AND id = :id"
        tx.run(sql, action=f"Send {SECRET} with each call", id=learning.id)
    [log] = [path for path in memory.context.vault.paths() if path[0].isdigit()]
    text = memory.context.vault.read(log) or ""
    memory.context.vault.replace(log, text.replace("PLACEHOLDERWORD", SECRET))


def test_what_an_earlier_version_stored_is_found_and_purged(owner: Memory) -> None:
    assert owner.data.stored_secrets() == {}
    old_version_stored(owner)
    assert owner.data.stored_secrets() == {"prefixed-token": 1}
    assert owner.data.plan_purge(secrets=True).rows["learnings"] == 1
    assert owner.data.purge(secrets=True).found == ()
    assert owner.data.stored_secrets() == {}
    assert not any(SECRET in (owner.context.vault.read(path) or "") for path in owner.context.vault.paths())
    with pytest.raises(NotFound, match="No secret is stored"):
        owner.data.purge(secrets=True)
