"""A real server over a test's memory: uvicorn on a free port of loopback, spoken to over HTTP."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import httpx
from fastapi import FastAPI

from recollect import Memory
from recollect.api.app import make_app, make_server


@dataclass
class Served:
    """A running server, a token of each kind, and the codes it announced."""

    app: FastAPI
    url: str
    secrets: dict[str, str]
    codes: list[str]
    clients: list[httpx.Client] = field(default_factory=list)

    def client(self, token: str | None = "api", **options: Any) -> httpx.Client:
        """A client with one of the tokens: api, person, import, reader; None for none. Closed with the server."""
        headers = options.pop("headers", {}) | ({"authorization": f"Bearer {self.secrets[token]}"} if token else {})
        self.clients.append(httpx.Client(base_url=self.url, headers=headers, timeout=30, **options))
        return self.clients[-1]

    def browser(self) -> httpx.Client:
        """A client that signed in to the page."""
        browser = self.client(None, follow_redirects=True)
        browser.post("/sign-in", data={"code": self.codes[-1]}).raise_for_status()
        return browser


@contextmanager
def serving(memory: Memory, **options: Any) -> Iterator[Served]:
    """Serve a person's memory until the block ends."""
    codes: list[str] = []
    app = make_app(memory, person="ada", announce=codes.append, **options)
    secrets = {channel: memory.tokens.new(channel, channel=channel)[1] for channel in ("api", "person", "import")}
    secrets["reader"] = memory.tokens.new("reader", read_only=True)[1]
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # as `serve` does
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    seconds = memory.context.settings.serve.body_seconds
    server = make_server(app, head_seconds=seconds, log_level="error")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    served = Served(app=app, url=f"http://127.0.0.1:{listening.getsockname()[1]}", secrets=secrets, codes=codes)
    try:
        while not server.started:
            assert thread.is_alive(), "the server did not start"
            time.sleep(0.01)
        yield served
    finally:
        for client in served.clients:
            client.close()
        server.should_exit = True
        thread.join(10)
        listening.close()
