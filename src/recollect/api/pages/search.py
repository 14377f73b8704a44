"""Search: everything remembered, with filters and why it matched."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from recollect.api.pages.rendering import page
from recollect.api.session import Visiting

routes = APIRouter(include_in_schema=False)


@routes.get("/search")
def search(visit: Visiting, q: str = "") -> HTMLResponse:
    return page("search.html", visit, title="Search", q=q, hits=visit.memory.search(q) if q.strip() else [])
