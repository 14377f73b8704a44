"""Keeping ROOT.md true: made again when a month, a recent day or the date changed, or somebody wrote into it."""

from __future__ import annotations

from dataclasses import replace

from recollect.core import calendar
from recollect.core.calendar import ROOT
from recollect.core.journal import Node
from recollect.distil import patterns
from recollect.distil.node_files import Change, NodeFiles, passage_of, source_key
from recollect.models.prompts import version_asked
from recollect.store import asks, journal, passages
from recollect.store.journal import NodeRow
from recollect.text import nodes, root, tree
from recollect.text.capsule import LATEST, Past, fold, packed_past, unpacked, unpacked_past
from recollect.text.tree import digest

KEPT_ROOT = "ROOT.before"
"""Where the ROOT.md of another tool goes when ours takes its place."""


def update_root(files: NodeFiles, *, everything: bool, asking: bool) -> None:
    """Not `asking`, the patterns are worded as they are known."""
    with files.ctx.db.read(files.ctx.space) as tx:
        months = journal.body_hashes(tx, "monthly")
        before = journal.node(tx, ROOT)
        days = tree.recent_days(journal.days_until(tx, files.today, limit=7), files.today)
        answered = bool(asks.answered(tx, patterns.KIND))
    if files.dry_run and any(change.id.startswith("monthly/") for change in files.changes):
        files.changes.append(Change(id=ROOT, what="updated" if before else "created"))
        return
    if not months:
        return
    recent = [node for day in days if (node := files.node(calendar.day(day).id))]
    key = source_key(
        [
            *months.items(),
            *((node.id, digest(node.body)) for node in recent),
            (str(files.today), version_asked(files.ctx, patterns.KIND)),
        ],
        files.limits.root_tokens,
    )
    if before and before.source_key == key and not answered and files.intact(before) and not everything:
        return
    latest = list(months)[-LATEST:]
    with files.ctx.db.read(files.ctx.space) as tx:
        capsules = [unpacked(text) for text in journal.capsules(tx, latest)]
    made = tree.root_files(
        _past(files, {id: sha for id, sha in months.items() if id not in latest}),
        capsules,
        recent,
        today=files.today,
        limits=files.limits,
        sources=tree.month_key(months),
        word=patterns.wording(files.ctx, asking=asking),
    )
    _write(files, made, key, before)


def _past(files: NodeFiles, months: dict[str, str]) -> Past:
    """The months before the latest two, folded; kept, because it changes once a month."""
    key = source_key(months.items(), files.limits.root_tokens)
    with files.ctx.db.read(files.ctx.space) as tx:
        if months and journal.state(tx, "past key") == key:
            return replace(unpacked_past(journal.state(tx, "past")), rest=journal.state(tx, "past rest"))
        past = fold([unpacked(text) for text in journal.capsules(tx, list(months))], files.limits.root_tokens)
    if not files.dry_run:
        with files.writing() as tx:
            journal.put_state(tx, "past", packed_past(past))
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
        files.changes.append(Change(id=ROOT, what="updated" if old else "created"))
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
