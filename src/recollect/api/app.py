"""The server: the ASGI application of guard, routes and error answers, its health, and uvicorn with its limits."""

from __future__ import annotations

import asyncio
import gc
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import anyio.to_thread
import h11
import uvicorn
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse
from starlette.routing import Match
from starlette.types import ASGIApp, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol

from recollect import __version__
from recollect.api import documents, pages, records
from recollect.api.auth import (
    Authenticator,
    BrowserSessions,
    GuardedRoute,
    Notice,
    Public,
    SignInNeeded,
    WrongHost,
    is_page_host,
    session_of,
)
from recollect.api.bodies import explained
from recollect.api.guard import JSON_PATHS, Guard, RateLimit
from recollect.api.pages.base import bare
from recollect.api.pages.entrance import local_path
from recollect.api.spaces import Spaces
from recollect.api.wire import Denied, problem, problem_of, router, status_of
from recollect.core.errors import BadInput, NotFound, RecollectError, Refused

GRACE_SECONDS = 5  # chosen: how long running requests may take after the server is told to stop
CONNECTIONS = 1000  # chosen: far above what agents on one machine open; uvicorn answers the next one with 503


def make_server(app: FastAPI, *, head_seconds: float, log_level: str = "warning") -> uvicorn.Server:
    config = uvicorn.Config(
        app,
        http=partial(_Http, head_seconds=head_seconds),  # type: ignore[arg-type]  # a class with one more argument
        log_config=None,  # `cli/serve.py` installs the handler
        log_level=log_level,
        server_header=False,
        proxy_headers=False,  # with them a client could choose the address that its failures are counted under
        timeout_graceful_shutdown=GRACE_SECONDS,
        limit_concurrency=CONNECTIONS,
    )
    server = uvicorn.Server(config)
    app.state.server = server  # endless streams ask it whether to end
    return server


