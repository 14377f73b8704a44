"""Which of another tool's notes is a learning: one that says what to do. Everything else is an entry of the log.

A learning is put in front of agents by itself once a person adopted it, so it has to carry an action in its own words;
what only says that something is so, or happened, is kept where it is found when somebody looks.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from recollect.core.choices import DiscoveryType, PatternType
from recollect.core.errors import BadInput
from recollect.core.new_learning import TAG_LENGTH, TAG_LIMIT, TITLE_LIMIT, NewLearning
from recollect.text.coia import extract
from recollect.text.frame import one_line

_WIKILINK = re.compile(r"!?\[\[(?:[^\[\]|]*\|)?([^\[\]|]*)\]\]")
LEARNED_AS: dict[DiscoveryType, PatternType] = {
    "blocker": "gotcha",
    "constraint": "constraint",
    "pattern": "best-practice",
    "decision": "solution",
    "dependency": "constraint",
}


def learning_in(
    kind: DiscoveryType, text: str, *, title: str = "", about: str = "", tags: Iterable[str] = ()
) -> NewLearning | None:
    """The learning that a note states, or None when it does not say what to do."""
    text = one_line(without_links(text))
    try:
        made = extract(kind, text, about, "")
    except BadInput:
        return None
    if "action" not in made.stated:
        return None
    return NewLearning(
        title=one_line(title)[:TITLE_LIMIT].rstrip() or made.title,
        context=made.context,
        observation=made.observation,
        implication=made.implication,
        action=made.action,
        tags=usable_tags((*tags, *made.tags)),
        domain=made.domain,
        pattern_type=LEARNED_AS[kind],
    )


def without_links(text: str) -> str:
    """`[[Page|word]]` as the word it shows."""
    return _WIKILINK.sub(r"\1", text)


def usable_tags(tags: Iterable[str]) -> tuple[str, ...]:
    """Those of another tool's tags that can be tags here, each once."""
    found = [" ".join(tag.split()).lower() for tag in tags]
    fitting = [tag for tag in dict.fromkeys(found) if tag and len(tag) <= TAG_LENGTH and tag.isprintable()]
    return tuple(fitting[:TAG_LIMIT])
