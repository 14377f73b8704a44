"""The gate for staged learnings: a rule that holds beyond the case it came from, and is not about rules.

Each refusal has a code, says why and how to say it better. Words only, and lenient: a doubtful text passes,
because consolidation looks again and a person can be asked. Knows nothing about where the text goes.
"""

from __future__ import annotations

import re

from recollect.core.record import record
from recollect.text.compare.rule_words import WEAK_VERBS, words_of
from recollect.text.reports import is_foreign, is_incident, plain
from recollect.text.stem import stem
from recollect.text.tokens import terms


@record
class Refusal:
    """What is wrong with a text, and what to do about it."""

    flaw: str
    why: str
    rephrase: str


REFUSALS = {
    refusal.flaw: refusal
    for refusal in (
        Refusal(
            flaw="incident",
            why="it tells what happened once, not what to do",
            rephrase='State the rule behind it: not "Edited the skill without loading it" but "Always load a skill '
            'before editing"; put the incident into the body.',
        ),
        Refusal(
            flaw="vague",
            why="it does not say what to do, or with what",
            rephrase="Name the thing and the constraint: when what happens, do or avoid what.",
        ),
        Refusal(
            flaw="meta",
            why="it is a rule about rules",
            rephrase="Say what an agent should do differently in its work; leave out how rules are written.",
        ),
    )
}
"""By flaw."""

LEAST_WORDS = 2  # different words that say something

_RULE_NOUN = re.compile(
    r"(?:^|\b(?:a|an|the|our|your|every|each|all|any|more|new|these|write|writing|add|adding|as)\s+)"
    r"(?:rules?|learnings?|guidelines?|instructions?|lessons?)\b(?! of)"
)
_SAYS_LITTLE = """
    important careful key matter thing right wrong best better good bad practice attention detail hard
    harder try think quality performance note misc todo remember stuff fix pay way
"""
_EMPTY = frozenset(map(stem, (*_SAYS_LITTLE.split(), *WEAK_VERBS)))


def refused(title: str, body: str = "") -> Refusal | None:
    """Why a staged learning states no rule, and how it could; None when nothing speaks against it."""
    if _RULE_NOUN.search(plain(title)) and not is_foreign(title):
        return REFUSALS["meta"]
    if is_incident(title):
        return REFUSALS["incident"]
    return None if len(set(telling_words(f"{title} {body}"))) >= LEAST_WORDS else REFUSALS["vague"]


def telling_words(text: str) -> list[str]:
    """The stems of a text that say what it is about; where words are not parted by spaces, pairs of characters."""
    words = words_of(plain(text))
    parts = (part for word in words for part in ((word,) if word.isascii() else terms(word)))
    return [root for part in parts if (root := stem(part)) not in _EMPTY]
