"""The pages Staging and Themes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Literal
from urllib.parse import urlsplit

from fastapi import Response

from recollect.api.auth import Changing, PageRequest, Visiting
from recollect.api.pages import base
from recollect.api.pages.entrance import local_path
from recollect.api.wire import Offset
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.distil.staged import Consolidation
from recollect.memory import Memory
from recollect.memory.documents import Staging
from recollect.text.sentences import counted

routes = base.page_router()
ROWS = 25  # a screen and a half; chosen


@routes.get("/staging")
def staging(visit: Visiting, offset: Offset = 0, ready: Offset = 0) -> Response:
    return _staging(visit, offset=offset, ready=ready)


@routes.post("/staging")
def stage(visit: Changing, sent: base.Sent) -> Response:
    try:
        made = visit.memory.staging.stage(sent.text("rule").strip(), sent.text("body"))
    except (BadInput, Refused) as wrong:
        return _staging(visit, sent, problem=str(wrong))
    said = "is staged already" if made.repeated else "is staged"
    undo = "" if made.repeated else f"/{made.id.replace('staged', 'staging', 1)}/withdraw"
    return base.go(visit, _list(visit), f"“{made.title}” {said}", undo=undo)


@routes.post("/staging/consolidate")
def consolidate(visit: Changing) -> Response:
    def do(memory: Memory, _: base.Progress) -> base.Ended:
        done = memory.staging.consolidate()
        fates = Counter(each.fate for each in done.outcomes)
        said = ", ".join(f"{count} {fate}" for fate, count in fates.items()) or f"Nothing changed: {done.reason}"
        said = f"{said}; report in {done.report}" if done.report else said
        left = ",".join(each.slug for each in done.outcomes if each.left)
        return said, "/staging/restore" if left else "", left

    return base.begin(visit, "Consolidating", "/staging", do)


@routes.post("/staging/restore")
def restore(visit: Changing, sent: base.Sent) -> Response:
    """Stage again the entry that was typed, or those that a consolidation moved."""
    back = [visit.memory.staging.restore(entry) for entry in (*sent.every("entry"), *sent.words("change"))]
    said = f"Staged again: {', '.join(f'“{each.title}”' for each in back)}"
    return base.go(visit, _list(visit), said + "".join(f"; {each.note}" for each in back if each.note))


VERBS: dict[str, tuple[str, Callable[[Staging, str], object], str]] = {
    "hold": ("Held back", lambda staging, slug: staging.hold(slug), "release"),
    "release": ("Released", lambda staging, slug: staging.hold(slug, on=False), "hold"),
    "adopt": ("Adopted", lambda staging, slug: staging.adopt(slug), "disown"),
    "disown": ("No longer adopted:", lambda staging, slug: staging.adopt(slug, on=False), "adopt"),
    "withdraw": ("Took out", lambda staging, slug: staging.withdraw(slug), "restore"),
    "restore": ("Staged again:", lambda staging, slug: staging.restore(slug), "withdraw"),
}
"""For each button of an entry: the notice, what it does, and the verb that takes it back."""


@routes.post("/staging/{slug}/promote")
def promote(visit: Changing, slug: str) -> Response:
    """Turn an entry into a learning; to undo it, archive the learning and stage the entry again."""
    made, change = base.changing_once(visit, lambda memory: memory.staging.promote(slug))
    return base.captured(visit, _list(visit), "Made a learning of", made, change, undo=f"/staging/{slug}/demote")


@routes.post("/staging/{slug}/demote")
def demote(visit: Changing, slug: str, sent: base.Sent) -> Response:
    """Without a change, a known learning said the same, and only the entry comes back."""
    if change := sent.text("change"):
        visit.memory.data.undo(change=change)
    back = visit.memory.staging.restore(slug)
    return base.go(visit, _list(visit), f"Staged again: “{back.title}”")


@routes.post("/staging/{slug}/{verb}")
def act(visit: Changing, slug: str, verb: str) -> Response:
    if verb not in VERBS:
        raise NotFound(f"a staged learning has no action {verb!r}")
    said, do, back = VERBS[verb]
    entry, change = base.changing_once(visit, lambda memory: do(memory.staging, slug))
    return base.done(visit, _list(visit), said, entry, change, undo=f"/staging/{slug}/{back}")


def _list(visit: PageRequest) -> str:
    """The page of the list that a form was sent from."""
    here = urlsplit(visit.request.headers.get("referer", ""))
    there = f"{visit.base}/staging"
    return local_path(f"{there}?{here.query}" if here.path == there else there).removeprefix(visit.base)


def _staging(
    visit: PageRequest, typed: base.Fields = base.BLANK, *, offset: int = 0, ready: int = 0, problem: str = ""
) -> Response:
    """If git cannot date the entries, the page says why and lists them without ages."""
    plan: Consolidation | None = None
    unknown = ""
    try:
        ages = visit.memory.staging.ages()
        plan = visit.memory.staging.preview()  # a preview calls no model
    except (Refused, NotFound) as reason:
        unknown = str(reason)
        ages = visit.memory.staging.undated()
    found = ages.entries[offset : offset + ROWS]
    outcomes = len(plan.outcomes) if plan else 0
    ready = min(ready, max(0, outcomes - 1) // ROWS * ROWS)  # what was last on its page may be held back by now
    address = base.addressed("/staging", {"offset": offset, "ready": ready})
    return base.page(
        "staging.html",
        visit,
        title="Staging",
        status=400 if problem else 200,
        problem=problem,
        ages=ages,
        plan=plan,
        ready=ready,
        ready_address=lambda offset: address(ready=offset),
        **base.paged(found, len(ages.entries), offset, ROWS, address),
        held={each.slug: each.reason for each in plan.held} if plan else {},
        unknown=unknown,
        typed=typed,
        file=visit.memory.context.settings.staging.file,
    )


theme_routes = base.page_router()


@theme_routes.get("/themes")
def themes(visit: Visiting) -> Response:
    found = visit.memory.themes
    return base.page("themes.html", visit, title="Themes", themes=found.list(), due=found.due(), survey=found.survey())


@theme_routes.get("/findings/plan")
def plan(visit: Visiting) -> Response:
    """What a gathering would do: a page of its own, because planning thousands of findings takes a while."""
    found = visit.memory.themes
    known = {theme.name for theme in found.list()}
    return base.page("theme_plan.html", visit, title="What a gathering would do", plan=found.preview(), known=known)


@theme_routes.post("/findings/{verb}")
def hold(visit: Changing, verb: Literal["hold", "release"], sent: base.Sent) -> Response:
    """Hold a finding out of themes, or release it; each undoes the other."""
    id, other = sent.given("finding") or sent.text("change"), "release" if verb == "hold" else "hold"
    _, change = base.changing_once(visit, lambda memory: memory.themes.hold(id, on=verb == "hold"))
    if not change:
        return base.go(visit, "/findings/plan", f"Nothing changed: {id} is like that already")
    return base.go(visit, "/findings/plan", f"{VERBS[verb][0]} {id}", undo=f"/findings/{other}", change=id)


@theme_routes.post("/themes/run")
def run(visit: Changing) -> Response:
    def do(memory: Memory, _: base.Progress) -> base.Ended:
        done = memory.themes.run(always=True)
        return f"Gathered {counted(done.files, 'raw file')} into {counted(len(done.themes), 'theme')}", "", ""

    return base.begin(visit, "Gathering findings", "/themes", do)


@theme_routes.post("/themes/{name}/rename")
def rename(visit: Changing, name: str, sent: base.Sent) -> Response:
    """The form sends the new name; the undo button sends the old one as `change`."""
    named = visit.memory.themes.rename(name, (sent.given("name") or sent.text("change")).strip())
    undo = f"/themes/{named.name}/rename"
    if named.name == name:
        return base.go(visit, f"/themes/{name}", f"{name} keeps its name; only a person renames it from now on")
    return base.go(visit, f"/themes/{named.name}", f"Renamed {name} to {named.name}", undo=undo, change=name)


@theme_routes.post("/themes/{name}/promote")
def promote_finding(visit: Changing, name: str, sent: base.Sent) -> Response:
    """Turn a finding of the theme into a learning."""
    made, change = base.changing_once(visit, lambda memory: memory.themes.promote(sent.text("finding")))
    return base.captured(
        visit, f"/learnings/{made.learning.id}", f"Made a learning of {sent.text('finding')}:", made, change
    )


@theme_routes.get("/themes/{name}")
def theme(visit: Visiting, name: str) -> Response:
    theme, text = visit.memory.themes.show(name)
    raw = {one.id: one for file in visit.memory.themes.survey().files for one in file.findings}  # each file read once
    findings = [raw[id] for id in theme.findings if id in raw]
    return base.page("theme.html", visit, title=theme.name, theme=theme, text=text, findings=findings)
