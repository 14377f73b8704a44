"""What all pages share: templates, fields of forms, notices of changes, and work that outlasts a request.

Templates escape everything. Browsers send CRLF, and an empty field means "not given". Long work runs in a thread; every
page shows its progress, and the person may leave the page.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache, partial
from hashlib import sha256
from importlib.resources import files
from typing import Annotated, Any, TypeVar
from urllib.parse import urlencode, urlsplit

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context

from recollect.api.auth import CSRF_FIELD, CSRF_HEADER, Notice, PageRequest, Visiting, page_host
from recollect.api.pages.prose import differences, marked, period_name, place, prose
from recollect.api.spaces import Spaces
from recollect.capture.learn import Captured
from recollect.core.clock import DAY, iso, parse_time, zone_named
from recollect.core.errors import BadInput, RecollectError
from recollect.core.records import record
from recollect.memory import Memory
from recollect.text.sentences import clip, counted


@dataclass(frozen=True)
class Fields:
    """The fields of a form by name, each with one or more values."""

    values: dict[str, tuple[str, ...]]

    def text(self, name: str) -> str:
        return self.values.get(name, ("",))[0]

    def given(self, name: str) -> str | None:
        return self.text(name).strip() or None

    def number(self, name: str) -> float | None:
        given = self.given(name)
        try:
            return None if given is None else float(given)
        except ValueError:
            raise BadInput(f"{name} must be a number, not {given!r:.40}") from None

    @property
    def version(self) -> int:
        """The version of the record in the form; no record has 0."""
        said = self.text("version")[:9]
        return int(said) if said.isdecimal() else 0

    def every(self, name: str) -> tuple[str, ...]:
        return tuple(value for value in self.values.get(name, ()) if value.strip())

    def named(self, *names: str) -> dict[str, Any]:
        return {name: self.text(name) for name in names}

    def kept(self) -> dict[str, str]:
        """What was typed, to fill the form again; other fields are empty."""
        return defaultdict(str, {name: values[0] for name, values in self.values.items()})

    def words(self, name: str) -> tuple[str, ...]:
        """Tags and the like, separated by commas."""
        return tuple(dict.fromkeys(word.strip() for word in self.text(name).split(",") if word.strip()))


async def _fields(request: Request) -> Fields:
    values: dict[str, tuple[str, ...]] = {}
    for name, value in (await request.form()).multi_items():
        if name != CSRF_FIELD and isinstance(value, str):
            values[name] = (*values.get(name, ()), value.replace("\r\n", "\n"))
    return Fields(values)


Sent = Annotated[Fields, Depends(_fields)]
BLANK = Fields({})  # a form that nobody has filled in


THEMES = ("auto", "light", "dark")
THEME_COOKIE = "recollect_theme"


def page(template: str, visit: PageRequest, *, title: str, status: int = 200, **values: Any) -> Response:
    """A template for a signed-in person, with the menu; beyond the end of a list, its last page."""
    if values.get("offset", 0) >= (total := values.get("total", 0)) > 0:
        last = (total - 1) // values["rows"] * values["rows"]
        return go(visit, values["address"](offset=last))
    now = visit.memory.context.clock.now()
    zone = zone_named(visit.memory.project.settings.timezone)

    def when(milliseconds: int, shape: str = "%Y-%m-%d %H:%M") -> str:
        try:
            return datetime.fromtimestamp(milliseconds / 1000, zone).strftime(shape)
        except (OverflowError, ValueError):  # near year 1, the zone leaves the calendar
            return iso(milliseconds)

    return bare(
        template,
        visit.request,
        status=status,
        title=title,
        **{
            "csrf": visit.session.csrf,
            "space": visit.space,
            "spaces": visit.spaces,
            "base": visit.base,
            "waits": visit.memory.inbox.count(),
            "notices": _untold(visit),
            "works": tuple(visit.request.app.state.works.get(visit.space, ())),
            "place": partial(place, visit.base),
            "when": when,
            "ago": partial(ago, now),
            "problem": "",
            **values,
        },
    )


def _untold(visit: PageRequest) -> list[Notice]:
    """Notices of changes in this space that no whole page has shown yet."""
    if "hx-request" in visit.request.headers:
        return []
    told = [notice for notice in visit.session.notices if notice.space == visit.space]
    visit.session.notices[:] = [notice for notice in visit.session.notices if notice.space != visit.space]
    return told


def ago(now: int, at: int) -> str:
    """How long ago a time was, in its largest unit."""
    seconds = max(0, now - at) // 1000
    for unit, size in (("day", DAY // 1000), ("hour", 3600), ("minute", 60)):
        if seconds >= size:
            return f"{counted(seconds // size, unit)} ago"
    return "just now"


def bare(template: str, request: Request, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template outside of any space."""
    form = urlsplit(request.headers.get("referer", ""))  # what answers a form has the address of the form's page
    at = request.url if request.method in ("GET", "HEAD") or not form.path else form
    address = at.path + (f"?{at.query}" if at.query else "")
    chosen = request.cookies.get(THEME_COOKIE)
    known = {"theme": chosen if chosen in THEMES else THEMES[0], "here": address, "status": status, **values}
    return HTMLResponse(environment().get_template(template).render(**known), status_code=status)


