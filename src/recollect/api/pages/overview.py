"""Overview: what is remembered, what was injected lately, what waits, and whether all is well."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from recollect.api.pages.rendering import page
from recollect.api.session import Visiting
from recollect.core.errors import NotFound
from recollect.core.learning import Injection, Learning
from recollect.memory import Memory

LATELY = 10

routes = APIRouter(include_in_schema=False)


@routes.get("/")
def overview(visit: Visiting) -> HTMLResponse:
    memory = visit.memory
    return page(
        "overview.html",
        visit,
        title="Overview",
        now=memory.status(),
        injected=_injected(memory),
        reviews=memory.decisions.review_queue(due_only=True),
        themes=memory.themes.due(),
        day_count=len(memory.journal.days()),
        decision_count=memory.decisions.page(limit=1)[1],
    )


@routes.get("/check")
def check(visit: Visiting) -> HTMLResponse:
    """Read everything back: takes a while on a large memory, so it is asked for."""
    return page("check.html", visit, title="Health", findings=visit.memory.data.verify())


def _injected(memory: Memory) -> list[tuple[Injection, Learning | None]]:
    """What was shown lately; a learning may have been purged since."""
    shown: list[tuple[Injection, Learning | None]] = []
    for injection in memory.work.injections(limit=LATELY):
        try:
            shown.append((injection, memory.learnings.get(injection.learning_id)))
        except NotFound:
            shown.append((injection, None))
    return shown
