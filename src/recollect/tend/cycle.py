"""The cycle: one bounded maintenance pass over everything that is due, one process at a time."""

from __future__ import annotations

from collections.abc import Callable

from recollect.capture import documents
from recollect.capture.learn import known_insight
from recollect.capture.observe import use_answers
from recollect.capture.stage import refresh_passages
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, NoAnswer, NotFound, Refused, Trouble
from recollect.core.records import record
from recollect.core.trust import check_may
from recollect.distil import consolidate, decisions, node_models, themes
from recollect.distil.inbox import ABOUT_PERSON, IN_PROJECTS
from recollect.distil.tree import compact
from recollect.feedback.confidence import decay
from recollect.models.budget import limited
from recollect.search.meaning import refresh
from recollect.store import db, events, journal, sessions
from recollect.store import learnings as rows
from recollect.store.project import Project
from recollect.tend import backup
from recollect.text.sentences import counted

LEASE_SECONDS = 600  # a killed cycle blocks the next for at most this long; a cycle takes seconds
NOTHING = "nothing due"
SAME_INSIGHT = 3  # projects in which an insight came up, this one included, before it is proposed for the own ring
ASKED_ABOUT = 20  # new learnings that one cycle asks other projects about; asking one takes milliseconds for each
MOST_PROPOSED = 5  # proposals of a kind that may wait at once: an inbox of fifty is not read
_PROPOSED_UNTIL = "rings"  # the state that remembers when proposals were last made


@record
class CycleReport:
    """`held` means that another process runs a cycle, so nothing was done."""

    held: bool = False
    steps: tuple[tuple[str, str], ...] = ()


def cycle(ctx: Context, project: Project) -> CycleReport:
    check_may(ctx.actor.trust, "memory", "maintain")
    ctx = limited(ctx)
    backup.sweep(project)
    lease = db.take_lease(ctx, "cycle", seconds=LEASE_SECONDS)
    if lease is None:
        return CycleReport(held=True)
    try:
        done = [(name, _attempted(ctx, step)) for name, step in STEPS]
        return CycleReport(steps=tuple((name, said) for name, said in done if said))
    finally:
        db.release_lease(ctx, lease)


def _attempted(ctx: Context, step: Callable[[Context], str]) -> str:
    """What a step did. A failing endpoint or an unusable file stops this step, not the cycle."""
    try:
        return step(ctx)
    except (NoAnswer, BadInput, NotFound, Refused) as failure:
        return f"not done: {failure}"


def _answers(ctx: Context) -> str:
    """Reported only where an agent answers questions."""
    used = use_answers(ctx)
    return f"{used} of an agent's answers taken in" if used else ""


def _tree(ctx: Context) -> str:
    done = compact(ctx)
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


def _themes(ctx: Context) -> str:
    done = themes.run(ctx)
    if not done.ran:
        return f"{NOTHING} ({done.reason})"
    return f"gathered {counted(done.files, 'raw file')} into {counted(len(done.themes), 'theme')}"


def _topics(ctx: Context) -> str:
    """Reported only where a model is asked for names."""
    named, waiting = node_models.reword(ctx)
    waits = f", {waiting} waiting for a model" if waiting else ""
    return f"{counted(named, 'topic')} named{waits}" if named or waiting else ""


def _decay(ctx: Context) -> str:
    count = decay(ctx)
    return f"{counted(count, 'learning')} lost confidence" if count else NOTHING


def _decisions(ctx: Context) -> str:
    done = decisions.compact(ctx)
    if not done.prepared and not done.waiting:
        return NOTHING
    waits = f", {done.waiting} waiting for a model" if done.waiting else ""
    return f"{counted(done.prepared, 'wording')} prepared{waits}"


