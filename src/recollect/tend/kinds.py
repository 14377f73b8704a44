"""Who owns which passages: for each kind, what there is and what each one's passage would be if it were written now.

A room that brings a new kind of passage adds its owner here; `verify` reports passages that nobody owns.

Any text by its id, whole, and what stands before and after it: where a search hit leads.

Whole means as its home has it: the entry of the log, the file of the node, the section of the document. Knows nothing
about ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from recollect.capture import documents, finding, logs, stage
from recollect.core.calendar import LEVELS, ROOT
from recollect.core.choices import Trust
from recollect.core.context import Context, Tx
from recollect.core.decision import Decision
from recollect.core.errors import NotFound
from recollect.core.learning import COIA, Learning
from recollect.core.records import check_limit
from recollect.core.values import Passage
from recollect.distil import node_files, themes, tree
from recollect.store import decisions, derived, journal, learnings, passages
from recollect.store import themes as theme_rows
from recollect.store.passages import Stored
from recollect.text import nodes
from recollect.text.sentences import WIDTH, snippet
from recollect.text.staging import StagedEntry, read_staging
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
    return (id for id in journal.all_readings(tx) if id.startswith(f"{kind}/"))


def _staged(ctx: Context) -> dict[str, StagedEntry]:
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
    node_files.KEPT_KIND: Owner(
        ids=lambda ctx, tx: node_files.kept_ids(_reading_in(ctx, tx)),
        make=lambda ctx, tx, ids: node_files.kept_passages(_reading_in(ctx, tx), ids),
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


MOST = 100


@dataclass(frozen=True, kw_only=True)
class FullText:
    """A text with what is known of it."""

    id: str
    kind: str
    title: str
    text: str
    at: int | None
    trust: Trust


@dataclass(frozen=True, kw_only=True)
class Neighbouring:
    """A neighbour in short; `step` says how far before (below zero) or after it stands."""

    id: str
    title: str
    snippet: str
    at: int
    out_of_use: str
    step: int


def get(ctx: Context, id: str) -> FullText:
    """The whole of whatever an id names."""
    make = _HOMES.get(_kind(id))
    if make is None:
        raise NotFound(
            f"no {id!r:.80}; ids look like learn_…, dec_…, log/2026-03-01#3, weekly/2026-W09, doc/PATH#SECTION"
        )
    title, text = make(ctx, id)
    with ctx.db.read(ctx.space) as tx:
        stored = passages.by_id(tx, id)
    return FullText(
        id=id,
        kind=_kind(id),
        title=title or (stored.title if stored else id),
        text=text,
        at=stored.at if stored and stored.at else None,
        trust=stored.trust if stored else "agent",
    )


def around(ctx: Context, id: str, *, before: int = 3, after: int = 3) -> list[Neighbouring]:
    """What stands before and after: in its session, work unit or document, otherwise by time among its kind."""
    for name, count in (("before", before), ("after", after)):
        check_limit(count, name, least=0, most=MOST)
    with ctx.db.read(ctx.space) as tx:
        here = passages.by_id(tx, id)
        if here is None:
            raise NotFound(f"no {id} among what can be searched; recollect search finds ids")
        earlier = [(-step, one) for step, one in enumerate(passages.before(tx, here, limit=before), start=1)]
        later = list(enumerate(passages.after(tx, here, limit=after), start=1))
        ids = [one.id for _, one in (*earlier, (0, here), *later)]
        records = {each.id: each for noun in (learnings, decisions) for each in noun.many(tx, ids)}
    return [_beside(step, one, records.get(one.id)) for step, one in (*reversed(earlier), (0, here), *later)]


def _beside(step: int, one: Stored, record: Learning | Decision | None) -> Neighbouring:
    text = " ".join(one.text[: 2 * WIDTH].split())
    return Neighbouring(
        id=one.id,
        title=one.title,
        snippet=snippet(text, frozenset()),
        at=one.at,
        out_of_use=record.out_of_use if record else "",
        step=step,
    )


def _kind(id: str) -> str:
    head, slash, _ = id.partition("/")
    if id == ROOT or (slash and head in LEVELS):
        return "node"
    if slash:
        return head
    return {"learn": learnings.KIND, "dec": decisions.KIND}.get(id.partition("_")[0], "")


def _learning(ctx: Context, id: str) -> tuple[str, str]:
    with ctx.db.read(ctx.space) as tx:
        learning = learnings.get(tx, id)
    fields = [f"{name.capitalize()}: {value}" for name, value in zip(COIA, learning.fields, strict=True)]
    return learning.title, _with_use("\n".join(fields), learning)


def _decision(ctx: Context, id: str) -> tuple[str, str]:
    with ctx.db.read(ctx.space) as tx:
        decision = decisions.get(tx, id)
    passage = decisions.passage_of(decision)
    return passage.title, _with_use(passage.text, decision)


def _with_use(text: str, record: Learning | Decision) -> str:
    return f"{text}\nOut of use: {record.out_of_use}" if record.out_of_use else text


def _entry(ctx: Context, id: str) -> tuple[str, str]:
    found = logs.entry(ctx, id)
    return found.topic, found.text


def _node(ctx: Context, id: str) -> tuple[str, str]:
    return id, tree.read(ctx, id)


def _finding(ctx: Context, id: str) -> tuple[str, str]:
    found = finding.get(ctx, id)
    return "", "\n".join(text for text in (found.description, found.proposed_rule) if text)


def _theme(ctx: Context, id: str) -> tuple[str, str]:
    text = ctx.vault.read(themes.theme_path(id.removeprefix("theme/")))
    if text is None:
        raise NotFound(f"no {id}; see: recollect theme list")
    return "", text


def _whole_staged(ctx: Context, id: str) -> tuple[str, str]:
    if entry := read_staging(stage.read_file(ctx)).entry(id.removeprefix(f"{stage.KIND}/")):
        return entry.title, entry.body
    return _elsewhere(ctx, id, stage.KIND, f"in {ctx.settings.staging.file}")


def _section(ctx: Context, id: str) -> tuple[str, str]:
    path = documents.path_of(id)
    if path in documents.paths(ctx) and "#" not in id:
        return path, ctx.worktree.read(path) or ""
    for passage in islice(documents.passages_with(ctx, {id}), 1):
        return passage.title, passage.text
    return _elsewhere(
        ctx, id, f"{documents.KIND}/{path}", "among the permanent documents (setting consolidate.documents)"
    )


def _elsewhere(ctx: Context, id: str, source: str, where: str) -> tuple[str, str]:
    """What only another clone's file says, as search knows it."""
    with ctx.db.read(ctx.space) as tx:
        stored = passages.by_id(tx, id) if id in journal.held_elsewhere(tx, ctx.clone, source=source) else None
    if stored is None:
        raise NotFound(f"no {id} {where}")
    return stored.title, stored.text


_HOMES: dict[str, Callable[[Context, str], tuple[str, str]]] = {
    learnings.KIND: _learning,
    decisions.KIND: _decision,
    "log": _entry,
    "node": _node,
    "finding": _finding,
    "theme": _theme,
    "staged": _whole_staged,
    "doc": _section,
}
"""Kind → what gives title and text, or says that it is not there."""
