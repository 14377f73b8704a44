"""The real Gemini CLI, offline: what the model is sent, and what a session leaves."""

from __future__ import annotations

import json

from agents import gemini
from scripted import Reply, Request, ScriptedServer, ToolUse
from shell import Shell

PROMPT = "Fix the order of the Stripe refund webhooks"
ANSWER = "Compared the created times of all the events that came in, and passed over the older ones."
SEARCH = ToolUse(name="mcp_recollect_search", input={"query": "stripe webhooks"})


def test_two_sessions_of_a_fresh_project(bare: Shell) -> None:
    del bare.environ["RECOLLECT_NOW"]
    bare.said("init", "--host", "gemini", "--space", "shop", "--timezone", "UTC")
    learning = bare.learn()

    def script(request: Request) -> Reply:
        looking = "Look it up" in request.text
        return Reply(tools=[SEARCH]) if looking else Reply(text=f"{ANSWER}\n\nLEARNING_HELPFUL: {learning}")

    with ScriptedServer(script) as server:
        gemini(bare, server, "-p", PROMPT)
        gemini(bare, server, "-p", "What did we do about the order of Stripe webhooks? Look it up")
        first, second, found = (request.conversation for request in server.asked)
        tool_result = json.dumps(server.asked[-1].body["contents"][-1])

    assert first.count("## Memory of this project") == 1, "the brief is in the request the model gets"
    assert f"_ID: {learning}_" in first, "and so is the relevant learning"
    assert bare.json("learn", "show", learning)["confidence"] == 0.8, "a marker in each answer moved it"
    assert ANSWER in second, "the second session is given what the first one left"
    assert f"_ID: {learning}_" in second
    assert learning in tool_result, "a tool of ours returns its hits"
    assert found.startswith(second)
    log = "\n".join(path.read_text("utf-8") for path in (bare.data / "memory").glob("2*.md"))
    assert f"- request: {PROMPT}\n- outcome: {ANSWER}\n" in log, "the turn is logged, as it was asked and answered"
    assert log.count("passed over") == 2, "each answer once: its event has pieces of it twice"
    assert "Memory of this project" not in log, "nothing injected was captured"
    found = bare.json("doctor", "--host", "gemini")
    assert found["good"], found["tried"]
    assert [each["event"] for each in found["given"]] == ["SessionStart", "BeforeAgent", "AfterAgent", "SessionEnd"]
