"""One search over a project and its rings, and finding the ring that an id belongs to.

An id that is random (of a learning, a decision) is the same in every ring; one that names a place has its ring in
front of it: `me:log/2026-03-01#3`. Knows nothing about how a ring is opened.
"""

from __future__ import annotations

from heapq import merge

from recollect.core.context import FARTHER, PROJECT
from recollect.core.records import replace
from recollect.search import everything
from recollect.search.everything import Hit, SearchOptions
from recollect.store import decisions, learnings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from recollect.core.context import Context

_RANDOM = {"learn_": learnings.many, "dec_": decisions.many}


def search(ctx: Context, query: str, options: SearchOptions) -> list[Hit]:
    """The hits of the project and its rings. Those of one ring keep their order; what the project has learned too is
    not repeated."""
    if not ctx.rings.names:
        return everything.search(ctx, query, options)
    limit = ctx.settings.search.limit if options.limit is None else options.limit
    whole = replace(options, limit=options.offset + limit, offset=0)
    rings = [(PROJECT, everything.search(ctx, query, whole))]
    rings += ctx.rings.ask(ctx, lambda ring: everything.search(ring, query, whole))
    far = {name: FARTHER**step for step, (name, _) in enumerate(rings)}
    hits = [[replace(hit, ring=name, id=id_in(name, hit.id)) for hit in found] for name, found in rings]
    known = {hit.title for hit in hits[0] if hit.learning}

    def order(hit: Hit) -> float:
        return -hit.relevance * far[hit.ring] if query.strip() else -hit.at

    others = [[hit for hit in found if not hit.learning or hit.title not in known] for found in hits[1:]]
    listed = list(merge(hits[0], *others, key=order))
    return listed[options.offset : options.offset + limit]


def named(id: str) -> bool:
    """Whether an id is found in whichever ring has it."""
    return id.startswith(tuple(_RANDOM))


def id_in(ring: str, id: str) -> str:
    """The id by which a thing of a ring is found from here."""
    return id if ring == PROJECT or named(id) else f"{ring}:{id}"


def holder(ctx: Context, id: str) -> tuple[str, str]:
    """The ring that has an id, and the id there; the project for what no ring has."""
    name, colon, bare = id.partition(":")
    if colon and name in (PROJECT, *ctx.rings.names):
        return name, bare
    many = next((found for prefix, found in _RANDOM.items() if id.startswith(prefix)), None)
    if many is None or not ctx.rings.names or ctx.read(many, [id]):
        return PROJECT, id
    having = [name for name, found in ctx.rings.ask(ctx, lambda ring: ring.read(many, [id])) if found]
    return (having or [PROJECT])[0], id
