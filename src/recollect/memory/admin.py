"""The facet of data as a whole: out, in, copies, checks, and for good. And what works when the store does not open.

Moving a project's memory between stores, and mirroring a team's vault: what needs two places at once.

The facet of models: what is configured, what waits for an agent, and taking its answers in.

The facet of repeated requests: a key makes a request happen once, however often it is sent.

The facet of tokens: who may speak to the server.
"""

from __future__ import annotations

import json
import os
import secrets
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
from recollect.core.clock import DAY, Clock, clock_from
from recollect.core.context import Actor, Context
from recollect.core.decision import Decision
from recollect.core.errors import BadInput, Forbidden, NotInitialised, RecollectError, Refused
from recollect.core.learning import Learning
from recollect.core.token import NAME_LIMIT, SECRET_PREFIX, TOKEN_CHANNELS, Token, TokenChannel
from recollect.core.values import random_id
from recollect.memory.open import open_context, open_database, open_vault
from recollect.memory.sessions import retry
from recollect.models.configured import ProviderCheck, check
from recollect.search.meaning import Refreshed, refresh
from recollect.store import access as rows
from recollect.store import events, model_rows
from recollect.store import project as projects
from recollect.store.access import Answered
from recollect.store.copies import CopyCheck, check_file
from recollect.store.files import content_hash, write_path, writing
from recollect.store.init import claim_new, is_foreign
from recollect.store.model_rows import Usage
from recollect.store.project import Project
from recollect.store.vault import FolderVault
from recollect.tend import backup, export, pending, purge
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


class Data:
    """Everything one does with a memory as a whole."""

    def __init__(self, context: Context, project: projects.Project):
        self._context = context
        self._project = project

    def export(self, write: Callable[[str], object], *, progress: Callable[[int], object] | None = None) -> Exported:
        """Give every record to `write`, one line of JSON each."""
        return export.export(self._context, write, progress=progress)

    def export_file(self, path: Path, *, progress: Callable[[int], object] | None = None) -> Exported:
        """The same into a file that stands under its name only when it is whole; an older export gives way to it."""
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
        """Take in an export, as external unless a person vouches for it."""
        return export.import_lines(self._context, stream, name=name, trust=trust, progress=progress)

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
        """Take in what another tool kept, or only say what that would add; `of` is that tool's name for the project."""
        root, home = self._project.root, Path.home()
        pieces = import_tools.pieces(source, path, of=of, root=root, home=home, environ=os.environ)
        return bring_in(self._context, pieces, source=source, trust=trust, preview=preview, progress=progress)

    def backup(self, target: Path | None = None, *, progress: Callable[[int, int], object] | None = None) -> Backup:
        return backup.backup(self._context, self._project.database, target, progress=progress)

    def backups(self) -> list[OwnBackup]:
        """The project's own backups, newest first, each checked."""
        return backup.kept(self._project.database)

    def undo(self) -> list[Learning] | list[Decision]:
        """Take back the last change to learnings or decisions."""
        return undo(self._context)

    def verify(self, *, progress: Callable[[str], object] | None = None) -> tuple[Discrepancy, ...]:
        return verify(self._context, progress=progress)

    def rebuild(self, *, progress: Callable[[int], object] | None = None) -> Rebuilt:
        return rebuild(self._context, progress=progress)

    def embed(self, *, progress: Callable[[int], object] | None = None) -> Refreshed:
        """Make the vectors of every passage that waits for them."""
        return refresh(self._context, progress=progress)

    def plan_purge(self, *, id: str | None = None, text: str | None = None) -> PurgePlan:
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
        done = Discrepancy(level="notice", what="spool", subject="spool:", detail=detail, remedy="")
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


class ModelsFacet:
    """Who answers questions, and the agent's way to answer them."""

    def __init__(self, context: Context):
        self._context = context

    def check(self) -> list[ProviderCheck]:
        """One tiny call to every provider that is configured."""
        return check(self._context)

    def usage(self) -> list[Usage]:
        """What was used, by day, kind and generator."""
        with self._context.db.read(self._context.space) as tx:
            return model_rows.all_usage(tx)

    def pending(self, *, limit: int | None = None) -> list[PendingAsk]:
        return pending.pending(self._context, limit=limit)

    def apply(self, answers: Sequence[Any]) -> list[Applied]:
        """Take in answers, each `{"id": …, "answer": …}`; one that is refused does not stop the others."""
        return pending.apply(self._context, answers)


