"""Which pieces of a text get a vector."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.sentences import MOST, PARTS, TITLE, WHOLE, WINDOW, pieces

LONG = " ".join(f"word{n}" for n in range(400))


@pytest.mark.parametrize(
    ("title", "who", "prefix"),
    [
        ("", "Ada", "Ada: "),
        ("", "assistant", ""),
        ("User", "", ""),
        ("refunds", "Ada", "Ada: "),
        ("refunds", "user", "refunds: "),
        ("Webhooks arrive unordered", "Ada", "Webhooks arrive unordered: "),
        ("", "", ""),
    ],
)
def test_a_name_or_a_title_stands_in_front(title: str, who: str, prefix: str) -> None:
    assert pieces(title=title, who=who, text="It works.")[0] == (WHOLE, f"{prefix}It works.")


def test_a_title_stands_alone_only_when_it_says_something() -> None:
    assert (TITLE, "Webhooks arrive unordered") in pieces(title="Webhooks arrive unordered", who="", text="x")
    assert [number for number, _ in pieces(title="Two words", who="", text="x")] == [WHOLE]


def test_a_short_text_has_its_sentences_glued_until_they_say_something() -> None:
    text = (
        "Yes. We moved the refund webhook to the queue. It retries twice.\nThe cache keeps invoices for one whole hour."
    )
    assert pieces(title="", who="Ada", text=text)[1:] == [
        (PARTS, "Ada: Yes. We moved the refund webhook to the queue."),
        (PARTS + 1, "Ada: It retries twice. The cache keeps invoices for one whole hour."),
    ]


def test_a_single_sentence_is_its_whole() -> None:
    assert len(pieces(title="", who="", text="We moved the refund webhook to the queue today.")) == 1


def test_a_long_text_has_windows_to_its_last_word() -> None:
    parts = [text for number, text in pieces(title="", who="", text=LONG) if number >= PARTS]
    assert all(len(part.split()) == WINDOW for part in parts)
    assert parts[-1].endswith("word399")
    assert parts[0].startswith("word150 ")


def test_the_first_line_of_a_long_text_has_a_vector_of_its_own() -> None:
    asked = "User: how much coffee may I drink in the morning now?"
    assert (PARTS, asked) in pieces(title="", who="", text=f"{asked}\nAssistant: {LONG}")


@given(
    title=st.text(max_size=60),
    who=st.text(max_size=20),
    text=st.lists(st.text(alphabet="abc .!?\n", max_size=300), max_size=30).map(" ".join),
)
def test_pieces_are_few_numbered_and_made_of_the_texts_words(title: str, who: str, text: str) -> None:
    found = pieces(title=title, who=who, text=text)
    numbers = [number for number, _ in found]
    assert numbers[0] == WHOLE
    assert numbers == sorted(set(numbers))
    assert len([number for number in numbers if number >= PARTS]) <= MOST
    allowed = set(f"{title}: {who}: {text} {title} {who}".split())
    assert all(word in allowed for number, piece in found for word in piece.split()[:-1] if number >= PARTS)
