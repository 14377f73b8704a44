"""What may be asked for a task: a request that cannot be used is refused before a store is touched."""

from __future__ import annotations

from typing import Any

import pytest

from recollect import BadInput
from recollect.core.records import as_record
from recollect.inject.learnings import NewInjection

ASKED = {"task": "task-1", "outcome": "billing", "title": "Stripe webhooks out of order"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"task": ""},
        {"task": "a\nb"},
        {"outcome": "  "},
        {"task": "x" * 201},
        {"title": " "},
        {"max_learnings": 0},
        {"max_learnings": 51},
        {"max_learnings": 2.5},
        {"max_learnings": "3"},
        {"min_confidence": float("nan")},
        {"min_confidence": 1.001},
        {"min_confidence": "0.9"},
        {"budget": 0},
        {"budget": -1},
        {"budget": "many"},
        {"title": None},
        {"learnings": "learn_000001"},
        {"known": "learn_000001"},
        {"colour": "red"},
    ],
    ids=str,
)
def test_a_request_that_cannot_be_used_is_refused(wrong: dict[str, Any]) -> None:
    assert as_record(None, NewInjection, ASKED).task == "task-1"
    with pytest.raises(BadInput):
        as_record(None, NewInjection, {**ASKED, **wrong})
