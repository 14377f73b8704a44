"""The server's application: the gate, the routes, and errors as answers. `cli/serve.py` runs it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from typing import Protocol

import anyio.to_thread
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Match
from starlette.types import ASGIApp

from recollect import __version__
from recollect.api import (
    decisions,
    health,
    journal,
    jsonrpc,
    learnings,
    openapi,
    pages,
    staging,
    texts,
    themes,
    upkeep,
    work,
)
from recollect.api.access import ClosedRoute, Denied, Door
from recollect.api.guard import JSON_PATHS, Guard
from recollect.api.limits import Rate
from recollect.api.pages.rendering import bare, page
from recollect.api.problems import problem, problem_of, status_of
from recollect.api.session import Sessions, SignInNeeded, visit_of
from recollect.core.errors import BadInput, RecollectError
from recollect.memory import Memory

ROUTES: tuple[APIRouter, ...] = (
    *(health.routes, openapi.routes, jsonrpc.routes),
    *(texts.routes, learnings.routes, work.routes, journal.routes, decisions.routes, themes.routes, staging.routes),
    *(upkeep.routes, *pages.ROUTES),
)


class Neighbour(Protocol):
    """Another ASGI application, and what has to run while the server does."""

    @property
    def app(self) -> ASGIApp: ...
    @property
    def running(self) -> Callable[[], AbstractAsyncContextManager[None]]: ...


def make_app(
    memory: Memory,
    *,
    person: str = "person",
    hosts: frozenset[str] = frozenset(),
    announce: Callable[[str], object] | None = None,
    neighbours: Mapping[str, Neighbour] | None = None,
) -> FastAPI:
    """An ASGI application over one memory.

    `person` is whoever signs in to the page, with the code that `announce` is told (without it nobody can); `hosts`
    are names the server goes by besides loopback's; `neighbours` answer at addresses of their own, behind a token.
    """
    settings = memory.context.settings.serve
    beside = dict(neighbours or {})

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads
        app.state.sessions.begin()
        async with AsyncExitStack() as running:
            for neighbour in beside.values():
                await running.enter_async_context(neighbour.running())
            yield

    app = FastAPI(
        title="Recollect",
        version=__version__,
        description="A memory for AI agents.",
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
    )
    app.state.memory = memory
    app.state.person = person
    app.state.door = Door(
        memory=memory, calls=Rate(settings.requests_per_minute), failures=Rate(settings.failures_per_minute)
    )
    app.state.sessions = Sessions(hours=settings.session_hours, announce=announce)
    for router in ROUTES:
        app.router.routes.extend(router.routes)
    for path, neighbour in beside.items():
        app.router.routes.append(ClosedRoute(path, neighbour.app, app.state.door))
    app.add_middleware(Guard, hosts=hosts, max_body=settings.max_body, body_seconds=settings.body_seconds)
    app.exception_handler(RecollectError)(_ours)
    app.exception_handler(Denied)(_denied)
    app.exception_handler(SignInNeeded)(_to_sign_in)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(HTTPException)(_http)
    return app


def _ours(request: Request, error: RecollectError) -> Response:
    conditional = "if-match" in request.headers
    if _for_program(request):
        return problem_of(error, conditional=conditional)
    return _page_of(request, status_of(error, conditional=conditional), "That did not work", str(error))


def _denied(request: Request, error: Denied) -> Response:
    if _for_program(request):
        return problem(error.status, str(error), headers=error.headers)
    answer = _page_of(request, error.status, "Not found" if error.status == 404 else "Refused", str(error))
    answer.headers.update(error.headers)
    return answer


def _page_of(request: Request, status: int, title: str, detail: str) -> Response:
    """A problem as a page; somebody who is signed in keeps the menu."""
    visit = visit_of(request)
    if visit is None:
        return bare("problem.html", status=status, title=title, detail=detail)
    return page("problem.html", visit, status=status, title=title, detail=detail)


def _to_sign_in(request: Request, _: SignInNeeded) -> Response:
    """A browser goes to the form; a part of a page that htmx asked for takes the whole page there."""
    if "hx-request" in request.headers:
        return Response(status_code=401, headers={"hx-redirect": "/sign-in"})
    return RedirectResponse("/sign-in", status_code=303)


def _invalid(request: Request, error: RequestValidationError) -> Response:
    said = "; ".join(f"{'.'.join(map(str, one['loc'][1:]))}: {one['msg']}" for one in error.errors()[:10])
    return _ours(request, BadInput(said or "the request cannot be read"))


def _http(request: Request, error: HTTPException) -> Response:
    headers = dict(error.headers or {})
    detail = str(error.detail)
    if error.status_code == 404:
        detail = f"no such address: {request.url.path[:200]}"
    elif error.status_code == 405:
        headers["Allow"] = _methods(request)  # in place of the first route's
        detail = f"this address takes {headers['Allow']}"
    return _denied(request, Denied(error.status_code, detail, headers=headers))


def _methods(request: Request) -> str:
    """What an address takes: each method of it is a route of its own, and names only itself."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return ", ".join(sorted(found))


def _for_program(request: Request) -> bool:
    return request.url.path.startswith((*JSON_PATHS, "/health"))
