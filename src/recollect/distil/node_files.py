"""Nodes on their way to disk: file first, then row and passage, and nothing of anybody else's is lost.

A node that another tool made is kept beside ours (`….before.md`), and so is one that somebody wrote into
(`….edited.md`). What a node says and when it is made is decided elsewhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import date

from recollect.capture import log_files as logs
from recollect.core import calendar
from recollect.core.calendar import ROOT
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, StoreUnreachable
from recollect.core.journal import Node
from recollect.core.passage import Passage
from recollect.distil import kept_copies
from recollect.distil.summary import ModelSummaries
from recollect.store import journal, leases, passages
from recollect.store.journal import NodeRow
from recollect.store.leases import Lease
from recollect.text import nodes, tree
from recollect.text.capsule import packed
from recollect.text.staging import free_slug
from recollect.text.tokens import tokens
from recollect.text.tree import Limits, digest, path_of

KIND = "node"
LEASE_SECONDS = 600
RENEWED_EVERY = 50
MADE_BY = "tree/2"
"""Changes with the code that makes nodes, so that a newer program makes them again."""


@dataclass(frozen=True, kw_only=True)
class Change:
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
    changes: list[Change] = field(default_factory=list)
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
        self.changes.append(Change(id=node.id, what=_what(before, node, file=file)))
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
                leases.check(tx, self.lease)
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
            capsule=packed(tree.capsule_of(node)) if level == "monthly" else "",
            tokens=tokens(text or node.body),
            waiting=self.models.waits(node),
            made_at=self.ctx.clock.now(),
        )

    def step(self) -> None:
        """One more node is done; a long pass keeps its lease, and calls of a model are what takes long."""
        self._steps += 1
        asked, self._calls = self.models.calls > self._calls, self.models.calls
        if self.lease and (asked or self._steps % RENEWED_EVERY == 0):
            leases.renew(self.ctx, self.lease, seconds=LEASE_SECONDS)

    def keep(self, id: str, text: str) -> None:
        """Put a copy aside that is not ours; it may hold words that no log has."""
        self.ctx.vault.replace(f"{id}.md", text)
        with self.writing() as tx:
            passages.put(tx, kept_copies.passage_of(id, text))

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
