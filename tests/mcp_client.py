"""The official MCP client, driven from plain tests: one connection held open, each call a function call."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anyio
import httpx2
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.memory import create_client_server_memory_streams
from mcp.shared.message import SessionMessage
from mcp_types import CallToolResult, TextContent, jsonrpc_message_adapter


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


@asynccontextmanager
async def direct_transport(said: Callable[[bytes], list[dict[str, Any]]]) -> AsyncIterator[Any]:
    """A transport straight into what answers a line, in this process."""
    async with (
        create_client_server_memory_streams() as (client, (incoming, outgoing)),
        anyio.create_task_group() as group,
    ):

        async def serve() -> None:
            async for message in incoming:
                line = message.message.model_dump_json(by_alias=True, exclude_none=True)
                for sent in said(line.encode()):
                    back = jsonrpc_message_adapter.validate_python(json.loads(json.dumps(sent)))
                    await outgoing.send(SessionMessage(back))

        group.start_soon(serve)
        yield client
        group.cancel_scope.cancel()


def _text(result: CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, TextContent)
    return block.text
