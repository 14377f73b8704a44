"""Reading and writing the files of the tree: nodes, ROOT.md, and copies of what others wrote into them.

A node's file is written first, then its row and passage. A node that another tool made (`….before.md`) or a person
edited (`….edited.md`) is copied before it is replaced: search finds its words by ids such as `weekly/2025-W46.before`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache

from recollect.capture import logs
from recollect.core import calendar
from recollect.core.calendar import ROOT, Period
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, StoreUnreachable
from recollect.core.journal import Node
from recollect.core.records import Passage, record, replace
from recollect.distil import node_models
from recollect.distil.node_models import ModelSummaries
from recollect.models.ask import prompt_version
from recollect.store import db, journal, model_rows, passages, topics
from recollect.store.db import Lease
from recollect.store.journal import NodeRow
from recollect.text import nodes, root
from recollect.text.nodes import Limits, digest, path_of
from recollect.text.root import LATEST, Past, fold, pack_digest, pack_past, unpack_digest, unpack_past
from recollect.text.staging import free_slug
from recollect.text.tokens import tokens

KEPT_KIND = "kept"
_ID = re.compile(r"(?:ROOT|(?:daily|weekly|monthly)/[\w-]+)\.(?:before|edited(?:-\d+)?)")


# A pass reads a node up to six times (its own check, its parent, the root); a month has 31 days and 5 weeks.
_parsed = lru_cache(maxsize=64)(nodes.parse)


def is_kept(id: str) -> bool:
    return bool(_ID.fullmatch(id))


def kept_ids(ctx: Context) -> list[str]:
    return [id for path in ctx.vault.paths() if is_kept(id := path.removesuffix(".md"))]


def kept_passages(ctx: Context, ids: Iterable[str]) -> Iterator[Passage]:
    found = ((id, ctx.vault.read(f"{id}.md")) for id in ids)
    return (kept_passage(id, text) for id, text in found if text is not None)


def kept_passage(id: str, text: str) -> Passage:
    """A copy as a passage, without a time: what it tells of may be long past."""
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
LEASE_SECONDS = 600  # longer than a model may take for one node: three tries of 120 seconds
RENEWED_EVERY = 50  # nodes; without a model these take a second or two
MADE_BY = "tree/5"  # changes with the code that makes nodes, so that a newer program makes them again


@record
class NodeChange:
    """One node that a pass made: created, updated, fixed, reopened, adopted."""

    id: str
    what: str


@dataclass(kw_only=True)
class NodeFiles:
    """The nodes as one pass reads and writes them, and what it changed."""

    ctx: Context
    lease: Lease
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
        return _parsed(id, text) if text is not None else None

    def text(self, id: str) -> str | None:
        try:
            return self.ctx.vault.read(path_of(id))
        except (BadInput, StoreUnreachable):
            self.unreadable.append(path_of(id))
            return None

    def intact(self, row: NodeRow) -> bool:
        text = self.text(row.id)
        return text is not None and (
            row.generator == nodes.FOREIGN or nodes.looks_like(text, row.body_hash, row.generator)
        )

    def row(self, id: str) -> NodeRow | None:
        return self.ctx.read(journal.node, id)

    def write(self, node: Node, key: str, *, file: bool = True, also: Callable[[Tx], None] | None = None) -> bool:
        """Write the file, then its row and passage; returns whether the parent has to be made again."""
        before = self.row(node.id)
        text = nodes.render(node) if file else ""
        old = self.ctx.vault.read(path_of(node.id)) if file else text
        row = self.row_of(node, key)
        if old == text and before and replace(before, made_at=row.made_at) == row:
            failed = node.id in self.models.failed
            if also or failed:
                with self.writing() as tx:
                    if also:
                        also(tx)
                    if failed:
                        journal.wait_again(tx, node.id, at=row.made_at)
            return False
        self.changes.append(NodeChange(id=node.id, what=_what(before, node, file=file)))
        if old != text:
            self._keep_foreign_text(node.id, old, before)
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
        """A transaction that is refused when another process took over the lease."""
        with self.ctx.db.write(self.ctx.space) as tx:
            db.check_lease(tx, self.lease)
            yield tx

    def row_of(self, node: Node, key: str) -> NodeRow:
        level, capsule = node.id.partition("/")[0], ""
        if level == "monthly":
            capsule = pack_digest(nodes.month_digest_of(node, self.names(calendar.parse_period(node.id))))
        return NodeRow(
            id=node.id,
            level=level,
            first_day=self.today if node.id == ROOT else calendar.parse_period(node.id).first,
            status=node.status,
            source_key=key,
            body_hash=digest(node.body),
            generator=node.generator,
            topics=tuple((topic.name, topic.type) for topic in node.topics),
            incomplete=node.incomplete,
            capsule=capsule,
            # Marks and hashes are not counted: no reader is shown them, and keys in them are random.
            tokens=tokens("\n".join(line for line in node.body.split("\n") if not line.startswith("<!--"))),
            waiting=self.models.waits(node),
            made_at=self.ctx.clock.now(),
        )

    def names(self, period: Period) -> dict[str, str]:
        return self.ctx.read(topics.names_between, period.first, period.last)

    def step(self) -> None:
        """Count one more node, and renew the lease after a call of a model or many nodes."""
        self._steps += 1
        asked, self._calls = self.models.calls > self._calls, self.models.calls
        if self.lease and (asked or self._steps % RENEWED_EVERY == 0):
            db.renew_lease(self.ctx, self.lease, seconds=LEASE_SECONDS)

    def keep(self, id: str, text: str) -> None:
        """Write a copy of a file that is not ours, and make it searchable."""
        self.ctx.vault.replace(f"{id}.md", text)
        with self.writing() as tx:
            passages.put(tx, kept_passage(id, text))

    def _keep_foreign_text(self, id: str, old: str | None, before: NodeRow | None) -> None:
        if old is None:
            return
        found = _parsed(id, old)
        if before is None and found.generator == nodes.FOREIGN:
            self.keep(f"{id}.before", old)
        elif before and self._edited(found, before):
            level, _, name = id.partition("/")
            taken = {name.removesuffix(".md") for name in self.ctx.vault.stamps(level)}
            copy = f"{level}/{free_slug(f'{name}.edited', taken)}"
            self.keep(copy, old)
            self.kept.append(f"{copy}.md")

    def _edited(self, found: Node, before: NodeRow) -> bool:
        """Another text with the sources of ours: a person's edit, not the node of another clone."""
        if "\nsource-files:" in found.body:  # a merge of two clones
            return False
        sources = ((source.path, source.sha256) for source in found.sources)
        level = calendar.parse_period(found.id).level
        key = source_key(sources, self.limits.of(level))
        return before.source_key.partition(" ")[0] == key and digest(found.body) != before.body_hash


