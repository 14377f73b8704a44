"""Search over learnings: the seed's options, the true matched fields, a snippet of the best line."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.confidence import thousandths
from recollect.core.errors import BadInput
from recollect.core.learning import COIA, STATUSES, Learning
from recollect.core.limits import check_limit
from recollect.core.record import record
from recollect.search import words
from recollect.store import learnings as rows
from recollect.store.learnings import KIND, Filter
from recollect.store.lookup import understand
from recollect.store.passages import HEADER_LINES
from recollect.text.snippet import snippet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from recollect.core.context import Context, Tx
    from recollect.store.lookup import Query

FIELDS = ("title", "who", "tags", *COIA)


@record
class SearchOptions:
    """What a search may be narrowed by; None takes the setting's default."""

    min_confidence: float | None = None
    limit: int | None = None
    exclude_outcome: str | None = None
    domain: str | None = None
    status: str = "active"


@record
class LearningHit:
    """A learning that matched, how well, where, and the words around the match."""

    learning: Learning
    score: float
    relevance: float
    matched_fields: tuple[str, ...]
    snippet: str


def search(ctx: Context, query: str, options: SearchOptions = SearchOptions()) -> list[LearningHit]:  # noqa: B008
    """Learnings for any text, best first."""
    wanted, limit = _checked(ctx, options)
    with ctx.db.read(ctx.space) as tx:
        return find(tx, understand(tx, query), wanted, limit=limit)


def find(tx: Tx, query: Query, wanted: Filter, *, limit: int, docs: Sequence[int] | None = None) -> list[LearningHit]:
    """The same inside an open transaction, with the filter spelled out."""
    scored = words.best(
        tx, query, limit=limit, keep=lambda ids: rows.passing(tx, ids, wanted), kinds=(KIND,), docs=docs
    )
    records = {learning.id: learning for learning in rows.many(tx, [hit.id for hit in scored])}
    return [_hit(hit, records[hit.id]) for hit in scored]


def _hit(hit: words.Scored, learning: Learning) -> LearningHit:
    bodies = [number for number in hit.matched if number >= HEADER_LINES]
    shown = learning.fields[bodies[0] - HEADER_LINES] if bodies else learning.title
    return LearningHit(
        learning=learning,
        score=round(hit.score, 4),
        relevance=round(hit.relevance, 4),
        matched_fields=tuple(FIELDS[number] for number in hit.matched),
        snippet=snippet(" ".join(shown.split()), frozenset(hit.terms)),
    )


def _checked(ctx: Context, options: SearchOptions) -> tuple[Filter, int]:
    defaults = ctx.settings.search
    limit = check_limit(defaults.limit if options.limit is None else options.limit)
    if options.status not in (*STATUSES, "all"):
        raise BadInput(f"status must be one of {', '.join(STATUSES)} or all, not {options.status!r}")
    confidence = defaults.min_confidence if options.min_confidence is None else options.min_confidence
    wanted = Filter(
        status=None if options.status == "all" else options.status,
        domain=options.domain,
        min_confidence=thousandths(confidence, "min confidence"),
        exclude_outcome=options.exclude_outcome,
    )
    return wanted, limit
