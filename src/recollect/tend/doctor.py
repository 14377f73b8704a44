"""Doctor: checks the store and what surrounds it, and says for each finding what to do.

Works on a store that does not open: then it keeps copies of the damaged files and says which backups would restore.
`--fix` makes derived state again and removes abandoned temporary files; it never touches what a person wrote. The
caller replays the spool before.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from recollect.capture.documents import fixed_folder
from recollect.core.context import Context
from recollect.core.errors import StoreDamaged
from recollect.core.records import record
from recollect.core.settings import misspelt
from recollect.store import register, spool
from recollect.store.project import SETTINGS_FILE, Project
from recollect.store.sqlite_file import keep_aside_once, kept_aside
from recollect.tend import backup as own_backups
from recollect.tend.status import naming_damage, rings_of
from recollect.tend.verify import Discrepancy, Progress, rebuild, verify
from recollect.text.sentences import counted, how_long


@record
class Diagnosis:
    """What was found; with `--fix`, what was found before and what is left now."""

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
    """Look at everything. The context is opened here, because a store that does not open is a finding."""
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
    """What is left, and what was mended."""
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
    """How many writes are in a state, and for how long the oldest has been."""
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
    """Folders of permanent documents that are passed over: no path of ours follows a link."""
    for folder in sorted({fixed_folder(glob.strip()) for glob in project.settings.consolidate.documents.split(",")}):
        for place in (project.root / folder, *(project.root / folder).parents):
            if place.is_relative_to(project.root) and (place.is_symlink() or place.is_file()):
                detail = "it is a link or a file, so the documents below it are neither searched nor consolidated"
                yield _notice("documents", place, detail, "put a folder there, or set consolidate.documents")
