"""Memory: a project's memory, through which every surface calls the rooms.

The verbs of every day are methods of `Memory`, everything else is in a facet per noun; a method is one call into a
room. Rooms are imported where they are called: the prompt hook opens a Memory too, and pays for every import.
"""

from __future__ import annotations

import os
from contextlib import suppress
from importlib import import_module
from pathlib import Path

from recollect.core.clock import Clock, clock_from
from recollect.core.context import Actor
from recollect.core.errors import Trouble
from recollect.core.records import as_record, as_text, checked
from recollect.core.values import Ids, random_id
from recollect.core.writes import TaskInjection, TaskOutput, TaskVerdicts, Write
from recollect.memory.open import check_store, embed_at_once, open_context
from recollect.store import project as projects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from recollect.capture.learn import Captured
    from recollect.capture.observe import Observed
    from recollect.core.choices import Verdict
    from recollect.core.context import Context, Models
    from recollect.core.learning import Learning
    from recollect.core.new_learning import NewLearning
    from recollect.feedback.verdicts import Taken
    from recollect.inject.learnings import Chosen, NewInjection
    from recollect.memory.admin import Data, ModelsFacet, Requests, Tokens
    from recollect.memory.documents import Journal, Staging, Texts, Themes
    from recollect.memory.records import Decisions, Inbox, Learnings, Work
    from recollect.memory.sessions import Sessions
    from recollect.search.everything import Hit
    from recollect.search.recall import Recall
    from recollect.tend.cycle import CycleReport
    from recollect.tend.status import Status
    from recollect.tend.why import AnyExplanation


FACETS = {
    **dict.fromkeys(("learnings", "decisions", "inbox", "work"), "records"),
    **dict.fromkeys(("journal", "staging", "themes", "texts"), "documents"),
    **dict.fromkeys(("data", "models", "requests", "tokens"), "admin"),
    "sessions": "sessions",
}
"""The module of each facet."""


class Facet:
    """The part of a memory that is about one noun."""

    def __init__(self, context: Context, project: projects.Project):
        self._ctx = context
        self._project = project


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
        """The memory of the project that `folder` belongs to; `create=True` makes one there if there is none.

        A store that came with the folder is refused, unless `create` says that it is yours. Writes that wait in the
        spool are done first, unless `replay` is False.
        """
        environ = os.environ if environ is None else environ
        folder = Path(folder)
        from recollect.store import init

        if create and not (folder / projects.SETTINGS_FILE).exists():
            init.create(folder, environ)
        project = projects.find(folder, environ)
        if not create:
            init.refuse_foreign(project)
        init.claim_new(project)
        return cls.of(
            project,
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
        """The same for a project that was found already."""
        context = open_context(project, actor=actor, clock=clock, ids=ids, models=models, environ=environ)
        memory = cls(context, project)
        try:
            if replay:
                memory._replay_spool()
        except BaseException:  # a hook's time is up: no caller gets this memory, so no caller would close it
            context.db.close()
            raise
        return memory

    @classmethod
    def begin(cls, folder: Path, *, actor: Actor, space: str | None = None, timezone: str | None = None) -> list[str]:
        """Make a project in `folder`, or fill in what is missing; says what it made."""
        from recollect.store import init

        url = projects.outside(os.environ).store.url
        if url:
            check_store(url)  # first, so that an unusable store leaves nothing behind
        made = init.create(folder, os.environ, space=space, timezone=timezone)
        fresh = not url and not projects.load(folder, os.environ).database.exists()
        cls.open(folder, actor=actor).close()
        return [*made, "the store"] if fresh else made

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Release the store; everything acknowledged is already on disk."""
        self.context.db.close()

    def acting_as(self, actor: Actor) -> Memory:
        """The same memory on behalf of another actor: servers answer many callers."""
        from dataclasses import replace

        return Memory(replace(self.context, actor=actor), self.project)

    # Verbs

    def learn(self, new: NewLearning | None = None, /, *, anyway: bool = False, **fields: Any) -> Captured:
        """Capture a learning, given as a record or as its fields; `anyway` skips the quality gate."""
        from recollect.capture.learn import learn
        from recollect.core.new_learning import NewLearning

        done = learn(self.context, as_record(new, NewLearning, fields), anyway=anyway)
        embed_at_once(self.context)
        return done

    def observe(self, output: str, *, task: str, outcome: str | None = None, title: str = "") -> Observed:
        """Store the discoveries in a finished task's output and learn from them."""
        from recollect.capture.observe import observe

        output, title = as_text(output, "output"), as_text(title, "title")
        done = observe(self.context, TaskOutput(output=output, task=task, outcome=outcome, title=title))
        embed_at_once(self.context)
        return done

    def search(self, query: str, **options: Any) -> list[Hit]:
        """Everything remembered that matches a text, best first; options are those of SearchOptions."""
        from recollect.capture import documents
        from recollect.search.everything import SearchOptions, search

        query = as_text(query, "query")
        with suppress(Trouble):  # changed files can wait, the caller cannot
            documents.refresh_all(self.context)
        return search(self.context, query, checked(SearchOptions, options))

    def inject(self, wanted: NewInjection | None = None, /, **fields: Any) -> Chosen:
        """Choose what a task is shown, and remember it; the record waits in the spool if the store is busy."""
        from recollect.inject.learnings import NewInjection, choose

        wanted = as_record(wanted, NewInjection, fields)
        chosen = choose(self.context, wanted)
        learnings = tuple(learning.id for learning in chosen.learnings)
        shown = TaskInjection(task=wanted.task, outcome=wanted.outcome, title=wanted.title, learnings=learnings)
        self.sessions.deliver(Write(id=self.context.ids("change"), what=shown))
        return chosen

    def feedback(self, output: str, *, task: str) -> Taken:
        """Count the verdicts in an agent's final message."""
        from recollect.feedback.verdicts import take

        return take(self.context, TaskVerdicts(output=as_text(output, "output"), task=task))

    def rate(self, learning: str, verdict: Verdict, *, task: str | None = None) -> Learning:
        """A verdict given by hand."""
        from recollect.feedback.verdicts import rate

        return rate(self.context, learning, verdict, task=task)

    def why(self, id: str) -> AnyExplanation:
        """Where a thing came from, who wrote it, and everything that happened to it."""
        from recollect.tend.kinds import why

        return why(self.context, as_text(id, "id"))

    def status(self) -> Status:
        """What is remembered, what waits, and what is wrong."""
        from recollect.tend.status import status

        return status(self.context, self.project)

    def cycle(self, *, dry_run: bool = False) -> CycleReport:
        """Do everything that is due, or with `dry_run` only say what that is. The spool comes first."""
        from recollect.tend.cycle import cycle, plan

        if dry_run:
            return plan(self.context)
        self._replay_spool()
        return cycle(self.context)

    def recall(self, query: str, *, limit: int = 5) -> Recall:
        """Walk from ROOT.md down to the raw words that answer a question."""
        from recollect.search.recall import recall

        return recall(self.context, as_text(query, "query"), limit=limit)

    # Facets, one per noun. A facet is made, and its module loaded, when it is first used.

    learnings: Learnings
    decisions: Decisions
    inbox: Inbox
    work: Work
    journal: Journal
    staging: Staging
    themes: Themes
    texts: Texts
    data: Data
    models: ModelsFacet
    requests: Requests
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
            from recollect.memory.sessions import replay

            replay(self.context, self.project)
