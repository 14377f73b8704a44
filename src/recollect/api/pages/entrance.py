"""The way in: the list of spaces, signing in and out, the theme, and the files that every page uses."""

from __future__ import annotations

from functools import partial
from mimetypes import guess_type
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from recollect.api.auth import COOKIE, Authenticator, BrowserSessions, Leaving, Looking, Public, address_of
from recollect.api.pages.base import THEME_COOKIE, ago, bare, page_router, static_files
from recollect.api.spaces import Spaces
from recollect.api.wire import Denied
from recollect.core.errors import NotFound, RecollectError
from recollect.core.records import record

routes = page_router("")


@routes.get("/")
def list_spaces(request: Request, session: Looking) -> Response:
    spaces: Spaces = request.app.state.spaces
    names = spaces.names()
    if len(names) == 1:
        return RedirectResponse(f"/s/{names[0]}/", status_code=303)
    now = spaces.here.context.clock.now()
    found = [_seen_from_outside(spaces, name) for name in names]
    return bare(
        "spaces.html", request, title="Spaces", csrf=session.csrf, spaces=names, found=found, ago=partial(ago, now)
    )


@record
class SpaceCard:
    """A space in the list: how much it holds, what waits, when it last changed; or why it cannot be opened."""

    name: str
    learnings: int = 0
    waits: int = 0
    latest: int = 0
    problem: str = ""


def _seen_from_outside(spaces: Spaces, name: str) -> SpaceCard:
    try:
        with spaces.using(name) as memory:
            latest = max((event.at for event in memory.work.latest(limit=1)), default=0)
            total = memory.learnings.page(limit=1)[1]
            return SpaceCard(name=name, learnings=total, waits=memory.inbox.count(), latest=latest)
    except RecollectError as wrong:
        return SpaceCard(name=name, problem=str(wrong))


@routes.get("/sign-in", dependencies=[Public])
def ask_for_code(request: Request, next: str = "") -> HTMLResponse:
    return bare("sign_in.html", request, title="Sign in", wrong=False, next=next)


@routes.post("/sign-in", dependencies=[Public])
def sign_in(request: Request, code: Annotated[str, Form()] = "", next: Annotated[str, Form()] = "") -> Response:
    door: Authenticator = request.app.state.door
    if waits := door.failures.wait(f"code {address_of(request)}"):
        raise Denied(429, f"too many tries; wait {waits} s", headers={"retry-after": str(waits)})
    sessions: BrowserSessions = request.app.state.sessions
    cookie = sessions.sign_in(code)
    if cookie is None:
        return bare("sign_in.html", request, status=403, title="Sign in", wrong=True, next=next)
    answer = RedirectResponse(local_path(next), status_code=303)
    # A browser says where the form came from, so behind a TLS proxy the cookie never travels without TLS.
    secure = request.headers.get("origin", "").startswith("https://")
    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=secure, path="/")
    return answer


def local_path(given: str) -> str:
    """A path of this server as it was given; the first page for anything that a browser might take for elsewhere."""
    parts = urlsplit(given)
    local = given.startswith("/") and not given.startswith("//") and not parts.scheme and not parts.netloc
    return given if local and given.isascii() and given.isprintable() and "\\" not in given else "/"


@routes.post("/sign-out", dependencies=[Leaving])
def sign_out(request: Request) -> Response:
    sessions: BrowserSessions = request.app.state.sessions
    sessions.sign_out(request.cookies.get(COOKIE))
    answer = RedirectResponse("/sign-in", status_code=303)
    answer.delete_cookie(COOKIE, path="/")
    return answer


@routes.post("/theme", dependencies=[Leaving])
def choose_theme(theme: Annotated[str, Form()] = "", back: Annotated[str, Form()] = "") -> Response:
    """Light, dark, or as the system has it; the browser keeps the choice."""
    answer = RedirectResponse(local_path(back), status_code=303)
    answer.set_cookie(THEME_COOKIE, theme[:5], max_age=10**8, httponly=True, samesite="strict", path="/")
    return answer


static_routes = APIRouter(include_in_schema=False)


@static_routes.get("/static/{version}/{name}", dependencies=[Public])
def static(request: Request, version: str, name: str) -> Response:
    """A file by its content: its address changes with it, so a browser may keep it for ever."""
    known, content = static_files().get(name, ("", b""))
    if version != known:
        raise NotFound(f"no file {name[:80]!r}; reload the page")
    headers = {"cache-control": "public, max-age=31536000, immutable", "etag": f'"{known}"'}
    if request.headers.get("if-none-match") == f'"{known}"':
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=guess_type(name)[0] or "text/plain", headers=headers)
