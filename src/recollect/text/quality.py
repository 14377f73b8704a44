"""The quality gate: is a text a rule, a learning or a decision, or does it only report, repeat or promise something?

Staged learnings, captured learnings and decisions pass through the same checks: placeholder, repeated, too vague, a
status report, one incident, a rule about rules. Each refusal says why and how to rephrase. The checks know English
words only and are lenient: a doubtful text passes, because refusing a real rule loses it, while a report that passes
costs a line in a queue. Measured on `tests/data/*_quality.jsonl`.
"""

from __future__ import annotations

import re
from functools import cache

from recollect.core.records import record
from recollect.text.markdown import lazy
from recollect.text.sentences import first_sentence
from recollect.text.tokens import stem, terms, words


@record
class Refusal:
    flaw: str
    why: str
    rephrase: str


REFUSALS = {
    flaw: Refusal(flaw=flaw, why=why, rephrase=rephrase)
    for flaw, why, rephrase in (
        (
            "placeholder",
            "a field holds a placeholder instead of a text",
            "Write what was noticed, what follows from it and what to do; nothing can be filled in later.",
        ),
        (
            "repeated",
            "every field says the same",
            "Say in the observation what was noticed, in the implication why it matters, in the action what to do next "
            "time.",
        ),
        (
            "vague",
            "it does not say what to do, or with what",
            "Name the thing and the constraint: when what happens, do or avoid what.",
        ),
        (
            "status",
            "it reports work done or under way",
            "Say what the next task should do differently; a report belongs in the log: recollect log add.",
        ),
        (
            "incident",
            "it tells what happened once, not what to do",
            'State the rule behind it: not "Edited the skill without loading it" but "Always load a skill before '
            'editing"; put the incident into the body or the observation.',
        ),
        (
            "meta",
            "it is a rule about rules",
            "Say what an agent should do differently in its work; leave out how rules are written.",
        ),
    )
}
STAGED_FLAWS = ("incident", "vague", "meta")  # a staged learning has only a title and a body
WEIGHED = ("title", "observation", "implication", "action")  # the fields of a captured learning that the gate reads
LEAST_WORDS = 2  # different words that say something: with one, "Caching" would pass as a rule

# --- The gate


def staged_refusal(title: str, body: str = "") -> Refusal | None:
    """Why a staged learning states no rule, and how it could; None when nothing is wrong with it."""
    if _RULE_NOUN.search(plain(title)) and not is_foreign(title):
        return REFUSALS["meta"]
    if is_incident(title):
        return REFUSALS["incident"]
    return None if len(set(telling_words(f"{title} {body}"))) >= LEAST_WORDS else REFUSALS["vague"]


def learning_refusal(*, title: str, observation: str, implication: str, action: str) -> Refusal | None:
    """Why a learning should not be stored as it is; None when nothing is wrong with it. "" is an unfilled field."""
    fields = [field for field in (observation, implication, action) if field.strip()]
    if any(len(field) <= LONGEST_STAND_IN and _STAND_IN.fullmatch(field) for field in (title, *fields)):
        return REFUSALS["placeholder"]
    if len(fields) == 3 and len({" ".join(words(field.lower())) for field in (title, *fields)}) == 1:
        return REFUSALS["repeated"]
    if len({word for field in (title, *fields) for word in telling_words(field) if len(word) > 1}) < LEAST_WORDS:
        return REFUSALS["vague"]
    # One consequence that states a rule carries the rest.
    if any(_states_a_rule(field) for field in fields[1:]):
        return None
    if is_status_update(title):
        return REFUSALS["status"]
    return REFUSALS["incident"] if is_incident(title) else None


def _states_a_rule(text: str) -> bool:
    if not telling_words(text) or is_status_update(text) or is_incident(text):
        return False
    return bool(_RULE.search(text)) or not _TELLS.search(text)


def telling_words(text: str) -> list[str]:
    """The stems of a text that say what it is about; where words are not parted by spaces, pairs of characters."""
    return [term for term in terms(plain(text)) if term not in _empty_stems()]


def _any(*groups: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(word for group in groups for word in group)})"


# --- Past tense

_AFTER_WHO = r"(?<=\w )(?:hit|left)"  # "Left-align numbers", "Hit the cache first" are orders
_MISHAPS = ("broke", "forgot", "lost", "had", "threw", "fell", "took", "went", "saw", "came", "gave", _AFTER_WHO)
_WORK = ("found", "ran", "spent", "got", "made", "did", "wrote", "sent", "built", "began", "met", "spoke")
_NO_DEED = (
    "bleed", "bred", "embed", "exceed", "feed", "heed", "need", "proceed", "seed", "shed", "speed", "succeed", "used",
    "automated", "based", "cached", "centralised", "centralized", "distributed", "encrypted", "hosted", "hashed",
    "limited", "managed", "named", "nested", "required", "shared", "signed", "structured", "trusted", "typed",
    "unified",
)  # fmt: skip
"""Words in -ed that begin a rule rather than a report."""
# Not before a hyphen: "Built-in types come first".
PAST = rf"(?:{_any(_MISHAPS, _WORK)}|(?!{_any(_NO_DEED)}\b)\w{{2,}}ed)(?!-)"

