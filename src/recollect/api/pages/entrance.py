"""Signing in and out, and the files that every page uses."""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from mimetypes import guess_type
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from recollect.api.access import Denied, Door, Public, address_of
from recollect.api.pages.rendering import bare
from recollect.api.session import COOKIE, Changing, Sessions
from recollect.core.errors import NotFound

routes = APIRouter(include_in_schema=False)


@routes.get("/sign-in", dependencies=[Public])
def ask_for_code() -> HTMLResponse:
    return bare("sign_in.html", title="Sign in", wrong=False)


@routes.post("/sign-in", dependencies=[Public])
def sign_in(request: Request, code: Annotated[str, Form()] = "") -> Response:
    door: Door = request.app.state.door
    if waits := door.failures.wait(f"code {address_of(request)}"):
        raise Denied(429, f"too many tries; wait {waits} s", headers={"retry-after": str(waits)})
    sessions: Sessions = request.app.state.sessions
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
    sessions: Sessions = request.app.state.sessions
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
