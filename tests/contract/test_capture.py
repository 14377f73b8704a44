"""What becomes of a new learning: redacted and checked first, then stored or merged."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import AGENT, PERSON, STRANGER, Opener
from recollect import Actor, BadInput, LearningEdit, Memory, NotFound, Refused, Rejected, ScriptedClock
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning
from stored import everything_stored

SECRET = "AKIAIOSFODNN7EXAMPQZ"
FIELDS = ("title", "context", "observation", "implication", "action")


def test_what_a_capture_answers_is_what_is_stored(memory: Memory) -> None:
    captured = memory.learn(learning(tags=("stripe",), domain="payments", source_task_id="pay-1")).learning
    assert captured == memory.learnings.get(captured.id)


# Redaction comes before the first byte


@pytest.mark.parametrize("field", FIELDS)
def test_a_secret_in_any_field_never_reaches_the_store(memory: Memory, field: str) -> None:
    captured = memory.learn(learning(**{field: f"Deploys used the leaked {SECRET} for weeks"}))
    assert captured.redacted == ("aws-access-key",)
    assert "[redacted:aws-access-key]" in getattr(captured.learning, field)
    assert SECRET.encode() not in everything_stored(memory)
    assert memory.why(captured.learning.id).events[0].reason == "redacted: aws-access-key"


def test_a_secret_among_tags_or_as_domain_never_reaches_the_store(memory: Memory) -> None:
    memory.learn(learning(tags=("stripe", SECRET)))
    kept = memory.learn(learning(FLAKY, domain=SECRET)).learning
    memory.learnings.tag(kept.id, add=(SECRET,))
    assert SECRET.lower().encode() not in everything_stored(memory).lower()


def test_a_secret_in_an_edit_or_its_reason_never_reaches_the_store(memory: Memory) -> None:
    kept = memory.learn(learning()).learning
    other = memory.learn(learning(FLAKY)).learning
    said = f"seen with {SECRET} in the log"
    for field in FIELDS:
        memory.learnings.edit(kept.id, LearningEdit(**{field: said}))
    memory.learnings.edit(kept.id, LearningEdit(domain=SECRET))
    memory.learnings.archive(kept.id, reason=said)
    memory.learnings.restore(kept.id)
    memory.learnings.supersede(kept.id, other.id, reason=said)
    memory.learnings.restore(kept.id)
    memory.learnings.merge(other.id, kept.id, reason=said)
    memory.work.add_outcome("launch", name=said)
    memory.work.add_task("task-1", title=said)
    assert SECRET.encode() not in everything_stored(memory)


def test_private_spans_are_dropped(memory: Memory) -> None:
    kept = memory.learn(learning(observation="The client <private>Acme Bank</private> retries twice")).learning
    assert kept.observation == "The client [private] retries twice"
    assert b"Acme" not in everything_stored(memory)


def test_a_field_that_was_all_private_says_so(memory: Memory) -> None:
    assert memory.learn(learning(context="<private>Acme Bank</private>")).learning.context == "[private]"


def test_a_title_that_redaction_makes_longer_still_fits(memory: Memory) -> None:
    title = f"{'word ' * 15} {SECRET}"
    kept = memory.learn(learning(title=title.strip())).learning
    assert len(kept.title) <= 100


# What is refused


@pytest.mark.parametrize("length", [1, 99, 100])
def test_a_title_of_up_to_a_hundred_characters_is_taken(memory: Memory, length: int) -> None:
    assert memory.learn(learning(title="t" * length)).learning.title == "t" * length


@pytest.mark.parametrize("wrong", [{"title": "t" * 101}, {"source_task_id": "two\nlines"}], ids=list)
def test_what_no_learning_may_hold_is_refused_and_nothing_is_stored(memory: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as refusal:
        memory.learn(**{**WEBHOOKS, **wrong}, anyway=True)
    assert len(str(refusal.value)) > 15, "a refusal says what to do"
    assert memory.learnings.page(status="all") == ([], 0)
    assert memory.work.task_page()[0] == []
    assert memory.work.outcome_page()[0] == []


@pytest.mark.parametrize(
    "given",
    [
        {"tags": tuple(f"t{number}" for number in range(20))},
        {"tags": ["a", "list"]},
        {"context": "x" * 10_000},
        {"confidence": 0},
        {"confidence": 1},
        {"confidence": 0.123},
        {"domain": "d" * 50},
        {"domain": None},
    ],
    ids=lambda given: ascii(given)[:40],
)
def test_what_is_just_within_the_limits_is_stored_as_given(memory: Memory, given: dict[str, Any]) -> None:
    kept = memory.learnings.get(memory.learn(learning(**given)).learning.id)
    ((name, value),) = given.items()
    assert getattr(kept, name) == (tuple(value) if isinstance(value, list) else value)


def test_tags_are_lower_case_and_each_once(memory: Memory) -> None:
    assert memory.learn(learning(tags=(" Stripe ", "STRIPE", "b"))).learning.tags == ("stripe", "b")


@pytest.mark.parametrize(
    ("given", "stored"),
    [("a\x00b", "ab"), ("a\ud800b", "a?b"), ("  around  ", "around"), ("line\nbreak", "line\nbreak"), ("é漢", "é漢")],
    ids=ascii,
)
def test_characters_that_no_engine_may_hold_are_taken_out(memory: Memory, given: str, stored: str) -> None:
    kept = memory.learn(learning(context=given)).learning
    assert memory.learnings.get(kept.id).context == stored


anything = st.text(st.characters(codec=None), max_size=120)
# Mere noise is nearly always refused; with a word of sense in each field most of it is stored.
sensible = st.tuples(
    *[anything.map(f"{word} {{}}".format) for word in "Refunds deliveries overtake each other".split()]
)
printable = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=50)


@given(
    texts=sensible | st.tuples(*[anything] * 5),
    tags=st.lists(printable, max_size=20) | st.lists(anything, max_size=22),
    domain=st.none() | printable | anything,
)
def test_any_text_is_stored_whole_or_refused_clearly(
    memory: Memory, texts: tuple[str, ...], tags: list[str], domain: str | None
) -> None:
    """Promise P17."""
    try:
        kept = memory.learn(**dict(zip(FIELDS, texts, strict=True)), tags=tags, domain=domain).learning
    except BadInput:
        return  # anything but a clear refusal fails the test
    assert memory.learnings.get(kept.id) == kept


# Where it starts


@pytest.mark.parametrize(
    ("actor", "pattern", "given", "expected"),
    [
        (PERSON, "solution", None, 0.7),
        (PERSON, "gotcha", None, 0.7),
        (PERSON, "constraint", None, 0.7),
        (PERSON, "best-practice", None, 0.7),
        (AGENT, "solution", None, 0.5),
        (AGENT, "gotcha", None, 0.7),
        (AGENT, "constraint", None, 0.6),
        (AGENT, "best-practice", None, 0.5),
        (STRANGER, "solution", None, 0.5),
        (PERSON, "solution", 0.42, 0.42),
    ],
)
def test_initial_confidence_is_given_by_writer_and_kind(
    open_memory: Opener, actor: Actor, pattern: str, given: float | None, expected: float
) -> None:
    kept = open_memory(actor).learn(learning(pattern_type=pattern, confidence=given)).learning
    assert (kept.confidence, kept.trust, kept.origin) == (expected, actor.trust, actor.channel)


@pytest.mark.parametrize("actor", [AGENT, STRANGER], ids=lambda actor: actor.trust)
def test_only_a_person_chooses_where_confidence_starts(open_memory: Opener, actor: Actor) -> None:
    memory = open_memory(actor)
    with pytest.raises(Refused, match="only a person sets a confidence"):
        memory.learn(learning(confidence=1.0))
    assert memory.learnings.page(status="all")[1] == 0


def test_a_new_learning_starts_with_nothing_but_its_creation(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning()).learning
    assert memory.learnings.get(kept.id) == kept
    assert (kept.times_injected, kept.times_helpful, kept.times_not_helpful, kept.recurrence) == (0, 0, 0, 1)
    assert (kept.status, kept.superseded_by, kept.pinned, kept.version) == ("active", None, False, 1)
    assert (kept.created_at, kept.updated_at) == (clock.now(), clock.now())
    assert (kept.last_injected_at, kept.last_helpful_at, kept.last_decayed_at) == (None, None, None)


def test_unknown_sources_are_created_on_first_use(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning(source_outcome_id=" launch ", source_task_id=" task-9 ")).learning
    assert (kept.source_outcome_id, kept.source_task_id) == ("launch", "task-9")
    (task,) = memory.work.task_page()[0]
    assert (task.id, task.outcome_id, task.created_at) == ("task-9", "launch", clock.now())
    assert [outcome.id for outcome in memory.work.outcome_page()[0]] == ["launch"]
    assert memory.why(kept.id).sources[0].task_id == "task-9"


def test_a_known_task_brings_its_outcome_along(memory: Memory) -> None:
    memory.work.add_task("task-9", outcome="launch")
    kept = memory.learn(learning(source_task_id="task-9")).learning
    assert (kept.source_outcome_id, memory.why(kept.id).sources[0].outcome_id) == ("launch", "launch")


def test_an_outcome_may_be_a_source_without_a_task(memory: Memory) -> None:
    kept = memory.learn(learning(source_outcome_id=" launch ")).learning
    assert (kept.source_outcome_id, memory.work.task_page()[0]) == ("launch", [])


def test_a_known_source_keeps_its_name(memory: Memory) -> None:
    memory.work.add_outcome(" launch ", name="The launch")
    memory.work.add_task(" task-9 ", outcome="launch", title="Go live")
    memory.learn(learning(source_outcome_id="launch", source_task_id="task-9"))
    assert [outcome.name for outcome in memory.work.outcome_page()[0]] == ["The launch"]
    assert [(task.title, task.outcome_id) for task in memory.work.task_page()[0]] == [("Go live", "launch")]


def test_a_list_of_work_has_a_sensible_length(memory: Memory) -> None:
    for listing in ("task_page", "outcome_page", "discovery_page", "injections"):
        for limit in (0, 10**9) if listing == "injections" else (0, 10**9, None):
            with pytest.raises(BadInput, match="limit"):
                getattr(memory.work, listing)(limit=limit)


# The same insight again


def test_the_same_insight_again_is_merged(open_memory: Opener, clock: ScriptedClock) -> None:
    first = open_memory(PERSON).learn(learning(source_task_id="task-1")).learning
    clock.advance(days=1)
    memory = open_memory(AGENT)
    again = memory.learn(learning(context="Elsewhere altogether", source_task_id="task-2"))
    assert again.merged
    assert again.learning.id == first.id
    after = memory.learnings.get(first.id)
    assert after == again.learning
    assert (after.recurrence, after.version, after.context) == (2, 1, first.context)
    assert (after.confidence, after.times_helpful) == (first.confidence, 0)
    explained = memory.why(first.id)
    assert [(source.task_id, source.trust) for source in explained.sources] == [
        ("task-1", "human"),
        ("task-2", "agent"),
    ]
    assert explained.events[-1].what == "learning.recurred"
    assert memory.learnings.page(status="all")[1] == 1


def test_nearly_the_same_words_are_the_same_insight(memory: Memory) -> None:
    first = memory.learn(learning()).learning
    again = memory.learn(learning(title="Stripe webhooks can arrive out of order", action=WEBHOOKS["action"] + "."))
    assert (again.merged, again.learning.id) == (True, first.id)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Always retry payment requests after a timeout", "Never retry payment requests after a timeout"),
        ("Do retry payment requests after a timeout", "Do not retry payment requests after a timeout"),
        ("Enable caching for the price list", "Disable caching for the price list"),
        ("Set the pool size to 10 connections", "Set the pool size to 50 connections"),
        ("Increase the timeout for uploads", "Decrease the timeout for uploads"),
    ],
)
def test_opposites_never_merge(memory: Memory, one: str, other: str) -> None:
    said = {"context": "Checkout", "implication": "Payments depend on it"}
    first = memory.learn(title=one, observation=one, action=one, **said)
    second = memory.learn(title=other, observation=other, action=other, **said)
    assert not second.merged
    assert second.learning.id != first.learning.id
    assert memory.learnings.get(first.learning.id).recurrence == 1


POOLING = {
    "title": "Connection pooling on Lambda",
    "context": "Moving the orders API to Lambda",
    "observation": "RDS Proxy keeps connections open between invocations",
    "implication": "Invocations share what they open",
    "action": "Use RDS Proxy from every function",
}
NO_POOLING = POOLING | {
    "observation": "RDS Proxy does not keep connections open between invocations",
    "action": "Do not use RDS Proxy from any function",
}


@pytest.mark.parametrize(("first", "second"), [(POOLING, NO_POOLING), (NO_POOLING, POOLING)])
def test_an_opposite_that_negates_twice_is_kept_and_put_before_a_person(
    memory: Memory, first: dict[str, str], second: dict[str, str]
) -> None:
    one, other = memory.learn(**first), memory.learn(**second)
    assert not other.merged
    assert memory.learnings.get(other.learning.id).observation == second["observation"]
    (matter,) = memory.inbox.waiting()
    assert (matter.kind, matter.subject, matter.other) == ("contradiction", other.learning.id, one.learning.id)


def test_a_rule_under_one_title_is_repeated_whatever_was_seen_unless_one_denies_the_other(memory: Memory) -> None:
    first = memory.learn(**POOLING).learning
    again = memory.learn(**POOLING | {"observation": "Support had four tickets about slow orders on Tuesday"})
    assert (again.merged, again.learning.id) == (True, first.id)
    denied = memory.learn(**POOLING | {"observation": NO_POOLING["observation"]})
    assert (denied.merged, denied.asked) == (False, (first.id,))


def test_one_action_for_two_matters_is_no_repetition(memory: Memory) -> None:
    first = memory.learn(**POOLING).learning
    other = POOLING | {"title": "Failover of the reporting replica", "observation": "Reports met a read-only server"}
    second = memory.learn(**other)
    assert (second.merged, second.asked, second.replaced) == (False, (), ())
    assert memory.learnings.get(first.id).recurrence == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            ("Flags are never evaluated at import", "Flags are never evaluated at import"),
            ("Never evaluate flags at import", "Never evaluate flags at import"),
        ),
        (
            ("Flags are never evaluated at import", "Never evaluate flags at import"),
            ("Flags are not evaluated at import.", "Do not evaluate flags at import."),
        ),
    ],
)
def test_the_same_insight_merges_however_it_negates(
    memory: Memory, one: tuple[str, str], other: tuple[str, str]
) -> None:
    said = {"title": "Start-up order", "context": "Checkout", "implication": "Orders depend on it"}
    first = memory.learn(observation=one[0], action=one[1], **said).learning
    again = memory.learn(observation=other[0], action=other[1], **said)
    assert (again.merged, again.learning.id) == (True, first.id)


def test_the_words_of_a_repetition_are_kept(memory: Memory) -> None:
    kept = memory.learn(learning(tags=("stripe",))).learning
    told = {
        "title": "Stripe webhooks can arrive out of order",
        "context": f"The refund service logged {SECRET}",
        "implication": "A refund may come before its charge",
    }
    assert memory.learn(learning(**told, tags=("refunds",))).merged
    event = next(event for event in memory.why(kept.id).events if event.what == "learning.recurred")
    expected = told | {"context": "The refund service logged [redacted:aws-access-key]", "tags": ["refunds"]}
    assert event.new == expected | {"recurrence": 2}
    lines: list[str] = []
    memory.data.export(lines.append)
    assert told["implication"] in "".join(lines)
    assert SECRET.encode() not in everything_stored(memory)


def test_words_of_a_repetition_are_forgotten_with_the_learning(memory: Memory) -> None:
    kept = memory.learn(learning()).learning
    memory.learn(learning(implication="A refund may come before its charge"))
    memory.data.purge(id=kept.id)
    assert b"A refund may come" not in everything_stored(memory)


@pytest.mark.parametrize(
    ("before", "given", "after"),
    [
        ("solution", {}, 0.7),
        ("solution", {"confidence": 0.9}, 0.9),
        ("gotcha", {"confidence": 0.3}, 0.7),
    ],
)
def test_what_a_person_says_too_counts_as_a_persons(
    open_memory: Opener, before: str, given: dict[str, float], after: float
) -> None:
    first = open_memory(AGENT).learn(learning(pattern_type=before, domain=None, tags=("stripe",))).learning
    memory = open_memory(PERSON)
    said = memory.learn(learning(**given, domain="payments", tags=("webhooks", "stripe")))
    assert (said.merged, said.confirmed, said.learning.id) == (True, True, first.id)
    now = memory.learnings.get(first.id)
    assert now == said.learning
    assert (now.trust, now.confidence, now.recurrence, now.version) == ("human", after, 2, 2)
    assert (now.tags, now.domain) == (("stripe", "webhooks"), "payments")
    assert memory.why(first.id).events[-1].what == "learning.confirmed"


def test_what_a_person_says_too_keeps_the_domain_it_has_and_at_most_twenty_tags(open_memory: Opener) -> None:
    open_memory(AGENT).learn(learning(domain="billing", tags=tuple(f"a{number}" for number in range(15))))
    now = open_memory(PERSON).learn(learning(domain="payments", tags=tuple(f"b{n}" for n in range(15)))).learning
    assert (now.domain, len(now.tags)) == ("billing", 20)


def test_undo_takes_back_that_a_person_said_so_too_but_not_that_it_was_said(open_memory: Opener) -> None:
    first = open_memory(AGENT).learn(learning(domain=None, tags=("stripe",))).learning
    memory = open_memory(PERSON)
    memory.learn(learning(title="Stripe webhooks can arrive out of order", domain="payments", confidence=0.9))
    memory.learnings.undo()
    now = memory.learnings.get(first.id)
    assert (now.trust, now.confidence, now.tags, now.domain) == ("agent", 0.5, ("stripe",), None)
    assert (now.title, now.recurrence, now.status) == (first.title, 2, "active")


def test_a_person_who_repeats_a_person_adds_tags_and_an_absent_domain_and_hears_what_was_left(
    open_memory: Opener,
) -> None:
    memory = open_memory(PERSON)
    first = memory.learn(learning(domain=None, confidence=0.4, tags=("stripe",))).learning
    again = {"domain": "payments", "tags": ("Webhooks",), "confidence": 0.9, "pattern_type": "gotcha"}
    said = memory.learn(learning(**again))
    assert (said.confirmed, said.taken, said.left) == (False, ("tags", "domain"), ("pattern_type", "confidence"))
    now = memory.learnings.get(first.id)
    assert now == said.learning
    assert (now.tags, now.domain, now.confidence) == (("stripe", "webhooks"), "payments", 0.4)
    assert memory.learn(learning(**again | {"domain": "billing"})).left == ("domain", "pattern_type", "confidence")
    memory.learnings.undo()
    assert (memory.learnings.get(first.id).tags, memory.learnings.get(first.id).domain) == (("stripe",), None)


def test_more_tags_than_a_learning_may_have_are_left_and_said(open_memory: Opener) -> None:
    memory = open_memory(PERSON)
    memory.learn(learning(tags=tuple(f"a{number}" for number in range(15))))
    said = memory.learn(learning(tags=tuple(f"b{number}" for number in range(15))))
    assert (len(said.learning.tags), said.taken, said.left) == (20, ("tags",), ("tags",))


@pytest.mark.parametrize(("actor", "recurrence"), [(AGENT, 2), (STRANGER, 1)], ids=("agent", "external"))
def test_an_agent_who_repeats_a_person_moves_the_recurrence_and_an_outsider_nothing(
    open_memory: Opener, actor: Actor, recurrence: int
) -> None:
    first = open_memory(PERSON).learn(learning(domain=None, confidence=0.4)).learning
    said = open_memory(actor).learn(learning(domain="payments", tags=("other",)))
    assert (said.merged, said.confirmed, said.taken, said.left) == (True, False, (), ("tags", "domain"))
    now = open_memory(PERSON).learnings.get(first.id)
    assert (now.trust, now.confidence, now.tags, now.domain) == ("human", 0.4, first.tags, None)
    assert (now.recurrence, now.version) == (recurrence, 1)


def test_different_insights_do_not_merge(memory: Memory) -> None:
    for base in (WEBHOOKS, MIGRATIONS, FLAKY):
        assert not memory.learn(learning(base)).merged
    assert memory.learnings.page()[1] == 3


@pytest.mark.parametrize("state", ["archived", "superseded"])
def test_what_is_out_of_use_takes_nothing_in(memory: Memory, state: str) -> None:
    first = memory.learn(learning()).learning
    if state == "archived":
        memory.learnings.archive(first.id)
    else:
        memory.learnings.supersede(first.id, memory.learn(learning(FLAKY)).learning.id)
    assert not memory.learn(learning()).merged


def test_what_came_from_outside_does_not_swallow_what_we_learn_ourselves(open_memory: Opener) -> None:
    """Merged into an external learning, a person's own would never be injected."""
    foreign = open_memory(STRANGER).learn(learning()).learning
    own = open_memory(PERSON).learn(learning())
    assert not own.merged
    memory = open_memory(AGENT)
    assert [each.id for each in memory.inject(task="t", outcome="o", title="stripe webhooks order").learnings] == [
        own.learning.id
    ]
    assert open_memory(STRANGER).learn(learning()).learning.id in (foreign.id, own.learning.id)


