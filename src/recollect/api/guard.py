"""The middleware in front of every route: it refuses requests of hostile websites and broken clients.

The threat is a website in the owner's browser. It can make the browser send requests to loopback, under its own name
(DNS rebinding) or from its own origin; it can neither read a token nor set `Authorization`. So:

- the Host must be one of the server's names, or rebinding would make the website's origin ours;
- an Origin, if sent, must be exactly the address of the request; `null` and every other origin are refused;
- JSON routes take only `application/json`, which no HTML form can send;
- a token in the query string is refused, because it would end up in histories and logs;
- no answer has a CORS header, and every answer forbids scripts, frames and sources other than our own files.

Rate limits (calls, wrong tokens, sign-in codes) are here too. Bodies are read here, within limits of size and time,
before any work begins: a body that never ends costs no thread.
"""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from urllib.parse import parse_qsl

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from recollect.api.wire import Denied
from recollect.tend.tokens import SECRET_PREFIX

logger = logging.getLogger(__name__)

LOOPBACK = frozenset({"127.0.0.1", "localhost", "[::1]"})
JSON_PATHS = ("/api/", "/cstp", "/mcp")
SECRET_NAMES = frozenset({"token", "access_token", "api_key", "apikey", "authorization"})

HEADERS = {
    "content-security-policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
    "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # Not no-referrer: with it a browser sends `Origin: null` with our own forms.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


MOST_CALLERS = 10_000  # chosen: addresses remembered at once, about 2 MB


class RateLimit:
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


def host_fault(hosts: list[str], allowed: frozenset[str]) -> Denied | None:
    """The one Host header must have one of our names, with any port."""
    if len(hosts) == 1 and host_name(hosts[0]) in allowed:
        return None
    shown = hosts[0][:100] if hosts else "none"
    return Denied(421, f"Host {shown!r} is not a name of this server; add it with: recollect serve --allow-host NAME")


def origin_fault(origins: list[str], host: str) -> Denied | None:
    """A request from a web page must come from ours: same name, same port."""
    if all(origin.lower() in (f"http://{host}".lower(), f"https://{host}".lower()) for origin in origins):
        return None
    return Denied(403, "requests from other origins are refused; call the API without an Origin header")


def query_fault(query: bytes) -> Denied | None:
    """No secret in an address, which browsers and proxies record."""
    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True):
        if name.lower() in SECRET_NAMES or value.startswith(SECRET_PREFIX):
            return Denied(
                400,
                "a token must not be in an address: send it as 'Authorization: Bearer …', "
                "and revoke this one with: recollect host token revoke",
            )
    return None


def type_fault(method: str, path: str, content_type: str, length: int) -> Denied | None:
    """A request that writes to the API is JSON, even one without a body."""
    if not path.startswith(JSON_PATHS) or (method not in ("POST", "PUT", "PATCH") and not length):
        return None
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json":
        return None
    return Denied(415, "send JSON: Content-Type: application/json")


class Guard:
    def __init__(
        self,
        app: ASGIApp,
        *,
        hosts: frozenset[str],
        max_body: int,
        body_seconds: float,
        failed: Callable[[Scope, Exception], Response],
    ):
        self._app = app
        self._failed = failed
        self._hosts = LOOPBACK | {host.lower() for host in hosts}
        self._max_body = max_body
        self._body_seconds = body_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] == "HEAD":
            scope = {**scope, "method": "GET"}  # uvicorn leaves the body out

        begun = False

        async def answer(message: Message) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                given = {name for name, _ in message["headers"]}
                message["headers"] = [
                    *message["headers"],
                    *((name.encode(), value.encode()) for name, value in HEADERS.items() if name.encode() not in given),
                ]
            await send(message)

        fault = self._fault(scope)
        body = b""
        if fault is None:
            try:
                async with asyncio.timeout(self._body_seconds):
                    body, fault = await self._body(scope, receive)
            except TimeoutError:
                fault = Denied(408, f"the body did not arrive within {self._body_seconds:g} seconds")
        if fault is None:
            kind = ",".join(_all(scope, b"content-type"))
            fault = type_fault(scope["method"], scope["path"], kind, len(body))
        if fault is not None:
            fault.headers["connection"] = "close"  # avoids waiting for the rest of the body
            await self._failed(scope, fault)(scope, receive, answer)
            return
        try:
            await self._app(scope, _replayed(body, receive), answer)
        except Exception as error:
            if begun:
                raise  # half an answer is sent already: end the connection
            logger.exception("%s %s failed", scope["method"], scope["path"])
            await self._failed(scope, error)(scope, receive, answer)

    def _fault(self, scope: Scope) -> Denied | None:
        hosts = _all(scope, b"host")
        return (
            host_fault(hosts, self._hosts)
            or origin_fault(_all(scope, b"origin"), hosts[0])
            or query_fault(scope["query_string"])
            or self._length_fault(_all(scope, b"content-length"))
        )

    def _length_fault(self, lengths: list[str]) -> Denied | None:
        return self._too_long if any(int(length) > self._max_body for length in lengths if length.isdigit()) else None

    async def _body(self, scope: Scope, receive: Receive) -> tuple[bytes, Denied | None]:
        parts: list[bytes] = []
        size = 0
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                return b"", Denied(400, "the client disconnected")
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self._max_body:
                return b"", self._too_long
            if not message.get("more_body"):
                return b"".join(parts), None

    @property
    def _too_long(self) -> Denied:
        return Denied(413, f"the body is larger than {self._max_body:,} bytes; send less at once")


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A `receive` that returns the body again, then what the connection sends."""
    pending = True

    async def again() -> Message:
        nonlocal pending
        if pending:
            pending = False
            return {"type": "http.request", "body": body, "more_body": False}
        return await receive()

    return again


def _all(scope: Scope, name: bytes) -> list[str]:
    return [value.decode("latin-1") for key, value in scope["headers"] if key == name]


def host_name(host: str) -> str:
    """The name without its port: `[::1]:7447` → `[::1]`."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()