KEY_LIMIT = 200
KEPT_FOR = DAY


class Requests:
    """Begun before the work, finished or taken back after it. One that was cut off by a crash stays begun."""

    def __init__(self, context: Context):
        self._context = context

    def begin(self, caller: str, key: str, *, hash: str) -> Answered | None:
        """What this request was told before; None when it is new and now under way."""
        ctx = self._context
        if not key.strip() or len(key) > KEY_LIMIT or not key.isprintable():
            raise BadInput(f"an Idempotency-Key is 1 to {KEY_LIMIT} printable characters")
        with ctx.db.write(ctx.space) as tx:
            now = ctx.clock.now()
            rows.forget_requests_before(tx, now - KEPT_FOR)
            known = rows.find_request(tx, caller, key)
            if known is None:
                rows.begin_request(tx, caller, key, hash=hash, at=now)
                return None
        if known.hash != hash:
            raise Refused("this Idempotency-Key came with another request before; give every request a key of its own")
        if not known.status:
            raise Refused(
                "the first request with this Idempotency-Key is still under way, or the server stopped in the middle "
                "of it; look whether it was done before you send it under another key"
            )
        return known

    def finish(self, caller: str, key: str, *, status: int, answer: str, headers: Mapping[str, str]) -> None:
        with self._context.db.write(self._context.space) as tx:
            rows.finish_request(tx, caller, key, status=status, answer=answer, headers=headers)

    def take_back(self, caller: str, key: str) -> None:
        """The request failed and changed nothing: it may be sent again under its key."""
        with self._context.db.write(self._context.space) as tx:
            rows.forget_request(tx, caller, key)


class Tokens:
    """Made and revoked by people only: an agent must not raise its own trust."""

    def __init__(self, context: Context):
        self._context = context

    def new(self, name: str, *, channel: TokenChannel = "api", read_only: bool = False) -> tuple[Token, str]:
        """A token and its secret, which is nowhere to be had again."""
        ctx = self._context
        self._refuse_agents("make")
        if channel not in TOKEN_CHANNELS:
            raise BadInput(f"channel must be one of {', '.join(TOKEN_CHANNELS)}, not {channel!r}")
        if not name.strip() or len(name) > NAME_LIMIT or not name.isprintable():
            raise BadInput(f"a token's name must be 1 to {NAME_LIMIT} printable characters")
        secret = SECRET_PREFIX + secrets.token_urlsafe(32)
        token = Token(
            id=ctx.ids("token"),
            name=name.strip(),
            channel=channel,
            read_only=read_only,
            made_by=ctx.actor.name,
            created_at=ctx.clock.now(),
        )
        with ctx.db.write(ctx.space) as tx:
            if any(known.name == token.name and known.revoked_at is None for known in rows.tokens(tx)):
                raise Refused(f"there is a token {token.name} already; choose another name, or revoke it first")
            rows.add_token(tx, token, hash=content_hash(secret))
            new = {"name": token.name, "channel": channel, "read_only": read_only}
            events.record(tx, ctx, subject=token.id, what="token.made", new=new)
        return token, secret

    def list(self) -> list[Token]:
        """Every token, newest first, revoked ones too."""
        with self._context.db.read(self._context.space) as tx:
            return rows.tokens(tx)

    def revoke(self, name: str) -> Token:
        """A token is refused from now on; named by its name or id."""
        ctx = self._context
        self._refuse_agents("revoke")
        with ctx.db.write(ctx.space) as tx:
            token = rows.token_named(tx, name)
            if token.revoked_at is not None:
                return token
            now = ctx.clock.now()
            rows.revoke_token(tx, token.id, at=now)
            events.record(tx, ctx, subject=token.id, what="token.revoked")
            return replace(token, revoked_at=now)

    def holder(self, secret: str) -> Token | None:
        """The valid token of a secret."""
        with self._context.db.read(self._context.space) as tx:
            return rows.token_of_hash(tx, content_hash(secret))

    def _refuse_agents(self, verb: str) -> None:
        if self._context.actor.trust != "human":
            raise Forbidden(f"only a person may {verb} a token; run this from your own terminal")
