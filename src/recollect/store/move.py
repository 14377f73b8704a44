"""Moving a memory that an earlier version kept in the working tree to its owner's data folder.

Only what this user began is moved: a mark in the user's own state folder says so, which no repository can bring. The
files are copied into a folder beside the new place, compared by hash, and renamed last, so that a move that was killed
either has not happened or is finished by the next command. The old files stay as they are.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import apsw

from recollect.core.clock import clock_from
from recollect.core.errors import BadInput, NotInitialised, Refused, Stale, Trouble
from recollect.core.records import loads, record
from recollect.store import project as projects
from recollect.store import register
from recollect.store.files import TEMP_SUFFIX, locked, os_errors, read_regular, settle, sync, temp_beside, write_path
from recollect.store.project import Project, backups_of
from recollect.store.vault import WORKTREE_FILES, FolderVault

VAULT = projects.VAULT_FOLDER
DATA, NOTE, MOVED = ".recollect", "MOVED.md", "moved.json"
QUICK_BYTES, QUICK_FILES = 32 << 20, 300  # about a second, which a hook may take
_LEFT = re.compile(rf"begun|interpreter|settings-.*\.json|.*\.lock|memory\.db-shm|{NOTE}|\..*{TEMP_SUFFIX}.*")
_VAULT = re.compile(r"(?:(?:daily|weekly|monthly|learnings)/|[0-9]|ROOT).*\.(?:md|json)")


@record
class OldMemory:
    """What an earlier version kept in a project: each file with its path in the new place, or among the backups."""

    data: Path
    files: dict[str, Path]
    backups: dict[str, Path]

    @property
    def bytes(self) -> int:
        return sum(path.stat().st_size for path in (*self.files.values(), *self.backups.values()))


def find(start: Path, environ: Mapping[str, str], *, told: Callable[[str], object] = lambda _: None) -> Project:
    """`project.find`, after moving what an earlier version kept there; `told` is given a line about that."""
    try:
        return projects.find(start, environ)
    except NotInitialised:
        if not (said := bring(projects.root_of(start, environ), environ)):
            raise
    told(said)
    return projects.find(start, environ)


def old_memory(project: Project) -> OldMemory | None:
    """What there is to move; None where nothing is, or where this user did not begin it."""
    root = register.main_worktree(project.root)
    data, vault = root / DATA, root / VAULT
    if data.is_symlink() or not data.is_dir() or not _began(data, project.state):
        return None
    files, backups = {}, {}
    for path in _regular(data):
        name = path.relative_to(data).as_posix()
        if name.startswith(f"{projects.BACKUPS}/"):
            backups[name.partition("/")[2]] = path
        elif not _LEFT.fullmatch(path.name):
            files[name] = path
    if not vault.is_symlink():
        for name in FolderVault(vault, data / "unused").paths():
            if name not in WORKTREE_FILES and _VAULT.fullmatch(name):
                files[f"{VAULT}/{name}"] = vault / name
    return OldMemory(data=data, files=files, backups=backups)


def to_move(root: Path, environ: Mapping[str, str]) -> OldMemory | None:
    """What the first command in a folder moves; None where its memory is in the new place, or is not this user's."""
    project = projects.read(root, environ)
    try:
        if project.settings.space:
            projects.load(root, environ)
    except NotInitialised:
        return old_memory(project)
    return None


def bring(root: Path, environ: Mapping[str, str], *, quick: bool = False) -> str:
    """Move what is there and add the place; gives a line that says so, empty where nothing was moved."""
    project, old = projects.read(root, environ), to_move(root, environ)
    if old is None or (quick and (len(old.files) > QUICK_FILES or old.bytes > QUICK_BYTES)):
        return ""
    register.make_private(project.home)
    with locked(project.home / "move.lock"):
        with suppress(NotInitialised):
            projects.load(root, environ)
            return ""  # another process was faster
        _refuse_taken(project, old)
        if not project.data.exists():
            _copy(project, old)
        damaged = project.database.exists() and not _reads(project.database)
        now, settings = clock_from(environ).now(), project.settings
        register.add(
            project.home, root, settings.space, now=now, timezone=settings.timezone, ignore=settings.hosts.ignore
        )
    note = (
        f"The memory of this project is now in {project.data}. The files here, and the logs in {VAULT}/ beside "
        "this folder, are as they were. Nothing reads them any more; delete them when you like.\n"
    )
    with suppress(Trouble, BadInput):
        write_path(old.data / NOTE, note)
    said = f"moved the memory of {root} from {old.data} to {project.data}; the old files are untouched"
    return f"{said}. The store was damaged before; run: recollect doctor" if damaged else said


