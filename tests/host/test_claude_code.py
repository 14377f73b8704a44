"""The real Claude Code, offline: what the model is sent, and what a session leaves."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

import npm
from agents import claude, claude_environ
from repos import Repo
from scripted import Reply, Request, ScriptedServer, ToolUse
from shell import ROOT, Shell

PLUGIN = ROOT / "plugins" / "claude-code"
PROMPT = "Fix the order of the Stripe refund webhooks"
BRIEF = "## Memory of this project"


def sent(request: Request) -> str:
    """Everything a request tells the model."""
    return f"{request.system}\n{request.conversation}"


def answering(text: str) -> Callable[[Request], Reply]:
    """A model that always says the same; where a compaction asks for a summary, it gives one."""
    return lambda request: Reply(text=f"<summary>{text}</summary>" if "<summary>" in request.text else text)


@pytest.fixture
def project(bare: Shell) -> Shell:
    """A fresh project that Claude Code was told about, in the present: a session's events come one after the other."""
    del bare.environ["RECOLLECT_NOW"]
    bare.said("init", "--host", "claude-code", "--space", "shop", "--timezone", "UTC")
    return bare


@pytest.fixture
def untold(bare: Shell) -> Shell:
    """A project that no host was told about."""
    del bare.environ["RECOLLECT_NOW"]
    bare.said("init", "--space", "shop", "--timezone", "UTC")
    return bare


def entries(shell: Shell) -> str:
    return "\n".join(path.read_text("utf-8") for path in sorted((shell.data / "memory").glob("2*.md")))


def test_two_sessions_of_a_fresh_project(project: Shell) -> None:
    helpful = project.learn()
    with ScriptedServer(answering(f"Compared the created times.\n\nLEARNING_HELPFUL: {helpful}")) as server:
        claude(project, server, "-p", PROMPT)
        first = sent(server.asked[0])
        claude(project, server, "-p", "What did we do about refund webhooks?")
        second = sent(server.asked[-1])

    assert BRIEF in first, "the brief is in the request the model gets"
    assert f"_ID: {helpful}_" in first, "and so is the relevant learning"
    assert project.json("learn", "show", helpful)["confidence"] == 0.8, "a marker in each answer moved it"
    assert "- request: " + PROMPT in entries(project), "the session's log entry exists"
    assert "Compared the created times." in second, "the second session is given what the first one left"
    assert f"_ID: {helpful}_" in second
    assert "Relevant Learnings" not in entries(project), "nothing injected was captured"


def test_compaction_does_not_lose_the_brief_and_leaves_its_summary(project: Shell) -> None:
    learning = project.learn()
    with ScriptedServer(answering("The refunds are ordered by creation now.")) as server:
        claude(project, server, "-p", PROMPT)
        claude(project, server, "-p", "--continue", "/compact")
        claude(project, server, "-p", "--continue", "Order the Stripe refund webhooks of test accounts, too")
        last = sent(server.asked[-1])
    assert last.count(BRIEF) == 1
    assert last.count(f"_ID: {learning}_") == 1, "shown again, once, after the context began anew"
    assert "## Summary at compaction [project]" in entries(project)


def test_a_tool_of_our_server_called_by_the_model_returns_its_hits(project: Shell) -> None:
    learning = project.learn()
    tool = "mcp__recollect__search"

    def script(request: Request) -> Reply:
        """A model that waits for the server, has the tool's schema loaded where the host defers it, and calls it."""
        told = json.dumps(request.body["messages"])
        if learning in told or len(server.asked) > 20:
            return Reply(text="Found it.")
        if tool in [each.get("name") for each in request.body["tools"]]:
            return Reply(tools=[ToolUse(name=tool, input={"query": "stripe webhooks"})])
        if tool in told:
            return Reply(tools=[ToolUse(name="ToolSearch", input={"query": f"select:{tool}"})])
        return Reply(tools=[ToolUse(name="Bash", input={"command": "sleep 1", "description": "Wait"})])

    with ScriptedServer(script) as server:
        claude(project, server, "-p", "Look it up", "--allowedTools", tool, "Bash(sleep:*)", "ToolSearch")
        results = json.dumps(server.asked[-1].body["messages"])
    assert learning in results


def test_the_user_sees_a_line_and_the_agent_runs_a_command_of_the_brief_unasked(project: Shell) -> None:
    learning = project.learn()

    def script(request: Request) -> Reply:
        if "tool_result" in json.dumps(request.body["messages"]):
            return Reply(text="Looked it up.")
        asked = ToolUse(name="Bash", input={"command": "recollect search webhooks", "description": "Look it up"})
        return Reply(tools=[asked])

    with ScriptedServer(script) as server:
        said = claude(project, server, "-p", PROMPT, "--output-format", "stream-json", "--verbose")
        results = json.dumps(server.asked[-1].body["messages"])
        told = sent(server.asked[0])
    assert learning in results.split("tool_result")[1], "neither missing from the PATH nor waiting for approval"
    for line in ("Recollect: 1 learning", "Recollect: gave 1: Stripe webhooks arrive out of order"):
        assert line in said, "the host has it for its user"
        assert line not in told, "and the model is not told"


