"""Staging: what waits between hand-offs, how old it is, what a consolidation would do, and doing it.

Themes: what findings gathered into, and the raw files behind them.
"""

from __future__ import annotations

from collections import Counter

from fastapi import Response
from fastapi.responses import HTMLResponse

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages.base import Progress, Sent, begin, go, page, page_router
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.distil.staged import Consolidation
from recollect.memory import Memory
from recollect.text.sentences import counted

routes = page_router()


@routes.get("/staging")
def staging(visit: Visiting) -> HTMLResponse:
    return _staging(visit)


@routes.post("/staging")
def stage(visit: Changing, sent: Sent) -> Response:
    try:
        made = visit.memory.staging.stage(sent.text("rule").strip(), sent.text("body"))
    except (BadInput, Refused) as wrong:
        return _staging(visit, problem=str(wrong), rule=sent.text("rule"), body=sent.text("body"), status=400)
    return go(visit, "/staging", f"Staged “{made.title}”")


@routes.post("/staging/consolidate")
def consolidate(visit: Changing) -> Response:
    def do(memory: Memory, _: Progress) -> str:
        done = memory.staging.consolidate()
        fates = Counter(each.fate for each in done.outcomes)
        said = ", ".join(f"{count} {fate}" for fate, count in fates.items()) or f"Nothing changed: {done.reason}"
        return f"{said}; report in {done.report}" if done.report else said

    return begin(visit, "Consolidating", "/staging", do)


@routes.post("/staging/restore")
def restore(visit: Changing, sent: Sent) -> Response:
    return _act(visit, sent.text("entry"), "restore", "Staged again:")


SAID = {"hold": "Held back", "release": "Released", "adopt": "Adopted", "promote": "Made a learning of"}
OPPOSITE = {"hold": "release", "release": "hold"}


@routes.post("/staging/{slug}/{verb}")
def act(visit: Changing, slug: str, verb: str) -> Response:
    """Hold an entry back, release or adopt it, or make it a learning."""
    if verb not in SAID:
        raise NotFound(f"a staged learning has no action {verb!r}")
    return _act(visit, slug, verb, SAID[verb])


def _act(visit: PageRequest, slug: str, verb: str, said: str) -> Response:
    staging = visit.memory.staging
    try:
        if verb in OPPOSITE:
            staging.hold(slug, on=verb == "hold")
        else:
            getattr(staging, verb)(slug)
    except (BadInput, Refused, NotFound) as wrong:
        return _staging(visit, problem=str(wrong), status=400)
    undo = f"/staging/{slug}/{OPPOSITE[verb]}" if verb in OPPOSITE else ""
    return go(visit, "/staging", f"{said} {slug}", undo=undo)


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
        held={each.slug: each.reason for each in plan.held} if plan else {},
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
    def do(memory: Memory, _: Progress) -> str:
        done = memory.themes.run(always=True)
        return f"Gathered {counted(done.files, 'raw file')} into {counted(len(done.themes), 'theme')}"

    return begin(visit, "Gathering findings", "/themes", do)


@theme_routes.post("/themes/{name}/rename")
def rename(visit: Changing, name: str, sent: Sent) -> Response:
    """The form sends a name, the button of its message the name before as the change that it takes back."""
    try:
        named = visit.memory.themes.rename(name, (sent.given("name") or sent.text("change")).strip())
    except (BadInput, Refused) as wrong:
        return go(visit, f"/themes/{name}", str(wrong))
    undo = f"/themes/{named.name}/rename"
    return go(visit, f"/themes/{named.name}", f"Renamed {name} to {named.name}", undo=undo, change=name)


@theme_routes.post("/themes/{name}/promote")
def promote(visit: Changing, name: str, sent: Sent) -> Response:
    """A finding of the theme becomes a learning."""
    memory = visit.memory.in_one_change()
    made = memory.themes.promote(sent.text("finding")).learning
    said = f"Made a learning of {sent.text('finding')}"
    return go(visit, f"/learnings/{made.id}", said, undo="/undo", change=memory.context.ids("change"))


@theme_routes.get("/themes/{name}")
def theme(visit: Visiting, name: str) -> HTMLResponse:
    found = visit.memory.themes
    theme, text = found.show(name)
    findings = [found.finding(id) for id in theme.findings]
    return page("theme.html", visit, title=theme.name, theme=theme, text=text, findings=findings)
