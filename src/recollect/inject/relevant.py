"""Relevant learnings for one task: chosen by reading only, recorded as injections afterwards.

Two steps, because the choice must reach the agent even when the record cannot be written yet.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.confidence import thousandths
from recollect.core.errors import BadInput, Refused
from recollect.core.ids import check_id
from recollect.core.record import record
from recollect.search.learnings import find
from recollect.store import events, injections, tasks
from recollect.store import learnings as rows
from recollect.store.learnings import Filter
from recollect.text.frame import fit, section

if TYPE_CHECKING:
    from recollect.core.context import Context, Tx
    from recollect.core.learning import Injection, Learning

INJECTABLE = ("human", "agent")  # external text waits until a person adopts it
LIMIT = 50
LOOKED_AT = 10  # hits beyond the slots, so that those still on trial do not crowd out the proven


@record
class NewInjection:
    """A task that wants learnings. `learnings` names chosen ones; then nothing is searched."""

    task: str
    outcome: str
    title: str
    description: str = ""
    learnings: tuple[str, ...] = ()
    max_learnings: int | None = None
    min_confidence: float | None = None
    budget: int | None = None

    def __post_init__(self) -> None:
        check_id(self.task, "task")
        check_id(self.outcome, "outcome")
        if not self.title.strip() and not self.learnings:
            raise BadInput("title is empty; say what the task is about")
        if self.max_learnings is not None and not 1 <= self.max_learnings <= LIMIT:
            raise BadInput(f"max learnings must be between 1 and {LIMIT}, not {self.max_learnings}")
        if self.min_confidence is not None:
            thousandths(self.min_confidence, "min confidence")
        if self.budget is not None and self.budget < 1:
            raise BadInput(f"budget must be at least 1 token, not {self.budget}")


@record
class Chosen:
    """What a task is shown."""

    learnings: tuple[Learning, ...]
    markdown: str


def choose(ctx: Context, wanted: NewInjection) -> Chosen:
    """The learnings for a task and the block that shows them; "nothing relevant" is an answer."""
    settings = ctx.settings.inject
    with ctx.db.read(ctx.space) as tx:
        found = _named(tx, wanted.learnings) if wanted.learnings else _relevant(tx, ctx, wanted)
    fitting = fit(found, wanted.budget or settings.budget)
    return Chosen(learnings=fitting, markdown=section(fitting))


def remember(
    ctx: Context, *, task: str, outcome: str, title: str, learnings: tuple[str, ...], change: str | None = None
) -> list[Injection]:
    """Remember what a task was shown; shown again, it is the same injection."""
    now = ctx.clock.now()
    change = change or ctx.ids("change")
    with ctx.db.write(ctx.space) as tx:
        tasks.ensure_outcome(tx, outcome, at=now)
        tasks.ensure_task(tx, task, outcome=outcome, at=now, title=title)
        for id in learnings:
            if injections.record(tx, learning=id, task=task, outcome=outcome, at=now):
                events.record(tx, ctx, change=change, subject=id, what="learning.injected", reason=f"task {task}")
        return [made for made in injections.of_task(tx, task) if made.learning_id in learnings]


def _named(tx: Tx, ids: tuple[str, ...]) -> list[Learning]:
    """Learnings chosen by hand: their confidence is not asked, their state is."""
    named = [rows.get(tx, id) for id in dict.fromkeys(ids)]
    for learning in named:
        if learning.status != "active":
            raise Refused(f"{learning.id} is {learning.status}; restore it first, or choose what replaced it")
        if learning.trust not in INJECTABLE:
            raise Refused(f"{learning.id} came from outside; adopt it first: recollect learn adopt {learning.id}")
    return named


def _relevant(tx: Tx, ctx: Context, wanted: NewInjection) -> list[Learning]:
    """Proven learnings, and in the last slot one that still has to prove itself."""
    settings = ctx.settings.inject
    slots = wanted.max_learnings or settings.max_learnings
    bar = settings.min_confidence if wanted.min_confidence is None else wanted.min_confidence
    found = find(
        tx,
        f"{wanted.title} {wanted.description}",
        Filter(
            min_confidence=thousandths(min(bar, settings.explore_from)),
            exclude_outcome=wanted.outcome,
            trusts=INJECTABLE,
        ),
        limit=slots + LOOKED_AT,
    )
    relevant = [hit.learning for hit in found if hit.relevance >= settings.relevance]
    proven = [learning for learning in relevant if learning.confidence >= bar][:slots]
    on_trial = [
        learning
        for learning in relevant
        if settings.explore_from <= learning.confidence < bar and learning.verdicts < settings.explore_verdicts
    ]
    if not on_trial or (slots == 1 and proven):
        return proven
    return [*proven[: slots - 1], on_trial[0]]
