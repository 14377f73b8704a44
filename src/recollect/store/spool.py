"""The spool: writes that could not reach the store yet, one small file each, replayed in order by the next command.

A record is {id, verb, at, actor, arguments}. Its id becomes the change id of what it does, so that a second replay does
nothing. Its file's name counts the tries (`NAME.json`, `NAME.try1.json`, …) before each begins, so that a try that ends
with its process counts too. A record that cannot be done is set aside as `NAME.failed`, with the reason in it, or as
`NAME.unreadable`, and never deleted.
"""

from __future__ import annotations

import os
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from recollect.core.errors import BadInput, StoreBusy, Trouble
from recollect.core.records import loads, record
from recollect.store.files import held, open_file, write_path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

FAILED, UNREADABLE = ".failed", ".unreadable"
_TRY = ".try"


@record
class Queue:
    count: int
    oldest_at: int | None


def add(folders: tuple[Path, ...], record: dict[str, Any]) -> Path:
    """Write a record durably into the first folder that takes it."""
    name = f"{record['at']:015d}-{record['id']}.json"
    text = _json(record)
    for folder in folders[:-1]:
        with suppress(Trouble):
            write_path(folder / name, text, mode=0o600)
            return folder / name
    write_path(folders[-1] / name, text, mode=0o600)
    return folders[-1] / name


def pending(folders: tuple[Path, ...]) -> list[Path]:
    return _ending(folders, ".json")


def aside(folders: tuple[Path, ...]) -> list[Path]:
    return _ending(folders, FAILED, UNREADABLE)


def queue(paths: Sequence[Path]) -> Queue:
    return Queue(count=len(paths), oldest_at=min(map(_written_at, paths), default=None))


def records(paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any] | None]]:
    """Each file with its record; None for one that is gone or does not read."""
    for path in paths:
        try:
            with open_file(path) as file:
                record = loads(file.read().decode("utf-8"))
            yield path, record if isinstance(record, dict) else None
        except (OSError, BadInput, ValueError, RecursionError):
            yield path, None


def tries(path: Path) -> int:
    """How often a replay of the record began and did not finish."""
    count = path.stem.rpartition(_TRY)[2]
    return int(count) if _TRY in path.stem and count.isdecimal() else 0


def counted(path: Path, count: int) -> Path | None:
    """The renamed file with another count of tries; None if it is gone, or its folder cannot be written."""
    with suppress(OSError):
        return path.rename(_named(path, f"{_TRY}{count}.json" if count else ".json"))
    return None


def done(path: Path) -> None:
    with suppress(OSError):
        path.unlink()


def set_aside(path: Path, suffix: str, record: dict[str, Any] | None, why: str) -> None:
    """Keep a record that cannot be done, with the reason; `status`, `doctor` and the brief name it."""
    if record is not None:
        with suppress(Trouble, BadInput, ValueError, RecursionError):
            write_path(path, _json({**record, "failed": why}), mode=0o600)
    with suppress(OSError):
        path.rename(_named(path, suffix))


@contextmanager
def replaying(folders: tuple[Path, ...]) -> Iterator[bool]:
    """Whether it is this process's turn to replay. The kernel releases the lock of a killed process."""
    with ExitStack() as stack:
        yield _is_our_turn(stack, folders)


def _is_our_turn(stack: ExitStack, folders: tuple[Path, ...]) -> bool:
    for folder in folders:
        try:
            stack.enter_context(held(folder.with_name(f"{folder.name}.lock"), "another process replays the spool"))
            return True
        except StoreBusy:
            return False
        except (Trouble, BadInput):
            continue  # no file can be made here: the lock is where the records can be
    return False


def _ending(folders: tuple[Path, ...], *suffixes: str) -> list[Path]:
    found: list[Path] = []
    for folder in folders:
        with suppress(FileNotFoundError, NotADirectoryError):
            found += [Path(entry.path) for entry in os.scandir(folder) if entry.name.endswith(suffixes)]
    return sorted(found, key=lambda path: path.name)


def _named(path: Path, ending: str) -> Path:
    stem = path.stem.rpartition(_TRY)[0] if tries(path) else path.stem
    return path.with_name(stem + ending)


def _written_at(path: Path) -> int:
    """The time in a record's name, else that of its file."""
    at = path.name.partition("-")[0]
    if len(at) == 15 and at.isdecimal():
        return int(at)
    try:
        return path.stat().st_mtime_ns // 1_000_000
    except OSError:
        return 0


def _json(record: dict[str, Any]) -> str:
    import json  # what waits is rare

    return json.dumps(record, ensure_ascii=False)
