"""The rings of a memory: the shared spaces that the user's settings name, and the person's own space, `me`.

A ring is a space with its own store and tokens. `me` is the project in the folder `me` of the user's data folder; a
shared space has a place in the user's register. A ring opens when it is first asked. One that is missing, broken,
locked or slow is left out, named by `status`, and tried again later.
"""

from __future__ import annotations

import os
import time
from _signal import ITIMER_REAL, getitimer, setitimer  # type: ignore[import-not-found]
from _thread import allocate_lock
from contextlib import contextmanager, suppress
from pathlib import Path

from recollect.core.clock import OutOfTime
from recollect.core.context import ME, PROJECT, NoRings
from recollect.core.errors import BadInput, NotFound, RecollectError, Trouble
from recollect.core.records import made, replace
from recollect.core.settings import Settings
from recollect.memory.open import begin_place, open_context, open_database
from recollect.store import project as projects
from recollect.store import register
from recollect.store.project import Project

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from typing import TypeVar

    from recollect.core.context import Context, Db, Tx

    R = TypeVar("R")

PATIENCE = 2.0  # seconds that a ring's lock or server is waited for; chosen, a person who searches notices more
SHARE = 0.3  # of the time that a hook has left, for one ring: three slow rings leave a third for the project
AGAIN = 10.0  # seconds before a ring that failed is tried again, as a server does with its spaces
SLOW, RESTS = 0.5, 300.0  # a ring that took so many seconds and failed is left out by hooks for five minutes
ELSEWHERE = 50  # other projects that are asked whether they know an insight, the latest first


