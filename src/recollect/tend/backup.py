"""Backup, restore and migrate: copies of a store, out and back in.

A backup is one SQLite file on either engine: everything that an embedded store holds, or everything of the project's
space on a server, files of its vault included. `memory/` beside an embedded store, and the repository's own files, are
not in it. `migrate` copies a space and its files from one store to another, all or nothing.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from recollect.core.clock import DAY, iso
from recollect.core.context import Context, Db, Tx, Vault
from recollect.core.errors import BadInput, RecollectError, Refused, Stale, StoreDamaged
from recollect.core.records import record
from recollect.store import bulk
from recollect.store.copies import CopyCheck, Progress, check_file, checked_copy, purges_in, put_back
from recollect.store.db import count
from recollect.store.files import GRACE_SECONDS, abandoned, content_hash
from recollect.store.project import Project, backups_of
from recollect.store.sqlite import SqliteDb
from recollect.store.sqlite_file import kept_aside
from recollect.store.table_vault import TableVault
from recollect.store.vault import WORKTREE_FILES, FolderVault

PREFIX = "memory-"
_NAME = re.compile(r"[a-z-]+-(\d{8}T\d{6}Z)-(\d+)\.db")


@record
class Backup:
    path: str
    bytes: int
    spaces: tuple[str, ...]
    removed: tuple[str, ...] = ()


@record
class Restored:
    """`kept` is where the old store is now.

    `files` of a server's vault went into the project's folder, except those in `left`, which have another text there.
    `unpurged` is the time of the last purge of something that this backup may still hold.
    """

    path: str
    spaces: tuple[str, ...]
    sealed: bool
    kept: str | None
    files: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unpurged: int | None = None


@record
class StoreSide:
    db: Db
    vault: Vault


@record
class Migrated:
    """`rows` counts by table. `upgraded`: opening the source migrated it to this program's schema, after a backup."""

    source: str
    target: str
    rows: dict[str, int]
    files: int
    upgraded: bool


@record
class OwnBackup:
    """`problem` is empty when the backup would restore."""

    path: str
    bytes: int
    problem: str


def backup(ctx: Context, database: Path, target: Path | None = None, *, progress: Progress | None = None) -> Backup:
    """Copy the store to `target`, or into the project's own backups, of which only the newest are kept."""
    if target is not None and target.exists():
        raise Refused(f"{target} exists already; choose another name or move it away")
    folder = backups_of(database)
    now = ctx.clock.now()
    path = target or _fresh_name(folder, now)
    ctx.db.backup(ctx.space, path, progress=progress)
    surplus = [] if target else _own(folder, now)[: -max(1, ctx.settings.store.backups)]  # the one just made stays
    for old in surplus:
        old.unlink(missing_ok=True)
    removed = tuple(map(str, surplus))
    return Backup(path=str(path), bytes=path.stat().st_size, spaces=check_file(path).spaces, removed=removed)


def daily(ctx: Context) -> str:
    """A step of the cycle: back up when the newest backup is a day old, unless the settings say none."""
    if ctx.db.holds_vault:
        return "left to the database server"
    if ctx.settings.store.backups < 1:
        return "switched off by store.backups"
    database = Path(ctx.db.place)
    now = ctx.clock.now()
    if any(_stamp(now - DAY) < _made(path)[0] <= _stamp(now) for path in _own(backups_of(database), now)[-1:]):
        return "nothing due"
    return f"wrote {Path(backup(ctx, database).path).name}"


def restore(project: Project, source: Path, *, now: int) -> Restored:
    """Replace the embedded store by a backup. A damaged, newer or foreign backup is refused, and nothing changes."""
    with _usable(project, source) as (copy, checked):
        files, left = _unpack(copy, project)
        keep_as = _kept_name(project, now)
        busy_seconds = project.settings.store.busy_seconds
        kept = put_back(copy, project.database, keep_as=keep_as, busy_seconds=busy_seconds)
        unpurged = _unpurged(kept, copy, project.settings.space)
        return _restored(source, checked, kept, files=files, left=left, unpurged=unpurged)


