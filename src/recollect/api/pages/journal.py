"""Journal: the tree from a year down to the raw words, a year of days, and a form for an entry."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta
from typing import Annotated

from fastapi import Query, Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages.base import Ended, Progress, Sent, begin, go, page, page_router, paged
from recollect.api.pages.prose import period_name
from recollect.api.wire import Offset
from recollect.core.calendar import ROOT, Period, parent, parse_day, parse_period, week
from recollect.core.calendar import day as day_period
from recollect.core.errors import BadInput, NotFound
from recollect.core.journal import ENTRY_TYPES, NewEntry
from recollect.core.records import record
from recollect.memory import Memory
from recollect.text.markdown import frontmatter
from recollect.text.sentences import counted

routes = page_router()
ROWS = 25  # entries of a day in a page
WEEKS = 53  # of the map of the year
SHADES = (1, 3, 6, 10)  # entries a day from which its cell is one shade darker


@record
class TreeDay:
    """A day with entries, and the nodes above it; a week belongs to the month of its Thursday."""

    day: date
    entries: int
    daily: str
    weekly: str
    monthly: str


@routes.get("/journal")
def tree(visit: Visiting, year: Annotated[int, Query(ge=0, le=9999)] = 0) -> HTMLResponse:
    return _tree(visit, year=year)


@routes.post("/journal")
def add(visit: Changing, sent: Sent) -> Response:
    try:
        kind = sent.given("type") or "project"
        entry = NewEntry(text=sent.text("text"), topic=sent.given("topic"), type=kind)  # type: ignore[arg-type]
        logged = visit.memory.journal.add(entry)
    except BadInput as wrong:
        return _tree(visit, problem=str(wrong), draft=sent.text("text"), topic=sent.text("topic"), status=400)
    day = logged.id.removeprefix("log/").partition("#")[0]
    return go(visit, f"/journal/log/{day}", f"Wrote {logged.id}")


@routes.post("/journal/compact")
def compact(visit: Changing) -> Response:
    def do(memory: Memory, progress: Progress) -> Ended:
        done, warning = memory.journal.compact(progress=progress)
        changed = len(done.changes)
        said = "Everything was up to date" if not changed else f"Brought {counted(changed, 'node')} up to date"
        return f"{said}. {warning}" if warning else said, "", ""

    return begin(visit, "Bringing the journal up to date", "/journal", do)


@routes.get("/journal/log/{day}")
def log(visit: Visiting, day: str, offset: Offset = 0) -> HTMLResponse:
    when = parse_day(day)
    daily = day_period(when)
    entries = visit.memory.journal.entries(when)
    shown = entries[offset : offset + ROWS]
    return page(
        "log.html",
        visit,
        title=f"Log of {period_name(daily.id)}",
        above=[*_above(daily), daily.id],
        topics=visit.memory.topics.of_entries([each.entry.id for each in shown], now=0),
        **paged(shown, len(entries), offset, ROWS, lambda offset: f"/journal/log/{day}?offset={offset}"),
    )


@routes.get("/journal/{level}/{period}")
def node(visit: Visiting, level: str, period: str) -> HTMLResponse:
    return _node(visit, f"{level}/{period}")


@routes.get("/journal/root")
def root(visit: Visiting) -> HTMLResponse:
    return _node(visit, ROOT)


def _tree(
    visit: PageRequest, *, year: int = 0, problem: str = "", draft: str = "", topic: str = "", status: int = 200
) -> HTMLResponse:
    journal = visit.memory.journal
    counts = {each.day: each.entries for each in journal.days()}
    views = {one.id: one for one in journal.tree()}
    years = sorted({each.year for each in counts} | {int(id[8:12]) for id in views if id != ROOT}, reverse=True)
    year = year or (years[0] if years else journal.today().year)
    months = [id for id in views if id.startswith(f"monthly/{year}")]
    written = [_tree_day(day, counts[day]) for day in sorted(counts, reverse=True)]
    written = [one for one in written if one.monthly.startswith(f"monthly/{year}")]
    return page(
        "journal.html",
        visit,
        title="Journal",
        status=status,
        problem=problem,
        year=year,
        years=years,
        root=views.get(ROOT),
        months=[
            (id, [one for one in written if one.monthly == id])
            for id in sorted({*months, *(one.monthly for one in written)}, reverse=True)
        ],
        made=set(journal.nodes()),
        topics={id: views[id].topics[:6] for id in months},
        days=_year_of_days(counts, journal.today()),
        last=max((day for day, count in counts.items() if count and day <= journal.today()), default=None),
        draft=draft,
        topic=topic,
        types=ENTRY_TYPES,
    )


def _year_of_days(counts: Mapping[date, int], today: date) -> list[tuple[date, int, int]]:
    """The days of the last year from a Monday on, each with its entries and its shade."""
    monday = today - timedelta(days=today.weekday(), weeks=WEEKS - 1)
    days = [monday + timedelta(days=number) for number in range((today - monday).days + 1)]
    return [(day, counts.get(day, 0), sum(counts.get(day, 0) >= least for least in SHADES)) for day in days]


def _tree_day(day: date, entries: int) -> TreeDay:
    above = week(day)
    month = parent(above)
    return TreeDay(
        day=day,
        entries=entries,
        daily=day_period(day).id,
        weekly=above.id,
        monthly=month.id if month else above.id,
    )


def _node(visit: PageRequest, id: str) -> HTMLResponse:
    journal = visit.memory.journal
    text = journal.node(id)
    views = journal.tree(None if id == ROOT else id)
    itself = next((view for view in views if view.id == id), None)
    if itself is None:
        raise NotFound(f"no node {id}; make what is due with: recollect log compact")
    level = {ROOT: "monthly", "monthly": "weekly", "weekly": "daily"}.get(itself.level if id != ROOT else ROOT, "")
    return page(
        "node.html",
        visit,
        title=period_name(id),
        above=[] if id == ROOT else _above(parse_period(id)),
        node=itself,
        text=frontmatter(text)[1],
        below=[view for view in views if view.id != id and view.level == level],
        day=id.partition("/")[2] if itself.level == "daily" else "",
        points=[] if id == ROOT else journal.sources(id),
    )


def _above(period: Period) -> list[str]:
    """The nodes from the root down to the one above a period."""
    up = parent(period)
    return [ROOT] if up is None else [*_above(up), up.id]
