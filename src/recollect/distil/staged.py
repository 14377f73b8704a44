"""Staged learnings, and the permanent documents that take them up.

How old each entry is, how one leaves the staging file, and the report of a consolidation. Every entry that leaves is
recorded with its whole text and where it went, so that `inbox.restore` can bring it back. Of documents: reading,
writing and splitting them, and the memory index that lists them. Never touched: CLAUDE.md, AGENTS.md, README, tests,
and any document with uncommitted changes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Literal

from recollect.capture.documents import paths
from recollect.capture.learn import KIND as LEARNING_CONTRADICTION
from recollect.capture.learn import Captured, learn
from recollect.capture.logs import today
from recollect.capture.stage import (
    REMOVED,
    RESTORED,
    change_file,
    find_entry,
    id_of,
    read_file,
    refresh_passages,
    refuse_conflicts,
)
from recollect.core.choices import Trust
from recollect.core.context import Context
from recollect.core.errors import NotFound, Refused, after
from recollect.core.new_learning import TITLE_LIMIT, NewLearning
from recollect.core.records import noun_of, record
from recollect.core.trust import check_may
from recollect.distil.staging_checks import KnownText
from recollect.store import events
from recollect.store import learnings as learning_rows
from recollect.store.files import content_hash
from recollect.text import documents as text
from recollect.text.documents import IndexProblem, Split, make_index, relinked
from recollect.text.markdown import lines_of
from recollect.text.staging import (
    HEADING_LINE,
    Aged,
    ConsolidationPlan,
    HeldBack,
    StagedEntry,
    StagingText,
    Thresholds,
    active_days_after,
    aged,
    marked_consolidated,
    plan,
    read_staging,
    with_body,
)

REMOVED_TOGETHER = 2  # entries that a commit must take out to count as a consolidation: one alone is an edit
CONTRADICTION, VAGUE, PLACE = "staged-contradiction", "staged-vague", "staged-place"  # inbox items about one entry
PLACES = ("first", "second", "third")  # the verbs that choose one of the places of a PLACE item


@record
class EntryAge:
    """One entry of the report: its age in active days and the day it was added; None before its first commit."""

    title: str
    age: int | None
    added: date | None
    slug: str
    external: bool = False


@record
class Ages:
    """The report of a staging file, oldest entry first."""

    file_lines: int
    last_consolidation: date | None
    entries: tuple[EntryAge, ...]


@record
class StagingFile:
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
    return _ages(file.staging, file.last_consolidation, oldest_first)


def undated(ctx: Context) -> Ages:
    """The entries without ages, for a project where git cannot give them."""
    staging = read_staging(read_file(ctx))
    return _ages(staging, staging.consolidated_on, [Aged(entry=one, added=None, age=None) for one in staging.entries])


def _ages(staging: StagingText, last: date | None, entries: Sequence[Aged]) -> Ages:
    return Ages(
        file_lines=staging.lines,
        last_consolidation=last,
        entries=tuple(
            EntryAge(
                title=one.entry.title, age=one.age, added=one.added, slug=one.entry.slug, external=one.entry.external
            )
            for one in entries
        ),
    )


def read_with_history(ctx: Context, path: str) -> StagingFile:
    text = ctx.worktree.read(path)
    if text is None:
        raise NotFound(f"there is no {path}; `recollect staged add` creates it")
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
    return plan(
        file.entries,
        lines=file.staging.lines,
        since_last=file.since_last,
        limits=Thresholds(**{name: getattr(ctx.settings.staging, name) for name in Thresholds.__annotations__}),
        waiting=waiting,
        mark_lines=read_staging(marked_consolidated(file.text, today(ctx))).lines - file.staging.lines,
    )


# Leaving the file

Fate = Literal[
    "consolidated",
    "superseded",
    "redundant",
    "withdrawn",
    "contradiction",
    "vague",
    "undecided",
    "refused",
    "file limit",
]


@record
class EntryOutcome:
    """What became of one entry. `where` is a document's heading, or the id of what it was compared with."""

    slug: str
    title: str
    fate: Fate
    where: str
    reason: str
    score: float = 0.0
    met: tuple[str, ...] = ()
    """What it was compared with and which places were weighed, a line each."""

    @property
    def left(self) -> bool:
        return self.fate in ("consolidated", "superseded", "redundant")


def remove_entry(ctx: Context, entry: StagedEntry, fate: Fate, where: str, reason: str, *, left: str = "") -> None:
    """Record an entry and what became of it, then take it out of the staging file, all but the body that is `left`."""
    title, body = entry.title, entry.body
    ctx.write(
        events.record,
        ctx,
        subject=id_of(entry),
        what=REMOVED,
        old={"title": title, "body": body},
        new={"fate": fate, "where": where, **({"left": left} if left else {})},
        reason=reason,
    )
    change_file(ctx, lambda text: with_body(text, title, body, left or None))


