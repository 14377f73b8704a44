"""REST: findings and the themes they gather into, staged learnings and their consolidation into documents."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Annotated
from urllib.parse import quote

from fastapi import Path, Request, Response

from recollect.api.auth import Reads, Writes
from recollect.api.bodies import DryRun, Empty, FindingBody, Gather, PromotionBody, Rename, StagedBody, StagedPromotion
from recollect.api.learnings import Hits
from recollect.api.wire import Paged, SearchPaged, answer, page_of, router, sliced
from recollect.capture.learn import Captured
from recollect.capture.stage import Staged
from recollect.core.finding import AddedFinding, Finding, SkippedFile, Theme, WorkFile
from recollect.core.records import MOST
from recollect.distil.inbox import RestoredEntry
from recollect.distil.staged import Consolidation, EntryAge
from recollect.distil.themes import Gathering

routes = router("/api", "themes")
staging_routes = router("/api", "staging")

Entries = page_of("staged", EntryAge, file_lines=int, last_consolidation=date | None)
FindingNumber = Annotated[int, Path(ge=1, le=10**9)]


@dataclass(frozen=True, kw_only=True)
class ThemeFile:
    """A theme and its file."""

    theme: Theme
    text: str


@routes.get(
    "/findings",
    response_model=page_of("files", WorkFile, skipped=tuple[SkippedFile, ...]),
    summary="List the files of findings, and those passed over",
)
def list_findings(memory: Reads, request: Request, window: Paged) -> Response:
    seen = memory.themes.survey()
    return sliced(request, "files", seen.files, window, skipped=seen.skipped)


@routes.post("/findings", status_code=201, response_model=AddedFinding, summary="Add a finding to a work unit")
def add_finding(memory: Writes, new: FindingBody) -> Response:
    made = memory.themes.add(new.work_id, new.record())
    return answer(made, status=201, headers={"location": f"/api/findings/{quote(made.work_id)}/{made.number}"})


@routes.get("/findings/{work_id}/{number}", response_model=Finding, summary="Get a finding")
def get_finding(memory: Reads, work_id: str, number: FindingNumber) -> Response:
    return answer(memory.themes.finding(f"finding/{work_id}#{number}"))


@routes.post("/findings/{work_id}/{number}/promote", response_model=Captured, summary="Make a finding a learning")
def promote_finding(memory: Writes, work_id: str, number: FindingNumber, given: PromotionBody) -> Response:
    return answer(memory.themes.promote(f"finding/{work_id}#{number}", title=given.title))


@routes.get("/themes", response_model=page_of("themes", Theme), summary="List themes")
def list_themes(memory: Reads, request: Request, window: Paged) -> Response:
    return sliced(request, "themes", memory.themes.list(), window)


@routes.post("/themes/run", response_model=Gathering, summary="Gather findings into themes, if that is due")
def run_themes(memory: Writes, wanted: Gather) -> Response:
    return answer(memory.themes.run(always=wanted.always))


@routes.get("/themes/{name}", response_model=ThemeFile, summary="Get a theme and its file")
def get_theme(memory: Reads, name: str) -> Response:
    found, text = memory.themes.show(name)
    return answer(ThemeFile(theme=found, text=text))


@routes.patch("/themes/{name}", response_model=Theme, summary="Rename a theme; the machine then leaves its name alone")
def rename_theme(memory: Writes, name: str, new: Rename) -> Response:
    return answer(memory.themes.rename(name, new.name))


@staging_routes.get("/staged", response_model=Entries, summary="List staged learnings with their age in active days")
def list_staged(memory: Reads, request: Request, window: Paged) -> Response:
    ages = memory.staging.ages()
    about = {"file_lines": ages.file_lines, "last_consolidation": ages.last_consolidation}
    return sliced(request, "staged", ages.entries, window, **about)


@staging_routes.post("/staged", status_code=201, response_model=Staged, summary="Stage a learning")
def stage_learning(memory: Writes, new: StagedBody) -> Response:
    made = memory.staging.stage(new.title, new.body)
    return answer(made, status=200 if made.repeated else 201)


@staging_routes.get("/staged/search", response_model=Hits, summary="Find staged learnings for any text")
def search_staged(memory: Reads, request: Request, window: SearchPaged, query: str) -> Response:
    found = memory.search(query, kinds=("staged",), limit=min(window.limit + window.offset, MOST))
    return sliced(request, "results", found, window)


@staging_routes.post("/staged/{slug}/promote", response_model=Captured, summary="Make a staged learning a learning")
def promote_staged(memory: Writes, slug: str, given: StagedPromotion) -> Response:
    made = memory.staging.promote(slug, context=given.context, implication=given.implication, action=given.action)
    return answer(made)


@staging_routes.post("/staged/{slug}/restore", response_model=RestoredEntry, summary="Stage a removed entry again")
def restore_staged(memory: Writes, slug: str, body: Empty) -> Response:
    return answer(memory.staging.restore(slug))


@staging_routes.post("/consolidate", response_model=Consolidation, summary="Move staged learnings into documents")
def consolidate(memory: Writes, wanted: DryRun) -> Response:
    """Only if a consolidation is due; a dry run says what it would do."""
    return answer(memory.staging.consolidate(dry_run=wanted.dry_run))
