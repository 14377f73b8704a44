"""What a new learning does to those that say otherwise: replaced in so many words, or put before a person.

Only titles and actions are held against each other: they state the rule, the rest tells where it came from.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from recollect.core.actor import TRUSTS
from recollect.core.context import Context, Tx
from recollect.core.learning import Learning
from recollect.store import escalations, events
from recollect.store import learnings as rows
from recollect.text.compare import Comparison, contradiction, supersession
from recollect.text.tokens import terms

_SENTENCE = re.compile(r"(?<=[.!?;])\s+")

KIND = "contradiction"
SHARED = 0.5  # share of words (Dice) from which two sentences are about the same thing
DOUBTFUL = 0.6  # overlap from which an unsure contradiction is worth a person's time


def settle(tx: Tx, ctx: Context, new: Learning, known: Sequence[Learning], change: str) -> None:
    """Mark what the new learning replaces by an explicit cue; raise what it contradicts, or may, once each."""
    lines = _lines(new)
    for old in known:
        if not _about_the_same(lines, _lines(old)):
            continue
        conflict = contradiction(_rule(new), _rule(old))
        replaced = supersession(_rule(new), _rule(old), conflict=conflict)
        if replaced.holds and replaced.reason.startswith("cue:") and _may_replace(new, old):
            _supersede(tx, ctx, old, new, replaced, change)
            continue
        if conflict.holds or (conflict.answer == "unsure" and conflict.score >= DOUBTFUL):
            escalations.raise_once(
                tx,
                kind=KIND,
                subject=new.id,
                other=old.id,
                reason=conflict.conflict,
                detail={"new": _said(new), "old": _said(old), "score": conflict.score},
                at=ctx.clock.now(),
            )


def _about_the_same(ones: list[set[str]], others: list[set[str]]) -> bool:
    """Whether a sentence of one shares enough words with one of the other to be worth the milliseconds of comparing."""
    return any(2 * len(one & other) >= SHARED * (len(one) + len(other)) for one in ones for other in others)


def _lines(learning: Learning) -> list[set[str]]:
    return [set(terms(line)) for line in (learning.title, *_SENTENCE.split(learning.action))]


def _may_replace(new: Learning, old: Learning) -> bool:
    """What is pinned stays, and nobody replaces the word of somebody who is trusted more."""
    return not old.pinned and TRUSTS.index(new.trust) <= TRUSTS.index(old.trust)


def _rule(learning: Learning) -> str:
    return f"{learning.title}\n{learning.action}"


def _said(learning: Learning) -> str:
    """What it says and tells to do, for a person who has to choose."""
    same = learning.action.strip(". ").casefold() == learning.title.strip(". ").casefold()
    return learning.title if same else f"{learning.title} — {learning.action}"


def _supersede(tx: Tx, ctx: Context, old: Learning, new: Learning, found: Comparison, change: str) -> None:
    after = replace(old, status="superseded", superseded_by=new.id, version=old.version + 1, updated_at=ctx.clock.now())
    rows.save(tx, after, expect=old.version)
    events.record(
        tx,
        ctx,
        change=change,
        subject=old.id,
        what="learning.superseded",
        old={"status": old.status, "superseded_by": old.superseded_by},
        new={"status": "superseded", "superseded_by": new.id},
        reason=f"{new.id} says so ({found.reason})",
    )
