"""REST: learnings.

REST: what workers call when they claim and finish tasks, and what they left.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request, Response

from recollect.api.auth import Reads, Writes
from recollect.api.wire import Expected, Paged, Route, Share, answer, gives, page, sliced, taken, versioned
from recollect.capture.learn import Captured
from recollect.capture.observe import Observed
from recollect.core.context import Event
from recollect.core.learning import Discovery, Injection, Learning, Outcome, Task
from recollect.core.new_learning import LearningEdit, NewLearning
from recollect.core.records import MOST
from recollect.feedback.verdicts import Taken
from recollect.inject.learnings import Chosen, NewInjection
from recollect.search.everything import Hit

routes = APIRouter(prefix="/api/learnings", tags=["learnings"], route_class=Route)


@dataclass(frozen=True, kw_only=True)
class Feedback:
    """A verdict on a learning that a task was shown."""

    task_id: str
    helpful: bool


@dataclass(frozen=True, kw_only=True)
class Replacement:
    """The learning that takes another's place, or takes another in."""

    id: str
    reason: str = ""


@routes.get("", summary="List learnings")
@gives(Learning, listed="learnings")
def listed(
    memory: Reads,
    request: Request,
    window: Paged,
    status: str = "active",
    domain: str | None = None,
    tag: str | None = None,
    min_confidence: Annotated[float, Share] = 0.0,
    search: str | None = None,
    sort: str = "newest",
) -> Response:
    if search is not None:
        found = memory.learnings.search(
            search, tag=tag, status=status, domain=domain, min_confidence=min_confidence, limit=MOST
        )
        return sliced(request, "learnings", found, window)
    found, total = memory.learnings.page(
        status=status,
        domain=domain,
        tag=tag,
        min_confidence=min_confidence,
        sort=sort,
        limit=window.limit,
        offset=window.offset,
    )
    return page(request, "learnings", found, total, window)


@routes.post("", status_code=201, summary="Create a learning")
@gives(Captured)
def create(memory: Writes, new: Annotated[NewLearning, taken(NewLearning)], anyway: bool = False) -> Response:
    made = memory.learn(new, anyway=anyway)
    headers = {"location": f"/api/learnings/{made.learning.id}", "etag": f'"{made.learning.version}"'}
    return answer(made, status=200 if made.merged else 201, headers=headers)


@routes.get("/search", summary="Find learnings for any text")
@gives(Hit, listed="results")
def search(
    memory: Reads,
    request: Request,
    window: Paged,
    q: str,
    min_confidence: Annotated[float | None, Share] = None,
    domain: str | None = None,
    status: str = "active",
    exclude_outcome_id: str | None = None,
) -> Response:
    hits = memory.search(
        q,
        kinds=("learning",),
        min_confidence=min_confidence,
        domain=domain,
        status=status,
        exclude_outcome=exclude_outcome_id,
        limit=min(window.limit + window.offset, MOST),
    )
    return sliced(request, "results", hits, window)


@routes.get("/{id}", summary="Get a learning")
@gives(Learning)
def show(memory: Reads, id: str) -> Response:
    return versioned(memory.learnings.get(id))


@routes.patch("/{id}", summary="Change a learning: its text, tags, status or pin")
@gives(Learning)
def change(memory: Writes, id: str, edit: Annotated[LearningEdit, taken(LearningEdit)], expect: Expected) -> Response:
    return versioned(memory.learnings.edit(id, edit, expect=expect))


@routes.delete("/{id}", summary="Archive a learning; nothing is deleted")
@gives(Learning)
def archive(memory: Writes, id: str, expect: Expected) -> Response:
    return versioned(memory.learnings.archive(id, expect=expect))


@routes.post("/{id}/feedback", summary="Say whether a learning helped a task")
@gives(Learning)
def feedback(memory: Writes, id: str, given: Annotated[Feedback, taken(Feedback)]) -> Response:
    return versioned(memory.rate(id, "helpful" if given.helpful else "not_helpful", task=given.task_id))


@routes.post("/{id}/supersede", summary="Replace a learning by another")
@gives(Learning)
def supersede(memory: Writes, id: str, by: Annotated[Replacement, taken(Replacement)]) -> Response:
    return versioned(memory.learnings.supersede(id, by.id, reason=by.reason))


