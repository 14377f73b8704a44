"""The tree for its callers: bring it up to date, list its nodes, show a node and its sources.

One process at a time works on it, under a lease; a second one is told so and loses nothing.
"""

from __future__ import annotations

from datetime import date

from recollect.core import calendar
from recollect.core.calendar import ROOT
from recollect.core.context import Context
from recollect.core.errors import NotFound
from recollect.core.journal import NodeStatus, Point
from recollect.core.records import record
from recollect.core.trust import check_may
from recollect.distil.compact import Pass, Progress
from recollect.distil.node_files import LEASE_SECONDS, NodeChange, is_kept
from recollect.store import db, journal
from recollect.store.journal import NodeRow
from recollect.text import nodes
from recollect.text.tree import path_of

LEASE = "tree"


@record
class Compacted:
    """What a pass did. `held`: another process has the lease. `waiting`: nodes that wait for a model.

    `kept`: copies of nodes that a person had edited, made before they were written again.
    """

    held: bool = False
    changes: tuple[NodeChange, ...] = ()
    kept: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    clock_behind: bool = False
    calls: int = 0
    waiting: int = 0


@record
class NodeView:
    """A node as `recollect log tree` lists it."""

    id: str
    level: str
    status: NodeStatus
    generator: str
    tokens: int
    topics: tuple[str, ...]
    incomplete: tuple[str, ...]
    waiting: bool


def compact(
    ctx: Context, *, everything: bool = False, asking: bool = True, progress: Progress | None = None
) -> Compacted:
    """Bring every node up to date. With `everything`, ignore stamps and let a model summarise all waiting nodes.

    Not `asking`, only cached answers are used.
    """
    check_may(ctx.actor.trust, "log", "consolidate")
    lease = db.take_lease(ctx, LEASE, seconds=LEASE_SECONDS)
    if lease is None:
        return Compacted(held=True)
    try:
        work = Pass(ctx=ctx, lease=lease, everything=everything, asking=asking)
        if progress:
            work.progress = progress
        work.run()
    finally:
        db.release_lease(ctx, lease)
    return Compacted(
        changes=tuple(work.files.changes),
        kept=tuple(work.files.kept),
        unreadable=tuple(dict.fromkeys(work.files.unreadable)),
        clock_behind=work.clock_behind,
        calls=work.models.calls,
        waiting=sum(row[3] for row in ctx.read(journal.counts)),
    )


def view(ctx: Context, period: str | None = None) -> list[NodeView]:
    """The root and all months, or one period with everything below it."""
    with ctx.db.read(ctx.space) as tx:
        if period is None:
            root = journal.node(tx, ROOT)
            rows = [*([root] if root else []), *journal.nodes_between(tx, "monthly", date.min, date.max)]
            return [_view(row) for row in rows]
        wanted = calendar.parse_period(period)
        levels = calendar.LEVELS[: calendar.LEVELS.index(wanted.level) + 1]
        rows = [row for level in levels for row in journal.nodes_between(tx, level, wanted.first, wanted.last)]
    if not rows:
        raise NotFound(f"no node in {wanted.id}; bring the tree up to date with: recollect log compact")
    order = {level: number for number, level in enumerate(reversed(calendar.LEVELS))}
    rows.sort(key=lambda row: (_path(row), order[calendar.parse_period(row.id).level]))
    return [_view(row) for row in rows]


def sources(ctx: Context, id: str) -> list[Point]:
    """Every line of a node with the entries it was taken from; the root and kept copies name none."""
    if id == ROOT or is_kept(id):
        return []
    node = nodes.parse(id, read(ctx, id))
    return nodes.points_of(id, node.body, node.generator)


def read(ctx: Context, id: str) -> str:
    """The text of a node, or of a copy that was kept beside it."""
    path = f"{id}.md" if is_kept(id) else path_of(id if id == ROOT else calendar.parse_period(id).id)
    text = ctx.vault.read(path)
    if text is None:
        raise NotFound(f"no node {id}; see: recollect log tree")
    return text


def _path(row: NodeRow) -> tuple[date, date, date]:
    """The place of a node in reading order: month, week, day."""
    period = calendar.parse_period(row.id)
    month = period if period.level == "monthly" else calendar.month(period.first)
    week = period if period.level == "weekly" else calendar.week(period.first)
    return month.first, (month.first if period.level == "monthly" else week.first), period.first


def _view(row: NodeRow) -> NodeView:
    values = {name: getattr(row, name) for name in NodeView.__annotations__}
    return NodeView(**{**values, "topics": tuple(f"{name} [{kind}]" for name, kind in row.topics)})
