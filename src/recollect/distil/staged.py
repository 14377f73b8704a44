"""Staged learnings with their ages, and what a consolidation would take up now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

from recollect.capture.log_files import today
from recollect.capture.stage import refuse_conflicts
from recollect.core.context import Context
from recollect.core.errors import NotFound
from recollect.text.ripeness import Aged, Plan, Thresholds, active_days_after, aged, plan
from recollect.text.staging import HEADING_LINE, Staging, lines_of, read_staging

REMOVED_TOGETHER = 2  # entries that one commit takes out when it was a consolidation


@dataclass(frozen=True, kw_only=True)
class EntryAge:
    """One entry of the report: its age in active days and the day it was added; None before its first commit."""

    title: str
    age: int | None
    added: date | None
    slug: str


@dataclass(frozen=True, kw_only=True)
class Ages:
    """The report of a staging file, oldest entry first."""

    file_lines: int
    last_consolidation: date | None
    entries: tuple[EntryAge, ...]


@dataclass(frozen=True, kw_only=True)
class StagingFile:
    """A staging file read together with its history."""

    path: str
    text: str
    staging: Staging
    entries: tuple[Aged, ...]
    last_consolidation: date | None
    since_last: int | None


def ages(ctx: Context, path: str | None = None) -> Ages:
    """How long each entry has been staged. Raises NoHistory where git cannot say; an age is never guessed."""
    file = read_with_history(ctx, path or ctx.settings.staging.file)
    oldest_first = sorted(file.entries, key=lambda one: (one.added or date.max, one.entry.first))
    return Ages(
        file_lines=file.staging.lines,
        last_consolidation=file.last_consolidation,
        entries=tuple(
            EntryAge(title=one.entry.title, age=one.age, added=one.added, slug=one.entry.slug) for one in oldest_first
        ),
    )


def undated(ctx: Context) -> Ages:
    """The entries where git cannot say how old they are."""
    staging = read_staging(ctx.worktree.read(ctx.settings.staging.file) or "")
    return Ages(
        file_lines=staging.lines,
        last_consolidation=staging.consolidated_on,
        entries=tuple(EntryAge(title=one.title, age=None, added=None, slug=one.slug) for one in staging.entries),
    )


def read_with_history(ctx: Context, path: str) -> StagingFile:
    text = ctx.worktree.read(path)
    if text is None:
        raise NotFound(f"there is no {path}; `recollect stage` begins one")
    refuse_conflicts(path, text)
    staging = read_staging(text)
    lines, line_days, active = lines_of(text), ctx.git.line_days(path, text), ctx.git.active_days()
    entries = aged(staging.entries, line_days, active, today(ctx), lines)
    last = staging.consolidated_on or ctx.git.day_removed(path, HEADING_LINE, least=REMOVED_TOGETHER)
    # A file that was never consolidated has been waiting since its oldest entry.
    since = last or min((one.added for one in entries if one.added), default=None)
    return StagingFile(
        path=path,
        text=text,
        staging=staging,
        entries=entries,
        last_consolidation=last,
        since_last=None if since is None else active_days_after(since, active, today(ctx)),
    )


def planned(ctx: Context, file: StagingFile, waiting: Mapping[str, str]) -> Plan:
    """The trigger test, the freshness test and the batch, by the settings."""
    return plan(
        file.entries,
        lines=file.staging.lines,
        since_last=file.since_last,
        limits=thresholds(ctx),
        waiting=waiting,
    )


def thresholds(ctx: Context) -> Thresholds:
    given = ctx.settings.staging
    return Thresholds(
        lines=given.lines,
        stale_days=given.stale_days,
        fresh_days=given.fresh_days,
        batch=given.batch,
        keep_newest=given.keep_newest,
    )
