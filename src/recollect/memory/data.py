"""The facet of data as a whole: out, in, copies, checks, and for good. And what works when the store does not open."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import BinaryIO

from recollect.capture import sources
from recollect.capture.bring_pieces import Gathered, bring_in
from recollect.capture.sources import Source
from recollect.capture.undo import undo
from recollect.core.actor import Actor
from recollect.core.choices import Trust
from recollect.core.clock import Clock, clock_from
from recollect.core.context import Context
from recollect.core.decision import Decision
from recollect.core.errors import RecollectError
from recollect.core.ids import random_id
from recollect.core.learning import Learning
from recollect.memory.opening import open_context, open_database
from recollect.memory.replay import retry
from recollect.search.refresh import Refreshed, refresh
from recollect.store import project as projects
from recollect.store.beginning import claim_new, is_foreign
from recollect.store.copies import Checked, check_file
from recollect.store.files import writing
from recollect.tend import backups, purge, transfer
from recollect.tend.backups import Backup, Kept, Restored
from recollect.tend.doctor import Diagnosis, doctor
from recollect.tend.purge import Plan, Purged
from recollect.tend.rebuild import Rebuilt, rebuild
from recollect.tend.transfer import Exported, Imported
from recollect.tend.verify import Finding, verify
from recollect.text.counting import counted


class Data:
    """Everything one does with a memory as a whole."""

    def __init__(self, context: Context, project: projects.Project):
        self._context = context
        self._project = project

    def export(self, write: Callable[[str], object], *, progress: Callable[[int], object] | None = None) -> Exported:
        """Give every record to `write`, one line of JSON each."""
        return transfer.export(self._context, write, progress=progress)

    def export_file(self, path: Path, *, progress: Callable[[int], object] | None = None) -> Exported:
        """The same into a file that stands under its name only when it is whole; an older export gives way to it."""
        transfer.check_replaceable(path)
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
        """Take in an export, as external unless a person vouches for it."""
        return transfer.import_lines(self._context, stream, name=name, trust=trust, progress=progress)

    def gather(
        self,
        source: Source,
        path: Path | None = None,
        *,
        of: str | None = None,
        trust: Trust = "external",
        preview: bool = False,
        progress: Callable[[int], object] | None = None,
    ) -> Gathered:
        """Take in what another tool kept, or only say what that would add; `of` is that tool's name for the project."""
        root, home = self._project.root, Path.home()
        pieces = sources.pieces(source, path, of=of, root=root, home=home, environ=os.environ)
        return bring_in(self._context, pieces, source=source, trust=trust, preview=preview, progress=progress)

    def backup(self, target: Path | None = None, *, progress: Callable[[int, int], object] | None = None) -> Backup:
        return backups.backup(self._context, self._project.database, target, progress=progress)

    def backups(self) -> list[Kept]:
        """The project's own backups, newest first, each checked."""
        return backups.kept(self._project.database)

    def undo(self) -> list[Learning] | list[Decision]:
        """Take back the last change to learnings or decisions."""
        return undo(self._context)

    def verify(self, *, progress: Callable[[str], object] | None = None) -> tuple[Finding, ...]:
        return verify(self._context, progress=progress)

    def rebuild(self, *, progress: Callable[[int], object] | None = None) -> Rebuilt:
        return rebuild(self._context, progress=progress)

    def embed(self, *, progress: Callable[[int], object] | None = None) -> Refreshed:
        """Make the vectors of every passage that waits for them."""
        return refresh(self._context, progress=progress)

    def plan_purge(self, *, id: str | None = None, text: str | None = None) -> Plan:
        """What a purge would touch."""
        return purge.plan(self._context, self._project, id=id, text=text)

    def purge(self, *, id: str | None = None, text: str | None = None) -> Purged:
        return purge.purge(self._context, self._project, id=id, text=text)


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
        """The folder beside the project's files that is ours."""
        return self._project.data

    def doctor(self, *, fix: bool = False, progress: Callable[[str], object] | None = None) -> Diagnosis:
        """Look at everything; with `fix`, do what waits in the spool or was set aside and make derived state again."""
        replayed = self._replayed() if fix else 0
        now = self._clock.now()
        found = doctor(self._project, self._opened, environ=self._environ, now=now, fix=fix, progress=progress)
        if not replayed:
            return found
        detail = f"{counted(replayed, 'write')} written to the store"
        done = Finding(level="notice", what="spool", subject="spool:", detail=detail, remedy="")
        return replace(found, fixed=(done, *found.fixed))

    def _replayed(self) -> int:
        """How many writes of the spool are done now; none where the store does not open, or is not the user's."""
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
        """Put a backup in the store's place; the present one is kept aside."""
        if not self._project.settings.store.url:
            return backups.restore(self._project, source, now=self._clock.now())
        db = open_database(self._project, self._project.settings.store.url)
        try:
            return backups.restore_to_server(self._project, db, source, now=self._clock.now())
        finally:
            db.close()

    @staticmethod
    def check(file: Path) -> Checked:
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
