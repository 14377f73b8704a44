"""Damage to the embedded store: seen, kept aside, never deleted.

SQLite checks its write-ahead log frame by frame and stops at the first that does not add up, without a word: what was
committed after it is gone. So an open after a crash looks for commits beyond that point.

Never opens the database file itself while a connection is open: closing it would drop SQLite's locks.
"""

from __future__ import annotations

import os
import struct
import sys
from pathlib import Path

import apsw

from recollect.core.clock import SystemClock, iso
from recollect.core.errors import StoreDamaged
from recollect.store.files import translated as file_errors
from recollect.store.sqlite import SqliteDb, translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import BinaryIO

FOLDER = "damaged"
_HEADER = 32
_FRAME = 24
_MAGIC = (0x377F0682, 0x377F0683)


def log_of(path: Path) -> Path:
    """The write-ahead log that belongs to a database file."""
    return path.with_name(path.name + "-wal")


def refuse_lost_log(db: SqliteDb) -> None:
    """Raise StoreDamaged, once, when committed changes stand behind a damaged place in the log.

    Both files are copied aside first, then what does read is kept and the log begun anew: the next command works, and
    `doctor` names the copies until a person has looked at them.
    """
    with translated(db.path):
        if not _commits_behind(db.path, _readable_frames(db.connection())):
            return
        db.connection().execute("BEGIN IMMEDIATE")  # a writer in the middle of a commit looks the same: wait for it
        try:
            lost = _commits_behind(db.path, _readable_frames_of_another(db.path))
            kept = aside(db.path)
            if lost:
                keep_files(kept, log_of(db.path))
        finally:
            db.connection().execute("ROLLBACK")
        if not lost:
            return
        db.connection().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    raise StoreDamaged(
        f"{log_of(db.path)} is damaged: saved changes behind the damage ({lost} or more) do not read back. The log is "
        f"kept in {kept}; everything before the damage is intact, and the next command works with that. To go back to "
        "a backup instead: recollect restore FILE"
    )


def aside(path: Path) -> Path:
    """A new folder for files that did not read back."""
    stamp = iso(SystemClock().now()).replace(":", "").replace("-", "")
    return path.parent / FOLDER / f"{stamp}-{os.urandom(3).hex()}"


def keep_files(folder: Path, *files: Path) -> None:
    """Copy files as they are, those that exist."""
    import shutil  # loads five compressors

    with file_errors(folder):
        folder.mkdir(parents=True, mode=0o700)
        for file in files:
            if file.exists():
                shutil.copyfile(file, folder / file.name)
                (folder / file.name).chmod(0o600)


def keep_aside_once(path: Path) -> Path | None:
    """Copy a database that does not read, with its log, unless the same bytes are kept already; None: nothing there.

    No connection to it may be open in this process.
    """
    if not path.exists():
        return None
    for folder in kept_aside(path):
        if all(_same(file, folder / file.name) for file in (path, log_of(path))):
            return folder
    folder = aside(path)
    keep_files(folder, path, log_of(path))
    return folder


def kept_aside(path: Path) -> list[Path]:
    """Folders with damaged files that wait for a person."""
    folder = path.parent / FOLDER
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _same(one: Path, other: Path) -> bool:
    import filecmp

    if not one.exists() or not other.exists():
        return one.exists() == other.exists()
    return filecmp.cmp(one, other, shallow=False)


def _readable_frames(connection: apsw.Connection) -> int:
    connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()  # recovers the log, if nobody did yet
    found = connection.execute("PRAGMA wal_checkpoint(NOOP)").fetchone()
    return int(found[1]) if found and found[1] >= 0 else sys.maxsize  # not told: nothing stands behind it


def _readable_frames_of_another(path: Path) -> int:
    """The same, asked by a connection that is in no transaction."""
    connection = apsw.Connection(os.fspath(path))
    try:
        return _readable_frames(connection)
    finally:
        connection.close()


def _commits_behind(path: Path, readable: int) -> int:
    """How many commits stand behind the frames that read and were followed by another writer.

    A commit alone proves nothing: a process that was killed while it wrote leaves one, and nobody was told that it was
    saved. A frame whose check sum goes on from a commit was written by somebody who had seen that commit.
    """
    try:
        with log_of(path).open("rb") as log:
            header = log.read(_HEADER)
            size = os.fstat(log.fileno()).st_size
            if len(header) < _HEADER:
                return 0
            if not _header_adds_up(header):
                return 1 if size > _HEADER + _FRAME else 0
            step = _FRAME + int.from_bytes(header[8:12], "big")
            frames = (size - _HEADER) // step
            followed = sum(_followed_commit(log, header, number, step) for number in range(readable, frames))
            return followed if followed and not _goes_on(log, header, readable, step) else 0
    except FileNotFoundError:
        return 0


def _goes_on(log: BinaryIO, header: bytes, readable: int, step: int) -> bool:
    """Whether a whole commit follows the readable frames without a flaw: then SQLite left it out on purpose.

    It does so when it begins the log anew: what stands there is in the database already.
    """
    before = header[24:32]
    if readable:
        log.seek(_HEADER + (readable - 1) * step)
        before = log.read(_FRAME)[16:24]
    log.seek(_HEADER + readable * step)
    while len(frame := log.read(step)) == step and frame[8:16] == header[16:24]:
        if _check_sum(header, frame[:8] + frame[_FRAME:], after=before) != frame[16:24]:
            return False
        if frame[4:8] != b"\0\0\0\0":
            return True
        before = frame[16:24]
    return False


def _followed_commit(log: BinaryIO, header: bytes, number: int, step: int) -> bool:
    start = _HEADER + number * step
    log.seek(start)
    frame = log.read(_FRAME)
    if frame[8:16] != header[16:24] or frame[4:8] == b"\0\0\0\0":
        return False  # of an older generation of the log, or no commit
    log.seek(start + step)
    follower = log.read(step)
    if len(follower) < step or follower[8:16] != header[16:24]:
        return False
    return _check_sum(header, follower[:8] + follower[_FRAME:], after=frame[16:24]) == follower[16:24]


def _header_adds_up(header: bytes) -> bool:
    magic = int.from_bytes(header[:4], "big")
    return magic in _MAGIC and _check_sum(header, header[:24], after=bytes(8)) == header[24:32]


def _check_sum(header: bytes, data: bytes, *, after: bytes) -> bytes:
    """The log's own check sum (https://sqlite.org/fileformat2.html#checksum_algorithm)."""
    first, second = struct.unpack(">II", after)
    order = ">" if header[3] & 1 else "<"
    words = struct.unpack(f"{order}{len(data) // 4}I", data)
    for one, two in zip(words[::2], words[1::2], strict=True):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + two + first) & 0xFFFFFFFF
    return struct.pack(">II", first, second)
