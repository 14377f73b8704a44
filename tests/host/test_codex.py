"""The real Codex, offline: what the model is sent, and what a session leaves."""

from __future__ import annotations

import json

from agents import ResponsesServer, codex
from shell import Shell


def test_two_sessions_of_a_fresh_project(bare: Shell) -> None:
    del bare.environ["RECOLLECT_NOW"]
    bare.said("init", "--host", "codex", "--space", "shop", "--timezone", "UTC")
    learning = bare.learn()
    with ResponsesServer(f"Compared the created times.\n\nLEARNING_HELPFUL: {learning}") as server:
        codex(bare, server, "Fix the order of the Stripe refund webhooks")
        first = json.dumps(server.requests[0]["input"])
        codex(bare, server, "What did we do about refund webhooks?")
        second = json.dumps(server.requests[-1]["input"])
    assert "## Memory of this project" in first
    assert f"_ID: {learning}_" in first
    assert bare.json("learn", "show", learning)["confidence"] == 0.8
    log = "\n".join(path.read_text("utf-8") for path in (bare.folder / "memory").glob("2*.md"))
    assert "- request: Fix the order of the Stripe refund webhooks" in log
    assert "Compared the created times." in second
