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
from recollect.api.app import PAGE_HOST, make_app, make_server
from recollect.api.auth import caller
from recollect.api.spaces import Spaces
from recollect.mcp.protocol import PATH, endpoint

MCP = {PATH: endpoint(caller)}


@dataclass
class Served:
    """A running server, a token of each kind, and the codes it announced."""

    app: FastAPI
    url: str
    space: str
    secrets: dict[str, str]
    codes: list[str]
    clients: list[httpx.Client] = field(default_factory=list)

    def client(self, token: str | None = "api", **options: Any) -> httpx.Client:
        """A client with one of the tokens: api, person, import, reader; None for none. Closed with the server."""
        headers = options.pop("headers", {}) | ({"authorization": f"Bearer {self.secrets[token]}"} if token else {})
        self.clients.append(httpx.Client(base_url=self.url, headers=headers, timeout=30, **options))
        return self.clients[-1]

    @property
    def site(self) -> str:
        """The page of the space, as a browser is given its address."""
        return f"{self.url.replace('127.0.0.1', PAGE_HOST)}/s/{self.space}"

    def stranger(self, **options: Any) -> httpx.Client:
        """A client that asks for pages under their own name, not signed in."""
        return self.client(None, headers={"host": PAGE_HOST}, **options)

    def browser(self) -> Browser:
        """A client that signed in to the page."""
        headers = {"host": PAGE_HOST}
        browser = Browser(space=self.space, base_url=self.url, headers=headers, timeout=30, follow_redirects=True)
        self.clients.append(browser)
        browser.post("/sign-in", data={"code": self.codes[-1]}).raise_for_status()
        return browser


class Browser(httpx.Client):
    """Asks for the pages of one space by their path in it; `/sign-in` and the like are outside of any space."""

    def __init__(self, *, space: str, **options: Any):
        super().__init__(**options)
        self._prefix = f"/s/{space}"

    def request(self, method: str, url: Any, **options: Any) -> httpx.Response:
        outside = str(url) == "/theme" or str(url).startswith(("/s/", "/sign-", "/static", "/api", "/health", "http:"))
        return super().request(method, url if outside else self._prefix + str(url), **options)


@contextmanager
def serving(memory: Memory, **options: Any) -> Iterator[Served]:
    """Serve a person's memory until the block ends."""
    codes: list[str] = []
    spaces = options.pop("spaces", None) or Spaces(memory)
    app = make_app(spaces, person="ada", announce=codes.append, **options)
    secrets = {channel: memory.tokens.new(channel, channel=channel)[1] for channel in ("person", "import")}
    secrets["api"] = memory.tokens.new("api", scopes=("read", "write", "admin"))[1]
    secrets["reader"] = memory.tokens.new("reader", scopes=("read",))[1]
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)  # as `serve` does
    listening.bind(("127.0.0.1", 0))
    listening.listen()
    seconds = memory.context.settings.serve.body_seconds
    server = make_server(app, head_seconds=seconds, log_level="error")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    served = Served(app=app, url=url, space=memory.context.space, secrets=secrets, codes=codes)
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
