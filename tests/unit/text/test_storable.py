"""A text that passes without redaction is one that redaction would not have touched."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.redact import redact
from recollect.text.storable import plain, storable
from unit.text.test_redact import EXAMPLES


@pytest.mark.parametrize("text", [text for _, text, _ in EXAMPLES], ids=range(len(EXAMPLES)))
def test_no_known_secret_passes_as_plain(text: str) -> None:
    assert not plain(text)
    assert storable(text) == redact(text).text


@pytest.mark.parametrize("text", ["", "Handle Stripe webhooks", "Fix the login page (again), v2.1 of C#", "a/b.py"])
def test_everyday_titles_pass(text: str) -> None:
    assert plain(text)
    assert storable(text) == text


@pytest.mark.parametrize(
    "text", ["<private>x</private>", "my password is hunter2hunter2", "a=b", "x" * 16, "mail me@example.org", "é"]
)
def test_anything_else_is_looked_at(text: str) -> None:
    assert not plain(text)


@given(st.text("aB3./#'(),  ", max_size=60))
def test_plain_is_never_wrong(text: str) -> None:
    if plain(text):
        assert redact(text).text == text


def test_characters_that_no_store_takes_are_gone_first() -> None:
    assert storable("a\x00b \ud800") == "ab ?"
