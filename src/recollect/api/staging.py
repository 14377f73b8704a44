"""REST: staged learnings and their consolidation into documents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Request, Response

from recollect.api.access import Reads, Writes
from recollect.api.route import Route
from recollect.api.wire import DryRun, Paged, answer, gives, sliced, taken
from recollect.capture.learn import Captured
from recollect.capture.stage import Staged
from recollect.core.limits import MOST
from recollect.distil.removal import Restored
from recollect.distil.report import Consolidation
from recollect.distil.staged import Ages
from recollect.search.everything import Hit

routes = APIRouter(prefix="/api", tags=["staging"], route_class=Route)


@dataclass(frozen=True, kw_only=True)
class NewStaged:
    title: str
    body: str = ""


@dataclass(frozen=True, kw_only=True)
class StagedPromotion:
    """What the entry itself does not say."""

    context: str = ""
    implication: str = ""
    action: str = ""


@routes.get("/staged", summary="How long each staged learning has waited, in active days")
@gives(Ages)
def ages(memory: Reads) -> Response:
    return answer(memory.staging.ages())


@routes.post("/staged", status_code=201, summary="Stage a learning, past the quality gate")
@gives(Staged)
def stage(memory: Writes, new: Annotated[NewStaged, taken(NewStaged)]) -> Response:
    made = memory.staging.stage(new.title, new.body)
    return answer(made, status=200 if made.repeated else 201)


@routes.get("/staged/search", summary="Find staged learnings for any text")
@gives(Hit, listed="results")
def search(memory: Reads, request: Request, window: Paged, q: str) -> Response:
    found = memory.search(q, kinds=("staged",), limit=min(window.limit + window.offset, MOST))
    return sliced(request, "results", found, window)


@routes.post("/staged/{slug}/promote", summary="Make a staged learning one with confidence")
@gives(Captured)
def promote(memory: Writes, slug: str, given: Annotated[StagedPromotion, taken(StagedPromotion)]) -> Response:
    made = memory.staging.promote(slug, context=given.context, implication=given.implication, action=given.action)
    return answer(made)


@routes.post("/staged/{slug}/restore", summary="Stage an entry again that left the staging file")
@gives(Restored)
def restore(memory: Writes, slug: str) -> Response:
    return answer(memory.staging.restore(slug))


@routes.post("/consolidate", summary="Move what has proved itself into the permanent documents, if that is due")
@gives(Consolidation)
def consolidate(memory: Writes, wanted: Annotated[DryRun, taken(DryRun)]) -> Response:
    return answer(memory.staging.consolidate(dry_run=wanted.dry_run))
