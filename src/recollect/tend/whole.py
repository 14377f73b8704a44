"""Any text by its id, whole, and what stands before and after it: where a search hit leads.

Whole means as its home has it: the entry of the log, the file of the node, the section of the document. Knows nothing
about ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice

from recollect.capture import documents, finding, stage
from recollect.capture import log_files as logs
from recollect.core.calendar import LEVELS, ROOT
from recollect.core.choices import Trust
from recollect.core.context import Context
from recollect.core.decision import Decision
from recollect.core.errors import NotFound
from recollect.core.learning import COIA, Learning
from recollect.core.limits import check_limit
from recollect.distil import themes, tree
from recollect.store import decisions, learnings, passages, readings
from recollect.store.passages import Stored
from recollect.text.snippet import WIDTH, snippet
from recollect.text.staging import read_staging

MOST = 100


@dataclass(frozen=True, kw_only=True)
class Whole:
    """A text with what is known of it."""

    id: str
    kind: str
    title: str
    text: str
    at: int | None
    trust: Trust


@dataclass(frozen=True, kw_only=True)
class Beside:
    """A neighbour in short; `step` says how far before (below zero) or after it stands."""

    id: str
    title: str
    snippet: str
    at: int
    out_of_use: str
    step: int


def get(ctx: Context, id: str) -> Whole:
    """The whole of whatever an id names."""
    make = _HOMES.get(_kind(id))
    if make is None:
        raise NotFound(
            f"no {id!r:.80}; ids look like learn_…, dec_…, log/2026-03-01#3, weekly/2026-W09, doc/PATH#SECTION"
        )
    title, text = make(ctx, id)
    with ctx.db.read(ctx.space) as tx:
        stored = passages.by_id(tx, id)
    return Whole(
        id=id,
        kind=_kind(id),
        title=title or (stored.title if stored else id),
        text=text,
        at=stored.at if stored and stored.at else None,
        trust=stored.trust if stored else "agent",
    )


def around(ctx: Context, id: str, *, before: int = 3, after: int = 3) -> list[Beside]:
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


def _beside(step: int, one: Stored, record: Learning | Decision | None) -> Beside:
    text = " ".join(one.text[: 2 * WIDTH].split())
    return Beside(
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
        raise NotFound(f"no {id}; see: recollect themes list")
    return "", text


def _staged(ctx: Context, id: str) -> tuple[str, str]:
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
        stored = passages.by_id(tx, id) if id in readings.held_elsewhere(tx, ctx.clone, source=source) else None
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
    "staged": _staged,
    "doc": _section,
}
"""Kind → what gives title and text, or says that it is not there."""
