import random

import pytest

from made import finding
from recollect.core.finding import Finding
from recollect.distil.theme_plan import KnownTheme, PlannedTheme, plan, theme_lines
from recollect.text.themes import render_theme, tokens

CACHE = [
    "Build cache misses when the lockfile hash is not in the cache key",
    "The cache key of the build must hold the lockfile",
    "Cold build cache doubles pipeline time",
]
TOKEN = ["Login token expires during long uploads", "Refresh the login token before uploads start"]


def some() -> list[Finding]:
    return [finding(f"wu-{n}", 1, text) for n, text in enumerate([*CACHE, *TOKEN])]


def known(planned: list[PlannedTheme], **renamed: str) -> list[KnownTheme]:
    return [
        KnownTheme(
            name=renamed.get(made.theme.name.replace("-", "_"), made.theme.name),
            named_by="human" if made.theme.name.replace("-", "_") in renamed else made.theme.named_by,
            findings=made.theme.findings,
        )
        for made in planned
    ]


def subjects(count: int, each: int) -> list[Finding]:
    """Findings on so many subjects that share no word."""
    names = [
        f"{a}{b}"
        for a in ("fox", "elm", "oak", "owl", "jay", "bee")
        for b in ("gate", "mill", "tor", "wick", "ham", "low")
    ]
    return [
        finding(f"wu-{n}-{k}", 1, f"{name}alpha {name}beta {name}{'xyz'[k]}")
        for n, name in enumerate(names[:count])
        for k in range(each)
    ]


def homes(planned: list[PlannedTheme]) -> dict[str, str]:
    return {item: made.theme.name for made in planned for item in made.theme.findings}


def test_findings_gather_by_subject_under_names_from_their_words() -> None:
    planned = plan(some())
    assert [(made.theme.name, len(made.theme.findings)) for made in planned] == [("build-cache", 3), ("login-token", 2)]
    assert planned[0].theme.work_ids == ("wu-0", "wu-1", "wu-2")


def test_a_second_run_changes_nothing() -> None:
    first = plan(some())
    assert plan(some(), known(first)) == first


def test_a_new_finding_joins_its_subject_and_the_others_stay() -> None:
    first = plan(some())
    second = plan([*some(), finding("wu-9", 1, "Share the build cache key between jobs")], known(first))
    assert homes(second)["finding/wu-9#1"] == "build-cache"
    assert {item: homes(second)[item] for item in homes(first)} == homes(first)


def test_a_new_subject_opens_a_new_theme() -> None:
    second = plan([*some(), finding("wu-9", 1, "Rotate signing certificates yearly")], known(plan(some())))
    assert len(second) == 3


def test_a_persons_name_sticks_while_findings_come_and_go() -> None:
    renamed = known(plan(some()), build_cache="speedy-builds")
    second = plan([*some()[1:], finding("wu-9", 1, "Share the build cache key between jobs")], renamed)
    assert {made.theme.name: made.theme.named_by for made in second} == {
        "speedy-builds": "human",
        "login-token": "machine",
    }


@pytest.mark.parametrize(
    "disposition", ["Dismissed", "dismissed:already-fixed-in-code", "dismiss: observation", "dismissed (duplicate)"]
)
def test_dismissed_findings_are_in_no_theme(disposition: str) -> None:
    dismissed = finding("wu-9", 1, "Cache keys are silly", disposition=disposition)
    assert "finding/wu-9#1" not in homes(plan([*some(), dismissed]))


@pytest.mark.parametrize(("count", "themes"), [(19, 19), (20, 20), (21, 20), (35, 20)])
def test_twenty_themes_are_the_most_and_no_finding_is_lost(count: int, themes: int) -> None:
    findings = subjects(count, 2)
    planned = plan(findings)
    assert len(planned) == themes
    assert set(homes(planned)) == {item.id for item in findings}


