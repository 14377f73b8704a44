"""Whether a text from outside keeps to its sources: no refusal, no link or command of its own, nothing dropped.

A model's answer is a stranger's text about ours. Strings in, reasons out; knows nothing about models.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from recollect.text.tokens import terms

COVERED = 0.8
"""Share of a kept text's words that must be said again."""
ECHO = 60
"""Characters of an instruction that nobody writes by chance."""

_REFUSAL = re.compile(
    r"""\s*(?:\#+[ ].*\n+)?[\s"'*_]*(?:
      I(?:['’]m|\ am)\ (?:sorry|unable|afraid|not\ able|an\ AI) | I\ (?:can(?:no|['’])t|won['’]t|do\ not\ feel) |
      (?:I['’]m\ )?sorry,?\ (?:but|I) | sorry, | as\ an\ AI | unfortunately,\ I | I\ must\ (?:decline|refuse) |
      I\ apologi[sz]e | my\ guidelines
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_LINK = re.compile(r"(?:\b[a-z][a-z0-9+.-]{1,20}://|\bwww\.|\bmailto:|\bdata:[a-z]+/)[^\s<>\"'`)\]}]+", re.IGNORECASE)
_TARGET = re.compile(r"\]\(\s*<?([^)\s>]+)")
_SPAN = re.compile(r"(`+)(.+?)\1", re.DOTALL)
_OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]+")
_TYPED = re.compile(r"^\s*[-*]?\s*[$>%]\s+(\S.*)$", re.MULTILINE)
_PROGRAM = re.compile(
    r"\b(?:sudo|curl|wget|chmod|chown|mkfs|eval|rm\s+-\w+|(?:pip3?|npm|gem|cargo|brew|apt(?:-get)?)\s+install"
    r"|(?:ba|z)?sh\s+-c|git\s+(?:push|reset|clean)|kubectl\s+\w+|docker\s+run)\b"
)


def refuses(text: str) -> bool:
    """Whether a text politely says no, in place of an answer."""
    return bool(_REFUSAL.match(text))


def additions(text: str, sources: Sequence[str]) -> list[str]:
    """Links and commands in a text that none of its sources has."""
    known = _plain("\n".join(sources))
    return [found for found in dict.fromkeys(_risky(text)) if _plain(found) not in known]


def lost(text: str, kept: Sequence[str]) -> list[str]:
    """Which of the texts that must stay are not said again."""
    said = set(terms(text))
    missing = []
    for each in kept:
        wanted = set(terms(each))
        if len(wanted & said) < COVERED * len(wanted):
            missing.append(each)
    return missing


def own_share(text: str, sources: Sequence[str]) -> float:
    """Which share of a text's words its sources have, too."""
    said = set(terms(text))
    return len(said & set(terms("\n".join(sources)))) / len(said) if said else 0.0


def echoes(text: str, instructions: str) -> bool:
    """Whether a text repeats what its writer was told to do."""
    said = _plain(text)
    return any(len(line) >= ECHO and _plain(line) in said for line in instructions.split("\n"))


def _risky(text: str) -> Iterator[str]:
    for pattern in (_LINK, _OPTION, _PROGRAM):
        for found in pattern.finditer(text):
            yield found[0].rstrip(".,;:!?")
    for found in _TARGET.finditer(text):
        yield found[1]
    for found in _SPAN.finditer(text):
        _, line, code = found[2].partition("\n")
        yield from (code if line and len(found[1]) > 2 else found[2]).strip().split("\n")
    for found in _TYPED.finditer(text):
        yield found[1]


def _plain(text: str) -> str:
    """What is compared: no case, no quotes' escapes, single spaces."""
    return " ".join(text.replace("\\", "").casefold().split())
