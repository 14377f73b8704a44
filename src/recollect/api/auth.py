"""Who may use a route: every route depends on one of `Reads`, `Writes`, `Maintains`, `Public`, or a page's `Visiting`,
`Changing`, `Looking`, `Leaving`.

The dependency provides the memory, acting for the caller: a route without one cannot reach any memory. Programs send a
token, and each token has a rate limit. A browser signs in with a one-time code that the server prints in the terminal
of the person who started it; sessions are kept in this process, and every form carries the session's CSRF token. Only
queries of the store run in a thread, because each switch to a thread costs a request a tenth of a millisecond.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Annotated

from fastapi import Depends, Request
from fastapi.dependencies.models import Dependant
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.api.guard import RateLimit, host_name
from recollect.api.spaces import OpenSpace, Spaces
from recollect.api.wire import Denied, problem
from recollect.core.context import Actor
from recollect.core.errors import Refused
from recollect.core.records import ALPHABET, record
from recollect.memory import Memory
from recollect.tend.tokens import Token, TokenScope

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="A token made by `recollect host token new`.")


@record
class Admission:
    space: OpenSpace
    token: Token

    @property
    def memory(self) -> Memory:
        """The memory on behalf of the token: its own space, and the other rings only for the channel `person`."""
        memory = self.space.memory.acting_as(self.token.actor)
        return memory if self.token.channel == "person" else memory.in_its_space()


@record
class Authenticator:
    spaces: Spaces
    calls: RateLimit
    failures: RateLimit

    @asynccontextmanager
    async def admit(self, secret: str | None, request: Request) -> AsyncIterator[Admission]:
        """The admission of a secret for one request, or `Denied`. Failures count by address, calls by token."""
        found = await run_in_threadpool(self.spaces.take_for, secret) if secret else None
        if found is None:
            if waits := self.failures.wait(f"token {address_of(request)}"):
                raise _too_many(waits)
            raise Denied(
                401,
                "no valid token; make one with: recollect host token new NAME, send it as 'Authorization: Bearer …'",
                headers={"www-authenticate": 'Bearer realm="recollect"'},
            )
        space, token = found
        try:
            if waits := self.calls.wait(token.id):
                raise _too_many(waits)
            yield Admission(space=space, token=token)
        finally:
            self.spaces.release(space)


def _too_many(seconds: int) -> Denied:
    return Denied(429, f"too many requests; try again in {seconds} s", headers={"retry-after": str(seconds)})


async def admitted(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None
) -> AsyncIterator[Admission]:
    door: Authenticator = request.app.state.door
    async with door.admit(credentials.credentials if credentials else None, request) as admission:
        yield admission


def _scoped(admission: Admission, *scopes: TokenScope) -> Memory:
    if not admission.token.may(*scopes):
        raise Denied(403, lacks_scope(admission.token, *scopes))
    return admission.memory


async def reads(admission: Annotated[Admission, Depends(admitted)]) -> Memory:
    """For tokens with the scope `read`."""
    return _scoped(admission, "read")


async def writes(admission: Annotated[Admission, Depends(admitted)]) -> Memory:
    """For tokens with the scope `write` or `import`; trust limits what the latter may change."""
    return _scoped(admission, "write", "import")


async def maintains(admission: Annotated[Admission, Depends(admitted)]) -> Memory:
    """For tokens with the scope `admin`."""
    return _scoped(admission, "admin")


async def public() -> None:
    """For every caller: the route neither shows nor changes any memory."""


Reads = Annotated[Memory, Depends(reads)]
Writes = Annotated[Memory, Depends(writes)]
Maintains = Annotated[Memory, Depends(maintains)]
Public = Depends(public)


class TokenGate:
    """Another ASGI application behind a token, which gets the memory from `caller`."""

    def __init__(self, app: ASGIApp, door: Authenticator):
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        given = secret if kind.lower() == "bearer" else None
        try:
            async with self._door.admit(given, request) as request.state.admission:
                await self._app(scope, receive, send)
        except Denied as no:
            await problem(no.status, str(no), headers=no.headers)(scope, receive, send)


class GuardedRoute(StarletteRoute):
    """The route of such an application, declared as `Reads`."""

    dependant = Dependant(dependencies=[Dependant(call=reads)])

    def __init__(self, path: str, app: ASGIApp, door: Authenticator):
        super().__init__(path, TokenGate(app, door), methods=["GET", "POST", "DELETE"], include_in_schema=False)


def caller(request: Request, writing: bool) -> Memory:
    admission: Admission = request.state.admission
    scopes: tuple[TokenScope, ...] = ("write", "import") if writing else ("read",)
    if not admission.token.may(*scopes):
        raise Refused(lacks_scope(admission.token, *scopes))
    return admission.memory


def lacks_scope(token: Token, *scopes: TokenScope) -> str:
    only = "read" if token.scopes == ("read",) else f"use the scopes {', '.join(token.scopes)}"
    wanted = " ".join(f"--scope {scope}" for scope in (*token.scopes, scopes[0]))
    return f"token {token.name} may only {only}; make another with: recollect host token new NAME {wanted}"


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""


COOKIE = "recollect_session"
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"
GUESSES = 10  # chosen: wrong codes before the next code is made
MOST_SESSIONS = 100  # chosen: one person has a few browsers; the oldest session is closed first


@record
class Notice:
    """What a change did, shown once on the next page; `undo` is the path of the form that takes it back."""

    space: str
    text: str
    undo: str = ""
    change: str = ""


@record
class BrowserSession:
    csrf: str
    until: float
    notices: list[Notice]


@record
class PageRequest:
    memory: Memory
    session: BrowserSession
    spaces: tuple[str, ...]
    request: Request

    @property
    def space(self) -> str:
        return self.memory.context.space

    @property
    def base(self) -> str:
        """The address of the space's pages, before each path."""
        return f"/s/{self.space}"


