"""What a text is searched by, and what it costs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.sentences import snippet
from recollect.text.tokens import STOP_WORDS, plain_words, stem, terms, tokens, written


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("the of and", []),
        ("!!! ??? ...", []),
        ("Go UI DB", ["go", "ui", "db"]),
        ("C# and C++ and C", ["c#", "c++", "c"]),
        ("F#minor", ["f", "minor"]),
        (".NET and Node.js", [".net", "node", "js"]),
        ("retryWithBackoff", ["retrywithbackoff", "retri", "backoff"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("snake_case_name", ["snake_case_name", "snake", "case", "name"]),
        ("src/billing/webhooks.py", ["src", "bill", "webhook", "py"]),
        ("v2.10.3", ["2.10.3"]),
        ("2.10.3", ["2.10.3"]),
        ("webhook webhooks", ["webhook", "webhook"]),
        ("Café CAFÉ", ["cafe", "cafe"]),
        ("ＦＵＬＬ width", ["full", "width"]),
        ("データベース", ["データ"[:2], "ータ", "タベ", "ベー", "ース"]),
        ("漢", ["漢"]),
        ("漢字Go", ["漢字", "go"]),
        ("豈", ["豈"[:1]]),
        ("LEARNING_HELPFUL", ["learning_helpful", "learn", "help"]),
        ("x" * 100, ["x" * 64]),
        ("ASE as add-ons on", ["as", "add", "on"]),  # a word whose stem is a stop word is none
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_terms_are_what_programmers_search_for(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


# Indexes on disk hold these stems: a stemmer that makes others would need a new index.
STEMS = """
caresses caress | ponies poni | ties ti | cats cat | feed feed | agreed agre | plastered plaster | motoring motor
conflated conflat | troubled troubl | sized size | hopping hop | falling fall | hissing hiss | fizzed fizz | filing file
happy happi | sky sky | relational relat | conditional condit | digitizer digit | conformabli conform | radically radic
vietnamization vietnam | predication predic | operator oper | feudalism feudal | decisiveness decis | formality formal
sensitivity sensit | triplicate triplic | formative form | electrical electr | hopeful hope | goodness good
revival reviv | allowance allow | inference infer | airliner airlin | adjustable adjust | defensible defens
irritant irrit | replacement replac | adjustment adjust | dependent depend | adoption adopt | communism commun
activate activ | homologous homolog | effective effect | bowdlerize bowdler | probate probat | rate rate | cease ceas
controlling control | rolling roll | migrations migrat | retries retri | caching cach | indices indic
databases databas | yields yield | syzygy syzygi | js js | is is | s s | ay ay | a1s a1s | naïves naïves
"""


@pytest.mark.parametrize("pair", STEMS.replace("\n", "|").strip("|").split("|"), ids=str.strip)
def test_words_keep_the_stems_that_are_indexed(pair: str) -> None:
    word, expected = pair.split()
    assert stem(word) == expected


@pytest.mark.parametrize("text", ["\ud800", "a\udfffb", "\ue000", "\x00", "\uf8ff"], ids=ascii)
def test_what_is_no_character_is_no_term(text: str) -> None:
    assert all(term.isascii() and term.isalpha() for term in terms(text))


def test_words_as_written_are_whole_addresses_paths_flags_calls_and_numbers() -> None:
    said = "Don't `push --force` src/auth/token.py; see https://x.example/a?b=1, init() of 1,204 (v2.3.1) in C#."
    words = ["Don't", "push", "--force", "src/auth/token.py", "see", "https://x.example/a?b=1", "init()", "of", "1,204"]
    assert written(said) == [*words, "v2.3.1", "in", "C#"]
    assert [mark for mark in written(said, marks=True) if not any(map(str.isalnum, mark))] == list("``;,().")


def test_plain_words_begin_with_a_letter() -> None:
    assert plain_words("Don't use BM25 at src/auth.py 3.5 times") == [
        "Don't",
        "use",
        "BM25",
        "at",
        "src",
        "auth",
        "py",
        "times",
    ]


def test_no_stop_word_is_a_term() -> None:
    assert terms(" ".join(STOP_WORDS)) == []


@given(st.text(st.characters(codec=None)))
def test_terms_can_be_stored_in_a_line_and_found_again(text: str) -> None:
    for term in terms(text):
        assert term.split() == [term]
        assert 1 <= len(term) <= 64
        term.encode()


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("", 0),
        ("one two three", 3),
        ("see src/auth_2.py", 7),
        ("漢字漢字", 6),
        ("x" * 600, 75),
        ("漢 word", 3),
    ],
    ids=lambda value: ascii(value)[:20],
)
def test_a_text_costs_its_pieces(text: str, cost: int) -> None:
    assert tokens(text) == cost


@given(st.text(), st.text())
def test_more_text_never_costs_less(one: str, other: str) -> None:
    assert tokens(f"{one} {other}") >= tokens(one)


def test_a_short_line_is_its_own_snippet() -> None:
    assert snippet("Webhooks overtake each other", frozenset({"webhook"})) == "Webhooks overtake each other"


def test_a_snippet_shows_the_match_in_a_long_line() -> None:
    line = "far away words " * 40 + "the needle is here " + "more words follow " * 40
    cut = snippet(line, frozenset({"needl"}))
    assert "needle" in cut
    assert len(cut) <= 164
    assert cut.startswith("… ")
    assert cut.endswith(" …")


def test_a_snippet_of_a_line_that_matches_at_once_starts_there() -> None:
    cut = snippet("needle " + "word " * 100, frozenset({"needl"}))
    assert cut.startswith("needle word")
    assert cut.endswith("word …")


def test_a_snippet_of_a_text_without_spaces_shows_the_match() -> None:
    line = "这是一个很长的句子，" * 30 + "黑猫在这里" + "后面还有很多文字，" * 20
    assert "黑猫" in snippet(line, frozenset(terms("黑猫")))


@given(st.text(), st.integers(20, 200))
def test_a_snippet_is_never_wider_than_asked(line: str, width: int) -> None:
    assert len(snippet(line, frozenset({"x"}), width=width)) <= width + 4


def test_text_without_spaces_is_found_beside_latin_words() -> None:
    assert terms("Docker镜像构建") == ["docker", "镜像", "像构", "构建"]
    assert terms("使用Redis缓存") == ["使用", "redi", "缓存"]
