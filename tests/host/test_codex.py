"""The real Codex, offline: what the model is sent, and what a session leaves."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from agents import ResponsesServer, codex
from shell import Shell

PROMPT = "Fix the order of the Stripe refund webhooks"
BRIEF = "## Memory of this project"


@pytest.fixture
def project(bare: Shell) -> Shell:
    del bare.environ["RECOLLECT_NOW"]
    bare.said("init", "--host", "codex", "--space", "shop", "--timezone", "UTC")
    return bare


def entries(shell: Shell) -> str:
    return "\n".join(path.read_text("utf-8") for path in (shell.data / "memory").glob("2*.md"))


def test_two_sessions_of_a_fresh_project(project: Shell) -> None:
    learning = project.learn()
    with ResponsesServer(lambda said: f"Compared the created times.\n\nLEARNING_HELPFUL: {learning}") as server:
        codex(project, server, PROMPT)
        first = json.dumps(server.requests[0]["input"])
        codex(project, server, "What did we do about refund webhooks?")
        second = json.dumps(server.requests[-1]["input"])
    assert BRIEF in first
    assert f"_ID: {learning}_" in first
    assert project.json("learn", "show", learning)["confidence"] == 0.8
    assert f"- request: {PROMPT}" in entries(project)
    assert "Compared the created times." in second


def test_compaction_does_not_lose_the_brief_and_leaves_its_summary(project: Shell) -> None:
    learning = project.learn()

    def script(said: str) -> str:
        return "Refunds are by creation now." if "CONTEXT CHECKPOINT" in said else "Compared the created times."

    with ResponsesServer(script, tokens=50_000) as server:
        codex(project, server, PROMPT)
        codex(project, server, "resume", "--last", "Order the Stripe refund webhooks of test accounts, too")
        last = json.dumps(server.requests[-1]["input"])
    assert last.count(BRIEF) == 1
    assert last.count(f"_ID: {learning}_") == 1, "shown again, once, after the context began anew"
    assert "## Summary at compaction [project]" in entries(project)
    assert "Refunds are by creation now." in entries(project)


def test_a_subagent_is_given_what_its_task_needs_and_its_verdict_counts(project: Shell) -> None:
    learning = project.learn()

    def script(said: str) -> str | dict[str, Any]:
        if "Delegate" not in said:
            return f"They overtake each other.\n\nLEARNING_HELPFUL: {learning}"
        if "They overtake" in said:
            return "It was looked at."
        agent = re.search(r"agent_id\W+([0-9a-f-]{36})", said)
        asked = {"targets": [agent[1]], "timeout_ms": 30_000} if agent else {"message": "Look at Stripe webhooks"}
        name = "wait_agent" if agent else "spawn_agent"
        return {"namespace": "multi_agent_v1", "name": name, "arguments": json.dumps(asked)}

    with ResponsesServer(script) as server:
        codex(project, server, "Delegate it, please")
        told = [json.dumps(request["input"]) for request in server.requests]
    assert ["Delegate" in said for said in told if f"_ID: {learning}_" in said] == [False], "the subagent alone"
    assert project.json("learn", "show", learning)["confidence"] == 0.75
