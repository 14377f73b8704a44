"""Preview: type a task and see exactly what an agent would be shown; or choose by hand what it gets."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from recollect.api.pages.forms import Sent
from recollect.api.pages.rendering import page
from recollect.api.session import Changing, Visiting
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.inject.relevant import NewInjection
from recollect.text.tokens import tokens

routes = APIRouter(include_in_schema=False)
ASKED = "preview"
"""The task that a preview asks for; nothing is recorded under it."""


@routes.get("/preview")
def preview(visit: Visiting, task: str = "", description: str = "") -> HTMLResponse:
    memory = visit.memory
    chosen = None
    if task.strip():
        chosen = memory.work.preview(NewInjection(task=ASKED, outcome=ASKED, title=task, description=description))
    return page(
        "preview.html",
        visit,
        title="Preview",
        task=task,
        description=description,
        chosen=chosen,
        others=memory.learnings.search(f"{task} {description}") if task.strip() else [],
        spent=tokens(chosen.markdown) if chosen else 0,
        budget=memory.context.settings.inject.budget,
    )


@routes.post("/preview")
def inject(visit: Changing, sent: Sent) -> Response:
    """Give a task the learnings that were ticked: recorded as shown, ready to be pasted."""
    try:
        shown = visit.memory.inject(
            task=sent.text("task_id"),
            outcome=sent.given("outcome_id") or sent.text("task_id"),
            title=sent.text("task"),
            learnings=sent.every("learning"),
        )
    except (BadInput, Refused, NotFound) as wrong:
        return page("problem.html", visit, title="Preview", status=400, detail=str(wrong))
    return page("injected.html", visit, title="Injected", shown=shown, task=sent.text("task_id"))
