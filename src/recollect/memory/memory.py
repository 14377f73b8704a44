"""Memory: a project's memory, through which every surface calls the rooms.

Everyday verbs are methods of `Memory`, the rest is in one facet per noun. A method is one call into a room; the room's
docstring explains it. Rooms are imported where they are called: the prompt hook opens a Memory too.
"""

from __future__ import annotations

import os
from contextlib import suppress
from functools import wraps
from importlib import import_module
from pathlib import Path

from recollect.core.clock import Clock, clock_from
from recollect.core.context import ME, PROJECT, Actor, NoRings
from recollect.core.errors import RecollectError, StoreUnreachable, Trouble
from recollect.core.learning import TaskInjection, TaskOutput, TaskVerdicts, Write
from recollect.core.records import Ids, as_record, as_text, checked, random_id, replace
from recollect.memory.open import begin_place, check_store, embed_at_once, open_context
from recollect.memory.rings import OpenRings
from recollect.store import project as projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any, Concatenate, ParamSpec, TypeVar

    from recollect.capture.learn import Captured
    from recollect.capture.observe import Observed
    from recollect.core.choices import Verdict
    from recollect.core.context import Context, Models, Tx
    from recollect.core.learning import Learning
    from recollect.core.new_learning import NewLearning
    from recollect.feedback.confidence import Taken
    from recollect.inject.brief import Brief
    from recollect.inject.learnings import Chosen, NewInjection
    from recollect.memory.admin import Data, ModelsFacet, Tokens
    from recollect.memory.documents import Journal, Staging, Texts, Themes, Topics
    from recollect.memory.records import Decisions, Inbox, Learnings, Work
    from recollect.memory.spool import Sessions
    from recollect.search.everything import Hit
    from recollect.tend.cycle import CycleReport
    from recollect.tend.status import Status
    from recollect.tend.why import AnyExplanation
    from recollect.text.tokens import ContextBudget

    P = ParamSpec("P")
    R = TypeVar("R")

FACETS = {
    **dict.fromkeys(("learnings", "decisions", "inbox", "work"), "records"),
    **dict.fromkeys(("journal", "themes", "texts", "staging", "topics"), "documents"),
    **dict.fromkeys(("data", "models", "tokens"), "admin"),
    "sessions": "spool",
}


class Facet:
    def __init__(self, context: Context, project: projects.Project):
        self._ctx = context
        self._project = project


def call(room: Callable[Concatenate[Context, P], R]) -> Callable[Concatenate[Facet, P], R]:
    """A facet's method that calls a room's function, with that function's signature and docstring."""

    @wraps(room)
    def method(self: Facet, /, *args: P.args, **options: P.kwargs) -> R:
        return room(self._ctx, *args, **options)

    return method


def reads(rows: Callable[Concatenate[Tx, P], R]) -> Callable[Concatenate[Facet, P], R]:
    """A facet's method that calls a function of `store` in a read transaction."""

    @wraps(rows)
    def method(self: Facet, /, *args: P.args, **options: P.kwargs) -> R:
        return self._ctx.read(rows, *args, **options)

    return method


