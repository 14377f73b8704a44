"""The one table that remembers changes: it serves `why`, undo, confidence history and audit."""

from __future__ import annotations

from recollect.core.errors import StoreDamaged
from recollect.core.json_text import loads
from recollect.store.paging import among, every
from recollect.store.rows import add

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from recollect.core.context import Context, Tx
    from recollect.core.event import Event

AT_IT = 1.0
"""Seconds after which nobody is at work any more on a change whose text was written and whose event is not there."""

_COLUMNS = "seq, change_id, at, subject, what, who, channel, trust, old_values, new_values, reason"
_FIELDS = ("seq", "change", "at", "subject", "what", "who", "channel", "trust", "old", "new", "reason")


def record(
    tx: Tx,
    ctx: Context,
    *,
    subject: str,
    what: str,
    change: str = "",
    old: Mapping[str, Any] | None = None,
    new: Mapping[str, Any] | None = None,
    reason: str = "",
) -> None:
    """Write one change, in the transaction that makes it; events of the same `change` are undone together."""
    add(
        tx,
        "events",
        change_id=change or ctx.ids("change"),
        at=ctx.clock.now(),
        subject=subject,
        what=what,
        who=ctx.actor.name,
        channel=ctx.actor.channel,
        trust=ctx.actor.trust,
        old_values=_packed(old),
        new_values=_packed(new),
        reason=reason,
    )


def of(tx: Tx, subject: str) -> list[Event]:
    """Everything that happened to one thing, oldest first."""
    sql = f"SELECT {_COLUMNS} FROM events WHERE space = :space AND subject = :subject ORDER BY seq"
    return [_event(row) for row in tx.rows(sql, subject=subject)]


def of_change(tx: Tx, change: str) -> list[Event]:
    """The events of one transaction, oldest first."""
    sql = f"SELECT {_COLUMNS} FROM events WHERE space = :space AND change_id = :change ORDER BY seq"
    return [_event(row) for row in tx.rows(sql, change=change)]


def latest(tx: Tx, *, limit: int = 50) -> list[Event]:
    """The newest events, newest first."""
    sql = f"SELECT {_COLUMNS} FROM events WHERE space = :space ORDER BY seq DESC LIMIT :limit"
    return [_event(row) for row in tx.rows(sql, limit=limit)]


def newest(tx: Tx, *, prefix: str) -> Iterator[Event]:
    """Events of one family from the newest back, read in pages so that a caller may stop early."""
    below: int | None = None
    while True:
        older = "" if below is None else " AND seq < :below"
        sql = f"SELECT {_COLUMNS} FROM events WHERE space = :space{older} ORDER BY seq DESC LIMIT 200"
        page = [_event(row) for row in tx.rows(sql, below=below)]
        if not page:
            return
        yield from (event for event in page if event.what.startswith(prefix))
        below = page[-1].seq


def last_undoable(tx: Tx, family: str, *, besides: tuple[str, ...] = ()) -> list[Event]:
    """The newest change to a family (`learning`) that was not itself undone, without what nobody takes back."""
    undone: set[str] = set()
    for event in newest(tx, prefix=f"{family}."):
        if event.what == f"{family}.undone":
            undone.add(event.reason.rpartition("(")[2].rstrip(")"))
        elif event.change not in undone and event.what not in besides:
            change = of_change(tx, event.change)
            return [one for one in change if one.what.startswith(f"{family}.") and one.what not in besides]
    return []


def all_of(tx: Tx) -> Iterator[Event]:
    """Every event, oldest first."""
    return (_event(row) for row in every(tx, "events", _COLUMNS))


def happened(tx: Tx, change: str) -> bool:
    """Whether a change id was applied already: replaying the spool asks."""
    return (
        tx.row("SELECT 1 FROM events WHERE space = :space AND change_id = :change LIMIT 1", change=change) is not None
    )


def missing(tx: Tx, changes: set[str]) -> set[str]:
    """Those change ids that were never applied."""
    sql = "SELECT change_id FROM events WHERE space = :space AND change_id IN (:keys)"
    return changes - {id for (id,) in among(tx, sql, sorted(changes))}


def comes(ctx: Context, id: str, *, what: str = "") -> bool:
    """Whether a change is applied, now or by somebody who is at it: a moment is enough for who is alive.

    With `what` the id is a subject to which that has to happen.
    """
    import time  # a process that waits has time

    deadline = time.monotonic() + AT_IT
    while True:
        with ctx.db.read(ctx.space) as tx:
            if any(event.what == what for event in of(tx, id)) if what else happened(tx, id):
                return True
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)


def _packed(values: Mapping[str, Any] | None) -> str:
    if not values:
        return "{}"
    import json  # what is shown to a task has none

    return json.dumps(values, ensure_ascii=False, sort_keys=True)


def _event(row: tuple[Any, ...]) -> Event:
    from recollect.core.event import Event  # whoever only writes need not load it

    values = dict(zip(_FIELDS, row, strict=True))
    try:
        old, new = dict(loads(values["old"])), dict(loads(values["new"]))
    except (TypeError, ValueError):
        raise StoreDamaged(
            f"what happened to {values['subject']} does not read back (event {values['seq']}). "
            "Nothing was deleted. Run: recollect doctor, then recollect restore"
        ) from None
    return Event(**values | {"old": old, "new": new})
