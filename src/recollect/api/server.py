"""How the application is put on a socket: uvicorn, with its limits.

uvicorn waits for ever for the rest of a request's head, so clients that send one half could hold every connection; here
a head has as long as a body has in `guard`. Knows nothing about addresses, tokens or routes.
"""

from __future__ import annotations

import asyncio
from functools import partial
from typing import Any

import h11
import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.h11_impl import H11Protocol

GRACE_SECONDS = 5  # for requests that are being answered when the server stops
CONNECTIONS = 1000  # the next one is told to come again


def make_server(app: FastAPI, *, head_seconds: float, log_level: str = "warning") -> uvicorn.Server:
    """A server of the application, to be run on sockets that listen."""
    config = uvicorn.Config(
        app,
        http=partial(_Http, head_seconds=head_seconds),  # type: ignore[arg-type]  # a class that needs one thing more
        log_level=log_level,
        server_header=False,
        proxy_headers=False,  # the proxy's word would decide whose failures are counted
        timeout_graceful_shutdown=GRACE_SECONDS,
        limit_concurrency=CONNECTIONS,
    )
    return uvicorn.Server(config)


class _Http(H11Protocol):
    """Closes a connection on which no whole head of a request arrives in time after it was opened, or the head begun.

    One that is idle between two requests is uvicorn's own to close.
    """

    def __init__(self, *given: Any, head_seconds: float, **options: Any):
        super().__init__(*given, **options)
        self._seconds = head_seconds
        self._deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(self._seconds, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.their_state is not h11.IDLE:
            self._cancel()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(self._seconds, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def _cancel(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
