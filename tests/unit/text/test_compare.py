"""Rules and claims on pairs whose answer is known; benchmarks/detectors.py gives figures over many."""

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.text.claims import claims, is_sentence, statements, without_claim
from recollect.text.compare import Chances, Comparison, compare

DATA = Path(__file__).parents[2] / "data"
PAIRS = [json.loads(line) for line in (DATA / "detector_pairs.jsonl").read_text().splitlines()]


def compared(one: str, other: str) -> Comparison:
    return compare((one,), (other,))


@pytest.mark.parametrize(
    ("one", "other", "reason"),
    [
        ("Commit generated files", "Never commit generated files", "negation"),
        ("Enable compression on the proxy", "Disable compression on the proxy", "antonym"),
        ("The migration is reversible", "The migration is irreversible", "antonym"),
        ("Timeout is 30s", "The timeout is 1 minute", "quantity"),
        ("Prefer tabs over spaces", "Prefer spaces over tabs", "order"),
        ("Run migrations before deploying", "Deploy before running migrations", "order"),
        ("Feature flags default to on", "Feature flags default to off", "antonym"),
        ("Interns may approve changes", "Interns cannot approve changes", "negation"),
        ("Event handlers are blocking", "Event handlers are non-blocking", "negation"),
    ],
)
def test_one_sign_between_the_same_words_is_a_contradiction_and_is_named(one: str, other: str, reason: str) -> None:
    for found in (compared(one, other), compared(other, one)):
        assert (found.kind, found.sure, found.reason) == ("opposite", True, reason)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Raw logs must never be deleted", "Don't delete raw logs"),
        ("Prefer pathlib over os.path", "Use pathlib instead of os.path"),
        ("The cache TTL is 60s", "Cache TTL is 1 minute"),
        ("In production, debug logging is disabled", "Debug logging must be disabled in production"),
        ("No emoji", "Emoji are not used"),
    ],
)
def test_the_same_words_in_the_same_roles_are_a_repetition(one: str, other: str) -> None:
    assert compared(one, other).repeats
    assert compared(other, one).repeats


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Store images in the bucket", "Store metadata in the bucket"),
        ("The frontend imports the backend", "The backend imports the frontend"),
        ("The client trusts the server", "The client is trusted by the server"),
        (
            "Labels come from the content team, developers must not invent them",
            "Labels come from the developers, the content team must not invent them",
        ),
        ("Retry requests", "Retry requests 3 times"),
        ("The API limits requests", "The admin API limits requests"),
        ("Write contract tests", "Write contract tests before the implementation"),
        ("Node 16 is supported", "Support for Node 16 has ended"),
        ("The importer is maintained", "The importer was retired"),
        ("Migrate the billing tables in phase 1", "Migrate the billing tables in phase 2"),
        ("Do not use tabs; use spaces", "Do use tabs; do not use spaces"),
        ("Nodes may go, so jobs are safe", "Nodes may not go, so jobs are not safe"),
        ("Bins go out on Tuesday, paper on Friday", "Bins go out on Friday, paper on Tuesday"),
    ],
)
def test_one_word_that_matters_makes_it_no_repetition(one: str, other: str) -> None:
    assert not compared(one, other).repeats
    assert not compared(other, one).repeats


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Log all incoming requests", "Don't log health check requests"),
        ("Debug logging is enabled in development", "Debug logging is disabled in production"),
        ("The API allows 100 requests per minute", "The admin API allows 1000 requests per minute"),
        ("Retry failed requests three times", "Do not retry requests that failed with a 400"),
        ("Migrate the billing tables in phase 1", "Migrate the billing tables in phase 2"),
        ("The v1 endpoint returns XML", "The v2 endpoint returns XML"),
    ],
)
def test_an_exception_or_another_scope_is_no_certain_contradiction(one: str, other: str) -> None:
    assert not (compared(one, other).conflicts and compared(one, other).sure)


def test_one_conflicting_sentence_keeps_two_long_texts_from_being_merged() -> None:
    shared = "Pool connections per worker. Recycle idle connections after an hour. Log each checkout. "
    found = compared(shared + "Close the pool on shutdown.", shared + "Never close the pool on shutdown.")
    assert (found.kind, found.sure) == ("opposite", True)


def test_a_change_that_the_newer_text_announces_replaces_the_older_one() -> None:
    found = compared("As of May the timeout is 60 s", "The timeout is 30 s")
    assert (found.kind, found.reason) == ("opposite", "quantity") or found.kind == "newer"
    assert compared("Now retry 5 times", "Retry 3 times").kind == "newer"
    assert compared("Retry 5 times", "Now retry 3 times").kind == "opposite"


def test_no_labelled_opposites_are_ever_called_a_repetition() -> None:
    opposites = [pair for pair in PAIRS if pair["label"] == "contradiction"]
    assert len(opposites) >= 200
    assert [pair for pair in opposites if compared(pair["a"], pair["b"]).repeats] == []


