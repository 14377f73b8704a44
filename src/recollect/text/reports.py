"""Does a text report what happened, where a rule, a learning or a decision was wanted?

Words only, and English ones: of a text in another language nothing is said. Unsure counts as no report, because
refusing a real rule or choice loses it, while a report that is let through costs a line in a queue.
"""

from __future__ import annotations

import re

from recollect.text.sentences import first_sentence


def _any(*groups: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(word for group in groups for word in group)})"


# --- What somebody did

_AFTER_WHO = r"(?<=\w )(?:hit|left)"  # "Left-align numbers", "Hit the cache first" are orders
_MISHAPS = ("broke", "forgot", "lost", "had", "threw", "fell", "took", "went", "saw", "came", "gave", _AFTER_WHO)
_WORK = ("found", "ran", "spent", "got", "made", "did", "wrote", "sent", "built", "began", "met", "spoke")
_NO_DEED = (
    "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed",
    "automated", "based", "cached", "centralised", "centralized", "distributed", "encrypted", "hosted", "hashed",
    "limited", "managed", "named", "nested", "required", "shared", "signed", "structured", "trusted", "typed",
    "unified",
)  # fmt: skip
"""Words in -ed that begin a rule rather than a report."""
# Not before a hyphen: "Built-in types come first".
PAST = rf"(?:{_any(_MISHAPS, _WORK)}|(?!{_any(_NO_DEED)}\b)\w{{3,}}ed)(?!-)"

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

_FOREIGN = re.compile(
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

_RULE = re.compile(
    r"\b(?:always|never|must|should|shall|needs?|requires?|avoid|prefer|when(?:ever)?|if|unless|do not|don't"
    r"|doesn't|cannot|can't|can|may|only|ensure|make sure|belongs?|decides?|is|are|has|have|stays?|expires?)\b"
)
_ONCE = re.compile(
    r"\b(?:yesterday|today|tonight|this (?:morning|afternoon|week|session|time)|last (?:night|week|time)"
    r"|(?:pr|issue|ticket|bug) ?#?\d+|#\d+|commit [0-9a-f]{7,40}|line \d+|\d{4}-\d{2}-\d{2})\b"
)
# What follows a verb that tells; an adjective ("retry failed jobs") is followed by its noun.
_TELLS = (
    r"(?= (?:the|a|an|that|it|its|our|my|to|on|in|at|while|because|when|after|before|twice|again|with|during|and|out"
    r"|from|for|into|over)\b|[,;]|$)"
)
_TOLD = re.compile(rf"^(?:(?!{_ADJECTIVE}){PAST}\b|(?:i|we|he|she|they|somebody)\b.*?\b{PAST}\b)")
_NOT_PASSIVE = r"(?<!is )(?<!are )(?<!be )(?<!was )(?<!were )(?<!es )"
_HAPPENED = re.compile(rf"^(?:the |a |an )?(?:[\w'#-]+ ){{1,3}}{_NOT_PASSIVE}{PAST}\b{_TELLS}")


def is_incident(text: str) -> bool:
    """Whether a text tells of one occasion, and no rule."""
    text = plain(text)
    if _ONCE.search(text):
        return True
    if _RULE.search(text) or is_foreign(text):
        return False
    return bool(_TOLD.match(text) or _HAPPENED.match(text))


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
_CHOICE = re.compile(rf"\b{_any(_CHOOSING, _WEIGHING, _RULING)}\b", re.IGNORECASE)
_WHO = r"(?:(?:i|we|i've|we've|have|has|just|also|finally|today|yesterday|so far|status|update|progress)[\s:,-]+)*"
_MISHAP = re.compile(rf"^{_WHO}{_any(_MISHAPS)}\b", re.IGNORECASE)
_REPORT = re.compile(
    rf"^(?!{_ADJECTIVE}){_WHO}(?:{PAST}|{_any(_UNDER_WAY)})\b"
    r"|^(?:i'm|i am|we're|we are) (?:\w+ly )?\w+ing\b|^nothing new\b",
    re.IGNORECASE,
)
_STATE = re.compile(
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


def is_mishap(text: str) -> bool:
    """Of a report: whether it tells what befell somebody rather than what they worked on."""
    return bool(_MISHAP.search(text))
