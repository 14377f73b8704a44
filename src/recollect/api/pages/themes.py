"""Themes: what findings gathered into, and the raw files behind them."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from recollect.api.pages.forms import Sent
from recollect.api.pages.rendering import go, page
from recollect.api.session import Changing, Visit, Visiting
from recollect.core.errors import BadInput, Refused

routes = APIRouter(include_in_schema=False)


@routes.get("/themes")
def themes(visit: Visiting) -> HTMLResponse:
    found = visit.memory.themes
    return page("themes.html", visit, title="Themes", themes=found.list(), due=found.due(), survey=found.survey())


@routes.post("/themes/run")
def run(visit: Changing) -> Response:
    visit.memory.themes.run(always=True)
    return go("/themes")


@routes.get("/themes/{name}")
def theme(visit: Visiting, name: str) -> HTMLResponse:
    return _theme(visit, name)


@routes.post("/themes/{name}/rename")
def rename(visit: Changing, name: str, sent: Sent) -> Response:
    try:
        named = visit.memory.themes.rename(name, sent.text("name").strip())
    except (BadInput, Refused) as wrong:
        return _theme(visit, name, problem=str(wrong), status=400)
    return go(f"/themes/{named.name}")


@routes.post("/themes/{name}/promote")
def promote(visit: Changing, name: str, sent: Sent) -> Response:
    """A finding of the theme becomes a learning."""
    made = visit.memory.themes.promote(sent.text("finding"))
    return go(f"/learnings/{made.learning.id}")


def _theme(visit: Visit, name: str, *, problem: str = "", status: int = 200) -> HTMLResponse:
    found = visit.memory.themes
    theme, text = found.show(name)
    findings = [found.finding(id) for id in theme.findings]
    return page(
        "theme.html", visit, title=theme.name, status=status, problem=problem, theme=theme, text=text, findings=findings
    )
