"""The table of kinds: each noun says once what its ids look like and how it is read, explained, purged and linked.

`get`, `around`, `why`, `rebuild`, `verify`, `purge`, the MCP tool `get` and the page's links read this table; a new
noun is a new row. Knows nothing about ranking and rendering.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Any

from recollect.capture import documents, finding, log_text, logs, stage
from recollect.capture import topics as capture_topics
from recollect.core.choices import Trust
from recollect.core.context import Context, Tx
from recollect.core.decision import Decision
from recollect.core.errors import BadInput, NotFound
from recollect.core.learning import COIA, Discovery, Learning
from recollect.core.records import Passage, check_limit, noun_of, plain, record, replace
from recollect.distil import node_files, themes, tree
from recollect.distil.decision_levels import full_text, headline
from recollect.store import check, decisions, journal, learnings, passages, tasks, topics
from recollect.store import themes as theme_rows
from recollect.store.passages import Stored
from recollect.tend import why as explain
from recollect.tend.why import AnyExplanation
from recollect.text import nodes
from recollect.text.frame import block
from recollect.text.nodes import path_of
from recollect.text.sentences import WIDTH, snippet
from recollect.text.staging import StagedEntry, read_staging
from recollect.text.storable import storable

BATCH = 200  # passages made in one transaction: a writer that waits for it notices no delay
MOST = 100  # neighbours that may be asked for on each side; more is a search


@record
class FullText:
    id: str
    kind: str
    title: str
    text: str
    at: int | None
    trust: Trust


@record
class Neighbouring:
    """`step` is the neighbour's distance, negative for earlier ones."""

    id: str
    title: str
    snippet: str
    at: int
    out_of_use: str
    step: int


@record
class Kind:
    """One noun. A field that is None means that the noun cannot do it. `page` is the folder of its pages; `ids` and
    `passages` say what search should hold."""

    name: str
    pattern: str
    example: str = ""
    page: str = ""
    text: Callable[[Context, str], tuple[str, str]] | None = None
    for_agent: Callable[[Context, str], tuple[str, str, Learning | Decision]] | None = None
    why: Callable[[Context, str], AnyExplanation] | None = None
    ids: Callable[[Context, Tx], Iterable[str]] | None = None
    passages: Callable[[Context, Tx, Sequence[str]], Iterable[Passage]] | None = None
    table: str = ""


def kind_of(id: str) -> Kind | None:
    return next((kind for kind in KINDS if re.fullmatch(kind.pattern, id, re.DOTALL)), None)


def get(ctx: Context, id: str) -> FullText:
    """The whole text that an id names."""
    kind = kind_of(id)
    if kind is None or kind.text is None:
        raise NotFound(f"There is no {id!r:.80}; ids look like {EXAMPLES}")
    title, text = kind.text(ctx, id)
    stored = ctx.read(passages.by_id, id)
    return FullText(
        id=id,
        kind=kind.name,
        title=title or (stored.title if stored else id),
        text=text,
        at=stored.at if stored and stored.at else None,
        trust=stored.trust if stored else "agent",
    )


def for_agent(ctx: Context, id: str) -> tuple[FullText, dict[str, Any]]:
    """The text as an agent is shown it, and the stored record where there is one."""
    found, kind = get(ctx, id), kind_of(id)
    if kind is None or kind.for_agent is None:
        return found, {}
    title, text, stored = kind.for_agent(ctx, id)
    return replace(found, title=title, text=text), plain(stored)


def briefly(ctx: Context, ids: Sequence[str]) -> dict[str, tuple[str, str]]:
    """The titles and words of texts, as search reads them; unknown ids are left out."""
    with ctx.db.read(ctx.space) as tx:
        found = passages.ranked(tx, passages.docs_of(tx, ids), passages.Narrow())
        texts = passages.texts_of(tx, [each.doc for each in found])
    return {each.id: (each.title or each.id, texts[each.doc]) for each in found}


