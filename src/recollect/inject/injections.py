"""Remembering what a task or a session was shown, so that nothing is shown twice and a verdict finds its injection.

Separate from choosing, because the start of a session remembers too and searches for nothing.
"""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.context import Context, Tx
from recollect.core.learning import SessionEvent, TaskInjection
from recollect.core.trust import check_may
from recollect.store import events, tasks
from recollect.text.storable import storable_record


def remember_task(ctx: Context, given: TaskInjection, *, change: str) -> None:
    """Remember what a task was shown; shown again, it is the same injection. Purged learnings are left out."""
    check_may(ctx.actor.trust, "learning", "inject")
    given, _ = storable_record(given)
    with ctx.db.write(ctx.space) as tx:
        tasks.ensure_task(tx, given.task, outcome=given.outcome, at=ctx.clock.now(), title=given.title)
        _record(tx, ctx, task=given.task, outcome=given.outcome, learnings=given.learnings, change=change)


def remember_session(ctx: Context, given: SessionEvent, *, change: str) -> None:
    """Remember what a session, or a subagent of it, was shown at an event."""
    from recollect.store import sessions  # a task has no session

    given, _ = storable_record(given)
    task, session, now = given.task, given.session, ctx.clock.now()
    with ctx.db.write(ctx.space) as tx:
        if given.learnings:
            tasks.ensure_task(tx, task, outcome=session, at=now)
            _record(tx, ctx, task=task, outcome=session, learnings=given.learnings, change=change)
        sessions.begin(
            tx, session, host=given.host, at=now, transcript=given.transcript, place=given.place, pid=given.pid
        )
        # A subagent has its own context: what it was shown is new to its session.
        seen = (*given.learnings, *given.given) if task == session else ()
        sessions.happened(
            tx,
            id=change,
            session=session,
            event=given.event,
            at=now,
            given=seen,
            fresh=given.fresh,
            prompt=given.prompt,
        )
        if "brief" in given.given:
            sessions.told_broken_off(tx, now=now, but=session)


def _record(tx: Tx, ctx: Context, *, task: str, outcome: str, learnings: Sequence[str], change: str) -> None:
    from recollect.store import learnings as rows  # a session's start shows none

    now = ctx.clock.now()
    known = rows.passing(tx, learnings, rows.Filter(status=None))
    for id in learnings:
        if id in known and tasks.record_injection(tx, learning=id, task=task, outcome=outcome, at=now):
            events.record(tx, ctx, change=change, subject=id, what="learning.injected", reason=f"task {task}")