def withdraw(ctx: Context, slug: str) -> StagedEntry:
    """Take an entry out of the staging file without placing it; `inbox.restore` brings it back."""
    check_may(ctx.actor.trust, "staged", "restore")
    entry = find_entry(ctx, slug)
    remove_entry(ctx, entry, "withdrawn", "", "withdrawn")
    refresh_passages(ctx)
    return entry


def record_recurrence(ctx: Context, known: KnownText, entry: StagedEntry) -> None:
    """Count a repetition: in the learning's recurrence, or as an event of the document's section."""
    with ctx.db.write(ctx.space) as tx:
        what, old, new = "document.recurred", {}, {}
        if noun_of(known.id) == "learning":
            seen = learning_rows.get(tx, known.id).recurrence
            learning_rows.count_recurrence(tx, known.id, at=ctx.clock.now())
            what, old, new = "learning.recurred", {"recurrence": seen}, {"recurrence": seen + 1}
        events.record(
            tx,
            ctx,
            subject=known.id,
            what=what,
            old=old,
            new={**new, "title": entry.title},
            reason=f"{id_of(entry)} said the same",
        )


def was_restored(ctx: Context, slug: str) -> bool:
    """Whether a person brought this entry back: then no later run drops it a second time."""
    return any(event.what == RESTORED for event in ctx.read(events.of, f"staged/{slug}"))


def promote(ctx: Context, slug: str, *, context: str = "", implication: str = "", action: str = "") -> Captured:
    """Make a staged entry a learning with confidence; it leaves the staging file."""
    found = find_entry(ctx, slug)
    trust: Trust = "external" if found.external else "agent"
    check_may(ctx.actor.trust, "staged", "promote", trust)
    paragraphs = [part.strip() for part in found.said.split("\n\n") if part.strip()] or [found.title]
    captured = learn(
        ctx.trusted_as(trust) if found.external else ctx,
        NewLearning(
            title=found.title[:TITLE_LIMIT].rstrip(),
            context=context or f"Staged in {ctx.settings.staging.file}",
            observation=paragraphs[0],
            implication=implication or (" ".join(paragraphs[1:]) or found.title),
            action=action or found.title,
        ),
        anyway=True,  # it passed the gate of staged learnings
        origin=f"staged/{found.slug}",
    )
    where = captured.learning.id
    with after(f"{where} was saved", "Run this again, unless the entry has left the staging file"):
        _copy_resolutions(ctx, found.slug, where)
        remove_entry(ctx, found, "consolidated", where, "promoted")
        refresh_passages(ctx)
    return captured


def _copy_resolutions(ctx: Context, slug: str, learning: str) -> None:
    """What a person said of an entry and a learning holds for the learning made of the entry."""
    with ctx.db.write(ctx.space) as tx:
        for item in events.waiting_escalations(tx):
            if (item.kind, item.subject) != (LEARNING_CONTRADICTION, learning):
                continue
            before = events.find_escalation(tx, kind=CONTRADICTION, subject=f"staged/{slug}", other=item.other)
            if before and before.resolution:
                events.resolve_escalation(tx, item.number, resolution=before.resolution, at=ctx.clock.now())


# The report of a consolidation


@record
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
    counts = [
        ("consolidated", "consolidated"),
        ("superseded", "superseded"),
        ("redundant", "redundant"),
        ("contradiction", "contradictions"),
        ("vague", "too vague"),
        ("undecided", "place undecided"),
        ("refused", "refused"),
        ("file limit", "waiting for a split"),
    ]
    fates: list[str] = [one.fate for one in run.outcomes]
    summary = [f"- Trigger: {run.trigger}, {run.reason}"]
    summary += [f"- {name.capitalize()}: {fates.count(fate)}" for fate, name in counts]
    summary += [f"- Still staged: {len(run.held) + sum(not one.left for one in run.outcomes)}"]
    stays = [f"- {held.slug}: {held.reason}" for held in run.held]
    parts: list[tuple[str, Sequence[str]]] = [
        ("Summary", [*summary, *(["", "Held back:", "", *stays] if stays else [])]),
        ("Consolidated", _report_lines(run, "consolidated", "→")),
        ("Superseded", _report_lines(run, "superseded", "by")),
        ("Redundant", _report_lines(run, "redundant", "repeats")),
        ("Contradictions", _report_lines(run, "contradiction", "against")),
        ("File Limits", [*(f"- split {path}" for path in run.splits), *_report_lines(run, "file limit", "at")]),
        ("Escalations", [f"- {line}" for line in run.escalations]),
        ("Index Changes", [f"- {line}" for line in run.index_changes]),
    ]
    body = "\n\n".join(f"## {title}\n\n" + ("\n".join(lines) or "None.") for title, lines in parts)
    return f"# Consolidation report, {day.isoformat()}\n\n{body}\n"


