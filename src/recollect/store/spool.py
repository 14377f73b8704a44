"""The spool: writes that could not reach the store yet, one small file each, replayed in order by the next command.

A record is {id, verb, at, actor, arguments}. Its id becomes the change id of what it does, so that replaying one twice
does nothing twice.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from recollect.core.errors import Trouble
from recollect.core.json_text import loads
from recollect.store.files import write_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


def add(folders: tuple[Path, ...], record: dict[str, Any]) -> Path:
    """Write a record durably into the first folder that takes it."""
    import json  # what waits is rare

    name = f"{record['at']:015d}-{record['id']}.json"
    text = json.dumps(record, ensure_ascii=False)
    for folder in folders[:-1]:
        with suppress(Trouble):
            write_path(folder / name, text, mode=0o600)
            return folder / name
    write_path(folders[-1] / name, text, mode=0o600)
    return folders[-1] / name


def pending(folders: tuple[Path, ...]) -> list[Path]:
    """Records waiting, oldest first."""
    found: list[Path] = []
    for folder in folders:
        with suppress(FileNotFoundError, NotADirectoryError):
            found += [Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(".json")]
    return sorted(found, key=lambda path: path.name)


def records(paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Each record with its file; None for one that is gone or does not read (it is kept aside, never deleted)."""
    for path in paths:
        try:
            record = loads(path.read_text("utf-8"))
            yield path, record if isinstance(record, dict) else None
        except (OSError, ValueError, RecursionError):
            yield path, None


def done(path: Path) -> None:
    """Forget a record that the store now holds."""
    with suppress(FileNotFoundError):
        path.unlink()


def unreadable(folders: tuple[Path, ...]) -> list[Path]:
    """Records that were set aside."""
    return sorted(path for folder in folders if folder.is_dir() for path in folder.glob("*.unreadable"))


def set_aside(path: Path) -> None:
    """Keep an unreadable record for a person to look at; `doctor` names it."""
    with suppress(FileNotFoundError):
        path.rename(path.with_suffix(".unreadable"))