# "Sorted keys make diffs readable" begins with an adjective: a plural noun and its verb follow.
_DETERMINED = r"(?:the|an?|all|both|some|our|my|its|their|his|her|this|that|these|those|two|three|several|many|\d+)\b"
_NO_VERB = (
    r"(?:(?:in|on|at|to|of|for|with|without|from|into|and|or|but|because|while|by|as|that|which|who|where|when|until"
    r"|before|after|since|during|under|over|across|between|through|per|via|so|if|twice|again|too|also|now|yesterday"
    r"|today|everywhere|instead|\w+ly|\w+ing)\b|\w+ed by\b|\d)"
)
_ADJECTIVE = (
    rf"(?:(?:\w+ed|lost|sent|found|made|built|met) (?!{_DETERMINED})(?:\w+ ){{0,2}}\w+s "
    rf"(?:(?!{_NO_VERB})\w"
    r"|(?:of|in|on|for|with|from|without) (?:(?!that |which |who )\w+ ){1,3}(?:is|are|has|have)\b))"
)

_FOREIGN = lazy(
    r"(?![a-z])[^\W\d_]|\b(?:de|el|la|las|los|un|una|en|que|con|por|para|antes|siempre|der|das|dem|und|ein|eine|nicht|vor"
    r"|bei|mit|wenn|immer|het|een|van|voor|niet|altijd|og|och|et|ett|ikke|inte|som|til|altid|alltid|nie|na|oraz|zawsze|ja"
    r"|ei|enne|kui|tuleb|alati)\b",
    re.IGNORECASE,
)


def is_foreign(text: str) -> bool:
    """Whether a text has a letter or a small word that English lacks.

    The words are those of languages in which other things than deeds end in -ed: "Przed", "Unterschied", "Haced".
    """
    return bool(_FOREIGN.search(text))


# --- An incident

_RULE = lazy(
    r"\b(?:always|never|must|should|shall|needs?|requires?|avoid|prefer|when(?:ever)?|if|unless|do not|don't"
    r"|doesn't|cannot|can't|can|may|only|ensure|make sure|belongs?|decides?|is|are|has|have|stays?|expires?)\b",
    re.IGNORECASE,
)
_ONCE = lazy(
    r"\b(?:yesterday|today|tonight|this (?:morning|afternoon|week|session|time)|last (?:night|week|time)"
    r"|(?:pr|issue|ticket|bug) ?#?\d+|#\d+|commit [0-9a-f]{7,40}|line \d+)\b"
)
# What follows a verb in the past tense; an adjective ("retry failed jobs") is followed by its noun.
_REPORTS_TELLS = (
    r"(?= (?:the|a|an|that|it|its|our|my|to|on|in|at|while|because|when|after|before|twice|again|with|during|and|out"
    r"|from|for|into|over)\b|[,;]|$)"
)
_HAPPENED = lazy(rf"^(?:the |a |an )?(?:[\w'#-]+ ){{1,3}}{PAST}\b{_REPORTS_TELLS}")


# When a text was noted says nothing of whether it is a rule: "Learned 12.03.2026: quote all paths".
_WHEN = (
    r"(?:today|yesterday|(?:mon|tues|wednes|thurs|fri|satur|sun)day|(?:this|last) \w+|\d+[-./]\d+[-./]\d+"
    r"|(?:\d+\.? )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*(?: \d+)*)"
)
_NOTED = lazy(
    r"(?:(?:noted?|learn(?:ed|t)|found|noticed|seen|observed)(?: (?:on|in|the hard way))?"
    rf"(?: {_WHEN})?:|[\[(]?{_WHEN}[\])]?[:,]|(?:on|in) {_WHEN}\b,?) "
)


def is_incident(text: str) -> bool:
    """Whether a text tells of one occasion, and no rule."""
    text = plain(text)
    if noted := _NOTED.match(text):
        text = text[noted.end() :]
    if _ONCE.search(text):
        return True
    if _RULE.search(text) or is_foreign(text):
        return False
    return bool(_REPORT.match(text) or _HAPPENED.match(text))


def plain(text: str) -> str:
    """A text as these rules read it: lower case, one kind of apostrophe, single spaces."""
    return " ".join(text.lower().replace("\u2019", "'").split())


# --- A status update

