"""MCP over HTTP, behind the guard of `recollect serve`, which checks Host, Origin, size and token first.

Each request stands alone: there is no session to end and no stream of notifications to listen to.
"""

from __future__ import annotations

import json
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from recollect.core.context import lowest
from recollect.core.records import replace
from recollect.mcp.protocol import INVALID_REQUEST, PARSE_ERROR, answer, failure
from recollect.memory import Memory

PATH = "/mcp"


def endpoint(caller: Callable[[Request, bool], Memory]) -> ASGIApp:
    """The application at `/mcp`. `caller` provides the memory on behalf of the sender of a request, or refuses a call
    that writes; a client is an agent, so its trust is an agent's at most, whatever its token says."""

    async def respond(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)

        def acting(writing: bool) -> Memory:
            found = caller(request, writing)
            actor = found.context.actor
            return found.acting_as(replace(actor, channel="mcp", trust=lowest(actor.trust, "agent")))

        await (await _response(request, acting))(scope, receive, send)

    return respond


async def _response(request: Request, acting: Callable[[bool], Memory]) -> Response:
    if request.method != "POST":
        return Response(status_code=405, headers={"allow": "POST"})
    try:
        message = json.loads(await request.body())
    except (ValueError, RecursionError):
        return JSONResponse(failure(PARSE_ERROR, "the message is not JSON"), status_code=400)
    said = await run_in_threadpool(answer, message, acting)
    if said is None:
        return Response(status_code=202)
    refused = said.get("error", {}).get("code") == INVALID_REQUEST
    return JSONResponse(said, status_code=400 if refused else 200)
