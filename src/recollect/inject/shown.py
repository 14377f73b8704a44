"""What the last session was given, prompt by prompt, and why: each prompt's candidates as they are judged now.

Knows nothing about how it is printed.
"""

from __future__ import annotations

from recollect.core.context import Context
from recollect.core.errors import NotFound
from recollect.core.records import record
from recollect.inject.reasons import Considered, candidates
from recollect.store import sessions

NEAR = 8  # candidates of one prompt that are told; chosen, a screen


@record
class GivenAt:
    """One event of a session: what it was given, and for a prompt what else was near, with what held it back."""

    event: str
    at: int
    prompt: str
    given: tuple[str, ...]
    considered: tuple[Considered, ...]


@record
class LastSession:
    id: str
    host: str
    began_at: int
    events: tuple[GivenAt, ...]


def last(ctx: Context, host: str = "") -> LastSession:
    """The session that was heard of last, with everything it was given."""
    with ctx.db.read(ctx.space) as tx:
        found = sessions.latest_session(tx, host)
        if found is None:
            raise NotFound("no session of an agent program was heard of yet; set one up: recollect init --host HOST")
        events = sessions.events_of(tx, found.id)
    told = []
    for each in events:
        prompt = each.why.get("prompt", "")
        near = candidates(ctx, prompt, shown=each.given) if prompt else []
        if each.given or prompt:
            told.append(
                GivenAt(event=each.event, at=each.at, prompt=prompt, given=each.given, considered=tuple(near[:NEAR]))
            )
    return LastSession(id=found.id, host=found.host, began_at=found.began_at, events=tuple(told))
