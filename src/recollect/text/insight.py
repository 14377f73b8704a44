"""The gate for captured learnings: something was noticed, and it says what to do about it next time.

Each refusal has a code, says why and how to say it better. Lenient like the gate for staged learnings (`quality`),
whose words it shares: one field that states a rule carries the rest. A field that was not filled in is given as "".
"""

from __future__ import annotations

import re

from recollect.text.quality import LEAST_WORDS, Refusal, telling_words
from recollect.text.reports import PAST, is_incident, is_mishap, is_status_update

WEIGHED = ("title", "observation", "implication", "action")

_REFUSALS = {
    refusal.flaw: refusal
    for refusal in (
        Refusal(
            flaw="placeholder",
            why="a field holds a stand-in instead of a text",
            rephrase="Write what was noticed, what follows from it and what to do; nothing can be filled in later.",
        ),
        Refusal(
            flaw="repeated",
            why="every field says the same",
            rephrase="Say in the observation what was noticed, in the implication why it matters, in the action "
            "what to do next time.",
        ),
        Refusal(
            flaw="vague",
            why="it does not name what it is about",
            rephrase="Name the thing, what it does and what to do about it.",
        ),
        Refusal(
            flaw="status",
            why="it reports work done or under way",
            rephrase="Say what the next task should do differently; a report belongs in the log: recollect log add.",
        ),
        Refusal(
            flaw="incident",
            why="it tells what happened once, and nothing follows from it",
            rephrase='State the rule behind it as the action: not "Broke the build yesterday" but "Run the type '
            'checker before pushing".',
        ),
    )
}

_STAND_INS = (
    "to ?do", "tb[ad]", "fix ?me", "n/?a", "none", "nothing", "nil", "null", "undefined", "unknown", "untitled",
    "ditto", "(?:same|see|as)(?: as)?(?: above| before)?", "placeholder", "lorem ipsum.*", r"insert \w+(?: \w+)? here",
    r"your \w+ here", "fill (?:this )?in(?: later)?", "to be (?:filled|done|decided|determined)(?: in)?", r"asdf\w*",
    r"qwerty\w*", "foo(?: ?bar)?(?: ?baz)?", "blah?(?: blah?)*", r"test(?:ing)?(?: ?(?:test(?:ing)?|\d+))*", "x+",
    "(?:example |sample )?(?:title|context|observation|implication|action|text|description)",
)  # fmt: skip
_STAND_IN = re.compile(rf"[\W_]*(?:(?:{'|'.join(_STAND_INS)})[\W_]*)?", re.IGNORECASE)
LONGEST_STAND_IN = 60  # characters
_WORD = re.compile(r"\w+")
_TELLS = re.compile(
    rf"\b(?:was|were)\b|^(?:[\w'-]+ ){{0,2}}(?:[\w-]+-)?{PAST}\b|^(?:still|ready|all good|will continue)\b",
    re.IGNORECASE,
)
# Who knows why a thing fails knows what to look for; "failed twice" teaches nothing.
_EXPLAINED = re.compile(
    r"(?!\w+ed\b)(?:[\w'#./-]+ ){1,4}fail(?:ed|s)(?::|,? (?:because|since|due to|when(?:ever)?|if|unless|without)\b)",
    re.IGNORECASE,
)
_RULE = re.compile(r"\b(?:must|should|never|always|cannot|can't|needs?|may|when(?:ever)?|if|unless)\b", re.IGNORECASE)


def refused(*, title: str, observation: str, implication: str, action: str) -> Refusal | None:
    """Why a learning should not be kept as it is; None when nothing speaks against it."""
    flaw = _flaw(title, [field for field in (observation, implication, action) if field.strip()])
    return _REFUSALS[flaw] if flaw else None


def _flaw(title: str, fields: list[str]) -> str | None:
    if any(len(field) <= LONGEST_STAND_IN and _STAND_IN.fullmatch(field) for field in (title, *fields)):
        return "placeholder"
    if len(fields) == 3 and len({" ".join(_WORD.findall(field.lower())) for field in (title, *fields)}) == 1:
        return "repeated"
    if len({word for field in (title, *fields) for word in telling_words(field) if len(word) > 1}) < LEAST_WORDS:
        return "vague"
    _, *consequences = fields or [""]
    if any(_states_a_rule(field) for field in consequences) or _EXPLAINED.match(title):
        return None
    if is_status_update(title) and not is_mishap(title):
        return "status"
    return "incident" if is_incident(title) else None


def _states_a_rule(text: str) -> bool:
    if not telling_words(text) or is_status_update(text) or is_incident(text):
        return False
    return bool(_RULE.search(text)) or not _TELLS.search(text)
