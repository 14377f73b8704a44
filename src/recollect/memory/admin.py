"""The facets of a memory as a whole: its data, models, tokens and requests; and what works without an open store.

`Rescue` serves a project whose store does not open. `migrate`, `pull_vault` and `push_vault` need two places at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from recollect.capture import import_tools
from recollect.capture.decide import undo
from recollect.capture.import_notes import ImportedPieces, bring_in
from recollect.capture.import_tools import Source
from recollect.core.choices import Trust
from recollect.core.clock import Clock, clock_from
from recollect.core.context import Actor, Context
from recollect.core.decision import Decision
from recollect.core.errors import BadInput, NotInitialised, RecollectError
from recollect.core.learning import Learning
from recollect.core.token import Token, TokenChannel
from recollect.core.values import random_id
from recollect.memory.memory import Facet
from recollect.memory.open import open_context, open_database, open_vault
from recollect.memory.sessions import retry
from recollect.models.configured import ProviderCheck, check
from recollect.search.meaning import Refreshed, refresh
from recollect.store import access as token_rows
from recollect.store import model_rows
from recollect.store import project as projects
from recollect.store.access import Answered
from recollect.store.copies import CopyCheck, check_file
from recollect.store.files import content_hash, write_path, writing
from recollect.store.init import claim_new, is_foreign
from recollect.store.model_rows import Usage
from recollect.store.project import Project
from recollect.store.vault import FolderVault
from recollect.tend import access, backup, export, pending, purge
from recollect.tend.backup import Backup, Migrated, OwnBackup, Restored, StoreSide
from recollect.tend.doctor import Diagnosis, doctor
from recollect.tend.export import Exported, Imported
from recollect.tend.mirror import Mirrored, mirror
from recollect.tend.pending import Applied, PendingAsk
from recollect.tend.purge import Purged, PurgePlan
from recollect.tend.verify import Discrepancy, Rebuilt, rebuild, verify
from recollect.text.sentences import counted

if TYPE_CHECKING:
    from recollect.store.postgres_setup import Made


class Data(Facet):
    """Everything one does with a memory as a whole."""

    def export(self, write: Callable[[str], object], *, progress: Callable[[int], object] | None = None) -> Exported:
        """Give every record to `write`, one line of JSON each."""
        return export.export(self._ctx, write, progress=progress)

    def export_file(self, path: Path, *, progress: Callable[[int], object] | None = None) -> Exported:
        """The same into a file, which appears under its name only when it is complete; it replaces an older export."""
        export.check_replaceable(path)
        with writing(path) as file:
            return self.export(lambda line: file.write(line.encode("utf-8", "replace")), progress=progress)

    def take_in(
        self,
        stream: BinaryIO,
        *,
        name: str = "a stream",
        trust: Trust = "external",
        progress: Callable[[int], object] | None = None,
    ) -> Imported:
        """Import an export, as external unless a person vouches for it."""
        return export.import_lines(self._ctx, stream, name=name, trust=trust, progress=progress)

    def gather(
        self,
        source: Source,
        path: Path | None = None,
        *,
        of: str | None = None,
        trust: Trust = "external",
        preview: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> ImportedPieces:
        """Import what another tool remembers, or preview it; `of` is that tool's name for the project."""
        root, home = self._project.root, Path.home()
        pieces = import_tools.pieces(source, path, of=of, root=root, home=home, environ=os.environ)
        return bring_in(self._ctx, pieces, source=source, trust=trust, preview=preview, progress=progress)

    def backup(self, target: Path | None = None, *, progress: Callable[[int, int], object] | None = None) -> Backup:
        return backup.backup(self._ctx, self._project.database, target, progress=progress)

    def backups(self) -> list[OwnBackup]:
        """The project's own backups, newest first, each checked."""
        return backup.kept(self._project.database)

    def undo(self) -> list[Learning] | list[Decision]:
        """Take back the last change to learnings or decisions."""
        return undo(self._ctx)

    def verify(self, *, progress: Callable[[str], object] | None = None) -> tuple[Discrepancy, ...]:
        return verify(self._ctx, progress=progress)

    def rebuild(self, *, progress: Callable[[int], object] | None = None) -> Rebuilt:
        return rebuild(self._ctx, progress=progress)

    def embed(self, *, progress: Callable[[int], object] | None = None) -> Refreshed:
        """Embed every passage that has no vectors yet."""
        return refresh(self._ctx, progress=progress)

    def plan_purge(self, *, id: str | None = None, text: str | None = None) -> PurgePlan:
        """What a purge would touch."""
        return purge.plan(self._ctx, self._project, id=id, text=text)

    def purge(self, *, id: str | None = None, text: str | None = None) -> Purged:
        return purge.purge(self._ctx, self._project, id=id, text=text)


