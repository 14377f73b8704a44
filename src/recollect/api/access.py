"""Who may use a route: every route declares one of `Reads`, `Writes`, `Public`, or a page's `Visiting`, `Changing`.

A declaration is a dependency, and the memory a route works on comes out of it, acting for whoever was let in: a route
that declares nothing has no memory to reach. What asks the store runs in a thread; all else is `async`, because every
hop to a thread costs a request a tenth of a millisecond.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Header, Request
from fastapi.dependencies.models import Dependant
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.routing import Route as StarletteRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.api.limits import Rate
from recollect.api.problems import problem
from recollect.api.route import claim_once
from recollect.core.errors import Refused
from recollect.core.token import Token
from recollect.memory import Memory

_bearer = HTTPBearer(auto_error=False, scheme_name="token", description="A token made by `recollect token new`.")


class Denied(Exception):
    """A request that is turned away before any work: no token, not allowed, too often, nothing there."""

    def __init__(self, status: int, detail: str, *, headers: dict[str, str] | None = None):
        super().__init__(detail)
        self.status = status
        self.headers = headers or {}


@dataclass(frozen=True, kw_only=True)
class Door:
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
                "no valid token; make one with: recollect token new NAME, and send it as 'Authorization: Bearer …'",
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
    door: Door = request.app.state.door
    return door.admit(credentials.credentials if credentials else None, address=address_of(request))


async def reads(request: Request, token: Annotated[Token, Depends(admitted)]) -> Memory:
    """For whoever holds a token."""
    memory: Memory = request.app.state.memory
    return memory.acting_as(token.actor)


async def writes(
    request: Request,
    token: Annotated[Token, Depends(admitted)],
    idempotency_key: Annotated[
        str | None, Header(description="Sent again under the same key, a request is answered again, not done again.")
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


class Closed:
    """Another ASGI application behind a token; it asks `caller` for the memory."""

    def __init__(self, app: ASGIApp, door: Door):
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


class ClosedRoute(StarletteRoute):
    """The whole address of such an application. Declares itself as for whoever holds a token."""

    dependant = Dependant(dependencies=[Dependant(call=reads)])

    def __init__(self, path: str, app: ASGIApp, door: Door):
        super().__init__(path, Closed(app, door), methods=["GET", "POST", "DELETE"], include_in_schema=False)


def caller(request: Request, writing: bool) -> Memory:
    """The memory on behalf of whoever sent a request through `Closed`."""
    token: Token = request.state.token
    if writing and token.read_only:
        raise Refused(may_only_read(token))
    memory: Memory = request.app.state.memory
    return memory.acting_as(token.actor)


def may_only_read(token: Token) -> str:
    return f"token {token.name} may only read; make another with: recollect token new NAME"


def address_of(request: Request) -> str:
    return request.client.host if request.client else ""
