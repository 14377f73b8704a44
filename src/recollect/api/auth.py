"""Who may use a route: every route declares one of `Reads`, `Writes`, `Public`, or a page's `Visiting`, `Changing`.

A declaration is a dependency. It provides the memory that the route works on, acting for the caller, so a route without
one has no memory to reach. Programs show a token, and each token has a rate limit. A browser signs in with a one-time
code that the server prints in the terminal of the person who started it; the session then lives in this process, and
every form carries the session's CSRF token. Only questions to the store run in a thread, because every hop to a thread
costs a request a tenth of a millisecond. Knows nothing about what routes and pages do.
"""

from __future__ import annotations

import hmac
import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.dependencies.models import Dependant
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.api.bodies import LINE
from recollect.api.wire import claim_once, problem
from recollect.core.context import Actor
from recollect.core.errors import Refused
from recollect.core.token import Token
from recollect.core.values import ALPHABET
from recollect.memory import Memory
from recollect.tend.access import KEY_LIMIT

MOST_CALLERS = 10_000  # chosen: the most addresses remembered at once, about 2 MB


class Rate:
    """A token bucket for each key: at most `per_minute` calls a minute. Forgets the keys that were idle longest."""

    def __init__(self, per_minute: int, *, seconds: Callable[[], float] = time.monotonic):
        self._most = float(per_minute)
        self._seconds = seconds
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: str) -> int:
        """Count a call and return 0, or return the seconds to wait before the next try."""
        with self._lock:
            now = self._seconds()
            left, then = self._left.pop(key, (self._most, now))
            left = min(self._most, left + (now - then) * self._most / 60)
            waits = 0 if left >= 1 else int((1 - left) * 60 / self._most) + 1
            self._left[key] = (left if waits else left - 1, now)
            if len(self._left) > MOST_CALLERS:
                self._left.popitem(last=False)
            return waits


_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="A token made by `recollect host token new`.")


class Denied(Exception):
    """A request that is refused before any work: no token, not allowed, too many requests, no such address."""

    def __init__(self, status: int, detail: str, *, headers: dict[str, str] | None = None):
        super().__init__(detail)
        self.status = status
        self.headers = headers or {}


@dataclass(frozen=True, kw_only=True)
class Authenticator:
    """Checks tokens and their rates; one per server."""

    memory: Memory
    calls: Rate
    failures: Rate

    def admit(self, secret: str | None, *, address: str) -> Token:
        """The token of a secret, or `Denied`. Failures are counted by address, calls by token."""
        token = self.memory.tokens.holder(secret) if secret else None
        if token is None:
            if waits := self.failures.wait(f"token {address}"):
                raise _too_many(waits)
            raise Denied(
                401,
                "no valid token; make one with: recollect host token new NAME, send it as 'Authorization: Bearer …'",
                headers={"www-authenticate": 'Bearer realm="recollect"'},
            )
        waits = self.calls.wait(token.id)
        if waits:
            raise _too_many(waits)
        return token


def _too_many(seconds: int) -> Denied:
    return Denied(429, f"too many requests; try again in {seconds} s", headers={"retry-after": str(seconds)})


def admitted(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Depends(_bearer)] = None
) -> Token:
    door: Authenticator = request.app.state.door
    return door.admit(credentials.credentials if credentials else None, address=address_of(request))


async def reads(request: Request, token: Annotated[Token, Depends(admitted)]) -> Memory:
    """For callers with a token."""
    memory: Memory = request.app.state.memory
    return memory.acting_as(token.actor)


async def writes(
    request: Request,
    token: Annotated[Token, Depends(admitted)],
    idempotency_key: Annotated[
        str | None,
        Header(
            max_length=KEY_LIMIT,
            pattern=LINE,
            description="Sent again under the same key, a request is answered again, not done again.",
        ),
    ] = None,
) -> Memory:
    """For callers with a token that is not read-only."""
    if token.read_only:
        raise Denied(403, may_only_read(token))
    memory: Memory = request.app.state.memory
    memory = memory.acting_as(token.actor)
    if idempotency_key is not None:
        await run_in_threadpool(claim_once, request, memory, token.id, idempotency_key)
    return memory


