"""Putting a copy in the store's place: checked first, the present store kept aside, all or nothing."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from recollect.core.errors import BadInput, StoreDamaged, StoreNewer, Trouble
from recollect.store.copies import Checked, backup_to, check_file, copy_over
from recollect.store.damage import aside, keep_files, log_of
from recollect.store.files import locked, settle, temp_beside, translated, write_path
from recollect.store.opening import MADE_NOTE, migrate
from recollect.store.sqlite import SqliteDb


def checked_copy(source: Path, beside: Path) -> tuple[Path, Checked]:
    """A private, checked and migrated copy of a backup, so that nothing can change between the check and the use."""
    if not source.is_file():
        raise BadInput(f"{source} is not a file")
    if log_of(source).exists() and log_of(source).stat().st_size:
        raise BadInput(f"{source} is a store in use, not a backup of one; take one with: recollect backup FILE")
    copy = temp_beside(beside)
    with translated(copy):
        copy.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(source, copy)
        copy.chmod(0o600)
    try:
        checked = check_file(copy)
        db = SqliteDb(copy)
        try:
            migrate(db, backup=None)
            db.connection().execute("DELETE FROM meta WHERE name = 'seal'; PRAGMA journal_mode=DELETE")
        finally:
            db.close()  # which also takes away the files beside it
    except BaseException as error:
        copy.unlink(missing_ok=True)
        if isinstance(error, Trouble):
            said = str(error).replace(str(copy), str(source))
            if isinstance(error, StoreDamaged):
                said += ". Nothing was changed; choose another file, such as one in .recollect/backups"
            raise type(error)(said) from None
        raise
    return copy, checked


def put_back(copy: Path, path: Path, *, keep_as: Path, busy_seconds: float) -> Path | None:
    """The copy becomes the store; gives where the one before is now, None when there was none.

    Other processes that have the store open see it change in one step.
    """
    with locked(path.with_suffix(".lock")):
        kept = _replace_sound(copy, path, keep_as, busy_seconds)
        if kept is None:
            kept = _replace_unsound(copy, path)
        write_path(path.with_suffix(".made"), MADE_NOTE)
    return kept


def _replace_sound(copy: Path, path: Path, keep_as: Path, busy_seconds: float) -> Path | None:
    """Where the present store reads back: keep a verified backup of it, then overwrite it in one transaction."""
    if not path.exists() or path.stat().st_size == 0:
        return None
    db = SqliteDb(path, busy_seconds=busy_seconds)
    try:
        backup_to(db, keep_as)
        copy_over(copy, db)
    except StoreDamaged:
        return None
    except StoreNewer:
        raise StoreNewer(
            f"{path} was written by a newer Recollect, which alone can keep it safe. Nothing was changed; "
            "upgrade this program, or move that file away first"
        ) from None
    finally:
        db.close()
    return keep_as


def _replace_unsound(copy: Path, path: Path) -> Path | None:
    """Where it does not read back, or is gone: keep its files as they are and put the copy there."""
    kept = None
    if path.exists() or log_of(path).exists():
        kept = aside(path)
        keep_files(kept, path, log_of(path))
    with translated(path):
        for leftover in (log_of(path), path.with_name(path.name + "-shm")):
            leftover.unlink(missing_ok=True)  # a log of the old file would be replayed into the new one
        path.parent.mkdir(parents=True, exist_ok=True)
        os.chmod(copy, 0o600)
    settle(copy, path)
    return kept
