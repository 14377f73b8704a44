"""The official MCP client, driven from plain tests: one connection held open, each call a function call."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, TextContent


class Connection:
    """A client that is connected to a server."""

    def __init__(self, portal: BlockingPortal, client: Client):
        self._portal = portal
        self.client = client

    def ask(self, verb: str, *arguments: Any) -> Any:
        """Any method of the client, such as `list_tools`."""
        return self._portal.call(getattr(self.client, verb), *arguments)

    def call(self, tool: str, **arguments: Any) -> Any:
        """The structured answer of a tool that must succeed."""
        result = self._called(tool, arguments)
        assert not result.is_error, _text(result)
        return result.structured_content

    def text(self, tool: str, **arguments: Any) -> str:
        """What the model reads of an answer."""
        result = self._called(tool, arguments)
        assert not result.is_error, _text(result)
        return _text(result)

    def refused(self, tool: str, **arguments: Any) -> str:
        """What the model reads of a call that must fail."""
        result = self._called(tool, arguments)
        assert result.is_error
        return _text(result)

    def _called(self, tool: str, arguments: dict[str, Any]) -> CallToolResult:
        result = self._portal.call(self.client.call_tool, tool, arguments)
        assert isinstance(result, CallToolResult)
        return result


@contextmanager
def connected(server: Any, **options: Any) -> Iterator[Connection]:
    """Connect to a command (StdioServerParameters), a transport or a server object."""
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(Client(server, **options)) as client:
        yield Connection(portal, client)


@asynccontextmanager
async def http_transport(url: str, secret: str) -> AsyncIterator[Any]:
    """A transport that shows a token with every request."""
    async with (
        httpx2.AsyncClient(headers={"authorization": f"Bearer {secret}"}) as http,
        streamable_http_client(url, http_client=http) as streams,
    ):
        yield streams


def _text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text
