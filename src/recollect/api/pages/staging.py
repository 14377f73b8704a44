"""Staging: what waits between hand-offs, how old it is, what a consolidation would do, and doing it."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from recollect.api.pages.forms import Sent
from recollect.api.pages.rendering import go, page
from recollect.api.session import Changing, Visit, Visiting
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.distil.report import Consolidation

routes = APIRouter(include_in_schema=False)


@routes.get("/staging")
def staging(visit: Visiting) -> HTMLResponse:
    return _staging(visit)


@routes.post("/staging")
def stage(visit: Changing, sent: Sent) -> Response:
    try:
        visit.memory.staging.stage(sent.text("rule").strip(), sent.text("body"))
    except (BadInput, Refused) as wrong:
        return _staging(visit, problem=str(wrong), rule=sent.text("rule"), body=sent.text("body"), status=400)
    return go("/staging")


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
    return go("/staging")


def _staging(visit: Visit, *, problem: str = "", rule: str = "", body: str = "", status: int = 200) -> HTMLResponse:
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
