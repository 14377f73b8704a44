"""REST: what workers call when they claim and finish tasks, and what they left."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request, Response

from recollect.api.access import Reads, Writes
from recollect.api.route import Route
from recollect.api.wire import Paged, answer, gives, page, sliced, taken
from recollect.capture.observe import Observed
from recollect.core.learning import Injection
from recollect.core.task import Discovery, Outcome, Task
from recollect.feedback.signals import Taken
from recollect.inject.relevant import Chosen, NewInjection

routes = APIRouter(prefix="/api", tags=["work"], route_class=Route)


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


@routes.post("/inject", summary="Claim a task: what it should be shown, and remember that it was")
@gives(Chosen)
def inject(memory: Writes, wanted: Annotated[NewInjection, taken(NewInjection)]) -> Response:
    return answer(memory.inject(wanted))


@routes.post("/observe", summary="Finish a task: keep the discoveries in its output and learn from them")
@gives(Observed)
def observe(memory: Writes, done: Annotated[Finished, taken(Finished)]) -> Response:
    return answer(memory.observe(done.output, task=done.task, outcome=done.outcome, title=done.title))


@routes.post("/feedback", summary="Count the verdicts in an agent's final message")
@gives(Taken)
def feedback(memory: Writes, said: Annotated[FinalMessage, taken(FinalMessage)]) -> Response:
    return answer(memory.feedback(said.output, task=said.task))


@routes.get("/outcomes", summary="List outcomes, newest first")
@gives(Outcome, listed="outcomes")
def outcomes(memory: Reads, request: Request, window: Paged) -> Response:
    found, total = memory.work.outcome_page(limit=window.limit, offset=window.offset)
    return page(request, "outcomes", found, total, window)


@routes.post("/outcomes", status_code=201, summary="Name an outcome")
@gives(Outcome)
def add_outcome(memory: Writes, new: Annotated[NewOutcome, taken(NewOutcome)]) -> Response:
    return answer(memory.work.add_outcome(new.id, name=new.name), status=201)


@routes.get("/tasks", summary="List tasks, newest first")
@gives(Task, listed="tasks")
def tasks(memory: Reads, request: Request, window: Paged, outcome: str | None = None) -> Response:
    found, total = memory.work.task_page(outcome=outcome, limit=window.limit, offset=window.offset)
    return page(request, "tasks", found, total, window)


@routes.post("/tasks", status_code=201, summary="Name a task")
@gives(Task)
def add_task(memory: Writes, new: Annotated[NewTask, taken(NewTask)]) -> Response:
    return answer(memory.work.add_task(new.id, outcome=new.outcome, title=new.title), status=201)


@routes.get("/discoveries", summary="List discoveries and what became of them")
@gives(Discovery, listed="discoveries")
def discoveries(memory: Reads, request: Request, window: Paged, task: str | None = None) -> Response:
    found, total = memory.work.discovery_page(task=task, limit=window.limit, offset=window.offset)
    return page(request, "discoveries", found, total, window)


@routes.get("/injections", summary="What was shown lately, or what one task was shown")
@gives(Injection, listed="injections")
def injections(memory: Reads, request: Request, window: Paged, task: str | None = None) -> Response:
    if task is not None:
        return sliced(request, "injections", memory.work.injections(task=task), window)
    found, total = memory.work.injection_page(limit=window.limit, offset=window.offset)
    return page(request, "injections", found, total, window)
