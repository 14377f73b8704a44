"""MCP over streamable HTTP: a route for a server that runs anyway.

Who may come in is the server's business: it checks the token and says, for each request, on whose behalf the memory
acts. Host and Origin are checked here too, because no browser may reach this transport from another page. Requests are
stateless: nothing is kept between two of them, so any process may answer the next.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.routing import Route

from recollect.mcp.server import make_server
from recollect.mcp.tools import Effect
from recollect.memory import Memory

PATH = "/mcp"

Caller = Callable[[Request, bool], Memory]
"""The memory on behalf of whoever sent a request; told whether the call writes, it refuses those who may only read."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """The route to mount, and what has to run while the server does."""

    route: Route
    running: Callable[[], AbstractAsyncContextManager[None]]


def endpoint(memory: Memory, *, caller: Caller, hosts: Sequence[str], origins: Sequence[str]) -> Endpoint:
    """MCP at `/mcp` for these values of Host and Origin (`127.0.0.1:*` is that host at any port)."""

    def acting(ctx: Context[Any, Any], effect: Effect) -> Memory:
        request = ctx.request_context.request
        assert isinstance(request, Request)
        return caller(request, effect != "reads")

    server = make_server(memory, acting=acting)
    app = server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(allowed_hosts=list(hosts), allowed_origins=list(origins)),
    )
    (route,) = app.routes
    assert isinstance(route, Route)
    return Endpoint(route=route, running=server.session_manager.run)