def test_a_session_after_a_killed_one_begins_with_what_that_one_was_asked(project: Shell) -> None:
    with ScriptedServer(lambda request: Reply(text="Too late.", delay=60)) as server:
        killed = subprocess.Popen(
            ["claude", "-p", PROMPT],
            cwd=project.folder,
            env=claude_environ(project, server),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        until = time.monotonic() + 60
        talks = (project.home / ".claude/projects").glob  # the host writes them before or after it asks the model
        while not server.asked or not any(f'"content":"{PROMPT}"' in path.read_text() for path in talks("*/*.jsonl")):
            assert time.monotonic() < until, "the model is asked when the hooks are done, and the prompt is kept"
            time.sleep(0.05)
        killed.kill()
        killed.wait()
        while any(os.path.realpath(cwd) == str(project.folder) for cwd in Path("/proc").glob("[0-9]*/cwd")):
            assert time.monotonic() < until + 30, "what the host left behind comes to an end"
            time.sleep(0.1)
    with ScriptedServer(answering("Done.")) as server:
        said = claude(project, server, "-p", "Go on", "--output-format", "stream-json", "--verbose")
        brief = sent(server.asked[0]).partition(BRIEF)[2]
    assert f"last session broke off at: {PROMPT}" in said
    assert PROMPT in brief


def test_a_subagent_is_given_what_its_task_needs_and_its_verdict_counts(project: Shell) -> None:
    learning = project.learn()
    task = "Look at the order of Stripe webhooks and report"

    def script(request: Request) -> Reply:
        if task in request.conversation and "Delegate" not in request.conversation:
            return Reply(text=f"They overtake each other.\n\nLEARNING_HELPFUL: {learning}")
        if "tool_result" in json.dumps(request.body["messages"]):
            return Reply(text="It was looked at.")
        delegated = {"description": "Look", "prompt": task, "subagent_type": "general-purpose"}
        return Reply(tools=[ToolUse(name="Agent", input=delegated)])

    with ScriptedServer(script) as server:
        claude(project, server, "-p", "Delegate it, please")
        inner = [request for request in server.asked if f"_ID: {learning}_" in request.conversation]
    assert len(inner) == 1
    assert project.json("learn", "show", learning)["confidence"] == 0.75


def test_the_plugin_brings_the_same_without_a_file_in_the_project(untold: Shell) -> None:
    learning = untold.learn()
    with ScriptedServer(answering(f"Done.\n\nLEARNING_HELPFUL: {learning}")) as server:
        claude(untold, server, "-p", PROMPT, "--plugin-dir", str(PLUGIN))
        said = sent(server.asked[0])
    assert BRIEF in said
    assert f"_ID: {learning}_" in said
    assert untold.json("learn", "show", learning)["confidence"] == 0.75
    assert not (untold.folder / ".claude").exists()


def test_the_plugin_installed_from_its_marketplace(untold: Shell) -> None:
    environ = {**untold.environ, "PATH": npm.path()}
    for arguments in (("marketplace", "add", str(ROOT)), ("install", "recollect@recollect")):
        subprocess.run(["claude", "plugin", *arguments], env=environ, check=True, capture_output=True, timeout=60)
    assert "plugin" in untold.said("init", "--host", "claude-code")
    assert not (untold.folder / ".claude").exists(), "hooks live in one place"
    with ScriptedServer(answering("Done.")) as server:
        claude(untold, server, "-p", PROMPT)
        assert sent(server.asked[0]).count(BRIEF) == 1
    found = untold.json("doctor", "--host", "claude-code")
    assert found["place"] == "the plugin"
    assert found["good"], found["tried"]
    assert [each["event"] for each in found["given"]] == ["SessionStart", "UserPromptSubmit", "Stop", "SessionEnd"]


def test_a_session_in_a_submodule_uses_the_memory_around_it_once_set_up_for_all_projects(untold: Shell) -> None:
    library, around = Repo(untold.folder.parent / "library"), Repo(untold.folder)
    library.commit(date(2026, 3, 1), {"lib.py": "pass\n"})
    around.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(library.root), "lib")
    untold.said("init", "--all-projects", "--host", "claude-code")
    learning, project = untold.learn(), untold.folder
    untold.folder = project / "lib"
    with ScriptedServer(answering("Ordered in the library.")) as server:
        claude(untold, server, "-p", PROMPT)
        said = sent(server.asked[0])
    assert BRIEF in said
    assert f"_ID: {learning}_" in said
    assert "Ordered in the library." in entries(untold)
    assert not (project / "lib" / ".claude").exists()


def test_the_plugins_agent_is_given_its_skill_and_model(untold: Shell) -> None:
    def script(request: Request) -> Reply:
        if "tool_result" in json.dumps(request.body["messages"]) or "Delegate" not in request.conversation:
            return Reply(text="tmp/consolidation-report.md")
        delegated = {"description": "Go", "prompt": "Consolidate", "subagent_type": "recollect:remember-task"}
        return Reply(tools=[ToolUse(name="Agent", input=delegated)])

    with ScriptedServer(script) as server:
        claude(untold, server, "-p", "Delegate it, please", "--plugin-dir", str(PLUGIN))
        inner = [request for request in server.asked if "Delegate" not in request.conversation]
    assert "You consolidate staged learnings" in sent(inner[0])
    assert "Principle-level" in sent(inner[0]), "the whole skill is in front of the agent"
    assert "sonnet" in inner[0].model


@pytest.mark.parametrize("folder", [PLUGIN, PLUGIN.parents[1]], ids=["plugin", "marketplace"])
def test_the_host_finds_no_fault_with_the_manifests(folder: Path, tmp_path: Path) -> None:
    environ: dict[str, Any] = {"PATH": npm.path(), "HOME": str(tmp_path)}
    command = ["claude", "plugin", "validate", str(folder), "--strict"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_project_without_a_memory_is_left_alone(bare: Shell) -> None:
    with ScriptedServer(answering("Done.")) as server:
        claude(bare, server, "-p", PROMPT, "--plugin-dir", str(PLUGIN))
        assert BRIEF not in sent(server.asked[0])
    assert list(bare.folder.iterdir()) == []
