"""The real Claude Code, offline: what a person learned in one project reaches the first prompt in another."""

from __future__ import annotations

from agents import claude
from samples import UV
from scripted import Reply, Request, ScriptedServer
from shell import Shell

OPTIONS = [part for name, value in UV.items() for part in (f"--{name}", value)]
WORD = "quokka"


def test_a_learning_made_for_me_in_one_project_reaches_the_first_prompt_of_another(bare: Shell) -> None:
    del bare.environ["RECOLLECT_NOW"]
    bare.said("init", "--host", "claude-code", "--space", "shop", "--timezone", "UTC")
    kept = bare.json("learn", "add", "--to", "me", *OPTIONS)["id"]
    with ScriptedServer(lambda _: Reply(text=f"The {WORD} importer is locked now.\nTOPIC: {WORD} importer")) as server:
        claude(bare, server, "-p", f"Lock the {WORD} importer")
    bare.learn(title=f"The {WORD} importer needs a lock", action=f"Lock the {WORD} importer before it starts")
    bare.said("decide", f"Use one {WORD} per shard", "--confidence", "0.8", "--category", "architecture")
    bare.said("log", "add", f"I am the one who feeds the {WORD}.", "--type", "user")
    bare.said("cycle")

    first, bare.folder = bare.folder, bare.home / "other"
    bare.folder.mkdir()
    bare.said("init", "--host", "claude-code", "--space", "other", "--timezone", "UTC")

    def model(request: Request) -> Reply:
        return Reply(text=f"Ran uv sync.\n\nLEARNING_HELPFUL: {kept}")

    with ScriptedServer(model) as server:
        claude(bare, server, "-p", "Install the Python packages with uv or pip and lock the importer")
        request = server.asked[0]
        sent = f"{request.system}\n{request.conversation}"
    assert f"_ID: {kept} | Ring: me_" in sent, "the person's learning is in the first request"
    assert "### From ring me" in sent
    assert WORD not in sent, "and nothing else of the first project"
    assert bare.json("learn", "show", kept, folder=first)["confidence"] == 0.75, "its verdict counts in its own ring"
