"""Moving a project's memory between stores, and mirroring a team's vault: what needs two places at once."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.core.clock import Clock
from recollect.core.errors import BadInput, NotInitialised
from recollect.memory.opening import open_database, open_vault
from recollect.store import project as projects
from recollect.store.files import content_hash, write_path
from recollect.store.project import Project
from recollect.store.sqlite import SqliteDb
from recollect.store.vault import FolderVault
from recollect.tend.mirror import Mirrored, mirror
from recollect.tend.move import Moved, Progress, Side, move

if TYPE_CHECKING:
    from recollect.store.postgres_setup import Made

EMBEDDED = "embedded"
MIRROR = "mirror.json"


def move_memory(
    project: Project, *, source: str, target: str, clock: Clock, restart: bool, progress: Progress
) -> Moved:
    """Copy a project's memory from one store to another; `embedded` names the one inside the project."""
    if source == EMBEDDED and not project.database.exists():
        raise BadInput(f"there is no embedded store at {project.database}; nothing to move")
    with _opened(project, source) as old, _opened(project, target) as new:
        moved = move(old, new, project.settings.space, at=clock.now(), restart=restart, progress=progress)
        if EMBEDDED in (source, target):  # one end is the folder that `vault` mirrors the other to from now on
            texts = ((path, old.vault.read(path)) for path in old.vault.paths())
            _remember_equal(project, {path: content_hash(text) for path, text in texts if text is not None})
    return replace(moved, upgraded=isinstance(old.db, SqliteDb) and old.db.upgraded)


def pull_vault(project: Project, *, force: bool) -> Mirrored:
    """The team's vault into the project's folder."""
    return _mirrored(project, pull=True, force=force)


def push_vault(project: Project, *, force: bool) -> Mirrored:
    """The project's folder into the team's vault."""
    return _mirrored(project, pull=False, force=force)


def initialise_store(url: str, *, admin: str | None) -> Made:
    """Make or upgrade the store at `url`."""
    if not url.startswith(("postgresql://", "postgres://")):
        raise BadInput("name the store to make: set RECOLLECT_STORE or give --store postgresql://user@host/database")
    from recollect.store.postgres_setup import initialise

    return initialise(url, admin=admin)


def store_address(folder: Path, environ: Mapping[str, str]) -> str:
    """The store that the settings name, in a project or outside of one."""
    try:
        return projects.find(folder, environ).settings.store.url
    except NotInitialised:
        return projects.outside(environ).store.url


@contextmanager
def _opened(project: Project, url: str) -> Iterator[Side]:
    """One end of a move, closed when done."""
    db = open_database(project, "" if url == EMBEDDED else url)
    try:
        yield Side(db=db, vault=open_vault(project, db))
    finally:
        db.close()


def _mirrored(project: Project, *, pull: bool, force: bool) -> Mirrored:
    url = project.settings.store.url
    if not url:
        raise BadInput(f"the vault of an embedded store is a folder already: {project.vault}")
    folder = FolderVault(project.vault, project.data / "vault.lock")
    memory = project.data / MIRROR
    last = json.loads(memory.read_text("utf-8")) if memory.exists() else {}
    with _opened(project, url) as team:
        source, target = (team.vault, folder) if pull else (folder, team.vault)
        done = mirror(source, target, last, pull=pull, force=force)
    _remember_equal(project, done.equal)
    return done


def _remember_equal(project: Project, hashes: dict[str, str]) -> None:
    write_path(project.data / MIRROR, json.dumps(hashes, indent=0, sort_keys=True))
