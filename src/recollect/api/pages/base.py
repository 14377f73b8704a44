"""Filling templates. Everything is escaped unless a template says otherwise, and none should.

What a form sent, as plain text: browsers send CRLF, and an empty field means "not given".

Where a thing is shown, by its id: a page of its own, or as a text with its neighbours.

Signing in and out, and the files that every page uses.

Stored Markdown as HTML that cannot do anything: no HTML of its own, no images, links to the web alone.

The marks of entries and sources are left out, and ids become links, so that one can click from a summary down to the
words it was made of.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from mimetypes import guess_type
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote

import nh3
from fastapi import APIRouter, Depends, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from recollect.api.auth import (
    COOKIE,
    CSRF_FIELD,
    CSRF_HEADER,
    Authenticator,
    BrowserSessions,
    Changing,
    Denied,
    PageRequest,
    Public,
    address_of,
)
from recollect.core.clock import iso, zone_named
from recollect.core.errors import BadInput, NotFound
from recollect.tend.kinds import kind_of
from recollect.text.sentences import counted

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@dataclass(frozen=True)
class Fields:
    """The fields of a form by name; one may stand several times."""

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

    def every(self, name: str) -> tuple[str, ...]:
        return tuple(value for value in self.values.get(name, ()) if value.strip())

    def kept(self) -> dict[str, str]:
        """What was typed, to fill the form again; an empty text for what was not."""
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


def place(id: str) -> str:
    """The address of the page that shows what an id names."""
    kind = kind_of(id)
    if kind is None or not kind.page:
        return f"/text/{quote(id)}"
    return kind.page + quote(id.removeprefix(f"{kind.name}/"))


TAGS = {
    *("p", "br", "hr", "blockquote", "pre", "code", "em", "strong", "s", "a", "ul", "ol", "li"),
    *("h1", "h2", "h3", "h4", "h5", "h6", "table", "thead", "tbody", "tr", "th", "td"),
}
_MARK = re.compile(r"<!-- (?:recollect: at=\S*(?: \w+=\S*)*|source: \w+/\S+ \S+) -->")
_ID = re.compile(
    r"(?<![\w/.-])(?:log/\d{4}-\d\d-\d\d#\d+|daily/\d{4}-\d\d-\d\d|weekly/\d{4}-W\d\d|monthly/\d{4}-\d\d"
    r"|(?:learn|dec)_[0-9a-z]{8,})(?![\w/-])"
)


def prose(text: str) -> Markup:
    parser = _parser()
    parsed = _without_marks(parser.parse(text))
    for token in parsed:
        if token.type in ("heading_open", "heading_close"):
            token.tag = f"h{min(int(token.tag[1]) + 1, 6)}"  # the page's own heading stays the only one of its rank
        elif token.children:
            token.children = _linked(token.children)
    made = nh3.clean(
        parser.renderer.render(parsed, parser.options, {}),
        tags=TAGS,
        attributes={"a": {"href"}},
        url_schemes={"http", "https"},
        link_rel="noopener noreferrer nofollow",
    )
    return Markup(made)  # cleaned just now


def _without_marks(tokens: list[Token]) -> list[Token]:
    """Without the paragraphs that are a mark and nothing else."""
    marks = {
        number
        for number, token in enumerate(tokens)
        if token.type == "inline" and tokens[number - 1].type == "paragraph_open" and _MARK.fullmatch(token.content)
    }
    around = {near for number in marks for near in (number - 1, number, number + 1)}
    return [token for number, token in enumerate(tokens) if number not in around]


def _linked(children: list[Token]) -> list[Token]:
    """Ids in running text as links, unless they stand in one already."""
    from markdown_it.token import Token

    made: list[Token] = []
    inside = 0
    for child in children:
        inside += child.type == "link_open"
        inside -= child.type == "link_close"
        if child.type != "text" or inside:
            made.append(child)
            continue
        at = 0
        for found in _ID.finditer(child.content):
            made.append(Token("text", "", 0, content=child.content[at : found.start()]))
            made.append(Token("link_open", "a", 1, attrs={"href": place(found[0])}))
            made.append(Token("text", "", 0, content=found[0]))
            made.append(Token("link_close", "a", -1))
            at = found.end()
        made.append(Token("text", "", 0, content=child.content[at:]))
    return made


@cache
def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table").disable("image")


SECTIONS = (
    ("/", "Overview"),
    ("/search", "Search"),
    ("/learnings", "Learnings"),
    ("/journal", "Journal"),
    ("/decisions", "Decisions"),
    ("/themes", "Themes"),
    ("/staging", "Staging"),
    ("/inbox", "Inbox"),
    ("/preview", "Preview"),
)
"""The pages in the order of the menu."""


def page(template: str, visit: PageRequest, *, title: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A template for a signed-in person. The title is the menu's name for a page, or a page's own below it."""
    zone = zone_named(visit.memory.project.settings.timezone)

    def when(milliseconds: int) -> str:
        try:
            return f"{datetime.fromtimestamp(milliseconds / 1000, zone):%Y-%m-%d %H:%M}"
        except OverflowError:  # an hour that the calendar has in UTC but not in the project's zone
            return iso(milliseconds)

    space = visit.memory.context.space
    known = {"csrf": visit.csrf, "space": space, "sections": SECTIONS, "when": when, "problem": ""}
    return bare(template, status=status, title=title, **{**known, **values})


