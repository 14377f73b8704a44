"""Who owns which passages: for each kind, what there is and what each one's passage would be if it were written now.

A room that brings a new kind of passage adds its owner here; `verify` reports passages that nobody owns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from recollect.capture import documents, finding, stage
from recollect.capture import log_files as logs
from recollect.core.context import Context, Tx
from recollect.core.passage import Passage
from recollect.distil import kept_copies, node_files, themes
from recollect.store import decisions, derived, journal, learnings, readings
from recollect.store import themes as theme_rows
from recollect.text import nodes
from recollect.text.staging import Entry, read_staging
from recollect.text.tree import path_of

BATCH = 200


@dataclass(frozen=True, kw_only=True)
class Owner:
    """One kind: all ids, and the passages of some of them (an id that has gone meanwhile gives none)."""

    ids: Callable[[Context, Tx], Iterable[str]]
    make: Callable[[Context, Tx, Sequence[str]], Iterable[Passage]]


def _reading_in(ctx: Context, tx: Tx) -> Context:
    """The same context, its files read in the open transaction: a server's vault is rows too."""
    return replace(ctx, vault=ctx.vault.inside(tx))


def _learning_passages(_: Context, tx: Tx, ids: Sequence[str]) -> Iterable[Passage]:
    return map(learnings.passage_of, learnings.many(tx, ids))


def _decision_passages(_: Context, tx: Tx, ids: Sequence[str]) -> Iterable[Passage]:
    return map(decisions.passage_of, decisions.many(tx, ids))


def _finding_ids(ctx: Context, tx: Tx) -> Iterable[str]:
    ctx = _reading_in(ctx, tx)
    return [found.id for file in finding.survey(ctx).files for found in file.findings]


def _finding_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterable[Passage]:
    ctx = _reading_in(ctx, tx)
    wanted = set(ids)
    for file in finding.survey(ctx).files:
        for found in file.findings:
            if found.id in wanted:
                yield finding.passage_of(found, at=finding.when(file.timestamp))


def _theme_ids(_: Context, tx: Tx) -> Iterable[str]:
    return [f"theme/{stored.theme.name}" for stored in theme_rows.everything(tx)]


def _theme_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterable[Passage]:
    ctx = _reading_in(ctx, tx)
    at = theme_rows.last_run(tx) or 0
    for id in ids:
        name = id.removeprefix("theme/")
        yield themes.theme_passage(name, ctx.vault.read(themes.theme_path(name)) or "", at=at)


def _held(tx: Tx, kind: str) -> Iterator[str]:
    """What some clone's files hold, this one's or another's; only what is here can be made."""
    return (id for id in readings.all_held(tx) if id.startswith(f"{kind}/"))


def _staged(ctx: Context) -> dict[str, Entry]:
    return {stage.id_of(entry): entry for entry in read_staging(stage.read_file(ctx)).entries}


def _staged_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterable[Passage]:
    entries = _staged(ctx)
    return [stage.passage_of(ctx, tx, entries[id]) for id in ids if id in entries]


def _entries(ctx: Context, tx: Tx) -> Iterator[str]:
    ctx = _reading_in(ctx, tx)
    stamps = ctx.vault.stamps()
    for day in logs.days(name for name, stamp in stamps.items() if stamp):
        yield from (entry.id for entry in logs.searched(logs.read(ctx, day).entries))


def _entry_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterator[Passage]:
    ctx = _reading_in(ctx, tx)
    wanted = set(ids)
    for day in sorted({logs.day_of_entry(id) for id in ids}):
        yield from (passage for passage in logs.passages_of(ctx, logs.read(ctx, day)) if passage.id in wanted)


def _node_ids(ctx: Context, tx: Tx) -> Iterable[str]:
    """Nodes of the tree. One that was moved or restored is made anew by the next cycle; until then files own them."""
    if known := journal.ids(tx):
        return known
    vault = ctx.vault.inside(tx)
    return [id for id in derived.passage_ids(tx).get(node_files.KIND, ()) if vault.read(path_of(id)) is not None]


def _node_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterator[Passage]:
    for id in ids:
        row, text = journal.node(tx, id), ctx.vault.inside(tx).read(path_of(id))
        if row and text is not None:
            yield node_files.passage_of(ctx, nodes.parse(id, text), row.first_day)


OWNERS: dict[str, Owner] = {
    learnings.KIND: Owner(ids=lambda _, tx: learnings.ids(tx), make=_learning_passages),
    decisions.KIND: Owner(ids=lambda _, tx: decisions.ids(tx), make=_decision_passages),
    finding.KIND: Owner(ids=_finding_ids, make=_finding_passages),
    themes.KIND: Owner(ids=_theme_ids, make=_theme_passages),
    stage.KIND: Owner(ids=lambda ctx, tx: {*_staged(ctx), *_held(tx, stage.KIND)}, make=_staged_passages),
    logs.KIND: Owner(ids=_entries, make=_entry_passages),
    kept_copies.KIND: Owner(
        ids=lambda ctx, tx: kept_copies.ids(_reading_in(ctx, tx)),
        make=lambda ctx, tx, ids: kept_copies.passages_of(_reading_in(ctx, tx), ids),
    ),
    node_files.KIND: Owner(ids=_node_ids, make=_node_passages),
    documents.KIND: Owner(
        ids=lambda ctx, tx: {*documents.ids(ctx), *_held(tx, documents.KIND)},
        make=lambda ctx, _, ids: documents.passages_with(ctx, set(ids)),
    ),
}


def expected(ctx: Context, tx: Tx, owner: Owner) -> Iterator[Passage]:
    """Every passage of one kind, as it should be."""
    for batch in batches(list(owner.ids(ctx, tx))):
        yield from owner.make(ctx, tx, batch)


def batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
