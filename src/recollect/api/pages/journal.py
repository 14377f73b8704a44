"""Journal: the tree from ROOT down to the raw words, a year of days, and a form for an entry.

Search: everything remembered, with filters and why it matched.

Overview: what is remembered, what was injected lately, what waits, and whether all is well.

Preview: type a task and see exactly what an agent would be shown; or choose by hand what it gets.
"""

from __future__ import annotations

from fastapi import APIRouter, Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages.base import Sent, go, page
from recollect.api.pages.charts import calendar
from recollect.core.calendar import ROOT, Period, parent, parse_day, parse_period
from recollect.core.calendar import day as day_period
from recollect.core.clock import day_of, zone_named
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.core.journal import ENTRY_TYPES, NewEntry
from recollect.core.learning import Injection, Learning
from recollect.inject.learnings import NewInjection
from recollect.memory import Memory
from recollect.search.everything import KINDS, STRATEGIES, TRUSTS, Hit
from recollect.text.markdown import frontmatter
from recollect.text.tokens import tokens

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


def _tree(
    visit: PageRequest, *, problem: str = "", draft: str = "", topic: str = "", status: int = 200
) -> HTMLResponse:
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


def _node(visit: PageRequest, id: str) -> HTMLResponse:
    journal = visit.memory.journal
    text = journal.node(id)
    views = journal.tree(None if id == ROOT else id)
    itself = next((view for view in views if view.id == id), None)
    if itself is None:
        raise NotFound(f"no node {id}; make what is due with: recollect log compact")
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


search_routes = APIRouter(include_in_schema=False)


@search_routes.get("/search")
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


@search_routes.get("/text/{id:path}")
def whole(visit: Visiting, id: str) -> HTMLResponse:
    """Any text by its id, with what stands before and after it."""
    text = visit.memory.texts.get(id)
    beside = visit.memory.texts.around(id)
    return page("text.html", visit, title=text.title or id, whole=text, beside=beside)


LATELY = 10

overview_routes = APIRouter(include_in_schema=False)


@overview_routes.get("/")
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


@overview_routes.get("/check")
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


preview_routes = APIRouter(include_in_schema=False)
ASKED = "preview"
"""The task that a preview asks for; nothing is recorded under it."""


@preview_routes.get("/preview")
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


@preview_routes.post("/preview")
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
