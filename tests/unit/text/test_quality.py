"""The quality gate on 120 labelled titles; it must be right about most and refuse hardly any good one."""

import json
from pathlib import Path

import pytest

from recollect.text.quality import check

EXAMPLES = [
    json.loads(line) for line in (Path(__file__).parents[2] / "data/staged_quality.jsonl").read_text().splitlines()
]


def flaw(example: dict[str, str]) -> str:
    return check(example["title"], example["body"]).flaw or "good"


def test_the_gate_agrees_with_nine_of_ten_labels() -> None:
    assert len(EXAMPLES) == 120
    wrong = [(example["title"], flaw(example)) for example in EXAMPLES if flaw(example) != example["label"]]
    assert len(wrong) <= 12, wrong


def test_the_gate_refuses_hardly_any_good_rule() -> None:
    good = [example for example in EXAMPLES if example["label"] == "good"]
    refused = [example["title"] for example in good if flaw(example) != "good"]
    assert len(refused) <= 1, refused


@pytest.mark.parametrize(
    ("title", "found"),
    [
        ("Edited skill without loading it", "incident"),
        ("Always load skill context before editing", "good"),
        ("Generated files must never be edited", "good"),
        ("Mutable defaults are shared between calls", "good"),
        ("Firewall rules should deny by default", "good"),
        ("Every rule must have an example", "meta"),
        ("Be careful", "vague"),
    ],
)
def test_a_refusal_names_the_flaw(title: str, found: str) -> None:
    assert (check(title).flaw or "good") == found


def test_a_refusal_says_why_and_how_to_rephrase() -> None:
    refused = check("Edited skill without loading it")
    assert "what happened once" in refused.why
    assert "Always load" in refused.rephrase
    assert not refused.passes


def test_a_body_can_carry_the_rule_that_a_short_title_lacks() -> None:
    assert check("Caching").flaw == "vague"
    assert check("Caching", "Serve stale responses while the origin is down.").passes
