"""The spool: what cannot be written now is shown anyway and written later, once, as if it had been in time."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import AGENT, PERSON, Opener
from recollect import Memory, ScriptedClock, Trouble
from recollect.core.errors import Stale
from recollect.core.learning import SessionTurn, Write
from recollect.hosts.payloads import HOSTS
from recollect.memory.admin import Rescue
from recollect.store import db, spool
from samples import FLAKY, learning
from stored import everything_stored

SECRET = "AKIAIOSFODNN7EXAMPQZ"


@pytest.fixture
def busy(open_memory: Opener, environ: dict[str, str]) -> Memory:
    """A memory that gives up on a locked store at once."""
    environ["RECOLLECT_STORE_BUSY_SECONDS"] = "0.05"
    return open_memory(AGENT)


def spool_files(memory: Memory) -> list[Path]:
    return [path for folder in memory.project.spools if folder.is_dir() for path in sorted(folder.iterdir())]


def modes(memory: Memory) -> list[int]:
    """Who may read what waits: its words are nobody else's."""
    return [path.stat().st_mode & 0o777 for path in spool_files(memory)]


def put_record(memory: Memory, record: Any, name: str = "000-x.json", *, place: int = 0) -> Path:
    folder = memory.project.spools[place]
    folder.mkdir(parents=True, exist_ok=True)
    text = record if isinstance(record, str) else json.dumps(record)
    (folder / name).write_text(text, "utf-8")
    return folder / name


def record(kept_id: str, **changes: Any) -> dict[str, Any]:
    return {
        "id": "spooled_1",
        "verb": "inject",
        "at": 1772442000000,
        "actor": {"name": "claude-code", "channel": "hook", "trust": "agent"},
        "arguments": {"task": "task-1", "outcome": "billing", "title": "Webhooks", "learnings": [kept_id]},
        **changes,
    }


def test_a_locked_store_still_gives_the_block_and_remembers_it_later(
    open_memory: Opener, busy: Memory, clock: ScriptedClock
) -> None:
    holder = open_memory(PERSON)
    kept = holder.learn(learning()).learning
    shown_at = clock.now()
    with holder.context.db.write(holder.context.space):
        chosen = busy.inject(task="task-1", outcome="billing", title=f"Stripe webhooks order {SECRET}")
        with pytest.raises(Trouble):
            busy.learn(learning(FLAKY))
    assert kept.id in chosen.markdown
    assert busy.status().spooled == 1
    assert modes(busy) == [0o600]
    assert busy.learnings.get(kept.id).times_injected == 0
    assert SECRET.encode() not in everything_stored(busy)

    clock.advance(days=2)
    later = open_memory(PERSON)
    assert spool_files(later) == []
    after = later.learnings.get(kept.id)
    assert (after.times_injected, after.last_injected_at) == (1, shown_at)
    event = later.why(kept.id).events[-1]
    assert (event.what, event.at, event.who, event.channel) == (
        "learning.injected",
        shown_at,
        "claude-code",
        "hook",
    )
    assert [task.created_at for task in later.work.task_page()[0]] == [shown_at]
    assert open_memory(PERSON).learnings.get(kept.id) == after
    assert later.feedback(f"LEARNING_HELPFUL: {kept.id}", task="task-1").counted == (kept.id,)


def test_a_record_that_was_replayed_before_a_crash_is_not_replayed_again(open_memory: Opener) -> None:
    memory = open_memory()
    kept = memory.learn(learning()).learning
    put_record(memory, record(kept.id))
    open_memory()
    put_record(memory, record(kept.id, arguments={**record(kept.id)["arguments"], "task": "task-2"}))
    assert open_memory().learnings.get(kept.id).times_injected == 1, "the same id is the same write"
    assert spool_files(memory) == []


def test_a_cycle_of_a_memory_that_stays_open_replays_what_waits(open_memory: Opener) -> None:
    memory = open_memory()
    kept = memory.learn(learning()).learning
    put_record(memory, record(kept.id))
    memory.cycle()
    assert memory.learnings.get(kept.id).times_injected == 1
    assert spool_files(memory) == []


@pytest.mark.parametrize(("first", "second"), [(0, 0), (0, 1), (1, 0)])
def test_records_are_replayed_oldest_first_whichever_folder_took_them(
    open_memory: Opener, first: int, second: int
) -> None:
    memory = open_memory()
    kept = memory.learn(learning()).learning
    said = record(kept.id, id="spooled_2", verb="feedback")
    said["arguments"] = {"output": f"LEARNING_HELPFUL: {kept.id}", "task": "task-1"}
    put_record(memory, said, "000002-b.json", place=second)
    put_record(memory, record(kept.id), "000001-a.json", place=first)
    after = open_memory().learnings.get(kept.id)
    assert (after.times_injected, after.times_helpful, after.confidence) == (1, 1, 0.75)


