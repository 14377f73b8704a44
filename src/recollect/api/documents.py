"""REST: findings and the themes they gather into, staged learnings and their consolidation into documents."""

from __future__ import annotations

from datetime import date
from typing import Annotated
from urllib.parse import quote

from fastapi import Path, Response

from recollect.api.auth import Maintains, Reads, Writes
from recollect.api.bodies import DryRun, Empty, FindingBody, Gather, PromotionBody, Rename, StagedBody, StagedPromotion
from recollect.api.wire import Paged, answer, page_of, router, shape, sliced
from recollect.capture.learn import Captured
from recollect.capture.stage import Staged
from recollect.core.finding import AddedFinding, Finding, SkippedFile, Theme, WorkFile
from recollect.distil.inbox import RestoredEntry
from recollect.distil.staged import Consolidation, EntryAge
from recollect.distil.themes import Gathering

routes = router("/api", "themes")
staging_routes = router("/api", "staging")

Entries = page_of("staged", EntryAge, file_lines=int, last_consolidation=date | None)
ThemeFile = shape("ThemeFile", theme=Theme, text=str)
AdoptedEntry = shape("AdoptedEntry", slug=str, title=str, body=str)
FindingNumber = Annotated[int, Path(ge=1, le=10**9)]


@routes.get(
    "/findings",
    response_model=page_of("files", WorkFile, skipped=tuple[SkippedFile, ...]),
    summary="List the files of findings, and those passed over",
)
def list_findings(memory: Reads, window: Paged) -> Response:
    seen = memory.themes.survey()
    return sliced("files", seen.files, window, skipped=seen.skipped)


@routes.post("/findings", status_code=201, response_model=AddedFinding, summary="Add a finding to a work unit")
def add_finding(memory: Writes, new: FindingBody) -> Response:
    made = memory.themes.add(new.work_id, new.record())
    return answer(made, status=201, headers={"location": f"/api/findings/{quote(made.work_id)}/{made.number}"})


@routes.get("/findings/{work_id}/{number}", summary="Get a finding")
def get_finding(memory: Reads, work_id: str, number: FindingNumber) -> Finding:
    return memory.themes.finding(f"finding/{work_id}#{number}")


@routes.post("/findings/{work_id}/{number}/promote", summary="Make a finding a learning")
def promote_finding(memory: Writes, work_id: str, number: FindingNumber, given: PromotionBody) -> Captured:
    return memory.themes.promote(f"finding/{work_id}#{number}", title=given.title)


@routes.post("/findings/{work_id}/{number}/adopt", summary="Vouch for it; only a person may")
def adopt_finding(memory: Writes, work_id: str, number: FindingNumber, body: Empty) -> Finding:
    return memory.themes.adopt(f"finding/{work_id}#{number}")


@routes.get("/themes", response_model=page_of("themes", Theme), summary="List themes")
def list_themes(memory: Reads, window: Paged) -> Response:
    return sliced("themes", memory.themes.list(), window)


@routes.post("/themes/run", summary="Gather findings into themes, if that is due")
def run_themes(memory: Maintains, wanted: Gather) -> Gathering:
    return memory.themes.run(always=wanted.always)


@routes.get("/themes/{name}", response_model=ThemeFile, summary="Get a theme and its file")
def get_theme(memory: Reads, name: str) -> Response:
    found, text = memory.themes.show(name)
    return answer({"theme": found, "text": text})


@routes.patch("/themes/{name}", summary="Rename a theme; the machine then leaves its name alone")
def rename_theme(memory: Writes, name: str, new: Rename) -> Theme:
    return memory.themes.rename(name, new.name)


@staging_routes.get("/staged", response_model=Entries, summary="List staged learnings with their age in active days")
def list_staged(memory: Reads, window: Paged) -> Response:
    ages = memory.staging.ages()
    about = {"file_lines": ages.file_lines, "last_consolidation": ages.last_consolidation}
    return sliced("staged", ages.entries, window, **about)


@staging_routes.post("/staged", status_code=201, response_model=Staged, summary="Stage a learning")
def stage_learning(memory: Writes, new: StagedBody) -> Response:
    made = memory.staging.stage(new.title, new.body)
    return answer(made, status=200 if made.repeated else 201)


@staging_routes.post("/staged/{slug}/promote", response_model=Captured, summary="Make a staged learning a learning")
def promote_staged(memory: Writes, slug: str, given: StagedPromotion) -> Response:
    made = memory.staging.promote(slug, context=given.context, implication=given.implication, action=given.action)
    return answer(made)


@staging_routes.post("/staged/{slug}/adopt", response_model=AdoptedEntry, summary="Vouch for it; only a person may")
def adopt_staged(memory: Writes, slug: str, body: Empty) -> Response:
    kept = memory.staging.adopt(slug)
    return answer({"slug": kept.slug, "title": kept.title, "body": kept.body})


@staging_routes.post("/staged/{slug}/restore", summary="Stage a removed entry again")
def restore_staged(memory: Writes, slug: str, body: Empty) -> RestoredEntry:
    return memory.staging.restore(slug)


@staging_routes.post("/consolidate", summary="Move staged learnings into documents")
def consolidate(memory: Maintains, wanted: DryRun) -> Consolidation:
    """Only if a consolidation is due; a dry run says what it would do."""
    return memory.staging.consolidate(dry_run=wanted.dry_run)