def restore_to_server(project: Project, db: Db, source: Path, *, now: int) -> Restored:
    """Replace the project's space on a server in one transaction; a backup keeps its old rows."""
    space, kept = project.settings.space, None
    with _usable(project, source) as (copy, checked):
        with db.read(space) as tx:
            before = _size(tx)
        if any(before):
            kept = _kept_name(project, now)
            db.backup(space, kept)
        with closing(SqliteDb(copy)) as given, given.read(space) as old, db.write(space) as new:
            if _size(new) != before:
                raise Stale("Another process wrote to the store during the restore. Nothing was changed; run it again")
            bulk.empty(new)
            bulk.empty_vault(new)
            bulk.carry(old, new)
        return _restored(source, checked, kept, unpurged=_unpurged(kept, copy, space))


def _restored(source: Path, checked: CopyCheck, kept: Path | None, **more: Any) -> Restored:
    shown = str(kept) if kept else None
    return Restored(path=str(source), spaces=checked.spaces, sealed=checked.sealed, kept=shown, **more)


def _unpurged(before: Path | None, given: Path, space: str) -> int | None:
    """The time of the last purge that the old store knows and the restored one does not; None without one."""
    if before is None or not before.is_file():
        return None  # a damaged store is kept as a folder of files, which cannot tell
    known = purges_in(given, space)
    return max((at for change, at in purges_in(before, space).items() if change not in known), default=None)


def migrate(source: StoreSide, target: StoreSide, space: str, *, progress: Progress | None = None) -> Migrated:
    """Copy everything of a space into a store that holds nothing of it yet, in one transaction, and verify it."""
    if source.db.place == target.db.place:
        raise BadInput(f"--from and --to both name {source.db.place}; name two different stores")
    with _undone_on_error(target) as replaced, target.db.write(space) as new:
        if any(count(new, table.name) for table in bulk.DUMPED):
            raise Refused(
                f"{target.db.place} already holds a memory for space {space}. Nothing was changed. To replace it, run "
                "`recollect store backup FILE` with the source as store, then `recollect store restore FILE` with the "
                "target"
            )
        with source.db.read(space) as old:
            before, texts = _size(old), _texts(source.vault.inside(old))
            rows = bulk.carry(old, new, tables=bulk.DUMPED, progress=progress)
        _copy_files(texts, target.vault.inside(new), replaced)
        with source.db.read(space) as old:
            if (_size(old), _texts(source.vault.inside(old))) != (before, texts):
                raise Stale(f"{source.db.place} was written to during the migration. Nothing was changed; run it again")
    return Migrated(
        source=source.db.place, target=target.db.place, rows=rows, files=len(texts), upgraded=source.db.upgraded
    )


def _texts(vault: Vault) -> dict[str, str]:
    """The files that belong to the store; the repository's own stay where they are."""
    return {path: vault.read(path) or "" for path in vault.paths() if path not in WORKTREE_FILES}


def _copy_files(texts: dict[str, str], target: Vault, replaced: dict[str, str | None]) -> None:
    """Write the files, read each back, and record in `replaced` what was there before."""
    there = {path: target.read(path) for path in texts}
    if other := sorted(path for path, text in there.items() if not texts[path].startswith(text or "")):
        raise Refused(
            f"The target has different text in {', '.join(other)}. Nothing was changed. Make both sides equal with "
            "`recollect store vault push` or `recollect store vault pull`, or move these files away"
        )
    for path, text in texts.items():
        if (old := there[path]) != text:
            replaced[path] = old
            target.replace(path, text, expect="" if old is None else content_hash(old))
            if target.read(path) != text:
                raise StoreDamaged(f"{path} does not read back as it was written. Nothing was changed; try again")


@contextmanager
def _undone_on_error(target: StoreSide) -> Iterator[dict[str, str | None]]:
    """Files that were replaced get their old text back after an error. Rows are rolled back anyway."""
    replaced: dict[str, str | None] = {}
    try:
        yield replaced
    except BaseException:
        for path, old in replaced.items() if not target.db.holds_vault else ():
            if old is None:
                target.vault.delete(path)
            else:
                target.vault.replace(path, old)
        raise


