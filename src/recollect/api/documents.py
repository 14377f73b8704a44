"""REST: findings of work units and the themes they gather into.

REST: staged learnings and their consolidation into documents.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Request, Response

from recollect.api.auth import Reads, Writes
from recollect.api.wire import DryRun, Paged, Route, answer, gives, sliced, taken
from recollect.capture.learn import Captured
from recollect.capture.stage import Staged
from recollect.core.finding import AddedFinding, Finding, NewFinding, Theme, WorkFile
from recollect.core.records import MOST
from recollect.distil.inbox import RestoredEntry
from recollect.distil.staged import Ages, Consolidation
from recollect.distil.themes import Gathering
from recollect.search.everything import Hit

routes = APIRouter(prefix="/api", tags=["themes"], route_class=Route)

Number = Annotated[int, Path(ge=1, le=10**9)]


@dataclass(frozen=True, kw_only=True)
class ReportedFinding:
    """A finding and the work unit it belongs to."""

    work_id: str
    description: str
    category: str = ""
    source: str = ""
    proposed_rule: str = ""
    disposition: str = ""


@dataclass(frozen=True, kw_only=True)
class ThemeFile:
    """A theme and its file."""

    theme: Theme
    text: str


@dataclass(frozen=True, kw_only=True)
class Rename:
    name: str


@dataclass(frozen=True, kw_only=True)
class Gather:
    """`always` gathers although nothing is due."""

    always: bool = False


@dataclass(frozen=True, kw_only=True)
class Promotion:
    """A title for the learning; without one it is taken from the finding."""

    title: str | None = None


@routes.get("/findings", summary="List the raw files of findings that can be read, and those passed over")
@gives(WorkFile, listed="files")
def findings(memory: Reads, request: Request, window: Paged) -> Response:
    seen = memory.themes.survey()
    return sliced(request, "files", seen.files, window, skipped=seen.skipped)


@routes.post("/findings", status_code=201, summary="Add a finding to a work unit")
@gives(AddedFinding)
def add(memory: Writes, new: Annotated[ReportedFinding, taken(ReportedFinding)]) -> Response:
    given = asdict(new)
    made = memory.themes.add(given.pop("work_id"), NewFinding(**given))
    return answer(made, status=201, headers={"location": f"/api/findings/{quote(made.work_id)}/{made.number}"})


@routes.get("/findings/{work_id}/{number}", summary="Get a finding")
@gives(Finding)
def finding(memory: Reads, work_id: str, number: Number) -> Response:
    return answer(memory.themes.finding(f"finding/{work_id}#{number}"))


@routes.post("/findings/{work_id}/{number}/promote", summary="Make a finding a learning")
@gives(Captured)
def promote(memory: Writes, work_id: str, number: Number, given: Annotated[Promotion, taken(Promotion)]) -> Response:
    return answer(memory.themes.promote(f"finding/{work_id}#{number}", title=given.title))


@routes.get("/themes", summary="List themes")
@gives(Theme, listed="themes")
def themes(memory: Reads, request: Request, window: Paged) -> Response:
    return sliced(request, "themes", memory.themes.list(), window)


@routes.post("/themes/run", summary="Gather findings into themes, if that is due")
@gives(Gathering)
def run(memory: Writes, wanted: Annotated[Gather, taken(Gather)]) -> Response:
    return answer(memory.themes.run(always=wanted.always))


@routes.get("/themes/{name}", summary="Get a theme and its file")
@gives(ThemeFile)
def theme(memory: Reads, name: str) -> Response:
    found, text = memory.themes.show(name)
    return answer(ThemeFile(theme=found, text=text))


@routes.patch("/themes/{name}", summary="Rename a theme; the machine then leaves the name alone")
@gives(Theme)
def rename(memory: Writes, name: str, new: Annotated[Rename, taken(Rename)]) -> Response:
    return answer(memory.themes.rename(name, new.name))


staging_routes = APIRouter(prefix="/api", tags=["staging"], route_class=Route)


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


@staging_routes.get("/staged", summary="How long each staged learning has waited, in active days")
@gives(Ages)
def ages(memory: Reads) -> Response:
    return answer(memory.staging.ages())


@staging_routes.post("/staged", status_code=201, summary="Stage a learning, past the quality gate")
@gives(Staged)
def stage(memory: Writes, new: Annotated[NewStaged, taken(NewStaged)]) -> Response:
    made = memory.staging.stage(new.title, new.body)
    return answer(made, status=200 if made.repeated else 201)


@staging_routes.get("/staged/search", summary="Find staged learnings for any text")
@gives(Hit, listed="results")
def search(memory: Reads, request: Request, window: Paged, q: str) -> Response:
    found = memory.search(q, kinds=("staged",), limit=min(window.limit + window.offset, MOST))
    return sliced(request, "results", found, window)


@staging_routes.post("/staged/{slug}/promote", summary="Make a staged learning one with confidence")
@gives(Captured)
def promote_staged(memory: Writes, slug: str, given: Annotated[StagedPromotion, taken(StagedPromotion)]) -> Response:
    made = memory.staging.promote(slug, context=given.context, implication=given.implication, action=given.action)
    return answer(made)


@staging_routes.post("/staged/{slug}/restore", summary="Stage an entry again that left the staging file")
@gives(RestoredEntry)
def restore(memory: Writes, slug: str) -> Response:
    return answer(memory.staging.restore(slug))


@staging_routes.post("/consolidate", summary="Move what has proved itself into the permanent documents, if that is due")
@gives(Consolidation)
def consolidate(memory: Writes, wanted: Annotated[DryRun, taken(DryRun)]) -> Response:
    return answer(memory.staging.consolidate(dry_run=wanted.dry_run))
