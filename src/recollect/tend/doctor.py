"""Verify, rebuild and doctor: derived state is made again, and compared with what is stored or put in its place.

`verify` changes nothing, except that it first reads in files that people edit by hand and logs that a killed process
wrote to; nothing in a row may stop it. `rebuild` makes the derived part again, byte for byte, in small transactions, so
that others keep writing; after a stop it can be run again.

`doctor` adds what surrounds the store and says for each finding what to do. `--fix` never touches what a person wrote.
The caller replays the spool before.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any, Literal

from recollect.capture import documents, logs, stage
from recollect.capture.change import Noun
from recollect.capture.decide import DECISION
from recollect.capture.documents import fixed_folder
from recollect.capture.documents import refresh as refresh_documents
from recollect.capture.edit import LEARNING
from recollect.capture.stage import refresh_passages
from recollect.core.clock import zone_named
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, StoreDamaged, StoreUnreachable
from recollect.core.records import plain, record, replace
from recollect.core.settings import misspelt
from recollect.distil.tree import Compacted, compact
from recollect.store import check, decisions, events, journal, learnings, passages, register, spool, topics, vectors
from recollect.store.check import Difference, Unreadable
from recollect.store.db import update
from recollect.store.project import SETTINGS_FILE, Project
from recollect.store.sqlite_file import keep_aside_once, kept_aside
from recollect.tend import backup as own_backups
from recollect.tend.kinds import KINDS, batches, expected
from recollect.tend.status import UNREADABLE, naming_damage, rings_of
from recollect.text import entries
from recollect.text.sentences import counted, how_long

Level = Literal["damage", "difference", "notice"]
SPELLED_OUT = 20  # findings of one kind that are listed; the rest is counted

Progress = Callable[[str], object]


@record
class Discrepancy:
    """Damage is lost or broken data; a difference is derived state that can be made again; a notice only informs."""

    level: Level
    what: str
    subject: str
    detail: str
    remedy: str


REBUILD = "recollect doctor --fix, or recollect store rebuild"
RESTORE = "recollect store restore FILE; recollect doctor lists the backups that would restore"
HISTORY = "recollect why ID shows the events; only a backup from before has them as they were"
LOOK = "recollect why ID shows what is known about it; nothing depends on it"


def verify(ctx: Context, *, progress: Progress | None = None) -> tuple[Discrepancy, ...]:
    """All findings, worst first."""
    zone_named(ctx.settings.timezone)  # a wrong setting is reported as such, because a rebuild would not mend it
    tell = progress or (lambda _: None)
    tell("the file")
    findings = list(_file(ctx))
    if any(finding.what in ("file", "index") for finding in findings):
        return _sorted(findings)  # what does not read back cannot be compared, and a query over it may never end
    tell("rows")
    if unread := unreadable_rows(ctx):
        return _sorted([*findings, *unread])
    with _reporting(findings, "files that people edit"), suppress(StoreUnreachable):
        # A store that cannot be written is looked at all the same.
        refresh_passages(ctx, anew=True)
        refresh_documents(ctx, anew=True)
        documents.refresh_logs(ctx)
    for one in CHECKS:
        tell(one.name)
        with _reporting(findings, one.name), ctx.db.read(ctx.space) as tx:
            for differences in one.find(ctx, tx):
                findings += _spelled_out(one.level, one.what, one.remedy, differences)
    tell("files")
    with _reporting(findings, "files"), ctx.db.read(ctx.space) as tx:
        findings += _faults(ctx, tx)
    return _sorted(findings)


def what_does_not_read(ctx: Context) -> Iterator[Discrepancy]:
    yield from _file(ctx)
    yield from unreadable_rows(ctx)


def _file(ctx: Context) -> Iterator[Discrepancy]:
    for what, detail in ctx.db.faults():
        level: Level = "damage" if what == "file" else "difference"
        remedy = RESTORE if what == "file" else REBUILD
        yield Discrepancy(level=level, what=what, subject=ctx.db.place, detail=detail, remedy=remedy)


def unreadable_rows(ctx: Context) -> list[Discrepancy]:
    """Unreadable rows. Those of derived tables can be made again, the others restored."""
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
    """An error in a check, although the file and every row read well, comes from derived state."""
    try:
        yield
    except (*UNREADABLE, BadInput) as error:  # a record refuses values that break its rules
        detail = f"could not be compared ({type(error).__name__}: {error})"
        remedy = f"{REBUILD}; if it stays: {RESTORE}"
        findings.append(Discrepancy(level="difference", what="check", subject=name, detail=detail, remedy=remedy))


def _sorted(findings: Iterable[Discrepancy]) -> tuple[Discrepancy, ...]:
    order = ("damage", "difference", "notice")
    return tuple(sorted(findings, key=lambda finding: order.index(finding.level)))


@record
class Check:
    """One comparison. `find` yields differences in groups; of each group the first are listed."""

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
    left = check.passage_ids(tx)
    for kind in KINDS:
        if kind.ids is not None and kind.name in left:
            left[kind.name] -= set(kind.ids(ctx, tx))
    return left


def _faults(ctx: Context, tx: Tx) -> Iterator[Discrepancy]:
    """Faults of files that people write. Nothing is lost: entries of logs are remembered."""
    inside = replace(ctx, vault=ctx.vault.inside(tx))
    for what, found in (("log", logs.faults(tx, ctx)), ("file", [*stage.faults(tx, ctx), *documents.faults(inside)])):
        for fault in found:
            yield Discrepancy(level="notice", what=what, subject=fault.path, detail=fault.detail, remedy=fault.remedy)


def _counters(_: Context, tx: Tx) -> Iterator[Iterator[Difference]]:
    yield (
        (id, ", ".join(f"{name} is {kept}, should be {true}" for name, (kept, true) in wrong.items()))
        for id, wrong in check.wrong_counters(tx)
    )


def _entries(tx: Tx) -> Iterator[Difference]:
    for day, number, hash, text in journal.hashed_texts(tx):
        if not entries.has_hash(day, text, hash):
            yield f"log/{day}#{number}", "its words are not those that were written"


NOUNS: tuple[tuple[Noun[Any], Any], ...] = ((LEARNING, learnings), (DECISION, decisions))


def _histories(tx: Tx) -> Iterator[Difference]:
    """Learnings and decisions whose events do not lead, one after the other, from nothing to what the record says."""
    nouns = {id: noun for noun, rows in NOUNS for id in rows.ids(tx)}
    known: dict[str, dict[str, Any]] = {}
    broken: list[Difference] = []
    for event in events.all_of(tx):
        if noun := nouns.get(event.subject):
            if (event.subject in known) == (event.what == noun.begins):
                broken.append((event.subject, f"event {event.seq} ({event.what}) is not in its place"))
            left = known.setdefault(event.subject, {})
            if wrong := [name for name, value in event.old.items() if left.get(name, value) != value]:
                broken.append((event.subject, f"event {event.seq} ({event.what}) began with another {wrong[0]}"))
            moved = event.old if event.what in noun.unasked else noun.state  # a repetition tells its words, too
            left |= {name: value for name, value in event.new.items() if name in moved}
            if event.what == "purged":  # words, tags and a successor went without an event of their own
                left.clear()
        elif event.what.partition(".")[0] in (LEARNING.name, DECISION.name, "confidence", "sign"):
            broken.append((event.subject, f"event {event.seq} ({event.what}) is about it, but it is not there"))
    for one in (one for _, rows in NOUNS for some in batches(rows.ids(tx)) for one in rows.many(tx, some)):
        said = plain(one)
        wrong = [name for name, value in known.get(one.id, {}).items() if said[name] != value]
        if one.id not in known:
            broken.append((one.id, "no event tells how it began"))
        elif wrong:
            broken.append((one.id, f"its {wrong[0]} is not what its events say"))
    return iter(broken)


CHECKS: tuple[Check, ...] = (
    Check(name="passages", what="passage", find=_passages),
    Check(name="term counts", what="term", find=lambda _, tx: [check.wrong_counts(tx)]),
    Check(name="the word index", what="index", find=lambda _, tx: [check.wrong_index(tx)]),
    Check(name="vectors", what="vector", find=lambda _, tx: [vectors.wrong(tx)]),
    Check(name="counters", what="counter", find=_counters),
    Check(name="topics", what="topic", find=lambda _, tx: [check.dangling(tx, of_topics=True)]),
    Check(name="references", what="reference", find=lambda _, tx: [check.dangling(tx)], remedy=LOOK, level="notice"),
    Check(name="log entries", what="entry", find=lambda _, tx: [_entries(tx)], remedy=RESTORE, level="damage"),
    Check(name="histories", what="history", find=lambda _, tx: [_histories(tx)], remedy=HISTORY, level="notice"),
)


def _spelled_out(level: Level, what: str, remedy: str, found: Iterator[Difference]) -> Iterator[Discrepancy]:
    for subject, detail in islice(found, SPELLED_OUT):
        yield Discrepancy(level=level, what=what, subject=subject, detail=detail, remedy=remedy)
    if more := sum(1 for _ in found):
        yield Discrepancy(level=level, what=what, subject="", detail=f"and {more:,} more of this kind", remedy=remedy)


CountProgress = Callable[[int], object]


@record
class Rebuilt:
    nodes: int
    passages: int
    orphans: int
    terms_corrected: int
    counters_corrected: int
    vectors_dropped: int
    files: tuple[str, ...] = ()


def rebuild(ctx: Context, *, files: bool = False, progress: CountProgress | None = None) -> Rebuilt:
    """Make the tree, passages, term counts, indexes and counters again. Vectors of unchanged passages stay; the next
    cycle makes the others. With `files`, what logs and the staging file lost is first written again."""
    with naming_damage(ctx):
        written = (*logs.write_again(ctx), *stage.write_again(ctx)) if files else ()
        return replace(_rebuilt(ctx, progress), files=written)


def _rebuilt(ctx: Context, progress: CountProgress | None) -> Rebuilt:
    ctx.db.remake_indexes()  # first: a passage cannot be replaced while the index is broken
    with ctx.db.write(ctx.space) as tx:
        check.drop_unreadable(tx)
        topics.mend(tx)
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
    """Forget the logs and nodes and make every node again, with the same bytes."""
    ctx.write(journal.forget_tree)
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


@record
class Diagnosis:
    """`findings` are still there; with `--fix`, `fixed` are those that are gone."""

    findings: tuple[Discrepancy, ...]
    fixed: tuple[Discrepancy, ...] = ()
    backups: tuple[own_backups.OwnBackup, ...] = ()

    @property
    def damaged(self) -> bool:
        return any(finding.level == "damage" for finding in self.findings)


def doctor(
    project: Project,
    open_context: Callable[[], Context],
    *,
    environ: Mapping[str, str],
    now: int,
    fix: bool = False,
    progress: Progress | None = None,
) -> Diagnosis:
    """Check everything. The context opens here, because a store that does not open is a finding."""
    kept = tuple(own_backups.kept(project.database))
    around = tuple(_surroundings(project, kept, environ, now=now, fix=fix))
    try:
        ctx = open_context()
        try:
            with naming_damage(ctx):
                found, fixed = _examined(ctx, fix=fix, progress=progress)
            around = (*around, *_rings(ctx))
        finally:
            ctx.rings.close()
            ctx.db.close()  # before the files are copied: closing a second handle would drop SQLite's locks
    except StoreDamaged as error:
        found, fixed = (_unreadable(project, error, kept),), ()
    if any(finding.level == "damage" for finding in found) and not project.settings.store.url:
        keep_aside_once(project.database)
    return Diagnosis(findings=(*found, *around), fixed=fixed, backups=kept)


def _examined(
    ctx: Context, *, fix: bool, progress: Progress | None
) -> tuple[tuple[Discrepancy, ...], tuple[Discrepancy, ...]]:
    found = verify(ctx, progress=progress)
    levels = {finding.level for finding in found}
    if not fix or "damage" in levels or "difference" not in levels:
        return found, ()
    rebuild(ctx)
    left = verify(ctx, progress=progress)
    return left, tuple(finding for finding in found if finding not in left)


def _unreadable(project: Project, error: StoreDamaged, kept: tuple[own_backups.OwnBackup, ...]) -> Discrepancy:
    good = next((backup.path for backup in kept if not backup.problem), None)
    remedy = f"recollect store restore {good}" if good else "there is no backup here; find one elsewhere and restore it"
    place, url = str(project.database), project.settings.store.url
    if url:
        from recollect.store.postgres_pool import Address  # the driver is there only where a store needs it

        place = Address(url).shown
        remedy = "the server's own backup; or recollect store db init on an empty database and there " + (
            f"recollect store restore {good}" if good else "recollect store restore, if you find a backup elsewhere"
        )
    return Discrepancy(level="damage", what="store", subject=place, detail=str(error), remedy=remedy)


def _notice(what: str, subject: object, detail: str, remedy: str) -> Discrepancy:
    return Discrepancy(level="notice", what=what, subject=str(subject), detail=detail, remedy=remedy)


def _surroundings(
    project: Project, kept: Sequence[own_backups.OwnBackup], environ: Mapping[str, str], *, now: int, fix: bool
) -> Iterator[Discrepancy]:
    for name in misspelt(environ):
        yield _notice("settings", name, "the environment sets it, but it is not a setting", "see docs/settings.md")
    yield from _spool(project, now)
    if fix:
        own_backups.sweep(project)
    for path in own_backups.abandoned_files(project):
        detail = "left by a process that was killed while writing"
        yield _notice("temporary file", path, detail, "the next cycle or recollect doctor --fix removes it")
    yield from _places(project)
    yield from _permissions(project)
    yield from _documents(project)
    for folder in kept_aside(project.database):
        remedy = "inspect them, then delete the folder"
        yield _notice("damage", folder, "copies of files that did not read back", remedy)
    for backup in kept:
        if backup.problem:
            remedy = "take a new one with: recollect store backup"
            yield _notice("backup", backup.path, f"would not restore: {backup.problem}", remedy)


def _rings(ctx: Context) -> Iterator[Discrepancy]:
    for name, said in rings_of(ctx).items():
        if said.startswith("left out"):
            remedy = "put it right, or take the ring out of your settings: docs/rings.md"
            yield _notice("ring", name, f"sessions here do without it: {said.removeprefix('left out: ')}", remedy)


def _places(project: Project) -> Iterator[Discrepancy]:
    file = project.root / SETTINGS_FILE
    if not file.is_file():
        detail = "it is missing; your register knows its space and time zone, other settings are at their defaults"
        yield _notice("settings", file, detail, "recollect init writes it again, or git brings it back")
    for one in register.read(project.home):
        if one.space == project.settings.space and not os.path.exists(one.path):
            detail = "it uses this memory and is not there: moved or deleted"
            remedy = f"run any command where it is now, or clone it again; else: recollect store leave {one.shown}"
            yield _notice("place", one.shown, detail, remedy)


def _spool(project: Project, now: int) -> Iterator[Discrepancy]:
    if waiting := spool.pending(project.spools):
        remedy = "any recollect command that can write the store does this; recollect doctor --fix does it now"
        yield _notice("spool", waiting[0], _queued(waiting, "waiting for the store", now), remedy)
    if aside := spool.aside(project.spools):
        why = next((str(found["failed"]) for _, found in spool.records(aside[:1]) if found and "failed" in found), "")
        detail = _queued(aside, "set aside as failed", now)
        remedy = "recollect doctor --fix tries them again; delete the file of a write that you do not need"
        yield _notice("spool", aside[0], detail + (f" ({why})" if why else ""), remedy)


def _queued(paths: list[Path], state: str, now: int) -> str:
    queue = spool.queue(paths)
    since = how_long(now - (queue.oldest_at or now))
    return f"{counted(queue.count, 'write')} {state}, the oldest for {since}"


def _permissions(project: Project) -> Iterator[Discrepancy]:
    data = project.data
    if not data.is_dir():
        return
    if stat.S_IMODE(data.stat().st_mode) & 0o077:
        yield _notice("permissions", data, "other users of this machine can read it", f"chmod 700 {data}")
    if not os.access(data, os.W_OK):
        detail = "it cannot be written; agents' writes wait in the spool of your home folder"
        yield _notice("permissions", data, detail, f"chmod u+w {data}")


def _documents(project: Project) -> Iterator[Discrepancy]:
    """Folders of permanent documents that are skipped, because no path of ours follows a link."""
    for folder in sorted({fixed_folder(glob.strip()) for glob in project.settings.consolidate.documents.split(",")}):
        for place in (project.root / folder, *(project.root / folder).parents):
            if place.is_relative_to(project.root) and (place.is_symlink() or place.is_file()):
                detail = "it is a link or a file, so the documents below it are neither searched nor consolidated"
                yield _notice("documents", place, detail, "put a folder there, or set consolidate.documents")
