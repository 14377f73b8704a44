"""Two rules that choose differently for the same purpose: "use tabs", "use spaces"; "use A for X", "use B for X".

Of things that exclude each other by nature a choice is a contradiction. Of any other two it may be one: a project can
use two tools for one purpose. Knows nothing about negation, which `statement` reads.
"""

import re
from typing import Literal

from recollect.text.compare.rule_words import stem_of, words_of

_EXCLUSIVE = """
tabs spaces | snake_case camelcase pascalcase | merge rebase squash | npm yarn pnpm | pip poetry pipenv
single-quotes double-quotes | monorepo polyrepo | optimistic pessimistic | rest graphql grpc
mysql postgresql sqlite | json yaml toml | crlf lf | utf-8 latin-1 | rem px
"""
_CHOICE = re.compile(
    r"(?:always |please |we )?(?:use|prefer|choose|adopt|pick|indent with|format with|default to)\s+"
    r"(?P<what>.{1,60}?)(?:\s+(?P<purpose>(?:for|as|in|on|when|to|across|inside)\s.+))?"
)
_NOT_ALONE = re.compile(r"\b(?:and|or|also|with|plus|not|no|never|only)\b|,|/")
MOST_WORDS = 2  # of the chosen thing: a longer phrase is a description, not a name


def opposed_choice(one: str, other: str) -> Literal["yes", "unsure", "no"]:
    """Whether two sentences choose different things for the same purpose."""
    choices = [_CHOICE.fullmatch(sentence.strip(" .!").lower()) for sentence in (one, other)]
    if not choices[0] or not choices[1]:
        return "no"
    whats = [choice["what"] for choice in choices if choice]
    purposes = [frozenset(map(stem_of, words_of(choice["purpose"] or ""))) for choice in choices if choice]
    if purposes[0] != purposes[1] or any(_NOT_ALONE.search(what) for what in whats):
        return "no"
    if _GROUP_OF.get(_name(whats[0]), 0) == _GROUP_OF.get(_name(whats[1]), 1) and _name(whats[0]) != _name(whats[1]):
        return "yes"
    named = [frozenset(map(stem_of, words_of(what))) for what in whats]
    short = all(1 <= len(words) <= MOST_WORDS for words in named)
    return "unsure" if purposes[0] and short and not named[0] & named[1] else "no"


def _name(what: str) -> str:
    return "-".join(word for word in what.split() if word not in ("the", "a", "an"))


_GROUP_OF = {
    name: number
    for number, group in enumerate(_EXCLUSIVE.replace("\n", " | ").split("|"), start=2)
    for name in group.split()
}
