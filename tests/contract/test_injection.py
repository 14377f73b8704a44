"""Which learnings a task is shown: the bar, the slot for those on trial, relevance, trust, budget, once per task."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conftest import AGENT, PERSON, STRANGER, Opener
from hooks import Hooks
from recollect import BadInput, Learning, Memory, NotFound, Refused, ScriptedClock
from recollect.core.journal import NewEntry
from recollect.text.frame import section
from recollect.text.tokens import ContextBudget, tokens
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning

ASKED = {"outcome": "billing", "title": "Handle Stripe webhooks that arrive out of order"}
SERVICES = "alpha bravo delta echo foxtrot golf hotel india juliet kilo lima mike oscar papa quebec romeo".split()


def shown(memory: Memory, *, task: str = "task-1", **changes: Any) -> list[str]:
    return [each.id for each in memory.inject(task=task, **{**ASKED, **changes}).learnings]


def similar(number: int, **changes: Any) -> Any:
    """One of several learnings about webhooks, each an insight of its own."""
    service = SERVICES[number]
    return learning(
        WEBHOOKS,
        **{
            "title": f"Stripe webhooks reach {service} out of order",
            "observation": f"The {service} worker saw webhooks of {service} arrive late because of {service} retries",
            "action": f"Sort what {service} receives by the {service} clock",
            **changes,
        },
    )


def with_verdicts(memory: Memory, id: str, verdicts: int) -> None:
    """Give a learning verdicts that leave its confidence where it is: as many up as it takes to go down."""
    for number in range(verdicts):
        memory.inject(task=f"trial-{number}", outcome="trials", title="", learnings=(id,))
        memory.rate(id, "helpful", task=f"trial-{number}")


@pytest.mark.parametrize(
    ("confidence", "is_shown"),
    [(0.0, False), (0.399, False), (0.4, True), (0.599, True), (0.6, True), (1.0, True)],
)
def test_a_lone_learning_is_shown_from_the_trial_bar_on(memory: Memory, confidence: float, is_shown: bool) -> None:
    kept = memory.learn(learning(confidence=confidence)).learning
    assert shown(memory) == ([kept.id] if is_shown else [])


@pytest.mark.parametrize(("confidence", "is_shown"), [(0.599, False), (0.6, True)])
def test_without_a_trial_slot_left_the_bar_is_six_tenths(memory: Memory, confidence: float, is_shown: bool) -> None:
    """A learning with three verdicts is past its trial, so only the bar decides."""
    kept = memory.learn(learning(confidence=round(confidence - 0.15, 3))).learning
    with_verdicts(memory, kept.id, 3)
    assert memory.learnings.get(kept.id).confidence == confidence
    assert shown(memory) == ([kept.id] if is_shown else [])


@pytest.mark.parametrize(("verdicts", "is_shown"), [(0, True), (1, True), (2, True), (3, False), (4, False)])
def test_a_trial_lasts_until_the_third_verdict(memory: Memory, verdicts: int, is_shown: bool) -> None:
    kept = memory.learn(learning(confidence=round(0.55 - 0.05 * verdicts, 3))).learning
    with_verdicts(memory, kept.id, verdicts)
    assert memory.learnings.get(kept.id).confidence == 0.55
    assert shown(memory) == ([kept.id] if is_shown else [])


@pytest.mark.parametrize(
    ("proven", "on_trial", "slots", "expected_proven", "expected_on_trial"),
    [
        (6, 3, 5, 4, 1),  # one of five slots explores
        (6, 0, 5, 5, 0),  # nothing to explore: all five are proven
        (2, 3, 5, 2, 1),  # never more than one on trial, even with room
        (0, 3, 5, 0, 1),
        (6, 3, 2, 1, 1),
        (6, 3, 1, 1, 0),  # a single slot goes to the proven
        (0, 3, 1, 0, 1),  # … unless there is none
    ],
)
def test_one_slot_explores(
    memory: Memory, proven: int, on_trial: int, slots: int, expected_proven: int, expected_on_trial: int
) -> None:
    sure = {memory.learn(similar(i, confidence=0.8)).learning.id for i in range(proven)}
    unsure = {memory.learn(similar(proven + i, confidence=0.55)).learning.id for i in range(on_trial)}
    found = shown(memory, max_learnings=slots)
    assert len(sure.intersection(found)) == expected_proven
    assert len(unsure.intersection(found)) == expected_on_trial
    assert len(found) == expected_proven + expected_on_trial


def test_many_on_trial_do_not_crowd_out_the_proven(memory: Memory) -> None:
    for number in range(16):
        memory.learn(similar(number, confidence=0.55, title=f"Handle Stripe webhooks out of order {SERVICES[number]}"))
    proven = memory.learn(learning(confidence=0.9, context="Old notes", title="Stripe webhooks arrive twice")).learning
    assert proven.id in shown(memory, title="Handle Stripe webhooks that arrive out of order")


def test_a_learning_is_still_tried_after_its_first_decay(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning(confidence=0.5)).learning
    clock.advance(days=31)
    memory.cycle()
    assert memory.learnings.get(kept.id).confidence < 0.5
    assert shown(memory) == [kept.id]


def at_odds(memory: Memory) -> tuple[str, str]:
    """Two learnings that wait in the inbox as contradicting."""
    one, other = (memory.learnings.remember(f"{word} retry failed stripe webhooks") for word in ("Always", "Never"))
    waiting = memory.inbox.waiting()
    assert {waiting[0].subject, waiting[0].other} == {one.learning.id, other.learning.id}
    return one.learning.id, other.learning.id


def test_two_learnings_that_wait_in_the_inbox_as_contradicting_are_not_shown_together(memory: Memory) -> None:
    pair = at_odds(memory)
    for id in pair:  # proven, so that one slot for what is on trial does not decide
        with_verdicts(memory, id, 3)
    both = {"title": "retry failed stripe webhooks"}
    assert len(shown(memory, **both)) == 1
    with pytest.raises(Refused, match="resolve it first"):
        shown(memory, task="task-3", learnings=pair)
    memory.inbox.resolve(memory.inbox.waiting()[0].number, "keep-both")
    assert set(shown(memory, task="task-2", **both)) == {*pair}
    assert shown(memory, task="task-3", learnings=pair) == [*pair]


def test_what_contradicts_a_learning_of_an_earlier_prompt_is_not_shown_in_that_session(
    memory: Memory, environ: dict[str, str]
) -> None:
    for id in at_odds(memory):
        with_verdicts(memory, id, 3)
    hooks = Hooks(memory.project.root, environ)
    asked = "retry failed stripe webhooks"
    assert "retry failed stripe webhooks" in hooks.fire("UserPromptSubmit", prompt=asked)
    assert hooks.fire("UserPromptSubmit", prompt=asked) == ""


def test_of_two_that_contradict_each_other_the_better_proven_one_is_shown_and_marked(
    open_memory: Opener, environ: dict[str, str]
) -> None:
    """A blocker of an agent that helped, and then what a person says more like the question."""
    memory = open_memory()
    seen = "DISCOVERY[blocker]: On staging the database lies on NFS, where SQLite's WAL mode does not work"
    (proven,) = (each.learning.id for each in memory.observe(seen, task="staging").captured)
    with_verdicts(memory, proven, 1)
    lesser = memory.learnings.remember("Use SQLite's WAL mode on staging").learning
    item = max(memory.inbox.waiting(), key=lambda each: each.number)
    assert {item.subject, item.other} == {proven, lesser.id}
    asked = "Is the WAL mode of SQLite an option on staging?"
    mark = f"Use SQLite's WAL mode on staging ({lesser.id})"

    chosen = memory.inject(task="wal", outcome="wal", title=asked)
    given, considered = given_and_why(memory, asked)
    brief = memory.sessions.brief(_room()).text
    prompted = Hooks(memory.project.root, environ).fire("UserPromptSubmit", prompt=asked)
    assert [each.id for each in chosen.learnings] == [proven] == [*given]
    for text in (chosen.markdown, prompted):
        assert f"**Contradicted by**: {mark}. A person decides" in text
    why = next(each.held_back for each in considered if each.id == lesser.id)
    assert why.startswith("contradicted by what is better proven")
    assert f"contradicted by {mark}" in brief
    assert f"mode on staging {lesser.id}" not in brief

    assert mark in memory.inject(task="named", outcome="named", title="", learnings=(proven,)).markdown
    memory.inbox.resolve(item.number, "dismiss")
    assert "ontradicted" not in memory.sessions.brief(_room()).text
    assert set(shown(memory, task="later", title=asked)) == {proven, lesser.id}


def _room() -> ContextBudget:
    return ContextBudget()


SMALL_TALK = """
    thanks|ok|go on|keep going|good morning|the second one|previous|explain|never|always, please|is it done?|looks good
    looks good to me|push it|run it again|what next?|make it shorter|I don't know|be careful|no, the other one|stop
