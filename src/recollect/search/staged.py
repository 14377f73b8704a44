"""Search over staged learnings: what was jotted down and is not consolidated yet."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.search import words
from recollect.store import passages
from recollect.store.lookup import understand
from recollect.text.snippet import snippet

KIND = "staged"
LIMIT = 1000


@dataclass(frozen=True, kw_only=True)
class StagedHit:
    """A staged entry that matched, how well, and the words around the match."""

    id: str
    title: str
    score: float
    snippet: str


def search_staged(ctx: Context, query: str, *, limit: int | None = None) -> list[StagedHit]:
    """Staged entries for any text, best first."""
    wanted = ctx.settings.search.limit if limit is None else limit
    if not 1 <= wanted <= LIMIT:
        raise BadInput(f"limit must be between 1 and {LIMIT}")
    with ctx.db.read(ctx.space) as tx:
        scored = words.best(tx, understand(tx, query), limit=wanted, keep=set, kinds=(KIND,))
        found = [(hit, passages.by_id(tx, hit.id)) for hit in scored]
    return [
        StagedHit(
            id=hit.id,
            title=stored.title,
            score=round(hit.score, 4),
            snippet=snippet(stored.text.replace("\n", " ") or stored.title, frozenset(hit.terms)),
        )
        for hit, stored in found
        if stored is not None
    ]