def kept_files(database: Path) -> list[Path]:
    """The project's own backups, newest first."""
    return sorted(backups_of(database).glob("*.db"), key=lambda path: path.stat().st_mtime_ns, reverse=True)


def discard(database: Path) -> int:
    """Delete the project's own backups and damaged copies, for a purge."""
    own = [*kept_files(database), *kept_aside(database)]
    for path in own:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    return len(own)


def sweep(project: Project, *, grace: float = GRACE_SECONDS) -> None:
    """Delete the temporary files of killed processes, such as unfinished backups."""
    for path in abandoned_files(project, grace=grace):
        path.unlink(missing_ok=True)


def folders_of(project: Project) -> tuple[Path, ...]:
    """The folders that hold only Recollect's files."""
    shared = (project.shared,) if project.shared else ()
    return (project.data, backups_of(project.database), *shared, project.spools[1])


def abandoned_files(project: Project, *, grace: float = GRACE_SECONDS) -> list[Path]:
    return abandoned(project.root, folders_of(project), grace=grace)


def kept(database: Path) -> list[OwnBackup]:
    """The project's own backups, newest first, each checked."""
    found = kept_files(database)
    return [OwnBackup(path=str(path), bytes=path.stat().st_size, problem=_problem(path)) for path in found]


def _size(tx: Tx) -> tuple[int, ...]:
    """Changes with every write: each leaves an event or a part of a file."""
    return tuple(count(tx, table.name) for table in (*bulk.DUMPED, bulk.VAULT))


@contextmanager
def _usable(project: Project, source: Path) -> Iterator[tuple[Path, CopyCheck]]:
    """A private copy of a backup that was checked and is this project's."""
    copy, checked = checked_copy(source, project.database)
    try:
        space = project.settings.space
        if checked.spaces and space not in checked.spaces:
            raise Refused(
                f"{source} holds {', '.join(checked.spaces)}, but this project is {space}. Nothing was changed. If it "
                f'is the right backup, write space = "{checked.spaces[0]}" into recollect.toml first'
            )
        yield copy, checked
    finally:
        copy.unlink(missing_ok=True)


def _unpack(copy: Path, project: Project) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Move the files of a server's vault from the copy to the project's folder, where no file is replaced."""
    files, left = [], []
    with closing(SqliteDb(copy)) as db:
        packed = TableVault(db, project.settings.space)
        folder = FolderVault(project.vault, project.data / "vault.lock")
        for path in packed.paths():
            text, present = packed.read(path), folder.read(path)
            if text is not None and present is None:
                folder.replace(path, text)
                files.append(path)
            elif text != present:
                left.append(path)
        with db.write(project.settings.space) as tx:
            bulk.empty_vault(tx)
        db.connection().execute("PRAGMA journal_mode=DELETE")
    return tuple(files), tuple(left)


def _kept_name(project: Project, now: int) -> Path:
    return _fresh_name(backups_of(project.database), now, prefix="before-restore-")


def _fresh_name(folder: Path, now: int, *, prefix: str = PREFIX) -> Path:
    taken = [_made(path)[1] for path in folder.glob(f"{prefix}{_stamp(now)}-*.db")]
    return folder / f"{prefix}{_stamp(now)}-{max(taken, default=0) + 1}.db"


def _own(folder: Path, now: int) -> list[Path]:
    """Backups that rotation may remove, oldest first; one from the future counts as the oldest: a clock was ahead."""
    own = (path for path in folder.glob(f"{PREFIX}*.db") if _NAME.fullmatch(path.name))
    return sorted(own, key=lambda path: (_made(path)[0] <= _stamp(now), _made(path)))


def _stamp(at: int) -> str:
    return iso(at // 1000 * 1000).replace(":", "").replace("-", "")


def _made(path: Path) -> tuple[str, int]:
    """When a backup was made, by its name: `memory-20260302T090000Z-1.db`."""
    found = _NAME.fullmatch(path.name)
    return (found[1], int(found[2])) if found else ("", 0)


def _problem(path: Path) -> str:
    try:
        check_file(path)
    except RecollectError as error:
        return str(error)
    return ""
