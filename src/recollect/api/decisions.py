"""REST: decisions, what became of them, and what they taught.

JSON-RPC over HTTP: the dispatcher and the methods are `rpc.py` and `cstp.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn

from fastapi import APIRouter, Depends, Query, Request, Response

from recollect.api.auth import Reads, Writes, admitted, may_only_read
from recollect.api.rpc import READS, dispatch, methods
from recollect.api.wire import DryRun, Expected, Paged, Route, answer, gives, page, sliced, taken, versioned
from recollect.capture.decide import Decided
from recollect.core.decision import Decision, DecisionEdit, NewDecision, Review
from recollect.core.errors import Refused
from recollect.core.token import Token
from recollect.distil.decision_levels import Level
from recollect.distil.decision_page import DecisionPage
from recollect.distil.decisions import AwaitedReview, Compaction
from recollect.distil.wisdom import Calibration, Wisdom

routes = APIRouter(prefix="/api", tags=["decisions"], route_class=Route)


@dataclass(frozen=True, kw_only=True)
class Reversal:
    """Why a decision was taken back, and which one stands instead."""

    reason: str
    by: str | None = None


@dataclass(frozen=True, kw_only=True)
class Preserve:
    preserve: bool = True


@dataclass(frozen=True, kw_only=True)
class AgedDecision:
    """A `DecisionHit` as documents can say it: how many fields `decision` has depends on its level."""

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


@routes.get("/decisions", summary="Decisions by words and fields, each as long as its age allows")
@gives(AgedDecision, listed="decisions")
def listed(
    memory: Reads,
    request: Request,
    window: Paged,
    query: str = "",
    category: str | None = None,
    agent: str | None = None,
    tag: str | None = None,
    outcome: str | None = None,
    status: str | None = None,
    stakes: str | None = None,
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


@routes.post("/decisions", status_code=201, summary="Record a decision")
@gives(Decided)
def record(memory: Writes, new: Annotated[NewDecision, taken(NewDecision)], anyway: bool = False) -> Response:
    made = memory.decisions.record(new, anyway=anyway)
    headers = {"location": f"/api/decisions/{made.decision.id}", "etag": f'"{made.decision.version}"'}
    return answer(made, status=201, headers=headers)


@routes.get("/decisions/compacted", summary="Every decision at the level its age asks for")
@gives(DecisionPage)
def compacted(
    memory: Reads,
    window: Paged,
    category: str | None = None,
    agent: str | None = None,
    level: str | None = None,
    budget: Annotated[int | None, Query(ge=1, le=10**6)] = None,
) -> Response:
    wanted: dict[str, Any] = {"category": category, "agent": agent, "level": level, "budget": budget}
    return answer(memory.decisions.compacted(limit=window.limit, offset=window.offset, **wanted))


@routes.post("/decisions/compact", summary="Prepare what showing the decisions needs")
@gives(Compaction)
def compact(memory: Writes, wanted: Annotated[DryRun, taken(DryRun)]) -> Response:
    return answer(memory.decisions.compact(dry_run=wanted.dry_run))


@routes.get("/decisions/{id}", summary="Get a decision whole, whatever its age")
@gives(Decision)
def show(memory: Reads, id: str) -> Response:
    return versioned(memory.decisions.get(id))


@routes.patch("/decisions/{id}", summary="Change a decision")
@gives(Decision)
def change(memory: Writes, id: str, edit: Annotated[DecisionEdit, taken(DecisionEdit)], expect: Expected) -> Response:
    return versioned(memory.decisions.edit(id, edit, expect=expect))


@routes.post("/decisions/{id}/review", summary="Say what came of a decision")
@gives(Decision)
def review(memory: Writes, id: str, outcome: Annotated[Review, taken(Review)], expect: Expected) -> Response:
    return versioned(memory.decisions.review(id, outcome, expect=expect))


@routes.post("/decisions/{id}/reverse", summary="Take a decision back")
@gives(Decision)
def reverse(memory: Writes, id: str, given: Annotated[Reversal, taken(Reversal)], expect: Expected) -> Response:
    return versioned(memory.decisions.reverse(id, reason=given.reason, by=given.by, expect=expect))


@routes.post("/decisions/{id}/preserve", summary="Keep a decision whole at any age, or no longer")
@gives(Decision)
def preserve(memory: Writes, id: str, given: Annotated[Preserve, taken(Preserve)]) -> Response:
    return versioned(memory.decisions.preserve(id, on=given.preserve))


@routes.post("/decisions/{id}/adopt", summary="Vouch for a decision that came from outside; only a person may")
@gives(Decision)
def adopt(memory: Writes, id: str) -> Response:
    return versioned(memory.decisions.adopt(id))


@routes.get("/wisdom", summary="What the oldest decisions of each category taught")
@gives(Wisdom, listed="wisdom")
def wisdom(
    memory: Reads,
    request: Request,
    window: Paged,
    category: str | None = None,
    agent: str | None = None,
) -> Response:
    found = memory.decisions.wisdom(category=category, agent=agent)
    return sliced(request, "wisdom", found, window)


@routes.get("/calibration", summary="Confidence against outcomes")
@gives(Calibrated)
def calibration(
    memory: Reads,
    category: str | None = None,
    agent: str | None = None,
    window_days: Annotated[int | None, Query(ge=1, le=36500)] = None,
) -> Response:
    return answer(memory.decisions.calibration(category=category, agent=agent, window_days=window_days))


@routes.get("/review-queue", summary="Decisions that wait for an outcome")
@gives(AwaitedReview, listed="waiting")
def review_queue(
    memory: Reads, request: Request, window: Paged, agent: str | None = None, due_only: bool = False
) -> Response:
    return sliced(request, "waiting", memory.decisions.review_queue(agent=agent, due_only=due_only), window)


rpc_routes = APIRouter(tags=["json-rpc"], route_class=Route)


@rpc_routes.post("/cstp", summary="A JSON-RPC 2.0 call, or a batch of up to 100")
def call(memory: Reads, token: Annotated[Token, Depends(admitted)], request: Request) -> Response:
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
