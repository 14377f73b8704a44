"""What may be captured as a learning: everything else is refused before a store is touched."""

from __future__ import annotations

from typing import Any

import pytest

from recollect import BadInput, NewLearning
from recollect.core.records import as_record
from samples import WEBHOOKS

FIELDS = ("title", "context", "observation", "implication", "action")


@pytest.mark.parametrize(
    "wrong",
    [
        {"title": "t" * 101},
        *({field: ""} for field in FIELDS),
        *({field: " \n\t"} for field in FIELDS),
        {"context": "\x00\x00"},
        {"title": "\x00"},
        *({field: "x" * 10_001} for field in FIELDS),
        *({field: 5} for field in FIELDS),
        {"action": None},
        {"action": ["a", "list"]},
        {"tags": "stripe"},
        {"tags": '["stripe"]'},
        {"tags": {"stripe": 1}},
        {"tags": 5},
        {"tags": None},
        {"tags": ("fine", 5)},
        {"tags": ("fine", "")},
        {"tags": ("fine", "  ")},
        *({name: "\u200b\u2060 \x00\ufeff"} for name in FIELDS),
        {"tags": ("two\nlines",)},
        {"tags": ("nul\x00",)},
        {"tags": ("\ud800",)},
        {"tags": ("t" * 51,)},
        {"tags": tuple(f"t{number}" for number in range(21))},
        {"tags": tuple(f"t{number}" for number in range(10_000))},
        {"confidence": float("nan")},
        {"confidence": float("1e999")},
        {"confidence": float("-inf")},
        {"confidence": -1},
        {"confidence": -0.001},
        {"confidence": 1.001},
        {"confidence": 10**400},
        {"confidence": "0.9"},
        {"confidence": True},
        {"confidence": [0.9]},
        {"domain": ""},
        {"domain": " "},
        {"domain": "d" * 51},
        {"domain": 5},
        {"domain": "two\nlines"},
        {"domain": "nul\x00"},
        {"domain": "\ud800"},
        {"pattern_type": "hunch"},
        {"pattern_type": None},
        {"source_outcome_id": ""},
        {"source_task_id": "two\nlines"},
        {"source_task_id": "x" * 201},
        {"source_task_id": 5},
        {"unheard_of": "field"},
    ],
    ids=lambda wrong: ascii(wrong)[:50],
)
def test_what_no_learning_may_hold_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput) as refusal:
        as_record(None, NewLearning, {**WEBHOOKS, **wrong})
    assert len(str(refusal.value)) > 15, "a refusal says what to do"


@pytest.mark.parametrize("missing", FIELDS)
def test_every_field_is_needed(missing: str) -> None:
    with pytest.raises(BadInput, match=missing):
        as_record(None, NewLearning, {name: value for name, value in WEBHOOKS.items() if name != missing})


def test_the_longest_tag_and_domain_are_taken() -> None:
    longest = "t" * 50
    made = NewLearning(**{**WEBHOOKS, "tags": (longest,), "domain": longest})
    assert (made.tags, made.domain) == ((longest,), longest)
