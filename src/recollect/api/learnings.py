"""REST: learnings, and the work they come from and go to: tasks, outcomes, discoveries, injections."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import Query, Request, Response

from recollect.api import bodies
from recollect.api.auth import Reads, Writes
from recollect.api.wire import Expected, Paged, SearchPaged, answer, page, page_of, router, sliced, tagged, versioned
from recollect.capture.learn import Captured
from recollect.capture.observe import Observed
from recollect.core.choices import Status
from recollect.core.context import Event
from recollect.core.learning import Discovery, Injection, Learning, Outcome, Task
from recollect.core.records import MOST
from recollect.feedback.verdicts import Taken
from recollect.inject.learnings import Chosen
from recollect.search.everything import Hit

routes = router("/api/learnings", "learnings")
task_routes = router("/api", "work")

Hits = page_of("results", Hit)
Injections = page_of("injections", Injection)
AnyStatus = Status | Literal["all"]
Sort = Literal["newest", "oldest", "confidence", "helpful", "injected", "title"]


@routes.get("", response_model=page_of("learnings", Learning), summary="List learnings")
def list_learnings(
    memory: Reads,
    request: Request,
    window: Paged,
    query: Annotated[str | None, Query(description="Only learnings that fit this text, best first.")] = None,
    status: AnyStatus = "active",
    domain: str | None = None,
    tag: str | None = None,
    min_confidence: bodies.Share = 0.0,
    sort: Sort = "newest",
) -> Response:
    if query is not None:
        found = memory.learnings.search(
            query, tag=tag, status=status, domain=domain, min_confidence=min_confidence, limit=MOST
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


@routes.post("", status_code=201, response_model=Captured, summary="Create a learning")
def create_learning(memory: Writes, new: bodies.LearningBody, anyway: bool = False) -> Response:
    made = memory.learn(new.record(), anyway=anyway)
    headers = {"location": f"/api/learnings/{made.learning.id}"}
    return tagged(answer(made, status=200 if made.merged else 201, headers=headers), made.learning.version)


@routes.get("/search", response_model=Hits, summary="Find learnings for any text")
def search_learnings(
    memory: Reads,
    request: Request,
    window: SearchPaged,
    query: str,
    min_confidence: bodies.Share | None = None,
    domain: str | None = None,
    status: AnyStatus = "active",
    exclude_outcome: str | None = None,
) -> Response:
    hits = memory.search(
        query,
        kinds=("learning",),
        min_confidence=min_confidence,
        domain=domain,
        status=status,
        exclude_outcome=exclude_outcome,
        limit=min(window.limit + window.offset, MOST),
    )
    return sliced(request, "results", hits, window)


@routes.get("/{id}", response_model=Learning, summary="Get a learning")
def get_learning(memory: Reads, id: str) -> Response:
    return versioned(memory.learnings.get(id))


@routes.patch("/{id}", response_model=Learning, summary="Change a learning: its text, tags, status or pin")
def edit_learning(memory: Writes, id: str, edit: bodies.LearningEditBody, expect: Expected) -> Response:
    return versioned(memory.learnings.edit(id, edit.record(), expect=expect))


@routes.delete("/{id}", response_model=Learning, summary="Archive a learning; nothing is deleted")
def archive_learning(memory: Writes, id: str, expect: Expected) -> Response:
    return versioned(memory.learnings.archive(id, expect=expect))


@routes.post("/{id}/feedback", response_model=Learning, summary="Say whether a learning helped a task")
def rate_learning(memory: Writes, id: str, rating: bodies.RatingBody) -> Response:
    return versioned(memory.rate(id, rating.verdict, task=rating.task))


@routes.post("/{id}/supersede", response_model=Learning, summary="Replace a learning by another")
def supersede_learning(memory: Writes, id: str, by: bodies.OtherLearning, expect: Expected) -> Response:
    return versioned(memory.learnings.supersede(id, by.id, reason=by.reason, expect=expect))


@routes.post("/{id}/merge", response_model=Learning, summary="Take another learning into this one")
def merge_learning(memory: Writes, id: str, other: bodies.OtherLearning, expect: Expected) -> Response:
    return versioned(memory.learnings.merge(id, other.id, reason=other.reason, expect=expect))


@routes.post("/{id}/adopt", response_model=Learning, summary="Vouch for a learning from outside; only a person may")
def adopt_learning(memory: Writes, id: str, expect: Expected, body: bodies.Empty) -> Response:
    return versioned(memory.learnings.adopt(id, expect=expect))


@routes.get("/{id}/history", response_model=page_of("events", Event), summary="How a learning's confidence moved")
def list_learning_events(memory: Reads, request: Request, id: str, window: Paged) -> Response:
    return sliced(request, "events", memory.learnings.history(id), window)


@routes.get("/{id}/injections", response_model=Injections, summary="Where a learning was shown")
def list_learning_injections(memory: Reads, request: Request, id: str, window: Paged) -> Response:
    return sliced(request, "injections", memory.learnings.injections(id), window)


@task_routes.post("/inject", response_model=Chosen, summary="Get the learnings for a task, and record that it saw them")
def inject(memory: Writes, wanted: bodies.InjectionBody) -> Response:
    return answer(memory.inject(wanted.record()))


@task_routes.post("/inject/preview", response_model=Chosen, summary="What a task would be shown; nothing is recorded")
def preview_injection(memory: Reads, wanted: bodies.InjectionBody) -> Response:
    return answer(memory.work.preview(wanted.record()))


@task_routes.post("/observe", response_model=Observed, summary="Store the discoveries in a finished task's output")
def observe_task(memory: Writes, done: bodies.FinishedTask) -> Response:
    return answer(memory.observe(done.output, task=done.task, outcome=done.outcome, title=done.title))


@task_routes.post("/feedback", response_model=Taken, summary="Count the verdicts in an agent's final message")
def count_verdicts(memory: Writes, said: bodies.FinalMessage) -> Response:
    return answer(memory.feedback(said.output, task=said.task))


@task_routes.get("/outcomes", response_model=page_of("outcomes", Outcome), summary="List outcomes, newest first")
def list_outcomes(memory: Reads, request: Request, window: Paged) -> Response:
    found, total = memory.work.outcome_page(limit=window.limit, offset=window.offset)
    return page(request, "outcomes", found, total, window)


@task_routes.post("/outcomes", status_code=201, response_model=Outcome, summary="Name an outcome")
def add_outcome(memory: Writes, new: bodies.OutcomeBody) -> Response:
    return answer(memory.work.add_outcome(new.id, name=new.name), status=201)


@task_routes.get("/tasks", response_model=page_of("tasks", Task), summary="List tasks, newest first")
def list_tasks(memory: Reads, request: Request, window: Paged, outcome: str | None = None) -> Response:
    found, total = memory.work.task_page(outcome=outcome, limit=window.limit, offset=window.offset)
    return page(request, "tasks", found, total, window)


@task_routes.post("/tasks", status_code=201, response_model=Task, summary="Name a task")
def add_task(memory: Writes, new: bodies.TaskBody) -> Response:
    return answer(memory.work.add_task(new.id, outcome=new.outcome, title=new.title), status=201)


@task_routes.get(
    "/discoveries", response_model=page_of("discoveries", Discovery), summary="List discoveries and what became of them"
)
def list_discoveries(memory: Reads, request: Request, window: Paged, task: str | None = None) -> Response:
    found, total = memory.work.discovery_page(task=task, limit=window.limit, offset=window.offset)
    return page(request, "discoveries", found, total, window)


@task_routes.get("/injections", response_model=Injections, summary="The latest injections, or those of one task")
def list_injections(memory: Reads, request: Request, window: Paged, task: str | None = None) -> Response:
    if task is not None:
        return sliced(request, "injections", memory.work.injections(task=task), window)
    found, total = memory.work.injection_page(limit=window.limit, offset=window.offset)
    return page(request, "injections", found, total, window)
