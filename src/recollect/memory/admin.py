"""The facets of a memory as a whole: its data, models and tokens; and what works without an open store.

`Rescue` serves a project whose store does not open. `migrate` and `mirror_vault` need two places at once.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recollect.capture import import_tools
from recollect.capture.import_notes import ImportedPieces, bring_in
from recollect.capture.import_tools import Source
from recollect.capture.undo import undo
from recollect.core.choices import Trust
from recollect.core.clock import Clock, clock_from
from recollect.core.context import Actor, Context
from recollect.core.errors import BadInput, NotInitialised, RecollectError
from recollect.core.records import random_id, replace
from recollect.memory.memory import Facet, call, reads
from recollect.memory.open import open_context, open_database, open_vault
from recollect.memory.rings import OpenRings
from recollect.memory.spool import retry
from recollect.models import configured
from recollect.search import meaning
from recollect.store import model_rows
from recollect.store import project as projects
from recollect.store.files import content_hash, text_in, write_path, writing
from recollect.store.project import Project
from recollect.store.vault import FolderVault
from recollect.tend import backup, purge
from recollect.tend import doctor as checks
from recollect.tend import export as exports
from recollect.tend import pending as asks
from recollect.tend import tokens as access
from recollect.tend.backup import Backup, Migrated, OwnBackup, Restored, StoreSide
from recollect.tend.doctor import Diagnosis, Discrepancy, doctor
from recollect.tend.export import Exported, Mirrored, mirror
from recollect.tend.purge import Purged, PurgePlan
from recollect.text.sentences import counted

if TYPE_CHECKING:
    from recollect.store.postgres_setup import Made


class Data(Facet):
    export = call(exports.export)

    def export_file(self, path: Path, *, progress: Callable[[int], object] | None = None) -> Exported:
        """Export to a file, which gets its name only when it is complete; it replaces an older export."""
        exports.check_replaceable(path)
        with writing(path) as file:
            return self.export(lambda line: file.write(line.encode("utf-8", "replace")), progress=progress)

    take_in = call(exports.import_lines)

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
        root, home = self._project.root, Path.home()
        pieces = import_tools.pieces(source, path, of=of, root=root, home=home, environ=os.environ)
        return bring_in(self._ctx, pieces, source=source, trust=trust, preview=preview, progress=progress)

    def backup(self, target: Path | None = None, *, progress: Callable[[int, int], object] | None = None) -> Backup:
        return backup.backup(self._ctx, self._project.database, target, progress=progress)

    def backups(self) -> list[OwnBackup]:
        return backup.kept(self._project.database)

    undo = call(undo)
    verify = call(checks.verify)
    rebuild = call(checks.rebuild)
    embed = call(meaning.refresh)

    def plan_purge(self, *, id: str | None = None, text: str | None = None, secrets: bool = False) -> PurgePlan:
        return purge.plan(self._ctx, self._project, id=id, text=text, secrets=secrets)

    def purge(self, *, id: str | None = None, text: str | None = None, secrets: bool = False) -> Purged:
        return purge.purge(self._ctx, self._project, id=id, text=text, secrets=secrets)

    def stored_secrets(self) -> dict[str, int]:
        return purge.count_secrets(self._ctx, self._project)


class Rescue:
    """What works on a project whose store does not open."""

    def __init__(
        self,
        folder: str | Path = ".",
        *,
        actor: Actor,
        clock: Clock | None = None,
        environ: Mapping[str, str] | None = None,
    ):
        self._environ = os.environ if environ is None else environ
        self._project = projects.find(Path(folder), self._environ)
        self._actor = actor
        self._clock = clock or clock_from(self._environ)

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
        """The number of writes done; 0 when the store does not open."""
        with suppress(RecollectError):
            ctx = self._opened()
            with closing(ctx.db):
                return retry(ctx, self._project)
        return 0

    def restore(self, source: Path) -> Restored:
        """Replace the store by a backup; the present one is kept aside."""
        if not self._project.settings.store.url:
            return backup.restore(self._project, source, now=self._clock.now())
        with closing(open_database(self._project, self._project.settings.store.url)) as db:
            return backup.restore_to_server(self._project, db, source, now=self._clock.now())

    def _opened(self) -> Context:
        return open_context(
            self._project,
            actor=self._actor,
            clock=self._clock,
            ids=random_id,
            models=None,
            environ=self._environ,
            rings=OpenRings(self._project, self._environ),
        )


EMBEDDED = "embedded"
MIRROR = "mirror.json"


def migrate(
    project: Project, *, source: str, target: str, progress: Callable[[int, int], object] | None = None
) -> Migrated:
    if source == EMBEDDED and not project.database.exists():
        raise BadInput(f"There is no embedded store at {project.database}, so there is nothing to migrate")
    with _opened(project, source) as old, _opened(project, target) as new:
        done = backup.migrate(old, new, project.settings.space, progress=progress)
        if EMBEDDED in (source, target):  # one end is the folder that `vault` mirrors the other to from now on
            texts = ((path, old.vault.read(path)) for path in old.vault.paths())
            _remember_equal(project, {path: content_hash(text) for path, text in texts if text is not None})
    return done


def initialise_store(url: str, *, admin: str | None) -> Made:
    if not url.startswith(("postgresql://", "postgres://")):
        raise BadInput("name the store to make: set RECOLLECT_STORE or give --store postgresql://user@host/database")
    from recollect.store.postgres_setup import initialise

    return initialise(url, admin=admin)


def store_address(folder: Path, environ: Mapping[str, str]) -> str:
    try:
        return projects.find(folder, environ).settings.store.url
    except NotInitialised:
        return projects.outside(environ).store.url


@contextmanager
def _opened(project: Project, url: str) -> Iterator[StoreSide]:
    with closing(open_database(project, "" if url == EMBEDDED else url)) as db:
        yield StoreSide(db=db, vault=open_vault(project, db))


def mirror_vault(project: Project, *, pull: bool, force: bool) -> Mirrored:
    url = project.settings.store.url
    if not url:
        raise BadInput(f"the vault of an embedded store is a folder already: {project.vault}")
    folder = FolderVault(project.vault, project.data / "vault.lock")
    memory = project.data / MIRROR
    last = json.loads(text_in(memory)) if memory.exists() else {}
    with _opened(project, url) as team:
        source, target = (team.vault, folder) if pull else (folder, team.vault)
        done = mirror(source, target, last, pull=pull, force=force)
    _remember_equal(project, done.equal)
    return done


def _remember_equal(project: Project, hashes: dict[str, str]) -> None:
    write_path(project.data / MIRROR, json.dumps(hashes, indent=0, sort_keys=True))


class ModelsFacet(Facet):
    check = call(configured.check)
    usage = reads(model_rows.all_usage)
    pending = call(asks.pending)
    apply = call(asks.apply)


class Tokens(Facet):
    new = call(access.new_token)
    list = reads(access.tokens)
    revoke = call(access.revoke_token)
    holder = call(access.holder)
