"""The cycle: one bounded maintenance pass over everything that is due, one process at a time.

Each step can also only say what it would do: a plan changes nothing. The last step tells an external index that the
tree changed; its failure is a warning, because the tree itself is up to date.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from recollect.capture import documents
from recollect.capture.finding import survey
from recollect.capture.observe import use_answers
from recollect.capture.stage import refresh_passages
from recollect.core.context import Context
from recollect.core.errors import BadInput, NoAnswer, NotFound, Refused, Trouble
from recollect.distil import consolidate, decisions, themes
from recollect.distil.tree import compact
from recollect.feedback.confidence import decay
from recollect.search.meaning import refresh
from recollect.store import db, vectors
from recollect.tend import backup
from recollect.text.sentences import counted

LEASE_SECONDS = 600
NOTHING = "nothing due"


@dataclass(frozen=True, kw_only=True)
class CycleReport:
    """What each step did; `held` means another process is at it and nothing was done."""

    held: bool = False
    steps: tuple[tuple[str, str], ...] = ()


def cycle(ctx: Context) -> CycleReport:
    """Do what is due, in order. Doing it again at once does nothing."""
    lease = db.take_lease(ctx, "cycle", seconds=LEASE_SECONDS)
    if lease is None:
        return CycleReport(held=True)
    try:
        return _steps(ctx, dry_run=False)
    finally:
        db.release_lease(ctx, lease)


def plan(ctx: Context) -> CycleReport:
    """What a cycle would do now, without doing any of it."""
    return _steps(ctx, dry_run=True)


def _steps(ctx: Context, *, dry_run: bool) -> CycleReport:
    done = [(name, _attempted(ctx, step, dry_run)) for name, step in STEPS]
    return CycleReport(steps=tuple((name, said) for name, said in done if said))


def _attempted(ctx: Context, step: Callable[[Context, bool], str], dry_run: bool) -> str:
    """What a step did. An endpoint that fails, or a file that stands in its way, stops this step and not the cycle."""
    try:
        return step(ctx, dry_run)
    except (NoAnswer, BadInput, NotFound, Refused) as failure:
        return f"not done: {failure}"


def _answers(ctx: Context, dry_run: bool) -> str:
    """Only spoken of where an agent answers questions."""
    used = 0 if dry_run else use_answers(ctx)
    return f"{used} of an agent's answers taken in" if used else ""


def _tree(ctx: Context, dry_run: bool) -> str:
    done = compact(ctx, dry_run=dry_run)
    if dry_run:
        return f"would make {counted(len(done.changes), 'node')}" if done.changes else NOTHING
    if done.held:
        return "another process is at it"
    parts = [f"{counted(len(done.changes), 'node')} made" if done.changes else NOTHING]
    if done.waiting:
        parts.append(f"waiting for a model: {counted(done.waiting, 'node')}")
    if done.unreadable:
        parts.append(f"cannot be read: {', '.join(done.unreadable)}")
    if done.clock_behind:
        parts.append("the clock is more than 48 hours behind the last cycle, so nothing was called final")
    return "; ".join(parts)


def _themes(ctx: Context, dry_run: bool) -> str:
    if dry_run:
        test = themes.due(ctx, survey(ctx))
        would = f"would gather {counted(test.files, 'raw file')}" if test.due else NOTHING
        return f"{would} ({test.reason})"
    done = themes.run(ctx)
    if not done.ran:
        return f"{NOTHING} ({done.reason})"
    return f"gathered {counted(done.files, 'raw file')} into {counted(len(done.themes), 'theme')}"


def _decay(ctx: Context, dry_run: bool) -> str:
    changed = counted(count, "learning") if (count := decay(ctx, dry_run=dry_run)) else ""
    if not changed:
        return NOTHING
    return f"would take confidence from {changed}" if dry_run else f"{changed} lost confidence"


def _decisions(ctx: Context, dry_run: bool) -> str:
    done = decisions.compact(ctx, dry_run=dry_run)
    if not done.prepared and not done.waiting:
        return NOTHING
    wordings = counted(done.prepared, "wording")
    waits = f", {done.waiting} waiting for a model" if done.waiting else ""
    return f"would prepare {wordings}" if dry_run else f"{wordings} prepared{waits}"


def _consolidation(ctx: Context, dry_run: bool) -> str:
    """Only the test: writing into documents is asked for by a hand-off, not by a timer."""
    if not dry_run:
        refresh_passages(ctx)
    try:
        found = consolidate.due(ctx)
    except (Refused, NotFound) as unknown:
        return f"{NOTHING}: {unknown}"
    if found.trigger == "none":
        return f"{NOTHING}: {found.reason}"
    if dry_run:
        return f"would say that a consolidation is due ({found.reason})"
    return f"due ({found.reason}): ripe: {counted(len(found.batch), 'entry')}; run: recollect staged consolidate"


def _documents(ctx: Context, dry_run: bool) -> str:
    if dry_run:
        changed = documents.behind(ctx)
        return f"would read in {counted(changed, 'document')}" if changed else NOTHING
    changed = documents.refresh(ctx)
    return f"{changed} read in" if changed else NOTHING


def _vectors(ctx: Context, dry_run: bool) -> str:
    if dry_run:
        embedder = ctx.models.embedder()
        with ctx.db.read(ctx.space) as tx:
            waiting = vectors.counts(tx, embedder.name)[1] if embedder and tx.keeps_vectors else 0
        due = min(waiting, ctx.settings.embed.per_cycle)
        return f"would make them for {counted(due, 'passage')}" if due else NOTHING
    try:
        done = refresh(ctx, most=ctx.settings.embed.per_cycle)
    except Trouble as error:  # words alone find everything; the cycle goes on
        return f"not made: {error}"
    if done.why_not:
        return done.why_not
    parts = [f"made for {counted(done.made, 'passage')}" if done.made else NOTHING]
    if done.waiting:
        parts.append(f"{done.waiting} wait (recollect model embed makes them now)")
    return "; ".join(part for part in (*parts, done.note) if part)


def _words(ctx: Context, dry_run: bool) -> str:
    """Not spoken of: nobody could do anything about it."""
    if not dry_run:
        ctx.db.tend_words()
    return ""


def _backup(ctx: Context, dry_run: bool) -> str:
    return backup.daily(ctx, dry_run=dry_run)


STEPS: tuple[tuple[str, Callable[[Context, bool], str]], ...] = (
    ("answers", _answers),
    ("tree", _tree),
    ("themes", _themes),
    ("decay", _decay),
    ("decisions", _decisions),
    ("consolidation", _consolidation),
    ("documents", _documents),
    ("words", _words),
    ("vectors", _vectors),
    ("backup", _backup),
)
"""In the order of docs/maintenance.md; the spool is replayed when a memory is opened."""


LIMIT_SECONDS = 60.0


def reindex(command: str, folder: str) -> str:
    """Run the configured command in the project's folder; gives a warning, or nothing."""
    if not command:
        return ""
    try:
        words = shlex.split(command)
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"the re-index command failed ({error}); the tree is up to date all the same"
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[:200]
        return f"the re-index command ended with {done.returncode} ({said}); the tree is up to date all the same"
    return ""
