"""Who may use a route: every route declares one of `Reads`, `Writes`, `Public`, or a page's `Visiting`, `Changing`.

A declaration is a dependency, and the memory a route works on comes out of it, acting for whoever was let in: a route
that declares nothing has no memory to reach. What asks the store runs in a thread; all else is `async`, because every
hop to a thread costs a request a tenth of a millisecond.

Signing in to the page: a one-time code, a session cookie, and a token in every form.

Whoever started the server sees the code in their terminal, so whoever types it is that person. A code serves once;
after it was used, or guessed at too often, the next one is printed. Sessions live in this process: a restart signs
everybody out. Knows nothing about what the pages show.

How often: a bucket per caller that refills steadily, so that nobody takes the server from the others.
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
from recollect.memory.admin import KEY_LIMIT

MOST_CALLERS = 10_000


class Rate:
    """At most `per_minute` in any minute, per key. Forgets the keys that were quiet longest."""

    def __init__(self, per_minute: int, *, seconds: Callable[[], float] = time.monotonic):
        self._most = float(per_minute)
        self._seconds = seconds
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()
        self._lock = threading.Lock()

    def wait(self, key: str) -> int:
        """0 when there is room, which is taken; else in how many seconds to ask again."""
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
    """A request that is turned away before any work: no token, not allowed, too often, nothing there."""

    def __init__(self, status: int, detail: str, *, headers: dict[str, str] | None = None):
        super().__init__(detail)
        self.status = status
        self.headers = headers or {}


@dataclass(frozen=True, kw_only=True)
class Authenticator:
    """What checking a caller needs; one per server."""

    memory: Memory
    calls: Rate
    failures: Rate

    def admit(self, secret: str | None, *, address: str) -> Token:
        """The token of a secret, or `Denied`. A worker with an old token does not lock out its neighbours."""
        token = self.memory.tokens.holder(secret) if secret else None
        if token is None:
            if waits := self.failures.wait(f"token {address}"):
                raise _too_many(waits)
            raise Denied(
                401,
                "no valid token; make one with: recollect host token new NAME, and send it as "
                "'Authorization: Bearer …'",
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
    """For whoever holds a token."""
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
    """For whoever holds a token that is not read-only."""
    if token.read_only:
        raise Denied(403, may_only_read(token))
    memory: Memory = request.app.state.memory
    memory = memory.acting_as(token.actor)
    if idempotency_key is not None:
        await run_in_threadpool(claim_once, request, memory, token.id, idempotency_key)
    return memory


async def public() -> None:
    """For everybody who reaches the server. Such a route shows and changes nothing that is remembered."""


Reads = Annotated[Memory, Depends(reads)]
Writes = Annotated[Memory, Depends(writes)]
Public = Depends(public)


class TokenGate:
    """Another ASGI application behind a token; it asks `caller` for the memory."""

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
    """The whole address of such an application. Declares itself as for whoever holds a token."""

    dependant = Dependant(dependencies=[Dependant(call=reads)])

    def __init__(self, path: str, app: ASGIApp, door: Authenticator):
        super().__init__(path, TokenGate(app, door), methods=["GET", "POST", "DELETE"], include_in_schema=False)


def caller(request: Request, writing: bool) -> Memory:
    """The memory on behalf of whoever sent a request through `Closed`."""
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
GUESSES = 10
MOST_SESSIONS = 100


@dataclass(frozen=True, kw_only=True)
class BrowserSession:
    """A browser that is signed in."""

    csrf: str
    until: float


@dataclass(frozen=True, kw_only=True)
class PageRequest:
    """What a page is given: the memory on behalf of the person, and the token its forms must carry."""

    memory: Memory
    csrf: str


class SignInNeeded(Exception):
    """The browser is not signed in, or no longer."""


class BrowserSessions:
    """Codes and sessions of one server. `announce` is told each new code; without it nobody can sign in."""

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
    """On whose behalf a request comes; None for a browser that is not signed in."""
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
    """For a form of our own page: the session's token came with it, in a field or in a header."""
    given = request.headers.get(CSRF_HEADER)
    if given is None:
        given = str((await request.form()).get(CSRF_FIELD, ""))
    if not hmac.compare_digest(given.encode("utf-8", "replace"), visit.csrf.encode()):
        raise Denied(403, "this form does not belong to your session; reload the page and try again")
    return visit


Visiting = Annotated[PageRequest, Depends(visiting)]
Changing = Annotated[PageRequest, Depends(changing)]
