"""The first request to a model holds our tools: an agent that gets them later has planned without them."""

from __future__ import annotations

import json
import subprocess
import sys
import venv

import pytest

from agents import ResponsesServer, claude, codex, gemini
from recollect.hosts.host_files import STAND_IN
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


def _server_of(said: str) -> str:
    """The state of our server, as Claude Code says it when a session begins."""
    begun = next(each for each in map(json.loads, said.splitlines()) if "mcp_servers" in each)
    return next(str(each["status"]) for each in begun["mcp_servers"] if "recollect" in each["name"])


def test_a_colleague_without_recollect_has_a_server_that_says_how_to_begin(bare: Shell) -> None:
    """A shared repository brings the files of `init`, not the program."""
    _begun(bare, "claude-code")
    (bare.home / LAUNCHER).unlink()
    with ScriptedServer(lambda request: Reply(text="Done.")) as server:
        state = _server_of(claude(bare, server, "-p", PROMPT, "--output-format", "stream-json", "--verbose"))
        told = _first(server)
    assert state in ("connected", "pending")
    assert "failed to connect" not in told
    assert "mcp__recollect__begin" in told
    assert "mcp__recollect__search" not in told


@pytest.mark.parametrize("python", ["gone", "without our package"])
@pytest.mark.parametrize("plugin", [False, True])
def test_a_launcher_whose_python_is_broken_has_a_server_that_says_how_to_repair_it(
    bare: Shell, python: str, plugin: bool
) -> None:
    _begun(bare, "claude-code")
    empty = bare.folder.parent / "empty"
    if python != "gone":
        venv.create(empty, with_pip=False)
    launcher = bare.home / LAUNCHER
    launcher.write_text(launcher.read_text().replace(sys.executable, str(empty / "bin/python")))
    del bare.environ["PYTHONPATH"]
    more: tuple[str, ...] = ()
    if plugin:
        (bare.folder / ".mcp.json").unlink()
        (bare.folder / ".claude/settings.local.json").unlink()
        more = ("--plugin-dir", str(PLUGIN))
    with ScriptedServer(lambda request: Reply(text="Done.")) as server:
        said = claude(bare, server, "-p", PROMPT, *more, "--output-format", "stream-json", "--verbose")
        told = _first(server)
    assert _server_of(said) in ("connected", "pending")
    assert "failed to connect" not in told
    assert "recollect__begin" in told
    heard = [each for each in map(json.loads, said.splitlines()) if each.get("subtype") == "hook_response"]
    assert heard
    assert {(each["stdout"], each["stderr"], each["exit_code"]) for each in heard} == {("", "", 0)}


@pytest.mark.parametrize("host", ["codex", "gemini"])
def test_so_have_codex_and_gemini(bare: Shell, host: str) -> None:
    _begun(bare, host)
    launcher = bare.home / LAUNCHER
    launcher.write_text(launcher.read_text().replace(sys.executable, "/no/such/python"))
    if host == "codex":
        with ResponsesServer(lambda told: "Done.") as responses:
            codex(bare, responses, PROMPT)
            assert "mcp__recollect" in _first(responses)
        return
    with ScriptedServer(lambda request: Reply(text="Done.")) as server:
        said = gemini(bare, server, "--prompt", PROMPT)
        assert "mcp_recollect_begin" in _first(server)
    assert "MCP issues" not in said


def test_the_stand_in_answers_each_request_under_its_own_id() -> None:
    ids = [1, 0, "a-1", 'a "quoted" \\ {id}, [x]', "übung"]
    asked = [{"jsonrpc": "2.0", "id": id, "method": "ping"} for id in ids]
    asked += [
        {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"id": 7, "requestId": 7}},
        {"jsonrpc": "2.0", "id": 8, "result": {"method": "ping"}},
        {
            "id": 9,
            "method": "tools/list",
            "params": {"id": 10, "list": [{"id": 11, "method": "ping"}], "said": '}{"id": 12'},
        },
        {"params": {"name": "begin", "arguments": {"id": "log/1"}}, "method": "tools/call", "id": "last"},
    ]
    lines = "".join(f"{json.dumps(each)}\n" for each in asked) + '{"id":14,"method":"ping"}\r\nno JSON\n'
    done = subprocess.run(["/bin/sh", "-c", STAND_IN], input=lines, capture_output=True, text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    assert [each["id"] for each in answers] == [*ids, 9, "last", 14]
    assert [tool["name"] for tool in answers[len(ids)]["result"]["tools"]] == ["begin"]
    assert "recollect init" in answers[len(ids) + 1]["result"]["content"][0]["text"]


def test_the_plugin_without_the_program_says_so_to_the_user_alone(bare: Shell) -> None:
    with ScriptedServer(lambda request: Reply(text="Done.")) as server:
        said = claude(
            bare, server, "-p", PROMPT, "--plugin-dir", str(PLUGIN), "--output-format", "stream-json", "--verbose"
        )
        told = _first(server)
    assert "Recollect is not installed here" in said
    assert "failed to connect" not in told