_CHOOSING = (
    r"decid\w+", "decision", "chose", "choose", "choosing", "chosen", "opt(?:ed|ing)? (?:for|to|out)", r"adopt\w*",
    r"prefer\w*", "settled? on", r"standardi[sz]\w+", "go(?:ing)? with", "went with", "pick(?:ed|ing)?",
    "select(?:ed|ing)?", "reject(?:ed|ing)?", "agreed", r"postpon\w+", r"defer\w*", "policy", "trade-?off",
)  # fmt: skip
_WEIGHING = (
    "instead of", "rather than", "in favou?r of", r"over (?:an? |the )?\w+ because", "no longer", "from now on",
    "by default", r"switch(?:ed|ing)? (?:\w+ )*?(?:to|from)", "replac(?:e|ed|ing) .+? (?:with|by)",
    "migrat(?:e|ed|ing) .*?to", "mov(?:e|ed|ing) from",
)  # fmt: skip
_RULING = (
    "we (?:will|should|must|shall)", "will not", "won't", "should(?:n't| not)?", "must(?:n't| not)?", "shall", "never",
    "always", "don't", "do not",
)  # fmt: skip
_UNDER_WAY = (
    "set up", "cut", "waiting", "blocked", "stuck", "working on", "debugging", "investigating", "looking into",
)  # fmt: skip
_STANDING = (
    "down", "done", "finished", "complete", "passing", "failing", "green", "red", "broken", "working",
    "running", "live",
    "deployed", "merged", "blocked", "ready", "waiting", "pending", "under review", "fixed", "up", "debugging",
    "investigating", "looking", "writing", "testing", "reviewing", "implementing", "refactoring", "stuck", "on track",
)  # fmt: skip
_CHOICE = lazy(rf"\b{_any(_CHOOSING, _WEIGHING, _RULING)}\b", re.IGNORECASE)
_WHO = r"(?:(?:i|we|i've|we've|have|has|just|also|finally|today|yesterday|so far|status|update|progress)[\s:,-]+)*"
_REPORT = lazy(
    rf"^(?!{_ADJECTIVE}){_WHO}(?:{PAST}|{_any(_UNDER_WAY)})\b"
    r"|^(?:i'm|i am|we're|we are) (?:\w+ly )?\w+ing\b|^nothing new\b",
    re.IGNORECASE,
)
_STATE = lazy(
    rf"\b(?:(?:am|is|are|was|were|been|now|still|currently) (?:\w+ly )?{_any(_STANDING)}|in progress|wip|"
    r"tests? pass(?:es|ed)?|\d+ ?%(?: \w+)? (?:done|complete|finished|through)|"
    r"(?:has|have) been (?:merged|deployed|released|fixed|completed|updated|published)|no blockers|"
    r"(?:migration|deploy\w*|build|release|job|run|demo|meeting|sprint|rollout) "
    r"(?:finished|failed|went|passed|ended))\b",
    re.IGNORECASE,
)


def is_status_update(text: str) -> bool:
    """True for a report of work done or under way that names no choice in its first sentence."""
    opening = first_sentence(text, 60)
    if _CHOICE.search(opening):
        return False
    return bool(_STATE.search(opening) or (_REPORT.search(opening) and not is_foreign(opening)))


# --- Vague, empty, about rules

_RULE_NOUN = lazy(
    r"(?:^|\b(?:a|an|the|our|your|every|each|all|any|more|new|these|write|writing|add|adding|as)\s+)"
    r"(?:rules?|learnings?|guidelines?|instructions?|lessons?)\b(?! of)"
)
_SAYS_LITTLE = """
    important careful key matter thing right wrong best better good bad practice attention detail hard
    harder try think quality performance note misc todo remember stuff fix pay way always never every ever also even
    must shall use prefer ensure sure make need get please fine ok okay want let happen
    keep require allow permit store save put add create give return send pass carry issue run set
    take provide perform apply stay
"""


@cache
def _empty_stems() -> frozenset[str]:
    return frozenset(map(stem, _SAYS_LITTLE.split()))


_STAND_INS = (
    "to ?do", "tb[ad]", "fix ?me", "n/?a", "none", "nothing", "nil", "null", "undefined", "unknown", "untitled",
    "ditto", "(?:same|see|as)(?: as)?(?: above| before)?", "placeholder", "lorem ipsum.*", r"insert \w+(?: \w+)? here",
    r"your \w+ here", "fill (?:this )?in(?: later)?", "to be (?:filled|done|decided|determined)(?: in)?", r"asdf\w*",
    r"qwerty\w*", "foo(?: ?bar)?(?: ?baz)?", "blah?(?: blah?)*", r"test(?:ing)?(?: ?(?:test(?:ing)?|\d+))*", "x+",
    "(?:example |sample )?(?:title|context|observation|implication|action|text|description)",
)  # fmt: skip
_STAND_IN = lazy(rf"[\W_]*(?:(?:{'|'.join(_STAND_INS)})[\W_]*)?", re.IGNORECASE)
LONGEST_STAND_IN = 60  # characters
_TELLS = lazy(
    rf"\b(?:was|were)\b|^(?:[\w'-]+ ){{0,2}}(?:[\w-]+-)?{PAST}\b|^(?:still|ready|all good|will continue)\b",
    re.IGNORECASE,
)