"""


def test_a_prompt_without_a_subject_is_shown_nothing(memory: Memory) -> None:
    """In a small store one everyday word is rare, and so a full match of a prompt that says nothing else."""
    for said in (
        "Thanks to Ada the second retry loop is gone",
        "Never push the previous image: explain what runs in the pipeline next",
        "Always stop the morning job before it is done, good or not",
        "Keep the shorter names; be careful, one does not know which looks ok",
        "Go through the other queue first when the worker is back",
    ):
        with_verdicts(memory, memory.learnings.remember(said, anyway=True).learning.id, 2)
    for prompt in SMALL_TALK.strip().replace("\n", "|").split("|"):
        given, considered = given_and_why(memory, prompt)
        assert given == set(), prompt
        assert all(one.held_back for one in considered)
    assert given_and_why(memory, "stop the retry loop")[0]


ABROAD = {
    "de": ("danke|ok, mach weiter|ja bitte|gut gemacht|und jetzt?", "Warum schlägt der Test der Rechnungen fehl?"),
    "fr": (
        "merci|ok continue|oui s'il te plaît|attends un peu",
        "Pourquoi le test des factures échoue-t-il ?",
    ),
    "es": (
        "gracias|vale, sigue|sí, por favor|espera un momento",
        "¿Por qué falla la prueba de facturas?",
    ),
    "it": ("grazie|ok, continua|sì, per favore|va bene così|e adesso?", "Perché fallisce il test delle fatture?"),
    "pt": ("obrigado|ok, pode continuar|sim, por favor|espera um pouco|e agora?", "Por que o teste das faturas falha?"),
    "ja": ("ありがとう|続けてください|はい、お願いします|次は何ですか？", "請求書のテストはなぜ失敗しますか？"),
    "zh": ("谢谢|好的，继续|可以，就这样做吧|等一下", "发票测试为什么失败？"),
}


@pytest.mark.parametrize("language", ABROAD)
def test_neither_is_one_in_another_language(memory: Memory, language: str) -> None:
    talk, asked = ABROAD[language]
    for said in talk.split("|"):
        memory.journal.add(NewEntry(text=f"{asked} {said}. {said}"))
        with_verdicts(memory, memory.learnings.remember(f"{asked} {said}", anyway=True).learning.id, 2)
    for said in talk.split("|"):
        assert given_and_why(memory, said)[0] == set(), said
    assert given_and_why(memory, asked)[0]


def test_a_learning_past_its_trial_does_not_take_the_slot(memory: Memory) -> None:
    """The most relevant one between the bars had its chance; the next one gets it."""
    past = memory.learn(learning(confidence=0.4)).learning
    with_verdicts(memory, past.id, 3)
    fresh = memory.learn(similar(1, confidence=0.55)).learning
    assert shown(memory) == [fresh.id]


def test_a_caller_may_set_bar_and_slots(memory: Memory) -> None:
    low = memory.learn(learning(confidence=0.3)).learning
    assert shown(memory) == []
    assert shown(memory, min_confidence=0.3) == [low.id]
    high = [memory.learn(similar(i, confidence=0.95)).learning.id for i in range(3)]
    assert len(shown(memory, min_confidence=0.9, max_learnings=2, task="task-2")) == 2
    assert set(shown(memory, min_confidence=0.9, task="task-3")) == set(high)
    tried = memory.learn(similar(3, confidence=0.55)).learning
    assert tried.id in shown(memory, task="task-4")
    assert set(shown(memory, min_confidence=0.9, task="task-5")) == set(high)


@pytest.mark.parametrize("title", ["Repaint the bicycle shed", "!!! ???", "the of and", "漢字"])
def test_nothing_relevant_shows_nothing_and_the_task_is_known(memory: Memory, title: str) -> None:
    memory.learn(learning())
    chosen = memory.inject(task="task-1", outcome="garden", title=title)
    assert (chosen.learnings, chosen.markdown) == ((), "")
    assert memory.work.injections(task="task-1") == []
    assert [(task.id, task.outcome_id, task.title) for task in memory.work.task_page()[0]] == [
        ("task-1", "garden", title)
    ]


def test_one_shared_word_of_many_is_not_relevant(memory: Memory) -> None:
    """The floor: below a fifth of a full match a learning stays away; the same words asked alone find it."""
    kept = memory.learn(learning()).learning
    far = "Paint the garden fence green before winter and order new brushes for everybody in the house"
    assert [hit.learning.id for hit in memory.search(far)] == [kept.id]
    assert shown(memory, title=far) == []


def test_what_came_from_this_outcome_is_left_out(memory: Memory) -> None:
    own = memory.learn(learning(source_outcome_id="billing")).learning
    other = memory.learn(similar(1, source_outcome_id="shipping")).learning
    none = memory.learn(similar(2)).learning
    assert set(shown(memory)) == {other.id, none.id}
    assert own.id in shown(memory, outcome="shipping", task="task-2")


def test_external_text_is_found_but_not_shown_until_a_person_adopts_it(open_memory: Opener) -> None:
    kept = open_memory(STRANGER).learn(learning(pattern_type="gotcha")).learning
    memory = open_memory(PERSON)
    assert [hit.learning.id for hit in memory.search("stripe webhooks")] == [kept.id]
    assert shown(memory) == []
    memory.learnings.adopt(kept.id)
    assert shown(memory) == [kept.id]


@pytest.mark.parametrize("state", ["archived", "superseded"])
def test_what_is_out_of_use_is_not_shown(memory: Memory, state: str) -> None:
    kept = memory.learn(learning()).learning
    if state == "archived":
        memory.learnings.archive(kept.id)
    else:
        memory.learnings.supersede(kept.id, memory.learn(learning(FLAKY)).learning.id)
    assert shown(memory) == []


def test_a_learning_that_the_title_names_by_its_id_obeys_the_same_rules_and_is_shown_once(memory: Memory) -> None:
    kept = memory.learn(learning(WEBHOOKS)).learning
    title = f"{ASKED['title']}, see {kept.id}"
    assert shown(memory, title=title) == [kept.id]
    memory.learnings.archive(kept.id)
    assert shown(memory, title=title) == []


def test_injecting_again_into_the_same_task_is_one_injection(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning()).learning
    assert shown(memory) == [kept.id]
    first = clock.now()
    clock.advance(hours=1)
    for _ in range(3):
        assert shown(memory) == [kept.id]
    after = memory.learnings.get(kept.id)
    assert (after.times_injected, after.last_injected_at, after.version) == (1, first, kept.version)
    assert [(each.task_id, each.injected_at) for each in memory.work.injections()] == [("task-1", first)]
    assert [event.what for event in memory.why(kept.id).events] == ["learning.created", "learning.injected"]


def test_another_task_is_another_injection(memory: Memory, clock: ScriptedClock) -> None:
    kept = memory.learn(learning()).learning
    shown(memory, task="task-1")
    clock.advance(hours=1)
    shown(memory, task="task-2")
    after = memory.learnings.get(kept.id)
    assert (after.times_injected, after.last_injected_at) == (2, clock.now())
    assert [each.task_id for each in memory.learnings.injections(kept.id)] == ["task-2", "task-1"]


def test_named_learnings_are_shown_whatever_their_confidence_and_relevance(memory: Memory) -> None:
    low = memory.learn(learning(FLAKY, confidence=0.1)).learning
    other = memory.learn(learning(MIGRATIONS)).learning
    memory.learn(learning())
    assert shown(memory, learnings=(low.id, other.id, low.id)) == [low.id, other.id]
    assert memory.learnings.get(low.id).times_injected == 1


def test_what_was_learned_again_in_this_outcome_is_left_out_and_the_next_takes_its_place(memory: Memory) -> None:
    for outcome in ("shipping", "billing"):
        own = memory.learn(learning(source_outcome_id=outcome)).learning
    other = memory.learn(similar(1, source_outcome_id="shipping")).learning
    assert shown(memory, max_learnings=1) == [other.id]
    assert own.id in shown(memory, outcome="elsewhere", task="task-2")


def test_a_named_learning_may_come_from_this_outcome(memory: Memory) -> None:
    kept = memory.learn(learning(source_outcome_id="billing")).learning
    assert shown(memory, title="", learnings=(kept.id,)) == [kept.id]


@pytest.mark.parametrize("state", ["archived", "superseded", "external", "unknown"])
def test_a_named_learning_that_may_not_be_shown_is_refused(open_memory: Opener, state: str) -> None:
    memory = open_memory(PERSON)
    kept = (open_memory(STRANGER) if state == "external" else memory).learn(learning()).learning
    fine = memory.learn(learning(FLAKY)).learning
    if state == "archived":
        memory.learnings.archive(kept.id)
    elif state == "superseded":
        memory.learnings.supersede(kept.id, fine.id)
    asked = "learn_nope" if state == "unknown" else kept.id
    with pytest.raises(NotFound if state == "unknown" else Refused, match=asked):
        shown(memory, learnings=(fine.id, asked))
    assert memory.work.injections() == []


def test_a_request_that_cannot_be_used_is_refused(memory: Memory) -> None:
    memory.learn(learning())
    with pytest.raises(BadInput):
        memory.inject(**{"task": "a\nb", **ASKED})
    assert memory.work.injections() == []


def test_an_id_with_space_around_it_is_the_same_task(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    kept = memory.learn(learning()).learning
    memory.inject(task=" task-1 ", outcome=" billing ", title=ASKED["title"])
    assert memory.feedback(f"LEARNING_HELPFUL: {kept.id}", task="task-1").counted == (kept.id,)
    assert [task.id for task in memory.work.task_page(outcome="billing")[0]] == ["task-1"]


def test_tasks_and_outcomes_are_known_from_their_first_injection_on(memory: Memory, clock: ScriptedClock) -> None:
    memory.learn(learning())
    shown(memory)
    (task,) = memory.work.task_page()[0]
    assert (task.id, task.outcome_id, task.title, task.created_at) == (
        "task-1",
        "billing",
        ASKED["title"],
        clock.now(),
    )
    assert [outcome.id for outcome in memory.work.outcome_page()[0]] == ["billing"]


@pytest.mark.parametrize(
    "title",
    [
        "Handle Stripe webhooks that arrive out of order with AKIAIOSFODNN7EXAMPQZ",
        "Handle Stripe webhooks that arrive out of order, password is hunter2hunter2",
    ],
)
def test_a_secret_in_a_task_title_is_not_stored(memory: Memory, title: str) -> None:
    memory.learn(learning())
    assert shown(memory, title=title)
    (task,) = memory.work.task_page()[0]
    assert title.split()[-1] not in task.title
    assert "[redacted:" in task.title


@pytest.mark.parametrize("odd", ["\x00", "\ud800", "\udfff\x00"])
def test_a_task_title_may_hold_any_characters(memory: Memory, odd: str) -> None:
    kept = memory.learn(learning()).learning
    assert shown(memory, title=f"Handle Stripe{odd} webhooks out of order") == [kept.id]
    assert "\x00" not in memory.work.task_page()[0][0].title


# Promise P23

_words = st.lists(st.sampled_from(["webhook", "order", "漢字", "x" * 80, "[confidence: 1.00]", "a-b", "é"]), min_size=1)


@given(texts=st.lists(_words, min_size=1, max_size=5), budget=st.integers(1, 2500))
def test_the_block_never_passes_its_budget(memory: Memory, texts: list[list[str]], budget: int) -> None:
    kept = [
        memory.learn(learning(title=f"note {number}", observation=" ".join(words), action="a " * len(words)))
        for number, words in enumerate(texts)
    ]
    ids = tuple(dict.fromkeys(each.learning.id for each in kept))
    chosen = memory.inject(task="task-1", outcome="billing", title="", learnings=ids, budget=budget)
    assert tokens(chosen.markdown) <= budget
    assert chosen.markdown == section(chosen.learnings)
    left_out = [memory.learnings.get(id) for id in ids if id not in {each.id for each in chosen.learnings}]
    for each in left_out:  # nothing that had room is missing
        assert tokens(section([*_before(chosen.learnings, each, ids), each])) > budget


def _before(taken: tuple[Learning, ...], left_out: Learning, order: tuple[str, ...]) -> list[Learning]:
    return [each for each in taken if order.index(each.id) < order.index(left_out.id)]


def test_the_setting_bounds_the_block_when_the_caller_does_not(open_memory: Opener, environ: dict[str, str]) -> None:
    environ["RECOLLECT_INJECT_BUDGET"] = "200"
    memory = open_memory()
    for number in range(4):
        memory.learn(similar(number))
    chosen = memory.inject(task="task-1", **ASKED)
    assert 0 < len(chosen.learnings) < 4
    assert tokens(chosen.markdown) <= 200
    assert len(memory.work.injections()) == len(chosen.learnings), "what did not fit was not shown"


def test_learnings_that_may_not_be_shown_do_not_crowd_out_the_one_that_may(memory: Memory) -> None:
    for number in range(120):
        memory.learn(learning(title=f"Kafka rebalance {number}", observation=f"Seen{number} z{number}", confidence=0.3))
    proven = memory.learn(learning(title="Kafka rebalance", observation="Eager rebalances stop all", confidence=0.8))
    assert shown(memory, title="Kafka rebalance") == [proven.learning.id]


def given_and_why(memory: Memory, prompt: str) -> tuple[set[str], list[Any]]:
    """What a prompt is given, and the reasons for it."""
    given = memory.sessions.prompted(prompt, session="preview", task="preview", room=ContextBudget())
    return {*given.learnings, *given.entries}, memory.sessions.candidates(prompt, given)


def test_what_a_prompt_is_given_passes_every_bar_that_its_reasons_name(memory: Memory) -> None:
    """Learnings and entries are ranked apart: among many entries a learning looks less relevant than it is."""
    memory.learn(learning())
    for number in range(5):
        memory.learn(similar(number, confidence=0.5))
    for number, service in enumerate(SERVICES):
        text = f"Stripe webhooks of {service} that arrive out of order wait for the created time. {number} done."
        memory.journal.add(text=text, topic=f"Stripe webhooks out of order in {service}")
    settings = memory.context.settings.inject
    for prompt in (str(ASKED["title"]), "webhooks out of order", "Stripe webhooks reach alpha", "order of golf"):
        given, considered = given_and_why(memory, prompt)
        assert given
        shown = {one.id: one for one in considered if not one.held_back}
        assert shown.keys() == given
        for one in shown.values():
            assert one.relevance >= round(settings.learning_relevance if one.confidence else settings.relevance, 2)
        assert all(
            one.held_back.startswith(("relevance", "no room", "confidence", "only everyday"))
            for one in considered[len(shown) :]
        )


def test_each_bar_that_holds_a_candidate_back_is_named(memory: Memory, open_memory: Opener) -> None:
    gone, low, tried = (
        memory.learn(similar(number, confidence=confidence)).learning.id
        for number, confidence in enumerate((0.8, 0.3, 0.4))
    )
    memory.learnings.archive(gone)
    with_verdicts(memory, tried, 3)
    with open_memory(actor=STRANGER) as outside:
        external = outside.learn(similar(4)).learning.id
        entry = outside.journal.add(text="Webhooks of Stripe arrive out of order in the lab.", topic="Lab").id
    _, considered = given_and_why(memory, str(ASKED["title"]))
    why = {one.id: one.held_back for one in considered}
    assert why[gone] == "archived"
    assert why[low] == "confidence 0.30 is below 0.40"
    assert why[tried] == "confidence 0.55 is below 0.60, and it had its trial"
    assert why[external] == why[entry] == "came from outside, and nobody adopted it"


def test_what_was_only_implied_is_shown_nowhere_and_the_reason_is(memory: Memory) -> None:
    said = "Answer in short sentences, because I read on the phone. The screen shows forty characters a line"
    kept = memory.learnings.remember(said).learning
    assert kept.action.startswith("(implied)")
    block = memory.inject(task="t", outcome="t", title="", learnings=(kept.id,)).markdown
    for text in (block, memory.sessions.brief(_room()).text):
        assert "(implied)" not in text
        assert "The screen shows forty characters a line" in text
