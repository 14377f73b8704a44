"""OpenClaw through our plugin: its hooks in the locked Node, and the real program where it is installed.

OpenClaw is 0.6 GB of packages and wants Node 24.16, so it is not among the locked programs. To run the second test:
`npm install --prefix DIR node@24 openclaw@2026.9.6`, then `RECOLLECT_TEST_OPENCLAW=DIR pytest -k real_program`.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

import npm
from scripted import Reply, Request, ScriptedServer, ToolUse
from shell import ROOT, Shell

PLUGIN = ROOT / "plugins" / "openclaw"
INSTALLED = os.environ.get("RECOLLECT_TEST_OPENCLAW", "")
BRIEF = "## Memory of this project"
HOST = """
const handlers = {};
(await import(process.argv[1])).default.register({ on: (name, handler) => (handlers[name] = handler) });
const ctx = { sessionId: "s-1", workspaceDir: process.cwd() };
const told = [];
for (const [name, event] of JSON.parse(process.argv[2])) told.push((await handlers[name](event, ctx)) ?? null);
console.log(JSON.stringify(told));
"""


@pytest.fixture
def workspace(bare: Shell) -> Shell:
    del bare.environ["RECOLLECT_NOW"]
    bare.said("init", "--space", "shop", "--timezone", "UTC")
    return bare


def played(shell: Shell, *events: tuple[str, dict[str, Any]]) -> list[Any]:
    """What the plugin's handlers return, called as OpenClaw calls them."""
    command = ["node", "--input-type=module", "-e", HOST, str(PLUGIN / "index.js"), json.dumps(events)]
    environ = {**shell.environ, "PATH": npm.path()}
    done = subprocess.run(command, cwd=shell.folder, env=environ, capture_output=True, timeout=60)
    assert done.returncode == 0, done.stderr.decode()
    return list(json.loads(done.stdout))


def test_a_turn_is_given_the_brief_and_what_is_relevant_and_leaves_an_entry(workspace: Shell) -> None:
    learning = workspace.learn()
    asked = {"prompt": "history and all", "currentUserMessage": "Handle Stripe refund webhooks", "messages": []}
    answer = {"role": "assistant", "content": [{"type": "text", "text": f"Ordered.\n\nLEARNING_HELPFUL: {learning}"}]}
    first, _, again, ended = played(
        workspace,
        ("before_prompt_build", asked),
        ("agent_end", {"messages": [{"role": "user", "content": "…"}, answer]}),
        ("before_prompt_build", asked),
        ("session_end", {"sessionId": "s-1", "reason": "new"}),
    )
    assert BRIEF in first["appendSystemContext"]
    assert f"_ID: {learning}_" in first["prependContext"]
    assert again["appendSystemContext"] == first["appendSystemContext"], "OpenClaw kept neither"
    assert f"_ID: {learning}_" in again["prependContext"]
    assert ended is None
    assert workspace.json("learn", "show", learning)["confidence"] == 0.75
    log = (workspace.data / "memory").glob("2*.md")
    assert "- request: Handle Stripe refund webhooks\n- outcome: Ordered.\n" in "".join(
        each.read_text() for each in log
    )


def test_it_is_silent_where_recollect_is_missing(bare: Shell) -> None:
    (told,) = played(bare, ("before_prompt_build", {"prompt": "Anything", "messages": []}))
    assert told == {}


@pytest.mark.skipif(not INSTALLED, reason="needs OpenClaw: see this file's first lines")
def test_the_real_program_offline(workspace: Shell) -> None:
    learning = workspace.learn()

    def script(request: Request) -> Reply:
        if learning in json.dumps(request.body["messages"]).partition("tool_result")[2]:
            return Reply(text=f"Compared.\n\nLEARNING_HELPFUL: {learning}")
        called = {"id": "recollect__search", "args": {"query": "stripe webhooks"}}
        return Reply(tools=[ToolUse(name="tool_call", input=called)])

    with ScriptedServer(script) as server:
        model = {"id": "m1", "name": "m1", "contextWindow": 200_000, "maxTokens": 4096}
        provider = {"baseUrl": server.url, "api": "anthropic-messages", "apiKey": "scripted", "models": [model]}
        launcher = workspace.home / ".local/state/recollect/bin/recollect"
        ours = {"command": str(launcher), "args": ["mcp", "--project", str(workspace.folder)]}
        settings = {
            "models": {"providers": {"scripted": provider}},
            "agents": {"defaults": {"workspace": str(workspace.folder), "model": {"primary": "scripted/m1"}}},
            "mcp": {"servers": {"recollect": ours}},
            "plugins": {
                "load": {"paths": [str(PLUGIN)]},
                "entries": {"recollect": {"enabled": True, "hooks": {"allowConversationAccess": True}}},
            },
        }
        (workspace.home / ".openclaw").mkdir()
        (workspace.home / ".openclaw/openclaw.json").write_text(json.dumps(settings))
        for prompt in ("Order the Stripe refund webhooks", "And the webhooks of Stripe test accounts?"):
            command = ["openclaw", "agent", "--local", "--session-id", "t1", "-m", prompt]
            environ = {**workspace.environ, "PATH": f"{INSTALLED}/node_modules/.bin:{workspace.environ['PATH']}"}
            done = subprocess.run(command, cwd=workspace.folder, env=environ, capture_output=True, timeout=300)
            assert done.returncode == 0, done.stderr.decode()
        for request in (server.asked[0], server.asked[-1]):
            assert BRIEF in request.system
            assert f"_ID: {learning}_" in request.conversation
    assert workspace.json("learn", "show", learning)["confidence"] == 0.75
    log = "".join(each.read_text() for each in (workspace.data / "memory").glob("2*.md"))
    assert "- request: And the webhooks of Stripe test accounts?\n- outcome: Compared." in log
