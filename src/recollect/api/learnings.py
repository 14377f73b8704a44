"""REST: learnings."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request, Response

from recollect.api.access import Reads, Writes
from recollect.api.route import Route
from recollect.api.wire import Expected, Paged, Share, answer, gives, page, sliced, taken, versioned
from recollect.capture.learn import Captured
from recollect.core.event import Event
from recollect.core.learning import Injection, Learning
from recollect.core.limits import MOST
from recollect.core.new_learning import LearningEdit, NewLearning
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
