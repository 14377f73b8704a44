"""What a captured learning does to those that say otherwise, and how a person settles it; and vectors that are kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from conftest import AGENT, PERSON, STRANGER, Opener
from recollect import BadInput, Memory
from recollect.capture.learn import Captured
from recollect.core.learning import Learning
from recollect.models.embed import similarity_to
from recollect.models.scripted import ScriptedModels
from samples import WEBHOOKS, learning


def rule(memory: Memory, title: str, **changes: Any) -> Learning:
    """A learning that is its title: context and the rest say nothing that could be compared."""
    return memory.learn(learning(WEBHOOKS, **{"title": title, "action": title, **changes})).learning


def test_a_learning_that_says_what_it_replaces_supersedes_it(memory: Memory) -> None:
    old = rule(memory, "Use polling for build status")
    new = rule(memory, "Use webhooks instead of polling for build status")
    after = memory.learnings.get(old.id)
    assert (after.status, after.superseded_by) == ("superseded", new.id)
    assert memory.inbox.waiting() == []
    assert memory.why(new.id).replaces == (old.id,)
    memory.learnings.undo()
    assert memory.learnings.get(old.id).status == "active"


def test_a_contradiction_without_a_cue_waits_for_a_person(memory: Memory) -> None:
    old = rule(memory, "Retry failed payments automatically")
    new = rule(memory, "Failed payments must not be retried automatically")
    (matter,) = memory.inbox.waiting()
    assert (matter.kind, matter.subject, matter.other, matter.reason) == (
        *("contradiction", new.id, old.id),
        "they contradict each other (negation)",
    )
    assert [memory.learnings.get(each.id).status for each in (old, new)] == ["active", "active"]


@pytest.mark.parametrize(
    ("known", "said", "asked"),
    [
        ("Log the full request body on errors", "Don't log the request body on errors", True),
        ("Use one long-lived branch per release", "No long-lived branches", True),
        ("Read timeout is 10 seconds", "Connect timeout is 3 seconds", False),
        ("The model is retrained every week", "The model is evaluated every day", False),
    ],
)
def test_what_may_contradict_is_worth_a_persons_time_only_when_it_is_about_the_same(
    memory: Memory, known: str, said: str, asked: bool
) -> None:
    rule(memory, known)
    rule(memory, said)
    assert [matter.reason.startswith("they may contradict") for matter in memory.inbox.waiting()] == [True] * asked


def test_a_matter_tells_what_both_say_and_nothing_twice(memory: Memory) -> None:
    rule(memory, "Retry failed payments automatically", action="Set retries to 3")
    memory.learn(
        learning(
            title="Failed payments must not be retried automatically",
            action="failed payments must not be retried automatically.",
        )
    )
    (matter,) = memory.inbox.waiting()
    assert matter.detail["old"] == "Retry failed payments automatically — Set retries to 3"
    assert matter.detail["new"] == "Failed payments must not be retried automatically"


def test_a_matter_tells_what_was_seen_where_that_is_what_clashes(memory: Memory) -> None:
    for title, seen in (("Uploads need care", "3 times"), ("The worker handles big uploads", "5 times")):
        memory.learn(learning(title=title, action=title, observation=f"Retry a failed upload {seen}."), anyway=True)
    (matter,) = memory.inbox.waiting()
    assert matter.detail["old"] == "Uploads need care — Retry a failed upload 3 times."
    assert matter.detail["new"] == "The worker handles big uploads — Retry a failed upload 5 times."


@pytest.mark.parametrize(
    ("verb", "old_status", "new_status"),
    [
        ("keep-old", "active", "superseded"),
        ("keep-new", "superseded", "active"),
        ("merge", "active", "superseded"),
        ("keep-both", "active", "active"),
        ("dismiss", "active", "active"),
    ],
)
def test_a_contradiction_is_settled_by_a_verb(memory: Memory, verb: str, old_status: str, new_status: str) -> None:
    old = rule(memory, "Retry failed payments automatically")
    new = rule(memory, "Failed payments must not be retried automatically")
    memory.inbox.resolve(1, verb)
    assert memory.learnings.get(old.id).status == old_status
    assert memory.learnings.get(new.id).status == new_status
    assert memory.inbox.waiting() == []


def test_a_verb_that_does_not_fit_is_answered_with_those_that_do(memory: Memory) -> None:
    rule(memory, "Retry failed payments automatically")
    rule(memory, "Failed payments must not be retried automatically")
    with pytest.raises(BadInput, match="keep-old, keep-new, merge, keep-both, dismiss"):
        memory.inbox.resolve(1, "accept")


def test_text_from_outside_replaces_nothing_of_ours(open_memory: Opener) -> None:
    old = rule(open_memory(AGENT), "Use polling for build status")
    rule(open_memory(STRANGER), "Use webhooks instead of polling for build status")
    memory = open_memory(PERSON)
    assert memory.learnings.get(old.id).status == "active"
    assert [matter.kind for matter in memory.inbox.waiting()] == ["contradiction"]


def test_a_pinned_learning_is_not_replaced(memory: Memory) -> None:
    old = rule(memory, "Use polling for build status")
    memory.learnings.pin(old.id)
    rule(memory, "Use webhooks instead of polling for build status")
    assert memory.learnings.get(old.id).status == "active"


def test_what_is_only_related_disturbs_nobody(memory: Memory) -> None:
    rule(memory, "Never log secrets")
    rule(memory, "Never commit secrets")
    rule(memory, "Log all incoming requests")
    assert memory.inbox.waiting() == []


class CountingEmbedder:
    """Vectors by the letters of a text; counts what it was asked for."""

    name = "letters"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: Sequence[str]) -> list[Any]:
        self.asked += texts
        made = [np.array([text.count(letter) + 0.01 for letter in "abc"], dtype=np.float32) for text in texts]
        return [vector / np.linalg.norm(vector) for vector in made]


def test_a_text_is_embedded_once_and_its_vector_kept(open_memory: Opener) -> None:
    first, second = CountingEmbedder(), CountingEmbedder()
    one = open_memory(models=ScriptedModels({}, embedder=first))
    compare = similarity_to(one.context)
    assert compare is not None
    before = compare("aaa", ["aab", "ccc", "aab"])
    assert sorted(first.asked) == ["aaa", "aab", "ccc"]
    assert before[0] == before[2] > before[1]
    again = similarity_to(open_memory(models=ScriptedModels({}, embedder=second)).context)
    assert again is not None
    assert again("aaa", ["aab", "ccc", "aab"]) == pytest.approx(before)
    assert second.asked == []


def test_vectors_of_another_model_are_never_mixed_in(open_memory: Opener) -> None:
    first, second = CountingEmbedder(), CountingEmbedder()
    second.name = "other"
    for embedder in (first, second):
        compare = similarity_to(open_memory(models=ScriptedModels({}, embedder=embedder)).context)
        assert compare is not None
        compare("aaa", ["bbb"])
    assert second.asked == first.asked


def test_without_an_embedder_there_is_no_likeness_and_status_says_so(open_memory: Opener) -> None:
    memory = open_memory(models=ScriptedModels({}))
    assert similarity_to(memory.context) is None
    assert "words alone" in memory.status().embedder


def contradicting(memory: Memory) -> tuple[str, str]:
    """The old and the new learning of the one item in the inbox."""
    fields = {"context": "Payment client", "observation": "Calls fail now and then", "implication": "Checkout breaks"}
    for title in ("Use retries for payment calls", "Do not use retries for payment calls"):
        memory.learn(title=title, action=title, **fields)
    [item] = memory.inbox.waiting()
    return item.other, item.subject


def test_the_answer_to_a_new_learning_names_what_it_contradicts_and_what_it_replaces(memory: Memory) -> None:
    def said(title: str) -> Captured:
        return memory.learn(learning(WEBHOOKS, title=title, action=title))

    old = said("Retry failed payments automatically").learning
    new = said("Failed payments must not be retried automatically")
    assert (new.replaced, new.asked) == ((), (old.id,))
    old = said("Use polling for build status").learning
    new = said("Use webhooks instead of polling for build status")
    assert (new.replaced, new.asked) == ((old.id,), ())


def test_an_answer_that_is_undone_is_asked_for_again(memory: Memory) -> None:
    old, new = contradicting(memory)
    for verb, loser in (("keep-new", old), ("keep-old", new), ("keep-new", old)):
        memory.inbox.resolve(1, verb)
        assert (memory.learnings.get(loser).status, memory.inbox.waiting()) == ("superseded", [])
        memory.learnings.undo()
        assert memory.learnings.get(loser).status == "active"
        assert [item.number for item in memory.inbox.waiting()] == [1]


def test_a_contradiction_with_what_is_out_of_use_is_not_asked_about(memory: Memory) -> None:
    old, new = contradicting(memory)
    memory.learnings.supersede(old, new)
    assert memory.inbox.waiting() == []
    memory.learnings.restore(old)
    assert [item.number for item in memory.inbox.waiting()] == [1]
    memory.learnings.archive(new)
    assert memory.inbox.waiting() == []


def test_a_learning_of_several_rules_is_not_superseded_for_one_of_them(memory: Memory) -> None:
    bundle = "- Sign every release tag.\n- Use polling for build status.\n- Tell support an hour before."
    old = rule(memory, "Release rules", action=bundle)
    new = memory.learn(learning(title="Build status", action="Use webhooks instead of polling for build status."))
    assert (new.replaced, new.asked) == ((), (old.id,))
