"""Nodes on their way to disk: file first, then row and passage, and nothing of anybody else's is lost.

A node that another tool made is kept beside ours (`….before.md`), and so is one that somebody wrote into
(`….edited.md`). What a node says and when it is made is decided elsewhere.

Copies of nodes that we did not write: another tool's (`….before.md`) and what somebody edited (`….edited.md`).

They may hold words that no log has, so they are found by search and shown by their id, `weekly/2025-W46.before`.
Nothing is made from them, and nothing here ever changes one.

Keeping ROOT.md true: made again when a month, a recent day or the date changed, or somebody wrote into it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date

from recollect.capture import logs
from recollect.core import calendar
from recollect.core.calendar import ROOT
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, StoreUnreachable
from recollect.core.journal import Node
from recollect.core.values import Passage
from recollect.distil import node_models
from recollect.distil.node_models import ModelSummaries
from recollect.models.ask import version_asked
from recollect.store import db, journal, model_rows, passages
from recollect.store.db import Lease
from recollect.store.journal import NodeRow
from recollect.text import nodes, root, tree
from recollect.text.root import LATEST, Past, fold, pack_digest, pack_past, unpack_digest, unpack_past
from recollect.text.staging import free_slug
from recollect.text.tokens import tokens
from recollect.text.tree import Limits, digest, path_of

KEPT_KIND = "kept"
_ID = re.compile(r"(?:ROOT|(?:daily|weekly|monthly)/[\w-]+)\.(?:before|edited(?:-\d+)?)")


def is_kept(id: str) -> bool:
    return bool(_ID.fullmatch(id))


def kept_ids(ctx: Context) -> list[str]:
    return [path.removesuffix(".md") for path in ctx.vault.paths() if is_kept(path.removesuffix(".md"))]


def kept_passages(ctx: Context, ids: Iterable[str]) -> Iterator[Passage]:
    for id in ids:
        text = ctx.vault.read(f"{id}.md")
        if text is not None:
            yield kept_passage(id, text)


def kept_passage(id: str, text: str) -> Passage:
    """How a copy is searched. It has no time: what it tells of may be long past."""
    lines = nodes.parse(id, text).body.split("\n")
    return Passage(
        id=id,
        kind=KEPT_KIND,
        title=f"{id}, a copy that was kept",
        lines=tuple(line for line in lines if line.strip() and not line.startswith("<!--")),
        at=0,
        trust="agent",
        thread=KEPT_KIND,
    )


KIND = "node"
LEASE_SECONDS = 600
RENEWED_EVERY = 50
MADE_BY = "tree/2"
"""Changes with the code that makes nodes, so that a newer program makes them again."""


@dataclass(frozen=True, kw_only=True)
class NodeChange:
    """One node that a pass made: created, updated, fixed, reopened, adopted."""

    id: str
    what: str


@dataclass(kw_only=True)
class NodeFiles:
    """The nodes as one pass reads and writes them, and what it did to them. A dry run only remembers."""

    ctx: Context
    lease: Lease | None
    dry_run: bool
    today: date
    limits: Limits
    models: ModelSummaries
    changes: list[NodeChange] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    unreadable: list[str] = field(default_factory=list)
    _steps: int = 0
    _calls: int = 0

    def node(self, id: str) -> Node | None:
        text = self.text(id)
        return nodes.parse(id, text) if text is not None else None

    def text(self, id: str) -> str | None:
        try:
            return self.ctx.vault.read(path_of(id))
        except (BadInput, StoreUnreachable):
            self.unreadable.append(path_of(id))
            return None

    def intact(self, row: NodeRow) -> bool:
        """Whether a node's file still says what we wrote into it."""
        text = self.text(row.id)
        return text is not None and (
            row.generator == nodes.FOREIGN or nodes.looks_like(text, row.body_hash, row.generator, digest)
        )

    def row(self, id: str) -> NodeRow | None:
        with self.ctx.db.read(self.ctx.space) as tx:
            return journal.node(tx, id)

    def write(self, node: Node, key: str, *, file: bool = True, also: Callable[[Tx], None] | None = None) -> bool:
        """File first, then its row and passage. Says whether parents have to look again."""
        before = self.row(node.id)
        text = nodes.render(node) if file else ""
        old = self.ctx.vault.read(path_of(node.id)) if file else text
        row = self.row_of(node, key, text)
        if old == text and before and replace(before, made_at=row.made_at) == row:
            failed = node.id in self.models.failed
            if (also or failed) and not self.dry_run:
                with self.writing() as tx:
                    if also:
                        also(tx)
                    if failed:
                        journal.wait_again(tx, node.id, at=row.made_at)
            return False
        self.changes.append(NodeChange(id=node.id, what=_what(before, node, file=file)))
        if self.dry_run:
            return True
        if old != text:
            self._keep_others_words(node.id, old, before)
            self.ctx.vault.replace(path_of(node.id), text)
        with self.writing() as tx:
            journal.put_node(tx, row)
            passages.put(tx, passage_of(self.ctx, node, row.first_day))
            if also:
                also(tx)
        return before is None or (before.body_hash, before.status, before.incomplete) != (
            row.body_hash,
            row.status,
            row.incomplete,
        )

    @contextmanager
    def writing(self) -> Iterator[Tx]:
        """A transaction that ends in nothing when another process took over the work."""
        with self.ctx.db.write(self.ctx.space) as tx:
            if self.lease:
                db.check_lease(tx, self.lease)
            yield tx

    def row_of(self, node: Node, key: str, text: str) -> NodeRow:
        level = node.id.partition("/")[0]
        return NodeRow(
            id=node.id,
            level=level,
            first_day=self.today if node.id == ROOT else calendar.parse_period(node.id).first,
            status=node.status,
            source_key=key,
            body_hash=digest(node.body),
            generator=node.generator,
            topics=node.topics,
            incomplete=node.incomplete,
            capsule=pack_digest(tree.month_digest_of(node)) if level == "monthly" else "",
            tokens=tokens(text or node.body),
            waiting=self.models.waits(node),
            made_at=self.ctx.clock.now(),
        )

    def step(self) -> None:
        """One more node is done; a long pass keeps its lease, and calls of a model are what takes long."""
        self._steps += 1
        asked, self._calls = self.models.calls > self._calls, self.models.calls
        if self.lease and (asked or self._steps % RENEWED_EVERY == 0):
            db.renew_lease(self.ctx, self.lease, seconds=LEASE_SECONDS)

    def keep(self, id: str, text: str) -> None:
        """Put a copy aside that is not ours; it may hold words that no log has."""
        self.ctx.vault.replace(f"{id}.md", text)
        with self.writing() as tx:
            passages.put(tx, kept_passage(id, text))

    def _keep_others_words(self, id: str, old: str | None, before: NodeRow | None) -> None:
        if old is None:
            return
        found = nodes.parse(id, old)
        if before is None and found.generator == nodes.FOREIGN:
            self.keep(f"{id}.before", old)
        elif before and self._edited(found, before):
            level, _, name = id.partition("/")
            taken = {name.removesuffix(".md") for name in self.ctx.vault.stamps(level)}
            copy = f"{level}/{free_slug(f'{name}.edited', taken)}"
            self.keep(copy, old)
            self.kept.append(f"{copy}.md")

    def _edited(self, found: Node, before: NodeRow) -> bool:
        """Other words from the sources we took ours from: somebody's edit, not the node of another clone or a merge."""
        if "\nsource-files:" in found.body:
            return False
        sources = ((source.path, source.sha256) for source in found.sources)
        level = calendar.parse_period(found.id).level
        return (
            source_key(sources, self.limits.of(level)) == before.source_key and digest(found.body) != before.body_hash
        )


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


