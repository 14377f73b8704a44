"""MCP over HTTP as a bare server would mount it, for tests of the transport itself."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request

from conftest import AGENT
from recollect import Actor, Memory
from recollect.core.errors import Refused
from recollect.mcp.http import endpoint

HOSTS = ("127.0.0.1:*",)
ORIGINS = ("http://127.0.0.1:*",)


def caller_of(memory: Memory, *, read_only: bool) -> object:
    def caller(request: Request, writes: bool) -> Memory:
        if writes and read_only:
            raise Refused("this token may only read")
        return memory.acting_as(Actor(name=AGENT.name, channel="mcp", trust="agent"))

    return caller


@contextmanager
def served(memory: Memory, *, read_only: bool = False) -> Iterator[str]:
    """The address of a running server."""
    point = endpoint(memory, caller=caller_of(memory, read_only=read_only), hosts=HOSTS, origins=ORIGINS)  # type: ignore[arg-type]

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with point.running():
            yield

    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(Starlette(routes=[point.route], lifespan=lifespan), log_level="warning"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield f"http://127.0.0.1:{listening.getsockname()[1]}/mcp"
    server.should_exit = True
    thread.join()
    listening.close()
