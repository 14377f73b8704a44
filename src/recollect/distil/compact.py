"""Bringing the tree up to date: one pass from changed logs to ROOT.md, nothing else touched.

What a pass does depends only on what changed and on the day. A pass that is killed leaves work for the next one and
nothing half-done. What changed is noticed by `noticing`, the making of nodes is `text/tree`, their way to disk
`node_files`; the lease is the caller's.

What changed since the last pass: logs by their stamps, nodes by the looks of their folders.

Ten years must cost what one month costs, so a pass looks closely at the latest quarter only. Older files are looked at
when a file was made, replaced or deleted beside them, on the first pass of a day, and when everything is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, timedelta

from recollect.capture import logs
from recollect.core import calendar
from recollect.core.calendar import LEVELS, Level, Period
from recollect.core.clock import HOUR, day_of, zone_named
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, StoreUnreachable
from recollect.core.journal import Node, NodeStatus
from recollect.distil.node_files import NodeChange, NodeFiles, source_key, update_root
from recollect.distil.node_models import ModelSummaries
from recollect.store import journal, passages
from recollect.store.db import Lease
from recollect.store.journal import LogRow
from recollect.text import tree
from recollect.text.nodes import BYTES_PER_LINE
from recollect.text.tree import Limits, digest, log_path, path_of

CLOSE_LOOK = timedelta(days=92)
_LOGS = "logs"
_UNREADABLE = "unreadable"
_BEGUN = "begun"


@dataclass(frozen=True, kw_only=True)
class Changes:
    """Days whose log was written to, days whose log is gone, and nodes that are not as we left them."""

    written: tuple[date, ...]
    gone: tuple[date, ...]
    damaged: frozenset[Period]


def find_changes(files: NodeFiles, *, everything: bool) -> Changes:
    seen = folder_stamps(files)
    with files.ctx.db.read(files.ctx.space) as tx:
        thorough = everything or journal.state(tx, "looked on") != files.today.isoformat()
        moved = {name for name, look in seen.items() if thorough or journal.state(tx, f"look {name}") != look}
        known = journal.log_stamps(tx, date.min if _LOGS in moved else files.today - CLOSE_LOOK)
        unread = unreadable_logs(tx)
        cut_off = _above_all_days(tx) if journal.state(tx, _BEGUN) else frozenset()
    # Two days ahead: another machine's today may be our tomorrow.
    latest = [log_path(files.today + timedelta(days=2 - n)) for n in range(CLOSE_LOOK.days + 3)]
    stamps = files.ctx.vault.stamps(names=None if _LOGS in moved else latest)
    changed = (name for name, stamp in stamps.items() if everything or known.get(name[:-3]) != stamp)
    looked_at = {f"{day}.md" for day in known} if _LOGS in moved else set(latest)
    return Changes(
        written=tuple(logs.days({*changed, *unread})),
        gone=tuple(date.fromisoformat(day) for day in known if f"{day}.md" in looked_at - stamps.keys()),
        damaged=cut_off.union(*(_damaged(files, level) for level in LEVELS if level in moved)),
    )


def mark_begun(tx: Tx) -> None:
    """From here until `remember` a node may be made whose parents are not: who finds the mark looks at all of them."""
    journal.put_state(tx, _BEGUN, "yes")


def remember_stamps(files: NodeFiles, tx: Tx, looks: dict[str, str]) -> None:
    """What everything looked like when the pass ended."""
    journal.put_state(tx, _BEGUN, "")
    journal.put_state(tx, "looked on", files.today.isoformat())
    journal.put_state(tx, _UNREADABLE, " ".join(sorted(path for path in files.unreadable if "/" not in path)))
    for name, look in looks.items():
        journal.put_state(tx, f"look {name}", look)


def unreadable_logs(tx: Tx) -> list[str]:
    """The logs that the last pass could not read. Every pass tries again: what they say is in no node."""
    return journal.state(tx, _UNREADABLE).split()


def folder_stamps(files: NodeFiles) -> dict[str, str]:
    return {name: _look(files, name) for name in (_LOGS, *LEVELS)}


def _look(files: NodeFiles, name: str) -> str:
    """Changes with the files of a folder; of nodes also when one of the latest was written to in place."""
    vault = files.ctx.vault
    if name == _LOGS:
        return vault.folder_stamp("")
    level: Level = next(level for level in LEVELS if level == name)
    days = (files.today - timedelta(days=n) for n in range(CLOSE_LOOK.days))
    of = {"daily": calendar.day, "weekly": calendar.week, "monthly": calendar.month}[level]
    latest = sorted({path_of(of(day).id).partition("/")[2] for day in days})
    return digest(f"{vault.folder_stamp(level)} {vault.stamps(level, names=latest)}")


def _above_all_days(tx: Tx) -> frozenset[Period]:
    """Every week and month that has a day: after a pass that was cut off, any of them may be behind."""
    found: set[Period] = set()
    for row in journal.nodes_between(tx, "daily", date.min, date.max):
        above = calendar.parent(calendar.parse_period(row.id))
        while above is not None:
            found.add(above)
            above = calendar.parent(above)
    return frozenset(found)


def _damaged(files: NodeFiles, level: Level) -> set[Period]:
    """Nodes that are missing, edited, left in conflict or a stranger's."""
    with files.ctx.db.read(files.ctx.space) as tx:
        known = {row.id: row for row in journal.nodes_between(tx, level, date.min, date.max)}
    here = {period.id for name in files.ctx.vault.stamps(level) if (period := _period(level, name))}
    odd = {id for id in known.keys() | here if id not in known or id not in here or not files.intact(known[id])}
    return set(map(calendar.parse_period, odd))