def test_the_21st_theme_merges_the_two_nearest() -> None:
    findings = subjects(19, 2)
    near = [
        finding("near-1", 1, "postgres vacuum bloat tuning autovacuum thresholds daily"),
        finding("near-1", 2, "postgres vacuum bloat tuning autovacuum thresholds nightly"),
        finding("near-2", 1, "postgres replica lag monitoring slots daily"),
        finding("near-2", 2, "postgres replica lag monitoring slots nightly"),
    ]
    before = plan([*findings, *near[:2]])
    assert len(before) == 20
    after = homes(
        plan(
            [*findings, *near],
            [*known(before), KnownTheme(name="lag", findings=("finding/near-2#1", "finding/near-2#2"))],
        )
    )
    assert after["finding/near-1#1"] == after["finding/near-2#1"]
    assert len(set(after.values())) == 20


def test_two_names_that_people_gave_are_never_merged() -> None:
    findings = subjects(21, 2)
    first = [
        KnownTheme(
            name=f"name-{n}",
            named_by="human" if n < 2 else "machine",
            findings=tuple(f"finding/wu-{n}-{k}#1" for k in (0, 1)),
        )
        for n in range(21)
    ]
    names = {made.theme.name for made in plan(findings, first)}
    assert {"name-0", "name-1"} <= names
    assert len(names) == 20


def test_a_theme_over_its_budget_splits_while_there_is_room() -> None:
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"

    def details() -> str:
        return " ".join("".join(chance.choices(letters, k=8)) for _ in range(10))

    topics = ("cache eviction memory limit runner", "login token refresh upload tab")
    findings = [finding(f"wu-{n}", 1, f"{topics[n % 2]} {details()}") for n in range(40)]
    planned = plan(findings)
    assert 2 < len(planned) <= 20
    assert all(
        len({topics[int(id.split("-")[1].split("#")[0]) % 2] for id in one.theme.findings}) == 1 for one in planned
    )
    assert all(tokens(render_theme(made.text)) <= 300 for made in planned)
    assert all(not made.theme.left_out for made in planned)
    assert set(homes(planned)) == {item.id for item in findings}


def test_with_no_room_left_the_least_supported_are_left_out_and_recorded() -> None:
    findings = subjects(19, 1) + [
        finding(f"big-{n}", 1, f"cache eviction memory limit number {n} " + f"w{n}a w{n}b w{n}c " * 6)
        for n in range(30)
    ]
    planned = plan(findings)
    big = max(planned, key=lambda made: len(made.theme.findings))
    assert tokens(render_theme(big.text)) <= 300
    assert big.theme.left_out
    assert set(big.theme.left_out) < set(big.theme.findings)


def test_what_several_work_units_say_is_one_line_with_its_count() -> None:
    repeated = [finding(f"wu-{n}", 1, "The cache key must hold the lockfile hash") for n in range(3)]
    lines = theme_lines([*repeated, finding("wu-7", 1, "Cold caches double pipeline time")])
    assert lines[0].text == "The cache key must hold the lockfile hash (3 work units)"
    assert len(lines) == 2


def test_a_rule_stands_beside_what_led_to_it() -> None:
    (line,) = theme_lines([finding("wu-1", 1, "Cold caches double time", proposed_rule="Warm the cache on deploy.")])
    assert line.text == "Cold caches double time. Rule: Warm the cache on deploy."


def test_another_programs_theme_keeps_its_name_its_lines_and_its_units() -> None:
    foreign = KnownTheme(
        name="caching", inherited=("Cache keys need the lockfile of the build",), inherited_units=("old-1",)
    )
    planned = {made.theme.name: made for made in plan(some(), [foreign])}
    assert "Cache keys need the lockfile of the build" in [line.text for line in planned["caching"].text.lines]
    assert planned["caching"].theme.work_ids == ("old-1", "wu-0", "wu-1", "wu-2")
    assert planned["caching"].theme.summary == "Cache keys need the lockfile of the build"


def test_adding_one_file_moves_almost_nothing() -> None:
    chance = random.Random(5)
    words = [f"word{n}" for n in range(60)]
    findings = [
        finding(f"wu-{n // 4}", n % 4 + 1, " ".join(chance.sample(words[(n % 25) * 2 : (n % 25) * 2 + 10], 6)))
        for n in range(200)
    ]
    first = plan(findings[:-4])
    second = homes(plan(findings, known(first)))
    kept = sum(second[item] == name for item, name in homes(first).items())
    assert kept >= 0.95 * len(homes(first))
