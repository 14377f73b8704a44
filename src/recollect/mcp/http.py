"""MCP over streamable HTTP, for a server that runs anyway.

Who may come in is the server's business: its gate checks Host, Origin, size and token before anything arrives here, and
`caller` says on whose behalf the memory acts. Requests are stateless: nothing is kept between two of them.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, replace
from typing import Any

from mcp.server.mcpserver import Context
from mcp.server.transport_security import TransportSecuritySettings
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.core.actor import lowest
from recollect.mcp.server import make_server
from recollect.mcp.tools import Effect
from recollect.memory import Memory

PATH = "/mcp"

Caller = Callable[[Request, bool], Memory]
"""The memory on behalf of whoever sent a request; told whether the call writes, it refuses those who may only read."""


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """What answers at `/mcp`, and what has to run while the server does."""

    app: ASGIApp
    running: Callable[[], AbstractAsyncContextManager[None]]


def endpoint(memory: Memory, caller: Caller) -> Endpoint:
    """MCP over a memory. A client is an agent, so its trust is an agent's at most, whatever its token says."""

    def acting(ctx: Context[Any, Any], effect: Effect) -> Memory:
        request = ctx.request_context.request
        assert isinstance(request, Request)
        found = caller(request, effect != "reads")
        actor = found.context.actor
        return found.acting_as(replace(actor, channel="mcp", trust=lowest(actor.trust, "agent")))

    server = make_server(memory, acting=acting)
    server.streamable_http_app(
        streamable_http_path=PATH,
        json_response=True,
        stateless_http=True,
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),  # the gate did
    )
    manager = server.session_manager

    async def answer(scope: Scope, receive: Receive, send: Send) -> None:
        """Calls alone: there is no session to end, and a stream on which nobody speaks would only be held open."""
        if scope["method"] == "POST":
            # Not the SDK's own application, which would stand between a request and the server it came to.
            await manager.asgi_app(scope, receive, send)
        else:
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)

    return Endpoint(app=answer, running=manager.run)
