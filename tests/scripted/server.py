"""A model's server on loopback that says what its script says and remembers what it was asked.

It answers `POST /v1/messages` (and `count_tokens`), `POST /v1/chat/completions`, `POST /v1/embeddings` and Gemini's
`POST /v1beta/models/MODEL:generateContent` (and `streamGenerateContent`, `countTokens`), whatever stands before `/v1`,
in JSON or as a stream. Knows nothing about who asks: an SDK, an agent program, or `curl`.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, ClassVar
from urllib.parse import urlsplit

from scripted import wire
from scripted.script import Fault, Reply, Request, Script, Vectors, Wire

_WIRES: dict[str, Wire] = {
    "/messages": "anthropic",
    "/messages/count_tokens": "anthropic",
    "/chat/completions": "openai",
    "/embeddings": "embeddings",
    ":generateContent": "gemini",
    ":streamGenerateContent": "gemini",
    ":countTokens": "gemini",
}
"""How a path goes on after `/v1`, or after Gemini's name of a model."""
_GEMINI = re.compile(r"beta/models/[^/:]+")


class ScriptedServer:
    """Serves from `with` to its end. A list is used line by line; a function answers every request.

    A line is a text, a `Reply`, a `Fault`, or a function of the `Request`. Embeddings have a function of their own,
    and counting tokens needs no line. `requests` holds what was asked, in order.
    """

    def __init__(self, script: Script = (), *, embeddings: Vectors = wire.hashed_words, port: int = 0):
        self._function = script if callable(script) else None
        self._lines = [] if callable(script) else list(script)
        self._embeddings = embeddings
        self._lock = threading.Lock()
        self.requests: list[Request] = []
        self.closing = threading.Event()
        handler = type("Handler", (_Handler,), {"scripted": self})
        self._http = ThreadingHTTPServer(("127.0.0.1", port), handler)
        self._http.daemon_threads = True
        self._http.block_on_close = False
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)

    @property
    def url(self) -> str:
        """What Anthropic's SDK, Claude Code and Gemini CLI take as base URL; OpenAI's SDK takes it with `/v1`."""
        return f"http://127.0.0.1:{self._http.server_port}"

    @property
    def asked(self) -> list[Request]:
        """The requests that took a line of the script: neither embeddings nor counted tokens."""
        with self._lock:
            return [each for each in self.requests if _scripted(each)]

    def __enter__(self) -> ScriptedServer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.closing.set()  # a reply that is being delayed is not waited for
        self._http.shutdown()
        self._http.server_close()
        self._thread.join()

    def answer(self, request: Request) -> tuple[Reply | Fault | bytes, int]:
        """What the script says to a request, and the request's number."""
        with self._lock:
            self.requests.append(request)
            number = len(self.requests)
            line: Any = self._function
            if line is None and _scripted(request):
                if not self._lines:
                    return Fault(status=400, message="the script has no line left"), number
                line = self._lines.pop(0)
        if request.wire == "embeddings":
            made = self._embeddings(request)
            return (made if isinstance(made, Fault) else wire.embeddings(request, made)), number
        if not _scripted(request):
            return wire.counted(request), number
        said = line(request) if callable(line) else line
        return (Reply(text=said) if isinstance(said, str) else said), number


class _Handler(BaseHTTPRequestHandler):
    scripted: ClassVar[ScriptedServer]
    protocol_version = "HTTP/1.1"

    def do_HEAD(self) -> None:
        self._send(200, b"", "text/plain")

    def do_GET(self) -> None:
        self._send(404, b"{}", "application/json")

    def do_POST(self) -> None:
        path = urlsplit(self.path).path
        kind = _WIRES.get(_GEMINI.sub("", path.rpartition("/v1")[2]))
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if kind is None:
            self._send(404, b"{}", "application/json")
            return
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if not isinstance(body, dict):
            self._send(400, b'{"error": {"message": "the body is no JSON object"}}', "application/json")
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        request = Request(method="POST", path=path, headers=headers, body=body, wire=kind)
        made, number = self.scripted.answer(request)
        self._answer(request, made, number)

    def _answer(self, request: Request, made: Reply | Fault | bytes, number: int) -> None:
        if isinstance(made, bytes):
            self._send(200, made, "application/json")
            return
        self.scripted.closing.wait(made.delay)
        if isinstance(made, Fault):
            self._send(made.status, wire.error(request, made), "application/json", made.headers, made.cut_after)
        elif request.stream:
            self._stream(wire.events(request, made, number), made.pause, made.cut_after)
        else:
            self._send(200, wire.whole(request, made, number), "application/json", cut_after=made.cut_after)

    def _send(self, status: int, body: bytes, type: str, headers: Any = None, cut_after: int | None = None) -> None:
        try:
            self.send_response(status)
            for name, value in dict(headers or {}).items():
                self.send_header(name, value)
            self.send_header("content-type", type)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body[:cut_after])
        except OSError:
            self.close_connection = True  # who asked did not wait
        if cut_after is not None:
            self.close_connection = True

    def _stream(self, events: Iterable[bytes], pause: float, cut_after: int | None) -> None:
        left = cut_after
        try:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("cache-control", "no-cache")
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            for event in events:
                part = event[:left]
                if part:
                    self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                if left is not None:
                    left -= len(part)
                    if not left:
                        self.close_connection = True
                        return
                if pause:
                    self.wfile.flush()
                    self.scripted.closing.wait(pause)
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what was asked is in `requests`."""


def _scripted(request: Request) -> bool:
    return request.wire != "embeddings" and not request.path.endswith(("/count_tokens", ":countTokens"))
