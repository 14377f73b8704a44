"""Why a thing is what it is: its sources, its writer, how far it is trusted, every change."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.calendar import LEVELS, ROOT
from recollect.core.choices import Trust
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput, NotFound
from recollect.core.event import Event
from recollect.core.learning import Injection, LearningSource
from recollect.store import decisions, events, injections, learning_sources
from recollect.store import learnings as rows
from recollect.tend.why_files import KINDS, FileExplanation, why_in_file
from recollect.tend.why_journal import EntryExplanation, NodeExplanation, why_entry, why_node
from recollect.text.sentences import first_sentence


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
        sources=tuple(learning_sources.of(tx, id)),
        replaces=tuple(rows.replaced_by(tx, id)),
        replaced_by=tuple(rows.successors(tx, id)),
        injections=tuple(injections.of_learning(tx, id)),
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
