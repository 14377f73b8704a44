"""Writes that may have to wait: done at once, or kept in the spool and done when the store can be written again.

A write has its id before anything is tried, and that id is the change id of what it does. So it is recognised and not
done twice, whether it was cut off by a time limit, killed, or replayed. A replayed one is done on behalf of whoever
asked for it, at the time they did.
"""

from __future__ import annotations

from recollect.core.actor import Actor
from recollect.core.clock import ScriptedClock
from recollect.core.errors import BadInput, RecollectError, Trouble
from recollect.core.record import record
from recollect.store import events, spool
from recollect.text.kept import kept

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from recollect.core.context import Context
    from recollect.store.project import Project

WORDS = ("answer", "output", "request", "text", "title", "topic")
"""Arguments that are somebody's words: known secrets leave them before they reach the spool."""


@record
class Write:
    """Something to be written: which verb, with which arguments (texts, or lists of texts), under which id."""

    id: str
    verb: str
    arguments: dict[str, Any]


def deliver(ctx: Context, project: Project, write: Write) -> bool:
    """Do a write, or keep it; True when it is done. What came before it and still waits goes first."""
    if not spool.pending(project.spools):
        try:
            _do(ctx, write)
            return True
        except Trouble:
            pass
    keep(project, write, actor=ctx.actor, at=ctx.clock.now())
    return False


def keep(project: Project, write: Write, *, actor: Actor, at: int) -> None:
    """Put a write into the spool."""
    arguments = {
        name: kept(value) if name in WORDS and isinstance(value, str) else value
        for name, value in write.arguments.items()
    }
    spool.add(
        project.spools,
        {"id": write.id, "verb": write.verb, "at": at, "actor": vars(actor), "arguments": arguments},
    )


def replay(ctx: Context, project: Project) -> int:
    """Do what waits, oldest first; stop quietly while the store still cannot be written."""
    done = 0
    for path, found in spool.records(spool.pending(project.spools)):
        try:
            if found is None:
                spool.set_aside(path)
                continue
            _replay_one(ctx, _checked(found))
        except Trouble:
            return done
        except (RecollectError, KeyError, TypeError, ValueError):
            spool.set_aside(path)
            continue
        spool.done(path)
        done += 1
    return done


def _checked(found: dict[str, Any]) -> dict[str, Any]:
    """A record with the types it was written with. One that is not would fail at every opening, for ever."""
    texts = [found["id"], *found["actor"].values()] if isinstance(found["actor"], dict) else [None]
    for value in found["arguments"].values():
        texts += value if isinstance(value, list) else [value]
    if not isinstance(found["at"], int) or not all(isinstance(text, str) for text in texts):
        raise BadInput("not a record of the spool")
    return found


def _replay_one(ctx: Context, found: dict[str, Any]) -> None:
    from dataclasses import replace

    then = replace(ctx, clock=ScriptedClock(found["at"]), actor=Actor(**found["actor"]))
    _do(then, Write(id=found["id"], verb=found["verb"], arguments=found["arguments"]))


def _do(ctx: Context, write: Write) -> None:
    with ctx.db.read(ctx.space) as tx:
        if events.happened(tx, write.id):
            return
    _VERBS[write.verb](ctx, write.id, write.arguments)


def _inject(ctx: Context, change: str, given: dict[str, Any]) -> None:
    from recollect.inject.shown import remember_task

    remember_task(ctx, **given, change=change)


def _shown(ctx: Context, change: str, given: dict[str, Any]) -> None:
    from recollect.inject.shown import remember_session

    remember_session(ctx, **given, change=change)


def _feedback(ctx: Context, change: str, given: dict[str, Any]) -> None:
    from recollect.feedback.signals import take

    take(ctx, **given, change=change)


def _observe(ctx: Context, change: str, given: dict[str, Any]) -> None:
    from recollect.capture.observe import observe

    observe(ctx, **given)


def _turn(ctx: Context, change: str, given: dict[str, Any]) -> None:
    from recollect.capture.session import turn

    turn(ctx, **{**given, "end": int(given.get("end", 0))})


def _entry(ctx: Context, change: str, given: dict[str, Any]) -> None:
    from recollect.capture.session import entry

    entry(ctx, **given, change=change)


_VERBS: dict[str, Callable[[Context, str, dict[str, Any]], None]] = {
    "inject": _inject,
    "shown": _shown,
    "feedback": _feedback,
    "observe": _observe,
    "turn": _turn,
    "entry": _entry,
}
