"""REST: one search over everything, and the whole of what it found."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from recollect.api.access import Reads
from recollect.api.route import Route
from recollect.api.wire import Paged, Share, answer, gives, sliced
from recollect.core.limits import MOST
from recollect.search.everything import Hit
from recollect.tend.whole import Beside, Whole

routes = APIRouter(prefix="/api", tags=["search"], route_class=Route)

Several = Query(description="Several are separated by commas.")


@routes.get("/search", summary="Whatever is remembered for any text, best first")
@gives(Hit, listed="results")
def search(
    memory: Reads,
    request: Request,
    window: Paged,
    q: str,
    kind: Annotated[str, Several] = "",
    trust: Annotated[str, Several] = "",
    since: str | None = None,
    until: str | None = None,
    min_confidence: Annotated[float | None, Share] = None,
    exclude_outcome_id: str | None = None,
    strategy: str = "hybrid",
    semantic_weight: Annotated[float | None, Share] = None,
    recency: bool = True,
    confidence: bool = True,
    explain: bool = False,
) -> Response:
    hits = memory.search(
        q,
        kinds=_several(kind),
        trusts=_several(trust),
        since=since,
        until=until,
        min_confidence=min_confidence,
        exclude_outcome=exclude_outcome_id,
        strategy=strategy,
        semantic_weight=semantic_weight,
        recency=recency,
        confidence=confidence,
        explain=explain,
        limit=min(window.limit + window.offset, MOST),
    )
    return sliced(request, "results", hits, window)


@routes.get("/texts/{id:anything}", summary="The whole of whatever an id names")
@gives(Whole)
def whole(memory: Reads, id: str) -> Response:
    return answer(memory.texts.get(id))


@routes.get("/around/{id:anything}", summary="What stands before and after a text")
@gives(Beside, listed="texts")
def around(
    memory: Reads,
    request: Request,
    window: Paged,
    id: str,
    before: Annotated[int, Query(ge=0, le=100)] = 3,
    after: Annotated[int, Query(ge=0, le=100)] = 3,
) -> Response:
    return sliced(request, "texts", memory.texts.around(id, before=before, after=after), window)


def _several(given: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in given.split(",") if part.strip())
