"""REST: the inbox, the state of the whole, why a thing is what it is, and the cycle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Path, Request, Response

from recollect.api.access import Reads, Writes
from recollect.api.route import Route
from recollect.api.wire import DryRun, Paged, answer, gives, sliced, taken
from recollect.store.escalations import Escalation
from recollect.tend.cycle import CycleReport
from recollect.tend.status import Status
from recollect.tend.why import Explanation
from recollect.tend.why_files import FileExplanation
from recollect.tend.why_journal import EntryExplanation, NodeExplanation

routes = APIRouter(prefix="/api", tags=["upkeep"], route_class=Route)

Number = Annotated[int, Path(ge=1, lt=2**31)]


@dataclass(frozen=True, kw_only=True)
class Resolution:
    """What to do with a matter; which verbs there are depends on its kind."""

    verb: str


@routes.get("/inbox", summary="What waits for a person")
@gives(Escalation, listed="matters")
def inbox(memory: Reads, request: Request, window: Paged) -> Response:
    return sliced(request, "matters", memory.inbox.waiting(), window)


@routes.get("/inbox/{number}", summary="Get a matter")
@gives(Escalation)
def matter(memory: Reads, number: Number) -> Response:
    return answer(memory.inbox.get(number))


@routes.post("/inbox/{number}/resolve", summary="Settle a matter; only a person may")
@gives(Escalation)
def resolve(memory: Writes, number: Number, given: Annotated[Resolution, taken(Resolution)]) -> Response:
    return answer(memory.inbox.resolve(number, given.verb))


@routes.get("/status", summary="What is remembered, what waits, what is wrong")
@gives(Status)
def status(memory: Reads) -> Response:
    return answer(memory.status())


@routes.get("/why/{id:anything}", summary="Where a thing came from and what happened to it")
@gives(Explanation | NodeExplanation | EntryExplanation | FileExplanation)
def why(memory: Reads, id: str) -> Response:
    return answer(memory.why(id))


@routes.post("/cycle", summary="Do everything that is due")
@gives(CycleReport)
def cycle(memory: Writes, wanted: Annotated[DryRun, taken(DryRun)]) -> Response:
    return answer(memory.cycle(dry_run=wanted.dry_run))
