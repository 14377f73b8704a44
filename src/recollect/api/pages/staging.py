"""Staging: what waits between hand-offs, how old it is, what a consolidation would do, and doing it.

Themes: what findings gathered into, and the raw files behind them.
"""

from __future__ import annotations

from fastapi import Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages.base import Sent, go, page, page_router
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.distil.staged import Consolidation

routes = page_router()


@routes.get("/staging")
def staging(visit: Visiting) -> HTMLResponse:
    return _staging(visit)


@routes.post("/staging")
def stage(visit: Changing, sent: Sent) -> Response:
    try:
        visit.memory.staging.stage(sent.text("rule").strip(), sent.text("body"))
    except (BadInput, Refused) as wrong:
        return _staging(visit, problem=str(wrong), rule=sent.text("rule"), body=sent.text("body"), status=400)
    return go(visit, "/staging")


@routes.post("/staging/consolidate")
def consolidate(visit: Changing) -> Response:
    try:
        done = visit.memory.staging.consolidate()
    except (BadInput, Refused, NotFound) as wrong:
        return _staging(visit, problem=str(wrong), status=400)
    return page("consolidated.html", visit, title="Consolidated", done=done)


@routes.post("/staging/restore")
def restore(visit: Changing, sent: Sent) -> Response:
    try:
        visit.memory.staging.restore(sent.text("entry"))
    except (BadInput, Refused, NotFound) as wrong:
        return _staging(visit, problem=str(wrong), status=400)
    return go(visit, "/staging")


def _staging(
    visit: PageRequest, *, problem: str = "", rule: str = "", body: str = "", status: int = 200
) -> HTMLResponse:
    """Where git cannot say how old entries are, the page says why instead of guessing, and lists them without."""
    plan: Consolidation | None = None
    unknown = ""
    try:
        ages = visit.memory.staging.ages()
        plan = visit.memory.staging.preview()  # looking at a page costs nothing
    except (Refused, NotFound) as reason:
        unknown = str(reason)
        ages = visit.memory.staging.undated()
    return page(
        "staging.html",
        visit,
        title="Staging",
        status=status,
        problem=problem,
        ages=ages,
        plan=plan,
        unknown=unknown,
        rule=rule,
        body=body,
        file=visit.memory.context.settings.staging.file,
    )


theme_routes = page_router()


@theme_routes.get("/themes")
def themes(visit: Visiting) -> HTMLResponse:
    found = visit.memory.themes
    return page("themes.html", visit, title="Themes", themes=found.list(), due=found.due(), survey=found.survey())


@theme_routes.post("/themes/run")
def run(visit: Changing) -> Response:
    visit.memory.themes.run(always=True)
    return go(visit, "/themes")


@theme_routes.get("/themes/{name}")
def theme(visit: Visiting, name: str) -> HTMLResponse:
    return _theme(visit, name)


@theme_routes.post("/themes/{name}/rename")
def rename(visit: Changing, name: str, sent: Sent) -> Response:
    try:
        named = visit.memory.themes.rename(name, sent.text("name").strip())
    except (BadInput, Refused) as wrong:
        return _theme(visit, name, problem=str(wrong), status=400)
    return go(visit, f"/themes/{named.name}")


@theme_routes.post("/themes/{name}/promote")
def promote(visit: Changing, name: str, sent: Sent) -> Response:
    """A finding of the theme becomes a learning."""
    made = visit.memory.themes.promote(sent.text("finding"))
    return go(visit, f"/learnings/{made.learning.id}")


def _theme(visit: PageRequest, name: str, *, problem: str = "", status: int = 200) -> HTMLResponse:
    found = visit.memory.themes
    theme, text = found.show(name)
    findings = [found.finding(id) for id in theme.findings]
    return page(
        "theme.html", visit, title=theme.name, status=status, problem=problem, theme=theme, text=text, findings=findings
    )