@routes.post("/{id}/merge", summary="Take another learning into this one")
@gives(Learning)
def merge(memory: Writes, id: str, other: Annotated[Replacement, taken(Replacement)]) -> Response:
    return versioned(memory.learnings.merge(id, other.id, reason=other.reason))


@routes.post("/{id}/adopt", summary="Vouch for a learning that came from outside; only a person may")
@gives(Learning)
def adopt(memory: Writes, id: str) -> Response:
    return versioned(memory.learnings.adopt(id))


@routes.get("/{id}/history", summary="How a learning's confidence moved")
@gives(Event, listed="events")
def history(memory: Reads, request: Request, id: str, window: Paged) -> Response:
    return sliced(request, "events", memory.learnings.history(id), window)


@routes.get("/{id}/injections", summary="Where a learning was shown")
@gives(Injection, listed="injections")
def injections(memory: Reads, request: Request, id: str, window: Paged) -> Response:
    return sliced(request, "injections", memory.learnings.injections(id), window)


task_routes = APIRouter(prefix="/api", tags=["work"], route_class=Route)


@dataclass(frozen=True, kw_only=True)
class Finished:
    """A finished task's output."""

    output: str
    task: str
    outcome: str | None = None
    title: str = ""


@dataclass(frozen=True, kw_only=True)
class FinalMessage:
    """What an agent said at the end of a task; verdicts stand alone on a line in it."""

    output: str
    task: str


@dataclass(frozen=True, kw_only=True)
class NewOutcome:
    id: str
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class NewTask:
    id: str
    outcome: str | None = None
    title: str = ""


@task_routes.post("/inject", summary="Claim a task: what it should be shown, and remember that it was")
@gives(Chosen)
def inject(memory: Writes, wanted: Annotated[NewInjection, taken(NewInjection)]) -> Response:
    return answer(memory.inject(wanted))


@task_routes.post("/observe", summary="Finish a task: keep the discoveries in its output and learn from them")
@gives(Observed)
def observe(memory: Writes, done: Annotated[Finished, taken(Finished)]) -> Response:
    return answer(memory.observe(done.output, task=done.task, outcome=done.outcome, title=done.title))


@task_routes.post("/feedback", summary="Count the verdicts in an agent's final message")
@gives(Taken)
def task_feedback(memory: Writes, said: Annotated[FinalMessage, taken(FinalMessage)]) -> Response:
    return answer(memory.feedback(said.output, task=said.task))


@task_routes.get("/outcomes", summary="List outcomes, newest first")
@gives(Outcome, listed="outcomes")
def outcomes(memory: Reads, request: Request, window: Paged) -> Response:
    found, total = memory.work.outcome_page(limit=window.limit, offset=window.offset)
    return page(request, "outcomes", found, total, window)


@task_routes.post("/outcomes", status_code=201, summary="Name an outcome")
@gives(Outcome)
def add_outcome(memory: Writes, new: Annotated[NewOutcome, taken(NewOutcome)]) -> Response:
    return answer(memory.work.add_outcome(new.id, name=new.name), status=201)


@task_routes.get("/tasks", summary="List tasks, newest first")
@gives(Task, listed="tasks")
def tasks(memory: Reads, request: Request, window: Paged, outcome: str | None = None) -> Response:
    found, total = memory.work.task_page(outcome=outcome, limit=window.limit, offset=window.offset)
    return page(request, "tasks", found, total, window)


@task_routes.post("/tasks", status_code=201, summary="Name a task")
@gives(Task)
def add_task(memory: Writes, new: Annotated[NewTask, taken(NewTask)]) -> Response:
    return answer(memory.work.add_task(new.id, outcome=new.outcome, title=new.title), status=201)


@task_routes.get("/discoveries", summary="List discoveries and what became of them")
@gives(Discovery, listed="discoveries")
def discoveries(memory: Reads, request: Request, window: Paged, task: str | None = None) -> Response:
    found, total = memory.work.discovery_page(task=task, limit=window.limit, offset=window.offset)
    return page(request, "discoveries", found, total, window)


@task_routes.get("/injections", summary="What was shown lately, or what one task was shown")
@gives(Injection, listed="injections")
def task_injections(memory: Reads, request: Request, window: Paged, task: str | None = None) -> Response:
    if task is not None:
        return sliced(request, "injections", memory.work.injections(task=task), window)
    found, total = memory.work.injection_page(limit=window.limit, offset=window.offset)
    return page(request, "injections", found, total, window)
