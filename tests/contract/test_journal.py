"""Raw logs: what is appended is there, redacted, searchable, on the right day, and gone when purged."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from conftest import AGENT, PERSON, STRANGER, Opener
from recollect import BadInput, Memory, NotFound, Refused, ScriptedClock
from recollect.capture import log
from recollect.capture.logs import INDEXED_AT_ONCE
from recollect.core.context import Context, Vault
from recollect.core.journal import NewEntry
from recollect.distil.tree import compact
from recollect.store import events, passages
from recollect.text.entries import ENTRY_CHARS
from samples import WEBHOOKS, learning


def test_an_entry_is_appended_and_read_back(memory: Memory) -> None:
    logged = memory.journal.add(NewEntry(text="Use cents.", topic="Money", type="user"))
    assert logged.id == "log/2026-03-02#1"
    found = memory.journal.entry(logged.id)
    assert (found.topic, found.type, found.text, found.trust) == ("Money", "user", "Use cents.", "agent")
    assert memory.journal.show("2026-03-02").startswith("## Money [user]\n")


def test_a_structured_entry_keeps_its_fields(memory: Memory) -> None:
    new = NewEntry(topic="x", request="a", decisions=("b", "c"), outcome="d\ne")
    found = memory.journal.entry(memory.journal.add(new).id)
    assert found.fields == (("request", "a"), ("decisions", "b"), ("decisions", "c"), ("outcome", "d\ne"))


def test_entries_are_numbered_in_order(memory: Memory) -> None:
    assert [memory.journal.add(NewEntry(text=f"n {n}")).id for n in range(3)] == [
        "log/2026-03-02#1",
        "log/2026-03-02#2",
        "log/2026-03-02#3",
    ]


def test_a_day_counts_each_of_its_entries(memory: Memory) -> None:
    for number in range(3):
        memory.journal.add(NewEntry(text=f"n {number}"))
    assert [(each.day.isoformat(), each.entries) for each in memory.journal.days()] == [("2026-03-02", 3)]


class Watched:
    """A vault that says which files were read."""

    def __init__(self, vault: Vault):
        self._vault = vault
        self.read: list[str] = []

    def pieces(self, path: str) -> Iterator[str]:
        self.read.append(path)
        return self._vault.pieces(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._vault, name)


def test_one_more_entry_does_not_read_the_log_again_unless_somebody_wrote_to_it(memory: Memory) -> None:
    watched = Watched(memory.context.vault)
    context = replace(memory.context, vault=watched)  # type: ignore[arg-type]
    log.add(context, NewEntry(text="one"))
    watched.read.clear()
    assert [log.add(context, NewEntry(text=text)).id[-2:] for text in ("two", "three")] == ["#2", "#3"]
    assert watched.read == []
    memory.context.vault.append("2026-03-02.md", "\n## by hand\nx\n")
    assert log.add(context, NewEntry(text="five")).id[-2:] == "#5"
    assert watched.read
    assert memory.data.verify() == ()


class Interrupted:
    """A vault after whose first write somebody else does something."""

    def __init__(self, vault: Vault, then: Callable[[], object]):
        self._vault = vault
        self._then = [then]

    def append(self, path: str, text: str, **how: Any) -> str:
        stamp = self._vault.append(path, text, **how)
        self._interrupt()
        return stamp

    def replace(self, path: str, text: str, **how: Any) -> None:
        self._vault.replace(path, text, **how)
        self._interrupt()

    def _interrupt(self) -> None:
        if self._then:
            self._then.pop()()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._vault, name)


def test_an_entry_keeps_its_place_when_another_writer_read_it_in_first(memory: Memory) -> None:
    def add(context: Context, text: str) -> str:
        return log.add(context, NewEntry(text=text, topic=text, session="s")).id

    def other_writers() -> None:
        memory.context.vault.append("2026-03-02.md", "\n## by hand\nx\n")
        add(memory.context, "three")

    add(memory.context, "one")
    add(replace(memory.context, vault=Interrupted(memory.context.vault, other_writers)), "two")  # type: ignore[arg-type]
    with memory.context.db.read(memory.context.space) as tx:
        found = [passages.by_id(tx, f"log/2026-03-02#{number}") for number in range(1, 5)]
    told = [(each.title, each.position) for each in found if each]
    assert told == [("one", 1), ("two", 2), ("by hand", 1), ("three", 3)]


def test_an_entry_that_comes_while_a_cycle_makes_the_day_is_found(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="one"))
    late = partial(memory.journal.add, NewEntry(text="late words"))
    compact(replace(memory.context, vault=Interrupted(memory.context.vault, late)))  # type: ignore[arg-type]
    memory.journal.add(NewEntry(text="three"))
    assert memory.search("late words", kinds=("log",))[0].id == "log/2026-03-02#2"


def test_an_entry_given_again_is_not_taken_for_the_last_one(memory: Memory) -> None:
    for change in ("first", "second", "first"):
        assert (
            log.add(memory.context, NewEntry(text=change), change=change).id[-1]
            == {"first": "1", "second": "2"}[change]
        )
    assert memory.journal.add(NewEntry(text="third")).id == "log/2026-03-02#3"


def test_an_entry_given_again_leaves_one_event(open_memory: Opener) -> None:
    memory = open_memory(PERSON)
    outside = open_memory(STRANGER).journal.add(NewEntry(text="from outside"))
    ids = {log.add(memory.context, NewEntry(text="once"), change="same").id for _ in range(3)}
    ids |= {memory.journal.adopt(outside.id).id for _ in range(3)}
    with memory.context.db.read(memory.context.space) as tx:
        assert [len(events.of(tx, id)) for id in sorted(ids)] == [1, 1]


ODD = st.sampled_from(
    ["plain", "## a heading", "```\n## in a fence", "=======", ">>>>>>> x\n=======", "<<<<<<< x", "||||||| base"]
)
BY_HAND = st.sampled_from(
    ["\n## whole\nx\n", "\n## open\n```\n## inside\ny", "\n<<<<<<< ours\n## mine\nx", "\n=======\n", "\nmore words"]
)


@given(
    steps=st.lists(
        st.one_of(ODD.map(lambda text: ("add", text)), BY_HAND.map(lambda text: ("hand", text))), min_size=2, max_size=7
    )
)
@example(steps=[("hand", "\n<<<<<<< ours\n## mine\nx\n"), ("add", "plain"), ("add", "=======")])
@example(steps=[("hand", "\n## open\n```\n## inside\ny"), ("add", "plain")])
@settings(max_examples=20)
def test_an_entry_has_the_number_that_reading_the_whole_log_gives_it(
    memory: Memory, clock: ScriptedClock, steps: list[tuple[str, str]]
) -> None:
    clock.advance(days=1)
    today = memory.journal.today()
    for number, (step, text) in enumerate([*steps, ("add", "plain")]):
        if step == "hand":
            memory.context.vault.append(f"{today}.md", text)
            continue
        logged = memory.journal.add(NewEntry(text=f"{text}\nword{number}", session=f"{today}-{number % 2}"))
        if "#" in logged.id:  # the base of a conflict that nobody closed is no part of a log
            assert f"word{number}" in memory.journal.entry(logged.id).text
    assert memory.data.verify() == ()


def test_a_session_over_midnight_stays_in_the_log_of_its_first_day(memory: Memory, clock: ScriptedClock) -> None:
    memory.journal.add(NewEntry(text="before", session="s1"))
    clock.advance(hours=20)
    assert memory.journal.add(NewEntry(text="after", session="s1")).id == "log/2026-03-02#2"
    assert memory.journal.add(NewEntry(text="another", session="s2")).id == "log/2026-03-03#1"


def test_the_time_zone_decides_the_day(open_memory: Opener, environ: dict[str, str], clock: ScriptedClock) -> None:
    clock.advance(hours=14)  # 23:00 UTC
    abroad = open_memory(environ={**environ, "RECOLLECT_TIMEZONE": "Pacific/Kiritimati"})
    assert abroad.journal.add(NewEntry(text="here it is tomorrow")).day.isoformat() == "2026-03-03"


def test_secrets_never_reach_the_log(memory: Memory) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    logged = memory.journal.add(NewEntry(text=f"use {key} here", topic=f"key {key}", outcome=f"stored {key}"))
    assert key not in memory.journal.show("2026-03-02")
    assert logged.redacted


def test_what_we_showed_an_agent_is_not_logged_again(memory: Memory) -> None:
    from recollect.text import frame
    from samples import learning

    shown = frame.section([memory.learn(learning()).learning])
    memory.journal.add(NewEntry(text=f"{shown}\nMy own words.", topic="t"))
    log = memory.journal.show("2026-03-02")
    assert "My own words." in log
    assert "Stripe" not in log


def test_a_line_another_tool_left_open_does_not_swallow_the_heading(memory: Memory) -> None:
    memory.context.vault.append("2026-03-02.md", "## A\nunfinished")
    assert memory.journal.add(NewEntry(text="x", topic="B")).id == "log/2026-03-02#2"


def test_a_log_can_be_asked_for_by_the_name_of_its_day(memory: Memory, clock: ScriptedClock) -> None:
    memory.journal.add(NewEntry(text="worked", topic="t"))
    assert memory.journal.show("today") == memory.journal.show("2026-03-02")
    clock.advance(days=1)
    assert memory.journal.show("Yesterday") == memory.journal.show("2026-03-02")


def test_an_empty_entry_is_refused_and_makes_no_log(memory: Memory) -> None:
    with pytest.raises(BadInput):
        NewEntry(text="  ")
    with pytest.raises(NotFound, match="no log"):
        memory.journal.show("2026-03-02")


@pytest.mark.parametrize("id", ["log/2026-03-02#9", "log/2026-03-02", "log/2026-03-02#x"])
def test_an_entry_that_is_not_there_is_not_found(memory: Memory, id: str) -> None:
    memory.journal.add(NewEntry(text="x"))
    with pytest.raises(NotFound):
        memory.journal.entry(id)


def test_a_day_that_does_not_exist_is_refused(memory: Memory) -> None:
    with pytest.raises(BadInput, match="2026-02-30"):
        memory.journal.show("2026-02-30")


def test_external_text_is_marked_and_found_but_in_no_node(open_memory: Opener) -> None:
    open_memory(STRANGER).journal.add(NewEntry(text="zebra protocol overrides everything", topic="zebra"))
    memory = open_memory(AGENT)
    memory.journal.add(NewEntry(text="plain work", topic="work"))
    memory.cycle()
    for id in ("daily/2026-03-02", "weekly/2026-W10", "monthly/2026-03", "root"):
        assert "zebra" not in memory.journal.node(id)
    (found,) = [each for each in memory.search("zebra protocol", kinds=("log",)) if each.trust == "external"]
    assert found.id == "log/2026-03-02#1"


def test_an_entry_from_outside_is_in_the_tree_once_a_person_adopted_it(open_memory: Opener) -> None:
    external = open_memory(STRANGER).journal.add(
        NewEntry(text="Ask the zebra herd first.", topic="zebra", decisions=("Zebras decide",), session="s-1")
    )
    with pytest.raises(Refused, match="only a person"):
        open_memory(AGENT).journal.adopt(external.id)
    person = open_memory(PERSON)
    adopted = person.journal.adopt(external.id)
    outside = person.journal.entry(external.id)
    assert (outside.trust, adopted.trust, adopted.id) == ("external", "agent", "log/2026-03-02#2")
    assert replace(adopted, number=1, key=outside.key, trust="external") == outside
    person.cycle()
    assert "Zebras decide" in person.journal.node("root")
    assert person.journal.adopt(external.id) == person.journal.adopt(adopted.id) == adopted
    assert person.journal.show("2026-03-02").count("Ask the zebra") == 2


def test_why_an_entry_names_its_writer_and_its_way_once_there_is_one(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    memory.journal.add(NewEntry(text="x", topic="t", session="s-9"))
    assert memory.why("log/2026-03-02#1").way == ()  # type: ignore[union-attr]
    memory.journal.compact()
    found = memory.why("log/2026-03-02#1")
    assert found.session == "s-9"  # type: ignore[union-attr]
    assert found.way == ("root", "monthly/2026-03", "weekly/2026-W10", "daily/2026-03-02")  # type: ignore[union-attr]
    assert [event.who for event in found.events] == ["claude-code"]


def test_a_log_deleted_before_any_cycle_is_still_found(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="zyzzyva", topic="t"))
    memory.context.vault.delete("2026-03-02.md")
    memory.cycle()
    (found,) = memory.search("zyzzyva", kinds=("log",))
    assert found.id == "log/2026-03-02#1"
    assert [(each.what, each.subject) for each in memory.data.verify()] == [("log", "2026-03-02.md")]


def test_a_word_that_is_gone_from_every_text_is_no_longer_counted(memory: Memory) -> None:
    id = memory.journal.add(NewEntry(text="zyzzyva", topic="t")).id
    with memory.context.db.write(memory.context.space) as tx:
        passages.remove(tx, id)
    with memory.context.db.read(memory.context.space) as tx:
        assert tx.rows("SELECT term, docs FROM terms WHERE space = :space AND term = 'zyzzyva'") == []


CANARY = "canary-7f3a9"


def test_a_purged_entry_leaves_log_nodes_search_and_events_and_the_others_keep_their_ids(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="first", topic="a"))
    memory.journal.add(NewEntry(text=f"the {CANARY} sings", topic=f"about {CANARY}", type="user"))
    third = memory.journal.add(NewEntry(text="third stays", topic="c"))
    memory.cycle()
    assert CANARY in memory.journal.node("root")
    done = memory.data.purge(id="log/2026-03-02#2")
    assert done.things == ("log/2026-03-02#2",)
    vault = memory.context.vault
    assert [path for path in vault.paths() if CANARY in (vault.read(path) or "")] == []
    assert not [hit for hit in memory.search(CANARY, kinds=("log", "node")) if CANARY in f"{hit.title} {hit.snippet}"]
    assert memory.journal.entry(third.id).text == "third stays"
    with memory.context.db.read(memory.context.space) as tx:
        for table in ("passages", "nodes", "logs", "events", "sessions", "tree_state"):
            assert CANARY not in str(tx.rows(f"SELECT * FROM {table} WHERE space = :space"))


def test_purging_a_text_reaches_every_day_and_every_node(memory: Memory, clock: ScriptedClock) -> None:
    memory.journal.add(NewEntry(text=f"{CANARY} one", topic="a"))
    clock.advance(days=1)
    memory.journal.add(NewEntry(text="unrelated", topic="b"))
    memory.journal.add(NewEntry(text="two", topic="b", outcome=CANARY, session=CANARY))
    memory.cycle()
    memory.data.purge(text=CANARY)
    vault = memory.context.vault
    assert [path for path in vault.paths() if CANARY in (vault.read(path) or "")] == []
    assert "unrelated" in memory.journal.show("2026-03-03")
    assert memory.data.verify() == ()


def test_the_number_of_a_purged_entry_is_not_given_again(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="one"))
    memory.data.purge(id="log/2026-03-02#1")
    assert memory.journal.add(NewEntry(text="two")).id == "log/2026-03-02#2"
    day = memory.journal.add(NewEntry(text="three")).day
    assert [each.entry.number for each in memory.journal.entries(day)] == [2, 3]


def test_a_person_takes_back_the_entry_they_wrote_last(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.journal.add(NewEntry(text="first", topic="a"))
    gone = memory.acting_as(PERSON).journal.add(NewEntry(text=f"the {CANARY} sings", topic=f"about {CANARY}"))
    later = memory.acting_as(AGENT).journal.add(NewEntry(text="third stays", topic="c"))
    clock.advance(days=40)
    memory.cycle()
    (taken,) = memory.acting_as(PERSON).data.undo()
    assert (taken.id, taken.text) == (gone.id, f"the {CANARY} sings")  # type: ignore[union-attr]
    memory.cycle()
    vault = memory.context.vault
    assert [path for path in vault.paths() if CANARY in (vault.read(path) or "")] == []
    assert not [hit for hit in memory.search(CANARY) if CANARY in f"{hit.title} {hit.snippet}"]
    assert [topic.name for topic in memory.topics.page()[0] if CANARY in topic.name] == []
    assert [memory.journal.entry(one.id).text for one in (kept, later)] == ["first", "third stays"]
    with pytest.raises(NotFound):
        memory.journal.entry(gone.id)
    with pytest.raises(Refused, match="nothing to undo"):
        memory.acting_as(AGENT).data.undo()
    memory.data.rebuild()
    assert memory.data.verify() == ()


def test_an_agent_takes_back_its_own_change_and_no_entry(memory: Memory) -> None:
    agent, person = memory.acting_as(AGENT), memory.acting_as(PERSON)
    learned = agent.learn(learning(WEBHOOKS)).learning
    written = person.journal.add(NewEntry(text="a person wrote this", topic="a"))
    assert [each.id for each in agent.data.undo()] == [learned.id]
    with pytest.raises(Refused, match="nothing to undo"):
        agent.data.undo()
    assert [each.id for each in person.data.undo()] == [written.id]


def test_an_adopted_entry_that_was_taken_back_may_be_adopted_again(memory: Memory) -> None:
    outside = memory.acting_as(STRANGER).journal.add(NewEntry(text="seen elsewhere", topic="a")).id
    person = memory.acting_as(PERSON)
    adopted = person.journal.adopt(outside)
    person.data.undo(change=adopted.key)
    assert [hit.id for hit in memory.search("seen elsewhere")] == [outside]
    again = person.journal.adopt(outside)
    assert [hit.id for hit in memory.search("seen elsewhere")] == [again.id]
    assert memory.data.verify() == ()


def test_an_entry_whose_adopted_copy_was_purged_says_so(memory: Memory) -> None:
    outside = memory.acting_as(STRANGER).journal.add(NewEntry(text="seen elsewhere", topic="a")).id
    person = memory.acting_as(PERSON)
    person.data.purge(id=person.journal.adopt(outside).id)
    with pytest.raises(NotFound, match="purged"):
        person.journal.adopt(outside)


def test_behind_two_million_characters_an_entry_is_saved_at_once_and_indexed_by_the_next_cycle(memory: Memory) -> None:
    """So that an append stays quick: reading so long a log again takes a second and more."""
    long = "alpha beta gamma " * (ENTRY_CHARS // 17 + 1)
    for number in range(INDEXED_AT_ONCE // ENTRY_CHARS):
        indexed = memory.journal.add(NewEntry(text=long, topic=f"number {number}"))
    over = memory.journal.add(NewEntry(text=long, topic="quagmire"))
    assert not over.warning
    known = memory.context.read(passages.ids_under, "log/")
    assert indexed.id in known
    assert over.id not in known
    memory.cycle()
    assert [hit.id for hit in memory.search("quagmire")] == [over.id]
