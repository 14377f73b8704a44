"""REST: decisions, their outcomes, and what they taught. And JSON-RPC over HTTP, whose methods are in `rpc.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

from fastapi import Depends, Query, Request, Response

from recollect.api import bodies
from recollect.api.auth import Reads, Writes, admitted, may_only_read
from recollect.api.rpc import READS, dispatch, methods
from recollect.api.wire import Expected, Paged, answer, page, page_of, router, sliced, tagged, versioned
from recollect.capture.decide import Decided
from recollect.core.decision import Decision, DecisionStatus, OutcomeOf, Stakes
from recollect.core.errors import Refused
from recollect.core.token import Token
from recollect.distil.decision_levels import Level
from recollect.distil.decision_page import DecisionPage
from recollect.distil.decisions import AwaitedReview, Compaction
from recollect.distil.wisdom import Calibration, Wisdom

routes = router("/api", "decisions")
rpc_routes = router("", "json-rpc")


@dataclass(frozen=True, kw_only=True)
class AgedDecision:
    """A `DecisionHit` as the document can describe it: the fields of `decision` depend on its level."""

    id: str
    level: Level
    out_of_use: str
    decision: dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class Calibrated:
    """Confidence against outcomes: over all, by category and by agent."""

    window_days: int | None
    overall: Calibration
    categories: dict[str, Calibration]
    agents: dict[str, Calibration]


@routes.get(
    "/decisions",
    response_model=page_of("decisions", AgedDecision),
    summary="List decisions, each as long as its age allows",
)
def list_decisions(
    memory: Reads,
    request: Request,
    window: Paged,
    query: str = "",
    category: str | None = None,
    agent: str | None = None,
    tag: str | None = None,
    outcome: OutcomeOf | None = None,
    status: DecisionStatus | None = None,
    stakes: Stakes | None = None,
    reviewed: bool | None = None,
    whole: bool = False,
) -> Response:
    found, total = memory.decisions.query(
        query,
        limit=window.limit,
        offset=window.offset,
        whole=whole,
        category=category,
        agent=agent,
        tag=tag,
        outcome=outcome,
        status=status,
        stakes=stakes,
        reviewed=reviewed,
    )
    return page(request, "decisions", found, total, window)


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
    return answer(memory.decisions.compacted(limit=window.limit, offset=window.offset, **wanted))


@routes.post("/decisions/compact", response_model=Compaction, summary="Prepare the summaries of older decisions")
def compact_decisions(memory: Writes, wanted: bodies.DryRun) -> Response:
    return answer(memory.decisions.compact(dry_run=wanted.dry_run))


@routes.get("/decisions/{id}", response_model=Decision, summary="Get a decision whole, whatever its age")
def get_decision(memory: Reads, id: str) -> Response:
    return versioned(memory.decisions.get(id))


@routes.patch("/decisions/{id}", response_model=Decision, summary="Change a decision")
def edit_decision(memory: Writes, id: str, edit: bodies.DecisionEditBody, expect: Expected) -> Response:
    return versioned(memory.decisions.edit(id, edit.record(), expect=expect))


@routes.post("/decisions/{id}/review", response_model=Decision, summary="Say what came of a decision")
def review_decision(memory: Writes, id: str, outcome: bodies.ReviewBody, expect: Expected) -> Response:
    return versioned(memory.decisions.review(id, outcome.record(), expect=expect))


@routes.post("/decisions/{id}/reverse", response_model=Decision, summary="Take a decision back")
def reverse_decision(memory: Writes, id: str, given: bodies.ReversalBody, expect: Expected) -> Response:
    return versioned(memory.decisions.reverse(id, reason=given.reason, by=given.by, expect=expect))


@routes.post("/decisions/{id}/preserve", response_model=Decision, summary="Show a decision whole at any age, or not")
def preserve_decision(memory: Writes, id: str, expect: Expected, given: bodies.PreserveBody) -> Response:
    return versioned(memory.decisions.preserve(id, on=given.preserve, expect=expect))


@routes.post("/decisions/{id}/adopt", response_model=Decision, summary="Vouch for it; only a person may")
def adopt_decision(memory: Writes, id: str, expect: Expected, body: bodies.Empty) -> Response:
    return versioned(memory.decisions.adopt(id, expect=expect))


@routes.get(
    "/wisdom", response_model=page_of("wisdom", Wisdom), summary="What the oldest decisions of each category taught"
)
def list_wisdom(
    memory: Reads,
    request: Request,
    window: Paged,
    category: str | None = None,
    agent: str | None = None,
) -> Response:
    return sliced(request, "wisdom", memory.decisions.wisdom(category=category, agent=agent), window)


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
def list_reviews(
    memory: Reads, request: Request, window: Paged, agent: str | None = None, due_only: bool = False
) -> Response:
    return sliced(request, "reviews", memory.decisions.review_queue(agent=agent, due_only=due_only), window)


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
def call_rpc(memory: Reads, token: Annotated[Token, Depends(admitted)], request: Request) -> Response:
    table = methods(memory)
    if token.read_only:
        table = {name: method if name in READS else _refusing(method, token) for name, method in table.items()}
    said = dispatch(request.state.body, table)
    return Response(status_code=204) if said is None else Response(said, media_type="application/json")


def _refusing(method: Callable[..., Any], token: Token) -> Callable[..., Any]:
    """A method that would change something, for a token that may not."""

    def refused(**_: Any) -> NoReturn:
        raise Refused(may_only_read(token))

    refused.__wrapped__ = method  # type: ignore[attr-defined]
    return refused
