"""The MCP Inspector, a client written by others in another language, reads our server."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import npm
from shell import SOURCE, Shell


def _inspect(shell: Shell, *arguments: str) -> Any:
    done = subprocess.run(
        ["mcp-inspector", "--cli", *arguments, "-e", f"PYTHONPATH={SOURCE}", sys.executable, "-m", "recollect", "mcp"],
        cwd=shell.folder,
        env={**shell.environ, "PATH": npm.path()},
        capture_output=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout)


def test_the_inspector_lists_every_tool_and_finds_no_fault_with_a_schema(shell: Shell) -> None:
    listed = _inspect(shell, "--strict", "--method", "tools/list")["tools"]
    assert [tool["name"] for tool in listed] == [
        "search", "get", "remember", "log", "decide", "inject", "rate", "recall", "status"
    ]  # fmt: skip
    assert all(tool["outputSchema"] for tool in listed)


def test_the_inspector_calls_a_tool(shell: Shell) -> None:
    id = shell.learn()
    found = _inspect(shell, "--method", "tools/call", "--tool-name", "search", "--tool-arg", "query=stripe webhooks")
    assert [hit["id"] for hit in found["structuredContent"]["hits"]] == [id]


def test_the_inspector_lists_resources_and_prompts(shell: Shell) -> None:
    templates = _inspect(shell, "--method", "resources/templates/list")["resourceTemplates"]
    assert [each["uriTemplate"] for each in templates] == ["recollect://learning/{id}", "recollect://log/{day}"]
    assert [each["name"] for each in _inspect(shell, "--method", "prompts/list")["prompts"]] == ["handoff", "review"]