def why(ctx: Context, id: str) -> AnyExplanation:
    """Where a thing came from, and everything that happened to it."""
    kind = kind_of(id)
    if kind is None or kind.why is None:
        raise NotFound(f"There is no {id!r:.80}. Find ids with `recollect search`; they look like {EXAMPLES}")
    return kind.why(ctx, id)


def around(ctx: Context, id: str, *, before: int = 3, after: int = 3) -> list[Neighbouring]:
    """The texts before and after one: in its session, work unit or document, otherwise by time among its kind."""
    for name, count in (("before", before), ("after", after)):
        check_limit(count, name, least=0, most=MOST)
    with ctx.db.read(ctx.space) as tx:
        here = passages.by_id(tx, id)
        if here is None:
            raise NotFound(f"{id!r:.80} is not searchable. Find ids with `recollect search`")
        earlier = [
            (-step, one) for step, one in enumerate(passages.neighbours(tx, here, earlier=True, limit=before), start=1)
        ]
        later = list(enumerate(passages.neighbours(tx, here, earlier=False, limit=after), start=1))
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


# What search should hold


def expected(ctx: Context, tx: Tx, kind: Kind) -> Iterator[Passage]:
    if kind.ids is not None and kind.passages is not None:
        for batch in batches(list(kind.ids(ctx, tx))):
            yield from kind.passages(ctx, tx, batch)


def batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


def _reading_in(ctx: Context, tx: Tx) -> Context:
    """The context with its files read in the open transaction: a server's vault is rows too."""
    return replace(ctx, vault=ctx.vault.inside(tx))


def _finding_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterable[Passage]:
    for file in finding.survey(_reading_in(ctx, tx)).files:
        for found in file.findings:
            if found.id in ids:
                yield finding.passage_of(found, at=finding.when(file.timestamp))


def _theme_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterable[Passage]:
    ctx = _reading_in(ctx, tx)
    at = theme_rows.last_run(tx) or 0
    for id in ids:
        name = id.removeprefix("theme/")
        yield themes.theme_passage(name, ctx.vault.read(themes.theme_path(name)) or "", at=at)


def _held(tx: Tx, kind: str) -> Iterator[str]:
    """Ids in the files of any clone; passages can be made only of the files that are here."""
    return (id for id in journal.all_readings(tx) if noun_of(id) == kind)


def _staged(ctx: Context, tx: Tx) -> dict[str, StagedEntry]:
    entries = stage.said(ctx).entries or read_staging(stage.lost(tx, ctx)).entries
    return {stage.id_of(entry): entry for entry in entries}


def _staged_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterable[Passage]:
    entries = _staged(ctx, tx)
    return [stage.passage_of(ctx, tx, entries[id]) for id in ids if id in entries]


def _entries(ctx: Context, tx: Tx) -> Iterator[str]:
    stamps = ctx.vault.inside(tx).stamps()
    there = {*logs.days(name for name, stamp in stamps.items() if stamp), *journal.entry_days(tx)}
    for day in sorted(there):
        yield from (entry.id for entry in logs.searched(log_text.read_within(tx, ctx, day).entries))


def _entry_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterator[Passage]:
    wanted = set(ids)
    for day in sorted({logs.day_of_entry(id) for id in ids}):
        log = log_text.read_within(tx, ctx, day)
        yield from (passage for passage in logs.passages_of(ctx, log) if passage.id in wanted)


def _node_ids(ctx: Context, tx: Tx) -> Iterable[str]:
    """After a restore the next cycle makes the rows of nodes again; until then their files count."""
    if known := journal.ids(tx):
        return known
    vault = ctx.vault.inside(tx)
    return [id for id in check.passage_ids(tx).get(node_files.KIND, ()) if vault.read(path_of(id)) is not None]


