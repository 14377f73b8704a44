"""Staged learnings with their ages, and what a consolidation would take up now.

The permanent documents of the worktree: which there are, splitting a long one, keeping the memory index true.

Never touched: CLAUDE.md, AGENTS.md, README, tests, and any document with changes that nobody committed.

What a consolidation did, as records and as the Markdown report.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from recollect.capture.documents import paths
from recollect.capture.logs import today
from recollect.capture.stage import refuse_conflicts
from recollect.core.context import Context
from recollect.core.errors import NotFound, Refused, after
from recollect.store.files import content_hash
from recollect.text.documents import IndexProblem, Split, check_index, make_index, relinked, split
from recollect.text.staging import HEADING_LINE, StagingText, lines_of, read_staging
from recollect.text.staging_due import Aged, ConsolidationPlan, HeldBack, Thresholds, active_days_after, aged, plan

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
    staging: StagingText
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


def planned(ctx: Context, file: StagingFile, waiting: Mapping[str, str]) -> ConsolidationPlan:
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


SHARED_BEGINNING = "# Learnings\n"


@dataclass(frozen=True, kw_only=True)
class Refactored:
    """What a split made: every file it wrote, by path; none when the document was short enough."""

    path: str
    written: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class IndexState:
    """The memory index: what is, or was, wrong with it, and whether it was written."""

    path: str
    problems: tuple[IndexProblem, ...]
    written: bool


def load_documents(ctx: Context) -> dict[str, str]:
    """Every permanent document by path."""
    return {path: ctx.worktree.read(path) or "" for path in paths(ctx)}


def uncommitted(ctx: Context, path: str, text: str) -> bool:
    """Whether a document differs from what HEAD has, so that a diff of ours would be mixed with somebody's."""
    return ctx.git.committed(path) != text


def document_refusal(ctx: Context, path: str, text: str) -> str:
    """Why a document must not be written into now, or nothing."""
    if "\ufffd" in text:
        return f"{path} is not UTF-8 throughout"
    return f"{path} has changes that are not committed" if uncommitted(ctx, path, text) else ""


def split_of(ctx: Context, path: str, documents: Mapping[str, str], started: Mapping[str, str]) -> dict[str, str]:
    """Every file that changes when a document is split: its parts, itself, and documents that link to it.

    `started` are the documents before anything of ours: what is not committed in those is somebody else's.
    """
    done = _split(ctx, path, documents)
    if done is None:
        raise Refused(f"{path} has no H2 or H3 headings to split it at; give it some, or split it by hand")
    changed = dict(done.files)
    for other, text in documents.items():
        if other not in changed and (after := relinked(text, other, done.moved)) != text:
            changed[other] = after
    reasons = [reason for name in changed if name in started and (reason := document_refusal(ctx, name, started[name]))]
    if reasons:
        raise Refused(f"{', '.join(reasons)}; put that right, then split {path}")
    return changed


def refactor(ctx: Context, path: str, *, force: bool = False) -> Refactored:
    """Split one document on demand, fix links to it, and write the index again. A short one is left alone."""
    documents = load_documents(ctx)
    if path not in documents:
        raise NotFound(f"{path} is not one of the permanent documents (setting consolidate.documents)")
    if not force and len(lines_of(documents[path])) <= ctx.settings.consolidate.split_most:
        return Refactored(path=path, written=())
    changed = split_of(ctx, path, documents, documents)
    with after("Parts that are written stay", "Run this again: no part is written twice"):
        write_document(ctx, changed, documents, last=path)
        write_index(ctx)
    return Refactored(path=path, written=tuple(changed))


def write_document(ctx: Context, changed: Mapping[str, str], before: Mapping[str, str], *, last: str) -> None:
    """Write documents, the one that others were taken out of last: a crash leaves text twice, never nowhere."""
    for path in [*(each for each in changed if each != last), last]:
        text = changed[path]
        if ctx.worktree.read(path) == text:
            continue  # a run that was cut off had come this far
        expect = content_hash(before[path]) if path in before else ""
        ctx.worktree.replace(path, text, expect=expect)


def check_target(ctx: Context) -> IndexState:
    """What is wrong with the memory index, without touching it."""
    at = ctx.settings.consolidate.index
    found = check_index(ctx.worktree.read(at) or "", load_documents(ctx), at)
    return IndexState(path=at, problems=tuple(found), written=False)


