"""Opening a project: which engine, vault, repository and models its Context holds.

Vault, worktree, models and git open at their first use, because a hook uses few or none of them.
"""

from __future__ import annotations

import os
from binascii import crc32

from recollect.core.clock import zone_named
from recollect.core.context import Context, Db, Git, Models, NoRings, Vault
from recollect.core.errors import BadInput, Refused, Trouble
from recollect.core.records import record, replace
from recollect.core.settings import StoreSettings, check_space, merged
from recollect.store import project as projects
from recollect.store.project import Project
from recollect.store.sqlite_file import open_sqlite

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path
    from typing import Any, TypeVar

    from recollect.core.clock import Clock
    from recollect.core.context import Actor, RepositoryFiles, Rings
    from recollect.core.records import Ids

    T = TypeVar("T")


def open_context(
    project: Project,
    *,
    actor: Actor,
    clock: Clock,
    ids: Ids,
    models: Models | None,
    environ: Mapping[str, str],
    db: Db | None = None,
    rings: Rings | None = None,
) -> Context:
    """The context of a project; `db` is given where its server is in use already."""
    db = db or open_database(project, project.settings.store.url)
    return Context(
        db=db,
        vault=_lazy(lambda: open_vault(project, db)),
        worktree=_lazy(lambda: _open_worktree(project)),
        git=_lazy(lambda: _open_repository(project)),
        models=models or _lazy(lambda: open_models(project, environ)),
        clock=clock,
        wall_clock=clock,
        ids=ids,
        settings=project.settings,
        space=project.settings.space,
        # Names this copy of the repository without its path; a checksum, because hashlib loads slowly.
        clone=f"{crc32(os.fsencode(f'{os.uname().nodename}:{project.root}')):08x}",
        actor=actor,
        rings=rings or NoRings(),
    )


def open_models(project: Project, environ: Mapping[str, str]) -> Models:
    from recollect.models.configured import ConfiguredModels, offline_requested

    settings = project.settings
    return ConfiguredModels(settings.models, settings.embed, environ, offline=offline_requested(environ))


def embed_at_once(ctx: Context) -> None:
    """Embed new passages if this process has the model loaded; otherwise a cycle does it."""
    embedder = ctx.models.loaded_embedder()
    if embedder is not None:
        from recollect.search.meaning import at_once

        at_once(ctx, embedder)


def open_database(project: Project, url: str) -> Db:
    settings = project.settings.store
    if url:
        return _open_server(url, settings)
    if not os.path.isdir(project.data):
        raise Trouble(
            f"the folder of this memory is gone: {project.data}. Bring it back with: recollect store restore FILE "
            f"(backups are in {projects.backups_of(project.database)}), or begin an empty memory with: recollect init"
        )
    return open_sqlite(project.database, create=True, busy_seconds=settings.busy_seconds)


def check_store(url: str) -> None:
    _open_server(url, StoreSettings()).close()


def _open_server(url: str, settings: StoreSettings) -> Db:
    if not url.startswith(("postgresql://", "postgres://")):
        raise BadInput("store.url must be empty for the embedded store, or begin with postgresql://")
    try:
        from recollect.store.postgres_setup import open_postgres
    except ImportError:
        raise Trouble("PostgreSQL needs its driver; run: pip install 'recollect-memory[postgres]'") from None
    return open_postgres(
        url,
        busy_seconds=settings.busy_seconds,
        connect_seconds=settings.connect_seconds,
        connections=settings.connections,
        read_from=settings.read_from,
    )


def begin_place(
    folder: Path,
    environ: Mapping[str, str],
    *,
    space: str | None = None,
    timezone: str | None = None,
    join: bool = False,
) -> list[str]:
    """Make a project in `folder`, or fill in what is missing; only with `join` in a space of other places."""
    held = None if join else held_by_others(folder, environ, space)
    if held is not None:
        raise Refused(f"{held.told} This folder is not one of its places; a person adds it with: recollect init --join")
    return projects.create(folder, environ, space=space, timezone=timezone)


