"""Overview: what is remembered, what waits."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from recollect.api.pages.rendering import page
from recollect.api.session import Visiting

routes = APIRouter(include_in_schema=False)


@routes.get("/")
def overview(visit: Visiting) -> HTMLResponse:
    return page("overview.html", visit, title="Overview", status_now=visit.memory.status())