def passage_of(ctx: Context, node: Node, day: date) -> Passage:
    """A node as search finds it; the root is dated by the day it was made on."""
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
    """One hash of the files that a node is made from, the code's version included."""
    return digest("\n".join([MADE_BY, str(limit), *(f"{path} {sha}" for path, sha in sources)]))


def node_key(sources: Iterable[tuple[str, str]], limit: int, names: Mapping[str, str]) -> str:
    """The hash of a node's sources, and one of its topics' names."""
    return f"{source_key(sources, limit)} {digest(str(sorted(names.items())))}"


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


def update_root(files: NodeFiles, *, everything: bool, asking: bool) -> None:
    """Make ROOT.md again when a month, a recent day or the date changed, or a person edited it.

    Unless `asking`, no model words its patterns.
    """
    with files.ctx.db.read(files.ctx.space) as tx:
        months = journal.months(tx)
        before = journal.node(tx, ROOT)
        days = nodes.recent_days(journal.days_until(tx, files.today, limit=7), files.today)
        answered = bool(model_rows.answered_asks(tx, node_models.PATTERNS_KIND))
        done, _ = topics.listed(tx, now=files.ctx.clock.now(), state="done", limit=200)  # more than the page can show
    if not months:
        return
    texts = {id: text for day in days if (text := files.text(id := calendar.day(day).id)) is not None}
    names = {ref: name for day in days for ref, name in files.names(calendar.day(day)).items()}
    key = node_key(
        [
            ("months", str(months)),
            ("done", str(ended := [row.name for row in done])),
            *((id, digest(text)) for id, text in texts.items()),
            (str(files.today), prompt_version(files.ctx, node_models.PATTERNS_KIND)),
        ],
        files.limits.root_tokens,
        names,
    )
    if before and before.source_key == key and not answered and files.intact(before) and not everything:
        return
    latest = list(months)[-LATEST:]
    capsules = [unpack_digest(text) for text in files.ctx.read(journal.capsules, latest)]
    made = nodes.root_files(
        _past(files, {id: hashes for id, hashes in months.items() if id not in latest}),
        capsules,
        [_parsed(id, text) for id, text in texts.items()],
        today=files.today,
        limits=files.limits,
        word=node_models.patterns_wording(files.ctx, asking=asking),
        names=names,
        done=ended,
    )
    _write(files, made, key, before)


def _past(files: NodeFiles, months: Mapping[str, tuple[str, str]]) -> Past:
    """The months before the latest ones as one digest; stored, because it seldom changes."""
    key = f"2 {source_key([('months', str(months))], files.limits.root_tokens)}"  # with the form of the digest
    with files.ctx.db.read(files.ctx.space) as tx:
        if months and journal.state(tx, "past key") == key:
            return replace(unpack_past(journal.state(tx, "past")), rest=journal.state(tx, "past rest"))
        past = fold([unpack_digest(text) for text in journal.capsules(tx, list(months))], files.limits.root_tokens)
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
    if old is not None and before is None and nodes.parse(ROOT, old).generator == nodes.FOREIGN:
        files.keep("ROOT.before", old)
    if old != text:
        vault.replace("ROOT.md", text)
    if overflow is None and old_overflow is not None:
        vault.delete(root.OVERFLOW)
    elif overflow is not None and old_overflow != overflow:
        vault.replace(root.OVERFLOW, overflow)
    with files.writing() as tx:
        journal.put_node(tx, files.row_of(node, key))
        passages.put(tx, passage_of(files.ctx, node, files.today))