@record
class Held:
    """A space that a place is about to join: its places, who began it, and how much it holds."""

    space: str
    begun_by: str
    places: tuple[str, ...]
    learnings: int
    entries: int
    last_day: str

    @property
    def told(self) -> str:
        from recollect.text.sentences import counted

        last = f", the last on {self.last_day}" if self.last_day else ""
        return (
            f"Space {self.space} holds {counted(self.learnings, 'learning')} and {counted(self.entries, 'log entry')}"
            f"{last}. {self.begun_by} began it. It is used by {', '.join(self.places) or 'no place of yours'}."
        )


def held_by_others(root: Path, environ: Mapping[str, str], space: str | None) -> Held | None:
    """The space that `init` would use in a folder that is not one of its places; None for a new space."""
    from contextlib import closing

    from recollect.store import bulk, events, journal, register
    from recollect.store.db import count

    name = projects.chosen(root, environ, space)
    if name is None:
        return None
    check_space(name)
    read = projects.read(root.resolve(), environ)
    project = replace(read, settings=merged(read.settings, {"space": name}, "init"))
    if register.confirmed(project.home, root.resolve(), name, named=True) is not None:
        return None
    places = tuple(one.shown for one in register.read(project.home) if one.space == name)
    learnings, entries, rows, oldest = 0, {}, 0, None
    if project.settings.store.url or project.database.exists():
        with closing(open_database(project, project.settings.store.url)) as db, db.read(name) as tx:
            rows = sum(count(tx, table.name) for table in (*bulk.DUMPED, bulk.VAULT))
            learnings = count(tx, "learnings")
            entries = journal.entry_counts(tx)
            oldest = events.first(tx)
    if not places and not rows and not project.vault.is_dir():
        return None
    return Held(
        space=name,
        begun_by=oldest.who if oldest else "Nothing tells who",
        places=places,
        learnings=learnings,
        entries=sum(entries.values()),
        last_day=max(entries).isoformat() if entries else "",
    )


def open_vault(project: Project, db: Db) -> Vault:
    """A folder beside the embedded store, a table in a server's. Findings in a folder of the repository, and raw words
    that a team shares, stay there; what is derived from them is not shared, because every session would change it."""
    from recollect.store.vault import FolderVault

    lock = project.data / "vault.lock"
    vault: Vault
    if not db.holds_vault:
        vault = FolderVault(project.vault, lock)
    else:
        from recollect.store.table_vault import TableVault

        vault = TableVault(db, project.settings.space)
    if project.findings is None:
        return vault
    from recollect.store.vault import FINDINGS, LOGS, Mount, MountedVault

    findings = FolderVault(project.findings, lock)
    if project.shared is None:
        return MountedVault(vault, Mount(vault=findings, prefix="learnings/"))
    if not project.findings.resolve().is_relative_to(project.root) or project.shared.is_symlink():
        raise Refused(f"{project.shared} is a link; put a folder in its place, or unset vault.share")
    raw = FolderVault(project.shared, lock)
    # Another program's folder is used as it is, with its themes; in ours, what is derived stays out of the repository.
    owns = FINDINGS if project.findings == project.shared / "learnings" else ".*"
    return MountedVault(vault, Mount(vault=raw, owns=LOGS), Mount(vault=findings, prefix="learnings/", owns=owns))


def _open_worktree(project: Project) -> RepositoryFiles:
    from recollect.store.vault import Worktree

    return Worktree(project.root, project.data / "worktree.lock")


def _open_repository(project: Project) -> Git:
    from recollect.store.git import Repository

    return Repository(project.root, zone_named(project.settings.timezone))


def _lazy(make: Callable[[], T]) -> T:
    """An object that is made at its first use."""
    return _Lazy(make)  # type: ignore[return-value]


class _Lazy:
    def __init__(self, make: Callable[[], object]):
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if "_made" not in vars(self):
            vars(self).setdefault("_made", self._make())  # of two threads at once, one makes it for both
        return getattr(vars(self)["_made"], name)
