"""Why a thing is what it is: its sources, its writer, how far it is trusted, and every change.

One function for each noun; `kinds` knows which one explains an id.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.capture import finding as findings
from recollect.capture import logs, stage
from recollect.capture import topics as capture_topics
from recollect.core import calendar
from recollect.core.calendar import ROOT
from recollect.core.choices import Trust
from recollect.core.context import Context, Event
from recollect.core.errors import NotFound
from recollect.core.journal import EntryType, NodeStatus, Source
from recollect.core.learning import Discovery, Injection, LearningSource
from recollect.core.records import noun_of, record
from recollect.distil import tree
from recollect.distil.themes import theme_path
from recollect.store import db, decisions, events, journal, learnings, tasks, themes, topics
from recollect.text import nodes, points
from recollect.text.sentences import first_sentence

_LEADS_TO = re.compile(r"(.*) → (log/\S+|monthly/\S+)")


@record
class TracedLine:
    text: str
    sources: tuple[str, ...]


@record
class NodeExplanation:
    id: str
    status: NodeStatus
    generator: str
    sources: tuple[Source, ...]
    incomplete: tuple[str, ...]
    lines: tuple[TracedLine, ...]


@record
class EntryExplanation:
    """`way` holds the nodes that lead to the entry; empty before a compaction."""

    id: str
    title: str
    topic: str
    type: EntryType
    written: str
    session: str
    trust: Trust
    way: tuple[str, ...]
    events: tuple[Event, ...]


@record
class FileExplanation:
    """A thing that lives in a file; `facts` are pairs of name and value."""

    id: str
    title: str
    file: str
    trust: Trust
    facts: tuple[tuple[str, str], ...]
    events: tuple[Event, ...]


@record
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


AnyExplanation = Explanation | NodeExplanation | EntryExplanation | FileExplanation


def why_learning(ctx: Context, id: str) -> Explanation:
    with ctx.db.read(ctx.space) as tx:
        learning = learnings.get(tx, id)
        return Explanation(
            id=id,
            title=learning.title,
            origin=learning.origin,
            trust=learning.trust,
            sources=tuple(learnings.sources_of(tx, id)),
            replaces=tuple(db.replaced(tx, "learnings", id)),
            replaced_by=tuple(db.successors(tx, "learnings", id)),
            injections=tuple(tasks.injections_of_learning(tx, id)),
            events=tuple(events.of(tx, id)),
        )


def why_discovery(ctx: Context, id: str) -> Explanation:
    """The learning that the discovery became."""
    found = ctx.read(tasks.get, Discovery, id)
    if found.learning_id is None:
        raise NotFound(f"{id} became no learning: {found.skipped or 'it was not looked at yet'}")
    return why_learning(ctx, found.learning_id)


def why_decision(ctx: Context, id: str) -> Explanation:
    with ctx.db.read(ctx.space) as tx:
        decision = decisions.get(tx, id)
        history = events.of(tx, id)
        return Explanation(
            id=id,
            title=first_sentence(decision.decision, 20),
            origin=history[0].channel if history else "",
            trust=decision.trust,
            sources=(),
            replaces=tuple(db.replaced(tx, "decisions", id)),
            replaced_by=tuple(db.successors(tx, "decisions", id)),
            injections=(),
            events=tuple(history),
        )


def why_node(ctx: Context, id: str) -> NodeExplanation:
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
        title=found.topic,
        topic=ctx.read(topics.first_name, id),
        type=found.type,
        written=found.at,
        session=found.session,
        trust=found.trust,
        way=way if made else (),
        events=happened,
    )


def shown_refs(line: TracedLine) -> str:
    """The sources of a line in the short form of summaries."""
    refs = [source.removeprefix("log/") for source in line.sources if noun_of(source) == "log"]
    return points.show_refs(refs) if refs else " ".join(line.sources)


def why_staged(ctx: Context, id: str) -> FileExplanation:
    """An entry of the staging file, or one that left it; its events tell where it went."""
    file = ctx.settings.staging.file
    if found := stage.said(ctx).entry(id.removeprefix("staged/")):
        return _in_file(ctx, id, found.title, file, [("line", str(found.first + 1))])
    left = [event for event in ctx.read(events.of, id) if "title" in (event.old or event.new)]
    if not left:
        raise NotFound(f"There is no {id}. List the staged entries with `recollect staged list`")
    last = left[-1]
    gone = [("went to", last.new["where"])] if "where" in last.new else []
    return _in_file(ctx, id, (last.old or last.new)["title"], f"no longer in {file}", gone)


def why_finding(ctx: Context, id: str) -> FileExplanation:
    found = findings.get(ctx, id)
    file = next(file for file in findings.survey(ctx).files if file.work_id == found.work_id)
    themed = [f"theme/{one.theme.name}" for one in ctx.read(themes.everything) if found.id in one.theme.findings]
    facts = [
        ("work unit", found.work_id),
        ("noticed", file.timestamp),
        ("category", found.category),
        ("source", found.source),
        ("disposition", found.disposition),
        ("theme", ", ".join(themed)),
    ]
    path = f"{findings.FOLDER}/{file.path}"
    return _in_file(ctx, id, found.description, path, [fact for fact in facts if fact[1]])


def why_theme(ctx: Context, id: str) -> FileExplanation:
    name = id.removeprefix("theme/")
    found = ctx.read(themes.get, name).theme
    facts = [("named by", found.named_by), *(("from", id) for id in found.findings)]
    return _in_file(ctx, id, found.summary, theme_path(name), [*facts, *(("left out", id) for id in found.left_out)])


def why_topic(ctx: Context, id: str) -> FileExplanation:
    found = capture_topics.show(ctx, id)
    facts = [("named by", found.topic.named_by), *(("also called", name) for name in found.aliases)]
    facts += [("from", entry.id) for entry in found.entries]
    return _in_file(ctx, found.topic.id, found.topic.name, "the store", facts)


def _in_file(ctx: Context, id: str, title: str, file: str, facts: Sequence[tuple[str, str]]) -> FileExplanation:
    happened = tuple(ctx.read(events.of, id))
    return FileExplanation(id=id, title=title, file=file, trust="agent", facts=tuple(facts), events=happened)
