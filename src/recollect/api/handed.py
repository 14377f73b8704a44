"""A protocol that another surface speaks, behind this server's gate and tokens: who comes in is settled here.

Knows nothing about the protocol. `caller` gives its surface the memory on behalf of whoever sent a request.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.api.access import Reads, admitted
from recollect.core.errors import Refused
from recollect.core.token import Token
from recollect.memory import Memory


@dataclass(frozen=True, kw_only=True)
class Handed:
    """What answers at a path, and what has to run while the server does."""

    path: str
    app: ASGIApp
    running: Callable[[], AbstractAsyncContextManager[None]]


def routes(handed: Handed) -> APIRouter:
    """The one route to it: POST, with a token."""
    router = APIRouter()

    @router.post(handed.path, include_in_schema=False)
    def hand_over(memory: Reads, token: Annotated[Token, Depends(admitted)], request: Request) -> Response:
        request.state.memory, request.state.token = memory, token
        return _Answer(handed.app)

    return router


def caller(request: Request, writes: bool) -> Memory:
    """The memory on behalf of whoever sent a request that was handed over."""
    token: Token = request.state.token
    if writes and token.read_only:
        raise Refused(f"token {token.name} may only read; make another with: recollect token new NAME")
    memory: Memory = request.state.memory
    return memory


class _Answer(Response):
    """An answer that somebody else gives."""

    def __init__(self, app: ASGIApp):
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