def test_a_late_record_does_not_turn_back_the_last_use(open_memory: Opener, clock: ScriptedClock) -> None:
    """Decay counts from the last use; a replay of an earlier one must not move it."""
    memory = open_memory()
    kept = memory.learn(learning()).learning
    spooled_at = clock.now()
    clock.advance(days=10)
    memory.inject(task="task-2", outcome="billing", title="", learnings=(kept.id,))
    memory.rate(kept.id, "helpful", task="task-2")
    put_record(memory, record(kept.id, at=spooled_at), "000001-a.json")
    said = record(kept.id, id="spooled_2", verb="feedback", at=spooled_at)
    said["arguments"] = {"output": f"LEARNING_HELPFUL: {kept.id}", "task": "task-1"}
    put_record(memory, said, "000002-b.json")
    after = open_memory().learnings.get(kept.id)
    assert (after.times_injected, after.last_injected_at) == (2, clock.now())
    assert (after.times_helpful, after.last_helpful_at) == (2, clock.now())


@pytest.mark.parametrize(
    "unreadable",
    [
        "",
        "not json",
        "[1, 2]",
        "null",
        '{"id": "x"',
        "{}",
        "[" * 100_000,
        {"verb": "explode"},
        {"verb": "inject", "arguments": {"task": "t"}},
        {"arguments": {"task": 5, "outcome": "o", "title": "t", "learnings": []}},
        {"arguments": {"task": "t", "outcome": "o", "title": 5, "learnings": []}},
        {"arguments": {"task": "t", "outcome": "o", "title": "t", "learnings": 5}},
        {"arguments": {"task": "t", "outcome": "o", "title": "t", "learnings": [5]}},
        {"arguments": {"task": "", "outcome": "o", "title": "t", "learnings": []}},
        {"actor": {"name": "x"}},
        {"actor": None},
        {"at": "yesterday"},
        {"at": None},
        {"at": [1]},
        {"at": 253_402_300_799_000},
        {"id": 5},
    ],
    ids=lambda unreadable: str(unreadable)[:60],
)
def test_an_unreadable_record_is_set_aside_and_blocks_nothing(open_memory: Opener, unreadable: Any) -> None:
    memory = open_memory()
    kept = memory.learn(learning()).learning
    bad = put_record(
        memory, record(kept.id, **unreadable) if isinstance(unreadable, dict) else unreadable, "000-a.json"
    )
    put_record(memory, record(kept.id, id="spooled_9"), "001-b.json")
    after = open_memory()
    assert after.learnings.get(kept.id).times_injected == 1, "the one behind it was replayed"
    assert [path.suffix for path in spool_files(memory)] == [".json"], "what is wrong may pass"
    for _ in range(2):
        after = open_memory()
    suffix = ".failed" if isinstance(unreadable, dict) or unreadable == "{}" else ".unreadable"
    assert [path.name for path in spool_files(memory)] == [bad.with_suffix(suffix).name]
    assert after.status().spooled == 0


def test_a_record_about_a_learning_that_is_gone_blocks_nothing(open_memory: Opener) -> None:
    memory = open_memory()
    kept = memory.learn(learning()).learning
    given = record(kept.id)
    given["arguments"]["learnings"] = ["learn_purged", kept.id]
    put_record(memory, given)
    after = open_memory()
    assert after.learnings.get(kept.id).times_injected == 1
    assert [each.learning_id for each in after.work.injections(task="task-1")] == [kept.id]


def test_a_store_that_is_still_locked_keeps_the_spool(open_memory: Opener, busy: Memory) -> None:
    kept = busy.learn(learning()).learning
    put_record(busy, record(kept.id))
    holder = open_memory(PERSON)  # replays it
    put_record(busy, record(kept.id, id="spooled_2", arguments={**record(kept.id)["arguments"], "task": "task-2"}))
    with holder.context.db.write(holder.context.space):
        assert open_memory(AGENT).status().spooled == 1
    assert open_memory(AGENT).status().spooled == 0


def test_a_read_only_project_spools_in_the_users_state_folder(
    open_memory: Opener, busy: Memory, clock: ScriptedClock
) -> None:
    holder = open_memory(PERSON)
    kept = holder.learn(learning()).learning
    busy.project.spools[0].write_text("a file where the folder should be")
    with holder.context.db.write(holder.context.space):
        busy.inject(task="task-1", outcome="billing", title="Stripe webhooks order")
    busy.project.spools[0].unlink()
    assert [path.parent for path in spool_files(busy)] == [busy.project.spools[1]]
    assert modes(busy) == [0o600]
    assert open_memory().learnings.get(kept.id).times_injected == 1


