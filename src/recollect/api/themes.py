"""REST: findings of work units and the themes they gather into."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Annotated
from urllib.parse import quote

from fastapi import APIRouter, Path, Request, Response

from recollect.api.access import Reads, Writes
from recollect.api.route import Route
from recollect.api.wire import Paged, answer, gives, sliced, taken
from recollect.capture.learn import Captured
from recollect.core.finding import AddedFinding, Finding, NewFinding, Theme, WorkFile
from recollect.distil.themes import Gathering

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
