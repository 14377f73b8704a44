"""Status: what is remembered, what waits, what works on words alone."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.actor import Actor
from recollect.core.context import Context
from recollect.store import counts, escalations, spool
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
    passages: int
    inbox: int
    spooled: int
    models: str
    embedder: str


def status(ctx: Context, project: Project) -> Status:
    """Counts and states; reading them changes nothing."""
    embedder = ctx.models.embedder()
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
            passages=counts.passages(tx),
            inbox=len(escalations.waiting(tx)),
            spooled=len(spool.pending(project.spools)),
            models="offline" if ctx.models.provider("extract") is None else "configured",
            embedder=embedder.name if embedder else "none: everything works on words alone",
        )