class SignInNeeded(Exception):
    """The browser is not signed in, or its session has ended."""


class WrongHost(Exception):
    """A page was requested under a host name that all ports of this machine share."""


class BrowserSessions:
    """Codes and sessions of one server. `announce` gets each new code; without it nobody can sign in."""

    def __init__(
        self, *, hours: float, announce: Callable[[str], object] | None, seconds: Callable[[], float] = time.monotonic
    ):
        self._seconds_open = hours * 3600
        self._announce = announce
        self._seconds = seconds
        self._lock = threading.Lock()
        self._open: dict[str, BrowserSession] = {}
        self._code = ""
        self._guesses = 0

    def begin(self) -> None:
        with self._lock:
            self._renew()

    def sign_in(self, code: str) -> str | None:
        """The cookie of a new session, or None for a wrong code."""
        with self._lock:
            given = "".join(code.split()).replace("-", "").lower()
            right = bool(self._code) and hmac.compare_digest(given.encode(), self._code.replace("-", "").encode())
            self._guesses += 1
            if not right and self._guesses < GUESSES:
                return None
            self._renew()
            if not right:
                return None
            now = self._seconds()
            self._open = {name: session for name, session in self._open.items() if session.until > now}
            while len(self._open) >= MOST_SESSIONS:
                del self._open[next(iter(self._open))]
            cookie = secrets.token_urlsafe(32)
            until = now + self._seconds_open
            self._open[cookie] = BrowserSession(csrf=secrets.token_urlsafe(32), until=until, notices=[])
            return cookie

    def find(self, cookie: str | None) -> BrowserSession | None:
        with self._lock:
            session = self._open.get(cookie or "")
        return session if session and session.until > self._seconds() else None

    def sign_out(self, cookie: str | None) -> None:
        with self._lock:
            self._open.pop(cookie or "", None)

    def _renew(self) -> None:
        self._guesses = 0
        if self._announce is None:
            return
        letters = "".join(secrets.choice(ALPHABET) for _ in range(10))
        self._code = f"{letters[:5]}-{letters[5:]}"  # 50 bits, against ten guesses
        self._announce(self._code)


async def page_host(request: Request) -> None:
    """Serve pages only under a host name of our own.

    A browser sends a cookie to every port of a host: under 127.0.0.1, any local program could receive it.
    """
    if not is_page_host(request):
        raise WrongHost


def is_page_host(request: Request) -> bool:
    return host_name(request.headers.get("host", "")) in request.app.state.page_hosts


def session_of(request: Request) -> BrowserSession | None:
    sessions: BrowserSessions = request.app.state.sessions
    return sessions.find(request.cookies.get(COOKIE)) if is_page_host(request) else None


async def signed_in(request: Request, _: Annotated[None, Depends(page_host)]) -> BrowserSession:
    session = session_of(request)
    if session is None:
        raise SignInNeeded
    return session


async def _visit(
    request: Request, space: str, session: Annotated[BrowserSession, Depends(signed_in)]
) -> AsyncIterator[PageRequest]:
    spaces: Spaces = request.app.state.spaces
    actor = Actor(name=request.app.state.person, channel="page", trust="human")
    taken = await run_in_threadpool(spaces.take, space)
    try:
        memory, names = taken.memory.acting_as(actor), tuple(spaces.names())
        yield PageRequest(memory=memory, session=session, spaces=names, request=request)
    finally:
        spaces.release(taken)


async def _own_form(request: Request, session: Annotated[BrowserSession, Depends(signed_in)]) -> None:
    """A form of our own page carries the session's CSRF token, in a field or in a header."""
    given = request.headers.get(CSRF_HEADER)
    if given is None:
        given = str((await request.form()).get(CSRF_FIELD, ""))
    if not hmac.compare_digest(given.encode("utf-8", "replace"), session.csrf.encode()):
        raise Denied(403, "this form belongs to an earlier session; reload the page and try again")


async def looking(session: Annotated[BrowserSession, Depends(signed_in)]) -> BrowserSession:
    """For a signed-in browser, outside of any space; changes nothing."""
    return session


async def leaving(_: Annotated[None, Depends(_own_form)]) -> None:
    """For a form of our own page that changes no memory."""


async def visiting(visit: Annotated[PageRequest, Depends(_visit)]) -> PageRequest:
    """For a signed-in browser, in a space; changes nothing."""
    return visit


async def changing(
    _: Annotated[None, Depends(_own_form)], visit: Annotated[PageRequest, Depends(_visit)]
) -> PageRequest:
    """For a form of our own page that may change the space's memory."""
    return visit


Looking = Annotated[BrowserSession, Depends(looking)]
Leaving = Depends(leaving)
Visiting = Annotated[PageRequest, Depends(visiting)]
Changing = Annotated[PageRequest, Depends(changing)]
