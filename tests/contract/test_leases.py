"""Leases: one holder at a time, a fence that only grows, and an overtaken holder that may not write."""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import replace

import pytest

from conftest import AGENT, Opener
from recollect import Memory, Refused, ScriptedClock
from recollect.models import budget
from recollect.store import db, model_rows
from samples import learning


def test_a_lease_is_held_by_one_at_a_time(open_memory: Opener) -> None:
    one, other = open_memory().context, open_memory(AGENT).context
    lease = db.take_lease(one, "cycle", seconds=60)
    assert lease is not None
    assert db.take_lease(other, "cycle", seconds=60) is None
    assert db.take_lease(one, "cycle", seconds=60) is None, "not even twice by the same process"
    assert db.take_lease(other, "another name", seconds=60) is not None


@pytest.mark.parametrize(("ms", "free"), [(59_999, False), (60_000, True), (60_001, True)])
def test_a_lease_expires_by_itself(memory: Memory, clock: ScriptedClock, ms: int, free: bool) -> None:
    first = db.take_lease(memory.context, "cycle", seconds=60)
    clock.advance(ms=ms)
    second = db.take_lease(memory.context, "cycle", seconds=60)
    assert (second is not None) is free
    if second and first:
        assert second.fence == first.fence + 1


@pytest.mark.parametrize("ahead", [0.02, 3, 24, 24 * 1400], ids=lambda hours: f"{hours} hours")
@pytest.mark.parametrize("name", ["cycle", "consolidate", "transcript/s-1"])
def test_a_lease_that_was_taken_while_the_clock_was_ahead_has_expired(
    memory: Memory, clock: ScriptedClock, name: str, ahead: float
) -> None:
    clock.advance(hours=ahead)
    killed = db.take_lease(memory.context, name, seconds=600)
    clock.advance(hours=-ahead)
    next_one = db.take_lease(memory.context, name, seconds=600)
    assert killed is not None
    assert next_one is not None
    assert next_one.fence == killed.fence + 1
    with pytest.raises(Refused, match="took over"), memory.context.db.write(memory.context.space) as tx:
        db.check_lease(tx, killed)


def test_a_lease_that_was_renewed_while_the_clock_was_ahead_has_expired(memory: Memory, clock: ScriptedClock) -> None:
    lease = db.take_lease(memory.context, "cycle", seconds=60)
    assert lease is not None
    clock.advance(days=30)
    db.renew_lease(memory.context, lease, seconds=60)
    clock.advance(days=-30)
    assert db.take_lease(memory.context, "cycle", seconds=60) is not None


def test_a_lease_holds_among_machines_whose_clocks_differ_a_little(memory: Memory, clock: ScriptedClock) -> None:
    clock.advance(seconds=20)
    assert db.take_lease(memory.context, "cycle", seconds=60) is not None
    clock.advance(seconds=-20)
    assert db.take_lease(memory.context, "cycle", seconds=60) is None


def test_a_cycle_runs_after_one_that_was_killed_while_the_clock_was_ahead(memory: Memory, clock: ScriptedClock) -> None:
    clock.advance(days=1400)
    db.take_lease(memory.context, "cycle", seconds=600)
    clock.advance(days=-1400)
    assert memory.cycle().held is False


def test_a_replayed_record_holds_its_lease_against_the_clock_of_the_process(
    memory: Memory, clock: ScriptedClock
) -> None:
    """The record's own time is the same at every replay: a dead process's lease would never run out."""
    then = replace(memory.context, clock=ScriptedClock(clock.now()))
    assert db.take_lease(then, "transcript/s-1", seconds=30) is not None
    clock.advance(seconds=29)
    assert db.take_lease(then, "transcript/s-1", seconds=30) is None
    clock.advance(seconds=1)
    assert db.take_lease(then, "transcript/s-1", seconds=30) is not None


def test_a_claim_on_a_model_that_was_taken_while_the_clock_was_ahead_has_expired(
    memory: Memory, clock: ScriptedClock
) -> None:
    def claim() -> AbstractContextManager[budget.ModelClaim | None]:
        return budget.claimed(memory.context, "ask-1", kind="node", generator="m@1", seconds=190)

    clock.advance(hours=2)
    killed = claim()  # it never ends
    assert killed.__enter__() is not None
    clock.advance(hours=-2)
    with memory.context.db.read(memory.context.space) as tx:
        assert not model_rows.claimed_calls(tx, "ask-1", now=clock.now())
    with claim() as first, claim() as second:
        assert first is not None
        assert second is None, "a live claim counts"


def test_a_released_lease_is_free_and_its_fence_goes_on(memory: Memory) -> None:
    fences = []
    for _ in range(3):
        lease = db.take_lease(memory.context, "cycle", seconds=60)
        assert lease is not None
        fences.append(lease.fence)
        db.release_lease(memory.context, lease)
    assert fences == [1, 2, 3]


def test_an_overtaken_holder_may_neither_write_nor_renew_nor_release(memory: Memory, clock: ScriptedClock) -> None:
    slow = db.take_lease(memory.context, "cycle", seconds=60)
    clock.advance(seconds=61)
    fast = db.take_lease(memory.context, "cycle", seconds=60)
    assert slow is not None
    assert fast is not None
    with pytest.raises(Refused, match="took over"), memory.context.db.write(memory.context.space) as tx:
        db.check_lease(tx, slow)
    with pytest.raises(Refused):
        db.renew_lease(memory.context, slow, seconds=600)
    db.release_lease(memory.context, slow)
    assert db.take_lease(memory.context, "cycle", seconds=60) is None, "the faster one still holds it"
    with memory.context.db.write(memory.context.space) as tx:
        db.check_lease(tx, fast)


def test_what_an_overtaken_holder_wrote_is_rolled_back(memory: Memory, clock: ScriptedClock) -> None:
    slow = db.take_lease(memory.context, "cycle", seconds=60)
    assert slow is not None
    clock.advance(seconds=61)
    db.take_lease(memory.context, "cycle", seconds=60)

    def write_late() -> None:
        with memory.context.db.write(memory.context.space) as tx:
            tx.run("INSERT INTO outcomes (space, id, name, created_at) VALUES (:space, 'late', '', 0)")
            db.check_lease(tx, slow)

    with pytest.raises(Refused):
        write_late()
    assert memory.work.outcome_page()[0] == []


def test_renewing_gives_more_time(memory: Memory, clock: ScriptedClock) -> None:
    lease = db.take_lease(memory.context, "cycle", seconds=60)
    assert lease is not None
    clock.advance(seconds=50)
    db.renew_lease(memory.context, lease, seconds=60)
    clock.advance(seconds=59)
    assert db.take_lease(memory.context, "cycle", seconds=60) is None


def test_a_cycle_that_another_process_is_at_does_nothing(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning()).learning
    clock.advance(days=30)
    lease = db.take_lease(memory.context, "cycle", seconds=60)
    assert lease is not None
    report = memory.cycle()
    assert (report.held, report.steps) == (True, ())
    assert memory.learnings.get(kept.id).confidence == 0.7
    db.release_lease(memory.context, lease)
    assert memory.cycle().held is False
    assert memory.learnings.get(kept.id).confidence == 0.68


def test_a_cycle_gives_its_lease_back(memory: Memory) -> None:
    memory.cycle()
    assert db.take_lease(memory.context, "cycle", seconds=1) is not None
