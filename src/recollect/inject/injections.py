"""What was put in front of a task or a session is remembered, so that nothing is shown twice and a verdict finds it.

Apart from the choosing: a session's start remembers too, and searches for nothing.
"""

from __future__ import annotations

from recollect.core.values import check_id
from recollect.store import events, tasks
from recollect.text.storable import storable_id

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.context import Context, Tx


def remember_task(ctx: Context, *, task: str, outcome: str, title: str, learnings: Sequence[str], change: str) -> None:
    """Remember what a task was shown; shown again, it is the same injection. What was purged since is left out."""
    task, outcome = storable_id(task, "task"), storable_id(outcome, "outcome")
    now = ctx.clock.now()
    with ctx.db.write(ctx.space) as tx:
        tasks.ensure_task(tx, task, outcome=outcome, at=now, title=title)
        _record(tx, ctx, task=task, outcome=outcome, learnings=learnings, change=change)


def remember_session(
    ctx: Context,
    *,
    session: str,
    host: str,
    event: str,
    task: str,
    title: str = "",
    learnings: Sequence[str] = (),
    given: Sequence[str] = (),
    fresh: str = "",
    transcript: str = "",
    place: str = "0",
    change: str,
) -> None:
    """Remember what a session, or a subagent of it, was shown at an event."""
    from recollect.store import sessions  # a task has no session

    now = ctx.clock.now()
    with ctx.db.write(ctx.space) as tx:
        if learnings:
            tasks.ensure_task(tx, check_id(task, "task"), outcome=check_id(session, "session"), at=now, title=title)
            _record(tx, ctx, task=task, outcome=session, learnings=learnings, change=change)
        sessions.begin(tx, session, host=host, at=now, transcript=transcript, place=int(place))
        # A subagent has a context of its own: what it was shown is news to its session.
        seen = (*learnings, *given) if task == session else ()
        sessions.happened(tx, id=change, session=session, event=event, at=now, given=seen, fresh=bool(fresh))


def _record(tx: Tx, ctx: Context, *, task: str, outcome: str, learnings: Sequence[str], change: str) -> None:
    """The injections of a task that is known, in the caller's transaction."""
    from recollect.store import learnings as rows  # a session's start shows none

    now = ctx.clock.now()
    known = rows.passing(tx, learnings, rows.Filter(status=None))
    for id in learnings:
        if id in known and tasks.record_injection(tx, learning=id, task=task, outcome=outcome, at=now):
            events.record(tx, ctx, change=change, subject=id, what="learning.injected", reason=f"task {task}")
