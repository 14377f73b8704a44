"""Status: what is remembered, what waits, what works on words alone."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.actor import Actor
from recollect.core.context import Context, Tx
from recollect.store import counts, escalations, journal, spool
from recollect.store.project import Project


@dataclass(frozen=True, kw_only=True)
class Status:
    space: str
    engine: str
    store: str
    timezone: str
    actor: Actor
    learnings: dict[str, int]
    injections: int
    verdicts: dict[str, int]
    discoveries: int
    tree: dict[str, int]
    incomplete: tuple[str, ...]
    passages: int
    inbox: int
    spooled: int
    models: str


def status(ctx: Context, project: Project) -> Status:
    """Counts and states; reading them changes nothing."""
    with ctx.db.read(ctx.space) as tx:
        return Status(
            space=ctx.space,
            engine=ctx.db.engine,
            store=ctx.db.place,
            timezone=project.settings.timezone,
            actor=ctx.actor,
            learnings=counts.learnings_by_status(tx),
            injections=counts.injections(tx),
            verdicts=counts.verdicts(tx),
            discoveries=counts.discoveries(tx),
            tree=_tree(tx),
            incomplete=tuple(row.id for row in journal.incomplete(tx)),
            passages=counts.passages(tx),
            inbox=len(escalations.waiting(tx)),
            spooled=len(spool.pending(project.spools)),
            models="offline" if ctx.models.provider("extract") is None else "configured",
        )


def _tree(tx: Tx) -> dict[str, int]:
    """How many nodes are tentative, fixed, and waiting for a model."""
    found = {"tentative": 0, "fixed": 0, "waiting": 0}
    for _, status, count, waiting in journal.counts(tx):
        found[status] += count
        found["waiting"] += waiting
    return found
