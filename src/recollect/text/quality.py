"""The gate for staged learnings: a rule that holds beyond the case it came from, and is not about rules.

Each refusal has a code, says why and how to say it better. Words only, and lenient: a doubtful text passes,
because consolidation looks again and a person can be asked. Knows nothing about where the text goes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from recollect.text.rule_words import words_of
from recollect.text.stem import stem

Flaw = Literal["incident", "vague", "meta"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What is wrong with a text, if anything, and what to do about it."""

    flaw: Flaw | None
    why: str
    rephrase: str

    @property
    def passes(self) -> bool:
        return self.flaw is None


PASSED = Verdict(flaw=None, why="", rephrase="")
_REFUSALS: dict[Flaw, Verdict] = {
    "incident": Verdict(
        flaw="incident",
        why="it tells what happened once, not what to do",
        rephrase='State the rule behind it: not "Edited the skill without loading it" but "Always load a skill '
        'before editing"; put the incident into the body.',
    ),
    "vague": Verdict(
        flaw="vague",
        why="it does not say what to do, or with what",
        rephrase="Name the thing and the constraint: when what happens, do or avoid what.",
    ),
    "meta": Verdict(
        flaw="meta",
        why="it is a rule about rules",
        rephrase="Say what an agent should do differently in its work; leave out how rules are written.",
    ),
}

_RULE = re.compile(
    r"\b(?:always|never|must|should|shall|needs?|requires?|avoid|prefer|when(?:ever)?|if|unless|do not|don't"
    r"|doesn't|cannot|can't|can|may|only|ensure|make sure|belongs?|decides?|is|are|has|have|stays?|expires?)\b"
)
_RULE_NOUN = re.compile(
    r"(?:^|\b(?:a|an|the|our|your|every|each|all|any|more|new|these|write|writing|add|adding|as)\s+)"
    r"(?:rules?|learnings?|guidelines?|instructions?|lessons?)\b(?! of)"
)
_ONCE = re.compile(
    r"\b(?:yesterday|today|tonight|this (?:morning|afternoon|week|session|time)|last (?:night|week|time)"
    r"|(?:pr|issue|ticket|bug) ?#?\d+|#\d+|commit [0-9a-f]{7,40}|line \d+|\d{4}-\d{2}-\d{2})\b"
)
PAST = (
    r"(?:broke|forgot|lost|found|ran|had|spent|got|took|went|made|did|saw|came|gave|wrote|hit|threw|fell|left"
    r"|sent|\w{3,}ed)"
)
# What follows a verb that tells; an adjective ("retry failed jobs") is followed by its noun.
_TELLS = (
    r"(?= (?:the|a|an|that|it|its|our|my|to|on|in|at|while|because|when|after|before|twice|again|with|during|and|out"
    r"|from|for|into|over)\b|[,;]|$)"
)
# "Sorted keys make diffs readable" begins with an adjective: a plural noun and its verb follow.
_DETERMINED = r"(?:the|an?|all|both|some|our|my|its|their|his|her|this|that|these|those|two|three|several|many|\d+)\b"
_NO_VERB = (
    r"(?:(?:in|on|at|to|of|for|with|without|from|into|and|or|but|because|while|by|as|that|which|who|where|when|until"
    r"|before|after|since|during|under|over|across|between|through|per|via|so|if|twice|again|too|also|now|yesterday"
    r"|today|everywhere|instead|\w+ly|\w+ing)\b|\w+ed by\b|\d)"
)
ADJECTIVE = (
    rf"(?:\w+ed (?!{_DETERMINED})(?:\w+ ){{0,2}}\w+s "
    rf"(?:(?!{_NO_VERB})\w"
    r"|(?:of|in|on|for|with|from|without) (?:(?!that |which |who )\w+ ){1,3}(?:is|are|has|have)\b))"
)
"""Opens a text whose first word in -ed belongs to a noun, and is not what somebody did."""
_TOLD = re.compile(rf"^(?:(?!{ADJECTIVE}){PAST}\b|(?:i|we|he|she|they|somebody)\b.*?\b{PAST}\b)")
_NOT_PASSIVE = r"(?<!is )(?<!are )(?<!be )(?<!was )(?<!were )(?<!es )"
_HAPPENED = re.compile(rf"^(?:the |a |an )?(?:[\w'#-]+ ){{1,3}}{_NOT_PASSIVE}{PAST}\b{_TELLS}")
_SAYS_LITTLE = """
    important careful key matter thing right wrong best better good bad practice attention detail hard
    harder try think quality performance note misc todo remember stuff fix pay way
    keep require allow permit store save put add create give return send pass carry issue run have hold set
    take provide perform apply stay
"""
_EMPTY = frozenset(map(stem, _SAYS_LITTLE.split()))


def verdict(flaw: str) -> Verdict | None:
    """What is said about a flaw; None for a word that names none."""
    return next((found for name, found in _REFUSALS.items() if name == flaw), None)


def check(title: str, body: str = "") -> Verdict:
    """Whether a staged learning states a rule, and if not, how it could."""
    if _RULE_NOUN.search(_plain(title)):
        return _REFUSALS["meta"]
    if is_incident(title):
        return _REFUSALS["incident"]
    return PASSED if len(set(telling_words(f"{title} {body}"))) >= 2 else _REFUSALS["vague"]


def is_incident(text: str) -> bool:
    """Whether a text tells of one occasion, and no rule."""
    text = _plain(text)
    if _ONCE.search(text):
        return True
    if _RULE.search(text):
        return False
    return bool(_TOLD.match(text) or _HAPPENED.match(text))


def telling_words(text: str) -> list[str]:
    """The stems of a text that say what it is about."""
    return [root for word in words_of(_plain(text)) if (root := stem(word)) not in _EMPTY]


def _plain(text: str) -> str:
    return " ".join(text.lower().replace("\u2019", "'").split())
