"""The first request to a model holds our tools: an agent that gets them later has planned without them."""

from __future__ import annotations

import json

from agents import ResponsesServer, claude, codex, gemini
from scripted import Reply, ScriptedServer
from shell import ROOT, Shell

PROMPT = "Order the Stripe webhooks"
LAUNCHER = ".local/state/recollect/bin/recollect"
PLUGIN = ROOT / "plugins" / "claude-code"


def _begun(shell: Shell, host: str) -> None:
    del shell.environ["RECOLLECT_NOW"]
    shell.said("init", "--host", host, "--space", "shop", "--timezone", "UTC")


def _first(server: ScriptedServer | ResponsesServer) -> str:
    """What the first request that has tools tells the model, as JSON; hosts ask small questions without tools too."""
    asked = server.requests if isinstance(server, ResponsesServer) else [request.body for request in server.asked]
    return json.dumps(next(body for body in asked if body.get("tools")))


def test_of_claude_code(bare: Shell) -> None:
    _begun(bare, "claude-code")
    with ScriptedServer(lambda request: Reply(text="Done.")) as server:
        claude(bare, server, "-p", PROMPT)
        assert "mcp__recollect__search" in _first(server)


def test_of_codex(bare: Shell) -> None:
    _begun(bare, "codex")
    with ResponsesServer(lambda told: "Done.") as server:
        codex(bare, server, PROMPT)
        assert "mcp__recollect" in _first(server)


def test_of_gemini(bare: Shell) -> None:
    _begun(bare, "gemini")
    with ScriptedServer(lambda request: Reply(text="Done.")) as server:
        gemini(bare, server, "--prompt", PROMPT)
        assert "mcp_recollect_search" in _first(server)


def test_a_folder_without_a_memory_has_a_server_that_connects(bare: Shell) -> None:
    """Claude Code hides the tools of a server that failed for a quarter of an hour, in every project."""
    _begun(bare, "claude-code")
    elsewhere = bare.folder.parent / "elsewhere"
    elsewhere.mkdir()
    servers = (bare.folder / ".mcp.json").read_text("utf-8")
    (elsewhere / ".mcp.json").write_text(servers)
    (elsewhere / ".claude").mkdir()
    (elsewhere / ".claude" / "settings.local.json").write_text('{"enabledMcpjsonServers": ["recollect"]}')
    bare.folder = elsewhere
    with ScriptedServer(lambda request: Reply(text="Done.")) as server:
        claude(bare, server, "-p", PROMPT)
        told = _first(server)
    assert "mcp__recollect__begin" in told
    assert "failed to connect" not in told


def test_a_colleague_without_recollect_is_not_told_that_a_server_failed(bare: Shell) -> None:
    """A shared repository brings the files of `init`, not the program."""
    _begun(bare, "claude-code")
    (bare.home / LAUNCHER).unlink()
    with ScriptedServer(lambda request: Reply(text="Done.")) as server:
        said = claude(bare, server, "-p", PROMPT, "--output-format", "stream-json", "--verbose")
        told = _first(server)
    begun = next(each for each in map(json.loads, said.splitlines()) if "mcp_servers" in each)
    servers = {each["name"]: each["status"] for each in begun["mcp_servers"]}
    assert servers["recollect"] in ("connected", "pending")
    assert "failed to connect" not in told
    assert "mcp__recollect" not in told


def test_the_plugin_without_the_program_says_so_to_the_user_alone(bare: Shell) -> None:
    with ScriptedServer(lambda request: Reply(text="Done.")) as server:
        said = claude(
            bare, server, "-p", PROMPT, "--plugin-dir", str(PLUGIN), "--output-format", "stream-json", "--verbose"
        )
        told = _first(server)
    assert "Recollect is not installed here" in said
    assert "failed to connect" not in told