def turn(session: str, at: int, **changes: Any) -> dict[str, Any]:
    """A turn of a session that waits, as a hook leaves it."""
    return {
        "id": f"change_{session}_{at}",
        "verb": "turn",
        "at": at,
        "actor": {"name": "claude-code", "channel": "hook", "trust": "agent"},
        "arguments": {
            "session": session,
            "host": "claude-code",
            "request": f"ask {session}",
            "answer": f"say {session}",
        },
        **changes,
    }


def test_a_record_of_the_previous_version_is_replayed(
    open_memory: Opener, clock: ScriptedClock, tmp_path: Path
) -> None:
    memory = open_memory()
    path = tmp_path / "t.jsonl"
    path.write_text("{}\n")
    texts = {"path": str(path), "end": "3", "root": "/work"}
    put_record(memory, turn("s-1", clock.now(), arguments={**turn("s-1", 0)["arguments"], **texts}), "000-a.json")
    shown = {"session": "s-1", "host": "codex", "event": "SessionStart", "task": "s-1", "learnings": [], "given": ["x"]}
    shown |= {"fresh": "yes", "transcript": str(path), "place": "3"}
    put_record(memory, turn("s-1", clock.now(), id="shown_1", verb="shown", arguments=shown), "001-b.json")
    after = open_memory()
    assert spool_files(after) == []
    assert said(after) == ["s-1"]
    assert after.sessions.is_given("s-1", "x")


def put_turn(memory: Memory, session: str, at: int) -> Path:
    return put_record(memory, turn(session, at), f"{at:015d}-change_{session}.json")


def said(memory: Memory) -> list[str]:
    """The sessions whose words are in the day's log, in order."""
    return re.findall(r"say (s-\d)$", memory.context.vault.read("2026-03-02.md") or "", re.MULTILINE)


def failing(error: BaseException) -> Any:
    """Ids that cannot be had for a lease: what a turn needs first fails, for whatever reason there may be."""

    def ids(kind: str) -> str:
        if kind == "lease":
            raise error
        return f"{kind}_{error}_1"

    return ids


def test_the_lease_of_a_dead_process_holds_its_session_up_for_its_length_and_no_other(
    open_memory: Opener, clock: ScriptedClock
) -> None:
    memory = open_memory()
    at = clock.now()
    waits = put_turn(memory, "s-1", at)
    put_turn(memory, "s-2", at + 1)
    db.take_lease(memory.context, "transcript/s-1", seconds=30)  # and then its holder was killed
    for _ in range(5):
        clock.advance(seconds=5)
        assert said(open_memory()) == ["s-2"]
        assert spool_files(memory) == [waits], "somebody else's lease counts for nothing"
    clock.advance(seconds=6)
    assert said(open_memory()) == ["s-2", "s-1"]
    assert spool_files(memory) == []


def test_a_record_that_fails_is_set_aside_after_three_tries_and_the_others_are_replayed(
    open_memory: Opener, clock: ScriptedClock
) -> None:
    memory = open_memory()
    kept = memory.learn(learning()).learning
    waits = put_turn(memory, "s-1", clock.now())
    put_record(memory, record(kept.id), "999999999999999-later.json")
    for tries in (1, 2):
        after = open_memory(ids=failing(OSError("no such luck")))
        assert after.learnings.get(kept.id).times_injected == 1, "what came later is done"
        assert [path.name for path in spool_files(memory)] == [f"{waits.stem}.try{tries}.json"]
        assert (after.status().spooled, after.status().set_aside) == (1, 0)
    after = open_memory(ids=failing(OSError("no such luck")))
    assert [path.name for path in spool_files(memory)] == [f"{waits.stem}.failed"]
    assert "say s-1" in spool_files(memory)[0].read_text(), "its words are kept"
    assert modes(memory) == [0o600]
    assert (after.status().spooled, after.status().set_aside) == (0, 1)
    assert spool_files(open_memory()) == spool_files(memory), "and it is left alone from then on"


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_a_record_that_ends_every_process_that_tries_it_is_set_aside(
    open_memory: Opener, clock: ScriptedClock, error: type[BaseException]
) -> None:
    memory = open_memory()
    waits = put_turn(memory, "s-1", clock.now())
    put_turn(memory, "s-2", clock.now() + 1)
    for _ in range(3):
        with pytest.raises(error):
            open_memory(ids=failing(error()))
    assert said(open_memory()) == ["s-2"]
    assert [path.name for path in spool_files(memory)] == [f"{waits.stem}.failed"]


def test_a_store_that_is_locked_for_long_counts_as_no_try(
    open_memory: Opener, busy: Memory, clock: ScriptedClock
) -> None:
    holder = open_memory(PERSON)
    waits = put_turn(busy, "s-1", clock.now())
    with holder.context.db.write(holder.context.space):
        for _ in range(4):
            assert open_memory(AGENT).status().spooled == 1
        assert spool_files(busy) == [waits]
    assert said(open_memory(AGENT)) == ["s-1"]


