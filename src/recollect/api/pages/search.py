"""Search: everything remembered, with filters and why it matched."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from recollect.api.pages.rendering import page
from recollect.api.session import Visiting
from recollect.core.errors import BadInput
from recollect.search.everything import KINDS, STRATEGIES, TRUSTS, Hit

routes = APIRouter(include_in_schema=False)


@routes.get("/search")
def search(
    visit: Visiting, q: str = "", kind: str = "", trust: str = "", since: str = "", until: str = "", strategy: str = ""
) -> HTMLResponse:
    hits: list[Hit] = []
    problem = ""
    if q.strip():
        try:
            hits = visit.memory.search(
                q,
                kinds=(kind,) if kind else (),
                trusts=(trust,) if trust else (),
                since=since or None,
                until=until or None,
                strategy=strategy or STRATEGIES[0],
                explain=True,
            )
        except BadInput as wrong:
            problem = str(wrong)
    return page(
        "search.html",
        visit,
        title="Search",
        problem=problem,
        wanted={"q": q, "kind": kind, "trust": trust, "since": since, "until": until, "strategy": strategy},
        hits=hits,
        kinds=("", *KINDS),
        trusts=("", *TRUSTS),
        strategies=STRATEGIES,
    )


@routes.get("/text/{id:path}")
def whole(visit: Visiting, id: str) -> HTMLResponse:
    """Any text by its id, with what stands before and after it."""
    text = visit.memory.texts.get(id)
    beside = visit.memory.texts.around(id)
    return page("text.html", visit, title=text.title or id, whole=text, beside=beside)
