"""Putting a Context together: which engine, which vault, which git, which models."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from recollect.core.context import Context, Db, Models
from recollect.core.errors import BadInput
from recollect.models.scripted import NoModels
from recollect.store.opening import open_sqlite
from recollect.store.vault import FolderVault

if TYPE_CHECKING:
    from datetime import date

    from recollect.core.actor import Actor
    from recollect.core.clock import Clock
    from recollect.core.ids import Ids
    from recollect.store.history import Repository
    from recollect.store.project import Project


def open_context(project: Project, *, actor: Actor, clock: Clock, ids: Ids, models: Models | None) -> Context:
    """Everything a room may touch, for one project."""
    return Context(
        db=_database(project),
        vault=FolderVault(project.vault, project.data / "vault.lock"),
        git=LateGit(project),
        models=models or NoModels(),
        clock=clock,
        ids=ids,
        settings=project.settings,
        space=project.settings.space,
        actor=actor,
    )


def _database(project: Project) -> Db:
    url = project.settings.store.url
    if url:
        raise BadInput(f"store {url.partition(':')[0]}: is not known; leave it empty for the embedded store")
    return open_sqlite(project.database, create=True, busy_seconds=project.settings.store.busy_seconds)


class LateGit:
    """The repository, looked at when first asked: the prompt hook never asks."""

    def __init__(self, project: Project):
        self._project = project

    def active_days(self) -> tuple[date, ...]:
        return self._repository.active_days()

    @cached_property
    def _repository(self) -> Repository:
        from zoneinfo import ZoneInfo

        from recollect.store.history import Repository

        return Repository(self._project.root, ZoneInfo(self._project.settings.timezone))