def test_one_process_replays_at_a_time_and_no_other_waits_for_it(open_memory: Opener, clock: ScriptedClock) -> None:
    from recollect.store.spool import replaying

    memory = open_memory()
    waits = put_turn(memory, "s-1", clock.now())
    with replaying(memory.project.spools) as our_turn:
        assert our_turn
        for _ in range(4):
            assert open_memory().status().spooled == 1
        assert spool_files(memory) == [waits], "a try is counted by whoever makes it"
    assert said(open_memory()) == ["s-1"]


@pytest.mark.parametrize(
    ("name", "session", "at_once"),
    [("000-a.json", "s-1", False), ("000-a.json", "s-2", True), ("000-a.try1.json", "s-1", True)],
    ids=["of its session", "of another session", "of its session, but it failed"],
)
def test_a_write_waits_only_behind_an_untried_record_of_its_own_session(
    open_memory: Opener, clock: ScriptedClock, name: str, session: str, at_once: bool
) -> None:
    memory = open_memory()
    put_record(memory, turn(session, clock.now()), name)
    write = Write(id="change_1", what=SessionTurn(session="s-1", host="claude-code", answer="say s-1"))
    assert memory.sessions.deliver(write) is at_once
    assert said(memory) == (["s-1"] if at_once else [])


def test_status_doctor_and_the_brief_name_what_waits_and_what_was_set_aside(
    open_memory: Opener, clock: ScriptedClock, environ: dict[str, str]
) -> None:
    memory = open_memory(replay=False)
    assert "set aside" not in memory.sessions.brief(HOSTS["claude-code"].room).text
    waiting, failed = put_turn(memory, "s-1", clock.now()), put_turn(memory, "s-2", clock.now() - 1)
    failed.rename(failed.with_suffix(".failed"))
    clock.advance(days=2, hours=1)
    found = memory.status()
    assert (found.spooled, found.spooled_oldest_at) == (1, clock.now() - 49 * 3_600_000)
    assert (found.set_aside, found.set_aside_oldest_at) == (1, clock.now() - 49 * 3_600_000 - 1)
    brief = memory.sessions.brief(HOSTS["claude-code"].room).text
    assert "1 write that failed is set aside, the oldest 2 days old: " in brief
    assert "`recollect doctor --fix`" in brief
    rescue = Rescue(memory.project.root, actor=PERSON, clock=clock, environ=environ)
    told = {each.subject: each for each in rescue.doctor().findings if each.what == "spool"}
    assert told[str(waiting)].detail == "1 write waiting for the store, the oldest for 2 days"
    assert told[str(failed.with_suffix(".failed"))].detail == "1 write set aside as failed, the oldest for 2 days"
    assert all("doctor --fix" in each.remedy for each in told.values())


def test_doctor_tries_again_what_was_set_aside(
    open_memory: Opener, clock: ScriptedClock, environ: dict[str, str]
) -> None:
    memory = open_memory()
    put_turn(memory, "s-1", clock.now())
    for _ in range(3):
        open_memory(ids=failing(OSError("no such luck")))
    bad = put_record(memory, "not json", "000-bad.json")
    rescue = Rescue(memory.project.root, actor=PERSON, clock=clock, environ=environ)
    assert ["OSError: no such luck" in each.detail for each in rescue.doctor().findings if each.what == "spool"] == [
        False,
        True,
    ]
    done = rescue.doctor(fix=True)
    assert done.fixed[0].detail == "1 write written to the store"
    assert said(memory) == ["s-1"]
    for _ in range(2):
        open_memory()
    assert spool_files(memory) == [bad.with_suffix(".unreadable")]


def test_a_record_that_does_not_open_once_is_done_by_the_next_command(
    open_memory: Opener, clock: ScriptedClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = open_memory()
    put_turn(memory, "s-1", clock.now())
    with monkeypatch.context() as patched:

        def refuse(path: Path) -> None:
            raise OSError(24, "Too many open files", str(path))

        patched.setattr(spool, "open_file", refuse)
        open_memory()
    open_memory()
    assert said(memory) == ["s-1"]
    assert spool_files(memory) == []


@pytest.mark.parametrize("error", [Stale("changed since"), KeyError("topic_x"), TypeError("no"), OSError("disk")])
def test_a_write_that_fails_in_any_way_is_kept(open_memory: Opener, clock: ScriptedClock, error: Exception) -> None:
    memory = open_memory(ids=failing(error))
    write = Write(id="change_1", what=SessionTurn(session="s-1", host="claude-code", answer="say s-1"))
    assert not memory.sessions.deliver(write)
    for _ in range(2):
        open_memory(ids=failing(error))
    assert [path.name.partition(".")[2] for path in spool_files(memory)] == ["try2.json"]
    open_memory()
    assert said(memory) == ["s-1"]
