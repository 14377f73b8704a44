"""JSON read without `json` says what `json` says."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.records import loads

PLAIN = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text()
VALUES = st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_what_was_written_is_read(value: object, ascii_only: bool, indent: int | None) -> None:
    assert loads(json.dumps(value, ensure_ascii=ascii_only, indent=indent)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        " ",
        "{",
        "[1,]",
        "[1] [2]",
        "[1] ",
        "nothing",
        '"a',
        '{"a"}',
        "\ufeff[1]",
        '"\n"',
        "[" * 50_000 + "]" * 50_000,
    ],
)
def test_what_is_not_json_alone_is_refused(text: str) -> None:
    with pytest.raises(ValueError):
        loads(text)
