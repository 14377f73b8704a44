"""The tree: bringing it up to date in one pass, and its nodes, each with its sources.

One process at a time works on it, under a lease. What a pass does depends only on what changed and on the day; killed
halfway, it leaves the rest to the next one.

A pass compares the stamps of the latest quarter only: those of ten years cost 30 ms of CPU, a third of a pass. Older
files are compared when a file was created, replaced or deleted beside them, on the first pass of a day, and when
everything is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache

from recollect.capture import log_text, logs
from recollect.core import calendar
from recollect.core.calendar import LEVELS, ROOT, Level, Period
from recollect.core.clock import HOUR, day_of, zone_named
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, NotFound, StoreUnreachable
from recollect.core.journal import Node, NodeStatus, Point
from recollect.core.records import record, replace
from recollect.core.trust import check_may
from recollect.distil.node_files import LEASE_SECONDS, NodeChange, NodeFiles, is_kept, node_key, update_root
from recollect.distil.node_models import ModelSummaries
from recollect.store import db, journal
from recollect.store.db import Lease
from recollect.store.journal import LogRow, NodeRow
from recollect.text import nodes
from recollect.text.nodes import BYTES_PER_LINE, Limits, digest, log_path, path_of

CLOCK_BEHIND = 48 * HOUR
"""A clock this far behind the last pass is wrong: no time zone or daylight saving explains more than 26 hours."""
CLOSE_LOOK = timedelta(days=92)
"""How far back every pass compares stamps: a quarter, so that a month, its weeks and a late edit are inside."""
_LOGS, _BEGUN = "logs", "begun"

Progress = Callable[[str, int, int], object]
"""Called with a level, how many of its nodes are made and how many there are to make."""


@dataclass(kw_only=True)
class Pass:
    """The state of one pass. `run` works through the levels of the tree, leaves first."""

    ctx: Context
    lease: Lease
    everything: bool = False
    asking: bool = True
    progress: Progress = lambda *_: None
    clock_behind: bool = False
    files: NodeFiles = field(init=False)
    _begun: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        settings = self.ctx.settings
        self.now = self.ctx.clock.now()
        self.limits = Limits(
            daily=settings.tree.daily_lines,
            weekly=settings.tree.weekly_lines,
            monthly=settings.tree.monthly_lines,
            root_tokens=settings.tree.root_max_tokens,
        )
        self.models = ModelSummaries(self.ctx, unlimited=self.everything, asking=self.asking)
        self.files = NodeFiles(
            ctx=self.ctx,
            lease=self.lease,
            today=day_of(self.now, zone_named(settings.timezone)),
            limits=self.limits,
            models=self.models,
        )

    def run(self) -> None:
        self.clock_behind = self.now < int(self.ctx.read(journal.state, "last_run") or 0) - CLOCK_BEHIND
        # With a clock that runs behind, no node becomes final.
        self.fixing_day = date.min if self.clock_behind else self.files.today
        self.models.renew()
        touched, regrouped = find_changes(self.files, everything=self.everything)
        for level in LEVELS:
            here = {period for period in touched if period.level == level} | self._due(level)
            touched |= self._level(level, here)
        update_root(self.files, everything=self.everything, asking=self.asking)
        stamps = folder_stamps(self.files)
        with self.ctx.db.write(self.ctx.space) as tx:
            journal.put_state(tx, "last_run", str(self.now))
            remember_stamps(self.files, tx, stamps)
            if journal.state(tx, journal.REGROUPED) == regrouped:  # otherwise the next pass looks at them again
                journal.put_state(tx, journal.REGROUPED, "")

    def _due(self, level: Level) -> set[Period]:
        """Nodes that become final by their date, and the one that has waited longest for a model."""
        with self.ctx.db.read(self.ctx.space) as tx:
            if self.everything:
                return {calendar.parse_period(row.id) for row in journal.nodes_between(tx, level, date.min, date.max)}
            rows = [row for row in journal.tentative(tx, level) if self._is_past(calendar.parse_period(row.id))]
            ids = [*(row.id for row in rows), *self.models.due(tx, level)]
        return set(map(calendar.parse_period, ids))

    def _is_past(self, period: Period) -> bool:
        return self.fixing_day >= period.fixed_from

    def _level(self, level: Level, touched: set[Period]) -> set[Period]:
        """Make the touched nodes of a level; returns the parents of those that changed."""
        order = sorted(touched, key=lambda period: period.first)
        if order and not self._begun:
            with self.files.writing() as tx:  # a pass that finds this, because the last one crashed, checks all parents
                journal.put_state(tx, _BEGUN, "yes")
            self._begun = True
        self.models.allowed.update(period.id for period in order[-1:])
        above: set[Period] = set()
        for number, period in enumerate(order):
            self.progress(level, number, len(order))
            changed = self._daily(period) if level == "daily" else self._parent(period)
            if changed and (parent := calendar.parent(period)):
                above.add(parent)
            self.files.step()
        if order:
            self.progress(level, len(order), len(order))
        return above

    def _daily(self, period: Period) -> bool:
        day = period.first
        stamp = self.ctx.vault.stamps(names=[log_path(day)]).get(log_path(day))
        try:
            if stamp == "":
                raise BadInput(f"{log_path(day)} is not a regular file")
            log = log_text.read(self.ctx, day, copied=self.limits.daily * BYTES_PER_LINE)
        except (BadInput, StoreUnreachable):
            self.files.unreadable.append(log_path(day))
            return True
        row = LogRow(day=day, stamp=stamp or "", hash=log.hash, entries=len(log.entries))
        if not log.text.strip():  # an empty file, or one that is gone and of which nothing is remembered
            with self.files.writing() as tx:
                journal.put_log(tx, row)
            return self._adopt(period)
        self._index_log(row, log)
        names = self.files.names(period)
        status: NodeStatus = "fixed" if self._is_past(period) else "tentative"
        key = node_key([(log_path(day), log.hash)], self.limits.daily, names)
        made = self._unchanged(period, key, status, ())
        if made is None:
            node = nodes.daily_node(
                day,
                log.entries,
                log.raw,
                log.hash,
                today=self.fixing_day,
                limits=self.limits,
                summariser=self.models.summariser(period.id),
                names=names,
            )
            made = (self._not_worse(node, key), key)
        return self.files.write(*made, also=lambda tx: journal.put_log(tx, row))

    def _index_log(self, row: LogRow, log: log_text.LogText) -> None:
        """Make a log's entries searchable before its node is made, because that gives them their topics."""
        if not self.everything and self.ctx.read(journal.log, row.day) == row:
            return
        path = log_path(row.day)
        with self.files.writing() as tx:
            if self.ctx.vault.inside(tx).stamps(names=[path]).get(path, "") == log.stamp:
                logs.index(tx, self.ctx, log)  # otherwise the process that wrote meanwhile indexes it

    def _parent(self, period: Period) -> bool:
        level: Level = "daily" if period.level == "weekly" else "weekly"
        rows = self.ctx.read(journal.nodes_between, level, period.first, period.last)
        children = [self.files.node(row.id) for row in rows]
        found = [child for child in children if child is not None]
        if not found:
            return self._adopt(period)
        missing = self._incomplete(period, found)
        settled = self._is_past(period) and not missing and all(child.status == "fixed" for child in found)
        names = self.files.names(period)
        sources = [(path_of(child.id), digest(child.body)) for child in found]
        key = node_key(sources, self.limits.of(period.level), names)
        made = self._unchanged(period, key, "fixed" if settled else "tentative", missing)
        if made is None:
            node = nodes.parent_node(
                period,
                found,
                today=self.fixing_day,
                limits=self.limits,
                incomplete=missing,
                summariser=self.models.summariser(period.id),
                names=names,
            )
            made = (self._not_worse(node, key), key)
        return self.files.write(*made)

    def _not_worse(self, node: Node, key: str) -> Node:
        """Keep what a model wrote from the same sources while asking it again fails."""
        if node.id not in self.models.failed:
            return node
        row, old = self.files.row(node.id), self.files.node(node.id)
        if row is None or old is None or (row.source_key, row.body_hash) != (key, digest(old.body)):
            return node
        return replace(old, status=node.status, incomplete=node.incomplete)

    def _incomplete(self, period: Period, children: Sequence[Node]) -> tuple[str, ...]:
        unread = {
            path
            for path in self.files.unreadable
            if "/" not in path and calendar.parse_day(path.removesuffix(".md")) in set(period.days)
        }
        return tuple(sorted(unread | {path for child in children for path in child.incomplete}))

    def _unchanged(
        self, period: Period, key: str, status: NodeStatus, incomplete: tuple[str, ...]
    ) -> tuple[Node, str] | None:
        """The stored node with its status brought up to date, if its sources did not change since it was made."""
        row = self.files.row(period.id)
        if row is None or row.source_key != key or self.everything or self.models.wanted(row):
            return None
        node = self.files.node(period.id)
        if node is None or digest(node.body) != row.body_hash or node.generator != row.generator:
            return None
        return replace(node, status=status, incomplete=incomplete), key

    def _adopt(self, period: Period) -> bool:
        """Keep a node whose sources are gone: it is all that is left of its period, and its parent reads it."""
        node = self.files.node(period.id)
        return self.files.write(node, "", file=False) if node else False


