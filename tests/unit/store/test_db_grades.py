"""What the word index is told of a passage."""

from __future__ import annotations

from recollect.store.db import graded, index_tokens

FILLER = " ".join(f"word{number}" for number in range(200))


def test_a_short_passage_makes_much_of_all_it_says() -> None:
    assert graded("title\n\n\none two three") == ({"title", "one", "two", "three"}, set())


def test_a_passage_of_middling_length_makes_much_of_what_it_says_twice() -> None:
    once = [f"word{number}" for number in range(60)]
    strong, others = graded(f"retries\n\n\n{' '.join(once)} cache retries cache cache word7")
    assert strong == {"retries", "cache", "word7"}
    assert others == set(once) - strong


def test_a_long_passage_makes_much_of_its_header_and_of_what_it_repeats() -> None:
    strong, others = graded(f"retries\nann\nhttp\n{FILLER} retries cache cache cache cache cache")
    assert strong == {"retries", "ann", "http", "cache"}
    assert others == set(FILLER.split())


def test_the_grades_of_a_term_and_two_spaces_never_meet() -> None:
    made = (index_tokens(1, ["a"], ["a"]), index_tokens(11, ["a"], ["a"]), index_tokens(1, ["1:a"], ["+a"]))
    assert len({token for text in made for token in text.split()}) == 6