def _node_passages(ctx: Context, tx: Tx, ids: Sequence[str]) -> Iterator[Passage]:
    for id in ids:
        row, text = journal.node(tx, id), ctx.vault.inside(tx).read(path_of(id))
        if row and text is not None:
            yield node_files.passage_of(ctx, nodes.parse(id, text), row.first_day)


# How each is read


def _learning_text(ctx: Context, id: str) -> tuple[str, str]:
    learning = ctx.read(learnings.get, id)
    fields = [f"{name.capitalize()}: {value}" for name, value in zip(COIA, learning.fields, strict=True)]
    return learning.title, _with_use("\n".join(fields), learning)


def _decision_text(ctx: Context, id: str) -> tuple[str, str]:
    decision = ctx.read(decisions.get, id)
    passage = decisions.passage_of(decision)
    return passage.title, _with_use(passage.text, decision)


def _discovery_text(ctx: Context, id: str) -> tuple[str, str]:
    found = ctx.read(tasks.get, Discovery, id)
    became = f"Became: {found.learning_id}" if found.learning_id else f"Not kept: {found.skipped or 'not yet'}"
    return f"{found.type} found in task {found.task_id}", f"{found.content}\n{became}"


def _with_use(text: str, record: Learning | Decision) -> str:
    return f"{text}\nOut of use: {record.out_of_use}" if record.out_of_use else text


def _entry_text(ctx: Context, id: str) -> tuple[str, str]:
    found = logs.entry(ctx, id)
    return found.topic, found.text


def _topic_text(ctx: Context, id: str) -> tuple[str, str]:
    found = capture_topics.show(ctx, id)
    return found.topic.name, "\n".join(f"{entry.id}  {entry.title}" for entry in found.entries)


def _finding_text(ctx: Context, id: str) -> tuple[str, str]:
    found = finding.get(ctx, id)
    return "", "\n".join(text for text in (found.description, found.proposed_rule) if text)


def _theme_text(ctx: Context, id: str) -> tuple[str, str]:
    text = ctx.vault.read(themes.theme_path(id.removeprefix("theme/")))
    if text is None:
        raise NotFound(f"There is no {id}. List the themes with `recollect theme list`")
    return "", text


def _staged_text(ctx: Context, id: str) -> tuple[str, str]:
    if entry := stage.said(ctx).entry(id.removeprefix(f"{stage.KIND}/")):
        return entry.title, entry.body
    return _elsewhere(ctx, id, stage.KIND, f"in {ctx.settings.staging.file}")


def _section_text(ctx: Context, id: str) -> tuple[str, str]:
    path = documents.path_of(id)
    if path in documents.paths(ctx) and "#" not in id:
        return path, storable(ctx.worktree.read(path) or "")
    for passage in islice(documents.passages_with(ctx, {id}), 1):
        return passage.title, passage.text
    return _elsewhere(
        ctx, id, f"{documents.KIND}/{path}", "among the permanent documents (setting consolidate.documents)"
    )


def _elsewhere(ctx: Context, id: str, source: str, where: str) -> tuple[str, str]:
    """A text from a file of another clone, as search knows it."""
    with ctx.db.read(ctx.space) as tx:
        stored = passages.by_id(tx, id) if id in journal.held_elsewhere(tx, ctx.clone, source=source) else None
    if stored is None:
        raise NotFound(f"There is no {id} {where}")
    return stored.title, stored.text


def _learning_for_agent(ctx: Context, id: str) -> tuple[str, str, Learning]:
    learning = ctx.read(learnings.get, id)
    body = block(learning) + (f"\n\nOut of use: {learning.out_of_use}" if learning.out_of_use else "")
    return learning.title, body, learning


def _decision_for_agent(ctx: Context, id: str) -> tuple[str, str, Decision]:
    decision = ctx.read(decisions.get, id)
    return headline(decision), full_text(decision), decision


def _refer_to_git(ctx: Context, id: str) -> AnyExplanation:
    raise BadInput(f"{id} is a section of a file in the repository. Use git log or git blame to see where it came from")