@given(st.text(max_size=200), st.text(max_size=200))
@example("B", "0\nB")
def test_any_two_texts_are_compared_without_an_error_and_conflict_either_way_round(one: str, other: str) -> None:
    there, back = compared(one, other), compared(other, one)
    assert there.conflicts == back.conflicts
    if (there.kind == "same") == (back.kind == "same"):
        assert (there.sure, there.score) == (back.sure, back.score)
    else:  # who says less only repeats; who says more does not
        repeats, says_more = (one, other) if there.kind == "same" else (other, one)
        said = {each.words for each in statements(repeats)}
        assert any(each.words not in said for each in statements(says_more))


@given(st.text(max_size=200))
def test_a_text_repeats_itself(text: str) -> None:
    assert compared(text, text).repeats


def test_importing_the_detectors_reads_no_data_and_loads_no_model() -> None:
    code = (
        "import sys; from recollect.text import claims, compare;"
        "assert not {'re2', 'numpy', 'onnxruntime'} & set(sys.modules);"
        "assert claims.opposites.cache_info().currsize == 0"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_text_that_says_all_of_another_and_more_does_not_contradict_it_and_no_judge_is_asked() -> None:
    known = "Commit all generated files."
    judge = judge_saying(0.01, 0.97, 0.01, 0.01)
    assert compare((f"{known} The reports go with them.",), (known,), judge).kind == "near"
    assert judge.asked == []
    assert compare((f"{known} This is now left to the caller.",), (known,), judge).conflicts


# Claims


@pytest.mark.parametrize(
    ("heading", "sentence"),
    [
        ("Testing", False),
        ("Retries", False),
        ("When retrying failed jobs", False),
        ("Flaky tests", False),
        ("How to release?", False),
        ("Never mock the database in tests", True),
        ("Foreign keys must have an index", True),
        ("Node 16 is supported", True),
    ],
)
def test_a_bare_topic_claims_nothing(heading: str, sentence: bool) -> None:
    assert is_sentence(heading) == sentence
    assert claims(heading) == ((heading,) if sentence else ())


def test_a_short_entry_is_one_claim_under_its_heading() -> None:
    assert claims("When retrying jobs", "At most 3 times.\nThen give up.") == (
        "## When retrying jobs\nAt most 3 times. Then give up.",
    )


def test_each_bullet_of_a_short_entry_is_a_claim_with_the_line_that_introduces_it() -> None:
    steps, never = "- Sign tags.\n1. Bump the version\n   first.", "Never:\n\n- push on Friday\n- skip review"
    body = f"{steps}\n\n{never}\n\nIt saves time.\nReally."
    assert [claim.removeprefix("## Releases\n") for claim in claims("Releases", body)] == [
        "Sign tags.",
        "Bump the version first.",
        "Never: push on Friday",
        "Never: skip review",
        "It saves time. Really.",
    ]


def test_an_unrelated_bullet_beside_a_rule_hides_neither_a_conflict_nor_a_repetition() -> None:
    known = claims("Jobs", "- Retry at most 3 times.\n- Log every failure with its job id.")
    assert compare(claims("Jobs", "Retry at most 5 times."), known).conflicts
    assert compare(claims("Jobs", "Retry at most 3 times."), known).repeats
    more = claims("Jobs", "- Retry at most 3 times.\n- Alert after the last one.")
    assert not compare(more, known).repeats


def test_two_texts_with_the_same_numbered_bullets_contradict_each_other_in_nothing() -> None:
    points = "\n".join(f"- point {number}" for number in range(4))
    assert not compare(claims("Keep boats apart", f"Because.\n{points}"), claims("Keep apples apart", points)).conflicts


def test_a_long_section_has_a_claim_for_each_paragraph_and_bullet_without_code_and_quotes() -> None:
    rule = "Keep the queue short, because consumers that fall behind read from disk and slow everybody else down."
    body = f"{rule}\n\n- {rule}\n- {rule}\n\n```\ncode\n```\n> quoted\n\n{rule} {rule}"
    found = claims("Queues", body)
    assert found == tuple(f"## Queues\n{said}" for said in (rule, rule, rule, f"{rule} {rule}"))


def test_the_rule_in_the_body_is_compared_and_not_the_heading_above_it() -> None:
    three, five = claims("When retrying", "Retry at most 3 times."), claims("When retrying", "Retry at most 5 times.")
    found = compare(five, three)
    assert (found.kind, found.sure, found.sides[1]) == ("opposite", True, "Retry at most 3 times.")


@pytest.mark.parametrize(
    ("one", "other", "sides"),
    [
        ("Always sign tags\n- Use webhooks.\n- Never poll", "Jobs\n- Poll\n- Log", ("Never poll", "Poll")),
        ("Never sign tags\nIt is slow.", "Releases\n- Sign tags\n- Log", ("Never sign tags", "Sign tags")),
        ("Never sign the tags\nIt is slow.", "Sign the tags\nIt is safe.", ("Never sign the tags", "Sign the tags")),
        ("Never log keys\nIt leaks.", "Never log keys\nIt leaks.", ("Never log keys — It leaks.",) * 2),
    ],
    ids=["bullets under a heading", "a heading and a bullet", "two headings", "no clash"],
)
def test_of_what_clashes_the_clashing_words_are_shown(one: str, other: str, sides: tuple[str, str]) -> None:
    (heading, _, body), (known, _, rest) = one.partition("\n"), other.partition("\n")
    assert compare(claims(heading, body), claims(known, rest)).sides == sides


@given(st.lists(st.sampled_from(["- Sign tags", "1. Log\n   keys.", "Poll the\nqueue.", "```\ncode\n```"]), min_size=2))
def test_a_body_without_a_claim_says_what_its_other_claims_say(parts: list[str]) -> None:
    body = "\n\n".join(parts)
    for claim in claims("Rules", body):
        words = claim.partition("\n")[2].split("\n")
        left = [part for part in parts if " ".join(part.split()).lstrip("-1. ") not in words]
        assert claims("", without_claim(body, claim)) == claims("", "\n\n".join(left))


# The judge


def judge_saying(*chances: float, closeness: float = 0.8) -> "Judged":
    return Judged(chances, closeness)


class Judged:
    """A judge that gives one answer, and notes what it was asked."""

    def __init__(self, chances: Sequence[float], closeness: float) -> None:
        self.chances = chances
        self.closeness = closeness
        self.asked: list[tuple[str, str]] = []

    def __call__(self, pairs: Sequence[tuple[str, str]]) -> list[Chances]:
        self.asked += pairs
        same, opposed, newer, near = self.chances
        return [(same, opposed, newer, near, self.closeness)] * len(pairs)


FREE = ("Squash before merging", "A branch lands as a single change")


@pytest.mark.parametrize(
    ("chances", "kind", "sure"),
    [
        ((0.97, 0.01, 0.01, 0.01), "same", True),
        ((0.6, 0.1, 0.1, 0.2), "same", False),
        ((0.01, 0.5, 0.47, 0.02), "opposite", True),
        ((0.03, 0.52, 0.3, 0.15), "opposite", False),
        ((0.01, 0.1, 0.87, 0.02), "newer", True),
        ((0.03, 0.3, 0.52, 0.15), "newer", False),
        ((0.3, 0.3, 0.1, 0.3), "near", False),
    ],
)
def test_the_judge_decides_what_rules_cannot(chances: tuple[float, ...], kind: str, sure: bool) -> None:
    found = compare(FREE[:1], FREE[1:], judge_saying(*chances))
    assert (found.kind, found.sure) == (kind, sure)


@pytest.mark.parametrize(
    ("closeness", "kind", "sure"),
    [(0.39, "near", False), (0.4, "newer", False), (0.49, "newer", False), (0.5, "newer", True)],
)
def test_a_change_between_texts_about_two_subjects_is_never_acted_on(closeness: float, kind: str, sure: bool) -> None:
    found = compare(FREE[:1], FREE[1:], judge_saying(0.01, 0.1, 0.87, 0.02, closeness=closeness))
    assert (found.kind, found.sure) == (kind, sure)


def test_a_judge_merges_only_other_words_about_one_subject_against_no_rule() -> None:
    judge = judge_saying(0.99, 0.0, 0.0, 0.01)
    assert compare(("Retry 3 times",), ("Retry 5 times",), judge).conflicts
    assert compare(FREE[:1], FREE[1:], judge).repeats
    assert not compare(FREE[:1], FREE[1:], judge_saying(0.99, 0.0, 0.0, 0.01, closeness=0.45)).repeats
    swapped = ("Use merge commits here; squashing is disabled", "Use squashing here; merge commits is disabled")
    assert not compare(swapped[:1], swapped[1:], judge).repeats
    assert compare(FREE[:1], FREE[:1], judge).repeats
    assert len(judge.asked) == 3
    assert compare(("Retry 3 times",), ("Retry 5 times",), judge_saying(0.01, 0.97, 0.01, 0.01)).sure


def test_a_text_is_a_repetition_only_if_every_claim_of_it_is_repeated() -> None:
    assert compare(("Squash before merging",), ("Squash before merging", "Sign commits")).repeats
    assert not compare(("Squash before merging", "Sign commits"), ("Squash before merging",)).repeats


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Use tabs", "Use spaces"),
        ("When deploying staging", "When deploying production"),
        ("猫食必须每天更换", "家里有一只黑猫"),
    ],
)
def test_the_same_advice_under_another_heading_is_no_repetition(one: str, other: str) -> None:
    body = "Restart the workers.\n\nCheck the queue first."
    assert not compare(claims(one, body), claims(other, body)).repeats
    assert compare(claims(one, body), claims(one, body)).repeats


def test_evidence_and_what_not_to_do_contradict_nothing_and_must_still_be_repeated() -> None:
    known = ("## Retries\n- Always retry failed jobs.",)
    aside = "## Retries\n- Anti-pattern: never retry failed jobs."
    rule = "## Retries\n- Always retry failed jobs."
    assert not compare((rule, aside), known).conflicts
    assert not compare((rule, aside), known).repeats
    dated = "## Retries\n**Decision Date:** 2026-02-18, never retry failed jobs"
    assert not compare((rule,), (*known, dated)).conflicts
    assert compare(("## Retries\n- Never retry failed jobs.", "## Retries\n- Evidence: one outage."), known).conflicts
