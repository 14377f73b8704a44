"""REST: decisions, their outcomes, and what they taught. And JSON-RPC over HTTP, whose methods are in `rpc.py`."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, NoReturn

from fastapi import Depends, Query, Request, Response

from recollect.api import bodies
from recollect.api.auth import Admission, Maintains, Reads, Writes, admitted, lacks_scope
from recollect.api.rpc import ADMIN, READS, dispatch, methods
from recollect.api.wire import Expected, Paged, answer, page, page_of, router, shape, sliced, tagged
from recollect.capture.decide import Decided
from recollect.core.decision import Decision
from recollect.core.errors import Refused
from recollect.distil.decision_page import DecisionPage, Level
from recollect.distil.decisions import AwaitedReview, Compaction
from recollect.distil.wisdom import Calibration, Wisdom
from recollect.store.tokens import TokenScope

routes = router("/api", "decisions")
rpc_routes = router("", "json-rpc")


# A `DecisionHit` as the document can describe it: the fields of `decision` depend on its level.
AgedDecision = shape("AgedDecision", id=str, level=Level, out_of_use=str, decision=dict[str, Any])
ByName = dict[str, Calibration]
Calibrated = shape("Calibrated", window_days=int | None, overall=Calibration, categories=ByName, agents=ByName)


@routes.get(
    "/decisions",
    response_model=page_of("decisions", AgedDecision),
    summary="List decisions, each as long as its age allows",
)
def list_decisions(
    memory: Reads,
    window: Paged,
    wanted: Annotated[bodies.DecisionsWanted, Depends()],
    query: str = "",
) -> Response:
    found, total = memory.decisions.query(query, **vars(wanted), **window.part)
    return page("decisions", found, total, window)


@routes.post("/decisions", status_code=201, response_model=Decided, summary="Record a decision")
def record_decision(memory: Writes, new: bodies.DecisionBody, anyway: bool = False) -> Response:
    made = memory.decisions.record(new.record(), anyway=anyway)
    headers = {"location": f"/api/decisions/{made.decision.id}"}
    return tagged(answer(made, status=201, headers=headers), made.decision.version)


@routes.get("/decisions/compacted", response_model=DecisionPage, summary="Every decision at the level of its age")
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


@routes.post("/decisions/compact", summary="Prepare the summaries of older decisions")
def compact_decisions(memory: Maintains, body: bodies.Empty) -> Compaction:
    return memory.decisions.compact()


@routes.get("/decisions/{id}", summary="Get a decision whole, whatever its age")
def get_decision(memory: Reads, id: str) -> Decision:
    return memory.decisions.get(id)


@routes.patch("/decisions/{id}", summary="Change a decision")
def edit_decision(memory: Writes, id: str, edit: bodies.DecisionEditBody, expect: Expected) -> Decision:
    return memory.decisions.edit(id, edit.record(), expect=expect)


@routes.post("/decisions/{id}/review", summary="Say what came of a decision")
def review_decision(memory: Writes, id: str, outcome: bodies.ReviewBody, expect: Expected) -> Decision:
    return memory.decisions.review(id, outcome.record(), expect=expect)


@routes.post("/decisions/{id}/reverse", summary="Take a decision back")
def reverse_decision(memory: Writes, id: str, given: bodies.ReversalBody, expect: Expected) -> Decision:
    return memory.decisions.reverse(id, reason=given.reason, by=given.by, expect=expect)


@routes.post("/decisions/{id}/preserve", summary="Show a decision whole at any age, or not")
def preserve_decision(memory: Writes, id: str, expect: Expected, given: bodies.PreserveBody) -> Decision:
    return memory.decisions.preserve(id, on=given.preserve, expect=expect)


@routes.post("/decisions/{id}/adopt", summary="Vouch for it; only a person may")
def adopt_decision(memory: Writes, id: str, expect: Expected, body: bodies.Empty) -> Decision:
    return memory.decisions.adopt(id, expect=expect)


@routes.get(
    "/wisdom", response_model=page_of("wisdom", Wisdom), summary="What the oldest decisions of each category taught"
)
def list_wisdom(
    memory: Reads,
    window: Paged,
    category: str | None = None,
    agent: str | None = None,
) -> Response:
    return sliced("wisdom", memory.decisions.wisdom(category=category, agent=agent), window)


@routes.get("/calibration", response_model=Calibrated, summary="Confidence against outcomes")
def get_calibration(
    memory: Reads,
    category: str | None = None,
    agent: str | None = None,
    window_days: Annotated[int | None, Query(ge=1, le=36500)] = None,
) -> Response:
    return answer(memory.decisions.calibration(category=category, agent=agent, window_days=window_days))


@routes.get(
    "/review-queue",
    response_model=page_of("reviews", AwaitedReview),
    summary="List the decisions that wait for an outcome",
)
def list_reviews(memory: Reads, window: Paged, agent: str | None = None, due_only: bool = False) -> Response:
    return sliced("reviews", memory.decisions.review_queue(agent=agent, due_only=due_only), window)


_CALL: dict[str, Any] = {
    "type": "object",
    "properties": {
        "jsonrpc": {"const": "2.0"},
        "method": {"type": "string"},
        "params": {"type": "object"},
        "id": {"type": ["string", "integer", "null"]},
    },
    "required": ["jsonrpc", "method"],
}
_CALLS = {"anyOf": [_CALL, {"type": "array", "items": _CALL}]}


@rpc_routes.post(
    "/cstp",
    summary="A JSON-RPC 2.0 call, or a batch of up to 100",
    openapi_extra={"requestBody": {"required": True, "content": {"application/json": {"schema": _CALLS}}}},
    responses={204: {"description": "Notifications only"}},
)
def call_rpc(memory: Reads, admission: Annotated[Admission, Depends(admitted)], request: Request) -> Response:
    table, token = dict(methods(memory)), admission.token
    for name in table:
        changes: tuple[TokenScope, ...] = ("admin",) if name in ADMIN else ("write", "import")
        wanted = ("read",) if name in READS else changes
        if not token.may(*wanted):
            table[name] = partial(_refused, lacks_scope(token, *wanted))
    said = dispatch(request.state.body, table)
    return Response(status_code=204) if said is None else Response(said, media_type="application/json")


def _refused(why: str, **_: Any) -> NoReturn:
    raise Refused(why)
