"""Rows of events and of the inbox.

Events record every change, for `why`, undo, the history of confidence, and audits. An escalation is an inbox item that
only a person may resolve; the same item is raised once.
"""

from __future__ import annotations

from itertools import islice

from recollect.core.errors import NotFound, StoreDamaged
from recollect.core.records import loads
from recollect.core.records import record as record_record
from recollect.store.db import add_row, among, count, every, one, select, update

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from typing import Any

    from recollect.core.context import Context, Event, Tx


MOOT = "moot"  # the resolution of an item of which one side went out of use
AT_IT = 1.0  # seconds: a live process records the event of a text within milliseconds of writing it

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
    return _events(tx, "AND subject = :subject ORDER BY seq", subject=subject)


def of_change(tx: Tx, change: str) -> list[Event]:
    return _events(tx, "AND change_id = :change ORDER BY seq", change=change)


def first(tx: Tx) -> Event | None:
    """The oldest event of a space tells who began it."""
    return next(iter(_events(tx, "ORDER BY seq LIMIT 1")), None)


def newest(tx: Tx, *, prefix: str) -> Iterator[Event]:
    """Events of one family, newest first, read in pages so that a caller may stop early."""
    below: int | None = None
    while True:
        older = "" if below is None else "AND seq < :below"
        page = _events(tx, f"{older} ORDER BY seq DESC LIMIT 200", below=below)
        if not page:
            return
        yield from (event for event in page if event.what.startswith(prefix))
        below = page[-1].seq


def last_undoable(
    tx: Tx,
    family: str,
    *,
    besides: tuple[str, ...] = (),
    change: str = "",
    but: Collection[str] = (),
    mine: Callable[[Event], bool] = lambda _: True,
) -> list[Event]:
    """The newest change to a family (`learning`) that was not undone; events in `besides` cannot be undone.

    `change` and `mine` narrow it; changes in `but` are skipped.
    """
    if change and not any(event.what.startswith(f"{family}.") for event in of_change(tx, change)):
        return []  # without a look through all events of the family
    undone = {*but}
    for event in newest(tx, prefix=f"{family}."):
        if event.what == f"{family}.undone":
            undone.add(event.reason.rpartition("(")[2].rstrip(")"))
        elif event.change not in undone and event.what not in besides and change in ("", event.change) and mine(event):
            found = of_change(tx, event.change)
            return [one for one in found if one.what.startswith(f"{family}.") and one.what not in besides]
        elif event.change == change:
            return []
    return []


FAR = 5_000  # events that a filtered list looks through: 25 queries of a page each


def latest(tx: Tx, *, limit: int, only: Collection[str] = ()) -> list[Event]:
    """The newest events, newest first; of the kinds in `only`, if any are given."""
    found = islice(newest(tx, prefix=""), FAR)
    return list(islice((event for event in found if not only or event.what in only), limit))


def last_number(tx: Tx) -> int:
    return int(tx.value("SELECT coalesce(max(seq), 0) FROM events WHERE space = :space"))


def counts(tx: Tx, *, since: int, span: int) -> dict[str, dict[int, int]]:
    """How often each kind of event happened since then, by spans of `span` milliseconds."""
    found: dict[str, dict[int, int]] = {}
    sql = "SELECT what, (at - :since) / :span, count(*) FROM events WHERE space = :space AND at >= :since GROUP BY 1, 2"
    for what, number, times in tx.rows(sql, since=since, span=span):
        found.setdefault(what, {})[int(number)] = times
    return found


def all_of(tx: Tx) -> Iterator[Event]:
    return (_event(row) for row in every(tx, "events", _COLUMNS))


def happened(tx: Tx, change: str) -> bool:
    return not missing(tx, {change})


def missing(tx: Tx, changes: set[str]) -> set[str]:
    sql = "SELECT change_id FROM events WHERE space = :space AND change_id IN (:keys)"
    return changes - {id for (id,) in among(tx, sql, sorted(changes))}


def comes(ctx: Context, id: str, *, what: str = "") -> bool:
    """Whether a change is applied within the second that a live process needs; with `what`, an event of a subject."""
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


