"""The real sandboxes of Codex and Claude Code, offline: an agent's shell command reads and writes the memory."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import npm
from agents import ResponsesServer, claude, codex
from scripted import Reply, Request, ScriptedServer, ToolUse
from shell import Shell

RECOLLECT = f"{sys.executable} -m recollect"
TITLE = "The refund queue drops messages over 64 kB"
ADD = (
    f"{RECOLLECT} learn add --title '{TITLE}' --context 'Sending refunds through the payment queue' "
    "--observation 'A refund with 300 items never reached the worker' --implication 'Large refunds get lost silently' "
    "--action 'Split refunds of more than 100 items before queueing them'"
)
COMMAND = f"{RECOLLECT} search webhooks; {ADD}; echo ended $?; touch ../home/outside; touch .git/inside"
SOCAT = Path(__file__).parents[1] / "socat.py"
# Codex's sandbox may write /tmp, where this project is; that is not what is tried here.
NOT_TMP = [
    *("-s", "workspace-write", "-c", "sandbox_workspace_write.exclude_slash_tmp=true"),
    *("-c", "sandbox_workspace_write.exclude_tmpdir_env_var=true"),
]


@pytest.fixture
def bwrap() -> Path:
    """The bubblewrap that Codex brings."""
    [found] = npm.FOLDER.glob("node_modules/@openai/codex-linux-*/vendor/*/codex-resources/bwrap")
    if subprocess.run([found, "--ro-bind", "/", "/", "true"], capture_output=True).returncode:
        pytest.skip("bubblewrap cannot make a namespace here")
    return found


@pytest.fixture
def project() -> Iterator[Shell]:
    """A project on a disk: a sandbox has a /dev of its own, and tests may have their folders in /dev/shm.

    A host may still write its last files while the folder is removed.
    """
    with tempfile.TemporaryDirectory(dir="/var/tmp", prefix="recollect-", ignore_cleanup_errors=True) as folder:
        bare = Shell(Path(folder))
        yield begun(bare)


def begun(bare: Shell) -> Shell:
    del bare.environ["RECOLLECT_NOW"]
    subprocess.run(["git", "init", "-q", bare.folder], check=True)
    return bare


def in_codex(shell: Shell, *options: str) -> str:
    """What a shell command of Codex prints."""

    def script(said: str) -> str | dict[str, Any]:
        if "function_call_output" not in said:
            return {"name": "exec_command", "arguments": json.dumps({"cmd": COMMAND})}
        if "mcp__recollect" not in said:
            asked = json.dumps({"text": "Logged with the tool", "topic": "tools"})
            return {"namespace": "mcp__recollect", "name": "log", "arguments": asked}
        return "Looked it up."

    with ResponsesServer(script) as server:
        codex(shell, server, *NOT_TMP, *options, "Look up the webhooks")
        return str(next(item["output"] for item in server.requests[-1]["input"] if "output" in item))


def in_claude_code(shell: Shell, bwrap: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """What a shell command of Claude Code prints."""
    programs = shell.home / "bin"
    programs.mkdir()
    (programs / "bwrap").symlink_to(bwrap)
    if not shutil.which("socat"):
        (programs / "socat").write_text(f'#!/bin/sh\nexec {sys.executable} {SOCAT} "$@"\n')
        (programs / "socat").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    strict = {"failIfUnavailable": True, "allowUnsandboxedCommands": False, "enableWeakerNestedSandbox": True}
    settings = {"sandbox": {"enabled": True, "autoAllowBashIfSandboxed": True, **strict}}
    (shell.home / ".claude").mkdir()
    (shell.home / ".claude/settings.json").write_text(json.dumps(settings))

    def results(request: Request) -> list[str]:
        blocks = [block for message in request.body["messages"] for block in message["content"]]
        return [block["content"] for block in blocks if isinstance(block, dict) and block["type"] == "tool_result"]

    def script(request: Request) -> Reply:
        asked = ToolUse(name="Bash", input={"command": COMMAND, "description": "Look up the webhooks"})
        return Reply(text="Looked it up.") if results(request) else Reply(tools=[asked])

    with ScriptedServer(script) as server:
        claude(shell, server, "-p", "Look up the webhooks")
        return next(found for request in server.asked for found in results(request))


def entries(shell: Shell) -> str:
    return "\n".join(path.read_text("utf-8") for path in (shell.data / "memory").glob("2*.md"))


def assert_written(shell: Shell, said: str) -> None:
    assert "Stripe webhooks arrive out of order" in said
    assert "ended 0" in said
    assert TITLE in shell.said("learn", "list")
    assert not (shell.home / "outside").exists(), "the space's folder, and nothing beside it"
    assert "- request: Look up the webhooks" in entries(shell)


def assert_refused(shell: Shell, said: str) -> None:
    assert "Stripe webhooks arrive out of order" in said, "reads work"
    assert "In a sandbox use the MCP tools, or leave it to the hooks" in said
    assert "ended 3" in said
    assert TITLE not in shell.said("learn", "list")
    assert "- request: Look up the webhooks" in entries(shell), "hooks write: they run outside"


def test_codex_may_write_the_folder_of_the_space(bwrap: Path, project: Shell) -> None:
    project.said("init", "--host", "codex", "--space", "shop", "--timezone", "UTC")
    project.learn()
    said = in_codex(project)
    assert_written(project, said)
    assert "cannot touch '.git/inside'" in said


def test_codex_without_the_setting_may_read(bwrap: Path, project: Shell) -> None:
    project.said("init", "--host", "codex", "--space", "shop", "--timezone", "UTC")
    project.learn()
    assert_refused(project, in_codex(project, "-c", "sandbox_workspace_write.writable_roots=[]"))
    assert "Logged with the tool" in entries(project), "the server writes: it runs outside"


def test_claude_code_may_write_the_folder_of_the_space(
    bwrap: Path, project: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.said("init", "--host", "claude-code", "--space", "shop", "--timezone", "UTC")
    project.learn()
    assert_written(project, in_claude_code(project, bwrap, monkeypatch))


def test_claude_code_without_the_setting_may_read(bwrap: Path, project: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    project.said("init", "--host", "claude-code", "--space", "shop", "--timezone", "UTC")
    project.learn()
    file = project.folder / ".claude/settings.local.json"
    settings = json.loads(file.read_text())
    del settings["sandbox"]
    file.write_text(json.dumps(settings))
    assert_refused(project, in_claude_code(project, bwrap, monkeypatch))