class Rescue:
    """What works on a project whose store does not open."""

    def __init__(self, project: projects.Project, actor: Actor, clock: Clock, environ: Mapping[str, str]):
        self._project = project
        self._environ = environ
        self._actor = actor
        self._clock = clock

    @classmethod
    def of(
        cls,
        folder: str | Path = ".",
        *,
        actor: Actor,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> Rescue:
        """The rescue of the project that `folder` belongs to."""
        environ = os.environ if environ is None else environ
        project = projects.find(Path(folder), environ)
        claim_new(project)
        return cls(project, actor, clock or clock_from(environ), environ)

    @property
    def data(self) -> Path:
        """Recollect's folder in the project."""
        return self._project.data

    def doctor(self, *, fix: bool = False, progress: Callable[[str], object] | None = None) -> Diagnosis:
        """Check everything; with `fix`, replay the spool with what was set aside, and rebuild derived state."""
        replayed = self._replayed() if fix else 0
        now = self._clock.now()
        found = doctor(self._project, self._opened, environ=self._environ, now=now, fix=fix, progress=progress)
        if not replayed:
            return found
        detail = f"{counted(replayed, 'write')} written to the store"
        done = Discrepancy(level="notice", what="spool", subject="spool:", detail=detail, remedy="")
        return replace(found, fixed=(done, *found.fixed))

    def _replayed(self) -> int:
        """Replay the spool and give the number of writes done; 0 when the store does not open or is foreign."""
        if is_foreign(self._project):
            return 0
        with suppress(RecollectError):
            ctx = self._opened()
            try:
                return retry(ctx, self._project)
            finally:
                ctx.db.close()
        return 0

    def restore(self, source: Path) -> Restored:
        """Replace the store by a backup; the present one is kept aside."""
        if not self._project.settings.store.url:
            return backup.restore(self._project, source, now=self._clock.now())
        db = open_database(self._project, self._project.settings.store.url)
        try:
            return backup.restore_to_server(self._project, db, source, now=self._clock.now())
        finally:
            db.close()

    @staticmethod
    def check(file: Path) -> CopyCheck:
        """Whether a backup would restore."""
        return check_file(file)

    def _opened(self) -> Context:
        return open_context(
            self._project,
            actor=self._actor,
            clock=self._clock,
            ids=random_id,
            models=None,
            environ=self._environ,
        )


EMBEDDED = "embedded"
MIRROR = "mirror.json"


def migrate(
    project: Project, *, source: str, target: str, progress: Callable[[int, int], object] | None = None
) -> Migrated:
    """Copy a project's memory from one store to another; `embedded` names the one inside the project."""
    if source == EMBEDDED and not project.database.exists():
        raise BadInput(f"There is no embedded store at {project.database}, so there is nothing to migrate")
    with _opened(project, source) as old, _opened(project, target) as new:
        done = backup.migrate(old, new, project.settings.space, progress=progress)
        if EMBEDDED in (source, target):  # one end is the folder that `vault` mirrors the other to from now on
            texts = ((path, old.vault.read(path)) for path in old.vault.paths())
            _remember_equal(project, {path: content_hash(text) for path, text in texts if text is not None})
    return done


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
def _opened(project: Project, url: str) -> Iterator[StoreSide]:
    """A store with its vault, closed when the block ends."""
    db = open_database(project, "" if url == EMBEDDED else url)
    try:
        yield StoreSide(db=db, vault=open_vault(project, db))
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


class ModelsFacet(Facet):
    """The configured models, and the asks that an agent answers instead."""

    def check(self) -> list[ProviderCheck]:
        """One tiny call to every provider that is configured."""
        return check(self._ctx)

    def usage(self) -> list[Usage]:
        """What was used, by day, kind and generator."""
        return self._ctx.read(model_rows.all_usage)

    def pending(self, *, limit: int | None = None) -> list[PendingAsk]:
        return pending.pending(self._ctx, limit=limit)

    def apply(self, answers: Sequence[Any]) -> list[Applied]:
        """Apply answers, each `{"id": …, "answer": …}`; a refused one does not stop the others."""
        return pending.apply(self._ctx, answers)


class Requests(Facet):
    """Requests with an Idempotency-Key: begun before the work, finished or taken back after it."""

    def begin(self, caller: str, key: str, *, hash: str) -> Answered | None:
        return access.begin_request(self._ctx, caller, key, hash=hash)

    def finish(self, caller: str, key: str, *, status: int, answer: str, headers: Mapping[str, str]) -> None:
        access.finish_request(self._ctx, caller, key, status=status, answer=answer, headers=headers)

    def take_back(self, caller: str, key: str) -> None:
        access.take_back_request(self._ctx, caller, key)


class Tokens(Facet):
    """Who may speak to the server."""

    def new(self, name: str, *, channel: TokenChannel = "api", read_only: bool = False) -> tuple[Token, str]:
        return access.new_token(self._ctx, name, channel=channel, read_only=read_only)

    def list(self) -> list[Token]:
        """Every token, newest first, revoked ones too."""
        return self._ctx.read(token_rows.tokens)

    def revoke(self, name: str) -> Token:
        return access.revoke_token(self._ctx, name)

    def holder(self, secret: str) -> Token | None:
        """The valid token of a secret."""
        return self._ctx.read(token_rows.token_of_hash, content_hash(secret))