class OpenRings:
    def __init__(self, project: Project, environ: Mapping[str, str]):
        self._project = project
        self._environ = environ
        self._open: dict[str, tuple[Context, Project]] = {}
        self._stores: list[Db] = []  # those that were opened for a ring
        self._opening = allocate_lock()
        self._failed: dict[str, tuple[float, str]] = {}

    @property
    def names(self) -> list[str]:
        """Shared spaces in the order of the settings, then `me` if it exists."""
        shared, own = self._project.settings.rings.shared, self._project.settings.space
        me = self.has_me and os.path.exists(self._root_of_me / projects.SETTINGS_FILE)
        return [*(name for name in shared if name != own), *([ME] if me else [])]

    @property
    def has_me(self) -> bool:
        return self._project.settings.rings.me and self._root_of_me != self._project.root

    @property
    def left_out(self) -> dict[str, str]:
        return {name: why for name, (_, why) in self._failed.items()}

    def ask(self, ctx: Context, work: Callable[[Context], R]) -> list[tuple[str, R]]:
        found = []
        for name in self.names:
            if self._is_resting(name):
                continue
            began = time.monotonic()
            try:
                with _share_of_time():
                    ring = self._context(ctx, name)
                    with suppress(NotFound, BadInput):  # it has no such thing
                        found.append((name, work(ring)))
                self._failed.pop(name, None)
            except (Exception, OutOfTime) as error:  # noqa: BLE001 — whatever is wrong with a ring, the project answers
                self._failed[name] = (time.monotonic() + AGAIN, str(error) or type(error).__name__)
                if time.monotonic() - began > SLOW:
                    with suppress(OSError):
                        self._marker(name).touch()
        return found

    def _marker(self, name: str) -> Path:
        """A file that keeps the next prompts, each a new process, from waiting for a slow ring."""
        return self._project.data / f"slow-ring-{name}"

    def _is_resting(self, name: str) -> bool:
        if name in self._failed:
            return time.monotonic() < self._failed[name][0]
        if not getitimer(ITIMER_REAL)[0]:
            return False  # nobody waits for a hook
        with suppress(OSError):
            return time.time() - os.stat(self._marker(name)).st_mtime < RESTS
        return False

    def named(self, ctx: Context, name: str) -> Context:
        if name == PROJECT:
            return ctx
        if name == ME and self.has_me and ME not in self.names:
            register.make_private(self._root_of_me)
            begin_place(self._root_of_me, self._environ, timezone=self._project.settings.timezone)
        if name not in self.names:
            known = ", ".join([*self.names, *([] if ME in self.names else [ME])])
            raise BadInput(f"no ring {name[:80]!r}; the rings here are {known}. rings.shared in your own file adds one")
        try:
            return self._context(ctx, name)
        except OSError as error:
            raise Trouble(f"ring {name} cannot be opened: {error}") from None

    def count_elsewhere(self, says: Callable[[Tx], Sequence[bool]]) -> list[int]:
        rings = {self._project.settings.space, *self._project.settings.rings.shared}
        places = {one.space: one for one in register.read(self._project.home) if one.space not in rings}
        told = []
        for place in list(places.values())[-ELSEWHERE:]:
            root = Path(place.shown)
            if root == self._root_of_me or not root.is_dir():
                continue
            try:
                other = projects.read(root, self._environ)
                if other.settings.space != place.space:
                    continue
                if not other.settings.store.url and not other.database.exists():
                    continue
                db = open_database(_patient(other), other.settings.store.url)
                try:
                    with db.read(other.settings.space) as tx:
                        told.append(says(tx))
                finally:
                    db.close()
            except RecollectError:
                continue  # what cannot be read says nothing
        return [sum(each) for each in zip(*told, strict=True)]

    def project(self, name: str) -> Project:
        return self._open[name][1]

    def close(self) -> None:
        """The project's own store stays open."""
        while self._stores:
            self._stores.pop().close()
        self._open.clear()

    @property
    def _root_of_me(self) -> Path:
        return self._project.home.resolve() / ME  # as `init` registers it

    def _context(self, ctx: Context, name: str) -> Context:
        """A ring for the caller, read with the project's settings for search and injection."""
        with self._opening:  # a server's threads ask at the same time
            if name not in self._open:
                self._open[name] = self._opened(ctx, name)
        ring = self._open[name][0]
        read = {"inject": ctx.settings.inject, "search": ctx.settings.search}
        settings = made(Settings, {**vars(ring.settings), **read})
        return replace(ring, actor=ctx.actor, clock=ctx.clock, ids=ctx.ids, settings=settings, rings=NoRings())

    def _opened(self, ctx: Context, name: str) -> tuple[Context, Project]:
        project = _patient(projects.read(self._root(name), self._environ))
        if name != ME and project.settings.space != name:
            raise Trouble(
                f"{project.root} is of space {project.settings.space} now; run in that folder: recollect init"
            )
        same = project.settings.store.url and project.settings.store.url == ctx.settings.store.url
        context = open_context(
            project,
            actor=ctx.actor,
            clock=ctx.clock,
            ids=ctx.ids,
            models=ctx.models,
            environ=self._environ,
            db=ctx.db if same else None,
        )
        if not same:
            self._stores.append(context.db)
        return context, project

    def _root(self, name: str) -> Path:
        """The folder of a ring: the first of its places that exists."""
        if name == ME:
            return self._root_of_me
        places = [one.shown for one in register.read(self._project.home) if one.space == name]
        root = next((place for place in places if os.path.isdir(place)), None)
        if root is None:
            why = f"its folder {places[0]} is gone" if places else "it has no place in your register"
            raise Trouble(f"{why}; add one: recollect init --space {name} in a folder, or take it out of rings.shared")
        return Path(root)


def _patient(project: Project) -> Project:
    """The same project with a short wait for its store."""
    store = project.settings.store
    waits = {name: min(getattr(store, name), PATIENCE) for name in ("busy_seconds", "connect_seconds")}
    settings = made(Settings, {**vars(project.settings), "store": replace(store, **waits)})
    return replace(project, settings=settings)


@contextmanager
def _share_of_time() -> Iterator[None]:
    """Under a hook's time limit, let the block take only a share of the time left."""
    left = getitimer(ITIMER_REAL)[0]
    if not left:
        yield
        return
    began = time.monotonic()
    setitimer(ITIMER_REAL, left * SHARE)
    try:
        yield
    finally:
        setitimer(ITIMER_REAL, max(left - (time.monotonic() - began), 0.01))