# Three different tasks propose a best practice


def recur(memory: Memory, *tasks: str | None) -> str:
    for task in tasks:
        id = memory.learn(learning(pattern_type="gotcha", source_task_id=task)).learning.id
    return id


@pytest.mark.parametrize(
    ("tasks", "proposals"),
    [
        (("a", "b"), 0),
        (("a", "b", "c"), 1),
        (("a", "a", "a"), 0),
        (("a", "b", "b", "a"), 0),
        ((None, None, None), 0),
        (("a", "b", "c", "d", "e"), 1),
    ],
)
def test_three_different_tasks_propose_a_best_practice_once(
    memory: Memory, tasks: tuple[str, ...], proposals: int
) -> None:
    id = recur(memory, *tasks)
    matters = memory.inbox.waiting()
    assert [(matter.kind, matter.subject) for matter in matters] == [("best-practice", id)] * proposals


def test_what_is_a_best_practice_already_is_not_proposed(memory: Memory) -> None:
    for task in ("a", "b", "c"):
        memory.learn(learning(pattern_type="best-practice", source_task_id=task))
    assert memory.inbox.waiting() == []


def test_a_proposal_says_why(memory: Memory) -> None:
    recur(memory, "a", "b", "c")
    (matter,) = memory.inbox.waiting()
    assert matter.reason == "the same insight came up in 3 different tasks"
    assert matter.detail == {"title": WEBHOOKS["title"], "tasks": ["a", "b", "c"]}
    assert memory.inbox.get(matter.number) == matter


