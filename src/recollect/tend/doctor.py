"""Doctor: checks the store and what surrounds it, and says for each finding what to do.

Works on a store that does not open: then it keeps copies of the damaged files and says which backups would restore.
`--fix` makes derived state again and removes abandoned temporary files; it never touches what a person wrote. The
caller replays the spool before.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from recollect.core.context import Context
from recollect.core.errors import StoreDamaged
from recollect.core.settings import misspelt
from recollect.store import spool
from recollect.store.files import TEMP_SUFFIX
from recollect.store.init import is_foreign
from recollect.store.project import Project
from recollect.store.sqlite_file import keep_aside_once, kept_aside
from recollect.tend import backup as own_backups
from recollect.tend.status import naming_damage
from recollect.tend.verify import Discrepancy, Progress, rebuild, verify
from recollect.text.sentences import counted, how_long

ABANDONED_SECONDS = 3600  # a temporary file this old belongs to nobody any more


@dataclass(frozen=True, kw_only=True)
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
    around = (*_misspelt(environ), *_surroundings(project, now=now, fix=fix), *_backups(kept))
    try:
        ctx = open_context()
        try:
            with naming_damage(ctx):
                found, fixed = _examined(ctx, fix=fix, progress=progress)
        finally:
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
    remedy = (
        f"recollect store restore {good}" if good else "there is no backup here; find one elsewhere, then restore it"
    )
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


def _misspelt(environ: Mapping[str, str]) -> Iterator[Discrepancy]:
    for name in misspelt(environ):
        yield _notice("settings", name, "the environment sets it, but it is not a setting", "see docs/settings.md")


def _surroundings(project: Project, *, now: int, fix: bool) -> Iterator[Discrepancy]:
    if is_foreign(project):
        detail = "it came with the folder: you did not begin this memory, so commands refuse it and hooks are silent"
        yield _notice("store", project.data, detail, "move it away, or take what it says for your own: recollect init")
    yield from _spool(project, now)
    yield from _temporary_files(project, fix=fix)
    yield from _permissions(project)
    for folder in kept_aside(project.database):
        remedy = "inspect them, then delete the folder"
        yield _notice("damage", folder, "copies of files that did not read back", remedy)


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


def _temporary_files(project: Project, *, fix: bool) -> Iterator[Discrepancy]:
    """What a killed process left behind. It was never acknowledged, so it holds nothing that is missing."""
    near = list(project.root.glob(f".*{TEMP_SUFFIX}*"))
    below = [path for folder in (project.data, project.vault) for path in folder.rglob(f".*{TEMP_SUFFIX}*")]
    for path in sorted({*near, *below}):
        if time.time() - path.stat().st_mtime <= ABANDONED_SECONDS:
            continue
        if fix:
            path.unlink(missing_ok=True)
        else:
            detail = "left by a process that was killed while writing"
            yield _notice("temporary file", path, detail, "recollect doctor --fix removes it")


def _permissions(project: Project) -> Iterator[Discrepancy]:
    data = project.data
    if not data.is_dir():
        return
    if stat.S_IMODE(data.stat().st_mode) & 0o077:
        yield _notice("permissions", data, "other users of this machine can read it", f"chmod 700 {data}")
    if not os.access(data, os.W_OK):
        detail = "it cannot be written; agents' writes wait in the spool of your home folder"
        yield _notice("permissions", data, detail, f"chmod u+w {data}")


def _backups(kept: tuple[own_backups.OwnBackup, ...]) -> Iterator[Discrepancy]:
    for backup in kept:
        if backup.problem:
            remedy = "take a new one with: recollect store backup"
            yield _notice("backup", backup.path, f"would not restore: {backup.problem}", remedy)
