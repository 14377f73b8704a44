"""Decisions through the hall: recorded, reviewed, aged, taken back; what depends on them follows."""

from __future__ import annotations

import json
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import pytest

from conftest import AGENT, PERSON, STRANGER, Opener
from recollect import BadInput, Memory, NotFound, Refused, Rejected, ScriptedClock, Stale
from recollect.api.rpc import dispatch, methods
from recollect.core.clock import iso
from recollect.core.decision import Bridge, Decision, DecisionEdit, NewDecision, Reason, Review
from recollect.distil.decision_levels import MODEL_CALLS, render_page
from recollect.models.scripted import ScriptedModels, ScriptedProvider
from recollect.tend.doctor import rebuild, verify
from recollect.tend.export import export, import_lines
from recollect.tend.purge import purge
from recollect.text.tokens import ContextBudget

SUCCESS = Review(outcome="success", result="It held", lesson="Measuring first saved a rewrite")


def new(text: str = "Use PostgreSQL for the team store", **more: object) -> NewDecision:
    given = {"decision": text, "confidence": 0.8, "category": "architecture", **more}
    return NewDecision(**given)  # type: ignore[arg-type]


def record(memory: Memory, text: str = "Use PostgreSQL for the team store", **more: object) -> Decision:
    return memory.decisions.record(new(text, **more)).decision


def reviewed(memory: Memory, text: str = "Use PostgreSQL for the team store", **more: object) -> Decision:
    review = more.pop("review", SUCCESS)
    assert isinstance(review, Review)
    return memory.decisions.review(record(memory, text, **more).id, review)


def test_a_decision_reads_back_whole(memory: Memory) -> None:
    kept = record(
        memory,
        stakes="high",
        context="Two agents write at once",
        reasons=(Reason(kind="empirical", text="224 of 800 updates survived without a lock"),),
        pattern="Measure before choosing",
        tags=("Storage", "storage"),
        bridge=Bridge(structure="one port, two engines", function="one product"),
        components={"evidence": 0.9, "analogy": 0.0},
        agent="planner",
        review_in="2w",
    )
    again = memory.decisions.get(kept.id)
    assert again == kept
    assert again.tags == ("storage",)
    assert again.components == {"evidence": 0.9, "analogy": 0.0}
    assert again.review_at == again.decided_at + 14 * 86_400_000


def test_the_same_decision_again_within_an_hour_is_one_and_what_changed_or_came_later_is_another(
    memory: Memory, clock: ScriptedClock
) -> None:
    """A caller who was told that nobody knows whether it was stored repeats it."""
    first = record(memory)
    clock.advance(seconds=300)
    assert record(memory).id == first.id
    assert record(memory, confidence=0.3).id != first.id
    clock.advance(hours=1)
    assert record(memory).id != first.id


def test_confidence_zero_stays_zero_everywhere(memory: Memory, clock: ScriptedClock) -> None:
    kept = reviewed(memory, confidence=0.0)
    assert memory.decisions.get(kept.id).confidence == 0.0
    assert memory.decisions.calibration()["overall"].mean_confidence == 0.0
    for days in (10, 25, 60):
        clock.advance(days=days)
        assert "0.00" in render_page(memory.decisions.compacted())


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), -0.1, 1.1, "0.9", True, None])
def test_a_confidence_that_is_none_is_refused(memory: Memory, confidence: object) -> None:
    with pytest.raises(BadInput):
        record(memory, confidence=confidence)
    assert memory.decisions.page()[1] == 0


@pytest.mark.parametrize("field", ["category", "agent"])
def test_a_category_or_agent_that_is_no_word_is_refused(memory: Memory, field: str) -> None:
    with pytest.raises(BadInput, match=field):
        record(memory, **{field: "two words\n## Wisdom"})


def test_a_status_update_is_rejected_and_sent_to_the_log(memory: Memory) -> None:
    with pytest.raises(Rejected, match="log add"):
        record(memory, "Deployed v1.4.2 to staging")
    assert memory.decisions.record(new("Deployed v1.4.2 to staging"), anyway=True).decision.id


def test_a_time_without_a_zone_is_utc_and_the_future_is_refused(memory: Memory) -> None:
    naive = record(memory, decided_at="2026-01-05T10:00:00")
    aware = record(memory, decided_at="2026-01-05T11:00:00+01:00")
    assert naive.decided_at == aware.decided_at
    with pytest.raises(BadInput, match="future"):
        record(memory, decided_at="2027-01-01")


def test_secrets_are_redacted_in_every_field(memory: Memory, tmp_path: Path) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    done = memory.decisions.record(
        new(f"Use token {secret}", context=secret, reasons=(Reason(text=secret),), pattern=f"never {secret}",
            bridge=Bridge(structure=secret), tags=(secret,))
    )  # fmt: skip
    memory.decisions.review(done.decision.id, Review(outcome="failure", result=secret, lesson=secret))
    assert done.redacted
    memory.close()
    raw = b"".join(path.read_bytes() for path in (tmp_path / "project").rglob("*") if path.is_file())
    assert secret.encode() not in raw


# --- Ageing


def levels(memory: Memory) -> dict[str, int]:
    page = memory.decisions.compacted()
    return {
        "full": len(page.full),
        "summary": len(page.summary),
        "digest": sum(len(lines) for lines in page.digest.values()),
        "wisdom": sum(one.decisions for one in page.wisdom),
    }