def test_accepting_makes_it_a_best_practice(memory: Memory, clock: ScriptedClock) -> None:
    id = recur(memory, "a", "b", "c")
    (matter,) = memory.inbox.waiting()
    settled = memory.inbox.resolve(matter.number, "accept")
    assert (settled.resolution, settled.resolved_at) == ("accept", clock.now())
    assert memory.learnings.get(id).pattern_type == "best-practice"
    assert memory.inbox.waiting() == []
    recur(memory, "d")
    assert memory.inbox.waiting() == []


def test_dismissing_changes_nothing_and_does_not_come_back(memory: Memory) -> None:
    id = recur(memory, "a", "b", "c")
    memory.inbox.resolve(memory.inbox.waiting()[0].number, "dismiss")
    assert memory.learnings.get(id).pattern_type == "gotcha"
    recur(memory, "d", "e")
    assert memory.inbox.waiting() == []


def test_a_matter_is_settled_once_and_with_a_verb_it_knows(memory: Memory) -> None:
    recur(memory, "a", "b", "c")
    (matter,) = memory.inbox.waiting()
    with pytest.raises(BadInput, match="accept, dismiss"):
        memory.inbox.resolve(matter.number, "explode")
    memory.inbox.resolve(matter.number, "dismiss")
    with pytest.raises(Refused, match="resolved before"):
        memory.inbox.resolve(matter.number, "accept")
    with pytest.raises(NotFound, match="99"):
        memory.inbox.resolve(99, "accept")


