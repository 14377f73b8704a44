"""The gate for captured learnings on 109 labelled ones: no good one refused, most of the others caught."""

import json
from pathlib import Path

import pytest

from recollect.text.quality import WEIGHED, learning_refusal

EXAMPLES = [
    json.loads(line) for line in (Path(__file__).parents[2] / "data/learning_quality.jsonl").read_text().splitlines()
]


def flaw(example: dict[str, str]) -> str:
    refusal = learning_refusal(**{name: example[name] for name in WEIGHED})
    return refusal.flaw if refusal else "good"


def test_no_good_learning_is_refused() -> None:
    good = [example for example in EXAMPLES if example["label"] == "good"]
    assert len(good) == 56
    assert [example["title"] for example in good if flaw(example) != "good"] == []


def test_nine_of_ten_learnings_that_teach_nothing_are_refused() -> None:
    bad = [example for example in EXAMPLES if example["label"] != "good"]
    passed = [example["title"] for example in bad if flaw(example) == "good"]
    assert len(bad) == 53
    assert len(passed) <= 5, passed


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        (("x", "x", "x", "x"), "placeholder"),
        (("Retry queue", "Messages are retried for ever", "n/a", "TBD"), "placeholder"),
        (("Pin the image", "Pin the image", "pin the image.", "Pin the image!"), "repeated"),
        (("Be careful", "Things can go wrong", "It is important", "Be careful"), "vague"),
        (("Finished the feature", "All tests pass", "The work is done", "Merged and deployed"), "status"),
        (("The server crashed last night", "The disk was full", "Checkout was down", "Restarted it"), "incident"),
        (("The server crashed last night", "The disk was full", "Logs fill it", "Rotate the logs daily"), "good"),
        (("The pool must have a limit", "Connections ran out", "", ""), "good"),
        (("Fixed seeds hide flaky tests", "Fixed seeds hide flaky tests", "", ""), "good"),
        (("Generated Go clients drop null fields", "Null becomes zero", "", ""), "good"),
        (("Batched inserts of 500 rows are ten times faster than single ones", "So it is", "", ""), "good"),
        (("Broke the build with a bad merge", "The build was red", "", ""), "status"),
        (("The build failed twice", "The build failed twice", "", ""), "status"),
        (("Added tests covering null fields", "Added tests covering null fields", "", ""), "status"),
        (("Added checks for rows that are null", "Added checks for rows that are null", "", ""), "status"),
        (("Fixed bugs reported by users", "Fixed bugs reported by users", "", ""), "status"),
        (("Fixed the tests everybody skipped", "Fixed the tests everybody skipped", "", ""), "status"),
    ],
)
def test_a_refusal_names_the_flaw(fields: tuple[str, ...], found: str) -> None:
    assert flaw(dict(zip(WEIGHED, fields, strict=True))) == found
