"""Numbers with their noun."""

from __future__ import annotations

import pytest

from recollect.text.sentences import counted, named


@pytest.mark.parametrize(
    ("count", "noun", "said"),
    [
        (0, "node", "0 nodes"),
        (1, "entry", "1 entry"),
        (2, "entry", "2 entries"),
        (2, "day", "2 days"),
        (1200, "row", "1,200 rows"),
    ],
)
def test_a_noun_agrees_with_its_number(count: int, noun: str, said: str) -> None:
    assert counted(count, noun) == said


def test_of_many_names_the_first_ten_are_listed() -> None:
    assert named(["a", "b"]) == "2 (a, b)"
    assert named([]) == "0"
    assert named([str(n) for n in range(12)]).endswith("8, 9 and 2 more)")