class _Http(H11Protocol):
    """Closes a connection if a request's head does not arrive in time, or its answer is not read.

    uvicorn would wait for ever; it closes only connections that are idle between two requests.
    """

    def __init__(self, *given: Any, head_seconds: float, **options: Any):
        super().__init__(*given, **options)
        self._seconds = head_seconds
        self._deadline: asyncio.TimerHandle | None = None
        self._unread: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self._seconds, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._cancel()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._seconds, self.transport.close)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._watch(self.transport.get_write_buffer_size() + 1)

    def _watch(self, left: int) -> None:
        """Disconnect a client that has not read a byte since the last check."""
        now_left = self.transport.get_write_buffer_size()
        if now_left >= left:
            self.transport.abort()
        else:
            self._unread = self.loop.call_later(self._seconds, self._watch, now_left)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._unread is not None:
            self._unread.cancel()

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        if self._unread is not None:
            self._unread.cancel()
        super().connection_lost(exc)

    def _cancel(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


health_routes = router("", "health")


@health_routes.get("/health", dependencies=[Public], summary="Whether the server and its store answer")
def get_health(request: Request) -> dict[str, str]:
    spaces: Spaces = request.app.state.spaces
    spaces.here.tokens.holder("")  # the cheapest question to the store
    return {"status": "ok"}


ROUTES: tuple[APIRouter, ...] = (
    health_routes,
    records.rpc_routes,
    documents.text_routes,
    records.routes,
    records.task_routes,
    documents.routes,
    documents.topic_routes,
    records.decision_routes,
    documents.theme_routes,
    documents.staging_routes,
    documents.upkeep_routes,
    *pages.ROUTES,
)


PAGE_HOST = "recollect.localhost"  # `recollect serve` uses a random name instead
SWEEP_SECONDS = 60  # chosen: how often idle spaces and garbage are looked for


def make_app(
    spaces: Spaces,
    *,
    person: str = "person",
    hosts: frozenset[str] = frozenset(),
    page_hosts: frozenset[str] = frozenset({PAGE_HOST}),
    announce: Callable[[str], object] | None = None,
    neighbours: Mapping[str, ASGIApp] | None = None,
) -> FastAPI:
    """An ASGI application over the spaces of a user.

    `person` is the name of the user who signs in to the page with a code that `announce` prints; without `announce`
    nobody can. The page is served under `page_hosts`, everything else also under loopback's names and `hosts`.
    `neighbours` are other applications by their path, behind a token.
    """
    settings = spaces.here.context.settings.serve

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        anyio.to_thread.current_default_thread_limiter().total_tokens = settings.threads
        app.state.sessions.begin()
        sweep = asyncio.create_task(_sweep(spaces))
        try:
            yield
        finally:
            sweep.cancel()
            spaces.close()

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
    app.state.spaces = spaces
    app.state.server = None
    app.state.works, app.state.checks = {}, {}
    app.state.person = person
    app.state.page_hosts = page_hosts
    app.state.door = Authenticator(
        spaces=spaces, calls=RateLimit(settings.requests_per_minute), failures=RateLimit(settings.failures_per_minute)
    )
    app.state.sessions = BrowserSessions(hours=settings.session_hours, announce=announce)
    for each in ROUTES:
        app.router.routes.extend(each.routes)
    for path, neighbour in (neighbours or {}).items():
        app.router.routes.append(GuardedRoute(path, neighbour, app.state.door))
    app.add_middleware(
        Guard, hosts=hosts | page_hosts, max_body=settings.max_body, body_seconds=settings.body_seconds, failed=_failed
    )
    app.exception_handler(RecollectError)(_ours)
    app.exception_handler(Denied)(_denied)
    app.exception_handler(SignInNeeded)(_to_sign_in)
    app.exception_handler(WrongHost)(_wrong_host)
    app.exception_handler(RequestValidationError)(_invalid)
    app.exception_handler(HTTPException)(_http)
    return app


async def _sweep(spaces: Spaces) -> None:
    """Close idle spaces, and collect the garbage of requests.

    A request that runs during a collection leaves cycles in the oldest generation, which Python collects only after it
    has grown by a quarter: a busy server grew by 20 MB in half an hour. Objects from before the first sweep are frozen,
    so that a collection takes a few milliseconds.
    """
    while True:
        await asyncio.sleep(SWEEP_SECONDS)
        await run_in_threadpool(spaces.close_idle)
        gc.collect()
        if not gc.get_freeze_count():
            gc.freeze()


def _ours(request: Request, error: RecollectError) -> Response:
    conditional = "if-match" in request.headers
    if _for_program(request):
        return problem_of(error, conditional=conditional)
    if isinstance(error, BadInput | NotFound | Refused) and (back := _form_again(request, error)):
        return back
    return _page_of(request, status_of(error, conditional=conditional), "That did not work", _on_a_page(error))


_COMMAND = re.compile(r"[.;,:] (?=[^.;:]*(?:: |`)recollect )")


def _on_a_page(error: RecollectError) -> str:
    """The message of an error; of what is missing without the command that lists the rest, because pages link to it."""
    return _COMMAND.split(str(error))[0] if isinstance(error, NotFound) else str(error)


def _form_again(request: Request, error: RecollectError) -> Response | None:
    """After a refused form, or an Undo, a redirect to its page with a message that says why."""
    here, session = urlsplit(request.headers.get("referer", "")), session_of(request)
    undoing = request.url.query == "undo"
    if undoing and not here.path:
        here = urlsplit("/".join(request.url.path.split("/")[:3]) + "/")  # the home of the space
    _, prefix, space, *_ = f"{here.path}//".split("/")
    if request.method != "POST" or session is None or prefix != "s":
        return None
    gone = undoing and isinstance(error, NotFound)
    why = "that change was undone already, or its record is gone" if gone else _on_a_page(error)
    session.notices.append(Notice(space=space, text=f"Not {'undone' if undoing else 'done'}: {why}"))
    return RedirectResponse(local_path(f"{here.path}?{here.query}" if here.query else here.path), status_code=303)


def _denied(request: Request, error: Denied) -> Response:
    if _for_program(request):
        return problem(error.status, str(error), headers=error.headers)
    answer = _page_of(request, error.status, "Not found" if error.status == 404 else "Refused", str(error))
    answer.headers.update(error.headers)
    return answer


def _page_of(request: Request, status: int, title: str, detail: str) -> Response:
    """A problem as a page, with the menu for a browser that is signed in."""
    session = session_of(request)
    if session is None:
        return bare("problem.html", request, status=status, title=title, detail=detail)
    spaces: Spaces = request.app.state.spaces
    names = spaces.names()
    _, prefix, space, *_ = f"{request.url.path}//".split("/")
    menu = {"space": space, "base": f"/s/{space}"} if prefix == "s" and space in names else {}
    return bare(
        "problem.html", request, status=status, title=title, detail=detail, csrf=session.csrf, spaces=names, **menu
    )


def _failed(scope: Scope, error: Exception) -> Response:
    """The answer to what the guard refused, and to a defect of ours, without private text."""
    request = Request({**scope, "query_string": b""})  # the page does not repeat a secret of its address
    if isinstance(error, Denied):
        known = is_page_host(request)
        return _denied(request, error) if known else problem(error.status, str(error), headers=error.headers)
    said = f"internal error: {type(error).__name__}. The output of the server has the details"
    return problem(500, said) if _for_program(request) else _page_of(request, 500, "That did not work", said)


def _wrong_host(request: Request, _: WrongHost) -> Response:
    """Does not name the right address: a program that knew it could make the browser send it the cookie."""
    where = "The page is not at this address. Open the one that `recollect serve` printed in its terminal."
    return bare("problem.html", request, status=421, title="Another address", detail=where)


def _to_sign_in(request: Request, _: SignInNeeded) -> Response:
    """Redirect the browser to the sign-in form and afterwards back, also from a partial request of htmx."""
    if "hx-request" in request.headers:
        here = urlsplit(request.headers.get("hx-current-url", ""))
        return Response(status_code=401, headers={"hx-redirect": _sign_in_address(here.path, here.query)})
    path = request.url.path if request.method == "GET" else ""
    return RedirectResponse(_sign_in_address(path, request.url.query), status_code=303)


def _sign_in_address(path: str, query: str) -> str:
    back = f"{quote(path)}?{query}" if query else quote(path)
    return "/sign-in" if path in ("", "/") else f"/sign-in?{urlencode({'next': back})}"


def _invalid(request: Request, error: RequestValidationError) -> Response:
    return _ours(request, BadInput(explained(error.errors(), skip=1)))


def _http(request: Request, error: HTTPException) -> Response:
    headers = dict(error.headers or {})
    detail = str(error.detail)
    browser = "text/html" in request.headers.get("accept", "")
    if error.status_code == 404 and browser and not _for_program(request) and not is_page_host(request):
        return _wrong_host(request, WrongHost())  # earlier versions served the page at loopback
    if error.status_code == 404:
        detail = f"no such address: {request.url.path[:200]}"
    elif error.status_code == 405:
        headers["Allow"] = _methods(request)  # of all routes, not only the first
        detail = f"this address takes {headers['Allow']}"
    return _denied(request, Denied(error.status_code, detail, headers=headers))


def _methods(request: Request) -> str:
    """The methods of an address, each of which is a separate route."""
    found: set[str] = set()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return ", ".join(sorted(found | {"HEAD"} if "GET" in found else found))


def _for_program(request: Request) -> bool:
    return request.url.path.startswith((*JSON_PATHS, "/health"))