# What changed since the last pass


def find_changes(files: NodeFiles, *, everything: bool) -> tuple[set[Period], str]:
    """The periods whose log, node or topics changed, and the store's note of regrouped topics."""
    now = folder_stamps(files)
    with files.ctx.db.read(files.ctx.space) as tx:
        thorough = everything or journal.state(tx, "looked on") != files.today.isoformat()
        moved = {name for name, stamp in now.items() if thorough or journal.state(tx, f"look {name}") != stamp}
        known = journal.log_stamps(tx, date.min if _LOGS in moved else files.today - CLOSE_LOOK)
        unread = journal.unreadable_logs(tx)
        # After a restore or a rebuild, entries may be remembered of days that no pass has seen.
        unseen = [day for day in journal.entry_days(tx) if day.isoformat() not in known] if _LOGS in moved else []
        # After a pass that crashed, any week and month that has a day may be out of date.
        days = journal.nodes_between(tx, "daily", date.min, date.max) if journal.state(tx, _BEGUN) else []
        cut_off = frozenset(above for row in days for above in _above(calendar.parse_period(row.id)))
        regrouped = journal.state(tx, journal.REGROUPED)
        moved_days = [calendar.parse_period(f"daily/{day}") for day in regrouped.split()[1:]]
        renamed = {each for day in moved_days for each in (day, *_above(day)) if journal.node(tx, each.id)}
    # Two days ahead: another machine's today may be our tomorrow.
    latest = [log_path(files.today + timedelta(days=2 - n)) for n in range(CLOSE_LOOK.days + 3)]
    stamps = files.ctx.vault.stamps(names=None if _LOGS in moved else latest)
    changed = (name for name, stamp in stamps.items() if everything or known.get(name[:-3]) != stamp)
    compared = {f"{day}.md" for day in known} if _LOGS in moved else set(latest)
    gone = (f"{day}.md" for day, stamp in known.items() if stamp and f"{day}.md" in compared - stamps.keys())
    written = logs.days({*changed, *gone, *unread, *map(log_path, unseen)})
    damaged = (_damaged(files, level) for level in LEVELS if level in moved)
    return {*map(calendar.day, written), *cut_off}.union(renamed, *damaged), regrouped