def _period(level: Level, name: str) -> Period | None:
    try:
        found = calendar.parse_period(f"{level}/{name.removesuffix('.md')}")
    except BadInput:
        return None
    return found if name.endswith(".md") else None


CLOCK_BEHIND = 48 * HOUR

Progress = Callable[[str, int, int], object]
"""Called with a level, how many of its nodes are made and how many there are to make."""


@dataclass(kw_only=True)
class Pass:
    """The state of one pass. `run` does it all; the steps are in the order of the tree, leaves first."""

    ctx: Context
    lease: Lease | None
    dry_run: bool = False
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
        asking = self.asking and not self.dry_run
        self.models = ModelSummaries(self.ctx, unlimited=self.everything, asking=asking)
        self.files = NodeFiles(
            ctx=self.ctx,
            lease=self.lease,
            dry_run=self.dry_run,
            today=day_of(self.now, zone_named(settings.timezone)),
            limits=self.limits,
            models=self.models,
        )

    def run(self) -> None:
        with self.ctx.db.read(self.ctx.space) as tx:
            self.clock_behind = self.now < int(journal.state(tx, "last_run") or 0) - CLOCK_BEHIND
        # A clock that runs behind may be wrong: nothing is called final on its word.
        self.fixing_day = date.min if self.clock_behind else self.files.today
        if not self.dry_run:
            self.models.renew()
        noticed = find_changes(self.files, everything=self.everything)
        self._forget(noticed.gone)
        touched = set(noticed.damaged) | set(map(calendar.day, noticed.written))
        for level in LEVELS:
            here = {period for period in touched if period.level == level} | self._due(level)
            touched |= self._level(level, here)
        update_root(self.files, everything=self.everything, asking=self.asking and not self.dry_run)
        if not self.dry_run:
            looks = folder_stamps(self.files)
            with self.ctx.db.write(self.ctx.space) as tx:
                journal.put_state(tx, "last_run", str(self.now))
                remember_stamps(self.files, tx, looks)

    def _due(self, level: Level) -> set[Period]:
        """Nodes whose time to be fixed has come, and the one that has waited longest for a model."""
        with self.ctx.db.read(self.ctx.space) as tx:
            if self.everything:
                return {calendar.parse_period(row.id) for row in journal.nodes_between(tx, level, date.min, date.max)}
            rows = [row for row in journal.tentative(tx, level) if self._over(calendar.parse_period(row.id))]
            ids = [*(row.id for row in rows), *self.models.due(tx, level)]
        return set(map(calendar.parse_period, ids))

    def _over(self, period: Period) -> bool:
        return self.fixing_day >= period.fixed_from

    def _level(self, level: Level, touched: set[Period]) -> set[Period]:
        """Make the touched nodes of a level; gives the periods above those that changed."""
        order = sorted(touched, key=lambda period: period.first)
        if order and not self._begun and not self.dry_run:
            with self.files.writing() as tx:
                mark_begun(tx)
            self._begun = True
        self.models.allow_newest(order)
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
        if stamp is None:
            return self._adopt(period)
        try:
            if not stamp:
                raise BadInput(f"{log_path(day)} is no regular file")
            log = logs.read(self.ctx, day, copied=self.limits.daily * BYTES_PER_LINE)
        except (BadInput, StoreUnreachable):
            self.files.unreadable.append(log_path(day))
            return True
        status: NodeStatus = "fixed" if self._over(period) else "tentative"
        key = source_key([(log_path(day), log.hash)], self.limits.daily)
        made = self._unchanged(period, key, status, ())
        if made is None:
            node = tree.daily_node(
                day,
                log.entries,
                log.raw,
                log.hash,
                today=self.fixing_day,
                limits=self.limits,
                summariser=self.models.summariser(period.id),
            )
            made = (self._not_worse(node, key), key)
        row = LogRow(day=day, stamp=stamp, hash=log.hash, entries=len(log.entries))
        return self.files.write(*made, also=lambda tx: self._read_again(tx, row, log))

    def _read_again(self, tx: Tx, row: LogRow, log: logs.LogText) -> None:
        journal.put_log(tx, row)
        path = log_path(row.day)
        if self.ctx.vault.inside(tx).stamps(names=[path]).get(path) == log.stamp:  # else: left to who wrote meanwhile
            logs.index(tx, self.ctx, log)

    def _parent(self, period: Period) -> bool:
        level: Level = "daily" if period.level == "weekly" else "weekly"
        if self.dry_run and self._will_change(level, period):
            return self._planned(period)
        with self.ctx.db.read(self.ctx.space) as tx:
            rows = journal.nodes_between(tx, level, period.first, period.last)
        children = [self.files.node(row.id) for row in rows]
        found = [child for child in children if child is not None]
        if not found:
            return self._adopt(period)
        missing = self._incomplete(period, found)
        settled = self._over(period) and not missing and all(child.status == "fixed" for child in found)
        sources = [(path_of(child.id), digest(child.body)) for child in found]
        key = source_key(sources, self.limits.of(period.level))
        made = self._unchanged(period, key, "fixed" if settled else "tentative", missing)
        if made is None:
            node = tree.parent_node(
                period,
                found,
                today=self.fixing_day,
                limits=self.limits,
                incomplete=missing,
                summariser=self.models.summariser(period.id),
            )
            made = (self._not_worse(node, key), key)
        return self.files.write(*made)

    def _not_worse(self, node: Node, key: str) -> Node:
        """What a model wrote from the same sources stays while asking again fails."""
        if node.id not in self.models.failed:
            return node
        row, old = self.files.row(node.id), self.files.node(node.id)
        if row is None or old is None or (row.source_key, row.body_hash) != (key, digest(old.body)):
            return node
        return replace(old, status=node.status, incomplete=node.incomplete)

    def _will_change(self, level: Level, period: Period) -> bool:
        """Whether a dry run found something to do below: what the node would then say is not known."""
        below = (calendar.parse_period(change.id) for change in self.files.changes if change.id.startswith(level))
        return any(calendar.parent(child) == period for child in below)

    def _planned(self, period: Period) -> bool:
        before = self.files.row(period.id)
        what = "created" if before is None else "reopened" if before.status == "fixed" else "updated"
        self.files.changes.append(NodeChange(id=period.id, what=what))
        return True

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
        """The node as it stands, with its status brought up to date, when its sources are those it was made from."""
        row = self.files.row(period.id)
        if row is None or row.source_key != key or self.everything or self.models.wanted(row):
            return None
        node = self.files.node(period.id)
        if node is None or digest(node.body) != row.body_hash or node.generator != row.generator:
            return None
        return replace(node, status=status, incomplete=incomplete), key

    def _adopt(self, period: Period) -> bool:
        """A node whose sources are gone is all that is left of its period: it stays, and parents read it."""
        node = self.files.node(period.id)
        return self.files.write(node, "", file=False) if node else False

    def _forget(self, gone: Sequence[date]) -> None:
        """Logs that are no longer there: nothing of them is found, their nodes stay."""
        if gone and not self.dry_run:
            with self.ctx.db.write(self.ctx.space) as tx:
                for day in gone:
                    journal.forget_log(tx, day)
                    for id in passages.ids_under(tx, f"log/{day.isoformat()}#"):
                        passages.remove(tx, id)