KINDS: tuple[Kind, ...] = (
    Kind(
        name=learnings.KIND,
        pattern="learn_.+",
        example="learn_…",
        page="/learnings/",
        text=_learning_text,
        for_agent=_learning_for_agent,
        why=explain.why_learning,
        ids=lambda _, tx: learnings.ids(tx),
        passages=lambda _, tx, ids: map(learnings.passage_of, learnings.many(tx, ids)),
        table="learnings",
    ),
    Kind(
        name=decisions.KIND,
        pattern="dec_.+",
        example="dec_…",
        page="/decisions/",
        text=_decision_text,
        for_agent=_decision_for_agent,
        why=explain.why_decision,
        ids=lambda _, tx: decisions.ids(tx),
        passages=lambda _, tx, ids: map(decisions.passage_of, decisions.many(tx, ids)),
        table="decisions",
    ),
    Kind(
        name="discovery",
        pattern="disc_.+",
        example="disc_…",
        text=_discovery_text,
        why=explain.why_discovery,
        table="discoveries",
    ),
    Kind(
        name=logs.KIND,
        pattern="log/[^#]*#.*",
        example="log/2026-03-01#3",
        text=_entry_text,
        why=explain.why_entry,
        ids=_entries,
        passages=_entry_passages,
    ),
    Kind(
        name="day",
        pattern="log/.*",
        example="log/2026-03-01",
        text=lambda ctx, day: (day, logs.show(ctx, logs.day_named(ctx, day.removeprefix("log/")))),
        why=explain.why_entry,
    ),
    Kind(
        name=node_files.KIND,
        pattern="root|(?:daily|weekly|monthly)/.*",
        example="weekly/2026-W09",
        page="/journal/",
        text=lambda ctx, node: (node, tree.read(ctx, node)),
        why=explain.why_node,
        ids=_node_ids,
        passages=_node_passages,
    ),
    Kind(
        name=node_files.KEPT_KIND,
        pattern=r"ROOT\..*",
        ids=lambda ctx, tx: node_files.kept_ids(_reading_in(ctx, tx)),
        passages=lambda ctx, tx, ids: node_files.kept_passages(_reading_in(ctx, tx), ids),
    ),
    Kind(
        name=finding.KIND,
        pattern="finding/.*",
        example="finding/WORK#2",
        text=_finding_text,
        why=explain.why_finding,
        ids=lambda ctx, tx: (one.id for file in finding.survey(_reading_in(ctx, tx)).files for one in file.findings),
        passages=_finding_passages,
    ),
    Kind(
        name=themes.KIND,
        pattern="theme/.*",
        example="theme/NAME",
        page="/themes/",
        text=_theme_text,
        why=explain.why_theme,
        ids=lambda _, tx: (f"theme/{stored.theme.name}" for stored in theme_rows.everything(tx)),
        passages=_theme_passages,
    ),
    Kind(
        name=stage.KIND,
        pattern="staged/.*",
        example="staged/NAME",
        text=_staged_text,
        why=explain.why_staged,
        ids=lambda ctx, tx: {*_staged(ctx, tx), *_held(tx, stage.KIND)},
        passages=_staged_passages,
    ),
    Kind(
        name=documents.KIND,
        pattern="doc/.*",
        example="doc/PATH#SECTION",
        text=_section_text,
        why=_refer_to_git,
        ids=lambda ctx, tx: {*documents.ids(ctx), *_held(tx, documents.KIND)},
        passages=lambda ctx, _, ids: documents.passages_with(ctx, set(ids)),
    ),
    Kind(
        name=topics.KIND,
        pattern="topic_.+",
        example="topic_…",
        page="/topics/",
        text=_topic_text,
        why=explain.why_topic,
    ),
    Kind(
        name="index", pattern="index", example="index", text=lambda ctx, _: ("INDEX.md: the themes", themes.index(ctx))
    ),
)
EXAMPLES = ", ".join(kind.example for kind in KINDS if kind.example)
