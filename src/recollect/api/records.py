"""REST: learnings, tasks, outcomes, discoveries, injections and decisions; and JSON-RPC over HTTP (`rpc.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, Literal, NoReturn

from fastapi import Depends, Query, Request, Response

from recollect.api import bodies
from recollect.api.auth import Admission, Maintains, Reads, Writes, admitted, lacks_scope
from recollect.api.rpc import MAX_BATCH, SCOPES, dispatch, methods
from recollect.api.wire import Expected, Found, Paged, answer, page, page_of, router, search_page, shape, sliced, tagged
from recollect.capture.decide import Decided
from recollect.capture.learn import Captured
from recollect.capture.observe import Observed
from recollect.core.choices import Status
from recollect.core.context import PROJECT, Event
from recollect.core.decision import Decision
from recollect.core.errors import Refused
from recollect.core.learning import Discovery, Injection, Learning, Outcome, Task
from recollect.core.records import MOST
from recollect.distil.decision_levels import DecisionPage, Level
from recollect.distil.decisions import AwaitedReview, Compaction
from recollect.distil.wisdom import Calibration, Wisdom
from recollect.feedback.confidence import Taken
from recollect.inject.learnings import Chosen
from recollect.inject.reasons import LastSession
from recollect.search.everything import Hit

routes = router("/api/learnings", "learnings")
task_routes = router("/api", "work")

Hits = page_of("results", Hit)
Injections = page_of("injections", Injection)
Ring = Annotated[str, Query(description="The ring: project, me, or a shared space; for a person's token.")]
AnyStatus = Status | Literal["all"]
Sort = Literal["newest", "oldest", "confidence", "helpful", "injected", "title"]


@dataclass(kw_only=True)
class _Wanted:
    status: AnyStatus = "active"
    domain: str | None = None
    tag: str | None = None
    min_confidence: bodies.Share = 0.0


@routes.get("", response_model=page_of("learnings", Learning), summary="List learnings")
def list_learnings(
    memory: Reads,
    window: Paged,
    wanted: Annotated[_Wanted, Depends()],
    query: Annotated[str | None, Query(description="Only learnings that fit this text, best first.")] = None,
    sort: Sort = "newest",
) -> Response:
    if query is not None:
        return sliced("learnings", memory.learnings.search(query, limit=MOST, **vars(wanted)), window)
    found, total = memory.learnings.page(sort=sort, **vars(wanted), **window.part)
    return page("learnings", found, total, window)


@routes.post("", status_code=201, response_model=Captured, summary="Create a learning")
def create_learning(memory: Writes, new: bodies.LearningBody, anyway: bool = False, to: Ring = PROJECT) -> Response:
    made = memory.learn(new.record(), anyway=anyway, to=to)
    headers = {"location": f"/api/learnings/{made.learning.id}"}
    return tagged(answer(made, status=200 if made.merged else 201, headers=headers), made.learning.version)


@routes.get("/search", response_model=Hits, summary="Find learnings for any text")
def search_learnings(
    memory: Reads,
    part: Found,
    query: str,
    min_confidence: bodies.Share | None = None,
    domain: str | None = None,
    status: AnyStatus = "active",
    exclude_outcome: str | None = None,
) -> Response:
    wanted = {"min_confidence": min_confidence, "domain": domain, "status": status, "exclude_outcome": exclude_outcome}
    return search_page(memory, query, part, kinds=("learning",), **wanted)


@routes.get("/{id}", summary="Get a learning")
def get_learning(memory: Reads, id: str) -> Learning:
    return memory.learnings.get(id)


@routes.patch("/{id}", summary="Change a learning: its text, tags, status or pin")
def edit_learning(memory: Writes, id: str, edit: bodies.LearningEditBody, expect: Expected) -> Learning:
    return memory.learnings.edit(id, edit.record(), expect=expect)


@routes.delete("/{id}", summary="Archive a learning; nothing is deleted")
def archive_learning(memory: Writes, id: str, expect: Expected) -> Learning:
    return memory.learnings.archive(id, expect=expect)


@routes.post("/{id}/feedback", summary="Say whether a learning helped a task")
def rate_learning(memory: Writes, id: str, rating: bodies.RatingBody) -> Learning:
    return memory.rate(id, rating.verdict, task=rating.task)


@routes.post("/{id}/supersede", summary="Replace a learning by another")
def supersede_learning(memory: Writes, id: str, by: bodies.OtherLearning, expect: Expected) -> Learning:
    return memory.learnings.supersede(id, by.id, reason=by.reason, expect=expect)


@routes.post("/{id}/merge", summary="Merge another learning into this one")
def merge_learning(memory: Writes, id: str, other: bodies.OtherLearning, expect: Expected) -> Learning:
    return memory.learnings.merge(id, other.id, reason=other.reason, expect=expect)


@routes.post("/{id}/adopt", summary="Vouch for a learning from outside; only a person may")
def adopt_learning(memory: Writes, id: str, expect: Expected, body: bodies.Empty) -> Learning:
    return memory.learnings.adopt(id, expect=expect)


@routes.post("/{id}/move", summary="Move a learning to another ring; only a person's token may")
def move_learning(memory: Writes, id: str, ring: bodies.RingBody) -> Captured:
    return memory.learnings.move(id, to=ring.to)


@routes.get("/{id}/history", response_model=page_of("events", Event), summary="How a learning's confidence changed")
def list_learning_events(memory: Reads, id: str, window: Paged) -> Response:
    return sliced("events", memory.learnings.history(id), window)


@routes.get("/{id}/injections", response_model=Injections, summary="Where a learning was shown")
def list_learning_injections(memory: Reads, id: str, window: Paged) -> Response:
    return sliced("injections", memory.learnings.injections(id), window)


@task_routes.post("/inject", summary="Get the learnings for a task, and record that it saw them")
def inject(memory: Writes, wanted: bodies.InjectionBody) -> Chosen:
    return memory.inject(wanted.record())


@task_routes.post("/inject/preview", summary="Show what a task would be given; nothing is recorded")
def preview_injection(memory: Reads, wanted: bodies.InjectionBody) -> Chosen:
    return memory.work.preview(wanted.record())


@task_routes.post("/observe", summary="Store the discoveries in a finished task's output")
def observe_task(memory: Writes, done: bodies.FinishedTask) -> Observed:
    return memory.observe(done.output, task=done.task, outcome=done.outcome, title=done.title)


@task_routes.post("/feedback", summary="Count the verdicts in an agent's final message")
def count_verdicts(memory: Writes, said: bodies.FinalMessage) -> Taken:
    return memory.feedback(said.output, task=said.task)


@task_routes.get("/outcomes", response_model=page_of("outcomes", Outcome), summary="List outcomes, newest first")
def list_outcomes(memory: Reads, window: Paged) -> Response:
    found, total = memory.work.outcome_page(**window.part)
    return page("outcomes", found, total, window)


@task_routes.post("/outcomes", status_code=201, response_model=Outcome, summary="Name an outcome")
def add_outcome(memory: Writes, new: bodies.OutcomeBody) -> Response:
    return answer(memory.work.add_outcome(new.id, name=new.name), status=201)


@task_routes.get("/tasks", response_model=page_of("tasks", Task), summary="List tasks, newest first")
def list_tasks(memory: Reads, window: Paged, outcome: str | None = None) -> Response:
    found, total = memory.work.task_page(outcome=outcome, **window.part)
    return page("tasks", found, total, window)


@task_routes.post("/tasks", status_code=201, response_model=Task, summary="Name a task")
def add_task(memory: Writes, new: bodies.TaskBody) -> Response:
    return answer(memory.work.add_task(new.id, outcome=new.outcome, title=new.title), status=201)


@task_routes.get(
    "/discoveries", response_model=page_of("discoveries", Discovery), summary="List discoveries and what became of them"
)
def list_discoveries(memory: Reads, window: Paged, task: str | None = None) -> Response:
    found, total = memory.work.discovery_page(task=task, **window.part)
    return page("discoveries", found, total, window)


@task_routes.get("/injections", response_model=Injections, summary="List the latest injections, or those of one task")
def list_injections(memory: Reads, window: Paged, task: str | None = None) -> Response:
    found, total = memory.work.injection_page(task=task, **window.part)
    return page("injections", found, total, window)


@task_routes.get("/sessions/last", response_model=LastSession, summary="Show what the last session was given, and why")
def show_last_session(memory: Reads, host: str = "") -> Response:
    return answer(memory.sessions.last(host))


decision_routes = router("/api", "decisions")
rpc_routes = router("", "json-rpc")


# A `DecisionHit` as the document can describe it: the fields of `decision` depend on its level.
AgedDecision = shape("AgedDecision", id=str, level=Level, out_of_use=str, decision=dict[str, Any])
ByName = dict[str, Calibration]
Calibrated = shape("Calibrated", window_days=int | None, overall=Calibration, categories=ByName, agents=ByName)


@decision_routes.get(
    "/decisions",
    response_model=page_of("decisions", AgedDecision),
    summary="List decisions, each as long as its age allows",
)
def list_decisions(
    memory: Reads, window: Paged, wanted: Annotated[bodies.DecisionsWanted, Depends()], query: str = ""
) -> Response:
    found, total = memory.decisions.query(query, **vars(wanted), **window.part)
    return page("decisions", found, total, window)


@decision_routes.post("/decisions", status_code=201, response_model=Decided, summary="Record a decision")
def record_decision(memory: Writes, new: bodies.DecisionBody, anyway: bool = False) -> Response:
    made = memory.decisions.record(new.record(), anyway=anyway)
    headers = {"location": f"/api/decisions/{made.decision.id}"}
    return tagged(answer(made, status=201, headers=headers), made.decision.version)


@decision_routes.get(
    "/decisions/compacted", response_model=DecisionPage, summary="Get all decisions, each as long as its age allows"
)
def get_compacted_decisions(
    memory: Reads,
    window: Paged,
    category: str | None = None,
    agent: str | None = None,
    level: Level | None = None,
    budget: Annotated[int | None, Query(ge=1, le=10**6, description="In tokens.")] = None,
) -> Response:
    wanted: dict[str, Any] = {"category": category, "agent": agent, "level": level, "budget": budget}
    return answer(memory.decisions.compacted(**window.part, **wanted))


@decision_routes.post("/decisions/compact", summary="Prepare the summaries of older decisions")
def compact_decisions(memory: Maintains, body: bodies.Empty) -> Compaction:
    return memory.decisions.compact()


@decision_routes.get("/decisions/{id}", summary="Get a decision in full, whatever its age")
def get_decision(memory: Reads, id: str) -> Decision:
    return memory.decisions.get(id)


@decision_routes.patch("/decisions/{id}", summary="Change a decision")
def edit_decision(memory: Writes, id: str, edit: bodies.DecisionEditBody, expect: Expected) -> Decision:
    return memory.decisions.edit(id, edit.record(), expect=expect)


@decision_routes.post("/decisions/{id}/review", summary="Record the outcome of a decision")
def review_decision(memory: Writes, id: str, outcome: bodies.ReviewBody, expect: Expected) -> Decision:
    return memory.decisions.review(id, outcome.record(), expect=expect)


@decision_routes.post("/decisions/{id}/reverse", summary="Reverse a decision")
def reverse_decision(memory: Writes, id: str, given: bodies.ReversalBody, expect: Expected) -> Decision:
    return memory.decisions.reverse(id, reason=given.reason, by=given.by, expect=expect)


@decision_routes.post("/decisions/{id}/preserve", summary="Show a decision in full at any age, or let it shrink")
def preserve_decision(memory: Writes, id: str, expect: Expected, given: bodies.PreserveBody) -> Decision:
    return memory.decisions.preserve(id, on=given.preserve, expect=expect)


@decision_routes.post("/decisions/{id}/adopt", summary="Vouch for a decision; only a person may")
def adopt_decision(memory: Writes, id: str, expect: Expected, body: bodies.Empty) -> Decision:
    return memory.decisions.adopt(id, expect=expect)


@decision_routes.get(
    "/wisdom", response_model=page_of("wisdom", Wisdom), summary="What the oldest decisions of each category taught"
)
def list_wisdom(memory: Reads, window: Paged, category: str | None = None, agent: str | None = None) -> Response:
    return sliced("wisdom", memory.decisions.wisdom(category=category, agent=agent), window)


@decision_routes.get("/calibration", response_model=Calibrated, summary="Confidence against outcomes")
def get_calibration(
    memory: Reads,
    category: str | None = None,
    agent: str | None = None,
    window_days: Annotated[int | None, Query(ge=1, le=36500)] = None,
) -> Response:
    return answer(memory.decisions.calibration(category=category, agent=agent, window_days=window_days))


@decision_routes.get(
    "/review-queue",
    response_model=page_of("reviews", AwaitedReview),
    summary="List the decisions that wait for an outcome",
)
def list_reviews(memory: Reads, window: Paged, agent: str | None = None, due_only: bool = False) -> Response:
    return sliced("reviews", memory.decisions.review_queue(agent=agent, due_only=due_only), window)


def _object(*required: str, **properties: Any) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [*required]}


_ID = {"type": ["string", "number", "null"], "description": "Absent in a notification."}
_TWO = {"const": "2.0"}
_CALL = _object("jsonrpc", "method", jsonrpc=_TWO, method={"enum": sorted(SCOPES)}, params={"type": "object"}, id=_ID)
_CALLS = {"anyOf": [_CALL, {"type": "array", "items": _CALL, "minItems": 1, "maxItems": MAX_BATCH}]}
_ERROR = _object("code", "message", code={"type": "integer", "maximum": -32000}, message={"type": "string"})
_ANSWER = _object("jsonrpc", "id", jsonrpc=_TWO, id=_ID, result={}, error=_ERROR) | {"additionalProperties": False}
_ANSWER["oneOf"] = [{"required": ["result"]}, {"required": ["error"]}]
_ANSWERS = {"anyOf": [_ANSWER, {"type": "array", "items": _ANSWER, "minItems": 1}]}


@rpc_routes.post(
    "/cstp",
    summary=f"A JSON-RPC 2.0 call, or a batch of up to {MAX_BATCH}",
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": _CALLS}}}},
    responses={
        200: {"description": "Results and errors", "content": {"application/json": {"schema": _ANSWERS}}},
        204: {"description": "Notifications only"},
    },
)
def call_rpc(memory: Reads, admission: Annotated[Admission, Depends(admitted)], request: Request) -> Response:
    token = admission.token
    table = {
        name: method if token.may(*SCOPES[name]) else partial(_refused, lacks_scope(token, *SCOPES[name]))
        for name, method in methods(memory).items()
    }
    said = dispatch(request.state.body, table)
    return Response(status_code=204) if said is None else Response(said, media_type="application/json")


def _refused(why: str, **_: Any) -> NoReturn:
    raise Refused(why)
