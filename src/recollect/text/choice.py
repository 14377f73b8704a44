"""Is this text a decision, or a report of what was done?

Words only. Unsure counts as a decision: refusing a real one loses it, accepting a report costs a line in the review
queue.
"""

from __future__ import annotations

import re

from recollect.text.quality import ADJECTIVE
from recollect.text.sentences import first_sentence

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
_NO_DEED = (
    "embed", "exceed", "feed", "need", "proceed", "seed", "shed", "speed", "succeed",
    "automated", "based", "cached", "centralised", "centralized", "distributed", "encrypted", "hosted", "hashed",
    "limited", "managed", "named", "nested", "required", "shared", "signed", "structured", "trusted", "typed",
    "unified",
)  # fmt: skip
"""Words in -ed that begin a rule rather than a report."""
_DID = (
    "ran", "wrote", "built", "made", "got", "did", "sent", "spent", "began", "set up", "met", "spoke", "found", "cut",
)  # fmt: skip
_UNDER_WAY = ("waiting", "blocked", "stuck", "working on", "debugging", "investigating", "looking into")
_STANDING = (
    "down", "done", "finished", "complete", "passing", "failing", "green", "red", "broken", "working",
    "running", "live",
    "deployed", "merged", "blocked", "ready", "waiting", "pending", "under review", "fixed", "up", "debugging",
    "investigating", "looking", "writing", "testing", "reviewing", "implementing", "refactoring", "stuck", "on track",
)  # fmt: skip


def _any(*groups: tuple[str, ...]) -> str:
    return f"(?:{'|'.join(word for group in groups for word in group)})"


_CHOICE = re.compile(rf"\b{_any(_CHOOSING, _WEIGHING, _RULING)}\b", re.IGNORECASE)
_WHO = r"(?:(?:i|we|i've|we've|have|has|just|also|finally|today|yesterday|so far|status|update|progress)[\s:,-]+)*"
_REPORT = re.compile(
    rf"^(?!{ADJECTIVE}){_WHO}(?:(?!{_any(_NO_DEED)}\b)\w{{3,}}ed\b|{_any(_DID, _UNDER_WAY)}\b)"
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
    return not _CHOICE.search(opening) and bool(_REPORT.search(opening) or _STATE.search(opening))
