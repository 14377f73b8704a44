"""Rings on every surface: the command line, REST, MCP, the page, Python."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path

import pytest

from conftest import PERSON
from mcp_client import connected, direct_transport, http_transport
from recollect import Memory
from recollect.api.spaces import Spaces
from recollect.core.journal import NewEntry
from recollect.core.learning import SessionEvent, Write
from recollect.mcp.protocol import Conversation
from samples import UV, WEBHOOKS, learning
from serving import MCP, serving
from shell import Shell

OPTIONS = [part for name, value in UV.items() for part in (f"--{name}", value)]
ASKED = "install Python packages with uv"


@pytest.fixture
def other(shell: Shell) -> Path:
    """A second project of the same user."""
    folder = shell.home / "other"
    folder.mkdir()
    shell.said("init", "--space", "other", "--timezone", "UTC", folder=folder)
    return folder


def test_the_command_line_writes_to_a_ring_and_reads_all(shell: Shell, other: Path) -> None:
    assert " in ring me" in shell.said("learn", "add", "--to", "me", *OPTIONS)
    (hit,) = shell.json("search", ASKED, folder=other)["results"]
    assert (hit["ring"], hit["title"]) == ("me", UV["title"])
    assert "ring me" in shell.said("search", ASKED, folder=other)
    assert "From ring me" in shell.said("brief", folder=other)
    assert "ring        me: 1 learning" in shell.said("status", folder=other)
    id = hit["id"]
    assert UV["action"] in shell.said("get", id, folder=other)
    shell.said("learn", "edit", id, "--domain", "tooling", folder=other)
    assert shell.json("learn", "show", id, folder=other)["domain"] == "tooling"
    assert "learning.edited" in shell.said("why", id, folder=other)
    assert shell.json("learn", "list", folder=other)["total"] == 0


def test_the_learnings_of_a_ring_are_listed_by_its_name(shell: Shell, other: Path) -> None:
    shell.said("learn", "add", "--to", "me", *OPTIONS)
    shell.learn()
    (found,) = shell.json("learn", "list", "--ring", "me", folder=other)["learnings"]
    assert found["title"] == UV["title"]
    assert UV["title"] in shell.said("learn", "list", "--ring", "me")
    assert WEBHOOKS["title"] not in shell.said("learn", "list", "--ring", "me")
    assert b"no ring 'team'" in shell.run("learn", "list", "--ring", "team").stderr


def test_a_learning_moves_by_command(shell: Shell, other: Path) -> None:
    id = shell.learn()
    assert "moved to ring me" in shell.said("learn", "move", id, "--to", "me")
    assert shell.json("search", "stripe webhooks", folder=other)["results"][0]["ring"] == "me"
    refused = shell.run("learn", "move", id, "--to", "elsewhere")
    assert refused.returncode == 2
    assert b"no ring 'elsewhere'; the rings here are me" in refused.stderr


def test_an_agent_at_the_command_line_moves_nothing(shell: Shell) -> None:
    id = shell.learn()
    refused = shell.run("learn", "move", id, "--to", "me", CLAUDECODE="1")
    assert refused.returncode == 1
    assert b"only a person" in refused.stderr


def test_doctor_names_a_ring_that_is_left_out(shell: Shell) -> None:
    config = shell.home / ".config/recollect/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text('[rings]\nshared = ["gone"]\n', "utf-8")
    assert "ring gone: sessions here do without it: it has no place" in shell.run("doctor").stdout.decode()
    assert "ring        gone: left out: it has no place in your register" in shell.said("status")


def test_the_persons_ring_can_be_turned_off(shell: Shell, other: Path) -> None:
    shell.said("learn", "add", "--to", "me", *OPTIONS)
    config = shell.home / ".config/recollect/config.toml"
    config.parent.mkdir(parents=True)
    config.write_text("[rings]\nme = false\n", "utf-8")
    assert shell.json("search", ASKED, folder=other)["results"] == []
    assert shell.run("learn", "add", "--to", "me", *OPTIONS).returncode == 2


@pytest.fixture
def memory(environ: dict[str, str], tmp_path: Path) -> Iterator[Memory]:
    with Memory.open(tmp_path / "home", create=True, actor=PERSON, environ=environ) as memory:
        memory.learn(**UV, to="me")
        yield memory


def test_only_its_owners_token_reaches_the_rings_over_rest(memory: Memory) -> None:
    with serving(memory) as served:
        person, api = served.client("person"), served.client("api")
        (hit,) = person.get("/api/search", params={"query": ASKED}).json()["results"]
        assert hit["ring"] == "me"
        assert api.get("/api/search", params={"query": ASKED}).json()["results"] == []
        body = {**WEBHOOKS, "tags": ["stripe"]}
        assert api.post("/api/learnings", params={"to": "me"}, json=body).status_code == 403
        made = person.post("/api/learnings", params={"to": "me"}, json=body)
        assert made.status_code == 201
        own = person.post("/api/learnings", json={**body, "title": "Long migrations lock the orders table"}).json()
        id = own["learning"]["id"]
        assert api.post(f"/api/learnings/{id}/move", json={"to": "me"}).status_code == 403
        moved = person.post(f"/api/learnings/{id}/move", json={"to": "me"}).json()
        assert person.get(f"/api/learnings/{id}").json()["status"] == "archived"
        assert memory.ring("me").learnings.get(moved["learning"]["id"]).status == "active"


def test_an_agents_token_over_http_reads_one_space(memory: Memory) -> None:
    with serving(memory, neighbours=MCP) as served:
        with connected(http_transport(f"{served.url}/mcp", served.secrets["api"])) as client:
            assert client.call("search", query=ASKED)["hits"] == []
        with connected(http_transport(f"{served.url}/mcp", served.secrets["person"])) as client:
            assert [hit["ring"] for hit in client.call("search", query=ASKED)["hits"]] == ["me"]


def test_an_mcp_client_reads_rings_and_remembers_for_the_person(memory: Memory) -> None:
    talk = Conversation(lambda: True, lambda: memory)
    with connected(direct_transport(talk.said)) as client:
        assert "[ring me]" in client.text("search", query=ASKED)
        (hit,) = client.call("search", query=ASKED)["hits"]
        assert client.call("get", id=hit["id"])["record"]["action"] == UV["action"]
        kept = client.call("remember", **{**WEBHOOKS, "tags": ["stripe"]}, to="me")
        assert memory.ring("me").learnings.get(kept["id"]).trust == "agent"
        assert memory.learnings.page()[1] == 0
        shown = client.call("inject", task="T1", title="Stripe webhooks arrive out of order")
        assert kept["id"] in shown["ids"]
        client.call("rate", learning=kept["id"], verdict="helpful", task="T1")
        assert memory.ring("me").learnings.get(kept["id"]).times_helpful == 1


def test_the_page_moves_a_learning_to_the_persons_ring(memory: Memory) -> None:
    kept = memory.learn(learning()).learning
    with serving(memory) as served:
        page = served.browser()
        card = page.get(f"/learnings/{kept.id}").text
        assert "Move to me" in card
        key = card.partition('name="csrf_token" value="')[2].partition('"')[0]
        assert "to your own ring" in page.post(f"/learnings/{kept.id}/move", data={"csrf_token": key}).text
    assert memory.learnings.get(kept.id).status == "archived"
    assert memory.ring("me").search("stripe webhooks")[0].title == kept.title


def test_the_pages_search_reaches_into_the_rings_and_leads_there(memory: Memory, environ: dict[str, str]) -> None:
    ring = memory.ring("me")
    ring.journal.add(NewEntry(text="Prefer short functions in reviews", topic="Taste"))
    opener = partial(Memory.open, actor=PERSON, environ=environ)
    spaces = Spaces(memory, places=lambda: {ring.context.space: ring.project.root}, opener=opener)
    with serving(memory, spaces=spaces) as served:
        page = served.browser()
        for words, title in ((ASKED, UV["title"]), ("short functions", "Taste")):
            said = page.get("/search", params={"q": words}).text
            assert "ring me" in said
            (address,) = re.findall(rf'<h2><a href="(/s/{ring.context.space}/[^"]+)"', said)
            assert str(title) in unescape(page.get(address).text)
        assert "Nothing found" in page.get("/search", params={"q": ASKED, "where": "here"}).text


def test_the_page_lists_what_a_session_was_shown_of_a_ring(memory: Memory) -> None:
    (kept,) = memory.ring("me").learnings.page()[0]
    shown = SessionEvent(session="s-1", host="codex", event="UserPromptSubmit", task="s-1", learnings=(kept.id,))
    assert memory.sessions.deliver(Write(id="change_shown", what=shown))
    with serving(memory) as served:
        page = served.browser()
        said = page.get("/sessions").text
        assert "nothing beside its brief" not in said
        (address,) = re.findall(rf'Was shown <a href="([^"]+)">{kept.id}', said)
        assert kept.title in unescape(page.get(address).text)


def test_hits_of_a_ring_that_the_server_does_not_serve_have_no_link(memory: Memory) -> None:
    ring = memory.ring("me")
    with serving(memory) as served:
        said = served.browser().get("/search", params={"q": ASKED}).text
        assert "ring me" in said
        assert f"/s/{ring.context.space}/" not in said