def bare(template: str, *, status: int = 200, **values: Any) -> HTMLResponse:
    """A template for anybody."""
    known = {"csrf": "", "space": "", "sections": (), "csrf_field": CSRF_FIELD, "csrf_header": CSRF_HEADER}
    return HTMLResponse(environment().get_template(template).render(**{**known, **values}), status_code=status)


def go(path: str) -> Response:
    """After a change, look at what came of it."""
    return RedirectResponse(path, status_code=303)


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("recollect.api.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters["prose"] = prose
    made.globals.update(place=place, counted=counted)
    return made


routes = APIRouter(include_in_schema=False)


@routes.get("/sign-in", dependencies=[Public])
def ask_for_code() -> HTMLResponse:
    return bare("sign_in.html", title="Sign in", wrong=False)


@routes.post("/sign-in", dependencies=[Public])
def sign_in(request: Request, code: Annotated[str, Form()] = "") -> Response:
    door: Authenticator = request.app.state.door
    if waits := door.failures.wait(f"code {address_of(request)}"):
        raise Denied(429, f"too many tries; wait {waits} s", headers={"retry-after": str(waits)})
    sessions: BrowserSessions = request.app.state.sessions
    cookie = sessions.sign_in(code)
    if cookie is None:
        return bare("sign_in.html", status=403, title="Sign in", wrong=True)
    answer = RedirectResponse("/", status_code=303)
    # A browser says where the form came from, so behind a TLS proxy the cookie never travels without TLS.
    secure = request.headers.get("origin", "").startswith("https://")
    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=secure, path="/")
    return answer


@routes.post("/sign-out")
def sign_out(request: Request, visit: Changing) -> Response:
    sessions: BrowserSessions = request.app.state.sessions
    sessions.sign_out(request.cookies.get(COOKIE))
    answer = RedirectResponse("/sign-in", status_code=303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


@routes.get("/static/{name}", dependencies=[Public])
def static(name: str) -> Response:
    content = _static().get(name)
    if content is None:
        raise NotFound(f"no file {name[:80]!r}")
    kind = guess_type(name)[0] or "text/plain"
    return Response(content, media_type=kind, headers={"cache-control": "public, max-age=3600"})


@cache
def _static() -> dict[str, bytes]:
    """The few files there are, by name: no path of a request is ever joined to a folder."""
    folder = files("recollect.api.pages") / "static"
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.is_file()}
