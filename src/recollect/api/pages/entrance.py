"""The list of spaces, signing in and out, the theme, static files, tokens for programs, and the settings in force."""

from __future__ import annotations

from functools import partial
from mimetypes import guess_type
from typing import Annotated
from urllib.parse import quote, urlsplit

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from recollect.api.auth import (
    COOKIE,
    Authenticator,
    BrowserSessions,
    Changing,
    Leaving,
    Looking,
    PageRequest,
    Public,
    Visiting,
    address_of,
)
from recollect.api.pages.base import THEME_COOKIE, Sent, ago, bare, go, page, page_router, static_files
from recollect.api.spaces import Spaces
from recollect.api.wire import Denied
from recollect.core.errors import NotFound, RecollectError
from recollect.core.records import record
from recollect.core.settings import Settings
from recollect.tend.tokens import SCOPES, TOKEN_CHANNELS

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


@routes.get("/s/{space}")
def without_slash(space: str, _: Looking) -> Response:
    return RedirectResponse(f"/s/{quote(space)}/", status_code=303)


@record
class SpaceCard:
    """A space in the list, or why it cannot be opened. `waits` counts the inbox; `latest` is the last change."""

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
    # The Origin tells whether the browser came through a TLS proxy; then the cookie never travels without TLS.
    secure = request.headers.get("origin", "").startswith("https://")
    answer.set_cookie(COOKIE, cookie, httponly=True, samesite="strict", secure=secure, path="/")
    return answer


def local_path(given: str) -> str:
    """The given path if it is certainly on this server; otherwise `/`."""
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
    """Light, dark, or like the system; the browser keeps the choice."""
    answer = RedirectResponse(local_path(back), status_code=303)
    answer.set_cookie(THEME_COOKIE, theme[:5], max_age=10**8, httponly=True, samesite="strict", path="/")
    return answer


static_routes = APIRouter(include_in_schema=False)


@static_routes.get("/static/{version}/{name}", dependencies=[Public])
def static(request: Request, version: str, name: str) -> Response:
    """A file under the hash of its content, so a browser may cache it for ever."""
    known, content = static_files().get(name, ("", b""))
    if version != known:
        raise NotFound(f"no file {name[:80]!r}; reload the page")
    headers = {"cache-control": "public, max-age=31536000, immutable", "etag": f'"{known}"'}
    if request.headers.get("if-none-match") == f'"{known}"':
        return Response(status_code=304, headers=headers)
    return Response(content, media_type=guess_type(name)[0] or "text/plain", headers=headers)


owner_routes = page_router()


@owner_routes.get("/tokens")
def tokens(visit: Visiting) -> Response:
    return _tokens(visit)


@owner_routes.post("/tokens")
def new(visit: Changing, sent: Sent) -> Response:
    """Only this answer contains the secret; reloading the page does not show it again."""
    made, secret = visit.memory.tokens.new(
        sent.text("name").strip(),
        channel=sent.given("channel") or "api",  # type: ignore[arg-type]
        scopes=sent.every("scope"),  # type: ignore[arg-type]
        expires=sent.text("expires").strip(),
    )
    return _tokens(visit, made=made.name, secret=secret)


@owner_routes.post("/tokens/revoke")
def revoke(visit: Changing, sent: Sent) -> Response:
    gone = visit.memory.tokens.revoke(sent.text("token"))
    return go(visit, "/tokens", f"Revoked {gone.name}; its next request is refused")


def _tokens(visit: PageRequest, *, made: str = "", secret: str = "") -> Response:
    found = visit.memory.tokens.list()
    return page(
        "tokens.html",
        visit,
        title="Tokens",
        tokens=found,
        valid={token.id for token in found if token.valid(visit.memory.context.clock.now())},
        made=made,
        secret=secret,
        channels=TOKEN_CHANNELS,
        scopes=SCOPES,
    )


@owner_routes.get("/settings")
def settings(visit: Visiting) -> Response:
    """The settings in force, read-only: a form here would be too easy for an agent to send."""
    chosen = vars(visit.memory.project.settings)
    groups: dict[str, list[tuple[str, str, str]]] = {}  # name, value and default of each setting
    for name, default in vars(Settings()).items():
        for field, usual in vars(default).items() if hasattr(default, "__dict__") else [("", default)]:
            value = getattr(chosen[name], field) if field else chosen[name]
            shown = "set, not shown" if value and SECRET.intersection(field.split("_")) else _shown(value)
            full = f"{name}.{field}" if field else name
            groups.setdefault(name if field else "project", []).append((full, shown, _shown(usual)))
    changed = [one for group in groups.values() for one in group if one[1] != one[2]]
    root = visit.memory.project.root
    return page("settings.html", visit, title="Settings", groups=groups, changed=changed, file=root)


SECRET = {"url", "key", "token", "password"}
"""Settings whose value may hold a password."""


def _shown(value: object) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "none"
    return str(value) if value not in ("", None) else "none"
