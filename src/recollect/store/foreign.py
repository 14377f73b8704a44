"""Files and databases of other tools, read and never written.

Links are not followed, only regular files are opened, and sizes are bounded. A database is copied and the copy is read,
because even opening one in place may write beside it.
"""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import apsw

from recollect.core.errors import BadInput, StoreDamaged
from recollect.core.records import record

FILE_LIMIT = 5_000_000  # bytes; a note of a person has some thousands
FILES_LIMIT = 100_000  # below this, one import stays in memory and ends within minutes
DATABASE_LIMIT = 4_000_000_000  # bytes that are copied to the temporary folder
PASSED_FOLDERS = frozenset({"node_modules", "__pycache__"})


@record
class ForeignFile:
    """`path` is below the requested folder; a file without a text was skipped, and `why` says so."""

    path: str
    text: str | None
    modified: int
    why: str = ""


def markdown_files(folder: Path) -> Iterator[ForeignFile]:
    """Every Markdown file below a folder, in order; hidden folders are other programs' own."""
    if not folder.is_dir():
        raise BadInput(f"{folder} is not a folder")
    count = 0
    for place, folders, names in os.walk(folder):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = sorted(
            name for name in folders if not name.startswith(".") and name not in PASSED_FOLDERS and name not in links
        )
        for name in sorted([*links, *(each for each in names if each.lower().endswith((".md", ".markdown")))]):
            if name.startswith("."):
                continue
            count += 1
            if count > FILES_LIMIT:
                raise BadInput(f"{folder} holds more than {FILES_LIMIT:,} files; import its folders one by one")
            yield _read(Path(place, name), os.path.relpath(os.path.join(place, name), folder))


def _read(file: Path, path: str) -> ForeignFile:
    try:
        handle = os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        linked = os.path.islink(file)
        why = "a link, which is not followed" if linked else f"it cannot be read ({error.strerror})"
        return ForeignFile(path=path, text=None, modified=0, why=why)
    with os.fdopen(handle, "rb") as opened:
        state = os.fstat(handle)
        modified = round(state.st_mtime * 1000)
        if not stat.S_ISREG(state.st_mode):
            return ForeignFile(path=path, text=None, modified=modified, why="it is not a regular file")
        data = opened.read(FILE_LIMIT + 1)
    if len(data) > FILE_LIMIT:
        why = f"it is larger than {FILE_LIMIT:,} bytes"
        return ForeignFile(path=path, text=None, modified=modified, why=why)
    return ForeignFile(path=path, text=data.decode("utf-8", "replace"), modified=modified)


@contextmanager
def database(file: Path) -> Iterator[apsw.Connection]:
    """A copy of a SQLite database, with the commits still in its log; gone when the block ends."""
    if not file.is_file():
        raise BadInput(f"{file} is not a file")
    if file.stat().st_size > DATABASE_LIMIT:
        raise BadInput(f"{file} is larger than {DATABASE_LIMIT:,} bytes")
    with tempfile.TemporaryDirectory(prefix="recollect-") as scratch:
        copy = Path(scratch, "copy.db")
        shutil.copyfile(file, copy)
        log = file.with_name(f"{file.name}-wal")
        if log.is_file() and not log.is_symlink():
            shutil.copyfile(log, copy.with_name("copy.db-wal"))
        connection = apsw.Connection(str(copy))
        try:
            with _readable():
                connection.execute("PRAGMA query_only=ON; PRAGMA trusted_schema=OFF").fetchall()
                connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
            yield connection
        finally:
            connection.close()


def columns(connection: apsw.Connection, table: str) -> list[str]:
    found = connection.execute("SELECT name FROM pragma_table_info(?) ORDER BY cid", (table,)).fetchall()
    return [str(name) for (name,) in found]


def rows(connection: apsw.Connection, table: str, wanted: Sequence[str]) -> Iterator[dict[str, Any]]:
    """A table's rows by id, with the wanted columns that it has; both names are ours, not the file's."""
    there = [name for name in wanted if name in columns(connection, table)]
    if "id" not in there:
        return
    with _readable():
        for row in connection.execute(f"SELECT {', '.join(there)} FROM {table} ORDER BY id"):
            yield dict(zip(there, row, strict=True))


@contextmanager
def _readable() -> Iterator[None]:
    try:
        yield
    except (apsw.Error, UnicodeDecodeError) as error:
        raise StoreDamaged(f"The file is damaged or not a database ({error}). It was only read, not changed") from None
