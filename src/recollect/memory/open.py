"""Opening a project: which engine, vault, repository and models its Context holds.

Vault, worktree, models and git are opened when they are first used, because a hook uses none or few of them.
"""

from __future__ import annotations

import os
from binascii import crc32
from functools import cached_property

from recollect.core.clock import zone_named
from recollect.core.context import Context, Db, Models, Vault
from recollect.core.errors import BadInput, Trouble
from recollect.core.settings import StoreSettings
from recollect.store.sqlite_file import open_sqlite

TYPE_CHECKING = False
if TYPE_CHECKING:
    import re
    from collections.abc import Callable, Mapping
    from datetime import date
    from typing import Any, TypeVar

    from recollect.core.clock import Clock
    from recollect.core.context import Actor
    from recollect.core.values import Ids
    from recollect.store.git import Repository
    from recollect.store.project import Project

    T = TypeVar("T")


def open_context(
    project: Project, *, actor: Actor, clock: Clock, ids: Ids, models: Models | None, environ: Mapping[str, str]
) -> Context:
    """Everything a room may touch, for one project."""
    db = open_database(project, project.settings.store.url)
    return Context(
        db=db,
        vault=_lazy(lambda: open_vault(project, db)),
        worktree=_lazy(lambda: _open_worktree(project)),
        git=LazyGit(project),
        models=models or _lazy(lambda: open_models(project, environ)),
        clock=clock,
        wall_clock=clock,
        ids=ids,
        settings=project.settings,
        space=project.settings.space,
        clone=_clone(project),
        actor=actor,
    )


def _clone(project: Project) -> str:
    """A name for this copy of the repository that does not reveal its path; a checksum, as hashlib loads slowly."""
    return f"{crc32(os.fsencode(f'{os.uname().nodename}:{project.root}')):08x}"


def open_models(project: Project, environ: Mapping[str, str]) -> Models:
    from recollect.models.configured import ConfiguredModels, offline_requested

    settings = project.settings
    return ConfiguredModels(settings.models, settings.embed, environ, offline=offline_requested(environ))


def embed_at_once(ctx: Context) -> None:
    """Embed what was just captured when this process has the model loaded; otherwise a cycle does it."""
    embedder = ctx.models.loaded_embedder()
    if embedder is not None:
        from recollect.search.meaning import at_once

        at_once(ctx, embedder)


def open_database(project: Project, url: str) -> Db:
    """The store at `url`; empty means the embedded one."""
    settings = project.settings.store
    if url:
        return _open_server(url, settings)
    return open_sqlite(project.database, create=True, busy_seconds=settings.busy_seconds)


def check_store(url: str) -> None:
    """Raise what opening the store at `url` would raise."""
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
    )


def open_vault(project: Project, db: Db) -> Vault:
    """The vault of a store: a folder beside the embedded store, a table in a server's.

    Findings in a folder of the repository stay there with either store.
    """
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
    from recollect.store.vault import MountedVault

    return MountedVault(vault, "learnings", FolderVault(project.findings, lock))


def _open_worktree(project: Project) -> Vault:
    from recollect.store.vault import Worktree

    return Worktree(project.root, project.data / "worktree.lock")


def _lazy(make: Callable[[], T]) -> T:
    """An object that is made when it is first used: a worker's process uses neither files nor models."""
    return _Lazy(make)  # type: ignore[return-value]


class _Lazy:
    def __init__(self, make: Callable[[], object]):
        self._make = make

    def __getattr__(self, name: str) -> Any:
        if "_made" not in vars(self):
            vars(self).setdefault("_made", self._make())  # of two threads at once, one makes it for both
        return getattr(vars(self)["_made"], name)


class LazyGit:
    """The repository, opened when it is first used; the prompt hook never uses it."""

    def __init__(self, project: Project):
        self._project = project

    def active_days(self) -> tuple[date, ...]:
        return self._repository.active_days()

    def line_days(self, path: str, text: str) -> tuple[date | None, ...]:
        return self._repository.line_days(self._project.root / path, text)

    def committed(self, path: str) -> str | None:
        return self._repository.committed(self._project.root / path)

    def day_removed(self, path: str, line: re.Pattern[str], *, least: int) -> date | None:
        return self._repository.day_removed(self._project.root / path, line, least=least)

    @cached_property
    def _repository(self) -> Repository:
        from recollect.store.git import Repository

        return Repository(self._project.root, zone_named(self._project.settings.timezone))