def remember_stamps(files: NodeFiles, tx: Tx, stamps: dict[str, str]) -> None:
    journal.put_state(tx, _BEGUN, "")
    journal.put_state(tx, "looked on", files.today.isoformat())
    journal.put_state(tx, journal.UNREADABLE, " ".join(sorted(path for path in files.unreadable if "/" not in path)))
    for name, stamp in stamps.items():
        journal.put_state(tx, f"look {name}", stamp)


def folder_stamps(files: NodeFiles) -> dict[str, str]:
    """One stamp for each folder: of the folder itself, and of its latest nodes, which may be edited in place."""
    vault = files.ctx.vault
    latest: dict[str, str] = {
        level: digest(f"{vault.folder_stamp(level)} {vault.stamps(level, names=names)}")
        for level, names in _latest_nodes(files.today).items()
    }
    return {_LOGS: vault.folder_stamp(""), **latest}


@lru_cache(maxsize=1)
def _latest_nodes(today: date) -> dict[Level, list[str]]:
    """The file names of the nodes that every pass looks at, by level."""
    days = [today - timedelta(days=n) for n in range(CLOSE_LOOK.days)]
    period_of = {"daily": calendar.day, "weekly": calendar.week, "monthly": calendar.month}
    return {level: sorted({path_of(period_of[level](day).id).partition("/")[2] for day in days}) for level in LEVELS}


def _above(period: Period) -> Iterator[Period]:
    while above := calendar.parent(period):
        yield above
        period = above


def _damaged(files: NodeFiles, level: Level) -> set[Period]:
    """Nodes that are missing, edited, left in conflict or made by another tool."""
    known = {row.id: row for row in files.ctx.read(journal.nodes_between, level, date.min, date.max)}
    here = {period.id for name in files.ctx.vault.stamps(level) if (period := _period(level, name))}
    odd = {id for id in known.keys() | here if id not in known or id not in here or not files.intact(known[id])}
    return set(map(calendar.parse_period, odd))


def _period(level: Level, name: str) -> Period | None:
    try:
        found = calendar.parse_period(f"{level}/{name.removesuffix('.md')}")
    except BadInput:
        return None
    return found if name.endswith(".md") else None


LEASE = "tree"


@record
class Compacted:
    """What a pass did. `held`: another process has the lease. `waiting`: nodes that wait for a model. `kept`: copies of
    nodes that a person had edited."""

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
    """Bring every node up to date. `everything` ignores stamps and lets a model summarise all waiting nodes.

    Unless `asking`, only cached answers are used.
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
    path = f"{id}.md" if is_kept(id) else path_of(id if id == ROOT else calendar.parse_period(id).id)
    text = ctx.vault.read(path)
    if text is None:
        raise NotFound(f"no node {id}; see: recollect log tree")
    return text


def _path(row: NodeRow) -> tuple[date, date, date]:
    """The place of a node in reading order: month, week, day."""
    period = calendar.parse_period(row.id)
    if period.level == "monthly":
        return period.first, period.first, period.first
    return calendar.month(period.first).first, calendar.week(period.first).first, period.first


def _view(row: NodeRow) -> NodeView:
    values = {name: getattr(row, name) for name in NodeView.__annotations__}
    return NodeView(**{**values, "topics": tuple(f"{name} [{kind}]" for name, kind in row.topics)})
