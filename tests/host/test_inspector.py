"""The MCP Inspector, a client written by others in another language, reads our server."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from typing import Any

import pytest

import npm
from shell import SOURCE, Shell

RECOLLECT = (sys.executable, "-m", "recollect")
STDIO = ("-e", f"PYTHONPATH={SOURCE}", *RECOLLECT, "mcp")
NAMES = """search timeline get remember correct forget log stage decide review wisdom inject rate
  status""".split()


def _inspect(shell: Shell, *arguments: str, server: tuple[str, ...] = STDIO) -> Any:
    done = subprocess.run(
        ["mcp-inspector", "--cli", *arguments, *server],
        cwd=shell.folder,
        env={**shell.environ, "PATH": npm.path()},
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_the_inspector_lists_every_tool_and_finds_no_fault_with_a_schema(shell: Shell) -> None:
    listed = _inspect(shell, "--strict", "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in listed] == NAMES


def test_the_inspector_calls_a_tool(shell: Shell) -> None:
    id = shell.learn()
    found = _inspect(shell, "--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=stripe webhooks")
    assert [hit["id"] for hit in found["structuredContent"]["hits"]] == [id]


def test_the_inspector_lists_resources_and_prompts(shell: Shell) -> None:
    templates = _inspect(shell, "--method", "resources/templates/list")["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["recollect://learning/{id}", "recollect://log/{day}"]
    assert [each["name"] for each in _inspect(shell, "--method", "prompts/list")["prompts"]] == ["handoff", "review"]


def test_the_inspector_lists_the_same_tools_over_http_with_a_token_and_nothing_without(shell: Shell) -> None:
    secret = shell.json("host", "token", "new", "inspector")["secret"]
    process = subprocess.Popen(
        [*RECOLLECT, "serve", "--port", "0", "--no-cycle"],
        cwd=shell.folder,
        env=shell.environ,
        stderr=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stderr is not None
        (address,) = re.findall(r"http://\S+(?=;)", process.stderr.readline())
        server = (f"{address}/mcp", "--transport", "http")
        try:
            shown = ("--header", f"Authorization: Bearer {secret}")
            listed = _inspect(shell, "--method", "tools/list", server=(*server, *shown))["tools"]
            assert [tool["name"] for tool in listed] == NAMES
            with pytest.raises(AssertionError, match="auth_required"):
                _inspect(shell, "--method", "tools/list", server=server)
        finally:
            process.terminate()
            process.stderr.read()
