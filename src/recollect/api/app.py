"""The server: the ASGI application over one memory, its health, and uvicorn with its limits. `cli/serve.py` runs it.

Puts the guard, the routes and the answers to errors together. Knows nothing about what a route does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any, Protocol

import anyio.to_thread
import h11
import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Match
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect import __version__
from recollect.api import decisions, documents, journal, learnings, pages
from recollect.api.auth import (
    Authenticator,
    BrowserSessions,
    Denied,
    GuardedRoute,
    Public,
    Rate,
    SignInNeeded,
    visit_of,
)
from recollect.api.bodies import explained
from recollect.api.guard import JSON_PATHS, Guard
from recollect.api.pages.base import bare, page
from recollect.api.wire import problem, problem_of, router, status_of
from recollect.core.errors import BadInput, RecollectError
from recollect.memory import Memory

GRACE_SECONDS = 5  # chosen: requests under way when the server stops may take this long
CONNECTIONS = 1000  # chosen: far above what agents on one machine open; uvicorn answers the next one with 503


def make_server(app: FastAPI, *, head_seconds: float, log_level: str = "warning") -> uvicorn.Server:
    """A server for the application, to be run on sockets that listen already."""
    config = uvicorn.Config(
        app,
        http=partial(_Http, head_seconds=head_seconds),  # type: ignore[arg-type]  # a class that needs one thing more
        log_level=log_level,
        server_header=False,
        proxy_headers=False,  # with them a client could choose the address that its failures are counted under
        timeout_graceful_shutdown=GRACE_SECONDS,
        limit_concurrency=CONNECTIONS,
    )
    return uvicorn.Server(config)


class _Http(H11Protocol):
    """Closes a connection when the head of a request does not arrive in time; uvicorn itself would wait for ever.

    uvicorn closes a connection that is idle between two requests.
    """

    def __init__(self, *given: Any, head_seconds: float, **options: Any):
        super().__init__(*given, **options)
        self._seconds = head_seconds
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self._seconds, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._cancel()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._seconds, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def _cancel(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


health_routes = router("", "health")


@health_routes.get("/health", dependencies=[Public], summary="Whether the server and its store answer")
def get_health(request: Request) -> dict[str, str]:
    memory: Memory = request.app.state.memory
    memory.tokens.holder("")  # the cheapest question to the store
    return {"status": "ok"}


ROUTES: tuple[APIRouter, ...] = (
    health_routes,
    decisions.rpc_routes,
    journal.text_routes,
    learnings.routes,
    learnings.task_routes,
    journal.routes,
    decisions.routes,
    documents.routes,
    documents.staging_routes,
    journal.upkeep_routes,
    *pages.ROUTES,
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

    `person` is the name of the one who signs in to the page, with a code that `announce` prints (without it no one
    can sign in). `hosts` are the server's names besides loopback's. `neighbours` are further applications by their
    path, behind a token.
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
    app.state.door = Authenticator(
        memory=memory, calls=Rate(settings.requests_per_minute), failures=Rate(settings.failures_per_minute)
    )
    app.state.sessions = BrowserSessions(hours=settings.session_hours, announce=announce)
    for each in ROUTES:
        app.router.routes.extend(each.routes)
    for path, neighbour in beside.items():
        app.router.routes.append(GuardedRoute(path, neighbour.app, app.state.door))
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
    """A problem as a page, with the menu for a browser that is signed in."""
    visit = visit_of(request)
    if visit is None:
        return bare("problem.html", status=status, title=title, detail=detail)
    return page("problem.html", visit, status=status, title=title, detail=detail)


def _to_sign_in(request: Request, _: SignInNeeded) -> Response:
    """Send the browser to the form; for a part of a page that htmx asked for, send the whole page there."""
    if "hx-request" in request.headers:
        return Response(status_code=401, headers={"hx-redirect": "/sign-in"})
    return RedirectResponse("/sign-in", status_code=303)


def _invalid(request: Request, error: RequestValidationError) -> Response:
    return _ours(request, BadInput(explained(error.errors(), skip=1)))


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
    """The methods of an address: each is a route of its own, which names only itself."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return ", ".join(sorted(found | {"HEAD"} if "GET" in found else found))


def _for_program(request: Request) -> bool:
    return request.url.path.startswith((*JSON_PATHS, "/health"))
