"""The cycle: one bounded maintenance pass over everything that is due, one process at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from recollect.capture.observe import use_answers
from recollect.core.context import Context
from recollect.core.errors import BadInput, NoAnswer, NotFound, Refused, Trouble
from recollect.distil import decisions, themes
from recollect.distil.tree import compact
from recollect.feedback.confidence import decay
from recollect.search.refresh import refresh
from recollect.store import leases
from recollect.tend.backups import daily
from recollect.text.counting import counted

LEASE_SECONDS = 600


@dataclass(frozen=True, kw_only=True)
class CycleReport:
    """What each step did; `held` means another process is at it and nothing was done."""

    held: bool = False
    steps: tuple[tuple[str, str], ...] = ()


def cycle(ctx: Context) -> CycleReport:
    """Do what is due, in order. Doing it again at once does nothing."""
    lease = leases.take(ctx, "cycle", seconds=LEASE_SECONDS)
    if lease is None:
        return CycleReport(held=True)
    try:
        done = [(name, attempted(ctx, step)) for name, step in STEPS]
        return CycleReport(steps=tuple((name, did) for name, did in done if did))
    finally:
        leases.release(ctx, lease)


def attempted(ctx: Context, step: Callable[[Context], str]) -> str:
    """What a step did. An endpoint that fails, or a file that stands in its way, stops this step and not the cycle."""
    try:
        return step(ctx)
    except (NoAnswer, BadInput, NotFound, Refused) as failure:
        return f"not done: {failure}"


def _answers(ctx: Context) -> str:
    """Only spoken of where an agent answers questions."""
    used = use_answers(ctx)
    return f"{used} of an agent's answers taken in" if used else ""


def _tree(ctx: Context) -> str:
    done = compact(ctx)
    if done.held:
        return "another process is at it"
    parts = [f"{counted(len(done.changes), 'node')} made" if done.changes else "nothing due"]
    if done.waiting:
        parts.append(f"waiting for a model: {counted(done.waiting, 'node')}")
    if done.unreadable:
        parts.append(f"cannot be read: {', '.join(done.unreadable)}")
    if done.clock_behind:
        parts.append("the clock is more than 48 hours behind the last cycle, so nothing was called final")
    return "; ".join(parts)


def _decay(ctx: Context) -> str:
    changed = decay(ctx)
    if not changed:
        return "nothing due"
    return f"{counted(changed, 'learning')} lost confidence"


def _themes(ctx: Context) -> str:
    done = themes.run(ctx)
    return (
        f"gathered {counted(done.files, 'raw file')} into {counted(len(done.themes), 'theme')}"
        if done.ran
        else f"nothing due ({done.reason})"
    )


def _decisions(ctx: Context) -> str:
    done = decisions.compact(ctx)
    waits = f", {done.waiting} waiting for a model" if done.waiting else ""
    return f"{counted(done.prepared, 'wording')} prepared{waits}" if done.prepared or done.waiting else "nothing due"


def _consolidation(ctx: Context) -> str:
    """Only the test: writing into documents is asked for by a hand-off, not by a timer."""
    from recollect.capture.stage import refresh_passages
    from recollect.distil.consolidate import due

    refresh_passages(ctx)
    try:
        plan = due(ctx)
    except (Refused, NotFound) as unknown:
        return f"nothing due: {unknown}"
    if plan.trigger == "none":
        return f"nothing due: {plan.reason}"
    return f"due ({plan.reason}): ripe: {counted(len(plan.batch), 'entry')}; run: recollect consolidate"


def _vectors(ctx: Context) -> str:
    try:
        done = refresh(ctx, most=ctx.settings.embed.per_cycle)
    except Trouble as error:  # words alone find everything; the cycle goes on
        return f"not made: {error}"
    if done.why_not:
        return done.why_not
    parts = [f"made for {done.made} passage{'' if done.made == 1 else 's'}" if done.made else "nothing due"]
    if done.waiting:
        parts.append(f"{done.waiting} wait (recollect embed makes them now)")
    return "; ".join(part for part in (*parts, done.note) if part)


def _words(ctx: Context) -> str:
    """Not spoken of: nobody could do anything about it."""
    ctx.db.tend_words()
    return ""


def _documents(ctx: Context) -> str:
    from recollect.capture.documents import refresh as read_in

    changed = read_in(ctx)
    return f"{changed} read in" if changed else "nothing due"


STEPS: tuple[tuple[str, Callable[[Context], str]], ...] = (
    ("answers", _answers),
    ("tree", _tree),
    ("themes", _themes),
    ("decay", _decay),
    ("decisions", _decisions),
    ("consolidation", _consolidation),
    ("documents", _documents),
    ("words", _words),
    ("vectors", _vectors),
    ("backup", daily),
)
"""In the order of docs/cycle.md; the spool is replayed when a memory is opened."""
