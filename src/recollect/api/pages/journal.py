"""Journal: the tree from ROOT down to the raw words, a year of days, and a form for an entry."""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from recollect.api.pages.charts import calendar
from recollect.api.pages.forms import Sent
from recollect.api.pages.rendering import go, page
from recollect.api.session import Changing, Visit, Visiting
from recollect.core.calendar import ROOT, Period, parent, parse_day, parse_period
from recollect.core.calendar import day as day_period
from recollect.core.clock import day_of, zone_named
from recollect.core.errors import BadInput, NotFound
from recollect.core.journal import ENTRY_TYPES, NewEntry
from recollect.text.markdown import frontmatter

routes = APIRouter(include_in_schema=False)


@routes.get("/journal")
def tree(visit: Visiting) -> HTMLResponse:
    return _tree(visit)


@routes.post("/journal")
def add(visit: Changing, sent: Sent) -> Response:
    try:
        kind = sent.given("type") or "project"
        entry = NewEntry(text=sent.text("text"), topic=sent.given("topic"), type=kind)  # type: ignore[arg-type]
        logged = visit.memory.journal.add(entry)
    except BadInput as wrong:
        return _tree(visit, problem=str(wrong), draft=sent.text("text"), topic=sent.text("topic"), status=400)
    return go(f"/journal/log/{logged.id.removeprefix('log/').partition('#')[0]}")


@routes.post("/journal/compact")
def compact(visit: Changing) -> Response:
    visit.memory.journal.compact()
    return go("/journal")


@routes.get("/journal/log/{day}")
def log(visit: Visiting, day: str) -> HTMLResponse:
    when = parse_day(day)
    daily = day_period(when)
    return page(
        "log.html", visit, title=f"Log of {day}", above=[*_above(daily), daily.id], text=visit.memory.journal.show(when)
    )


@routes.get("/journal/{level}/{period}")
def node(visit: Visiting, level: str, period: str) -> HTMLResponse:
    return _node(visit, f"{level}/{period}")


@routes.get("/journal/root")
def root(visit: Visiting) -> HTMLResponse:
    return _node(visit, ROOT)


def _tree(visit: Visit, *, problem: str = "", draft: str = "", topic: str = "", status: int = 200) -> HTMLResponse:
    journal = visit.memory.journal
    today = day_of(visit.memory.context.clock.now(), zone_named(visit.memory.project.settings.timezone))
    days = journal.days()
    return page(
        "journal.html",
        visit,
        title="Journal",
        status=status,
        problem=problem,
        nodes=journal.tree(),
        days=days[:14],
        heat=calendar({each.day: each.entries for each in days}, today),
        draft=draft,
        topic=topic,
        types=ENTRY_TYPES,
    )


def _node(visit: Visit, id: str) -> HTMLResponse:
    journal = visit.memory.journal
    text = journal.node(id)
    views = journal.tree(None if id == ROOT else id)
    itself = next((view for view in views if view.id == id), None)
    if itself is None:
        raise NotFound(f"no node {id}; make what is due with: recollect compact")
    return page(
        "node.html",
        visit,
        title=id,
        above=[] if id == ROOT else _above(parse_period(id)),
        node=itself,
        text=frontmatter(text)[1],
        below=[view for view in views if view.id != id],
        day=id.partition("/")[2] if itself.level == "daily" else "",
        points=[] if id == ROOT else journal.sources(id),
    )


def _above(period: Period) -> list[str]:
    """The nodes from the root down to the one above a period."""
    up = parent(period)
    return [ROOT] if up is None else [*_above(up), up.id]
