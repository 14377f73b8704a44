"""Rows of hosts' sessions: what happened in each, what it was given, how far its transcript was read.

A session is begun by the first thing that is heard of it. Its `context_at` moves when the host empties or compacts the
context: what was given before is no longer in front of the agent.
"""

from __future__ import annotations

import json

from recollect.core.records import record
from recollect.store.db import add_row_once, record_from

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from recollect.core.context import Tx


@record
class ReportedEvent:
    """One event a host reported; `given` names what was put in front of the agent."""

    session: str
    event: str
    at: int
    given: tuple[str, ...]


@record
class HostSession:
    id: str
    host: str
    began_at: int
    context_at: int
    transcript: str
    place: int


_SESSION = "id, host, began_at, context_at, transcript, place"


def begin(tx: Tx, session: str, *, host: str, at: int, transcript: str = "", place: int = 0) -> None:
    """Known from now on. What stands in its transcript before `place` is of another session that it continues."""
    values = {"host": host, "began_at": at, "context_at": at, "transcript": transcript, "place": place}
    add_row_once(tx, "host_sessions", "id", id=session, **values)


def happened(
    tx: Tx, *, id: str, session: str, event: str, at: int, given: Sequence[str] = (), fresh: bool = False
) -> None:
    """Keep an event; the same id again changes nothing. `fresh`: the agent's context begins anew with it."""
    if fresh:
        tx.run(
            "UPDATE host_sessions SET context_at = :at WHERE space = :space AND id = :id AND context_at < :at",
            id=session,
            at=at,
        )
    add_row_once(tx, "host_events", "id", id=id, session=session, event=event, at=at, given=json.dumps(list(given)))


def in_context(tx: Tx, session: str) -> set[str]:
    """What a session was given since its context began."""
    rows = tx.rows(
        "SELECT e.given FROM host_events e JOIN host_sessions s ON s.space = e.space AND s.id = e.session "
        "WHERE e.space = :space AND e.session = :session AND e.at >= s.context_at",
        session=session,
    )
    return {id for (given,) in rows for id in json.loads(given)}


def session(tx: Tx, id: str) -> HostSession | None:
    row = tx.row(f"SELECT {_SESSION} FROM host_sessions WHERE space = :space AND id = :id", id=id)
    return record_from(HostSession, _SESSION, row) if row else None


def latest_session(tx: Tx, host: str) -> HostSession | None:
    """The session of a host that was heard of last."""
    row = tx.row(
        "SELECT s.id FROM host_events e JOIN host_sessions s ON s.space = e.space AND s.id = e.session "
        "WHERE e.space = :space AND s.host = :host ORDER BY e.at DESC, e.id DESC LIMIT 1",
        host=host,
    )
    return session(tx, row[0]) if row else None


def events_of(tx: Tx, session: str) -> list[ReportedEvent]:
    """Everything heard of a session, in order."""
    rows = tx.rows(
        "SELECT session, event, at, given FROM host_events WHERE space = :space AND session = :session ORDER BY at, id",
        session=session,
    )
    return [
        ReportedEvent(session=id, event=event, at=at, given=tuple(json.loads(given))) for id, event, at, given in rows
    ]


def last_heard(tx: Tx, host: str) -> dict[str, int]:
    """When each event of a host was last heard."""
    rows = tx.rows(
        "SELECT e.event, max(e.at) FROM host_events e JOIN host_sessions s ON s.space = e.space AND s.id = e.session "
        "WHERE e.space = :space AND s.host = :host GROUP BY e.event ORDER BY e.event",
        host=host,
    )
    return dict(rows)


def read_up_to(tx: Tx, id: str, *, transcript: str, place: int) -> None:
    """Remember how far a session's transcript was read. A place only moves forward within one file."""
    tx.run(
        """
        UPDATE host_sessions SET place = :place, transcript = :transcript
        WHERE space = :space AND id = :id AND (transcript <> :transcript OR place < :place)""",
        id=id,
        transcript=transcript,
        place=place,
    )


def with_transcript(tx: Tx, *, since: int) -> list[HostSession]:
    """Sessions heard of since then whose transcript is known, oldest first."""
    rows = tx.rows(
        f"SELECT {_SESSION} FROM host_sessions WHERE space = :space AND transcript <> '' AND began_at >= :since "
        "ORDER BY began_at, id",
        since=since,
    )
    return [record_from(HostSession, _SESSION, row) for row in rows]


def forget_events(tx: Tx, *, before: int) -> int:
    """Drop what is only of use while a session lasts."""
    return tx.run("DELETE FROM host_events WHERE space = :space AND at < :before", before=before)


def forget_sessions(tx: Tx, wanted: Callable[[str], bool]) -> int:
    """Sessions whose id must not be known any more."""
    found = [id for (id,) in tx.rows("SELECT id FROM host_sessions WHERE space = :space") if wanted(id)]
    for id in found:
        tx.run("DELETE FROM host_events WHERE space = :space AND session = :id", id=id)
        tx.run("DELETE FROM host_sessions WHERE space = :space AND id = :id", id=id)
    return len(found)