@pytest.mark.parametrize(
    ("seconds", "level"),
    [
        (7 * 86_400 - 1, "full"),
        (7 * 86_400, "summary"),
        (30 * 86_400 - 1, "summary"),
        (30 * 86_400, "digest"),
        (90 * 86_400 - 1, "digest"),
        (90 * 86_400, "wisdom"),
    ],
)
def test_a_reviewed_decision_shrinks_to_the_second(
    memory: Memory, clock: ScriptedClock, seconds: int, level: str
) -> None:
    reviewed(memory)
    clock.advance(seconds=seconds)
    assert [name for name, count in levels(memory).items() if count] == [level]


def test_an_unreviewed_decision_stays_full_and_waits_in_the_queue(memory: Memory, clock: ScriptedClock) -> None:
    kept = record(memory)
    clock.advance(days=6)
    assert [one.due for one in memory.decisions.review_queue()] == [False]
    clock.advance(days=1)
    assert [one.decision.id for one in memory.decisions.review_queue(due_only=True)] == [kept.id]
    clock.advance(days=500)
    assert levels(memory)["full"] == 1
    memory.decisions.review(kept.id, SUCCESS)
    assert memory.decisions.review_queue() == []
    assert levels(memory)["wisdom"] == 1


def test_a_review_date_decides_when_it_is_due(memory: Memory, clock: ScriptedClock) -> None:
    record(memory, review_in="36h")
    clock.advance(hours=35)
    assert memory.decisions.review_queue(due_only=True) == []
    clock.advance(hours=1)
    assert len(memory.decisions.review_queue(due_only=True)) == 1


def test_preserve_reads_back_through_every_path(open_memory: Opener, clock: ScriptedClock) -> None:
    memory = open_memory()
    kept = reviewed(memory, context="The whole story")
    memory.decisions.preserve(kept.id)
    clock.advance(days=1000)
    again = open_memory()
    assert again.decisions.get(kept.id).preserve
    assert [shown.context for shown in again.decisions.compacted().full] == ["The whole story"]
    assert again.decisions.query()[0][0].level == "full"
    assert again.decisions.page()[0][0].preserve
    assert call(again, "cstp.getDecision", id=kept.id)["preserve"] is True
    assert "preserved" in render_page(again.decisions.compacted())
    again.decisions.preserve(kept.id, on=False)
    assert levels(memory)["wisdom"] == 1


def test_preserving_a_decision_does_not_change_what_wisdom_counts(memory: Memory, clock: ScriptedClock) -> None:
    kept = reviewed(memory)
    reviewed(memory)
    clock.advance(days=100)
    before = memory.decisions.wisdom()
    memory.decisions.preserve(kept.id)
    assert memory.decisions.wisdom() == before
    assert [(one.decisions, one.ids[0]) for one in before] == [(2, kept.id)]


def test_ageing_and_compacting_change_no_stored_decision(memory: Memory, clock: ScriptedClock) -> None:
    before = [reviewed(memory, f"Choose option {n} over the others") for n in range(4)]
    for _ in range(3):
        clock.advance(days=40)
        memory.decisions.compact()
        memory.decisions.compacted()
        memory.cycle()
    assert [memory.decisions.get(each.id) for each in before] == before


def test_levels_follow_the_policies_of_agent_and_category(
    open_memory: Opener, tmp_path: Path, clock: ScriptedClock
) -> None:
    memory = open_memory()
    settings = tmp_path / "project" / "recollect.toml"
    settings.write_text(
        settings.read_text()
        + "\n[decisions]\nkeep = ['tag:adr']\n[decisions.categories.security]\nwisdom_days = 3650\n"
        + "[decisions.agents.scout]\nunreviewed = 'age'\n"
    )
    memory = open_memory()
    record(memory, agent="scout")
    reviewed(memory, category="security")
    reviewed(memory, tags=("adr",))
    reviewed(memory)
    clock.advance(days=100)
    page = memory.decisions.compacted()
    assert [shown.tags for shown in page.full] == [("adr",)]
    assert list(page.digest) == ["security"]
    assert [(one.category, one.decisions) for one in page.wisdom] == [("architecture", 3)]


def test_a_policy_that_cannot_hold_is_refused_with_its_name(open_memory: Opener, tmp_path: Path) -> None:
    open_memory()
    settings = tmp_path / "project" / "recollect.toml"
    settings.write_text(settings.read_text() + "\n[decisions.categories.security]\nsummary_days = 99\n")
    with pytest.raises(BadInput, match="summary_days"):
        open_memory().decisions.compacted()


def test_a_budget_shrinks_the_page_and_loses_no_id(memory: Memory, clock: ScriptedClock) -> None:
    kept = [
        reviewed(memory, f"Choose option {n} over all the others we had", context="Long story. " * 30) for n in range(8)
    ]
    whole = memory.decisions.compacted()
    small = memory.decisions.compacted(budget=200)
    assert len(small.full) < len(whole.full) == 8
    assert all(each.id in render_page(small) for each in kept)