def _report_lines(run: Consolidation, fate: Fate, link: str) -> list[str]:
    return [
        f"- {one.title} ({one.slug}) {link} {one.where}: {one.reason}" + (f", score {one.score:.2f}" * bool(one.score))
        for one in run.outcomes
        if one.fate == fate
    ]


NEW_DOCUMENT = "# Learnings\n"  # begins the document for entries that fit no other


@record
class Refactored:
    """The files that a split wrote; none when the document was short enough."""

    path: str
    written: tuple[str, ...]


@record
class IndexState:
    """What is, or was, wrong with the memory index, and whether it was written."""

    path: str
    problems: tuple[IndexProblem, ...]
    written: bool


def load_documents(ctx: Context) -> dict[str, str]:
    return {path: ctx.worktree.read(path) or "" for path in paths(ctx)}


def write_refusal(ctx: Context, path: str, document: str) -> str:
    """Why a document must not be written into now; empty when it may."""
    if "\ufffd" in document:
        return f"{path} is not valid UTF-8"
    # Our diff would be mixed with another author's.
    return f"{path} has uncommitted changes" if ctx.git.committed(path) != document else ""


def write_documents(ctx: Context, changed: Mapping[str, str], before: Mapping[str, str], *, last: str) -> None:
    """Write documents, the one that others were split from last: a crash leaves text twice, never nowhere."""
    for path in [*(each for each in changed if each != last), last]:
        if ctx.worktree.read(path) == changed[path]:
            continue  # a run that was cut off had come this far
        expect = content_hash(before[path]) if path in before else ""
        ctx.worktree.replace(path, changed[path], expect=expect)


def refactor(ctx: Context, path: str, *, force: bool = False) -> Refactored:
    """Split one document on demand, fix links to it, and write the index again. A short one is left alone."""
    documents = load_documents(ctx)
    if path not in documents:
        raise NotFound(f"{path} is not one of the permanent documents (setting consolidate.documents)")
    if not force and len(lines_of(documents[path])) <= text.MOST:
        return Refactored(path=path, written=())
    changed = split_document(ctx, path, documents, documents)
    with after("Parts that are written stay", "Run this again: no part is written twice"):
        write_documents(ctx, changed, documents, last=path)
        write_index(ctx)
    return Refactored(path=path, written=tuple(changed))


def split_document(ctx: Context, path: str, documents: Mapping[str, str], started: Mapping[str, str]) -> dict[str, str]:
    """The new text of every file that a split changes: the parts, the document, and documents that link to it.

    `started` are the documents before this run: what is uncommitted in those is another author's.
    """
    done = _parts(path, documents)
    if done is None:
        raise Refused(f"{path} has no H2 or H3 headings to split it at; add some, or split it by hand")
    changed = dict(done.files)
    for other, document in documents.items():
        if other not in changed and (linked := relinked(document, other, done.moved)) != document:
            changed[other] = linked
    reasons = [reason for name in changed if name in started and (reason := write_refusal(ctx, name, started[name]))]
    if reasons:
        raise Refused(f"{', '.join(reasons)}; fix that, then split {path}")
    return changed


def _parts(path: str, documents: Mapping[str, str]) -> Split | None:
    done = text.split(path, documents[path])
    foreign = done and any(documents.get(name, part) != part for name, part in done.files.items() if name != path)
    if not foreign:
        return done  # also when a run that was cut off wrote some of the parts
    return text.split(path, documents[path], taken=documents)


def check_index(ctx: Context) -> IndexState:
    at = ctx.settings.consolidate.index
    found = text.check_index(ctx.worktree.read(at) or "", load_documents(ctx), at)
    return IndexState(path=at, problems=tuple(found), written=False)


def index_change(ctx: Context, documents: Mapping[str, str]) -> tuple[str | None, str]:
    """The memory index as it is and as these documents make it; both empty where there is neither."""
    at = ctx.settings.consolidate.index
    before = ctx.worktree.read(at)
    return ("", "") if before is None and not documents else (before, make_index(documents, at))


def write_index(ctx: Context) -> IndexState:
    at, documents = ctx.settings.consolidate.index, load_documents(ctx)
    before, after = index_change(ctx, documents)
    if before == after:
        return IndexState(path=at, problems=(), written=False)
    problems = text.check_index(before or "", documents, at)
    ctx.worktree.replace(at, after, expect="" if before is None else content_hash(before))
    return IndexState(path=at, problems=tuple(problems), written=True)
