"""The first complete flow: captured, found, shown, rated, and its confidence moves."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from conftest import AGENT, Opener
from recollect import Actor, BadInput, Memory, NotFound, Refused
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning


def test_a_learning_goes_all_the_way_round(memory: Memory) -> None:
    kept = memory.learn(learning()).learning
    assert [hit.learning.id for hit in memory.search("webhook order")] == [kept.id]
    shown = memory.inject(task="task-1", outcome="billing", title="Handle Stripe webhooks")
    assert [each.id for each in shown.learnings] == [kept.id]
    taken = memory.feedback(f"Done.\nLEARNING_HELPFUL: {kept.id}\n", task="task-1")
    assert taken.counted == (kept.id,)
    after = memory.learnings.get(kept.id)
    assert (after.confidence, after.times_injected, after.times_helpful) == (0.75, 1, 1)


def test_search_finds_the_right_one_among_others(memory: Memory) -> None:
    for base in (WEBHOOKS, MIGRATIONS, FLAKY):
        memory.learn(learning(base))
    assert memory.search("alter table default rewrites rows")[0].learning.title == MIGRATIONS["title"]
    assert memory.search("sleeping in playwright tests")[0].learning.title == FLAKY["title"]


def test_an_unknown_id_is_not_found(memory: Memory) -> None:
    with pytest.raises(NotFound, match="learn_nope"):
        memory.learnings.get("learn_nope")


@pytest.mark.parametrize(
    "ask",
    [
        lambda memory: memory.search(None),
        lambda memory: memory.observe(None, task="task-1"),
        lambda memory: memory.observe("", task="task-1", title=None),
        lambda memory: memory.feedback(None, task="task-1"),
        lambda memory: memory.why(None),
        lambda memory: memory.inject(task=7, outcome="billing", title="Refunds"),
        lambda memory: memory.feedback("", task=None),
    ],
)
def test_what_is_not_text_is_bad_input(memory: Memory, ask: Callable[[Memory], object]) -> None:
    with pytest.raises(BadInput, match=r"must be text, not (NoneType|int)"):
        ask(memory)


@pytest.mark.parametrize(
    "ask",
    [
        lambda memory: memory.learn("Idle connections leak"),
        lambda memory: memory.inject("Handle refunds"),
        lambda memory: memory.journal.add("Moved the webhook"),
        lambda memory: memory.themes.add("unit-1", "Queues are named twice"),
        lambda memory: memory.work.preview("Handle refunds"),
        lambda memory: memory.learnings.edit("learn_x", "A better title"),
        lambda memory: memory.decisions.record("Use a queue"),
        lambda memory: memory.decisions.review("dec_x", "success"),
        lambda memory: memory.decisions.edit("dec_x", "A better reason"),
    ],
)
def test_something_else_than_a_record_or_its_fields_is_bad_input(
    memory: Memory, ask: Callable[[Memory], object]
) -> None:
    with pytest.raises(BadInput, match="or its fields by name, not str"):
        ask(memory)


def test_one_kind_for_a_list_of_kinds_is_bad_input(memory: Memory) -> None:
    with pytest.raises(BadInput, match=r"give each kind as a member of a list or tuple: \('learning',\)"):
        memory.search("webhooks", kinds="learning")


def test_fields_do_what_a_record_does(memory: Memory) -> None:
    kept = memory.learn(learning()).learning
    assert memory.learnings.edit(kept.id, title="Deliveries overtake each other").version == 2
    decided = memory.decisions.record(decision="Process webhooks from a queue", confidence=0.8, category="architecture")
    assert memory.decisions.edit(decided.decision.id, context="Bursts time out").context == "Bursts time out"
    assert memory.decisions.review(decided.decision.id, outcome="success").outcome == "success"
    shown = memory.work.preview(task="t", outcome="o", title="Webhook deliveries overtake each other")
    assert [learning.id for learning in shown.learnings] == [kept.id]
    with pytest.raises(BadInput, match="has no field verdict"):
        memory.decisions.review(decided.decision.id, outcome="success", verdict="good")


def test_an_actor_is_trusted_in_one_of_three_ways() -> None:
    with pytest.raises(BadInput, match="trust must be one of human, agent, external, not 'root'"):
        Actor(name="ada", channel="cli", trust="root")  # type: ignore[arg-type]


def test_a_verdict_counts_only_where_the_learning_was_shown(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    kept = memory.learn(learning()).learning
    assert memory.feedback(f"LEARNING_HELPFUL: {kept.id}", task="elsewhere").not_injected == (kept.id,)
    with pytest.raises(Refused, match="never injected"):
        memory.rate(kept.id, "helpful")
    assert memory.learnings.get(kept.id).times_helpful == 0


def test_a_query_with_lone_surrogates_is_searched_like_any_other(memory: Memory) -> None:
    kept = memory.learn(learning()).learning
    assert [hit.learning.id for hit in memory.search("\udcff stripe \ud800webhooks")] == [kept.id]
