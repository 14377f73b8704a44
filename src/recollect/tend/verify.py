"""Verify and rebuild: everything derived is derived again, and compared with what is stored or put in its place.

`verify` changes nothing, except that it first reads in files that people edit by hand and logs that a killed process
wrote to; it reports whatever the store holds, and nothing in a row may stop it. `rebuild` makes the derived part again,
byte for byte, in small transactions, so that others keep writing; after a stop it can be run again. `doctor` adds what
surrounds the store and says what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Literal

from recollect.capture import documents, logs, stage
from recollect.capture.documents import refresh as refresh_documents
from recollect.capture.stage import refresh_passages
from recollect.core.clock import zone_named
from recollect.core.context import Context, Tx
from recollect.core.errors import StoreUnreachable
from recollect.core.records import record, replace
from recollect.distil.tree import Compacted, compact
from recollect.store import check, journal, passages, vectors
from recollect.store.check import Difference, Unreadable
from recollect.store.db import update
from recollect.tend.kinds import KINDS, batches, expected
from recollect.tend.status import UNREADABLE, naming_damage

Level = Literal["damage", "difference", "notice"]
SPELLED_OUT = 20  # findings of one kind that are listed; the rest is counted

Progress = Callable[[str], object]


@record
class Discrepancy:
    """Something that is not as it should be. Damage is lost or broken data; a difference is derived state that can be
    made again; a notice is for a person to know."""

    level: Level
    what: str
    subject: str
    detail: str
    remedy: str


REBUILD = "recollect doctor --fix, or recollect store rebuild"
RESTORE = "recollect store restore FILE; recollect doctor lists the backups that would restore"
LOOK = "recollect why ID shows what is known about it; nothing depends on it"


def verify(ctx: Context, *, progress: Progress | None = None) -> tuple[Discrepancy, ...]:
    """All differences and damages, worst first."""
    zone_named(ctx.settings.timezone)  # a wrong setting is reported as such, because a rebuild would not mend it
    tell = progress or (lambda _: None)
    tell("the file")
    findings = list(_file(ctx))
    if any(finding.level == "damage" for finding in findings):
        return _sorted(findings)  # what does not read back cannot be compared
    tell("rows")
    if unread := unreadable_rows(ctx):
        return _sorted([*findings, *unread])
    with _reporting(findings, "files that people edit"), suppress(StoreUnreachable):
        # A store that cannot be written is looked at all the same.
        refresh_passages(ctx, anew=True)
        refresh_documents(ctx, anew=True)
        documents.refresh_logs(ctx)
    for one in CHECKS:
        if one.what == "index" and any(finding.what == "index" for finding in findings):
            continue  # a broken index cannot be asked
        tell(one.name)
        with _reporting(findings, one.name), ctx.db.read(ctx.space) as tx:
            for differences in one.find(ctx, tx):
                findings += _spelled_out(one.level, one.what, one.remedy, differences)
    tell("files")
    with _reporting(findings, "files"), ctx.db.read(ctx.space) as tx:
        findings += _faults(ctx, tx)
    return _sorted(findings)


def what_does_not_read(ctx: Context) -> Iterator[Discrepancy]:
    """What is wrong with the file itself, then with the content of its rows."""
    yield from _file(ctx)
    yield from unreadable_rows(ctx)


def _file(ctx: Context) -> Iterator[Discrepancy]:
    for what, detail in ctx.db.faults():
        level: Level = "damage" if what == "file" else "difference"
        remedy = RESTORE if what == "file" else REBUILD
        yield Discrepancy(level=level, what=what, subject=ctx.db.place, detail=detail, remedy=remedy)


def unreadable_rows(ctx: Context) -> list[Discrepancy]:
    """Rows whose content cannot be read. Those of derived tables can be made again, the others restored."""
    found = [Unreadable(*row) for row in ctx.db.unreadable_texts()]
    if not found:
        with ctx.db.read(ctx.space) as tx:
            found = list(check.unreadable(tx))
    made: list[Discrepancy] = []
    for what in ("event", "row"):
        rows = [row for row in found if (what == "event") == (row.table == "events")]
        again = ((row.subject, row.detail) for row in rows if row.derived)
        made += _spelled_out("difference", what, REBUILD, again)
        lost = ((row.subject, row.detail) for row in rows if not row.derived)
        made += _spelled_out("damage", what, RESTORE, lost)
    return made


@contextmanager
def _reporting(findings: list[Discrepancy], name: str) -> Iterator[None]:
    """What stops a check although the file is sound and every row reads is in what is derived."""
    try:
        yield
    except UNREADABLE as error:
        detail = f"could not be compared ({type(error).__name__}: {error})"
        remedy = f"{REBUILD}; if it stays: {RESTORE}"
        findings.append(Discrepancy(level="difference", what="check", subject=name, detail=detail, remedy=remedy))


def _sorted(findings: Iterable[Discrepancy]) -> tuple[Discrepancy, ...]:
    order = ("damage", "difference", "notice")
    return tuple(sorted(findings, key=lambda finding: order.index(finding.level)))


@record
class Check:
    """One comparison: `find` gives the differences, in groups that are spelled out one by one."""

    name: str
    what: str
    find: Callable[[Context, Tx], Iterable[Iterator[Difference]]]
    remedy: str = REBUILD
    level: Level = "difference"


def _passages(ctx: Context, tx: Tx) -> Iterator[Iterator[Difference]]:
    yield check.damaged_passages(tx)
    for kind in KINDS:
        yield check.stale_passages(tx, expected(ctx, tx, kind))
    for name, ids in sorted(_without_owner(ctx, tx).items()):
        yield ((id, f"a {name} passage that nothing owns") for id in sorted(ids))


def _without_owner(ctx: Context, tx: Tx) -> dict[str, set[str]]:
    """The ids of passages, by kind, that no noun would write."""
    left = check.passage_ids(tx)
    for kind in KINDS:
        if kind.ids is not None and kind.name in left:
            left[kind.name] -= set(kind.ids(ctx, tx))
    return left


def _faults(ctx: Context, tx: Tx) -> Iterator[Discrepancy]:
    """What is wrong with files that people write. Nothing is lost: entries of logs are remembered."""
    inside = replace(ctx, vault=ctx.vault.inside(tx))
    for what, found in (("log", logs.faults(tx, ctx)), ("file", [*stage.faults(tx, ctx), *documents.faults(inside)])):
        for fault in found:
            yield Discrepancy(level="notice", what=what, subject=fault.path, detail=fault.detail, remedy=fault.remedy)


def _counters(_: Context, tx: Tx) -> Iterator[Iterator[Difference]]:
    yield (
        (id, ", ".join(f"{name} is {kept}, should be {true}" for name, (kept, true) in wrong.items()))
        for id, wrong in check.wrong_counters(tx)
    )


CHECKS: tuple[Check, ...] = (
    Check(name="passages", what="passage", find=_passages),
    Check(name="term counts", what="term", find=lambda _, tx: [check.wrong_counts(tx)]),
    Check(name="the word index", what="index", find=lambda _, tx: [check.wrong_index(tx)]),
    Check(name="vectors", what="vector", find=lambda _, tx: [vectors.wrong(tx)]),
    Check(name="counters", what="counter", find=_counters),
    Check(
        name="references",
        what="reference",
        find=lambda _, tx: [check.dangling(tx)],
        remedy=LOOK,
        level="notice",
    ),
)


def _spelled_out(level: Level, what: str, remedy: str, found: Iterator[Difference]) -> Iterator[Discrepancy]:
    """The first differences one by one, and how many more there are."""
    for subject, detail in islice(found, SPELLED_OUT):
        yield Discrepancy(level=level, what=what, subject=subject, detail=detail, remedy=remedy)
    if more := sum(1 for _ in found):
        yield Discrepancy(level=level, what=what, subject="", detail=f"and {more:,} more of this kind", remedy=remedy)


CountProgress = Callable[[int], object]


@record
class Rebuilt:
    """How much was made again, and what of it was wrong before."""

    nodes: int
    passages: int
    orphans: int
    terms_corrected: int
    counters_corrected: int
    vectors_dropped: int
    files: tuple[str, ...] = ()


def rebuild(ctx: Context, *, files: bool = False, progress: CountProgress | None = None) -> Rebuilt:
    """The tree, passages, term counts, indexes and counters. Vectors stay where their passage did not change; the
    next cycle makes those that were wrong. With `files`, what logs and the staging file lost is first written again."""
    with naming_damage(ctx):
        written = (*logs.write_again(ctx), *stage.write_again(ctx)) if files else ()
        return replace(_rebuilt(ctx, progress), files=written)


def _rebuilt(ctx: Context, progress: CountProgress | None) -> Rebuilt:
    ctx.db.remake_indexes()  # first: a passage cannot be replaced while the index is broken
    with ctx.db.write(ctx.space) as tx:
        check.drop_unreadable(tx)
        # What only a clone that is gone had, goes; the others read theirs in again.
        journal.forget_readings(tx, ctx.clone, besides=stage.KIND)
    nodes = rebuild_tree(ctx, progress=lambda *_: progress(1) if progress else None)
    made = _rebuild_passages(ctx, progress)
    with ctx.db.write(ctx.space) as tx:
        orphans = sorted(id for ids in _without_owner(ctx, tx).values() for id in ids)
        for id in orphans:
            passages.remove(tx, id)
    with ctx.db.write(ctx.space) as tx:  # after the commit that counted the terms of all passages
        terms = check.recount(tx)
        dropped = vectors.mend(tx)
        wrong = list(check.wrong_counters(tx))
        for id, pairs in wrong:
            update(tx, "learnings", {"id": id}, **{name: true for name, (_, true) in pairs.items()})
    return Rebuilt(
        nodes=len(nodes.changes),
        passages=made,
        orphans=len(orphans),
        terms_corrected=terms,
        counters_corrected=len(wrong),
        vectors_dropped=dropped,
    )


def rebuild_tree(ctx: Context, *, progress: Callable[[str, int, int], object] = lambda *_: None) -> Compacted:
    """Forget what is known of logs and nodes and make every node again: the same bytes as before."""
    with ctx.db.write(ctx.space) as tx:
        journal.forget_tree(tx)
    return compact(ctx, everything=True, asking=False, progress=progress)


def _rebuild_passages(ctx: Context, progress: CountProgress | None) -> int:
    made = 0
    for kind in KINDS:
        if kind.ids is None or kind.passages is None:
            continue
        with ctx.db.read(ctx.space) as tx:
            ids = list(kind.ids(ctx, tx))
        for batch in batches(ids):
            with ctx.db.write(ctx.space) as tx:
                for passage in kind.passages(ctx, tx, batch):
                    passages.put(tx, passage, anew=True)
                    made += 1
            if progress is not None:
                progress(len(batch))
    return made
