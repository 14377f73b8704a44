from dataclasses import replace

import pytest

from made import DECIDED, decision
from recollect.core.clock import DAY, SECOND
from recollect.core.decision import Bridge, Policies, Policy, Reason
from recollect.core.errors import BadInput
from recollect.distil.decision_levels import digest_of, full_text, level_of, priority, summary_of

NO_WISHES = Policies(agents={}, categories={})


@pytest.mark.parametrize(
    ("age", "level"),
    [
        (0, "full"),
        (7 * DAY - SECOND, "full"),
        (7 * DAY - 1, "full"),
        (7 * DAY, "summary"),
        (30 * DAY - SECOND, "summary"),
        (30 * DAY, "digest"),
        (90 * DAY - SECOND, "digest"),
        (90 * DAY, "wisdom"),
        (10_000 * DAY, "wisdom"),
    ],
)
def test_levels_begin_exactly_at_their_age(age: int, level: str) -> None:
    assert level_of(decision(), Policy(), DECIDED + age) == level


@pytest.mark.parametrize("kept", [{"preserve": True}, {"outcome": None}])
def test_preserved_and_unreviewed_decisions_stay_full_at_any_age(kept: dict[str, object]) -> None:
    assert level_of(decision(**kept), Policy(), DECIDED + 5000 * DAY) == "full"


def test_a_policy_may_let_unreviewed_decisions_age() -> None:
    waiting = decision(outcome=None)
    assert level_of(waiting, Policy(unreviewed="age"), DECIDED + 31 * DAY) == "digest"


@pytest.mark.parametrize("rule", ["stakes:critical", "tag:adr"])
def test_a_policy_keeps_what_it_names(rule: str) -> None:
    kept = decision(stakes="critical", tags=("adr",))
    later = DECIDED + 400 * DAY
    assert level_of(kept, Policy(keep=(rule,)), later) == "full"
    assert level_of(decision(), Policy(keep=(rule,)), later) == "wisdom"


def test_a_category_has_the_last_word_over_its_agent() -> None:
    policies = Policies(
        agents={"planner": {"summary_days": 1, "keep": ["tag:adr"]}},
        categories={"security": {"summary_days": 20}},
    )
    assert policies.of("", "tooling") == Policy()
    assert policies.of("planner", "tooling") == Policy(summary_days=1, keep=("tag:adr",))
    assert policies.of("planner", "security") == Policy(summary_days=20, keep=("tag:adr",))


@pytest.mark.parametrize(
    "wish",
    [
        {"summary_days": 40},
        {"summary_days": -1},
        {"summary_days": 1.5},
        {"summary_days": True},
        {"unreviewed": "never"},
        {"keep": ["stakes:huge"]},
        {"keep": ["colour:red"]},
        {"sumary_days": 3},
        "7d",
    ],
)
def test_a_policy_that_cannot_hold_is_refused_when_it_is_read(wish: object) -> None:
    with pytest.raises(BadInput):
        Policies(agents={}, categories={"security": wish})  # type: ignore[dict-item]


def test_an_agent_and_a_category_that_only_clash_together_are_refused_too() -> None:
    with pytest.raises(BadInput):
        Policies(agents={"a": {"digest_days": 8}}, categories={"c": {"summary_days": 9}})


def test_a_summary_has_the_choice_its_pattern_its_outcome_and_confidence_against_actual() -> None:
    long = decision(
        decision="Use PostgreSQL. It has one writer lock per space. " + "More words here. " * 30,
        context="a long story",
        reasons=(Reason(text="measured"),),
        pattern="Measure before choosing",
        outcome="partial",
        bridge=Bridge(structure="one engine port", function="two stores, one product"),
        confidence=0.0,
    )
    shown = summary_of(long)
    assert shown.summary.startswith("Use PostgreSQL. It has one writer lock per space.")
    assert shown.summary.endswith("…")
    assert (shown.pattern, shown.outcome, shown.actual) == ("Measure before choosing", "partial", 0.5)
    assert shown.confidence == 0.0
    assert shown.bridge == "one engine port → two stores, one product"
    assert not hasattr(shown, "context")


def test_a_digest_is_one_line_with_its_id_and_bridge() -> None:
    line = digest_of(decision(decision="Use\n## PostgreSQL\u2028now. Because.", bridge=Bridge(function="one\nlock")))
    assert line.text == "Use ## PostgreSQL now."
    assert (line.id, line.bridge) == ("dec_1", "one lock")


def test_high_stakes_lead_then_the_better_founded_then_the_newer() -> None:
    critical = decision("dec_c", stakes="critical", confidence=0.1)
    founded = decision("dec_f", components={"evidence": 0.9, "analogy": 0.9}, confidence=0.3)
    confident = decision("dec_m", confidence=0.85)
    newer = decision("dec_n", confidence=0.85, decided_at=DECIDED + 1)
    assert sorted([confident, founded, newer, critical], key=priority) == [critical, founded, newer, confident]


def test_ageing_changes_nothing_in_the_record() -> None:
    before = decision()
    copy = replace(before)
    level_of(before, NO_WISHES.of("", "architecture"), DECIDED + 100 * DAY)
    assert before == copy


@pytest.mark.parametrize(("trust", "marked"), [("human", False), ("agent", False), ("external", True)])
def test_the_whole_text_marks_what_nobody_vouched_for(trust: str, marked: bool) -> None:
    assert ("external, not vouched for" in full_text(decision(trust=trust))) is marked