def _consolidation(ctx: Context) -> str:
    """Only report a due consolidation: a person or an agent starts it, not a timer."""
    refresh_passages(ctx)
    try:
        found = consolidate.due(ctx)
    except (Refused, NotFound) as unknown:
        return f"{NOTHING}: {unknown}"
    if found.trigger == "none":
        return f"{NOTHING}: {found.reason}"
    return f"due ({found.reason}): ripe: {counted(len(found.batch), 'entry')}; run: recollect staged consolidate"


def _rings(ctx: Context) -> str:
    """Reported only where something waits for the person."""
    made = propose_for_own_ring(ctx)
    return f"{counted(made, 'proposal')} for your own ring (recollect inbox)" if made else ""


def propose_for_own_ring(ctx: Context) -> int:
    """Propose new entries about the person, and insights that came up in three projects, for the person's own ring.
    Another project tells only whether it knows an insight."""
    if not ctx.rings.has_me:
        return 0
    now, made = ctx.clock.now(), 0
    since = min(int(ctx.read(journal.state, _PROPOSED_UNTIL) or 0), now)  # it is later where the clock was ahead
    entries = ctx.read(sessions.entries_of_types, ("user",), limit=MOST_PROPOSED, since=since)
    new, _ = ctx.read(rows.listed, limit=ASKED_ABOUT)
    new = [one for one in new if one.created_at > since and one.trust != "external"]
    others = ctx.rings.count_elsewhere(lambda tx: [known_insight(tx, one, "agent") is not None for one in new])
    with ctx.db.write(ctx.space) as tx:
        for entry in entries[: MOST_PROPOSED - _waiting(tx, ABOUT_PERSON)]:
            detail = {"title": entry.title, "text": entry.text[:300]}
            reason = "it is about you rather than this project"
            made += events.raise_escalation(
                tx, kind=ABOUT_PERSON, subject=entry.id, reason=reason, detail=detail, at=now
            )
        wanted = [(one, count + 1) for one, count in zip(new, others, strict=False) if count + 1 >= SAME_INSIGHT]
        for one, count in wanted[: MOST_PROPOSED - _waiting(tx, IN_PROJECTS)]:
            reason = f"the same insight came up in {count} of your projects"
            made += events.raise_escalation(
                tx, kind=IN_PROJECTS, subject=one.id, reason=reason, detail={"title": one.title}, at=now
            )
        journal.put_state(tx, _PROPOSED_UNTIL, str(now))
    return made


def _waiting(tx: Tx, kind: str) -> int:
    return min(sum(item.kind == kind for item in events.waiting_escalations(tx)), MOST_PROPOSED)


def _documents(ctx: Context) -> str:
    changed = documents.refresh(ctx)
    return f"{changed} read in" if changed else NOTHING


def _vectors(ctx: Context) -> str:
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


def _words(ctx: Context) -> str:
    """Never reported, because a user cannot act on it."""
    ctx.db.tend_words()
    return ""


STEPS: tuple[tuple[str, Callable[[Context], str]], ...] = (
    ("answers", _answers),
    ("tree", _tree),
    ("topics", _topics),
    ("themes", _themes),
    ("decay", _decay),
    ("decisions", _decisions),
    ("rings", _rings),
    ("consolidation", _consolidation),
    ("documents", _documents),
    ("words", _words),
    ("vectors", _vectors),
    ("backup", backup.daily),
)
"""In the order of docs/maintenance.md; the spool is replayed when a memory is opened."""


LIMIT_SECONDS = 60.0  # for the re-index command of the settings, which a cycle waits for


def reindex(command: str, folder: str) -> str:
    """Run the configured command in the project's folder; returns a warning, or nothing."""
    if not command:
        return ""
    import shlex
    import subprocess

    try:
        words = shlex.split(command)
        done = subprocess.run(words, cwd=folder, capture_output=True, timeout=LIMIT_SECONDS, check=False)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return f"the re-index command failed ({error}); the tree is up to date all the same"
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip()[:200]
        return f"the re-index command ended with {done.returncode} ({said}); the tree is up to date all the same"
    return ""
