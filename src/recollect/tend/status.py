"""Status: counts, work that waits, and models in use; and naming the damage that a command meets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from recollect.capture import documents, logs, stage
from recollect.capture.finding import survey
from recollect.capture.logs import FileFault
from recollect.core.context import Actor, Context, Embedder, Tx
from recollect.core.errors import BadInput, StoreDamaged
from recollect.core.finding import SkippedFile
from recollect.core.records import record, replace
from recollect.models.budget import today
from recollect.models.configured import KINDS
from recollect.search.meaning import NO_EMBEDDER, NO_ROOM
from recollect.store import (
    check,
    db,
    decisions,
    events,
    journal,
    learnings,
    model_rows,
    register,
    spool,
    themes,
    vectors,
)
from recollect.store.project import Project
from recollect.text.sentences import counted

# Reading a damaged row may raise any of these.
UNREADABLE = (StoreDamaged, ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


@contextmanager
def naming_damage(ctx: Context) -> Iterator[None]:
    """Raise StoreDamaged that names the damaged file or row; other errors pass through."""
    try:
        yield
    except (*UNREADABLE, BadInput) as error:  # a record refuses values that break its rules
        from recollect.tend.doctor import what_does_not_read  # loads every room, and is seldom needed

        first = next(what_does_not_read(ctx), None)
        if first is None:
            raise
        raise StoreDamaged(
            f"{ctx.db.place} is damaged: {first.subject}: {first.detail}. Nothing was deleted. Run: {first.remedy}"
        ) from error


@record
class ModelUsage:
    """A fallback is an ask that got the offline answer in place of a model's."""

    calls: int
    input_tokens: int
    output_tokens: int
    cost: float
    fallbacks: int

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


@record
class ModelsStatus:
    """The provider of each kind of job (the others run offline), and what models used."""

    configured: dict[str, str]
    daily_tokens: int
    today: ModelUsage
    all_time: ModelUsage
    pending: int


@record
class Status:
    space: str
    engine: str
    store: str
    folder: str
    places: tuple[str, ...]
    timezone: str
    actor: Actor
    learnings: dict[str, int]
    injections: int
    verdicts: dict[str, int]
    discoveries: int
    tree: dict[str, int]
    tentative: tuple[str, ...]
    waiting: tuple[str, ...]
    incomplete: tuple[str, ...]
    unreadable: tuple[str, ...]
    faults: tuple[FileFault, ...]
    others_entries: int
    passages: int
    inbox: int
    spooled: int
    spooled_oldest_at: int | None
    set_aside: int
    set_aside_oldest_at: int | None
    models: ModelsStatus
    decisions: dict[str, int]
    findings: dict[str, int]
    skipped_findings: tuple[SkippedFile, ...]
    embedder: str
    vectors: dict[str, int]
    rings: dict[str, str]


def status(ctx: Context, project: Project) -> Status:
    with naming_damage(ctx):
        return _status(ctx, project)


def _status(ctx: Context, project: Project) -> Status:
    seen = survey(ctx)
    embedder = ctx.models.embedder()
    spooled, aside = (spool.queue(find(project.spools)) for find in (spool.pending, spool.aside))
    rings = rings_of(ctx)
    with ctx.db.read(ctx.space) as tx:
        unsettled = journal.unsettled(tx)
        return Status(
            space=ctx.space,
            engine=ctx.db.engine,
            store=ctx.db.place,
            folder=str(project.data),
            places=tuple(one.shown for one in register.read(project.home) if one.space == ctx.space),
            timezone=project.settings.timezone,
            actor=ctx.actor,
            learnings=check.count_by(tx, "learnings", "status", ("active", "archived", "superseded")),
            injections=db.count(tx, "injections"),
            verdicts=check.count_by(tx, "injections", "feedback", ("helpful", "not_helpful")),
            discoveries=db.count(tx, "discoveries"),
            tree=_tree(tx),
            tentative=tuple(id for id, status, _ in unsettled if status == "tentative"),
            waiting=tuple(id for id, _, waits in unsettled if waits),
            incomplete=tuple(row.id for row in journal.incomplete(tx)),
            unreadable=tuple(journal.unreadable_logs(tx)),
            faults=(
                *logs.faults(tx, ctx),
                *stage.faults(tx, ctx),
                *documents.faults(replace(ctx, vault=ctx.vault.inside(tx))),
            ),
            others_entries=sum(journal.days_of_others(tx).values()),
            passages=db.count(tx, "passages"),
            inbox=events.count_waiting(tx),
            spooled=spooled.count,
            spooled_oldest_at=spooled.oldest_at,
            set_aside=aside.count,
            set_aside_oldest_at=aside.oldest_at,
            models=_models(ctx, tx),
            decisions=decisions.counts(tx),
            findings={
                "files": len(seen.files),
                "findings": sum(len(file.findings) for file in seen.files),
                "themes": len(themes.everything(tx)),
            },
            skipped_findings=seen.skipped,
            embedder=_embedder(tx, embedder),
            vectors=_vectors(tx, embedder),
            rings=rings,
        )


def rings_of(ctx: Context) -> dict[str, str]:
    """Each other ring that sessions read here, with what it holds or why it is left out."""
    held = dict(ctx.rings.ask(ctx, lambda ring: counted(ring.read(learnings.count_active), "learning")))
    return {name: held.get(name) or f"left out: {ctx.rings.left_out.get(name)}" for name in ctx.rings.names}


def _models(ctx: Context, tx: Tx) -> ModelsStatus:
    named = {kind: provider.name for kind in KINDS if (provider := ctx.models.provider(kind)) is not None}
    used = model_rows.all_usage(tx)
    return ModelsStatus(
        configured=named,
        daily_tokens=ctx.settings.models.daily_tokens,
        today=_total(each for each in used if each.day == today(ctx)),
        all_time=_total(used),
        pending=len(model_rows.waiting_asks(tx)),
    )


def _total(used: Iterable[model_rows.Usage]) -> ModelUsage:
    found = list(used)
    sums = {name: sum(getattr(each, name) for each in found) for name in ModelUsage.__annotations__ if name != "cost"}
    return ModelUsage(**sums, cost=round(sum(each.cost_micros for each in found) / 1e6, 6))


def _embedder(tx: Tx, embedder: Embedder | None) -> str:
    if embedder is None:
        return NO_EMBEDDER
    return embedder.name if tx.keeps_vectors else f"{embedder.name}, but {NO_ROOM}"


def _vectors(tx: Tx, embedder: Embedder | None) -> dict[str, int]:
    if embedder is None or not tx.keeps_vectors:
        return {"passages": 0, "waiting": 0}
    have, waiting = vectors.counts(tx, embedder.name)
    return {"passages": have, "waiting": waiting}


def _tree(tx: Tx) -> dict[str, int]:
    found = {"tentative": 0, "fixed": 0, "waiting": 0}
    for _, status, count, waiting in journal.counts(tx):
        found[status] += count
        found["waiting"] += waiting
    return found
