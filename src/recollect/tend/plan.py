"""What a cycle would do now, step by step, without doing any of it."""

from __future__ import annotations

from collections.abc import Callable

from recollect.capture import documents
from recollect.capture.finding import survey
from recollect.core.context import Context
from recollect.core.errors import NotFound, Refused
from recollect.distil import consolidate, decisions, themes, tree
from recollect.feedback.confidence import decay
from recollect.store import vectors
from recollect.tend import backups
from recollect.tend.cycle import CycleReport, attempted
from recollect.text.counting import counted


def plan(ctx: Context) -> CycleReport:
    return CycleReport(steps=tuple((name, attempted(ctx, step)) for name, step in PLANNED))


def _tree(ctx: Context) -> str:
    found = tree.compact(ctx, dry_run=True).changes
    return f"would make {counted(len(found), 'node')}" if found else "nothing due"


def _themes(ctx: Context) -> str:
    test = themes.due(ctx, survey(ctx))
    would = f"would gather {counted(test.files, 'raw file')}" if test.due else "nothing due"
    return f"{would} ({test.reason})"


def _decay(ctx: Context) -> str:
    count = decay(ctx, dry_run=True)
    return f"would take confidence from {counted(count, 'learning')}" if count else "nothing due"


def _decisions(ctx: Context) -> str:
    count = decisions.compact(ctx, dry_run=True).prepared
    return f"would prepare {counted(count, 'wording')}" if count else "nothing due"


def _consolidation(ctx: Context) -> str:
    try:
        found = consolidate.due(ctx)
    except (Refused, NotFound) as unknown:
        return f"nothing due: {unknown}"
    if found.trigger == "none":
        return f"nothing due: {found.reason}"
    return f"would say that a consolidation is due ({found.reason})"


def _documents(ctx: Context) -> str:
    changed = documents.behind(ctx)
    return f"would read in {counted(changed, 'document')}" if changed else "nothing due"


def _vectors(ctx: Context) -> str:
    embedder = ctx.models.embedder()
    with ctx.db.read(ctx.space) as tx:
        waiting = vectors.counts(tx, embedder.name)[1] if embedder and tx.keeps_vectors else 0
    due = min(waiting, ctx.settings.embed.per_cycle)
    return f"would make them for {counted(due, 'passage')}" if due else "nothing due"


def _backup(ctx: Context) -> str:
    return backups.daily(ctx, dry_run=True)


PLANNED: tuple[tuple[str, Callable[[Context], str]], ...] = (
    ("tree", _tree),
    ("themes", _themes),
    ("decay", _decay),
    ("decisions", _decisions),
    ("consolidation", _consolidation),
    ("documents", _documents),
    ("vectors", _vectors),
    ("backup", _backup),
)
"""The steps of the cycle, each as a question."""