def test_pages_go_on_where_the_last_one_ended(memory: Memory) -> None:
    ids = {reviewed(memory, f"Choose option {n} over the others").id for n in range(7)}
    pages = [memory.decisions.compacted(limit=3, offset=offset) for offset in (0, 3, 6)]
    assert {shown.id for page in pages for shown in page.full} == ids
    assert [len(page.full) for page in pages] == [3, 3, 1]


@pytest.mark.parametrize(
    "bad", [{"limit": 0}, {"limit": -1}, {"limit": 10**9}, {"offset": -1}, {"level": "deep"}, {"budget": 0}]
)
def test_a_page_that_makes_no_sense_is_refused(memory: Memory, bad: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        memory.decisions.compacted(**bad)


# --- What depends on a decision follows it


def old_wisdom(memory: Memory, clock: ScriptedClock, count: int = 3, **more: object) -> list[Decision]:
    kept = [
        reviewed(memory, f"Choose option {n} over the others", pattern="Measure before choosing", **more)
        for n in range(count)
    ]
    clock.advance(days=100)
    return kept


def test_wisdom_counts_and_names_what_it_stands_on(memory: Memory, clock: ScriptedClock) -> None:
    kept = old_wisdom(memory, clock)
    (wisdom,) = memory.decisions.wisdom()
    assert (wisdom.category, wisdom.decisions, wisdom.success_rate) == ("architecture", 3, 1.0)
    assert wisdom.key_principles[0] == "Measure before choosing (3 confirmations)"
    assert set(wisdom.principles[0].ids) == {each.id for each in kept}
    assert memory.decisions.wisdom() == [wisdom], "the kept one reads back equal"


def test_what_old_decisions_taught_reaches_a_prompt_about_it(memory: Memory, clock: ScriptedClock) -> None:
    for option in ("Kafka", "SQS", "NATS"):
        reviewed(memory, f"Put {option} behind the payment queue", pattern="Measure the peak load first")
    for number in range(30):
        reviewed(memory, f"Move colour {number} of the page into a variable", review=Review(outcome="failure"))
    clock.advance(days=100)

    def given(prompt: str) -> str:
        return memory.sessions.prompted(prompt, session="s", task="s", room=ContextBudget()).text

    asked = "Which broker should sit behind the payment queue?"
    assert given(asked) == "", "a decision itself is not shown"
    memory.cycle()
    assert "Measure the peak load first: 3 decisions confirm it" in given(asked)
    assert given("Rename the title of the imprint") == ""


def test_six_failures_with_one_pattern_are_no_principle(memory: Memory, clock: ScriptedClock) -> None:
    old_wisdom(memory, clock, 6, review=Review(outcome="failure"))
    (wisdom,) = memory.decisions.wisdom()
    assert wisdom.key_principles == ()
    assert wisdom.common_failure_mode == "Measure before choosing (6 failures)"


def test_a_later_review_changes_wisdom_and_calibration(memory: Memory, clock: ScriptedClock) -> None:
    kept = old_wisdom(memory, clock)
    assert memory.decisions.wisdom()[0].success_rate == 1.0
    memory.decisions.review(kept[0].id, Review(outcome="failure"))
    assert memory.decisions.wisdom()[0].success_rate == 0.67
    assert memory.decisions.calibration()["overall"].success_rate == 0.667


def test_a_later_edit_changes_wisdom_summary_and_search(memory: Memory, clock: ScriptedClock) -> None:
    kept = old_wisdom(memory, clock)
    memory.decisions.wisdom()
    memory.decisions.edit(kept[0].id, DecisionEdit(pattern="Ask the users first", category="process"))
    assert {one.category: one.decisions for one in memory.decisions.wisdom()} == {"architecture": 2, "process": 1}
    assert [hit.id for hit in memory.decisions.query("ask the users")[0]] == [kept[0].id]


def test_a_reversal_takes_back_a_confirmation(memory: Memory, clock: ScriptedClock) -> None:
    kept = old_wisdom(memory, clock)
    memory.decisions.wisdom()
    memory.decisions.reverse(kept[0].id, reason="A cheaper way was found")
    assert memory.decisions.wisdom()[0].key_principles[0] == "Measure before choosing (2 confirmations)"


def test_wisdom_grows_when_the_next_decision_is_old_enough(memory: Memory, clock: ScriptedClock) -> None:
    reviewed(memory)
    clock.advance(days=50)
    reviewed(memory)
    clock.advance(days=40)
    assert memory.decisions.wisdom()[0].decisions == 1
    clock.advance(days=50, seconds=-1)
    assert memory.decisions.wisdom()[0].decisions == 1
    clock.advance(seconds=1)
    assert memory.decisions.wisdom()[0].decisions == 2


def test_a_review_of_a_young_decision_is_in_wisdom_when_it_is_old(memory: Memory, clock: ScriptedClock) -> None:
    old_wisdom(memory, clock)
    young = record(memory)
    assert memory.decisions.wisdom()[0].decisions == 3
    clock.advance(days=80)
    memory.decisions.review(young.id, Review(outcome="failure"))
    assert memory.decisions.wisdom()[0].decisions == 3
    clock.advance(days=10)
    assert (memory.decisions.wisdom()[0].decisions, memory.decisions.wisdom()[0].success_rate) == (4, 0.75)


def test_a_decision_dated_back_a_little_joins_when_it_is_old_enough(memory: Memory, clock: ScriptedClock) -> None:
    old_wisdom(memory, clock)
    memory.decisions.wisdom()
    record_at = "2026-04-01T00:00:00Z"
    reviewed(memory, decided_at=record_at)
    memory.decisions.wisdom()
    clock.advance(days=21)
    assert memory.decisions.wisdom()[0].decisions == 4


def test_a_decision_recorded_long_after_it_was_made_joins_wisdom(memory: Memory, clock: ScriptedClock) -> None:
    old_wisdom(memory, clock)
    assert memory.decisions.wisdom()[0].decisions == 3
    reviewed(memory, decided_at="2025-06-01")
    assert memory.decisions.wisdom()[0].decisions == 4


def test_reversing_an_unreviewed_decision_settles_it_as_abandoned(memory: Memory) -> None:
    kept = record(memory)
    after = memory.decisions.reverse(kept.id, reason="The vendor went away")
    assert (after.status, after.outcome, after.actual) == ("reversed", "abandoned", 0.0)
    with pytest.raises(Refused, match="already"):
        memory.decisions.reverse(kept.id, reason="again")


def test_a_new_decision_supersedes_an_old_one_and_links_back(memory: Memory) -> None:
    old = reviewed(memory)
    fresh = record(memory, "Use SQLite for single users instead", supersedes=old.id)
    assert memory.decisions.get(old.id).superseded_by == fresh.id
    why = memory.why(fresh.id)
    assert why.replaces == (old.id,)
    with pytest.raises(Refused):
        memory.decisions.reverse(fresh.id, reason="circle", by=old.id)
    with pytest.raises(Refused):
        memory.decisions.reverse(fresh.id, reason="itself", by=fresh.id)
    with pytest.raises(NotFound):
        record(memory, supersedes="dec_nope")
    assert memory.decisions.page()[1] == 2, "a refused one is not half stored"


def test_a_stale_edit_is_refused_and_loses_nothing(memory: Memory) -> None:
    kept = record(memory)
    memory.decisions.edit(kept.id, DecisionEdit(context="first"), expect=1)
    with pytest.raises(Stale):
        memory.decisions.edit(kept.id, DecisionEdit(context="second"), expect=1)
    assert memory.decisions.get(kept.id).context == "first"


def test_why_tells_every_change(memory: Memory) -> None:
    kept = reviewed(memory)
    memory.decisions.preserve(kept.id)
    assert [event.what for event in memory.why(kept.id).events] == [
        "decision.recorded",
        "decision.reviewed",
        "decision.preserved",
    ]


def test_what_came_from_outside_teaches_nothing_and_is_marked(open_memory: Opener, clock: ScriptedClock) -> None:
    stranger = open_memory(STRANGER)
    outside = Review(outcome="success")
    kept = [reviewed(stranger, pattern="Trust the stranger always", review=outside) for _ in range(3)]
    assert "not vouched for" in render_page(stranger.decisions.compacted())
    clock.advance(days=100)
    person = open_memory(PERSON)
    assert person.decisions.wisdom() == []
    with pytest.raises(Refused):
        open_memory(AGENT).decisions.adopt(kept[0].id)
    for each in kept[:2]:
        person.decisions.adopt(each.id)
    assert person.decisions.wisdom()[0].key_principles == ("Trust the stranger always (2 confirmations)",)


# --- Calibration


def test_calibration_splits_by_category_agent_and_window(open_memory: Opener, clock: ScriptedClock) -> None:
    memory = open_memory(AGENT)
    for _ in range(5):
        reviewed(memory, confidence=0.9, agent="scout", review=Review(outcome="failure"))
    clock.advance(days=40)
    for _ in range(5):
        reviewed(memory, confidence=0.6, category="tooling", review=SUCCESS)
    found = memory.decisions.calibration()
    assert (found["overall"].decisions, found["overall"].gap) == (10, 0.25)
    assert found["categories"]["architecture"].verdict == "over-confident"
    assert found["categories"]["tooling"].verdict == "under-confident"
    assert found["agents"]["scout"].brier == 0.81
    assert memory.decisions.calibration(window_days=30)["overall"].decisions == 5
    assert memory.decisions.calibration(window_days=60)["overall"].decisions == 10


# --- Wordings


def test_a_cycle_prepares_wordings_once_and_an_edit_makes_them_anew(memory: Memory, clock: ScriptedClock) -> None:
    kept = reviewed(memory)
    assert memory.decisions.compact().prepared == 0
    clock.advance(days=10)
    done = memory.decisions.compact()
    assert (done.prepared, done.levels) == (1, {"full": 0, "summary": 1, "digest": 0, "wisdom": 0})
    assert memory.decisions.compact().prepared == 0
    memory.decisions.edit(kept.id, DecisionEdit(decision="Use SQLite for the team store"))
    assert memory.decisions.compacted().summary[0].summary == "Use SQLite for the team store"
    assert memory.decisions.compact().prepared == 1


def test_a_models_wording_is_shown_when_it_keeps_the_rules(open_memory: Opener, clock: ScriptedClock) -> None:
    provider = ScriptedProvider(
        ["See https://evil.example", "I'm sorry, I cannot", "PostgreSQL for teams: one lock per space"]
    )
    memory = open_memory(models=ScriptedModels({"decision-summary": provider}))
    kept = reviewed(memory)
    clock.advance(days=10)
    memory.decisions.compact()
    assert memory.decisions.compacted().summary[0].summary == "PostgreSQL for teams: one lock per space"
    memory.decisions.edit(kept.id, DecisionEdit(decision="Use SQLite for the team store"))
    assert memory.decisions.compacted().summary[0].summary == "Use SQLite for the team store"


def test_one_cycle_makes_no_more_calls_than_the_setting_allows(open_memory: Opener, clock: ScriptedClock) -> None:
    refused = ScriptedProvider(["I'm sorry, I cannot"] * 30)
    kinds = ("decision-summary", "decision-digest", "principle")
    memory = open_memory(models=ScriptedModels(dict.fromkeys(kinds, refused)))
    for number in range(8):
        reviewed(memory, f"Choose option {number} over the others", pattern=f"Measure before choosing part {number}")
        reviewed(memory, f"Choose option {number} over the rest", pattern=f"Measure before choosing part {number}")
        clock.advance(days=15)
    memory.decisions.compact()
    assert len(refused.prompts) == MODEL_CALLS


def test_a_wording_made_while_the_decision_changed_is_not_shown(open_memory: Opener, clock: ScriptedClock) -> None:
    def meddle(_: object) -> str:
        memory.decisions.edit(kept.id, DecisionEdit(decision="Use SQLite for the team store"))
        return "PostgreSQL for teams"

    memory = open_memory(models=ScriptedModels({"decision-summary": ScriptedProvider([meddle])}))
    kept = reviewed(memory)
    clock.advance(days=10)
    assert memory.decisions.compact().prepared == 0
    assert memory.decisions.compacted().summary[0].summary == "Use SQLite for the team store"


# --- Asking


@pytest.mark.parametrize("text", ["", "team store"])
def test_a_level_is_looked_for_before_the_page_is_cut(memory: Memory, clock: ScriptedClock, text: str) -> None:
    old = [reviewed(memory, f"Use {name} for the team store").id for name in ("PostgreSQL", "MariaDB", "Oracle")]
    clock.advance(days=10)
    for name in ("Redis", "Valkey", "Memcached"):
        reviewed(memory, f"Use {name} for the team store")
    first, _ = memory.decisions.query(text, level="summary", limit=2)
    rest, _ = memory.decisions.query(text, level="summary", limit=2, offset=2)
    assert {hit.id for hit in (*first, *rest)} == set(old)
    assert len(first) == 2
    assert memory.decisions.query(text, level="summary", limit=1)[1] == 3
    with pytest.raises(BadInput, match="level must be one of"):
        memory.decisions.query(text, level="deep")


def test_an_answer_is_as_long_as_the_age_allows_unless_asked_whole(memory: Memory, clock: ScriptedClock) -> None:
    kept = reviewed(memory, context="A long story about locks")
    clock.advance(days=40)
    (hit,), total = memory.decisions.query("postgresql team")
    assert (hit.id, hit.level, total) == (kept.id, "digest", 1)
    assert not hasattr(hit.decision, "context")
    (whole,), _ = memory.decisions.query("postgresql team", whole=True)
    assert whole.decision == memory.decisions.get(kept.id)
    assert memory.decisions.query("postgresql", category="tooling")[0] == []


@pytest.mark.parametrize("text", ['"', "NEAR(", "a* OR b", "\x00", "--", "c++ " * 5000])
def test_no_question_breaks_the_search(memory: Memory, text: str) -> None:
    record(memory)
    memory.decisions.query(text)


# --- JSON-RPC


def call(memory: Memory, method: str, **params: object) -> dict[str, object]:
    request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
    answer = dispatch(json.dumps(request).encode(), methods(memory))
    assert answer is not None
    parsed = json.loads(answer)
    return parsed.get("result", parsed.get("error"))


def test_the_seeds_methods_do_the_whole_round(memory: Memory, clock: ScriptedClock) -> None:
    ids = []
    for n in range(3):
        made = call(
            memory, "cstp.recordDecision", decision=f"Choose option {n} over the others", confidence=0.75,
            category="architecture", pattern="Measure before choosing", reviewIn="2w",
            reasons=[{"kind": "empirical", "text": "It was faster"}], bridge={"structure": "port", "function": "swap"},
            components={"evidence": 0.5},
        )  # fmt: skip
        ids.append(made["id"])
        assert (
            call(memory, "cstp.reviewDecision", id=made["id"], outcome="success", lesson="ok")["outcome"] == "success"
        )
    clock.advance(days=91)
    assert call(memory, "cstp.compact")["levels"]["wisdom"] == 3
    (wisdom,) = call(memory, "cstp.getWisdom", category="architecture")["wisdom"]
    assert {
        name: wisdom[name]
        for name in ("category", "decisions", "success_rate", "key_principles", "common_failure_mode")
    } == {
        "category": "architecture",
        "decisions": 3,
        "success_rate": 1.0,
        "key_principles": ["Measure before choosing (3 confirmations)"],
        "common_failure_mode": None,
    }
    assert call(memory, "cstp.setPreserve", id=ids[0])["preserve"] is True
    page = call(memory, "cstp.getCompacted")
    assert page["as_of"] == iso(clock.now())
    assert [shown["id"] for shown in page["full"]] == [ids[0]]
    assert call(memory, "cstp.queryDecisions", query="option", reviewed=True)["total"] == 3
    assert call(memory, "cstp.getCalibration", windowDays=365)["overall"]["decisions"] == 3
    assert call(memory, "cstp.getDecision", id=ids[1])["decided_at"] == "2026-03-02T09:00:00Z"


def test_the_protocols_own_client_is_answered_in_its_own_shapes(memory: Memory) -> None:
    made = call(
        memory,
        "cstp.recordDecision",
        decision="Use a queue for hand-over",
        confidence=0.8,
        category="architecture",
        project_context={"project": "acme/shop", "pr": 7},
        reasons=[{"type": "empirical", "text": "Bursts were measured", "strength": 0.9}],
        bridge={
            "structure": "Queue",
            "function": "Smooths bursts",
            "prevention": ["a lost job"],
            "tolerance": ["order"],
        },
    )
    assert made["reasons"] == [{"kind": "empirical", "text": "Bursts were measured (strength 0.9)"}]
    assert made["bridge"]["function"] == "Smooths bursts; must not hold: a lost job; may differ: order"
    assert (made["tags"], made["context"]) == (["acme/shop"], "pr: 7")
    nested = call(
        memory,
        "cstp.recordDecision",
        decision="Use a topic for fan-out",
        confidence=0.8,
        category="architecture",
        reasons=[{"type": "analogy", "text": "As in billing", "links": ["a", "b"], "seen": {"by": "Ada"}}],
        bridge={"structure": "Topic", "note": {"why": "many readers"}},
    )
    assert nested["reasons"] == [{"kind": "analogy", "text": 'As in billing (links a, b, seen {"by": "Ada"})'}]
    assert nested["bridge"]["structure"] == 'Topic; note: {"why": "many readers"}'
    asked = {"query": "queue", "limit": 5, "retrievalMode": "hybrid", "filters": {"project": "acme/shop"}}
    hit = call(memory, "cstp.queryDecisions", **asked)["decisions"][0]
    assert (hit["id"], hit["title"], hit["category"]) == (made["id"], "Use a queue for hand-over", "architecture")
    got = call(memory, "cstp.getDecision", id=made["id"])
    assert (got["found"], got["decision"]["decision"]) == (True, "Use a queue for hand-over")
    review = {"decision_id": made["id"], "outcome": "success", "actual_result": "It held", "lessons": "Measure first"}
    assert call(memory, "cstp.reviewDecision", **review)["success"] is True
    other = call(memory, "cstp.recordDecision", decision="Use a cron job", confidence=0.9, category="architecture")
    call(memory, "cstp.reviewDecision", decision_id=other["id"], outcome="failure")
    overall = call(memory, "cstp.getCalibration", project="acme/shop")["overall"]
    assert (overall["total_decisions"], overall["reviewed_decisions"], overall["accuracy"]) == (1, 1, 1.0)


def test_a_parameter_that_is_null_is_as_good_as_not_given(memory: Memory) -> None:
    none = dict.fromkeys(("context", "reasons", "tags", "bridge", "components", "supersedes", "decidedAt", "anyway"))
    made = call(memory, "cstp.recordDecision", decision="Use a queue", confidence=1, category="architecture", **none)
    assert (made["context"], made["reasons"], made["components"]) == ("", [], {})
    assert call(memory, "cstp.queryDecisions", query=None, status=None, limit=None)["total"] == 1


@pytest.mark.parametrize(
    ("method", "params", "code"),
    [
        ("cstp.getDecision", {"id": "dec_nope"}, -32001),
        ("cstp.getDecision", {"id": 5}, -32602),
        ("cstp.getDecision", {"id": None}, -32602),
        ("cstp.recordDecision", {"decision": "x", "confidence": "0.9", "category": "a"}, -32602),
        ("cstp.recordDecision", {"decision": "Use x", "confidence": 0.9, "category": "a", "tags": "x"}, -32602),
        ("cstp.recordDecision", {"decision": "Use x", "confidence": 0.9, "category": "a", "stakes": "huge"}, -32602),
        ("cstp.recordDecision", {"decision": "Use x", "confidence": 0.9, "category": "a", "bridge": {"x": 1}}, -32602),
        ("cstp.recordDecision", {"decision": "Merged PR 482", "confidence": 0.9, "category": "a"}, -32602),
        ("cstp.getCompacted", {"level": 5}, -32602),
        ("cstp.getCompacted", {"limit": -1}, -32602),
        ("cstp.getCompacted", {"budget": True}, -32602),
        ("cstp.setPreserve", {"id": "dec_nope", "preserve": "yes"}, -32602),
        ("cstp.reviewDecision", {"id": "dec_nope", "outcome": "fine"}, -32602),
        ("cstp.reviewDecision", {"id": "dec_nope", "outcome": "success", "version": "1"}, -32602),
        ("cstp.reviewDecision", {"id": "dec_nope"}, -32602),
        ("cstp.recordDecision", {"decision": "Use x", "confidence": 0.9, "category": "a", "tag": "x"}, -32602),
        ("cstp.recordDecision", {"decision": "Use x", "confidence": 0.9}, -32602),
        ("cstp.queryDecisions", {"outcome": "fine"}, -32602),
        ("cstp.none", {}, -32601),
    ],
)
def test_bad_calls_are_answered_with_their_code(
    memory: Memory, method: str, params: dict[str, object], code: int
) -> None:
    assert call(memory, method, **params)["code"] == code
    assert memory.decisions.page()[1] == 0


# --- What touches every room


def test_verify_finds_nothing_wrong_and_rebuild_changes_nothing(memory: Memory, clock: ScriptedClock) -> None:
    old_wisdom(memory, clock)
    record(memory)
    memory.decisions.compact()
    memory.decisions.wisdom()
    assert verify(memory.context) == ()
    assert rebuild(memory.context).orphans == 0
    assert verify(memory.context) == ()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_purged_decision_is_gone_with_what_was_made_of_it(memory: Memory, clock: ScriptedClock) -> None:
    keep = reviewed(memory, "Use SQLite for single users", pattern="Measure before choosing")
    gone = reviewed(memory, "Use the CustomerNameXyz cluster for everything", pattern="Measure before choosing")
    follow = record(memory, "Use our own cluster instead", supersedes=keep.id)
    clock.advance(days=10)
    memory.decisions.compact()
    clock.advance(days=90)
    memory.decisions.compact()
    done = purge(memory.context, memory.project, id=gone.id)
    assert (done.things, done.found) == ((gone.id,), ())
    with pytest.raises(NotFound):
        memory.decisions.get(gone.id)
    assert memory.decisions.wisdom()[0].ids == (keep.id,)
    purge(memory.context, memory.project, id=follow.id)
    assert memory.decisions.get(keep.id).status == "reversed"
    assert "reversed" in memory.why(keep.id).events[-1].reason
    assert verify(memory.context) == ()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_time_that_a_purged_decision_shares_with_another_is_no_quotation(memory: Memory) -> None:
    gone, kept = reviewed(memory, "Use the big cluster"), reviewed(memory, "Use SQLite for single users")
    memory.data.purge(id=gone.id)
    assert memory.data.undo()[0].id == kept.id
    assert memory.decisions.get(kept.id).outcome is None


def test_a_purged_text_leaves_decisions_wordings_and_wisdom(memory: Memory, clock: ScriptedClock) -> None:
    for n in range(2):
        reviewed(memory, f"Host client {n} of CustomerNameXyz apart", pattern="Ask CustomerNameXyz first", tags=("x",))
    clock.advance(days=10)
    memory.decisions.compact()
    clock.advance(days=90)
    memory.decisions.wisdom()
    assert purge(memory.context, memory.project, text="CustomerNameXyz").found == ()
    assert "CustomerNameXyz" not in render_page(memory.decisions.compacted())
    assert memory.decisions.get(memory.decisions.page()[0][0].id).version == 3
    assert verify(memory.context) == ()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_a_decision_reads_back_after_a_word_of_its_frame_was_purged(memory: Memory) -> None:
    kept = record(memory, reasons=(Reason(kind="empirical", text="It held"),), components={"evidence": 0.5})
    for word in ("empirical", "evidence", "architecture"):
        purge(memory.context, memory.project, text=word)
    after = memory.decisions.get(kept.id)
    assert (after.reasons[0].kind, after.category, list(after.components)) == ("[purged]", "[purged]", ["[purged]"])
    assert kept.id in render_page(memory.decisions.compacted())


@pytest.mark.parametrize(
    "more",
    [
        {"reasons": (Reason(text=" "),)},
        {"reasons": (Reason(kind="two words", text="x"),)},
        {"reasons": tuple(Reason(text=str(n)) for n in range(21))},
        {"bridge": Bridge()},
        {"bridge": Bridge(structure="\u200b", function="\u200b")},
        {"bridge": Bridge(structure="x" * 501)},
        {"components": {"two words": 0.5}},
        {"components": {"evidence": 1.5}},
        {"tags": ("",)},
        {"pattern": "x" * 501},
        {"decision": "x" * 10_001},
        {"stakes": "huge"},
        {"review_in": "soon"},
        {"review_in": "99999m"},
    ],
)
def test_what_no_decision_may_hold_is_refused_new_and_edited(memory: Memory, more: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        memory.decisions.record(
            new(**{"text": "Use x", **more} if "decision" not in more else {"text": more["decision"]})
        )
    kept = record(memory)
    with pytest.raises(BadInput):
        memory.decisions.edit(kept.id, DecisionEdit(**more))
    assert memory.decisions.get(kept.id) == kept


@pytest.mark.parametrize("year", ["0001", "1899", "9000"])
def test_a_decision_is_made_in_a_year_that_every_zone_can_show(memory: Memory, year: str) -> None:
    with pytest.raises(BadInput, match="years are 1900 to 8999"):
        memory.decisions.record(new("Carve it in stone", decided_at=f"{year}-01-01"))
    assert memory.decisions.page()[1] == 0


def test_an_export_comes_back_with_outcomes_and_links_and_as_external(
    open_memory: Opener, tmp_path: Path, clock: ScriptedClock, environ: dict[str, str]
) -> None:
    memory = open_memory()
    old = reviewed(memory, reasons=(Reason(text="It held"),), bridge=Bridge(function="one truth"), confidence=0.0)
    memory.decisions.preserve(old.id)
    fresh = record(memory, "Use SQLite for single users instead", supersedes=old.id)
    lines: list[str] = []
    export(memory.context, lines.append)
    stream = "".join(line for line in lines if '"type": "decision"' in line).encode()
    other_environ = {**environ, "RECOLLECT_STORE": ""}
    (tmp_path / "other").mkdir()
    with Memory.open(tmp_path / "other", create=True, actor=PERSON, clock=clock, environ=other_environ) as other:
        done = import_lines(other.context, BytesIO(stream), name="x.jsonl")
        assert (done.added, done.bad) == ({"decision": 2}, ())
        again = other.decisions.get(old.id)
        same = (
            "decision",
            "confidence",
            "reasons",
            "bridge",
            "outcome",
            "lesson",
            "decided_at",
            "status",
            "superseded_by",
        )
        before = memory.decisions.get(old.id)
        assert {name: getattr(again, name) for name in same} == {name: getattr(before, name) for name in same}
        assert (again.trust, again.preserve) == ("external", False)
        assert other.decisions.get(fresh.id).status == "active"
        assert import_lines(other.context, BytesIO(stream), name="x.jsonl").known == 2


@pytest.mark.parametrize(
    "values",
    [
        {"confidence": "0.9"},
        {"confidence": 7},
        {"decision": ""},
        {"category": "two words"},
        {"outcome": "fine"},
        {"status": "gone"},
        {"reasons": [{"kind": "x"}]},
        {"tags": "x"},
        {"decided_at": 5},
    ],
)
def test_a_line_that_is_no_decision_is_named_and_passed_over(memory: Memory, values: dict[str, object]) -> None:
    line = {"type": "decision", "decision": "Use x", "confidence": 0.5, "category": "a", **values}
    done = import_lines(memory.context, BytesIO(json.dumps(line).encode()), name="x.jsonl")
    assert len(done.bad) == 1
    assert memory.decisions.page()[1] == 0


CHANGES = {
    "review": lambda memory, made: memory.decisions.review(made, SUCCESS),
    "edit": lambda memory, made: memory.decisions.edit(
        made,
        DecisionEdit(
            decision="Use SQLite",
            tags=("other",),
            reasons=(Reason(text="simpler"),),
            bridge=Bridge(structure="a", function="b"),
            components={"evidence": 0.1},
            review_in="3d",
        ),
    ),
    "reverse": lambda memory, made: memory.decisions.reverse(made, reason="it was wrong"),
    "preserve": lambda memory, made: memory.decisions.preserve(made),
}


@pytest.mark.parametrize("change", CHANGES)
def test_undo_takes_back_the_last_change_to_a_decision(memory: Memory, change: str) -> None:
    kept = record(memory, reasons=(Reason(text="measured"),), tags=("storage",), components={"evidence": 0.9})
    CHANGES[change](memory, kept.id)  # type: ignore[no-untyped-call]
    (after,) = memory.data.undo()
    assert replace(after, version=kept.version, updated_at=kept.updated_at) == kept  # type: ignore[type-var]
    assert memory.why(kept.id).events[-1].what == "decision.undone"


def test_undoing_a_recording_reverses_it_and_it_counts_for_nothing(memory: Memory, clock: ScriptedClock) -> None:
    old = record(memory)
    record(memory, "Use SQLite for single users", supersedes=old.id)
    memory.decisions.undo()
    assert sorted(one.status for one in memory.decisions.page()[0]) == ["active", "reversed"]
    memory.decisions.undo()
    assert memory.decisions.review_queue() == []
    assert memory.decisions.calibration()["overall"].decisions == 0
    clock.advance(days=100)
    assert "Use SQLite" not in render_page(memory.decisions.compacted(level="full"))
    with pytest.raises(Refused, match="nothing to undo"):
        memory.data.undo()


def test_undo_never_loses_a_later_change_to_a_decision(memory: Memory, open_memory: Opener) -> None:
    kept = record(memory)
    memory.decisions.preserve(kept.id)
    memory.decisions.undo()
    memory.decisions.preserve(kept.id)
    memory.decisions.preserve(kept.id, on=False)
    memory.decisions.undo()
    assert memory.decisions.get(kept.id).preserve


def test_undo_takes_the_later_of_a_learning_and_a_decision(memory: Memory) -> None:
    made = record(memory)
    learned = memory.learn(
        title="Stripe webhooks arrive out of order",
        context="Integrating Stripe payments into the billing service",
        observation="Deliveries can overtake each other, so an update may come before its creation",
        implication="Handlers must not rely on the order of arrival",
        action="Compare the event's created time with the stored one before applying it",
    ).learning
    assert [each.id for each in memory.data.undo()] == [learned.id]
    assert [each.id for each in memory.data.undo()] == [made.id]


def test_a_refusal_names_no_option_of_the_command_line(memory: Memory) -> None:
    call = {"decision": "Deployed v1.4.2 to staging", "confidence": 0.8, "category": "release"}
    request = {"jsonrpc": "2.0", "id": 1, "method": "cstp.recordDecision", "params": call}
    answer = dispatch(json.dumps(request), methods(memory))
    assert "reads as a report" in str(answer)
    assert "--" not in str(answer)