def test_only_a_person_settles_what_waits_for_a_person(open_memory: Opener) -> None:
    recur(open_memory(AGENT), "a", "b", "c")
    agent = open_memory(AGENT)
    with pytest.raises(Refused, match="person"):
        agent.inbox.resolve(agent.inbox.waiting()[0].number, "accept")
    assert len(agent.inbox.waiting()) == 1


def test_what_teaches_nothing_is_rejected_with_a_way_to_say_it_better(memory: Memory) -> None:
    told = learning(
        title="Finished the refund feature",
        observation="All tests pass",
        implication="The work is done",
        action="Merged and deployed",
    )
    with pytest.raises(Rejected, match=r"reports work done.*what the next task should do.*anyway"):
        memory.learn(told)
    assert memory.learnings.page(status="all")[1] == 0


def test_whoever_insists_may_keep_what_seems_to_teach_nothing(memory: Memory) -> None:
    kept = memory.learn(title="x", context="x", observation="x", implication="x", action="x", anyway=True)
    assert memory.learnings.get(kept.learning.id).title == "x"


def test_a_secret_in_the_id_of_a_task_or_outcome_never_reaches_the_store(memory: Memory) -> None:
    memory.learn(learning(source_task_id=f"task {SECRET}", source_outcome_id=SECRET))
    memory.observe("DISCOVERY[constraint]: Uploads must stay below 5 MB", task=SECRET, outcome=SECRET)
    memory.inject(task=SECRET, outcome="o", title="Stripe webhooks arrive out of order")
    memory.feedback("nothing to say", task=SECRET)
    memory.work.add_task(SECRET, outcome=SECRET)
    assert SECRET.encode() not in everything_stored(memory)
