"""Verify: everything derived is derived again and held against what is stored; everything stored is read once.

Changes nothing, except that files which people edit by hand are read in first, and logs that a killed process wrote to.
Whatever the store holds is reported: nothing in a row may stop it. `rebuild` makes the derived part again; `doctor`
adds what surrounds the store and says what to do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from recollect.capture import follow
from recollect.capture.documents import refresh as refresh_documents
from recollect.capture.stage import refresh_passages
from recollect.core.context import Context, Tx
from recollect.core.errors import StoreUnreachable
from recollect.store import contents, derived, soundness, vectors
from recollect.store.sqlite import SqliteDb
from recollect.tend.naming import UNREADABLE
from recollect.tend.owners import OWNERS, expected

Level = Literal["damage", "difference", "notice"]
SPELLED_OUT = 20  # findings of one kind; the rest is counted

Progress = Callable[[str], object]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something that is not as it should be. Damage is lost or broken data; a difference is derived state that can be
    made again; a notice is for a person to know."""

    level: Level
    what: str
    subject: str
    detail: str
    remedy: str


REBUILD = "recollect doctor --fix, or recollect rebuild"
RESTORE = "recollect restore FILE; recollect doctor lists the backups that would restore"
LOOK = "recollect why ID shows what is known about it; nothing depends on it"


def verify(ctx: Context, *, progress: Progress | None = None) -> tuple[Finding, ...]:
    """All differences and damages, worst first."""
    findings: list[Finding] = []
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
        if ctx.db.engine == "sqlite":  # a team's logs are in its store, written together with their rows
            follow.refresh_all_logs(ctx)
    for name, check in CHECKS:
        if check is _index and any(finding.what == "index" for finding in findings):
            continue  # a broken index cannot be asked
        _tell(progress, name)
        with _reporting(findings, name), ctx.db.read(ctx.space) as tx:
            findings += check(ctx, tx)
    return _sorted(findings)


def what_does_not_read(ctx: Context) -> Iterator[Finding]:
    """What is wrong with the file itself, then with the content of its rows."""
    if isinstance(ctx.db, SqliteDb):
        yield from _file(ctx.db)
    yield from unreadable_rows(ctx)


def unreadable_rows(ctx: Context) -> list[Finding]:
    """Rows whose content nobody can read. Those of derived tables can be made again, the others restored."""
    if isinstance(ctx.db, SqliteDb) and (found := soundness.unreadable(ctx.db)):
        return list(_unreadable(iter(found)))
    with ctx.db.read(ctx.space) as tx:
        return list(_unreadable(contents.unreadable(tx)))


def _unreadable(found: Iterator[contents.Unreadable]) -> Iterator[Finding]:
    for row in islice(found, SPELLED_OUT):
        level: Level = "difference" if row.derived else "damage"
        what = "event" if row.table == "events" else "row"
        remedy = REBUILD if row.derived else RESTORE
        yield Finding(level=level, what=what, subject=row.subject, detail=row.detail, remedy=remedy)
    left = list(found)
    for derived_ones, level, remedy in ((False, "damage", RESTORE), (True, "difference", REBUILD)):
        if more := sum(row.derived is derived_ones for row in left):
            detail = f"and {more:,} more of this kind"
            yield Finding(level=level, what="row", subject="", detail=detail, remedy=remedy)


@contextmanager
def _reporting(findings: list[Finding], name: str) -> Iterator[None]:
    """What stops a check although the file is sound and every row reads is in what is derived."""
    try:
        yield
    except UNREADABLE as error:
        detail = f"could not be compared ({type(error).__name__}: {error})"
        remedy = f"{REBUILD}; if it stays: {RESTORE}"
        findings.append(Finding(level="difference", what="check", subject=name, detail=detail, remedy=remedy))


def _sorted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    order = ("damage", "difference", "notice")
    return tuple(sorted(findings, key=lambda finding: order.index(finding.level)))


def _file(db: SqliteDb) -> Iterator[Finding]:
    data, indexes = soundness.faults(db)
    for message in data:
        yield Finding(
            level="damage",
            what="file",
            subject=str(db.path),
            detail=message,
            remedy=RESTORE,
        )
    for message in indexes:
        yield Finding(level="difference", what="index", subject=str(db.path), detail=message, remedy=REBUILD)
    if not data and not indexes and (leftover := soundness.leftover_words(db)):
        detail = f"{leftover} documents in the word index belong to no passage"
        yield Finding(level="difference", what="index", subject=str(db.path), detail=detail, remedy=REBUILD)
    if not data and not indexes and (missing := soundness.missing_words(db)):
        detail = f"{missing} passages are not among the documents of the word index"
        yield Finding(level="difference", what="index", subject=str(db.path), detail=detail, remedy=REBUILD)
    if not data and not indexes and (wrong := soundness.vectors_of_wrong_size(db)):
        detail = f"{wrong} vectors or rows of signs are not as long as their model makes them"
        yield Finding(level="difference", what="vector", subject=str(db.path), detail=detail, remedy=REBUILD)
    if not data and not indexes and (unpacked := soundness.unpacked_vectors(db)):
        detail = f"{unpacked} vectors are missing in the signs that lead to them"
        yield Finding(level="difference", what="vector", subject=str(db.path), detail=detail, remedy=REBUILD)


def _passages(ctx: Context, tx: Tx) -> Iterator[Finding]:
    yield from _differences("passage", derived.damaged_passages(tx), REBUILD)
    left = derived.passage_ids(tx)
    for kind, owner in OWNERS.items():
        yield from _differences("passage", derived.stale_passages(tx, expected(ctx, tx, owner)), REBUILD)
        left[kind] = left.get(kind, set()) - set(owner.ids(ctx, tx))
    for kind, ids in sorted(left.items()):
        orphans = ((id, f"a {kind} passage that nothing owns") for id in sorted(ids))
        yield from _differences("passage", orphans, REBUILD)


def _terms(_: Context, tx: Tx) -> Iterator[Finding]:
    yield from _differences("term", derived.wrong_counts(tx), REBUILD)


def _index(_: Context, tx: Tx) -> Iterator[Finding]:
    yield from _differences("index", derived.wrong_index(tx), REBUILD)


def _vectors(_: Context, tx: Tx) -> Iterator[Finding]:
    yield from _differences("vector", vectors.wrong(tx), REBUILD)


def _counters(_: Context, tx: Tx) -> Iterator[Finding]:
    def spelled() -> Iterator[derived.Difference]:
        for id, wrong in derived.wrong_counters(tx):
            yield id, ", ".join(f"{name} is {kept}, should be {true}" for name, (kept, true) in wrong.items())

    yield from _differences("counter", spelled(), REBUILD)


def _references(_: Context, tx: Tx) -> Iterator[Finding]:
    yield from _differences("reference", derived.dangling(tx), LOOK, level="notice")


CHECKS: tuple[tuple[str, Callable[[Context, Tx], Iterable[Finding]]], ...] = (
    ("passages", _passages),
    ("term counts", _terms),
    ("the word index", _index),
    ("vectors", _vectors),
    ("counters", _counters),
    ("references", _references),
)


def _differences(
    what: str, found: Iterator[derived.Difference], remedy: str, *, level: Level = "difference"
) -> Iterator[Finding]:
    for subject, detail in islice(found, SPELLED_OUT):
        yield Finding(level=level, what=what, subject=subject, detail=detail, remedy=remedy)
    if more := sum(1 for _ in found):
        yield Finding(level=level, what=what, subject="", detail=f"and {more:,} more of this kind", remedy=remedy)


def _tell(progress: Progress | None, name: str) -> None:
    if progress is not None:
        progress(name)