def index_change(ctx: Context, documents: Mapping[str, str]) -> tuple[str | None, str]:
    """The memory index as it is and as these documents make it; where there is neither, both are empty."""
    at = ctx.settings.consolidate.index
    before = ctx.worktree.read(at)
    return ("", "") if before is None and not documents else (before, make_index(documents, at))


def write_index(ctx: Context) -> IndexState:
    """Make the memory index what the documents say."""
    at, documents = ctx.settings.consolidate.index, load_documents(ctx)
    before, after = index_change(ctx, documents)
    if before == after:
        return IndexState(path=at, problems=(), written=False)
    problems = check_index(before or "", documents, at)
    ctx.worktree.replace(at, after, expect="" if before is None else content_hash(before))
    return IndexState(path=at, problems=tuple(problems), written=True)


def is_full(ctx: Context, text: str) -> bool:
    return len(lines_of(text)) >= ctx.settings.consolidate.file_limit


def _split(ctx: Context, path: str, documents: Mapping[str, str]) -> Split | None:
    limits = ctx.settings.consolidate
    done = split(path, documents[path], least=limits.split_least, most=limits.split_most)
    foreign = done and any(documents.get(name, text) != text for name, text in done.files.items() if name != path)
    if not foreign:
        return done  # also when a run that was cut off wrote some of the parts
    return split(path, documents[path], taken=documents, least=limits.split_least, most=limits.split_most)


Fate = Literal["consolidated", "superseded", "redundant", "contradiction", "vague", "refused", "file limit"]


@dataclass(frozen=True, kw_only=True)
class EntryOutcome:
    """What became of one entry. `where` is a document's heading, or the id of what it was held against."""

    slug: str
    title: str
    fate: Fate
    where: str
    reason: str
    score: float = 0.0

    @property
    def left(self) -> bool:
        """Whether it left the staging file."""
        return self.fate in ("consolidated", "superseded", "redundant")


@dataclass(frozen=True, kw_only=True)
class Consolidation:
    """One run: whether it was due and why, what became of each entry, what stays and why."""

    due: bool
    trigger: str
    reason: str
    outcomes: tuple[EntryOutcome, ...] = ()
    held: tuple[HeldBack, ...] = ()
    splits: tuple[str, ...] = ()
    escalations: tuple[str, ...] = ()
    index_changes: tuple[str, ...] = ()
    report: str = ""
    diff: str = ""


def render_report(run: Consolidation, day: date) -> str:
    """The report as Markdown."""
    counts = [
        ("consolidated", "consolidated"),
        ("superseded", "superseded"),
        ("redundant", "redundant"),
        ("contradiction", "contradictions"),
        ("vague", "too vague"),
        ("refused", "refused"),
        ("file limit", "waiting for a split"),
    ]
    summary = [f"- Trigger: {run.trigger}, {run.reason}"]
    summary += [f"- {name.capitalize()}: {len(_of(run, fate))}" for fate, name in counts]
    summary += [f"- Still staged: {len(run.held) + sum(not one.left for one in run.outcomes)}"]
    stays = [f"- {held.slug}: {held.reason}" for held in run.held]
    parts: list[tuple[str, Sequence[str]]] = [
        ("Summary", [*summary, *(["", "Held back:", "", *stays] if stays else [])]),
        ("Consolidated", _lines(run, "consolidated", "→")),
        ("Superseded", _lines(run, "superseded", "by")),
        ("Redundant", _lines(run, "redundant", "repeats")),
        ("Contradictions", _lines(run, "contradiction", "against")),
        ("File Limits", [*(f"- split {path}" for path in run.splits), *_lines(run, "file limit", "at")]),
        ("Escalations", [f"- {line}" for line in run.escalations]),
        ("Index Changes", [f"- {line}" for line in run.index_changes]),
    ]
    body = "\n\n".join(f"## {title}\n\n" + ("\n".join(lines) or "None.") for title, lines in parts)
    return f"# Consolidation report, {day.isoformat()}\n\n{body}\n"


def _of(run: Consolidation, fate: str) -> list[EntryOutcome]:
    return [outcome for outcome in run.outcomes if outcome.fate == fate]


def _lines(run: Consolidation, fate: str, link: str) -> list[str]:
    lines = []
    for one in _of(run, fate):
        score = f", score {one.score:.2f}" if one.score else ""
        lines.append(f"- {one.title} ({one.slug}) {link} {one.where}: {one.reason}{score}")
    return lines