class Memory:
    """What one project remembers. Use as a context manager, or call `close`."""

    def __init__(self, context: Context, project: projects.Project):
        self.context = context
        self.project = project

    @classmethod
    def open(
        cls,
        folder: str | Path = ".",
        *,
        create: bool = False,
        actor: Actor | None = None,
        clock: Clock | None = None,
        ids: Ids = random_id,
        models: Models | None = None,
        environ: Mapping[str, str] | None = None,
        replay: bool = True,
    ) -> Memory:
        """The memory of the project that `folder` belongs to; `create=True` begins one there if there is none.

        A space that belongs to other places is refused; only a person adds a place to it, with `recollect init`. Writes
        that wait in the spool are done first, unless `replay` is False.
        """
        environ = os.environ if environ is None else environ
        folder = Path(folder)
        if create:
            begin_place(folder, environ)
        return cls.of(
            projects.find(folder, environ),
            actor=actor or Actor(name=environ.get("USER") or "python", channel="python", trust="agent"),
            clock=clock or clock_from(environ),
            ids=ids,
            models=models,
            environ=environ,
            replay=replay,
        )

    @classmethod
    def of(
        cls,
        project: projects.Project,
        *,
        actor: Actor,
        clock: Clock,
        ids: Ids = random_id,
        models: Models | None = None,
        environ: Mapping[str, str],
        replay: bool,
    ) -> Memory:
        context = open_context(
            project,
            actor=actor,
            clock=clock,
            ids=ids,
            models=models,
            environ=environ,
            rings=OpenRings(project, environ),
        )
        memory = cls(context, project)
        try:
            if replay:
                memory._replay_spool()
        except BaseException:  # a hook's time is up: no caller gets this memory, so no caller would close it
            context.db.close()
            raise
        return memory

    @classmethod
    def begin(
        cls,
        folder: Path,
        *,
        actor: Actor,
        space: str | None = None,
        timezone: str | None = None,
        join: bool = False,
    ) -> list[str]:
        """Make a project in `folder`, or fill in what is missing; returns what it made.

        `join` adds the folder to the places of a space that others began, after a person agreed.
        """
        url = projects.outside(os.environ).store.url
        if url:
            check_store(url)  # first, so that an unusable store leaves nothing behind
        made = begin_place(folder, os.environ, space=space, timezone=timezone, join=join)
        fresh = not url and not projects.load(folder, os.environ).database.exists()
        cls.open(folder, actor=actor).close()
        return [*made, "the store"] if fresh else made

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self.context.rings.close()
        self.context.db.close()

    def acting_as(self, actor: Actor) -> Memory:
        """The same memory for another actor: servers answer many callers."""
        return Memory(replace(self.context, actor=actor), self.project)

    def in_its_space(self) -> Memory:
        """The same memory without its rings: a token opens one space."""
        return Memory(replace(self.context, rings=NoRings()), self.project)

    def ring(self, name: str) -> Memory:
        """The memory of a ring (`me`, `project`, or a shared space), to write to; `me` is created if missing."""
        there = self.context.rings.named(self.context, name)
        return self if name == PROJECT else Memory(there, self.context.rings.project(name))

    def holding(self, id: str) -> tuple[Memory, str]:
        """The memory of the ring that an id belongs to, and the id there. `me:log/2026-03-01#3` names its ring; the id
        of a learning or decision is looked up in all rings."""
        from recollect.search.everything import holder

        name, bare = holder(self.context, id)
        return (self if name == PROJECT else self.ring(name)), bare

    def in_one_change(self) -> Memory:
        """The same memory; all changes made through it are undone together."""
        return Memory(self.context.as_one_change(), self.project)

    # Verbs

    def learn(
        self, new: NewLearning | None = None, /, *, anyway: bool = False, to: str = PROJECT, **fields: Any
    ) -> Captured:
        """Capture a learning, a record or its fields, in the project or the ring `to`; `anyway` skips the quality
        gate."""
        from recollect.capture.learn import learn
        from recollect.core.new_learning import NewLearning

        ctx = self.context if to == PROJECT else self.context.rings.named(self.context, to)
        done = learn(ctx, as_record(new, NewLearning, fields), anyway=anyway)
        embed_at_once(ctx)
        return done

    def observe(self, output: str, *, task: str, outcome: str | None = None, title: str = "") -> Observed:
        """Store the discoveries in a finished task's output and learn from them."""
        from recollect.capture.observe import observe

        output, title = as_text(output, "output"), as_text(title, "title")
        done = observe(self.context, TaskOutput(output=output, task=task, outcome=outcome, title=title))
        embed_at_once(self.context)
        return done

    def search(self, query: str, **options: Any) -> list[Hit]:
        """Search here and in the rings, best hit first; options are those of SearchOptions."""
        from recollect.capture import documents
        from recollect.search.everything import SearchOptions, search_rings

        query = as_text(query, "query")
        with suppress(Trouble):  # changed files can wait, the caller cannot
            documents.refresh_all(self.context)
        return search_rings(self.context, query, checked(SearchOptions, options))

    def inject(self, wanted: NewInjection | None = None, /, **fields: Any) -> Chosen:
        """Choose what a task is shown, and record it; the record waits in the spool if the store is busy."""
        from recollect.inject.learnings import NewInjection, choose

        wanted = as_record(wanted, NewInjection, fields)
        chosen = choose(self.context, wanted)
        learnings = tuple(learning.id for learning in chosen.learnings)
        shown = TaskInjection(task=wanted.task, outcome=wanted.outcome, title=wanted.title, learnings=learnings)
        with suppress(StoreUnreachable):  # a sandbox that may only read: the task is shown it all the same
            self.sessions.deliver(Write(id=self.context.ids("change"), what=shown))
        return chosen

    def feedback(self, output: str, *, task: str) -> Taken:
        from recollect.feedback.confidence import take, take_in_rings

        said = TaskVerdicts(output=as_text(output, "output"), task=task)
        return take_in_rings(self.context, said, take(self.context, said))

    def rate(self, learning: str, verdict: Verdict | None, *, task: str | None = None) -> Learning:
        """A verdict given by hand; None takes it back."""
        from recollect.feedback.confidence import rate

        memory, learning = self.holding(learning)
        return rate(memory.context, learning, verdict, task=task)

    def why(self, id: str) -> AnyExplanation:
        from recollect.tend.kinds import why

        memory, id = self.holding(as_text(id, "id"))
        return why(memory.context, id)

    def status(self) -> Status:
        from recollect.tend.status import status

        return status(self.context, self.project)

    def cycle(self) -> CycleReport:
        """Replay the spool, then do everything that is due."""
        from recollect.tend.cycle import cycle

        self._replay_spool()
        done = cycle(self.context, self.project)
        if ME in self.context.rings.names and not done.held:
            with suppress(RecollectError):  # no session of its own tends the person's ring
                self.ring(ME).cycle()
        return done

    def brief(self, room: ContextBudget | None = None) -> Brief:
        return self.sessions.brief(room)

    # Facets, one per noun. A facet is made, and its module loaded, when it is first used.

    learnings: Learnings
    decisions: Decisions
    inbox: Inbox
    work: Work
    journal: Journal
    staging: Staging
    themes: Themes
    texts: Texts
    topics: Topics
    data: Data
    models: ModelsFacet
    tokens: Tokens
    sessions: Sessions

    if not TYPE_CHECKING:

        def __getattr__(self, name):
            if name not in FACETS:
                raise AttributeError(f"a memory has no {name!r}")
            module = import_module(f"recollect.memory.{FACETS[name]}")
            facet = getattr(module, Memory.__annotations__[name])(self.context, self.project)
            setattr(self, name, facet)
            return facet

    def _replay_spool(self) -> None:
        from recollect.store import spool

        if spool.pending(self.project.spools):
            from recollect.memory.spool import replay

            replay(self.context, self.project)
