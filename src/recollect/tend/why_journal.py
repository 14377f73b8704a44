"""Why a node says what it says, and where an entry came from."""

from __future__ import annotations

import re
from dataclasses import dataclass

from recollect.capture import log_files as logs
from recollect.core import calendar
from recollect.core.calendar import ROOT
from recollect.core.choices import Trust
from recollect.core.context import Context
from recollect.core.event import Event
from recollect.core.journal import EntryType, NodeStatus, Source
from recollect.distil import tree
from recollect.store import events, journal
from recollect.text import nodes, points

_LEADS_TO = re.compile(r"(.*) → (log/\S+|monthly/\S+)")


@dataclass(frozen=True, kw_only=True)
class Traced:
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
    lines: tuple[Traced, ...]


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
        lines = tuple(Traced(text=line[1].removeprefix("- "), sources=(line[2],)) for line in found if line)
    else:
        said = [point for point in tree.sources(ctx, id) if point.text]
        lines = tuple(
            Traced(text=f"{point.topic}: {point.text}", sources=tuple(f"log/{ref}" for ref in point.refs))
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


def shown_refs(line: Traced) -> str:
    """The sources of a line, as short as summaries write them."""
    refs = [source.removeprefix("log/") for source in line.sources if source.startswith("log/")]
    return points.show_refs(refs) if refs else " ".join(line.sources)
