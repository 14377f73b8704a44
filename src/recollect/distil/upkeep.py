"""Bringing the tree up to date: one pass from changed logs to ROOT.md, nothing else touched.

A log is noticed by its stamp, a node that somebody damaged by its folder's. What a pass does depends only on what
changed and on the day, so ten years cost what one month costs. Files are written first, rows follow; a pass that is
killed leaves work for the next one and nothing half-done. The making of nodes is `text/tree`; the lease is the
caller's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from zoneinfo import ZoneInfo

from recollect.capture import log as logs
from recollect.core import calendar
from recollect.core.calendar import LEVELS, ROOT, Level, Period
from recollect.core.clock import HOUR, day_of
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, StoreUnreachable
from recollect.core.journal import Node, NodeStatus
from recollect.core.passage import Passage
from recollect.distil.summary import ModelSummaries
from recollect.store import journal, leases, passages
from recollect.store.journal import LogRow, NodeRow
from recollect.store.leases import Lease
from recollect.text import nodes, root, tree
from recollect.text.capsule import LATEST, Past, fold, packed, packed_past, unpacked, unpacked_past
from recollect.text.nodes import BYTES_PER_LINE
from recollect.text.tokens import tokens
from recollect.text.tree import Limits, digest, log_path, path_of

KIND = "node"
LEASE_SECONDS = 600
RENEWED_EVERY = 50
CLOCK_BEHIND = 48 * HOUR
MADE_BY = "tree/2"
"""Changes with the code that makes nodes, so that a newer program makes them again."""
KEPT_ROOT = "ROOT.before.md"
"""Where the ROOT.md of another tool goes when ours takes its place."""

Progress = Callable[[str, int, int], object]
"""Called with a level, how many of its nodes are made and how many there are to make."""


@dataclass(frozen=True, kw_only=True)
class Change:
    """One node that a pass made: created, updated, fixed, reopened, adopted."""

    id: str
    what: str


@dataclass(kw_only=True)
class Pass:
    """The state of one pass. `run` does it all; the steps are in the order of the tree, leaves first."""

    ctx: Context
    lease: Lease | None
    dry_run: bool = False
    everything: bool = False
    progress: Progress = lambda *_: None
    changes: list[Change] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    clock_behind: bool = False
    _made: int = 0

    def __post_init__(self) -> None:
        settings = self.ctx.settings
        self.now = self.ctx.clock.now()
        self.today = day_of(self.now, ZoneInfo(settings.timezone))
        self.limits = Limits(
            daily=settings.tree.daily_lines,
            weekly=settings.tree.weekly_lines,
            monthly=settings.tree.monthly_lines,
            root_tokens=settings.tree.root_max_tokens,
        )
        self.models = ModelSummaries(self.ctx, unlimited=self.everything)

    def run(self) -> None:
        stamps = self.ctx.vault.stamps()
        with self.ctx.db.read(self.ctx.space) as tx:
            known = journal.log_stamps(tx)
            behind = self.now < int(journal.state(tx, "last_run") or 0) - CLOCK_BEHIND
        # A clock that runs behind may be wrong: nothing is called final on its word.
        self.clock_behind = behind
        self.fixing_day = date.min if behind else self.today
        changed = logs.days(name for name, stamp in stamps.items() if self.everything or known.get(name[:-3]) != stamp)
        self._forget([day for day in known if f"{day}.md" not in stamps])
        touched = self._damaged() | set(map(calendar.day, changed))
        for level in LEVELS:
            here = {period for period in touched if period.level == level} | self._due(level)
            touched |= self._level(level, here, stamps)
        self._root()
        if not self.dry_run:
            folders = {level: self.ctx.vault.folder_stamp(level) for level in LEVELS}
            with self.ctx.db.write(self.ctx.space) as tx:
                journal.put_state(tx, "last_run", str(self.now))
                for level, stamp in folders.items():
                    journal.put_state(tx, f"stamp {level}", stamp)

    # What is due

    def _due(self, level: Level) -> set[Period]:
        """Nodes whose time to be fixed has come, and the one that has waited longest for a model."""
        with self.ctx.db.read(self.ctx.space) as tx:
            if self.everything:
                return {calendar.parse_period(row.id) for row in journal.nodes_between(tx, level, date.min, date.max)}
            rows = [row for row in journal.tentative(tx, level) if self._over(calendar.parse_period(row.id))]
            waiting = journal.longest_waiting(tx, level) if self.models.configured else None
        if waiting:
            self.models.allow(waiting.id)
            rows.append(waiting)
        return {calendar.parse_period(row.id) for row in rows}

    def _over(self, period: Period) -> bool:
        return self.fixing_day >= period.fixed_from

    def _damaged(self) -> set[Period]:
        """Nodes that are missing, edited, left in conflict or a stranger's, in folders where something moved."""
        found: set[Period] = set()
        for level in LEVELS:
            stamp = self.ctx.vault.folder_stamp(level)
            with self.ctx.db.read(self.ctx.space) as tx:
                if not self.everything and journal.state(tx, f"stamp {level}") == stamp:
                    continue
                known = {row.id: row for row in journal.nodes_between(tx, level, date.min, date.max)}
            here = {period.id for name in self.ctx.vault.stamps(level) if (period := self._period(level, name))}
            for id in known.keys() | here:
                row = known.get(id)
                if row is None or id not in here or not self._intact(row):
                    found.add(calendar.parse_period(id))
        return found

    def _intact(self, row: NodeRow) -> bool:
        text = self._read_file(row.id)
        return text is not None and (
            row.generator == nodes.FOREIGN or nodes.looks_like(text, row.body_hash, row.generator, digest)
        )

    def _period(self, level: Level, name: str) -> Period | None:
        try:
            found = calendar.parse_period(f"{level}/{name.removesuffix('.md')}")
        except BadInput:
            return None
        return found if name.endswith(".md") else None

    # Making

    def _level(self, level: Level, touched: set[Period], stamps: dict[str, str]) -> set[Period]:
        """Make the touched nodes of a level; gives the periods above those that changed."""
        order = sorted(touched, key=lambda period: period.first)
        self.models.allow_newest(level, order)
        above: set[Period] = set()
        for number, period in enumerate(order):
            self.progress(level, number, len(order))
            if self.dry_run and level != "daily":
                changed = self._planned(period)
            else:
                changed = self._daily(period, stamps) if level == "daily" else self._parent(period)
            if changed and (parent := calendar.parent(period)):
                above.add(parent)
            self._keep_lease()
        if order:
            self.progress(level, len(order), len(order))
        return above

    def _daily(self, period: Period, stamps: dict[str, str]) -> bool:
        day = period.first
        stamp = stamps.get(log_path(day))
        if stamp is None:
            return self._adopt(period)
        try:
            if not stamp:
                raise BadInput(f"{log_path(day)} is no regular file")
            log = logs.read(self.ctx, day, copied=self.limits.daily * BYTES_PER_LINE)
        except (BadInput, StoreUnreachable):
            self.unreadable.append(log_path(day))
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
            made = (node, key)
        row = LogRow(day=day, stamp=stamp, hash=log.hash, entries=len(log.entries))
        return self._write(*made, also=lambda tx: self._read_again(tx, row, log))

    def _read_again(self, tx: Tx, row: LogRow, log: logs.LogText) -> None:
        journal.put_log(tx, row)
        logs.index(tx, self.ctx, log)

    def _parent(self, period: Period) -> bool:
        level: Level = "daily" if period.level == "weekly" else "weekly"
        with self.ctx.db.read(self.ctx.space) as tx:
            rows = journal.nodes_between(tx, level, period.first, period.last)
        children = [self._read_node(row.id) for row in rows]
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
            made = (node, key)
        return self._write(*made)

    def _planned(self, period: Period) -> bool:
        """What a pass would touch: without writing the children, what it would say is not known."""
        with self.ctx.db.read(self.ctx.space) as tx:
            before = journal.node(tx, period.id)
        self.changes.append(Change(id=period.id, what="updated" if before else "created"))
        return True

    def _incomplete(self, period: Period, children: Sequence[Node]) -> tuple[str, ...]:
        unread = {path for path in self.unreadable if calendar.parse_day(path.removesuffix(".md")) in set(period.days)}
        return tuple(sorted(unread | {path for child in children for path in child.incomplete}))

    def _unchanged(
        self, period: Period, key: str, status: NodeStatus, incomplete: tuple[str, ...]
    ) -> tuple[Node, str] | None:
        """The node as it stands, with its status brought up to date, when its sources are those it was made from."""
        with self.ctx.db.read(self.ctx.space) as tx:
            row = journal.node(tx, period.id)
        if row is None or row.source_key != key or self.everything or self.models.wanted(row):
            return None
        node = self._read_node(period.id)
        if node is None or digest(node.body) != row.body_hash or node.generator != row.generator:
            return None
        return replace(node, status=status, incomplete=incomplete), key

    def _adopt(self, period: Period) -> bool:
        """A node whose sources are gone is all that is left of its period: it stays, and parents read it."""
        node = self._read_node(period.id)
        return self._write(node, "", file=False) if node else False

    def _write(self, node: Node, key: str, *, file: bool = True, also: Callable[[Tx], None] | None = None) -> bool:
        """File first, then its row and passage. Says whether parents have to look again."""
        with self.ctx.db.read(self.ctx.space) as tx:
            before = journal.node(tx, node.id)
        text = nodes.render(node) if file else ""
        same_file = not file or self.ctx.vault.read(path_of(node.id)) == text
        row = self._row(node, key, text)
        if same_file and before and replace(before, made_at=row.made_at) == row:
            if also and not self.dry_run:
                with self.ctx.db.write(self.ctx.space) as tx:
                    self._check(tx)
                    also(tx)
            return False
        self.changes.append(Change(id=node.id, what=_what(before, node, file=file)))
        if self.dry_run:
            return True
        if not same_file:
            self._keep_foreign(node.id, known=before is not None)
            self.ctx.vault.replace(path_of(node.id), text)
        with self.ctx.db.write(self.ctx.space) as tx:
            self._check(tx)
            journal.put_node(tx, row)
            passages.put(tx, passage_of(self.ctx, node, row.first_day))
            if also:
                also(tx)
        return before is None or (before.body_hash, before.status, before.incomplete) != (
            row.body_hash,
            row.status,
            row.incomplete,
        )

    def _keep_foreign(self, id: str, *, known: bool) -> None:
        """Somebody else's node is kept beside ours: it may hold words that no log has."""
        old = None if known else self.ctx.vault.read(path_of(id))
        if old is not None and nodes.parse(id, old).generator == nodes.FOREIGN:
            self.ctx.vault.replace(f"{path_of(id).removesuffix('.md')}.before.md", old)

    def _row(self, node: Node, key: str, text: str) -> NodeRow:
        level = node.id.partition("/")[0]
        capsule = ""
        if level == "monthly":
            capsule = packed(tree.capsule_of(node))
        first = self.today if node.id == ROOT else calendar.parse_period(node.id).first
        return NodeRow(
            id=node.id,
            level=level,
            first_day=first,
            status=node.status,
            source_key=key,
            body_hash=digest(node.body),
            generator=node.generator,
            topics=node.topics,
            incomplete=node.incomplete,
            capsule=capsule,
            tokens=tokens(text or node.body),
            waiting=self.models.waits(node),
            made_at=self.now,
        )

    # The root

    def _root(self) -> None:
        with self.ctx.db.read(self.ctx.space) as tx:
            months = journal.body_hashes(tx, "monthly")
            before = journal.node(tx, ROOT)
            days = tree.recent_days(journal.days_until(tx, self.today, limit=7), self.today)
        if not months:
            return
        recent = [node for day in days if (node := self._read_node(calendar.day(day).id))]
        key = source_key(
            [*months.items(), *((node.id, digest(node.body)) for node in recent), (str(self.today), "")],
            self.limits.root_tokens,
        )
        if before and before.source_key == key and self.ctx.vault.read("ROOT.md") and not self.everything:
            return
        latest = list(months)[-LATEST:]
        with self.ctx.db.read(self.ctx.space) as tx:
            capsules = [unpacked(text) for text in journal.capsules(tx, latest)]
        files = tree.root_files(
            self._past({id: sha for id, sha in months.items() if id not in latest}),
            capsules,
            recent,
            today=self.today,
            limits=self.limits,
            sources=tree.month_key(months),
        )
        self._write_root(files, key, before)

    def _past(self, months: dict[str, str]) -> Past:
        """The months before the latest two, folded; kept, because it changes once a month."""
        key = source_key(months.items(), self.limits.root_tokens)
        with self.ctx.db.read(self.ctx.space) as tx:
            if months and journal.state(tx, "past key") == key:
                return replace(unpacked_past(journal.state(tx, "past")), rest=journal.state(tx, "past rest"))
            past = fold([unpacked(text) for text in journal.capsules(tx, list(months))], self.limits.root_tokens)
        if not self.dry_run:
            with self.ctx.db.write(self.ctx.space) as tx:
                self._check(tx)
                journal.put_state(tx, "past", packed_past(past))
                journal.put_state(tx, "past rest", past.rest)
                journal.put_state(tx, "past key", key)
        return past

    def _write_root(self, files: dict[str, str | None], key: str, before: NodeRow | None) -> None:
        text, overflow = files["ROOT.md"], files[root.OVERFLOW]
        assert text is not None
        old, old_overflow = self.ctx.vault.read("ROOT.md"), self.ctx.vault.read(root.OVERFLOW)
        body = nodes.parse(ROOT, text).body
        node = Node(id=ROOT, status="tentative", topics=(), sources=(), generator=root.GENERATOR, body=body)
        if (old, old_overflow) != (text, overflow):
            self.changes.append(Change(id=ROOT, what="updated" if old else "created"))
        if self.dry_run:
            return
        if old is not None and before is None and nodes.parse(ROOT, old).generator == nodes.FOREIGN:
            self.ctx.vault.replace(KEPT_ROOT, old)
        if old != text:
            self.ctx.vault.replace("ROOT.md", text)
        if overflow is None and old_overflow is not None:
            self.ctx.vault.delete(root.OVERFLOW)
        elif overflow is not None and old_overflow != overflow:
            self.ctx.vault.replace(root.OVERFLOW, overflow)
        with self.ctx.db.write(self.ctx.space) as tx:
            self._check(tx)
            journal.put_node(tx, self._row(node, key, text))
            passages.put(tx, passage_of(self.ctx, node, self.today))

    # Small things

    def _forget(self, gone: Sequence[str]) -> None:
        """Logs that are no longer there: nothing of them is found, their nodes stay."""
        if gone and not self.dry_run:
            with self.ctx.db.write(self.ctx.space) as tx:
                for day in map(date.fromisoformat, gone):
                    journal.forget_log(tx, day)
                    for id in passages.ids_under(tx, f"log/{day.isoformat()}#"):
                        passages.remove(tx, id)

    def _read_node(self, id: str) -> Node | None:
        text = self._read_file(id)
        return nodes.parse(id, text) if text is not None else None

    def _read_file(self, id: str) -> str | None:
        try:
            return self.ctx.vault.read(path_of(id))
        except (BadInput, StoreUnreachable):
            self.unreadable.append(path_of(id))
            return None

    def _keep_lease(self) -> None:
        self._made += 1
        if self.lease and self._made % RENEWED_EVERY == 0:
            leases.renew(self.ctx, self.lease, seconds=LEASE_SECONDS)

    def _check(self, tx: Tx) -> None:
        if self.lease:
            leases.check(tx, self.lease)


def passage_of(ctx: Context, node: Node, day: date) -> Passage:
    """A node as search sees it; the root is as old as the day it was made on."""
    level, _, name = node.id.partition("/")
    lines = [line for line in node.body.split("\n") if line.strip() and not line.startswith("<!--")]
    topics = ", ".join(topic.name for topic in node.topics[:20])
    last = day if node.id == ROOT else calendar.parse_period(node.id).last
    return Passage(
        id=node.id,
        kind=KIND,
        title=f"{name or ROOT}: {topics}"[:400],
        lines=tuple(lines),
        at=logs.midday(ctx, last),
        trust="agent",
        thread=level,
    )


def source_key(sources: Iterable[tuple[str, str]], limit: int) -> str:
    """One hash for all a node is a function of, the way it is made included."""
    return digest("\n".join([MADE_BY, str(limit), *(f"{path} {sha}" for path, sha in sources)]))


def _what(before: NodeRow | None, node: Node, *, file: bool) -> str:
    if not file:
        return "adopted"
    if before is None:
        return "created"
    if before.status == "fixed" and before.body_hash != digest(node.body):
        return "reopened"
    if before.body_hash == digest(node.body) and before.status != node.status:
        return "fixed" if node.status == "fixed" else "reopened"
    return "updated"
