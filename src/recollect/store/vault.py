"""The vault on disk: logs, nodes, findings and themes as text files below one root.

Paths are relative, with `/`. Every folder on the way is opened without following links, so no path leaves the root. A
`MountedVault` has some files elsewhere: findings of another tool, or the logs and findings that a team shares.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from recollect.core.context import Tx, Vault
from recollect.core.errors import BadInput, Refused, Stale
from recollect.core.records import record, replace
from recollect.store.files import (
    append_durably,
    content_hash,
    let_go,
    locked,
    open_regular,
    os_errors,
    read_regular,
    write_atomically,
)

LOGS, FINDINGS = r"\d[^/]*\.md", r"[^/]+\.json"  # raw words, which a shared folder owns; findings are below learnings/
PART_LIMIT = 200  # characters of a name; file systems allow 255 bytes
PIECE = 1 << 20  # bytes read at a time; any size serves
WORKTREE_FILES = frozenset({"learnings.md", "index.md"})  # in the same folder, but the repository's own


class FolderVault:
    """A folder of text files; see the protocol `Vault`. Creates nothing before the first write."""

    def __init__(self, root: Path, lock: Path):
        self.root = root
        self._lock = lock

    def read(self, path: str) -> str | None:
        data = self._bytes(path)
        return None if data is None else self._text(data)

    def append(self, path: str, text: str, *, after: str | None = None) -> str:
        *folders, name = checked_parts(path)
        with locked(self._lock), os_errors(path), self._made_folder(folders) as folder:
            before = next((state for _, state in _states(folder, [name])), None)
            if after is not None and after != (_stamp(before) if before else ""):
                raise changed(path)
            data = text.encode("utf-8", "replace")
            left = append_durably(folder, name, data)
            try:
                now = os.stat(name, dir_fd=folder, follow_symlinks=False)
            except OSError:
                return ""  # the text is written, but its state is unknown
            # An editor knows nothing of our lock, and syncing takes long enough for it to write.
            ours = left.st_size == (before.st_size if before else 0) + len(data) and _stamp(left) == _stamp(now)
            return _stamp(now) if ours else ""

    def replace(self, path: str, text: str, *, expect: str | None = None) -> None:
        *folders, name = checked_parts(path)
        with locked(self._lock), os_errors(path), self._made_folder(folders) as folder:
            self._refuse_changed(folder, name, path, expect)
            write_atomically(folder, name, text.encode("utf-8", "replace"))

    def _text(self, data: bytes) -> str:
        return data.decode("utf-8", "replace")

    def _refuse_changed(self, folder: int | None, name: str, path: str, expect: str | None) -> None:
        if expect is None:
            return
        data = None if folder is None else read_regular(folder, name)
        found = "" if data is None else content_hash(self._text(data))
        if found != expect:
            raise changed(path)

    def _bytes(self, path: str) -> bytes | None:
        *folders, name = checked_parts(path)
        with os_errors(path), self._folder(folders) as folder:
            return None if folder is None else read_regular(folder, name)

    def delete(self, path: str, *, expect: str | None = None) -> None:
        *folders, name = checked_parts(path)
        with locked(self._lock), os_errors(path), self._folder(folders) as folder:
            self._refuse_changed(folder, name, path, expect)
            if folder is not None:
                with suppress(FileNotFoundError):
                    os.unlink(name, dir_fd=folder)
                    os.fsync(folder)

    def paths(self, prefix: str = "") -> list[str]:
        """Regular files below the folder `prefix`, sorted; hidden files and links are not ours."""
        parts = _parts_of_folder(prefix)
        with os_errors(prefix or self.root):
            try:
                with self._folder(parts) as folder:
                    return [] if folder is None else sorted("/".join((*parts, *path)) for path in _walk(folder))
            except NotADirectoryError:
                if self.root.joinpath(*parts).is_symlink():
                    raise
                return []  # a file has nothing below it

    def pieces(self, path: str) -> Iterator[str]:
        import codecs

        *folders, name = checked_parts(path)
        decoder = codecs.getincrementaldecoder("utf-8")("replace")
        with os_errors(path):
            with self._folder(folders) as folder:
                file = None if folder is None else open_regular(folder, name)
            if file is None:
                return
            with file:
                while data := file.read(PIECE):
                    yield decoder.decode(data)
            yield decoder.decode(b"", True)

    def stamps(self, folder: str = "", *, names: Sequence[str] | None = None) -> dict[str, str]:
        found: dict[str, str] = {}
        with os_errors(folder or self.root), self._folder(_parts_of_folder(folder)) as handle:
            if handle is not None:
                found = {name: _stamp(state) for name, state in _states(handle, names)}
        return found

    def folder_stamp(self, folder: str) -> str:
        with os_errors(folder), self._folder(_parts_of_folder(folder)) as handle:
            if handle is None:
                return ""
            state = os.fstat(handle)
        return f"{state.st_ino}:{state.st_mtime_ns}"

    def inside(self, tx: Tx) -> FolderVault:
        return self

    @contextmanager
    def _folder(self, parts: list[str]) -> Iterator[int | None]:
        try:
            handle = _descended(self.root, parts, create=False)
        except FileNotFoundError:
            yield None
            return
        try:
            yield handle
        finally:
            os.close(handle)

    @contextmanager
    def _made_folder(self, parts: list[str]) -> Iterator[int]:
        self.root.mkdir(parents=True, exist_ok=True)
        handle = _descended(self.root, parts, create=True)
        try:
            yield handle
        finally:
            let_go(handle)


def checked_parts(path: str) -> list[str]:
    """The parts of a vault path; refuses `..`, absolute paths, and anything hidden or unprintable."""
    parts = path.split("/")
    for part in parts:
        if part in ("", ".", "..") or part.startswith(".") or len(part) > PART_LIMIT or not part.isprintable():
            raise BadInput(f"{path[:120]!r} is not a path inside the memory folder")
        if "\\" in part or ":" in part:
            raise BadInput(f"{path[:120]!r} holds a character that file systems disagree on")
    return parts


def _parts_of_folder(path: str) -> list[str]:
    return checked_parts(path) if path else []


def _descended(root: Path, parts: list[str], *, create: bool) -> int:
    """The handle of a folder below a root, reached without following links."""
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    for part in parts:
        try:
            inner = _open_folder(handle, part, create=create)
        finally:
            os.close(handle)
        handle = inner
    return handle


def _open_folder(parent: int, name: str, *, create: bool) -> int:
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
    try:
        return os.open(name, flags, dir_fd=parent)
    except FileNotFoundError:
        if not create:
            raise
    try:
        os.mkdir(name, dir_fd=parent)
    except FileExistsError:
        pass  # another process was faster, which is as good
    else:
        os.fsync(parent)
    return os.open(name, flags, dir_fd=parent)


def _stamp(state: os.stat_result) -> str:
    """Inode and size change with our writes, the time with those of others."""
    return f"{state.st_ino}:{state.st_size}:{state.st_mtime_ns}" if stat.S_ISREG(state.st_mode) else ""


def _states(folder: int, names: Sequence[str] | None) -> Iterator[tuple[str, os.stat_result]]:
    """The files in an open folder, or those of some names; a file that is deleted meanwhile is left out."""
    if names is None:
        with os.scandir(folder) as entries:
            names = [entry.name for entry in entries if not entry.name.startswith(".")]
    for name in names:
        with suppress(FileNotFoundError):
            yield name, os.stat(name, dir_fd=folder, follow_symlinks=False)


class Worktree(FolderVault):
    """The repository's own files: each is read with Unix line ends and keeps its own, and a file with unreadable bytes
    is not overwritten."""

    def replace(self, path: str, text: str, *, expect: str | None = None) -> None:
        before = self._bytes(path) or b""
        try:
            before.decode("utf-8")
        except UnicodeDecodeError:
            raise Refused(f"{path} is not UTF-8, and writing it again would lose what cannot be read") from None
        super().replace(path, text.replace("\n", self.line_end(path)), expect=expect)

    def line_end(self, path: str) -> str:
        data = self._bytes(path) or b""
        return "\r\n" if b"\r\n" in data and data.count(b"\r\n") == data.count(b"\n") else "\n"

    def _text(self, data: bytes) -> str:
        return super()._text(data).replace("\r\n", "\n")


def changed(path: str) -> Stale:
    return Stale(f"{path} was changed by another process meanwhile. Read it again")


def _walk(folder: int) -> Iterator[tuple[str, ...]]:
    """The regular files below an open folder, as their parts; a folder that is deleted meanwhile has none."""
    with os.scandir(folder) as entries:
        seen = [entry for entry in entries if not entry.name.startswith(".")]
    for entry in seen:
        if entry.is_dir(follow_symlinks=False):
            try:
                inner = _open_folder(folder, entry.name, create=False)
            except FileNotFoundError:
                continue
            try:
                yield from ((entry.name, *rest) for rest in _walk(inner))
            finally:
                os.close(inner)
        elif entry.is_file(follow_symlinks=False):
            yield (entry.name,)


@record
class Mount:
    """Files that lie in another vault: those below `prefix` whose remaining path matches `owns`."""

    vault: Vault
    prefix: str = ""
    owns: str = ".*"


class MountedVault:
    """See the protocol `Vault`. The first mount that owns a path holds it, else `base`."""

    def __init__(self, base: Vault, *mounts: Mount):
        self._base, self._mounts = base, mounts

    def read(self, path: str) -> str | None:
        vault, path = self._place(path)
        return vault.read(path)

    def append(self, path: str, text: str, *, after: str | None = None) -> str:
        vault, path = self._place(path)
        return vault.append(path, text, after=after)

    def replace(self, path: str, text: str, *, expect: str | None = None) -> None:
        vault, path = self._place(path)
        vault.replace(path, text, expect=expect)

    def delete(self, path: str, *, expect: str | None = None) -> None:
        vault, path = self._place(path)
        vault.delete(path, expect=expect)

    def paths(self, prefix: str = "") -> list[str]:
        found = [path for path in self._base.paths(prefix) if self._place(path)[0] is self._base]
        for mount in self._mounts:
            if mount.prefix.startswith(f"{prefix}/" if prefix else ""):
                inside = mount.vault.paths()
            elif f"{prefix}/".startswith(mount.prefix):
                inside = mount.vault.paths(prefix[len(mount.prefix) :])
            else:
                continue
            whole = (mount.prefix + path for path in inside)
            found += [path for path in whole if self._place(path)[0] is mount.vault]
        return sorted(found)

    def pieces(self, path: str) -> Iterator[str]:
        vault, path = self._place(path)
        return vault.pieces(path)

    def stamps(self, folder: str = "", *, names: Sequence[str] | None = None) -> dict[str, str]:
        found: dict[str, str] = {}
        for vault, inner in self._places(folder):
            for name, stamp in vault.stamps(inner, names=names).items():
                if self._place(f"{folder}/{name}".lstrip("/"))[0] is vault:
                    found[name] = stamp
        return found

    def folder_stamp(self, folder: str) -> str:
        return " ".join(vault.folder_stamp(inner) for vault, inner in self._places(folder))

    def inside(self, tx: Tx) -> MountedVault:
        mounts = (replace(mount, vault=mount.vault.inside(tx)) for mount in self._mounts)
        return MountedVault(self._base.inside(tx), *mounts)

    def _places(self, folder: str) -> list[tuple[Vault, str]]:
        """The vaults that may hold files of a folder, each with the folder's path there."""
        here = f"{folder}/" if folder else ""
        inner = [(mount.vault, here[len(mount.prefix) :]) for mount in self._mounts if here.startswith(mount.prefix)]
        return [(vault, path.rstrip("/")) for vault, path in ((self._base, folder), *inner)]

    def _place(self, path: str) -> tuple[Vault, str]:
        for mount in self._mounts:
            behind = path[len(mount.prefix) :]
            if path.startswith(mount.prefix) and re.fullmatch(mount.owns, behind):
                return mount.vault, behind
        return self._base, path
