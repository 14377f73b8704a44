"""Settling what waits: one table says which verb does what to which kind of matter."""

from __future__ import annotations

from collections.abc import Callable

from recollect.capture import edit
from recollect.core.context import Context
from recollect.core.errors import BadInput, Refused, after
from recollect.core.new_learning import LearningEdit
from recollect.distil import settling
from recollect.store import escalations, events
from recollect.store.escalations import Escalation


def resolve(ctx: Context, number: int, verb: str) -> Escalation:
    """Carry out a verb on a matter, then close it. A matter is settled once, and by a person."""
    if ctx.actor.trust != "human":
        raise Refused("only a person may settle what waits in the inbox; run this from your own terminal")
    with ctx.db.read(ctx.space) as tx:
        matter = escalations.get(tx, number)
    if matter.resolved_at is not None:
        raise Refused(f"matter {number} was settled before: {matter.resolution}")
    verbs = verbs_of(matter)
    if verb not in verbs:
        raise BadInput(f"{verb!r} does not settle a {matter.kind} matter; choose one of {', '.join(verbs)}")
    with after("What was carried out so far stays", f"Settle matter {number} again, with dismiss if {verb} is refused"):
        EFFECTS[matter.kind][verb](ctx, matter)
        with ctx.db.write(ctx.space) as tx:
            escalations.resolve(tx, number, resolution=verb, at=ctx.clock.now())
            events.record(tx, ctx, subject=matter.subject, what="inbox.resolved", reason=f"{number}: {verb}")
            return escalations.get(tx, number)


def verbs_of(matter: Escalation) -> tuple[str, ...]:
    """What settles a matter of its kind."""
    return tuple(sorted(EFFECTS.get(matter.kind, {})))


def _leave(ctx: Context, matter: Escalation) -> None:
    """The matter is closed, nothing else changes."""


def _make_best_practice(ctx: Context, matter: Escalation) -> None:
    edit.edit(ctx, matter.subject, LearningEdit(pattern_type="best-practice"))


def _keep_new(ctx: Context, matter: Escalation) -> None:
    edit.supersede(ctx, matter.other, matter.subject, reason=f"settled in the inbox: {matter.reason}")


def _keep_old(ctx: Context, matter: Escalation) -> None:
    edit.supersede(ctx, matter.subject, matter.other, reason=f"settled in the inbox: {matter.reason}")


def _merge(ctx: Context, matter: Escalation) -> None:
    edit.merge(ctx, matter.other, matter.subject, reason="settled in the inbox")


EFFECTS: dict[str, dict[str, Callable[[Context, Escalation], None]]] = {
    "best-practice": {"accept": _make_best_practice, "dismiss": _leave},
    "contradiction": {
        "keep-old": _keep_old,
        "keep-new": _keep_new,
        "merge": _merge,
        "keep-both": _leave,
        "dismiss": _leave,
    },
    "staged-contradiction": {
        "keep-old": settling.keep_old,
        "keep-new": settling.keep_new,
        "merge": settling.merge,
        "keep-both": settling.keep_both,
        "dismiss": _leave,
    },
    "staged-vague": {"keep-old": settling.keep_old, "keep-new": _leave, "keep-both": _leave, "dismiss": _leave},
    "staging-size": {"dismiss": _leave},
    "file-limit": {"dismiss": _leave},
}
"""kind of matter × verb → effect. What is only left is read by the next consolidation, which goes by the verb."""