def _refuse_taken(project: Project, old: OldMemory) -> None:
    """The new place is free, or an earlier try was killed after it had made it."""
    space = project.settings.space
    others = [one.shown for one in register.read(project.home) if one.space == space]
    if not others and (not project.data.exists() or _came_from(project.data, old.data)):
        return
    raise Refused(
        f"The memory in {old.data} was not moved: space {space} in {project.data} already holds that of "
        f"{', '.join(others) or 'another place'}. To use that memory here: recollect init --join (the files in "
        f"{old.data} stay). To keep this one apart, export it with the earlier version, and import it here"
    )


def _copy(project: Project, old: OldMemory) -> None:
    """The new folder, whole or not at all."""
    register.make_private(project.data.parent)
    draft = project.data.with_name(f".{project.data.name}.moving")
    with os_errors(draft):
        shutil.rmtree(draft, ignore_errors=True)
        draft.mkdir(mode=0o700)
        before = {name: _hash(path) for name, path in old.files.items()}
        for name, path in old.files.items():
            _copy_file(path, draft / name)
        copied = {name: _hash(draft / name) for name in old.files}
        again = old_memory(project)
        if again is None or copied != before or {name: _hash(path) for name, path in again.files.items()} != before:
            raise Stale(f"{old.data} was written to while it was moved. Nothing was changed; run the command again")
        for name, path in old.backups.items():
            target = backups_of(project.database) / name
            if not target.exists():
                register.make_private(target.parent)
                temp = temp_beside(target)
                _copy_file(path, temp)
                settle(temp, target)
        came = {"from": str(old.data), "inode": old.data.stat().st_ino, "files": before}
        write_path(draft / MOVED, json.dumps(came, indent=0), mode=0o600)
        for folder, _, _ in os.walk(draft, topdown=False):
            sync(Path(folder))
        settle(draft, project.data)


def _reads(database: Path) -> bool:
    """Whether a store opens and its pages are whole. Read-only, so that a damaged log stays for `doctor`."""
    try:
        connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            return connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
        finally:
            connection.close()
            database.with_name(f"{database.name}-shm").unlink(missing_ok=True)
    except apsw.Error:
        return False


def left_behind(project: Project) -> Path | None:
    """The old folder of a memory that was moved, where it is still there."""
    with suppress(OSError, ValueError, KeyError):
        old = Path(loads((project.data / MOVED).read_text("utf-8"))["from"])
        return old if (old / NOTE).is_file() else None
    return None


def _came_from(data: Path, old: Path) -> bool:
    with suppress(OSError, ValueError, KeyError):
        known = loads((data / MOVED).read_text("utf-8"))
        return bool(str(old) == known["from"]) or old.stat().st_ino == known["inode"]
    return False


def _began(data: Path, state: Path) -> bool:
    """Whether this user began a memory, by a secret that stands in its folder and in the user's own."""
    try:
        folder = os.open(data, os.O_RDONLY | os.O_DIRECTORY)
        try:
            text = (read_regular(folder, "begun") or b"").decode("ascii")  # no link: it could name another's
        finally:
            os.close(folder)
    except (OSError, ValueError, BadInput):
        return False
    secrets = [secret for secret in text.split()[-200:] if secret.isalnum()]
    return any((state / how / secret).is_file() for secret in secrets for how in ("begun", "made"))


def _regular(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink() and not path.name.endswith(TEMP_SUFFIX):
            yield path


def _copy_file(source: Path, target: Path) -> None:
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copyfile(source, target)
    shutil.copystat(source, target)
    sync(target)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
