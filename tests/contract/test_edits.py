"""The life of a learning after capture: versioned, explained, and undone without losing anything."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any

import pytest

from conftest import AGENT, PERSON, STRANGER, Opener
from recollect import (
    Actor,
    BadInput,
    Learning,
    LearningEdit,
    Memory,
    NewDecision,
    NotFound,
    Refused,
    ScriptedClock,
    Stale,
)
from refusals import taken
from samples import FLAKY, MIGRATIONS, UV, WEBHOOKS, learning

Change = Callable[[Memory, str], object]


@pytest.fixture
def kept(memory: Memory) -> Learning:
    return memory.learn(learning()).learning


@pytest.mark.parametrize("id", ["", "learn_nowhere", "learn_\ud800", "learn_\x00", "x" * 100_000])
def test_an_id_that_names_nothing_is_refused(memory: Memory, id: str) -> None:
    for read in (memory.learnings.get, memory.learnings.archive, memory.why):
        with pytest.raises((NotFound, BadInput)):
            read(id)


# Edits


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("title", "Webhooks come in any order"),
        ("context", "Billing"),
        ("observation", "Later events can be first"),
        ("implication", "Order proves nothing"),
        ("action", "Sort by creation time"),
        ("tags", ("billing",)),
        ("tags", ()),
        ("domain", "payments"),
        ("pattern_type", "gotcha"),
        ("confidence", 0.915),
    ],
)
def test_an_edit_changes_that_field_and_nothing_else(
    memory: Memory, kept: Learning, clock: ScriptedClock, name: str, value: Any
) -> None:
    clock.advance(hours=1)
    after = memory.learnings.edit(kept.id, LearningEdit(**{name: value}))
    assert after == memory.learnings.get(kept.id)
    expected = {**vars(kept), name: value, "version": 2, "updated_at": clock.now()}
    assert vars(after) == expected
    event = memory.why(kept.id).events[-1]
    assert (event.what, event.who) == ("learning.edited", "ada")
    shown = [list(each) if isinstance(each, tuple) else each for each in (getattr(kept, name), value)]
    assert (event.old, event.new) == ({name: shown[0]}, {name: shown[1]})


def test_an_empty_domain_takes_it_away_and_undo_brings_it_back(memory: Memory, kept: Learning) -> None:
    memory.learnings.edit(kept.id, LearningEdit(domain="Payments"))
    assert memory.learnings.edit(kept.id, LearningEdit(domain=" ")).domain is None
    memory.learnings.undo()
    assert memory.learnings.get(kept.id).domain == "Payments"


EDITS_THAT_CANNOT_BE: tuple[dict[str, Any], ...] = (
    {"title": "t" * 101},
    {"title": " "},
    {"title": "\u200b"},
    {"context": ""},
    {"action": 5},
    {"context": "x" * 10_001},
    {"tags": "stripe"},
    {"tags": tuple(f"t{number}" for number in range(21))},
    {"tags": ("two\nlines",)},
    {"tags": (5,)},
    {"domain": "d" * 51},
    {"domain": 5},
    {"pattern_type": "hunch"},
    {"confidence": float("nan")},
    {"confidence": 2},
    {"confidence": "0.9"},
    {"confidence": True},
    {"status": "superseded"},
    {"pinned": 1},
)


def test_an_edit_that_no_learning_may_hold_is_refused(memory: Memory, kept: Learning) -> None:
    assert taken(partial(memory.learnings.edit, kept.id), EDITS_THAT_CANNOT_BE) == []
    assert memory.learnings.get(kept.id) == kept


def test_an_edit_that_changes_nothing_leaves_no_trace(memory: Memory, kept: Learning, clock: ScriptedClock) -> None:
    clock.advance(hours=1)
    assert memory.learnings.edit(kept.id, LearningEdit(title=kept.title)) == kept
    assert memory.learnings.edit(kept.id, LearningEdit()) == kept
    assert len(memory.why(kept.id).events) == 1


def test_a_stale_edit_is_refused_and_loses_nothing(open_memory: Opener) -> None:
    ada, agent = open_memory(PERSON), open_memory(AGENT)
    kept = ada.learn(learning()).learning
    assert ada.learnings.edit(kept.id, LearningEdit(context="Ada's"), expect=1).version == 2
    with pytest.raises(Stale, match="version 2, you edited version 1"):
        agent.learnings.edit(kept.id, LearningEdit(context="The agent's"), expect=1)
    assert agent.learnings.get(kept.id).context == "Ada's"
    assert agent.learnings.edit(kept.id, LearningEdit(action="Both"), expect=2).context == "Ada's"


def test_moving_confidence_is_no_edit(memory: Memory, kept: Learning) -> None:
    memory.inject(task="task-1", outcome="billing", title="", learnings=(kept.id,))
    memory.rate(kept.id, "helpful")
    after = memory.learnings.edit(kept.id, LearningEdit(context="Billing"), expect=1)
    assert (after.confidence, after.times_injected, after.times_helpful) == (0.75, 1, 1)


@pytest.mark.parametrize(
    ("writer", "editor", "changes", "trust"),
    [
        (PERSON, PERSON, {"context": "Billing"}, "human"),
        (PERSON, AGENT, {"context": "Billing"}, "agent"),
        (AGENT, PERSON, {"context": "Billing"}, "agent"),
        (STRANGER, PERSON, {"context": "Billing"}, "external"),
        (PERSON, AGENT, {"pattern_type": "gotcha"}, "human"),
        (PERSON, AGENT, {"tags": ("labels",), "domain": "payments"}, "human"),
        (PERSON, PERSON, {"confidence": 0.9}, "human"),
    ],
)
def test_an_edited_text_is_as_trustworthy_as_its_worst_writer(
    open_memory: Opener, writer: Actor, editor: Actor, changes: dict[str, Any], trust: str
) -> None:
    """Promise P27."""
    kept = open_memory(writer).learn(learning()).learning
    assert open_memory(editor).learnings.edit(kept.id, LearningEdit(**changes)).trust == trust


def test_a_tag_is_a_label_however_an_agent_changes_it(open_memory: Opener) -> None:
    kept = open_memory(PERSON).learn(learning()).learning
    agent = open_memory(AGENT).learnings
    assert agent.tag(kept.id, add=("one",)).trust == "human"
    assert agent.edit(kept.id, LearningEdit(tags=("two",))).trust == "human"


UNKNOWN: dict[str, Change] = {
    "get": lambda memory, one: memory.learnings.get(one),
    "edit": lambda memory, one: memory.learnings.edit(one, LearningEdit(title="x")),
    "tag": lambda memory, one: memory.learnings.tag(one, add=("x",)),
    "archive": lambda memory, one: memory.learnings.archive(one),
    "restore": lambda memory, one: memory.learnings.restore(one),
    "supersede": lambda memory, one: memory.learnings.supersede(one, "learn_000002"),
    "supersede by": lambda memory, one: memory.learnings.supersede("learn_000002", one),
    "merge": lambda memory, one: memory.learnings.merge(one, "learn_000002"),
    "merge other": lambda memory, one: memory.learnings.merge("learn_000002", one),
    "pin": lambda memory, one: memory.learnings.pin(one),
    "adopt": lambda memory, one: memory.learnings.adopt(one),
    "injections": lambda memory, one: memory.learnings.injections(one),
    "why": lambda memory, one: memory.why(one),
}


@pytest.mark.parametrize("verb", UNKNOWN)
def test_an_unknown_id_is_not_found_by(memory: Memory, kept: Learning, verb: str) -> None:
    assert kept.id == "learn_000002"
    with pytest.raises(NotFound, match="learn_nope"):
        UNKNOWN[verb](memory, "learn_nope")
    assert memory.learnings.get(kept.id) == kept


# Tags, pins, archive


def test_tags_are_added_and_removed_as_a_set(memory: Memory, kept: Learning) -> None:
    assert memory.learnings.tag(kept.id, add=(" Billing ", "stripe")).tags == ("stripe", "webhooks", "billing")
    assert memory.learnings.tag(kept.id, add=("new",), remove=("WEBHOOKS", "never-there")).tags == (
        "stripe",
        "billing",
        "new",
    )


@pytest.mark.parametrize(
    "add", [tuple(f"t{number}" for number in range(19)), ("",), ("a\nb",), "word", (5,)], ids=ascii
)
def test_tags_keep_to_their_limits(memory: Memory, kept: Learning, add: Any) -> None:
    with pytest.raises(BadInput, match="tag"):
        memory.learnings.tag(kept.id, add=add)
    assert memory.learnings.get(kept.id).tags == ("stripe", "webhooks")


def test_archive_and_restore(memory: Memory, kept: Learning) -> None:
    assert memory.learnings.archive(kept.id, reason="outdated").status == "archived"
    assert memory.why(kept.id).events[-1].reason == "outdated"
    assert memory.learnings.archive(kept.id).version == 2, "again changes nothing"
    assert memory.learnings.restore(kept.id).status == "active"
    assert memory.learnings.restore(kept.id).version == 3


def test_pin_and_unpin(memory: Memory, kept: Learning) -> None:
    assert memory.learnings.pin(kept.id).pinned is True
    assert memory.learnings.pin(kept.id).version == 2
    assert memory.learnings.pin(kept.id, on=False).pinned is False
    assert [event.what for event in memory.why(kept.id).events] == [
        "learning.created",
        "learning.pinned",
        "learning.unpinned",
    ]


# Adopt


def test_only_a_person_adopts_what_came_from_outside(open_memory: Opener) -> None:
    kept = open_memory(STRANGER).learn(learning()).learning
    for actor in (AGENT, STRANGER):
        with pytest.raises(Refused, match="person"):
            open_memory(actor).learnings.adopt(kept.id)
    adopted = open_memory(PERSON).learnings.adopt(kept.id)
    assert (adopted.trust, adopted.version) == ("agent", 2)


@pytest.mark.parametrize("writer", [PERSON, AGENT], ids=lambda actor: actor.trust)
def test_adopting_what_is_ours_changes_nothing(open_memory: Opener, writer: Actor) -> None:
    kept = open_memory(writer).learn(learning()).learning
    assert open_memory(PERSON).learnings.adopt(kept.id) == kept


# Supersede


def test_a_superseded_learning_points_to_its_successor_which_links_back(memory: Memory) -> None:
    old, new = memory.learn(learning()).learning.id, memory.learn(learning(FLAKY)).learning.id
    after = memory.learnings.supersede(old, new, reason="measured again")
    assert (after.status, after.superseded_by) == ("superseded", new)
    assert memory.why(old).replaced_by == (new,)
    assert memory.why(new).replaces == (old,)
    assert memory.why(old).events[-1].reason == "measured again"
    assert memory.learnings.get(new).status == "active"
    back = memory.learnings.restore(old)
    assert (back.status, back.superseded_by) == ("active", None)
    assert memory.why(new).replaces == ()


@pytest.mark.parametrize("chain", [[0, 0], [0, 1, 0], [0, 1, 2, 0]], ids=["itself", "two", "three"])
def test_a_chain_that_comes_back_to_itself_is_refused(memory: Memory, chain: list[int]) -> None:
    ids = [memory.learn(learning(base)).learning.id for base in (WEBHOOKS, FLAKY, MIGRATIONS)]
    *fine, last = pairwise(chain)
    for old, new in fine:
        memory.learnings.supersede(ids[old], ids[new])
    before = [memory.learnings.get(id) for id in ids]
    with pytest.raises(Refused):
        memory.learnings.supersede(ids[last[0]], ids[last[1]])
    assert [memory.learnings.get(id) for id in ids] == before


def test_what_is_archived_replaces_nothing(memory: Memory, kept: Learning) -> None:
    other = memory.learn(learning(FLAKY)).learning
    memory.learnings.archive(other.id)
    with pytest.raises(Refused, match="archived"):
        memory.learnings.supersede(kept.id, other.id)


def test_what_is_superseded_cannot_be_archived(memory: Memory, kept: Learning) -> None:
    other = memory.learn(learning(FLAKY)).learning
    memory.learnings.supersede(kept.id, other.id)
    with pytest.raises(Refused, match=other.id):
        memory.learnings.archive(kept.id)
    with pytest.raises(Refused, match=other.id):
        memory.learnings.edit(kept.id, LearningEdit(status="archived"))


# Merge


def merged(memory: Memory) -> tuple[Learning, Learning, Learning]:
    """Two learnings before, and the one that took the other in."""
    keep = memory.learn(learning(source_task_id="task-1")).learning
    other = memory.learn(learning(FLAKY, source_task_id="task-2", source_outcome_id="launch")).learning
    memory.learn(learning(FLAKY, source_task_id="task-3"))
    other = memory.learnings.get(other.id)
    return keep, other, memory.learnings.merge(keep.id, other.id)


def test_a_merge_takes_tags_sources_and_recurrence(memory: Memory) -> None:
    keep, other, after = merged(memory)
    assert after.tags == (*keep.tags, *other.tags)
    assert (after.recurrence, after.title, after.confidence) == (3, keep.title, keep.confidence)
    assert [source.task_id for source in memory.why(keep.id).sources] == ["task-1", "task-2", "task-3"]
    gone = memory.learnings.get(other.id)
    assert (gone.status, gone.superseded_by) == ("superseded", keep.id)
    assert memory.why(keep.id).events[-1].reason == f"took in {other.id}"
    assert memory.why(other.id).events[-1].reason == f"merged into {keep.id}"


def test_what_came_from_outside_takes_the_place_of_our_own_only_once_it_is_adopted(open_memory: Opener) -> None:
    memory, outside = open_memory(actor=PERSON), open_memory(actor=STRANGER)
    ours = memory.learn(learning(WEBHOOKS)).learning.id
    theirs = outside.learn(learning(MIGRATIONS)).learning.id
    for replaced in (lambda: memory.learnings.supersede(ours, theirs), lambda: memory.learnings.merge(theirs, ours)):
        with pytest.raises(Refused, match="adopt it first"):
            replaced()
    assert memory.learnings.get(ours).status == "active"
    memory.learnings.adopt(theirs)
    assert memory.learnings.supersede(ours, theirs).superseded_by == theirs


def test_a_merge_keeps_at_most_twenty_tags(memory: Memory) -> None:
    keep = memory.learn(learning(tags=tuple(f"a{number}" for number in range(15)))).learning
    other = memory.learn(learning(FLAKY, tags=tuple(f"b{number}" for number in range(15)))).learning
    assert len(memory.learnings.merge(keep.id, other.id).tags) == 20


@pytest.mark.parametrize("state", ["itself", "superseded other", "replaced by it", "archived keep", "superseded keep"])
def test_a_merge_that_makes_no_sense_is_refused(memory: Memory, state: str) -> None:
    one, two, third = (memory.learn(learning(base)).learning.id for base in (WEBHOOKS, FLAKY, MIGRATIONS))
    if state == "superseded other":
        memory.learnings.supersede(two, third)
    elif state == "replaced by it":
        memory.learnings.supersede(one, two)
    elif state == "archived keep":
        memory.learnings.archive(one)
    elif state == "superseded keep":
        memory.learnings.supersede(one, third)
    before = [memory.learnings.get(id) for id in (one, two, third)]
    with pytest.raises(Refused):
        memory.learnings.merge(one, one if state == "itself" else two)
    assert [memory.learnings.get(id) for id in (one, two, third)] == before


# Undo

STATE = "title context tags domain pattern_type confidence status superseded_by pinned trust recurrence".split()
CHANGES: dict[str, Change] = {
    "edit": lambda memory, one: memory.learnings.edit(one, LearningEdit(title="New", confidence=0.9, tags=("new",))),
    "tag": lambda memory, one: memory.learnings.tag(one, add=("new",)),
    "archive": lambda memory, one: memory.learnings.archive(one),
    "supersede": lambda memory, one: memory.learnings.supersede(one, "learn_000004"),
    "pin": lambda memory, one: memory.learnings.pin(one),
    "merge": lambda memory, one: memory.learnings.merge(one, "learn_000004"),
    "merged": lambda memory, one: memory.learnings.merge("learn_000004", one),
}


def state(memory: Memory, id: str) -> dict[str, Any]:
    now = memory.learnings.get(id)
    return {name: getattr(now, name) for name in STATE} | {"sources": memory.why(id).sources}


@pytest.mark.parametrize("kind", CHANGES)
def test_undo_takes_back(memory: Memory, kept: Learning, kind: str) -> None:
    other = memory.learn(learning(FLAKY)).learning
    assert other.id == "learn_000004"
    before = state(memory, kept.id), state(memory, other.id)
    CHANGES[kind](memory, kept.id)
    assert (state(memory, kept.id), state(memory, other.id)) != before
    assert {each.id for each in memory.learnings.undo()} <= {kept.id, other.id}
    assert (state(memory, kept.id), state(memory, other.id)) == before
    assert memory.why(kept.id).events[-1].what == "learning.undone"


def test_undo_of_restore_and_of_adopt(open_memory: Opener) -> None:
    memory = open_memory(PERSON)
    kept = open_memory(STRANGER).learn(learning()).learning
    memory.learnings.archive(kept.id)
    memory.learnings.restore(kept.id)
    memory.learnings.undo()
    assert memory.learnings.get(kept.id).status == "archived"
    memory.learnings.undo()
    memory.learnings.adopt(kept.id)
    memory.learnings.undo()
    assert memory.learnings.get(kept.id).trust == "external"


@pytest.mark.parametrize(
    "change",
    [
        lambda memory, one: memory.learnings.edit(one, LearningEdit(confidence=0.2)),
        lambda memory, one: memory.learnings.pin(one),
        lambda memory, _: memory.decisions.record(
            NewDecision(decision="Keep webhooks in a queue", confidence=0.8, category="architecture")
        ),
    ],
    ids=["confidence", "pin", "decision"],
)
def test_an_agent_takes_back_only_what_agents_did(open_memory: Opener, change: Change) -> None:
    person, agent = open_memory(PERSON), open_memory(AGENT)
    kept = person.learn(learning()).learning
    change(person, kept.id)
    with pytest.raises(Refused, match="only a person"):
        agent.data.undo()
    person.data.undo()
    agent.learnings.tag(kept.id, add=("queue",))
    assert [each.id for each in agent.data.undo()] == [kept.id]


def test_undo_takes_back_the_callers_own_newest_change(open_memory: Opener) -> None:
    ada, bob, one, other = (
        open_memory(Actor(name=name, channel="api", trust=trust))
        for name, trust in (("ada", "human"), ("bob", "human"), ("one", "agent"), ("other", "agent"))
    )
    kept = [each.learn(learning(base)).learning.id for each, base in ((ada, WEBHOOKS), (bob, MIGRATIONS))]
    assert [each.id for each in ada.data.undo()] == [kept[0]]
    for undo in (ada.data.undo, ada.learnings.undo):
        with pytest.raises(Refused, match="bob made the last change, so only bob may"):
            undo()
    kept = [each.learn(learning(base)).learning.id for each, base in ((one, FLAKY), (other, UV))]
    assert [each.id for each in one.data.undo()] == [kept[0]]
    with pytest.raises(Refused, match="other made the last change, so only other or a person may"):
        one.data.undo()
    assert [each.id for each in ada.data.undo()] == [kept[1]], "a person answers for agents"


def test_an_agent_does_not_take_back_its_capture_once_a_person_changed_it(open_memory: Opener) -> None:
    person, agent = open_memory(PERSON), open_memory(AGENT)
    kept = agent.learn(learning()).learning
    person.learnings.edit(kept.id, LearningEdit(title="Webhooks arrive out of order"))
    with pytest.raises(Refused, match="someone more trusted"):
        agent.data.undo()
    assert person.learnings.get(kept.id).status == "active"


def test_undo_of_a_new_learning_archives_it(memory: Memory, kept: Learning) -> None:
    assert [each.status for each in memory.learnings.undo()] == ["archived"]
    assert memory.search("stripe webhooks") == []
    assert memory.learnings.restore(kept.id).status == "active", "nothing is ever deleted"


def test_undoing_again_goes_one_further_back(memory: Memory, kept: Learning) -> None:
    memory.learnings.edit(kept.id, LearningEdit(context="First"))
    memory.learnings.edit(kept.id, LearningEdit(context="Second"))
    memory.learnings.pin(kept.id)
    seen = []
    for _ in range(3):
        memory.learnings.undo()
        now = memory.learnings.get(kept.id)
        seen.append((now.pinned, now.context))
    assert seen == [(False, "Second"), (False, "First"), (False, kept.context)]
    memory.learnings.undo()
    assert memory.learnings.get(kept.id).status == "archived"
    with pytest.raises(Refused, match="nothing to undo"):
        memory.learnings.undo()


def test_a_change_after_an_undo_is_undone_next(memory: Memory, kept: Learning) -> None:
    memory.learnings.edit(kept.id, LearningEdit(context="First"))
    memory.learnings.undo()
    memory.learnings.edit(kept.id, LearningEdit(context="Other"))
    memory.learnings.undo()
    assert memory.learnings.get(kept.id).context == kept.context
    memory.learnings.undo()
    assert memory.learnings.get(kept.id).status == "archived", "the creation, not the edit that was undone before"


def test_undo_is_refused_when_it_would_lose_what_happened_since(memory: Memory, kept: Learning) -> None:
    memory.learnings.edit(kept.id, LearningEdit(confidence=0.9))
    memory.inject(task="task-1", outcome="billing", title="", learnings=(kept.id,))
    memory.rate(kept.id, "helpful")
    with pytest.raises(Stale, match="changed since"):
        memory.learnings.undo()
    assert memory.learnings.get(kept.id).confidence == 0.95


def test_undo_leaves_what_was_counted_meanwhile(memory: Memory, kept: Learning) -> None:
    memory.learnings.edit(kept.id, LearningEdit(context="First"))
    memory.inject(task="task-1", outcome="billing", title="", learnings=(kept.id,))
    memory.rate(kept.id, "helpful")
    memory.learn(learning())
    memory.learnings.undo()
    after = memory.learnings.get(kept.id)
    assert (after.context, after.confidence, after.times_helpful, after.recurrence) == (kept.context, 0.75, 1, 2)


def test_undo_of_a_merge_that_recurred_since_is_refused(memory: Memory) -> None:
    keep, _, _ = merged(memory)
    memory.learn(learning(source_task_id="task-4"))
    with pytest.raises(Stale):
        memory.learnings.undo()
    assert len(memory.why(keep.id).sources) == 4


def test_there_is_nothing_to_undo_at_first(memory: Memory) -> None:
    with pytest.raises(Refused, match="nothing to undo"):
        memory.learnings.undo()


def test_undo_looks_past_many_injections(memory: Memory, kept: Learning) -> None:
    memory.learnings.edit(kept.id, LearningEdit(context="First"))
    for number in range(250):
        memory.inject(task=f"task-{number}", outcome="billing", title="", learnings=(kept.id,))
    memory.learnings.undo()
    assert memory.learnings.get(kept.id).context == kept.context


# Lists and reasons


def test_a_list_is_filtered_sorted_and_paged(memory: Memory, clock: ScriptedClock) -> None:
    for base, confidence in ((WEBHOOKS, 0.9), (FLAKY, 0.4), (MIGRATIONS, 0.6)):
        memory.learn(learning(base, confidence=confidence))
        clock.advance(days=1)
    titles = {
        sort: [each.title[:5] for each in memory.learnings.page(sort=sort)[0]]
        for sort in ("newest", "oldest", "confidence", "title")
    }
    assert titles == {
        "newest": ["Long ", "Flaky", "Strip"],
        "oldest": ["Strip", "Flaky", "Long "],
        "confidence": ["Strip", "Long ", "Flaky"],
        "title": ["Flaky", "Long ", "Strip"],
    }
    assert [each.title[:5] for each in memory.learnings.page(limit=1, offset=1)[0]] == ["Flaky"]
    assert memory.learnings.page(limit=1)[1] == 3
    assert memory.learnings.page(min_confidence=0.6)[1] == 2
    assert memory.learnings.page(min_confidence=0.601)[1] == 1
    assert memory.learnings.page(domain="testing")[1] == memory.learnings.page(domain="TESTING ")[1] == 1
    assert memory.learnings.page(domain="nowhere")[1] == 0
    assert memory.learnings.page(tag="postgresql")[1] == memory.learnings.page(tag=" PostgreSQL")[1] == 1
    assert memory.learnings.search("postgresql", tag="PostgreSQL") == memory.learnings.page(tag="postgresql")[0]
    memory.learnings.archive(memory.learnings.page(tag="postgresql")[0][0].id)
    assert [memory.learnings.page(status=status)[1] for status in ("active", "archived", "superseded", "all")] == [
        2,
        1,
        0,
        3,
    ]


LISTS_THAT_CANNOT_BE: tuple[dict[str, Any], ...] = (
    {"limit": 0},
    {"limit": -1},
    {"limit": 1e9},
    {"limit": 1001},
    {"limit": 2.5},
    {"limit": "5"},
    {"offset": -1},
    {"offset": 2**40},
    {"offset": "1"},
    {"sort": "luck"},
    {"status": "lost"},
    {"min_confidence": 1.5},
    {"min_confidence": "0.9"},
)


def test_a_list_that_cannot_be_is_refused(memory: Memory) -> None:
    work = memory.work
    others = (work.outcome_page, work.task_page, work.discovery_page, work.injection_page, memory.decisions.page)
    assert taken(memory.learnings.page, LISTS_THAT_CANNOT_BE) == []
    parts = [wrong for wrong in LISTS_THAT_CANNOT_BE if wrong.keys() & {"limit", "offset"}]
    assert [taken(page, parts) for page in others] == [[]] * len(others)


def test_why_tells_sources_writer_trust_and_every_change(open_memory: Opener, clock: ScriptedClock) -> None:
    agent, ada = open_memory(AGENT), open_memory(PERSON)
    kept = agent.learn(learning(source_outcome_id="launch", source_task_id="task-1")).learning
    clock.advance(days=1)
    ada.learnings.edit(kept.id, LearningEdit(context="Billing"))
    ada.inject(task="task-2", outcome="billing", title="", learnings=(kept.id,))
    ada.rate(kept.id, "helpful")
    told = ada.why(kept.id)
    assert (told.id, told.title, told.origin, told.trust) == (kept.id, kept.title, "hook", "agent")
    (source,) = told.sources
    assert (source.outcome_id, source.task_id, source.at) == ("launch", "task-1", kept.created_at)
    assert [(event.what, event.who, event.channel, event.trust) for event in told.events] == [
        ("learning.created", "claude-code", "hook", "agent"),
        ("learning.edited", "ada", "cli", "human"),
        ("learning.injected", "ada", "cli", "human"),
        ("confidence.helpful", "ada", "cli", "human"),
    ]
    assert [event.at for event in told.events] == [kept.created_at, *[clock.now()] * 3]
    assert [(each.task_id, each.feedback) for each in told.injections] == [("task-2", "helpful")]
    assert len({event.change for event in told.events}) == 4


# What a person keeps for themselves


def test_only_a_person_sets_a_confidence(open_memory: Opener) -> None:
    memory = open_memory(PERSON)
    kept = memory.learn(learning()).learning
    with pytest.raises(Refused, match="only a person sets a confidence"):
        memory.acting_as(AGENT).learnings.edit(kept.id, LearningEdit(confidence=1.0))
    assert memory.learnings.get(kept.id).confidence == kept.confidence
    assert memory.learnings.edit(kept.id, LearningEdit(confidence=0.9)).confidence == 0.9


@pytest.mark.parametrize(
    "change",
    [
        lambda memory, one: memory.learnings.edit(one, LearningEdit(context="Billing")),
        lambda memory, one: memory.learnings.tag(one, add=("new",)),
        lambda memory, one: memory.learnings.archive(one),
        lambda memory, one: memory.learnings.pin(one, on=False),
    ],
    ids=["edit", "tag", "archive", "unpin"],
)
def test_what_is_pinned_is_changed_by_a_person_only(
    open_memory: Opener, change: Callable[[Memory, str], object]
) -> None:
    memory = open_memory(PERSON)
    kept = memory.learn(learning()).learning
    memory.learnings.pin(kept.id)
    before = memory.learnings.get(kept.id)
    with pytest.raises(Refused, match="a person pinned"):
        change(memory.acting_as(AGENT), kept.id)
    assert memory.learnings.get(kept.id) == before
    change(memory, kept.id)
    assert memory.learnings.get(kept.id) != before


def test_what_is_pinned_is_not_merged_away_by_an_agent(open_memory: Opener) -> None:
    memory = open_memory(PERSON)
    kept = memory.learn(learning()).learning
    other = memory.learn(learning(FLAKY)).learning
    memory.learnings.pin(kept.id)
    with pytest.raises(Refused, match="pinned"):
        memory.acting_as(AGENT).learnings.merge(other.id, kept.id)
    assert memory.learnings.get(kept.id).status == "active"
    assert memory.learnings.get(other.id).tags == other.tags


def test_what_an_agent_pinned_it_may_unpin(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    kept = memory.learn(learning()).learning
    memory.learnings.pin(kept.id)
    assert not memory.learnings.pin(kept.id, on=False).pinned


def test_changes_made_as_one_are_undone_as_one_also_after_newer_ones(memory: Memory) -> None:
    first, second, third = (memory.learn(learning(fields)).learning.id for fields in (WEBHOOKS, FLAKY, MIGRATIONS))
    together = memory.in_one_change()
    for id in (first, second):
        together.learnings.archive(id)
    memory.learnings.pin(third)
    change = together.context.ids("change")
    assert {one.id for one in memory.data.undo(change=change)} == {first, second}
    assert [one.status for one in memory.learnings.many([first, second])] == ["active", "active"]
    assert memory.learnings.get(third).pinned, "what was done since stays"
    with pytest.raises(Refused, match="undone already"):
        memory.data.undo(change=change)


def test_an_answer_in_the_inbox_is_taken_back_with_what_it_did(memory: Memory) -> None:
    old, new = (
        memory.learn(learning(MIGRATIONS, title=f"{verb} run migrations before the deploy", action=action)).learning.id
        for verb, action in (("Always", "Run migrations first."), ("Never", "Do not run migrations first."))
    )
    (item,) = memory.inbox.waiting()
    assert set(memory.inbox.verbs(item)) == {"keep-old", "keep-new", "merge", "keep-both", "dismiss"}
    memory.inbox.resolve(item.number, "keep-new")
    assert memory.learnings.get(old).superseded_by == new
    assert memory.inbox.count() == 0
    assert memory.inbox.take_back(item.number).resolved_at is None
    assert memory.learnings.get(old).status == "active"
    assert memory.inbox.count() == 1
    with pytest.raises(Refused, match="is open"):
        memory.inbox.take_back(item.number)
