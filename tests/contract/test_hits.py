"""What a hit shows, what a user may type, and how hits are narrowed and paged, on both engines."""

from __future__ import annotations

from datetime import date

import pytest

from recollect import Memory, NewDecision
from recollect.core.errors import BadInput
from recollect.core.journal import NewEntry
from recollect.text.dates import span_of
from recollect.text.sentences import mark
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning


def turn(memory: Memory, request: str, outcome: str, **more: str) -> str:
    return memory.journal.add(NewEntry(request=request, outcome=outcome, topic=request, **more)).id


def ids(memory: Memory, query: str, **options: object) -> list[str]:
    return [hit.id for hit in memory.search(query, **options)]


# The answer


def test_a_hit_of_a_turn_shows_its_outcome_and_not_the_request_again(memory: Memory) -> None:
    turn(memory, "Fix the zebra queue", "The zebra queue drains in order now.")
    (hit,) = memory.search("zebra queue", kinds=("log",))
    assert hit.answer == "The zebra queue drains in order now."
    assert hit.lines == (hit.answer,)


def test_a_hit_of_feedback_shows_the_rule(memory: Memory) -> None:
    memory.journal.add(NewEntry(type="feedback", topic="zebra", rule="Feed it first", why="It bites"))
    assert memory.search("zebra")[0].answer == "Feed it first"


def test_a_hit_of_a_learning_shows_its_action_and_the_line_that_matched(memory: Memory) -> None:
    memory.learn(learning(WEBHOOKS))
    (hit,) = memory.search("deliveries overtake")
    assert hit.answer == WEBHOOKS["action"]
    assert hit.lines == (WEBHOOKS["action"], WEBHOOKS["observation"])


def test_a_hit_of_a_learning_that_states_no_action_shows_what_it_states(memory: Memory) -> None:
    memory.observe("DISCOVERY[constraint]: The zebra queue takes 256 KB per message.", task="T1")
    (hit,) = memory.search("zebra queue", kinds=("learning",), min_confidence=0)
    assert hit.answer == "The zebra queue takes 256 KB per message."


def test_a_hit_of_a_reviewed_decision_shows_what_came_of_it(memory: Memory) -> None:
    made = NewDecision(decision="Adopt the zebra queue", confidence=0.8, category="process")
    id = memory.decisions.record(made).decision.id
    assert memory.search("zebra")[0].answer == ""
    memory.decisions.review(id, outcome="failure", lesson="It lost messages")
    assert memory.search("zebra")[0].answer == "failure: It lost messages"


def test_a_node_whose_entry_is_a_hit_is_left_out_and_found_when_asked_for(memory: Memory) -> None:
    entry = turn(memory, "Fix the zebra queue", "It drains in order now.")
    memory.cycle()
    assert ids(memory, "zebra queue") == [entry]
    assert {hit.kind for hit in memory.search("zebra queue", kinds=("node",))} == {"node"}


def test_the_words_that_matched_are_marked_as_they_are_written(memory: Memory) -> None:
    memory.learn(learning(MIGRATIONS))
    (hit,) = memory.search("migrating tables")
    assert {"migrations", "table"} <= set(hit.marked)
    assert (
        mark("migrations in the table_names table", hit.marked, "[", "]") == "[migrations] in the table_names [table]"
    )


# What a user types


@pytest.mark.parametrize("typed", ["migr", "migrat", "migrati", "migratio", "orde", "lockin"])
def test_the_beginning_of_a_word_finds_it(memory: Memory, typed: str) -> None:
    id = memory.learn(learning(MIGRATIONS)).learning.id
    assert ids(memory, typed) == [id]


def test_a_beginning_that_no_word_has_finds_nothing(memory: Memory) -> None:
    memory.learn(learning(MIGRATIONS))
    assert ids(memory, "migrz") == []


@pytest.mark.parametrize("character", ["検", "索", "本"])
def test_one_character_of_a_script_without_spaces_finds_its_text(memory: Memory, character: str) -> None:
    id = memory.journal.add(NewEntry(text="日本語の検索を直した。")).id
    (hit,) = memory.search(character)
    assert hit.id == id
    assert hit.marked


def test_no_text_at_all_lists_what_was_written_latest(memory: Memory) -> None:
    first = memory.learn(learning(FLAKY)).learning.id
    second = turn(memory, "Fix the zebra queue", "It drains in order now.")
    memory.learnings.archive(memory.learn(learning(WEBHOOKS)).learning.id)
    memory.cycle()
    assert ids(memory, "") == [second, first]
    assert ids(memory, " ", kinds=("learning",)) == [first]
    assert ids(memory, "", offset=1) == [first]


# Filters and pages


def test_a_tag_narrows_to_learnings_and_decisions_that_have_it(memory: Memory) -> None:
    tagged = memory.learn(learning(WEBHOOKS, tags=("zebra-api",))).learning.id
    memory.learn(learning(FLAKY, tags=("zebra",)))
    made = NewDecision(decision="Order the webhooks", confidence=0.8, category="api", tags=("Zebra-API",))
    decided = memory.decisions.record(made).decision.id
    memory.journal.add(NewEntry(text="Webhooks again.", topic="zebra-api"))
    assert set(ids(memory, "webhooks order", tag="zebra-api")) == {tagged, decided}
    assert set(ids(memory, "", tag="ZEBRA-api")) == {tagged, decided}
    assert memory.learnings.search("webhooks", tag="zebra-api")[0].id == tagged


def test_times_may_be_said_in_words(memory: Memory) -> None:
    id = memory.learn(learning(WEBHOOKS)).learning.id
    for since in ("yesterday", "last week", "2w", "3d", "today", "this month"):
        assert ids(memory, "webhooks", since=since) == [id]
    assert ids(memory, "webhooks", until="yesterday") == []
    with pytest.raises(BadInput, match="since must be a day such as 2026-03-01, a time, or words"):
        memory.search("webhooks", since="the day after never")


@pytest.mark.parametrize(
    ("said", "first", "last"),
    [
        ("2w", date(2026, 2, 16), date(2026, 3, 2)),
        ("monday", date(2026, 2, 23), date(2026, 2, 23)),
        ("January", date(2026, 1, 1), date(2026, 1, 31)),
        ("2025", date(2025, 1, 1), date(2025, 12, 31)),
        ("2026-02-03", date(2026, 2, 3), date(2026, 2, 3)),
    ],
)
def test_a_time_that_stands_alone_is_read(said: str, first: date, last: date) -> None:
    assert span_of(said, date(2026, 3, 2)) == (first, last)


def test_pages_of_hits_go_on_where_the_one_before_ended(memory: Memory) -> None:
    for number in range(70):
        memory.journal.add(
            NewEntry(text=f"Zebra number {number} was fed with {number} apples.", session=f"s{number % 7}")
        )
    paged = [id for offset in range(0, 70, 10) for id in ids(memory, "zebra apples", limit=10, offset=offset)]
    assert len(paged) == len(set(paged)) == 70
    assert ids(memory, "zebra apples", limit=10, offset=70) == []