def go(visit: PageRequest, path: str, said: str = "", *, undo: str = "", change: str = "") -> Response:
    """Redirect to the result of a change, with a notice; `undo` is the path that takes the change back."""
    if said:
        visit.session.notices.append(Notice(space=visit.space, text=said, undo=undo, change=change))
    return RedirectResponse(visit.base + path, status_code=303)


def paged(found: Sequence[Any], total: int, offset: int, rows: int, address: Callable[..., str]) -> dict[str, Any]:
    """Values for a template with a pager: the records of a page, and the addresses of other pages."""
    return {"found": found, "total": total, "offset": offset, "rows": rows, "address": address}


def ring_bases(visit: PageRequest, rings: Sequence[str]) -> dict[str, str]:
    """Where this server has the pages of each ring; nothing for one that it does not serve."""
    ctx = visit.memory.context
    spaces = {name: ctx.rings.named(ctx, name).space for name in {*rings}}
    return {name: f"/s/{space}" for name, space in spaces.items() if space in visit.spaces}


def given(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters of an address that are not empty."""
    return {name: value for name, value in wanted.items() if value}


def addressed(path: str, wanted: Mapping[str, Any]) -> Callable[..., str]:
    """The address of a list, narrowed as it is or otherwise."""
    return lambda **other: f"{path}?{urlencode(given({**wanted, **other}))}"


M = TypeVar("M")


def changing_once(visit: PageRequest, do: Callable[[Memory], M]) -> tuple[M, str]:
    """Make changes that are undone together: what came of them, and the id of the change, empty if nothing changed."""
    memory = visit.memory.in_one_change()
    made, change = do(memory), memory.context.ids("change")
    return made, change if memory.work.of_change(change) else ""


def done(visit: PageRequest, path: str, said: str, of: object, change: str, *, undo: str = "/undo") -> Response:
    """Redirect with a notice of a change to a record; without a change it says so and offers no undo."""
    if not change:
        return go(visit, path, f"Nothing changed: {named(of)} is like that already")
    return go(visit, path, f"{said} {named(of)}", undo=undo, change=change)


def captured(visit: PageRequest, path: str, said: str, made: Captured, change: str, *, undo: str = "") -> Response:
    """The same for a learning that was stored, or repeated a known one. `undo` takes back what else was done."""
    if made.merged and not (made.confirmed or made.taken):
        told = f"{named(made.learning)} says the same; it was seen {made.learning.recurrence} times now"
        return go(visit, path, told, undo=undo)
    return go(visit, path, f"{said} {named(made.learning)}", undo=undo or "/undo", change=change)


NAMES = ("title", "decision", "name", "topic", "id")
NAMED = 3  # chosen: records that a notice names; the others are counted


def named(*records: object) -> str:
    """The titles of records, for a notice."""
    said = [next(filter(None, (str(getattr(one, name, "")) for name in NAMES)), "it") for one in records]
    more = f" and {len(said) - NAMED} more" if len(said) > NAMED else ""
    return ", ".join(f"“{clip(one, TITLE_WORDS)}”" for one in said[:NAMED]) + more


TITLE_WORDS = 20  # chosen: of a record in a notice or a page's title; the text shows it in full


@record
class Bar:
    """A span of time for `charts.html`: a total, and how much of it went up and down."""

    label: str
    total: int = 0
    up: int = 0
    down: int = 0


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("recollect.api.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["prose"] = pass_context(
        lambda context, text, name, **how: prose(text, base=context["base"], id=name, **how)
    )
    made.filters.update(marked=marked, period=period_name, ms=parse_time)
    made.globals.update(counted=counted, differences=differences, static=static_address, theme_names=THEMES)
    made.globals.update(csrf_field=CSRF_FIELD, csrf_header=CSRF_HEADER, csrf="", space="", spaces=(), base="")
    made.globals.update(waits=0, works=(), ended=False, notices=())
    return made


def page_router(prefix: str = "/s/{space}") -> APIRouter:
    """Routes of pages, served only under our host names (`page_host`)."""
    return APIRouter(prefix=prefix, include_in_schema=False, dependencies=[Depends(page_host)])


# Work that may outlast a request

work_routes = page_router()
PATIENCE = 2.0  # chosen: seconds that the request waits for the work; most is done by then
Progress = Callable[..., object]
Ended = tuple[str, str, str]
"""What the work did, the path that takes it back, and the argument of that path; the last two may be empty."""


@dataclass
class LongWork:
    """Running work, and its current step."""

    name: str
    step: str = ""

    def at(self, step: str, *counts: int) -> None:
        self.step = f"{step}, {counts[0]} of {counts[1]}" if counts else step


def begin(visit: PageRequest, name: str, path: str, do: Callable[[Memory, Progress], Ended]) -> Response:
    """Do the work in a thread, unless it is running already."""
    works: dict[str, list[LongWork]] = visit.request.app.state.works
    here = works.setdefault(visit.space, [])
    if all(each.name != name for each in here):
        here.append(work := LongWork(name))
        thread = threading.Thread(target=_do, args=(visit, work, do, here), daemon=True)
        thread.start()
        thread.join(PATIENCE)
    return go(visit, path)


def _do(visit: PageRequest, work: LongWork, do: Callable[[Memory, Progress], Ended], here: list[LongWork]) -> None:
    spaces: Spaces = visit.request.app.state.spaces
    try:
        with spaces.using(visit.space) as memory:
            said = do(memory.acting_as(visit.memory.context.actor), work.at)
    except RecollectError as wrong:
        said = (f"{work.name} did not work: {wrong}", "", "")
    except Exception as error:  # noqa: BLE001 — the page shows the error
        said = (f"{work.name} ended early: {type(error).__name__}: {error}", "", "")
    text, undo, change = said
    visit.session.notices.append(Notice(space=visit.space, text=text, undo=undo, change=change))
    here.remove(work)


@work_routes.get("/work")
def work(visit: Visiting) -> HTMLResponse:
    """The running work, which htmx asks for every other second."""
    works = tuple(visit.request.app.state.works.get(visit.space, ()))
    return bare("work.html", visit.request, base=visit.base, works=works, ended=not works)


def static_address(name: str) -> str:
    return f"/static/{static_files()[name][0]}/{name}"


@cache
def static_files() -> dict[str, tuple[str, bytes]]:
    """The hash and content of each file by its name, so that no path of a request is ever joined to a folder."""
    folder = files("recollect.api.pages") / "static"
    found = {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
    return {name: (sha256(content).hexdigest()[:16], content) for name, content in found.items()}