KEPT_ROOT = "ROOT.before"
"""Where the ROOT.md of another tool goes when ours takes its place."""


def update_root(files: NodeFiles, *, everything: bool, asking: bool) -> None:
    """Not `asking`, the patterns are worded as they are known."""
    with files.ctx.db.read(files.ctx.space) as tx:
        months = journal.body_hashes(tx, "monthly")
        before = journal.node(tx, ROOT)
        days = tree.recent_days(journal.days_until(tx, files.today, limit=7), files.today)
        answered = bool(model_rows.answered_asks(tx, node_models.PATTERNS_KIND))
    if files.dry_run and any(change.id.startswith("monthly/") for change in files.changes):
        files.changes.append(NodeChange(id=ROOT, what="updated" if before else "created"))
        return
    if not months:
        return
    recent = [node for day in days if (node := files.node(calendar.day(day).id))]
    key = source_key(
        [
            *months.items(),
            *((node.id, digest(node.body)) for node in recent),
            (str(files.today), version_asked(files.ctx, node_models.PATTERNS_KIND)),
        ],
        files.limits.root_tokens,
    )
    if before and before.source_key == key and not answered and files.intact(before) and not everything:
        return
    latest = list(months)[-LATEST:]
    with files.ctx.db.read(files.ctx.space) as tx:
        capsules = [unpack_digest(text) for text in journal.capsules(tx, latest)]
    made = tree.root_files(
        _past(files, {id: sha for id, sha in months.items() if id not in latest}),
        capsules,
        recent,
        today=files.today,
        limits=files.limits,
        sources=tree.month_key(months),
        word=node_models.patterns_wording(files.ctx, asking=asking),
    )
    _write(files, made, key, before)


def _past(files: NodeFiles, months: dict[str, str]) -> Past:
    """The months before the latest two, folded; kept, because it changes once a month."""
    key = source_key(months.items(), files.limits.root_tokens)
    with files.ctx.db.read(files.ctx.space) as tx:
        if months and journal.state(tx, "past key") == key:
            return replace(unpack_past(journal.state(tx, "past")), rest=journal.state(tx, "past rest"))
        past = fold([unpack_digest(text) for text in journal.capsules(tx, list(months))], files.limits.root_tokens)
    if not files.dry_run:
        with files.writing() as tx:
            journal.put_state(tx, "past", pack_past(past))
            journal.put_state(tx, "past rest", past.rest)
            journal.put_state(tx, "past key", key)
    return past


def _write(files: NodeFiles, made: dict[str, str | None], key: str, before: NodeRow | None) -> None:
    text, overflow = made["ROOT.md"], made[root.OVERFLOW]
    assert text is not None
    vault = files.ctx.vault
    old, old_overflow = vault.read("ROOT.md"), vault.read(root.OVERFLOW)
    said = nodes.parse(ROOT, text)
    node = Node(id=ROOT, status="tentative", topics=(), sources=(), generator=said.generator, body=said.body)
    if (old, old_overflow) != (text, overflow):
        files.changes.append(NodeChange(id=ROOT, what="updated" if old else "created"))
    if files.dry_run:
        return
    if old is not None and before is None and nodes.parse(ROOT, old).generator == nodes.FOREIGN:
        files.keep(KEPT_ROOT, old)
    if old != text:
        vault.replace("ROOT.md", text)
    if overflow is None and old_overflow is not None:
        vault.delete(root.OVERFLOW)
    elif overflow is not None and old_overflow != overflow:
        vault.replace(root.OVERFLOW, overflow)
    with files.writing() as tx:
        journal.put_node(tx, files.row_of(node, key, text))
        passages.put(tx, passage_of(files.ctx, node, files.today))
