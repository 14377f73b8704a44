"""Verify: everything derived is derived again and held against what is stored; everything stored is read once.

Changes nothing, except that files which people edit by hand are read in first, and logs that a killed process wrote to.
Whatever the store holds is reported: nothing in a row may stop it. `rebuild` makes the derived part again; `doctor`
adds what surrounds the store and says what to do.

Rebuild: everything derived is made again from its home, byte for byte what it was.

In small transactions, so that others keep writing meanwhile; stopped half-way, it can simply be run again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from recollect.capture import documents
from recollect.capture.documents import refresh as refresh_documents
from recollect.capture.stage import refresh_passages
from recollect.core.clock import zone_named
from recollect.core.context import Context, Tx
from recollect.core.errors import StoreUnreachable
from recollect.distil.tree import Compacted, compact
from recollect.store import contents, derived, journal, passages, sqlite_file, vectors
from recollect.store.sqlite import SqliteDb
from recollect.tend.kinds import KINDS, batches, expected
from recollect.tend.status import UNREADABLE, naming_damage

Level = Literal["damage", "difference", "notice"]
SPELLED_OUT = 20  # findings of one kind; the rest is counted

Progress = Callable[[str], object]


@dataclass(frozen=True, kw_only=True)
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
    zone_named(ctx.settings.timezone)  # a mistake in the settings is no difference, and a rebuild would not mend it
    findings: list[Discrepancy] = []
    if isinstance(ctx.db, SqliteDb):
        _tell(progress, "the file")
        findings += _file(ctx.db)
    if any(finding.level == "damage" for finding in findings):
        return _sorted(findings)  # what does not read back cannot be compared
    _tell(progress, "rows")
    if unread := unreadable_rows(ctx):
        return _sorted([*findings, *unread])
    with _reporting(findings, "files that people edit"), suppress(StoreUnreachable):
        # A store that cannot be written is looked at all the same.
        refresh_passages(ctx, anew=True)
        refresh_documents(ctx, anew=True)
        if not ctx.db.holds_vault:  # a team's logs are in its store, written together with their rows
            documents.refresh_all_logs(ctx)
    for name, check in CHECKS:
        if check is _index and any(finding.what == "index" for finding in findings):
            continue  # a broken index cannot be asked
        _tell(progress, name)
        with _reporting(findings, name), ctx.db.read(ctx.space) as tx:
            findings += check(ctx, tx)
    return _sorted(findings)


def what_does_not_read(ctx: Context) -> Iterator[Discrepancy]:
    """What is wrong with the file itself, then with the content of its rows."""
    if isinstance(ctx.db, SqliteDb):
        yield from _file(ctx.db)
    yield from unreadable_rows(ctx)


def unreadable_rows(ctx: Context) -> list[Discrepancy]:
    """Rows whose content nobody can read. Those of derived tables can be made again, the others restored."""
    if isinstance(ctx.db, SqliteDb) and (found := sqlite_file.unreadable(ctx.db)):
        return list(_unreadable(iter(found)))
    with ctx.db.read(ctx.space) as tx:
        return list(_unreadable(contents.unreadable(tx)))


def _unreadable(found: Iterator[contents.Unreadable]) -> Iterator[Discrepancy]:
    for row in islice(found, SPELLED_OUT):
        level: Level = "difference" if row.derived else "damage"
        what = "event" if row.table == "events" else "row"
        remedy = REBUILD if row.derived else RESTORE
        yield Discrepancy(level=level, what=what, subject=row.subject, detail=row.detail, remedy=remedy)
    left = list(found)
    for derived_ones, level, remedy in ((False, "damage", RESTORE), (True, "difference", REBUILD)):
        if more := sum(row.derived is derived_ones for row in left):
            detail = f"and {more:,} more of this kind"
            yield Discrepancy(level=level, what="row", subject="", detail=detail, remedy=remedy)


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


def _file(db: SqliteDb) -> Iterator[Discrepancy]:
    data, indexes = sqlite_file.faults(db)
    for message in data:
        yield Discrepancy(
            level="damage",
            what="file",
            subject=str(db.path),
            detail=message,
            remedy=RESTORE,
        )
    for message in indexes:
        yield Discrepancy(level="difference", what="index", subject=str(db.path), detail=message, remedy=REBUILD)
    if not data and not indexes and (leftover := sqlite_file.leftover_words(db)):
        detail = f"{leftover} documents in the word index belong to no passage"
        yield Discrepancy(level="difference", what="index", subject=str(db.path), detail=detail, remedy=REBUILD)
    if not data and not indexes and (missing := sqlite_file.missing_words(db)):
        detail = f"{missing} passages are not among the documents of the word index"
        yield Discrepancy(level="difference", what="index", subject=str(db.path), detail=detail, remedy=REBUILD)
    if not data and not indexes and (wrong := sqlite_file.vectors_of_wrong_size(db)):
        detail = f"{wrong} vectors or rows of signs are not as long as their model makes them"
        yield Discrepancy(level="difference", what="vector", subject=str(db.path), detail=detail, remedy=REBUILD)
    if not data and not indexes and (unpacked := sqlite_file.unpacked_vectors(db)):
        detail = f"{unpacked} vectors are missing in the signs that lead to them"
        yield Discrepancy(level="difference", what="vector", subject=str(db.path), detail=detail, remedy=REBUILD)


def _passages(ctx: Context, tx: Tx) -> Iterator[Discrepancy]:
    yield from _differences("passage", derived.damaged_passages(tx), REBUILD)
    left = derived.passage_ids(tx)
    for kind in KINDS:
        yield from _differences("passage", derived.stale_passages(tx, expected(ctx, tx, kind)), REBUILD)
        left[kind.name] = left.get(kind.name, set()) - set(kind.ids(ctx, tx) if kind.ids else ())
    for name, ids in sorted(left.items()):
        orphans = ((id, f"a {name} passage that nothing owns") for id in sorted(ids))
        yield from _differences("passage", orphans, REBUILD)


def _terms(_: Context, tx: Tx) -> Iterator[Discrepancy]:
    yield from _differences("term", derived.wrong_counts(tx), REBUILD)


def _index(_: Context, tx: Tx) -> Iterator[Discrepancy]:
    yield from _differences("index", derived.wrong_index(tx), REBUILD)


def _vectors(_: Context, tx: Tx) -> Iterator[Discrepancy]:
    yield from _differences("vector", vectors.wrong(tx), REBUILD)


def _counters(_: Context, tx: Tx) -> Iterator[Discrepancy]:
    def spelled() -> Iterator[derived.Difference]:
        for id, wrong in derived.wrong_counters(tx):
            yield id, ", ".join(f"{name} is {kept}, should be {true}" for name, (kept, true) in wrong.items())

    yield from _differences("counter", spelled(), REBUILD)


def _references(_: Context, tx: Tx) -> Iterator[Discrepancy]:
    yield from _differences("reference", derived.dangling(tx), LOOK, level="notice")


CHECKS: tuple[tuple[str, Callable[[Context, Tx], Iterable[Discrepancy]]], ...] = (
    ("passages", _passages),
    ("term counts", _terms),
    ("the word index", _index),
    ("vectors", _vectors),
    ("counters", _counters),
    ("references", _references),
)


def _differences(
    what: str, found: Iterator[derived.Difference], remedy: str, *, level: Level = "difference"
) -> Iterator[Discrepancy]:
    for subject, detail in islice(found, SPELLED_OUT):
        yield Discrepancy(level=level, what=what, subject=subject, detail=detail, remedy=remedy)
    if more := sum(1 for _ in found):
        yield Discrepancy(level=level, what=what, subject="", detail=f"and {more:,} more of this kind", remedy=remedy)


def _tell(progress: Progress | None, name: str) -> None:
    if progress is not None:
        progress(name)


CountProgress = Callable[[int], object]


@dataclass(frozen=True, kw_only=True)
class Rebuilt:
    """How much was made again, and what of it was wrong before."""

    nodes: int
    passages: int
    orphans: int
    terms_corrected: int
    counters_corrected: int
    vectors_dropped: int


def rebuild(ctx: Context, *, progress: CountProgress | None = None) -> Rebuilt:
    """The tree, passages, term counts, indexes and counters. Vectors stay where their passage did not change; the
    next cycle makes those that were wrong."""
    with naming_damage(ctx):
        return _rebuilt(ctx, progress)


def _rebuilt(ctx: Context, progress: CountProgress | None) -> Rebuilt:
    if isinstance(ctx.db, SqliteDb):
        sqlite_file.remake_indexes(ctx.db)  # first: a passage cannot be replaced while the index is broken
    with ctx.db.write(ctx.space) as tx:
        contents.drop_unreadable(tx)
        journal.forget_readings(tx)  # what only a clone that is gone had, goes; the others read theirs in again
    nodes = rebuild_tree(ctx, progress=lambda *_: progress(1) if progress else None)
    made = _rebuild_passages(ctx, progress)
    orphans = _orphans(ctx)
    with ctx.db.write(ctx.space) as tx:
        terms = derived.recount(tx)
        dropped = vectors.mend(tx)
    return Rebuilt(
        nodes=len(nodes.changes),
        passages=made,
        orphans=orphans,
        terms_corrected=terms,
        counters_corrected=_rebuild_counters(ctx),
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


def _orphans(ctx: Context) -> int:
    with ctx.db.write(ctx.space) as tx:
        left = derived.passage_ids(tx)
        for kind in KINDS:
            left[kind.name] = left.get(kind.name, set()) - set(kind.ids(ctx, tx) if kind.ids else ())
        gone = sorted(id for ids in left.values() for id in ids)
        for id in gone:
            passages.remove(tx, id)
    return len(gone)


def _rebuild_counters(ctx: Context) -> int:
    with ctx.db.write(ctx.space) as tx:
        wrong = list(derived.wrong_counters(tx))
        for id, pairs in wrong:
            derived.set_counters(tx, id, {name: true for name, (_, true) in pairs.items()})
    return len(wrong)
