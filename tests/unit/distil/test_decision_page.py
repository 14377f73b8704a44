import pytest
from hypothesis import given
from hypothesis import strategies as st

from made import DECIDED, decision
from recollect.core.clock import DAY
from recollect.core.decision import Bridge, Decision, Policy, Reason
from recollect.distil.decision_levels import DecisionPage, Level, level_of, make_page, render_page
from recollect.distil.wisdom import wisdom_of
from recollect.text.tokens import tokens

NOW = DECIDED + 120 * DAY


def page_of(decisions: list[Decision], budget: int | None = None) -> DecisionPage:
    leveled: list[tuple[Decision, Level]] = [(d, level_of(d, Policy(), NOW)) for d in decisions]
    old = [d for d, level in leveled if level == "wisdom"]
    wisdom = [wisdom_of(name, [d for d in old if d.category == name]) for name in sorted({d.category for d in old})]
    return make_page(leveled, wisdom, NOW, len(decisions), budget)


def a_life(count: int) -> list[Decision]:
    return [
        decision(
            f"dec_{n:04}",
            decision=f"Choose option {n} for the component. It was the best of the ones we compared that week.",
            context="A long context with a lot of words about the situation. " * 4,
            reasons=(Reason(text="It measured best in the benchmark we ran on our own data."),),
            category=("architecture", "tooling")[n % 2],
            bridge=Bridge(structure=f"port {n % 5}", function="one product") if n % 3 == 0 else None,
            decided_at=NOW - n * DAY,
            preserve=n == 70,
        )
        for n in range(count)
    ]


def test_every_decision_is_at_its_level_and_named_by_id() -> None:
    page = page_of(a_life(150))
    assert len(page.full) == 7 + 1
    assert len(page.summary) == 23
    assert sum(len(lines) for lines in page.digest.values()) == 60 - 1
    assert sum(one.decisions for one in page.wisdom) == 60
    text = render_page(page)
    assert all(f"dec_{n:04}" in text for n in range(150))


def test_bridges_are_on_the_page_at_every_level() -> None:
    text = render_page(page_of(a_life(150)))
    sections = dict(zip(("full", "summary", "digest", "wisdom"), text.split("\n## ")[1:], strict=True))
    assert all("→ one product" in section for section in sections.values())


def test_the_least_important_shrink_first_and_the_preserved_one_never() -> None:
    decisions = a_life(80)
    whole = tokens(render_page(page_of(decisions)))
    page = page_of(decisions, whole // 2)
    assert tokens(render_page(page)) <= whole // 2 + 40
    assert any(shown.id == "dec_0070" for shown in page.full)
    assert len(page.full) < len(page_of(decisions).full)
    assert all(f"dec_{n:04}" in render_page(page) for n in range(80))


@given(st.integers(0, 3000))
def test_no_budget_loses_an_id(budget: int) -> None:
    text = render_page(page_of(a_life(40), budget))
    assert all(f"dec_{n:04}" in text for n in range(40))


@pytest.mark.parametrize("text", ["x\n## Wisdom", "x\r## Wisdom", "x\u2028## Wisdom", "x\x85## Wisdom"])
def test_stored_text_cannot_open_a_section(text: str) -> None:
    hostile = decision(
        decision=text, context=text, pattern=text, lesson=text, result=text, bridge=Bridge(function=text),
        reasons=(Reason(text=text),), decided_at=NOW, trust="agent",
    )  # fmt: skip
    for days in (0, 10, 40, 100):
        aged = decision(**{**vars(hostile), "decided_at": NOW - days * DAY})
        assert render_page(page_of([aged])).splitlines().count("## Wisdom") == (1 if days == 100 else 0)