def _events(tx: Tx, more: str, **params: Any) -> list[Event]:
    return [_event(row) for row in tx.rows(f"SELECT {_COLUMNS} FROM events WHERE space = :space {more}", **params)]


def _event(row: tuple[Any, ...]) -> Event:
    from recollect.core.context import Event  # only readers need it

    values = dict(zip(_FIELDS, row, strict=True))
    try:
        old, new = dict(loads(values["old"])), dict(loads(values["new"]))
    except (TypeError, ValueError):
        raise StoreDamaged(
            f"Event {values['seq']} about {values['subject']} does not read back. "
            "Nothing was deleted. Run: recollect doctor, then recollect store restore"
        ) from None
    return Event(**values | {"old": old, "new": new})


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
    """True when this is a new item; one that was raised before stays as it was, even if it was dismissed."""
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
    where = "AND kind = :kind AND subject = :subject AND other = :other"
    return one(tx, Escalation, "escalations", where, kind=kind, subject=subject, other=other)


def contradictions_of(tx: Tx, learning: str) -> list[Escalation]:
    """Inbox items, open or resolved, about a learning and one that it contradicts."""
    where = "AND kind = 'contradiction' AND (subject = :id OR other = :id)"
    return select(tx, Escalation, "escalations", where, id=learning)


def contradicted(tx: Tx, learnings: Sequence[str], beside: Collection[str]) -> tuple[set[str], dict[str, str]]:
    """Of some learnings, those that contradict a better proven one `beside` them by an open inbox item; and what
    contradicts each. At equal confidence what helped more is better proven, then a person's word, then the newest."""
    proof = "({0}.trust <> 'external', {0}.confidence, {0}.times_helpful, {0}.trust = 'human', {0}.created_at, {0}.id)"
    sql = f"""
        SELECT one.id, two.id, two.title, {proof.format("two")} > {proof.format("one")}
        FROM escalations e
        JOIN learnings one ON one.space = e.space AND one.id IN (e.subject, e.other)
        JOIN learnings two ON two.space = e.space AND two.id IN (e.subject, e.other) AND two.id <> one.id
        WHERE e.space = :space AND e.kind = 'contradiction' AND (e.subject IN (:keys) OR e.other IN (:keys))
          AND e.resolved_at IS NULL AND one.id IN (:keys)"""
    held: set[str] = set()
    by: dict[str, str] = {}
    for id, other, title, better in among(tx, sql, learnings):
        held |= {id} if better and other in beside else set()
        by[id] = "; ".join(filter(None, [by.get(id), f"{title} ({other})"]))
    return held, by


def waiting_escalations(tx: Tx) -> list[Escalation]:
    return select(tx, Escalation, "escalations", "AND resolved_at IS NULL ORDER BY number")


def count_waiting(tx: Tx) -> int:
    return count(tx, "escalations", "AND resolved_at IS NULL")


def get_escalation(tx: Tx, number: int) -> Escalation:
    found = one(tx, Escalation, "escalations", "AND number = :number", number=number)
    if found is None:
        raise NotFound(f"There is no item {number} in the inbox. List the items with `recollect inbox`")
    return found


def all_escalations(tx: Tx) -> list[Escalation]:
    return select(tx, Escalation, "escalations", "ORDER BY number")


def resolve_escalation(tx: Tx, number: int, *, resolution: str, at: int) -> None:
    update(tx, "escalations", {"number": number}, resolved_at=at, resolution=resolution)


def follow_sides(tx: Tx, family: str, here: Collection[str], *, at: int) -> None:
    """Close the open items about things of a family that are gone, and reopen them when those are back."""
    for item in select(tx, Escalation, "escalations", "AND (resolved_at IS NULL OR resolution = :moot)", moot=MOOT):
        sides = {id for id in (item.subject, item.other) if id.startswith(f"{family}/")}
        if sides and (item.resolved_at is None) != sides.issubset(here):
            if item.resolved_at is None:
                resolve_escalation(tx, item.number, resolution=MOOT, at=at)
            else:
                reopen_escalation(tx, item.number)


def reopen_escalation(tx: Tx, number: int) -> None:
    update(tx, "escalations", {"number": number}, resolved_at=None, resolution=None)
