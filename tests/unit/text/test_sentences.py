import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.frame import one_line
from recollect.text.sentences import clip, first_sentence, sentences, split_sentences


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Use v1.2.3 of apsw. It is fixed.", "Use v1.2.3 of apsw."),
        ("Edit settings.py first. Then run.", "Edit settings.py first."),
        ("Use a cache, e.g. Redis. Not two.", "Use a cache, e.g. Redis."),
        ("Really? Yes.", "Really?"),
        ("no capital. here", "no capital. here"),
        ("First point\n\nSecond point", "First point"),
        ("缓存键必须包含哈希。然后运行。", "缓存键必须包含哈希。"),
        ("Ключ кеша содержит хеш. Потом запуск.", "Ключ кеша содержит хеш."),
        ("Klucz ma skrót. Świat nie.", "Klucz ma skrót."),
        ("مفتاح التخزين يحوي التجزئة. ثم شغّل.", "مفتاح التخزين يحوي التجزئة."),
        ("हमेशा परीक्षण चलाएँ। फिर भेजें।", "हमेशा परीक्षण चलाएँ।"),
        ("", ""),
    ],
)
def test_a_sentence_ends_where_a_reader_would_end_it(text: str, first: str) -> None:
    assert first_sentence(text, 20) == first


def test_clip_keeps_whole_sentences_while_they_fit() -> None:
    text = "One two three. Four five six. Seven eight nine."
    assert clip(text, 9) == text
    assert clip(text, 6) == "One two three. Four five six. …"
    assert clip(text, 2) == "One two …"


def test_a_word_of_a_megabyte_is_cut() -> None:
    assert len(clip("A" * 1_000_000, 40)) <= 480


@given(st.text(alphabet="ab .!?\nA", max_size=60))
def test_sentences_lose_no_word(text: str) -> None:
    assert " ".join(sentences(text)).split() == one_line(text).split()


@given(st.text(alphabet='ab .!?`"A。)(', max_size=60), st.booleans())
def test_the_sentences_of_a_line_joined_are_the_line_again(line: str, lower_case: bool) -> None:
    assert "".join(split_sentences(line, lower_case=lower_case)).rstrip() == line.rstrip()


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("it broke. fix it", ["it broke. ", "fix it"]),
        ("Run `a. b` twice. Then stop.", ["Run `a. b` twice. ", "Then stop."]),
        ("One stray ` tick. Then more.", ["One stray ` tick. ", "Then more."]),
        ("Lists with IN (...) broke.", ["Lists with IN (...) broke."]),
    ],
)
def test_code_and_ellipses_do_not_end_a_sentence(line: str, expected: list[str]) -> None:
    assert split_sentences(line, lower_case=True) == expected
