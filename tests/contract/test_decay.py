"""What nobody uses fades: per full period since the last use, however often it runs."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path

import pytest

from conftest import PERSON, Opener
from recollect import LearningEdit, Memory, ScriptedClock
from recollect.core.context import Actor
from repos import Repo
from samples import FLAKY, learning

DAY = 24 * 3600 * 1000


@pytest.mark.parametrize("runs", [1, 50])
@pytest.mark.parametrize(
    ("days", "ms", "expected"),
    [
        (0, 0, 0.7),
        (29, 0, 0.7),
        (30, -1, 0.7),
        (30, 0, 0.68),
        (59, 0, 0.68),
        (60, -1, 0.68),
        (60, 0, 0.66),
        (61, 0, 0.66),
        (365, 0, 0.46),
    ],
)
def test_two_hundredths_go_per_full_thirty_days(
    memory: Memory, clock: ScriptedClock, days: int, ms: int, expected: float, runs: int
) -> None:
    kept = memory.learn(learning()).learning
    clock.advance(days=days, ms=ms)
    for _ in range(runs):
        memory.cycle()
    assert memory.learnings.get(kept.id).confidence == expected


@pytest.mark.parametrize("every", [1, 7, 29, 30, 31, 45, 61])
def test_how_often_it_runs_makes_no_difference(memory: Memory, clock: ScriptedClock, every: int) -> None:
    """A late run takes neither more nor less: what is due is counted from the use, not from the last run."""
    kept = memory.learn(learning()).learning
    done = 0
    while done < 360:
        step = min(every, 360 - done)
        clock.advance(days=step)
        memory.cycle()
        done += step
    assert memory.learnings.get(kept.id).confidence == 0.46


def test_a_use_starts_the_period_anew(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning()).learning
    clock.advance(days=29)
    memory.inject(task="task-1", outcome="billing", title="", learnings=(kept.id,))
    clock.advance(days=29)
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.7
    clock.advance(days=2)  # sixty days after creation, but one period after the use
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.68


def test_a_use_after_decay_starts_the_period_anew(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning()).learning
    clock.advance(days=45)
    memory.cycle()
    memory.inject(task="task-1", outcome="billing", title="", learnings=(kept.id,))
    clock.advance(days=29)
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.68
    clock.advance(days=1)
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.66


def test_an_edit_or_a_verdict_is_no_use(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning()).learning
    memory.inject(task="task-1", outcome="billing", title="", learnings=(kept.id,))
    clock.advance(days=20)
    memory.learnings.edit(kept.id, LearningEdit(context="Elsewhere"))
    memory.rate(kept.id, "helpful", task="task-1")
    clock.advance(days=10)
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.73


@pytest.mark.parametrize(
    ("confidence", "days", "expected"),
    [(0.13, 30, 0.11), (0.11, 30, 0.1), (0.1, 30, 0.1), (0.7, 3000, 0.1), (0.05, 300, 0.05), (0.0, 300, 0.0)],
)
def test_decay_stops_at_the_floor_and_never_raises(
    memory: Memory, clock: ScriptedClock, confidence: float, days: int, expected: float
) -> None:
    kept = memory.learn(learning(confidence=confidence)).learning
    clock.advance(days=days)
    memory.cycle()
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == expected


def test_at_the_floor_no_event_is_written(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning(confidence=0.1)).learning
    clock.advance(days=90)
    assert dict(memory.cycle().steps)["decay"] == "nothing due"
    assert [event.what for event in memory.why(kept.id).events] == ["learning.created"]


@pytest.mark.parametrize("state", ["pinned", "archived", "superseded"])
def test_what_is_pinned_or_out_of_use_does_not_decay(memory: Memory, clock: ScriptedClock, state: str) -> None:
    kept = memory.learn(learning()).learning
    other = memory.learn(learning(FLAKY)).learning
    if state == "pinned":
        memory.learnings.pin(kept.id)
    elif state == "archived":
        memory.learnings.archive(kept.id)
    else:
        memory.learnings.supersede(kept.id, other.id)
    clock.advance(days=60)
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.7
    assert memory.learnings.get(other.id).confidence == 0.66


def test_decay_says_what_it_did_and_leaves_the_version(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning()).learning
    created = clock.now()
    clock.advance(days=65)
    assert dict(memory.cycle().steps)["decay"] == "1 learning lost confidence"
    after = memory.learnings.get(kept.id)
    assert (after.version, after.last_decayed_at) == (kept.version, created + 60 * DAY)
    event = memory.learnings.history(kept.id)[-1]
    assert (event.old, event.new) == ({"confidence": 0.7}, {"confidence": 0.66})
    assert event.reason == "2 x 30 calendar days without use"


def test_many_learnings_decay_in_one_cycle(memory: Memory, clock: ScriptedClock) -> None:
    """More than one batch of them, each once."""
    with memory.context.db.write(memory.context.space) as tx:
        from dataclasses import replace

        from recollect.store import learnings as rows

        first = replace(memory.context, db=_Open(tx))  # type: ignore[arg-type]
        made = Memory(first, memory.project).learn(learning()).learning
        for number in range(600):
            rows.insert(tx, replace(made, id=f"learn_many{number}"))
    clock.advance(days=30)
    assert dict(memory.cycle().steps)["decay"] == "601 learnings lost confidence"
    page, total = memory.learnings.page(limit=1000)
    assert {each.confidence for each in page} == {0.68}
    assert total == 601


class _Open:
    """A database whose transaction is already open: many rows in one commit."""

    def __init__(self, tx: object):
        self._tx = tx

    def write(self, space: str) -> _Open:
        return self

    read = write

    def __enter__(self) -> object:
        return self._tx

    def __exit__(self, *_: object) -> None:
        return None


# The active clock


@pytest.fixture
def active(environ: dict[str, str]) -> None:
    environ["RECOLLECT_CONFIDENCE_DECAY_CLOCK"] = "active"


def _work(repo: Repo, first: date, days: int, *, every: int = 1) -> None:
    for number in range(0, days, every):
        repo.commit(first + timedelta(days=number))


@pytest.mark.parametrize(("active_days", "expected"), [(0, 0.7), (29, 0.7), (30, 0.68), (59, 0.68), (60, 0.66)])
def test_the_active_clock_counts_days_with_a_commit(
    open_memory: Opener, tmp_path: Path, clock: ScriptedClock, active: None, active_days: int, expected: float
) -> None:
    repo = Repo(tmp_path / "project")
    repo.commit(date(2026, 3, 2))  # the day of creation itself does not count
    memory = open_memory()
    kept = memory.learn(learning()).learning
    _work(repo, date(2026, 3, 3), active_days)
    clock.advance(days=100)
    for _ in range(3):
        memory.cycle()
    assert memory.learnings.get(kept.id).confidence == expected


def test_an_idle_project_forgets_nothing(
    open_memory: Opener, tmp_path: Path, clock: ScriptedClock, active: None
) -> None:
    Repo(tmp_path / "project").commit(date(2026, 3, 2))
    memory = open_memory()
    kept = memory.learn(learning()).learning
    clock.advance(days=1000)
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.7


def test_the_active_clock_takes_the_same_however_often_it_runs(
    open_memory: Opener, tmp_path: Path, clock: ScriptedClock, active: None, environ: dict[str, str]
) -> None:
    repo = Repo(tmp_path / "project")
    memory = open_memory()
    kept = memory.learn(learning()).learning
    for number in range(1, 71):  # 35 of 70 days have a commit
        clock.advance(days=1)
        if number % 2:
            repo.commit(date(2026, 3, 2) + timedelta(days=number))
        if number % 5 == 0:
            open_memory().cycle()
    assert memory.learnings.get(kept.id).confidence == 0.68
    event = memory.learnings.history(kept.id)[-1]
    assert event.reason == "1 x 30 active days without use"


def test_a_period_ends_on_its_last_active_day_whatever_the_hour(
    open_memory: Opener, tmp_path: Path, clock: ScriptedClock, active: None
) -> None:
    """Written late in the evening, due in the morning of the thirtieth day of work."""
    repo = Repo(tmp_path / "project")
    clock.advance(hours=14)  # 23:00
    memory = open_memory()
    kept = memory.learn(learning()).learning
    _work(repo, date(2026, 3, 3), 30)
    clock.advance(days=29, hours=2)  # 2026-04-01 01:00
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.68


def test_active_days_are_days_of_the_projects_time_zone(
    open_memory: Opener, tmp_path: Path, clock: ScriptedClock, active: None, environ: dict[str, str]
) -> None:
    """At 20:00 UTC it is tomorrow in Auckland: a commit at that tomorrow's noon is on the day of creation."""
    environ["RECOLLECT_TIMEZONE"] = "Pacific/Auckland"
    repo = Repo(tmp_path / "project")
    clock.advance(hours=11)
    memory = open_memory()
    kept = memory.learn(learning()).learning
    _work(repo, date(2026, 3, 2), 30)  # noon UTC is 01:00 of the next day there: 3 March to 1 April
    clock.advance(days=60)
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.7
    repo.commit(date(2026, 4, 1))
    open_memory().cycle()
    assert memory.learnings.get(kept.id).confidence == 0.68


