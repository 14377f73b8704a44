"""Rebuild: everything derived is made again from its home, byte for byte what it was.

In small transactions, so that others keep writing meanwhile; stopped half-way, it can simply be run again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recollect.core.context import Context
from recollect.distil.tree import Compacted, compact
from recollect.store import contents, derived, journal, passages, readings, soundness, vectors
from recollect.store.sqlite import SqliteDb
from recollect.tend.naming import naming_damage
from recollect.tend.owners import OWNERS, batches

Progress = Callable[[int], object]


@dataclass(frozen=True, kw_only=True)
class Rebuilt:
    """How much was made again, and what of it was wrong before."""

    nodes: int
    passages: int
    orphans: int
    terms_corrected: int
    counters_corrected: int
    vectors_dropped: int


def rebuild(ctx: Context, *, progress: Progress | None = None) -> Rebuilt:
    """The tree, passages, term counts, indexes and counters. Vectors stay where their passage did not change; the
    next cycle makes those that were wrong."""
    with naming_damage(ctx):
        return _rebuilt(ctx, progress)


def _rebuilt(ctx: Context, progress: Progress | None) -> Rebuilt:
    if isinstance(ctx.db, SqliteDb):
        soundness.remake_indexes(ctx.db)  # first: a passage cannot be replaced while the index is broken
    with ctx.db.write(ctx.space) as tx:
        contents.drop_unreadable(tx)
        readings.forget(tx)  # what only a clone that is gone had, goes; the others read theirs in again
    nodes = rebuild_tree(ctx, progress=lambda *_: progress(1) if progress else None)
    made = _passages(ctx, progress)
    orphans = _orphans(ctx)
    with ctx.db.write(ctx.space) as tx:
        terms = derived.recount(tx)
        dropped = vectors.mend(tx)
    return Rebuilt(
        nodes=len(nodes.changes),
        passages=made,
        orphans=orphans,
        terms_corrected=terms,
        counters_corrected=_counters(ctx),
        vectors_dropped=dropped,
    )


def rebuild_tree(ctx: Context, *, progress: Callable[[str, int, int], object] = lambda *_: None) -> Compacted:
    """Forget what is known of logs and nodes and make every node again: the same bytes as before."""
    with ctx.db.write(ctx.space) as tx:
        journal.forget_tree(tx)
    return compact(ctx, everything=True, asking=False, progress=progress)


def _passages(ctx: Context, progress: Progress | None) -> int:
    made = 0
    for owner in OWNERS.values():
        with ctx.db.read(ctx.space) as tx:
            ids = list(owner.ids(ctx, tx))
        for batch in batches(ids):
            with ctx.db.write(ctx.space) as tx:
                for passage in owner.make(ctx, tx, batch):
                    passages.put(tx, passage, anew=True)
                    made += 1
            if progress is not None:
                progress(len(batch))
    return made


def _orphans(ctx: Context) -> int:
    with ctx.db.write(ctx.space) as tx:
        left = derived.passage_ids(tx)
        for kind, owner in OWNERS.items():
            left[kind] = left.get(kind, set()) - set(owner.ids(ctx, tx))
        gone = sorted(id for ids in left.values() for id in ids)
        for id in gone:
            passages.remove(tx, id)
    return len(gone)


def _counters(ctx: Context) -> int:
    with ctx.db.write(ctx.space) as tx:
        wrong = list(derived.wrong_counters(tx))
        for id, pairs in wrong:
            derived.set_counters(tx, id, {name: true for name, (_, true) in pairs.items()})
    return len(wrong)
