"""Writes that waited in the spool, done when the store can be written again.

A record is replayed on behalf of whoever spooled it, at the time they did, under the record's own change id: what was
already done before a crash is recognised and not done twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from recollect.core.actor import Actor
from recollect.core.clock import ScriptedClock
from recollect.core.context import Context
from recollect.core.errors import BadInput, RecollectError, Trouble
from recollect.store import events, spool
from recollect.store.project import Project


def spool_write(ctx: Context, project: Project, verb: str, arguments: dict[str, Any]) -> None:
    """Keep a write for later."""
    spool.add(
        project.spools,
        {
            "id": ctx.ids("spooled"),
            "verb": verb,
            "at": ctx.clock.now(),
            "actor": vars(ctx.actor),
            "arguments": arguments,
        },
    )


def replay(ctx: Context, project: Project) -> int:
    """Do what waits, oldest first; stop quietly while the store still cannot be written."""
    done = 0
    for path, record in spool.records(spool.pending(project.spools)):
        try:
            if record is None:
                spool.set_aside(path)
                continue
            _replay_one(ctx, _checked(record))
        except Trouble:
            return done
        except (RecollectError, KeyError, TypeError):
            spool.set_aside(path)
            continue
        spool.done(path)
        done += 1
    return done


def _checked(record: dict[str, Any]) -> dict[str, Any]:
    """A record with the types it was written with. One that is not would fail at every opening, for ever."""
    texts = [record["id"], *record["actor"].values()] if isinstance(record["actor"], dict) else [None]
    for value in record["arguments"].values():
        texts += value if isinstance(value, list) else [value]
    if not isinstance(record["at"], int) or not all(isinstance(text, str) for text in texts):
        raise BadInput("not a record of the spool")
    return record


def _replay_one(ctx: Context, record: dict[str, Any]) -> None:
    change = record["id"]
    with ctx.db.read(ctx.space) as tx:
        if events.happened(tx, change):
            return
    then = replace(ctx, clock=ScriptedClock(record["at"]), actor=Actor(**record["actor"]))
    _verbs()[record["verb"]](then, change, record["arguments"])


def _verbs() -> dict[str, Callable[[Context, str, dict[str, Any]], object]]:
    from recollect.feedback.signals import take
    from recollect.inject.relevant import remember

    return {
        "inject": lambda ctx, change, given: remember(
            ctx, **{**given, "learnings": tuple(given["learnings"])}, change=change
        ),
        "feedback": lambda ctx, change, given: take(ctx, **given, change=change),
    }