@pytest.mark.parametrize("state", ["no repository", "no commit yet", "shallow"])
def test_without_a_history_to_trust_nothing_is_forgotten(
    open_memory: Opener, tmp_path: Path, clock: ScriptedClock, active: None, state: str
) -> None:
    if state == "no commit yet":
        Repo(tmp_path / "project")
    elif state == "shallow":
        origin = Repo(tmp_path / "origin")
        _work(origin, date(2026, 3, 3), 40)
        (tmp_path / "project").rmdir()
        origin.git("clone", "-q", "--depth", "1", f"file://{origin.root}", str(tmp_path / "project"))
    memory = open_memory()
    kept = memory.learn(learning()).learning
    clock.advance(days=100)
    assert dict(memory.cycle().steps)["decay"] == "nothing due"
    assert memory.learnings.get(kept.id).confidence == 0.7


def test_the_cycle_acts_on_behalf_of_whoever_runs_it(open_memory: Opener, clock: ScriptedClock) -> None:
    kept = open_memory(PERSON).learn(learning()).learning
    clock.advance(days=30)
    memory = open_memory(Actor(name="timer", channel="cycle", trust="agent"))
    memory.cycle()
    assert memory.learnings.history(kept.id)[-1].who == "timer"


def test_time_out_of_reach_is_not_taken_afterwards(memory: Memory, clock: ScriptedClock) -> None:
    pinned = memory.learn(learning()).learning
    away = memory.learn(learning(FLAKY)).learning
    memory.learnings.pin(pinned.id)
    memory.learnings.archive(away.id)
    clock.advance(days=90)
    memory.learnings.pin(pinned.id, on=False)
    memory.learnings.restore(away.id)
    clock.advance(days=30)
    memory.cycle()
    assert [memory.learnings.get(each.id).confidence for each in (pinned, away)] == [0.68, 0.68]


@pytest.mark.parametrize("away", ["archive", "pin"])
def test_time_out_of_reach_is_not_taken_after_an_undo_either(memory: Memory, clock: ScriptedClock, away: str) -> None:
    kept = memory.learn(learning()).learning
    getattr(memory.learnings, away)(kept.id)
    clock.advance(days=90)
    memory.data.undo()
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence == 0.7
