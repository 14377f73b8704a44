"""Is this text a decision, or a report of what was done?

Words only. Unsure counts as a decision: refusing a real one loses it, accepting a report costs a line in the review
queue.
"""

from __future__ import annotations

import re

from recollect.text.sentences import first_sentence

_CHOICE = re.compile(
    r"\b(?:decid\w+|decision|chose|choose|choosing|chosen|opt(?:ed|ing)? (?:for|to|out)|adopt\w*|prefer\w*|"
    r"settled? on|standardi[sz]\w+|go(?:ing)? with|went with|pick(?:ed|ing)?|select(?:ed|ing)?|reject(?:ed|ing)?|"
    r"instead of|rather than|in favou?r of|over (?:a|an|the)?\s?\w+ because|no longer|from now on|by default|"
    r"we (?:will|should|won't|must|shall|agreed)|will not|won't|should(?:n't| not)?|must(?:n't| not)?|shall|never|"
    r"always|policy|postpon\w+|defer\w*|trade-?off|switch(?:ed|ing)? (?:\w+ )*?(?:to|from)|"
    r"replac(?:e|ed|ing) .+? (?:with|by)|migrat(?:e|ed|ing) .*?to|mov(?:e|ed|ing) from|don't|do not)\b",
    re.IGNORECASE,
)
_IMPERATIVE = re.compile(
    r"^(?:use|keep|drop|avoid|adopt|prefer|make|store|split|merge|move|cache|limit|require|allow|forbid|ban|treat|"
    r"build|buy|write|read|run|put|send|return|expose|hide|pin|freeze|delay|skip|stop|start|let|add|remove|replace|"
    r"introduce|deprecate|retire|support|enforce|disable|enable|separate|combine|ship|host|model|sign|encrypt|"
    r"index|partition|shard|queue|retry|reuse|rewrite|wrap|migrate|set|default|name|version|log|emit|generate|"
    r"refuse|accept|bump|vendor|fork|outsource|hire|test|deploy|release|refactor|implement|update|fix|rename)\b",
    re.IGNORECASE,
)
_REPORT = re.compile(
    r"^(?:(?:i|we|i've|we've|i have|we have|have|has|just|also|finally|today|yesterday|so far|all|everything|status|"
    r"update|progress|wip|\W)+[\s:,-]+)*"
    r"(?:finish|complet|deploy|fix|merg|releas|updat|add|implement|test|investigat|refactor|debug|push|review|"
    r"creat|clean|resolv|clos|remov|renam|upgrad|document|publish|verif|check|configur|install|ship|patch|land|"
    r"address|handl|start|continu|improv|wrap|bump|rebas|commit|instal|open)(?:ed|ned|ged|ped|led|d|ied|ished)\b"
    r"|^(?:waiting|blocked|stuck|working on|debugging|investigating|looking into)\b"
    r"|^(?:(?:i|we|just|also|finally|today|yesterday)\s+)*(?:ran|wrote|built|made|got|did|sent|spent|began|set up|"
    r"shipped|met|spoke|paired)\b",
    re.IGNORECASE,
)
_STATE = re.compile(
    r"\b(?:in progress|wip|work in progress|(?:is|are|now|currently|still) (?:done|finished|complete|passing|failing|"
    r"green|red|broken|working|running|live|deployed|merged|blocked|ready|waiting|pending|under review|fixed|up)|"
    r"(?:am|is|are|was|were|been|still|currently) (?:\w+ly )?(?:working|debugging|investigating|looking|waiting|"
    r"writing|testing|reviewing|implementing|refactoring|blocked|stuck|on track)|tests? pass(?:es|ed)?\b|"
    r"\d+ ?%(?: \w+)? (?:done|complete|finished|through)|all (?:tests|checks) (?:pass|green)|"
    r"(?:has|have) been (?:merged|deployed|released|fixed|completed|updated|published)|"
    r"(?:standup|stand-up|status update|progress report|no blockers|next up|eta|todo))\b",
    re.IGNORECASE,
)


def is_status_update(text: str) -> bool:
    """True for a report of work done or under way that names no choice."""
    opening = first_sentence(text, 60)
    if _CHOICE.search(opening):
        return False
    if _REPORT.search(opening) or _STATE.search(opening):
        return True
    if _IMPERATIVE.search(opening):
        return False
    return bool(_STATE.search(text)) and not _CHOICE.search(text)
