"""The one way Recollect writes a file: unique temp name, write, fsync, rename, fsync the folder, under a lock."""

from __future__ import annotations

import errno
import os
import stat
import time
from contextlib import contextmanager, suppress
from itertools import islice

from recollect.core.errors import (
    NO_ACCESS,
    NOT_DONE,
    BadInput,
    FateUnknown,
    NoSpace,
    Stale,
    StoreBusy,
    StoreUnreachable,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from io import BufferedReader
    from pathlib import Path
    from typing import BinaryIO

    from recollect.core.context import Vault

TRIES = 20  # attempts to rewrite a file that other processes change at the same time; each takes milliseconds
TEMP_SUFFIX = ".recollect-tmp"
GRACE_SECONDS = 60.0  # a writer in another container or on another machine looks dead, but keeps writing
ABANDONED_SECONDS = 3600.0  # by now a live process with the writer's id is another one


def content_hash(text: str) -> str:
    import hashlib  # loads OpenSSL, which a reader of memory does not need

    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def rewrite(files: Vault, path: str, change: Callable[[str | None], str]) -> str:
    """Rewrite a file by a function of its text (None when absent), without losing a concurrent change."""
    for _ in range(TRIES):
        before = files.read(path)
        text = change(before)
        if text == (before or ""):
            return text
        with suppress(Stale):
            files.replace(path, text, expect="" if before is None else content_hash(before))
            return text
    raise Stale(f"{path} keeps changing: another process writes it all the time. Try again")


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """An exclusive lock between processes; released by the kernel when its holder dies."""
    import fcntl  # a shared library that readers do not need

    handle = _lock_file(path)
    try:
        with os_errors(path):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        let_go(handle)


@contextmanager
def held(path: Path, note: str) -> Iterator[None]:
    """The same without waiting; a second process gets the note of the first."""
    import fcntl

    handle = _lock_file(path)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise StoreBusy(os.pread(handle, 1000, 0).decode("utf-8", "replace")) from None
        os.ftruncate(handle, os.pwrite(handle, note.encode(), 0))  # in this order: no reader finds it empty
        yield
    finally:
        os.close(handle)


def write_atomically(folder: int, name: str, data: bytes, *, mode: int | None = None) -> None:
    """Replace `name` in an open folder in one step. Without a mode an existing file keeps its own."""
    was = _mode_of(folder, name) if mode is None else None
    temp = _temp_name(name)
    handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode or 0o644, dir_fd=folder)
    try:
        try:
            if was is not None:
                os.fchmod(handle, was)
            _write_all(handle, data)
            os.fsync(handle)
        finally:
            os.close(handle)
        os.rename(temp, name, src_dir_fd=folder, dst_dir_fd=folder)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(temp, dir_fd=folder)
        raise
    try:
        os.fsync(folder)
    except OSError as error:  # readers see the new text already, and the old one is gone
        raise _unconfirmed(name, error) from None


def append_durably(folder: int, name: str, data: bytes) -> os.stat_result:
    """Append in one piece; a failed write is cut off again. Returns the file's state after this write."""
    handle = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK, 0o644, dir_fd=folder)
    try:
        _refuse_odd_file(handle, name)
        size = os.fstat(handle).st_size
        try:
            _write_all(handle, data)
            state = _set_apart(handle)
            os.fsync(handle)
            if size == 0:
                os.fsync(folder)
        except BaseException:
            try:
                if os.fstat(handle).st_size > size + len(data):
                    raise OSError(errno.EBUSY, "another program wrote behind it")  # which a cut would take away
                os.ftruncate(handle, size)
            except OSError as error:
                raise _unconfirmed(name, error) from None
            raise
    finally:
        let_go(handle)
    return state


def let_go(handle: int) -> None:
    """Close a synced file: an error now says nothing about what was written."""
    with suppress(OSError):
        os.close(handle)


def _unconfirmed(name: str, error: OSError) -> FateUnknown:
    return FateUnknown(
        f"{name} was written, but the disk did not confirm it ({error.strerror}), so it may be "
        "lost. Check the disk, and look before you repeat it"
    )


def _set_apart(handle: int) -> os.stat_result:
    """Give a new file a time that the next write cannot have: many file systems count in milliseconds or seconds, so a
    change that keeps the size would go unnoticed."""
    state = os.fstat(handle)
    with suppress(PermissionError):  # another user's file keeps its time
        os.utime(handle, ns=(state.st_atime_ns, state.st_mtime_ns - 1))
    return os.fstat(handle)


def open_regular(folder: int, name: str) -> BinaryIO | None:
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    except FileNotFoundError:
        return None
    return _regular(handle, name)


