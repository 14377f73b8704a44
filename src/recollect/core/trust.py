"""Who may do what: one table, noun × verb × trust of the caller → effect, which every verb of every noun asks.

Trust comes from the caller's channel; a record has the trust of its least trusted writer. A person may do everything,
so the table has no column for people. docs/safety.md shows the same table.
"""

from __future__ import annotations

from recollect.core.context import TRUSTS
from recollect.core.errors import Forbidden
from recollect.core.records import check_choice, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Literal

    from recollect.core.choices import Trust

    Effect = Literal["allowed", "lowers", "proposed", "refused"]

ALLOWED: Effect = "allowed"  # new words have the writer's trust
LOWERS: Effect = "lowers"  # allowed, and the record has the writer's trust from now on
PROPOSED: Effect = "proposed"  # nothing changes; a person finds the change in the inbox
REFUSED: Effect = "refused"
_STRICTEST_LAST = (ALLOWED, LOWERS, PROPOSED, REFUSED)


@record
class Rule:
    """`agent` and `outsider` hold for records of the caller's own trust or below, the others for records above it."""

    agent_on_persons: Effect = ALLOWED
    agent: Effect = ALLOWED
    outsider_on_trusted: Effect = ALLOWED
    outsider: Effect = ALLOWED


_ALL = Rule()
_REWORDS = Rule(agent_on_persons=LOWERS, outsider_on_trusted=PROPOSED)
_RELABELS = Rule(outsider_on_trusted=PROPOSED)
_CLOSES = Rule(agent_on_persons=LOWERS, outsider_on_trusted=REFUSED)
_TAKES = Rule(outsider_on_trusted=REFUSED)
_NOT_FROM_OUTSIDE = Rule(outsider_on_trusted=REFUSED, outsider=REFUSED)
_PERSON = Rule(agent_on_persons=REFUSED, agent=REFUSED, outsider_on_trusted=REFUSED, outsider=REFUSED)

RULES: dict[str, dict[str, Rule]] = {
    "learning": {
        "create": _ALL,
        "edit": _REWORDS,
        "label": _RELABELS,
        "archive": _RELABELS,
        "restore": _RELABELS,
        "supersede": _RELABELS,
        "merge": _RELABELS,
        "pin": _NOT_FROM_OUTSIDE,
        "inject": _NOT_FROM_OUTSIDE,
        "rate": _NOT_FROM_OUTSIDE,
        "adopt": _PERSON,
        "move": _PERSON,
    },
    "decision": {
        "create": _ALL,
        "edit": _REWORDS,
        "label": _RELABELS,
        "review": _REWORDS,
        "reverse": _CLOSES,
        "supersede": _CLOSES,
        "preserve": _NOT_FROM_OUTSIDE,
        "consolidate": _NOT_FROM_OUTSIDE,
        "adopt": _PERSON,
    },
    "staged": {
        "create": _ALL,
        "promote": _TAKES,
        "restore": _NOT_FROM_OUTSIDE,
        "consolidate": _NOT_FROM_OUTSIDE,
        "adopt": _PERSON,
    },
    "finding": {"create": _ALL, "promote": _ALL, "consolidate": _NOT_FROM_OUTSIDE, "adopt": _PERSON},
    "theme": {"edit": _RELABELS},
    "topic": {"edit": _NOT_FROM_OUTSIDE},
    "log": {"create": _ALL, "consolidate": _NOT_FROM_OUTSIDE, "adopt": _PERSON},
    "memory": {"maintain": _NOT_FROM_OUTSIDE},
}
"""`label` changes tags, domain and the like, which agents are not shown. `consolidate` makes derived text: documents of
staged learnings, themes of findings, the tree of logs, wordings of decisions. `maintain` is the cycle."""


def outranks(one: Trust, other: Trust) -> bool:
    return TRUSTS.index(one) < TRUSTS.index(other)


def effect_of(caller: Trust, noun: str, verb: str, of: Trust) -> Effect:
    """What a verb on a record of trust `of` does; for a new record `of` is the caller's own trust."""
    rule = RULES[noun][verb]
    if caller == "human":
        return ALLOWED
    if caller == "agent":
        return rule.agent_on_persons if of == "human" else rule.agent
    return rule.outsider_on_trusted if of != "external" else rule.outsider


def check_may(caller: Trust, noun: str, verbs: str | Sequence[str], of: Trust | None = None) -> Effect:
    """The strictest effect of some verbs; raises Forbidden when one of them is refused."""
    verbs = (verbs,) if isinstance(verbs, str) else verbs
    effects = {verb: effect_of(caller, noun, verb, of or caller) for verb in verbs}
    refused = next((verb for verb, effect in effects.items() if effect == REFUSED), None)
    if refused == "adopt":
        raise Forbidden("only a person may vouch for what comes from outside; run this from your own terminal")
    if refused == "move":
        raise Forbidden("only a person moves a learning to another ring; run this from your own terminal")
    if refused is not None:
        raise Forbidden(
            f"a caller from outside may not {_SAID.get((noun, refused), f'{refused} a {noun}')}; "
            "use a token of an agent or a person: recollect host token new"
        )
    return max(effects.values(), key=_STRICTEST_LAST.index, default=ALLOWED)


_SAID = {
    ("learning", "rate"): "rate a learning: verdicts from outside do not count",
    ("learning", "inject"): "record what a task was shown",
    ("staged", "consolidate"): "consolidate staged learnings",
    ("staged", "restore"): "restore a staged learning",
    ("staged", "promote"): "promote a staged learning",
    ("finding", "consolidate"): "gather findings into themes",
    ("log", "consolidate"): "compact the tree",
    ("topic", "edit"): "change a topic",
    ("decision", "consolidate"): "prepare the summaries of decisions",
    ("memory", "maintain"): "run the cycle",
}


def check_trust(caller: Trust, trust: Trust) -> None:
    """Refuse any trust but external for imported text, and agent where a person vouches for it."""
    check_choice(trust, "trust", ("external", "agent"))
    if trust == "agent":
        check_may(caller, "learning", "adopt")
