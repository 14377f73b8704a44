"""Recall: from ROOT.md down to the raw words, level by level, with the way shown.

At each level the best few nodes are followed. What the tree could not lead to, a look at all entries may still find; it
is marked as such. Knows nothing about how nodes are made.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from recollect.core import calendar
from recollect.core.calendar import ROOT, Level, Period
from recollect.core.choices import Trust
from recollect.core.context import Context, Tx
from recollect.core.errors import BadInput
from recollect.search import words
from recollect.search.query import Question, ask
from recollect.search.rank import Candidates, best
from recollect.store import passages
from recollect.store.passages import Narrow, Stored
from recollect.text.sentences import snippet

if TYPE_CHECKING:
    from recollect.search.rank import Keep

NODE, LOG, KEPT = "node", "log", "kept"
BEAM = 3
"""Nodes followed at each level; chosen."""


@dataclass(frozen=True, kw_only=True)
class Step:
    """A node on the way, and its line that speaks most of the question."""

    id: str
    score: float
    line: str


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """An entry of a raw log, or a node with nothing below it. `way` names the nodes that led to it; empty when only
    the look at everything found it."""

    id: str
    topic: str
    score: float
    snippet: str
    trust: Trust
    way: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Recall:
    query: str
    steps: tuple[Step, ...]
    entries: tuple[Recalled, ...]


@dataclass(frozen=True, kw_only=True)
class RecallHit:
    """A passage and how well it fits."""

    passage: Stored
    score: float


def recall(ctx: Context, question: str, *, limit: int = 5) -> Recall:
    """Walk ROOT → month → week → day → raw."""
    if not 1 <= limit <= 100:
        raise BadInput(f"limit must be between 1 and 100, not {limit}")
    with ctx.db.read(ctx.space) as tx:
        query = ask(tx, question)
        steps = _scored(tx, query, [ROOT], 1)
        months = best_nodes(tx, query, "monthly", limit=BEAM)
        weeks = _scored(tx, query, _below(months, calendar.week), BEAM)
        days = _scored(tx, query, _below(weeks, calendar.day), BEAM)
        inside = [id for day in days for id in passages.ids_under(tx, f"{LOG}/{day.passage.id.partition('/')[2]}#")]
        led = _scored(tx, query, inside, limit)
        found = {hit.passage.id: _recalled(hit, query, _way(hit.passage)) for hit in led}
        for hit in _last_words(tx, months, weeks, days):
            found[hit.passage.id] = _recalled(hit, query, _above(hit.passage.id))
        for other in _best(tx, query, LOG, KEPT, limit=limit):
            if other.passage.id not in found:
                found[other.passage.id] = _recalled(other, query, ())
    order = sorted(found.values(), key=lambda each: (-each.score, each.id))
    way = [_step(hit, query) for hit in (*steps, *months, *weeks, *days)]
    return Recall(query=question, steps=tuple(way), entries=tuple(order[:limit]))


def best_nodes(tx: Tx, query: Question, level: Level, *, limit: int) -> list[RecallHit]:
    """The best nodes of one level."""

    return _best(tx, query, NODE, limit=limit, keep=lambda some: {one.id for one in some if one.id.startswith(level)})


def _best(tx: Tx, query: Question, *kinds: str, limit: int, keep: Keep | None = None) -> list[RecallHit]:
    """The best of some kinds; beside each other all scores are shares of a full match."""
    hits = best(tx, query, Candidates(wanted=Narrow(kinds=kinds), keep=keep), limit=limit)
    found = [(passages.by_id(tx, hit.passage.id), hit.relevance) for hit in hits]
    return [RecallHit(passage=passage, score=share) for passage, share in found if passage]


def _scored(tx: Tx, query: Question, ids: Iterable[str], limit: int) -> list[RecallHit]:
    stored = [found for id in ids if (found := passages.by_id(tx, id))]
    hits = [RecallHit(passage=each, score=words.relevance(words.read(each.terms, query), query)) for each in stored]
    return sorted((hit for hit in hits if hit.score > 0), key=lambda hit: (-hit.score, hit.passage.id))[:limit]


def _below(parents: Sequence[RecallHit], child: Callable[[date], Period]) -> list[str]:
    periods = [calendar.parse_period(parent.passage.id) for parent in parents]
    return list(dict.fromkeys(child(day).id for period in periods for day in period.days))


def _last_words(
    tx: Tx, months: Sequence[RecallHit], weeks: Sequence[RecallHit], days: Sequence[RecallHit]
) -> Iterator[RecallHit]:
    """Nodes with nothing below them: all that is left where a log is gone, or was another tool's."""
    for hits, child in ((months, calendar.week), (weeks, calendar.day)):
        yield from (hit for hit in hits if not any(passages.by_id(tx, id) for id in _below([hit], child)))
    for day in days:
        if not passages.ids_under(tx, f"{LOG}/{day.passage.id.partition('/')[2]}#"):
            yield day


def _above(node: str) -> tuple[str, ...]:
    """The nodes that lead to a node."""
    parent = calendar.parent(calendar.parse_period(node))
    return (*_above(parent.id), parent.id) if parent else (ROOT,)


def _way(entry: Stored) -> tuple[str, ...]:
    day = calendar.parse_day(entry.id.removeprefix(f"{LOG}/").partition("#")[0])
    return ROOT, calendar.month(day).id, calendar.week(day).id, calendar.day(day).id


def _step(hit: RecallHit, query: Question) -> Step:
    return Step(id=hit.passage.id, score=round(hit.score, 4), line=_line(hit, query))


def _recalled(hit: RecallHit, query: Question, way: tuple[str, ...]) -> Recalled:
    return Recalled(
        id=hit.passage.id,
        topic=hit.passage.title,
        score=round(hit.score, 4),
        snippet=_line(hit, query),
        trust=hit.passage.trust,
        way=way,
    )


def _line(hit: RecallHit, query: Question) -> str:
    """The line of a passage that says most of what the question asks."""
    lines = (hit.passage.title, *hit.passage.text.split("\n"))
    _, _, _, *bodies = hit.passage.terms.split("\n")
    shared = [query.weights.keys() & terms.split() for terms in (hit.passage.terms.partition("\n")[0], *bodies)]
    weights = [sum(query.weights[term] for term in terms) for terms in shared]
    best = max(range(len(weights)), key=lambda number: (weights[number], number > 0, -number))
    return snippet(lines[best], frozenset(shared[best]))
