"""Rows of events and of the inbox.

Events are the one table that remembers changes: they serve `why`, undo, the history of confidence, and audits. An
escalation is a matter that only a person may settle; the same matter is raised once.
"""

from __future__ import annotations

from recollect.core.errors import NotFound, StoreDamaged
from recollect.core.records import loads
from recollect.core.records import record as record_record
from recollect.store.db import add_row, among, every

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from recollect.core.context import Context, Event, Tx


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
    add_row(
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
    from recollect.core.context import Event  # whoever only writes need not load it

    values = dict(zip(_FIELDS, row, strict=True))
    try:
        old, new = dict(loads(values["old"])), dict(loads(values["new"]))
    except (TypeError, ValueError):
        raise StoreDamaged(
            f"Event {values['seq']} about {values['subject']} does not read back. "
            "Nothing was deleted. Run: recollect doctor, then recollect store restore"
        ) from None
    return Event(**values | {"old": old, "new": new})


_ESCALATIONS_COLUMNS = "number, kind, subject, other, reason, detail, created_at, resolved_at, resolution"


@record_record
class Escalation:
    number: int
    kind: str
    subject: str
    other: str
    reason: str
    detail: dict[str, Any]
    created_at: int
    resolved_at: int | None
    resolution: str | None


def raise_escalation(
    tx: Tx, *, kind: str, subject: str, other: str = "", reason: str, detail: dict[str, Any], at: int
) -> bool:
    """True when this is a new matter; one that was raised before stays as it was, also when it was dismissed."""
    return bool(
        tx.rows(
            """
            INSERT INTO escalations (space, number, kind, subject, other, reason, detail, created_at)
            SELECT :space, coalesce(max(number), 0) + 1, :kind, :subject, :other, :reason, :detail, :at
            FROM escalations WHERE space = :space
            ON CONFLICT (space, kind, subject, other) DO NOTHING RETURNING number""",
            kind=kind,
            subject=subject,
            other=other,
            reason=reason,
            detail=_packed(detail),
            at=at,
        )
    )


def find_escalation(tx: Tx, *, kind: str, subject: str, other: str = "") -> Escalation | None:
    """The matter of this kind between these two, settled or not."""
    sql = (
        f"SELECT {_ESCALATIONS_COLUMNS} FROM escalations "
        "WHERE space = :space AND kind = :kind AND subject = :subject AND other = :other"
    )
    row = tx.row(sql, kind=kind, subject=subject, other=other)
    return _escalation(row) if row else None


def waiting_escalations(tx: Tx) -> list[Escalation]:
    """What nobody settled yet, oldest first."""
    sql = f"SELECT {_ESCALATIONS_COLUMNS} FROM escalations WHERE space = :space AND resolved_at IS NULL ORDER BY number"
    return [_escalation(row) for row in tx.rows(sql)]


def get_escalation(tx: Tx, number: int) -> Escalation:
    row = tx.row(
        f"SELECT {_ESCALATIONS_COLUMNS} FROM escalations WHERE space = :space AND number = :number", number=number
    )
    if row is None:
        raise NotFound(f"There is no item {number} in the inbox. List the items with `recollect inbox`")
    return _escalation(row)


def all_escalations(tx: Tx) -> Iterator[Escalation]:
    """Every matter, settled or not, oldest first."""
    return (_escalation(row) for row in every(tx, "escalations", _ESCALATIONS_COLUMNS))


def resolve_escalation(tx: Tx, number: int, *, resolution: str, at: int) -> None:
    tx.run(
        "UPDATE escalations SET resolved_at = :at, resolution = :resolution WHERE space = :space AND number = :number",
        number=number,
        at=at,
        resolution=resolution,
    )


def reopen_escalation(tx: Tx, number: int) -> None:
    """What settled it was taken back."""
    tx.run(
        "UPDATE escalations SET resolved_at = NULL, resolution = NULL WHERE space = :space AND number = :number",
        number=number,
    )


def _escalation(row: tuple[Any, ...]) -> Escalation:
    values = dict(zip(_ESCALATIONS_COLUMNS.split(", "), row, strict=True))
    return Escalation(**{**values, "detail": loads(values["detail"])})