async def public() -> None:
    """For every caller. Such a route shows and changes nothing in the memory."""


Reads = Annotated[Memory, Depends(reads)]
Writes = Annotated[Memory, Depends(writes)]
Public = Depends(public)


class TokenGate:
    """Another ASGI application behind a token; the application gets the memory from `caller`."""

    def __init__(self, app: ASGIApp, door: Authenticator):
        self._app = app
        self._door = door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope)
        kind, _, secret = request.headers.get("authorization", "").partition(" ")
        given = secret if kind.lower() == "bearer" else None
        try:
            request.state.token = await run_in_threadpool(self._door.admit, given, address=address_of(request))
        except Denied as no:
            await problem(no.status, str(no), headers=no.headers)(scope, receive, send)
            return
        await self._app(scope, receive, send)


class GuardedRoute(StarletteRoute):
    """The address of such an application. It declares itself as `Reads`."""

    dependant = Dependant(dependencies=[Dependant(call=reads)])

    def __init__(self, path: str, app: ASGIApp, door: Authenticator):
        super().__init__(path, TokenGate(app, door), methods=["GET", "POST", "DELETE"], include_in_schema=False)


def caller(request: Request, writing: bool) -> Memory:
    """The memory on behalf of the caller whose request came through `TokenGate`."""
    token: Token = request.state.token
    if writing and token.read_only:
        raise Refused(may_only_read(token))
    memory: Memory = request.app.state.memory
    return memory.acting_as(token.actor)


def may_only_read(token: Token) -> str:
    return f"token {token.name} may only read; make another with: recollect host token new NAME"


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""


COOKIE = "recollect_session"
CSRF_FIELD = "csrf_token"
CSRF_HEADER = "x-csrf-token"
GUESSES = 10  # chosen: wrong codes before the next code is made
MOST_SESSIONS = 100  # chosen: one person has a few browsers; the oldest session is closed first


@dataclass(frozen=True, kw_only=True)
class BrowserSession:
    """A browser that is signed in."""

    csrf: str
    until: float


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """What a page works with: the memory on behalf of the person, and the CSRF token of its forms."""

    memory: Memory
    csrf: str


class SignInNeeded(Exception):
    """The browser is not signed in, or no longer."""


class BrowserSessions:
    """Codes and sessions of one server. `announce` receives each new code; without it no one can sign in."""

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
        """Make the next code and announce it."""
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
            self._open[cookie] = BrowserSession(csrf=secrets.token_urlsafe(32), until=now + self._seconds_open)
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


def visit_of(request: Request) -> PageRequest | None:
    """The person's memory for a request of a signed-in browser, else None."""
    sessions: BrowserSessions = request.app.state.sessions
    session = sessions.find(request.cookies.get(COOKIE))
    if session is None:
        return None
    memory: Memory = request.app.state.memory
    person: str = request.app.state.person
    return PageRequest(memory=memory.acting_as(Actor(name=person, channel="page", trust="human")), csrf=session.csrf)


async def _signed_in(request: Request) -> PageRequest:
    visit = visit_of(request)
    if visit is None:
        raise SignInNeeded
    return visit


async def visiting(visit: Annotated[PageRequest, Depends(_signed_in)]) -> PageRequest:
    """For a browser that is signed in; changes nothing."""
    return visit


async def changing(request: Request, visit: Annotated[PageRequest, Depends(_signed_in)]) -> PageRequest:
    """For a form of our own page: it must carry the session's CSRF token, in a field or in a header."""
    given = request.headers.get(CSRF_HEADER)
    if given is None:
        given = str((await request.form()).get(CSRF_FIELD, ""))
    if not hmac.compare_digest(given.encode("utf-8", "replace"), visit.csrf.encode()):
        raise Denied(403, "this form does not belong to your session; reload the page and try again")
    return visit


Visiting = Annotated[PageRequest, Depends(visiting)]
Changing = Annotated[PageRequest, Depends(changing)]
