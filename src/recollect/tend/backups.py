"""Backups of the embedded store: on demand, once a day by the cycle, and back again.

A backup is one SQLite file with everything the store holds. What lives in the project's own files (`memory/`,
`recollect.toml`) is not in it: git, or whatever keeps the project, keeps those.
"""

from __future__ import annotations

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from recollect.core.clock import DAY, iso, parse_time
from recollect.core.context import Context
from recollect.core.errors import RecollectError, Refused
from recollect.store.copies import Checked, Progress, backup_to, check_file
from recollect.store.damage import kept_aside
from recollect.store.files import TEMP_SUFFIX
from recollect.store.project import Project
from recollect.store.restoring import checked_copy, put_back
from recollect.store.sqlite import SqliteDb

FOLDER = "backups"
PREFIX = "memory-"
_NAME = re.compile(r"[a-z-]+-(\d{8}T\d{6}Z)-(\d+)\.db")


@dataclass(frozen=True, kw_only=True)
class Backup:
    """A backup that was checked."""

    path: str
    bytes: int
    spaces: tuple[str, ...]
    removed: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Restored:
    """What was put back; `kept` is where the store that was there before is now."""

    path: str
    spaces: tuple[str, ...]
    sealed: bool
    kept: str | None


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A backup in the project's own folder; `problem` is empty when it would restore."""

    path: str
    bytes: int
    problem: str


def backup(ctx: Context, target: Path | None = None, *, progress: Progress | None = None) -> Backup:
    """Copy the store to `target`, or into the project's own folder, where only the newest few are kept."""
    db = embedded(ctx)
    if target is not None and target.exists():
        raise Refused(f"{target} exists already; choose another name or move it away")
    path = target or _fresh_name(folder_of(db), ctx.clock.now())
    backup_to(db, path, progress=progress)
    removed = () if target else _rotate(folder_of(db), ctx.settings.store.backups)
    return Backup(path=str(path), bytes=path.stat().st_size, spaces=check_file(path).spaces, removed=removed)


def daily(ctx: Context, *, dry_run: bool = False) -> str:
    """The cycle's step: a backup when the newest is a day old and the settings want any."""
    if not isinstance(ctx.db, SqliteDb):
        return "left to the database server"
    if ctx.settings.store.backups < 1:
        return "switched off by store.backups"
    own = _own(folder_of(ctx.db))
    if own and ctx.clock.now() - parse_time(_stamp(own[-1])[0]) < DAY:
        return "nothing due"
    return "would write one" if dry_run else f"wrote {Path(backup(ctx).path).name}"


def restore(project: Project, source: Path, *, now: int) -> Restored:
    """Put a backup in the store's place. A damaged, newer or foreign one is refused and nothing is touched."""
    if project.settings.store.url:
        raise Refused("this project's rows live on a database server; restore them with its own tools")
    copy, checked = checked_copy(source, project.database)
    try:
        _refuse_foreign(checked, project.settings.space, source)
        keep_as = _fresh_name(project.database.parent / FOLDER, now, prefix="before-restore-")
        done = put_back(
            copy, checked, project.database, keep_as=keep_as, busy_seconds=project.settings.store.busy_seconds
        )
    finally:
        copy.unlink(missing_ok=True)
    return Restored(
        path=str(source), spaces=checked.spaces, sealed=checked.sealed, kept=str(done.kept) if done.kept else None
    )


def kept_files(database: Path) -> list[Path]:
    """The project's own backups, newest first."""
    return sorted((database.parent / FOLDER).glob("*.db"), key=lambda path: path.stat().st_mtime_ns, reverse=True)


def discard(database: Path) -> int:
    """Delete all of the project's own backups and damaged copies: only a purge wants that."""
    own = [*kept_files(database), *kept_aside(database)]
    unfinished = (database.parent / FOLDER).glob(f".*{TEMP_SUFFIX}*")
    for path in (*own, *unfinished):
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return len(own)


def kept(database: Path) -> list[Kept]:
    """The project's own backups, newest first, each checked."""
    found = kept_files(database)
    return [Kept(path=str(path), bytes=path.stat().st_size, problem=_problem(path)) for path in found]


def embedded(ctx: Context) -> SqliteDb:
    """The embedded store, or a clear no: a server's rows are backed up and repaired by the server's tools."""
    if not isinstance(ctx.db, SqliteDb):
        raise Refused(f"this works on the embedded store; {ctx.db.engine} has its own tools for it")
    return ctx.db


def folder_of(db: SqliteDb) -> Path:
    return db.path.parent / FOLDER


def _refuse_foreign(checked: Checked, space: str, source: Path) -> None:
    if checked.spaces and space not in checked.spaces:
        raise Refused(
            f"{source} holds {', '.join(checked.spaces)}, this project is {space}. Nothing was touched. "
            f'If it is the right one, write space = "{checked.spaces[0]}" into recollect.toml first'
        )


def _fresh_name(folder: Path, now: int, *, prefix: str = PREFIX) -> Path:
    stamp = iso(now // 1000 * 1000).replace(":", "").replace("-", "")
    taken = [_stamp(path)[1] for path in folder.glob(f"{prefix}{stamp}-*.db")]
    return folder / f"{prefix}{stamp}-{max(taken, default=0) + 1}.db"


def _own(folder: Path) -> list[Path]:
    """Backups that rotation may remove, oldest first; those made before an upgrade or a restore stay."""
    return sorted((path for path in folder.glob(f"{PREFIX}*.db") if _NAME.fullmatch(path.name)), key=_stamp)


def _stamp(path: Path) -> tuple[str, int]:
    """When a backup was made, by its name: `memory-20260302T090000Z-1.db`."""
    found = _NAME.fullmatch(path.name)
    return (found[1], int(found[2])) if found else ("", 0)


def _rotate(folder: Path, keep: int) -> tuple[str, ...]:
    """Remove the oldest beyond `keep`; the one just made always stays."""
    surplus = _own(folder)[: -max(1, keep)]
    for path in surplus:
        path.unlink(missing_ok=True)
    return tuple(str(path) for path in surplus)


def _problem(path: Path) -> str:
    try:
        check_file(path)
    except RecollectError as error:
        return str(error)
    return ""
