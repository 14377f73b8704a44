"""Why a thing is what it is: its sources, its writer, how far it is trusted, every change.

Why a node says what it says, and where an entry came from.

Where a staged entry, a finding or a theme came from: its file, what it belongs to, and what happened to it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.capture import finding as findings
from recollect.capture import logs, stage
from recollect.core import calendar
from recollect.core.calendar import LEVELS, ROOT
from recollect.core.choices import Trust
from recollect.core.context import Context, Event, Tx
from recollect.core.errors import BadInput, NotFound
from recollect.core.journal import EntryType, NodeStatus, Source
from recollect.core.learning import Injection, LearningSource
from recollect.distil import tree
from recollect.distil.themes import theme_path
from recollect.store import decisions, events, journal, learnings, tasks, themes
from recollect.store import learnings as rows
from recollect.text import nodes, points
from recollect.text.sentences import first_sentence
from recollect.text.staging import read_staging

_LEADS_TO = re.compile(r"(.*) → (log/\S+|monthly/\S+)")


@dataclass(frozen=True, kw_only=True)
class TracedLine:
    """One line of a node, and the entries it was taken from."""

    text: str
    sources: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class NodeExplanation:
    id: str
    status: NodeStatus
    generator: str
    sources: tuple[Source, ...]
    incomplete: tuple[str, ...]
    lines: tuple[TracedLine, ...]


@dataclass(frozen=True, kw_only=True)
class EntryExplanation:
    """An entry, who wrote it, and the nodes that lead to it; none before a compaction took it up."""

    id: str
    topic: str
    type: EntryType
    written: str
    session: str
    trust: Trust
    way: tuple[str, ...]
    events: tuple[Event, ...]


def why_node(ctx: Context, id: str) -> NodeExplanation:
    """Every line with its sources."""
    node = nodes.parse(id, tree.read(ctx, id))
    if id == ROOT:
        found = [_LEADS_TO.fullmatch(line) for line in node.body.split("\n")]
        lines = tuple(TracedLine(text=line[1].removeprefix("- "), sources=(line[2],)) for line in found if line)
    else:
        said = [point for point in tree.sources(ctx, id) if point.text]
        lines = tuple(
            TracedLine(text=f"{point.topic}: {point.text}", sources=tuple(f"log/{ref}" for ref in point.refs))
            for point in said
        )
    return NodeExplanation(
        id=id,
        status=node.status,
        generator=node.generator,
        sources=node.sources,
        incomplete=node.incomplete,
        lines=lines,
    )


def why_entry(ctx: Context, id: str) -> EntryExplanation:
    found = logs.entry(ctx, id)
    day = found.day
    way = (ROOT, calendar.month(day).id, calendar.week(day).id, calendar.day(day).id)
    with ctx.db.read(ctx.space) as tx:
        happened = tuple(events.of(tx, found.id))
        made = all(journal.node(tx, id) for id in way)
    return EntryExplanation(
        id=found.id,
        topic=found.topic,
        type=found.type,
        written=found.at,
        session=found.session,
        trust=found.trust,
        way=way if made else (),
        events=happened,
    )


def shown_refs(line: TracedLine) -> str:
    """The sources of a line, as short as summaries write them."""
    refs = [source.removeprefix("log/") for source in line.sources if source.startswith("log/")]
    return points.show_refs(refs) if refs else " ".join(line.sources)


KINDS = ("staged", "finding", "theme")


@dataclass(frozen=True, kw_only=True)
class FileExplanation:
    """A thing that lives in a file: what it says, the file, facts about it by name, every change."""

    id: str
    title: str
    file: str
    trust: Trust
    facts: tuple[tuple[str, str], ...]
    events: tuple[Event, ...]


def why_in_file(ctx: Context, id: str) -> FileExplanation:
    kind, _, name = id.partition("/")
    title, file, facts = {"staged": _staged, "finding": _finding, "theme": _theme}[kind](ctx, name)
    with ctx.db.read(ctx.space) as tx:
        happened = tuple(events.of(tx, id))
    return FileExplanation(id=id, title=title, file=file, trust="agent", facts=facts, events=happened)


_Told = tuple[str, str, tuple[tuple[str, str], ...]]


def _staged(ctx: Context, slug: str) -> _Told:
    """An entry of the staging file, or one that left it: then its events tell where it went."""
    file = ctx.settings.staging.file
    found = read_staging(stage.read_file(ctx)).entry(slug)
    if found:
        return found.title, file, (("line", str(found.first + 1)),)
    with ctx.db.read(ctx.space) as tx:
        left = [event for event in events.of(tx, f"staged/{slug}") if "title" in (event.old or event.new)]
    if not left:
        raise NotFound(f"no staged entry {slug!r}; `recollect staged list` lists them")
    last = left[-1]
    gone = (("went to", last.new["where"]),) if "where" in last.new else ()
    return (last.old or last.new)["title"], f"no longer in {file}", gone


def _finding(ctx: Context, name: str) -> _Told:
    found = findings.get(ctx, f"finding/{name}")
    file = next(file for file in findings.survey(ctx).files if file.work_id == found.work_id)
    with ctx.db.read(ctx.space) as tx:
        themed = [f"theme/{one.theme.name}" for one in themes.everything(tx) if found.id in one.theme.findings]
    facts = [
        ("work unit", found.work_id),
        ("noticed", file.timestamp),
        ("category", found.category),
        ("source", found.source),
        ("disposition", found.disposition),
        ("theme", ", ".join(themed)),
    ]
    return found.description, f"{findings.FOLDER}/{file.path}", tuple(fact for fact in facts if fact[1])


def _theme(ctx: Context, name: str) -> _Told:
    with ctx.db.read(ctx.space) as tx:
        found = themes.get(tx, name).theme
    facts = [("named by", found.named_by), *(("from", id) for id in found.findings)]
    return found.summary, theme_path(name), (*facts, *(("left out", id) for id in found.left_out))


@dataclass(frozen=True, kw_only=True)
class Explanation:
    id: str
    title: str
    origin: str
    trust: Trust
    sources: tuple[LearningSource, ...]
    replaces: tuple[str, ...]
    replaced_by: tuple[str, ...]
    injections: tuple[Injection, ...]
    events: tuple[Event, ...]


def why(ctx: Context, id: str) -> Explanation | NodeExplanation | EntryExplanation | FileExplanation:
    """Everything known about where a thing came from and what became of it."""
    if id.startswith("log/"):
        return why_entry(ctx, id)
    if id == ROOT or id.partition("/")[0] in LEVELS:
        return why_node(ctx, id)
    if id.partition("/")[0] in KINDS:
        return why_in_file(ctx, id)
    if id.startswith("doc/"):
        raise BadInput(f"{id} is a section of a file of the repository: git log and git blame say where it came from")
    if not id.startswith(("learn_", "dec_")):
        raise NotFound(f"no {id!r:.80} here; recollect search finds ids, such as learn_…, dec_…, log/2026-03-01#3")
    with ctx.db.read(ctx.space) as tx:
        return _decision(tx, id) if id.startswith("dec_") else _learning(tx, id)


def _learning(tx: Tx, id: str) -> Explanation:
    learning = rows.get(tx, id)
    return Explanation(
        id=id,
        title=learning.title,
        origin=learning.origin,
        trust=learning.trust,
        sources=tuple(learnings.sources_of(tx, id)),
        replaces=tuple(rows.replaced_by(tx, id)),
        replaced_by=tuple(rows.successors(tx, id)),
        injections=tuple(tasks.injections_of_learning(tx, id)),
        events=tuple(events.of(tx, id)),
    )


def _decision(tx: Tx, id: str) -> Explanation:
    decision = decisions.get(tx, id)
    history = events.of(tx, id)
    return Explanation(
        id=id,
        title=first_sentence(decision.decision, 20),
        origin=history[0].channel if history else "",
        trust=decision.trust,
        sources=(),
        replaces=tuple(decisions.replaced_by(tx, id)),
        replaced_by=tuple(decisions.successors(tx, id)),
        injections=(),
        events=tuple(history),
    )