def is_odd(path: str | Path) -> bool:
    """Whether the path is a FIFO, device, socket or folder."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except (OSError, ValueError):
        return False


def open_file(path: str | Path) -> BufferedReader:
    """Open a file that a user names; links are followed. Anything but a regular file is refused unopened: opening a
    FIFO waits for a writer, and opening a device may have effects."""
    if is_odd(path):
        raise BadInput(f"{path} is not a regular file; move it away")
    return _regular(os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC), str(path))


def text_in(path: str | Path) -> str:
    """The text of a file that a user or another program may have put there."""
    with open_file(path) as file:
        return file.read().decode("utf-8")


def _regular(handle: int, name: str) -> BufferedReader:
    try:
        _refuse_odd_file(handle, name)
    except BaseException:
        os.close(handle)
        raise
    return os.fdopen(handle, "rb")


def read_regular(folder: int, name: str) -> bytes | None:
    file = open_regular(folder, name)
    if file is None:
        return None
    with file:
        return file.read()


def write_path(path: Path, text: str, *, mode: int | None = None) -> None:
    with os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            write_atomically(folder, path.name, text.encode("utf-8", "surrogatepass"), mode=mode)
        finally:
            os.close(folder)


def write_new_path(path: Path, text: str) -> bool:
    """Write a file unless there is one; of several processes one wins."""
    with os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temp = temp_beside(path)
        write_path(temp, text)
        try:
            os.link(temp, path)
        except FileExistsError:
            return False
        finally:
            os.unlink(temp)
        sync(path.parent)
    return True


def add_lines(path: Path, *lines: str) -> bool:
    """Append missing lines to a user's file, but never to what a link leads to; True if any were missing."""
    with os_errors(path):
        was = path.read_bytes() if path.is_file() else b""
        missing = [line for line in lines if line.encode() not in was.splitlines()]
        if not missing:
            return False
        if path.is_symlink():
            raise BadInput(f"{path} is a symbolic link; add to its target yourself: {' and '.join(missing)}")
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
        try:
            begin = [""] if was and not was.endswith(b"\n") else []
            append_durably(folder, path.name, "\n".join([*begin, *missing, ""]).encode())
        finally:
            os.close(folder)
    return True


@contextmanager
def writing(path: Path, *, mode: int = 0o600) -> Iterator[BinaryIO]:
    """A file that gets its name when it is complete; a link stays a link."""
    if path.exists() and not path.is_file():
        raise BadInput(f"{path} is not a regular file; choose another name")
    with os_errors(path):
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
        temp = temp_beside(path)
        handle = os.open(temp, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, mode)
        try:
            with os.fdopen(handle, "wb") as file:
                yield file
            settle(temp, path)
        except BaseException:
            temp.unlink(missing_ok=True)
            raise


def temp_beside(path: Path) -> Path:
    """An unused temporary name in the same folder; leftovers of killed writers of the same file are deleted."""
    for left in abandoned(path.parent, ()):
        if left.name.startswith(f".{path.name[:80]}."):
            left.unlink(missing_ok=True)
    return path.with_name(_temp_name(path.name))


def settle(temp: Path, path: Path) -> None:
    with os_errors(path):
        sync(temp)
        os.rename(temp, path)
        sync(path.parent)


@contextmanager
def os_errors(path: Path | str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
            raise NoSpace(f"There is no space left to write {path}{NOT_DONE}. Free some space and try again") from None
        if error.errno in (errno.ELOOP, errno.ENOTDIR):
            raise BadInput(f"{path} goes through a symbolic link or a file where a folder is expected") from None
        if error.errno == errno.EISDIR:
            raise BadInput(f"{path} is a folder; a file cannot take its place") from None
        if error.errno == errno.ENXIO:
            raise BadInput(f"{path} is not a regular file; move it away") from None
        if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
            raise StoreUnreachable(f"{path} cannot be written from here ({error.strerror}). {NO_ACCESS}") from None
        raise StoreUnreachable(f"{path}: {error.strerror}; check the folder and its permissions") from None


def _lock_file(path: Path) -> int:
    with os_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        return os.open(path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)


def _temp_name(name: str) -> str:
    return f".{name[:80]}.{os.getpid()}.{os.urandom(6).hex()}{TEMP_SUFFIX}"


def abandoned(root: Path, folders: Iterable[Path], *, grace: float = GRACE_SECONDS) -> list[Path]:
    """The temporary files directly in `root`, or anywhere below the folders, whose writer was killed."""
    walked = (*islice(os.walk(root), 1), *(each for folder in folders for each in os.walk(folder)))
    found = {root.joinpath(at, name) for at, _, names in walked for name in names if TEMP_SUFFIX in name}
    return sorted(path for path in found if _is_abandoned(path, grace))


def _is_abandoned(path: Path, grace: float) -> bool:
    try:
        idle = abs(time.time() - path.stat().st_mtime)  # a file from the future comes from a clock that was ahead
        os.kill(int(path.name.split(TEMP_SUFFIX)[0].split(".")[-2]), 0)
    except (ProcessLookupError, ValueError, IndexError):
        return idle >= grace
    except OSError:  # it is gone by now, or the writer is another user's process
        return False
    return idle >= ABANDONED_SECONDS


def sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _write_all(handle: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(handle, view) :]


def _mode_of(folder: int, name: str) -> int | None:
    try:
        found = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
    except FileNotFoundError:
        return None
    return stat.S_IMODE(found) if stat.S_ISREG(found) else None


def _refuse_odd_file(handle: int, name: str) -> None:
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        raise BadInput(f"{name} is not a regular file; move it away")
