"""`recollect search` and `get` at a command line: what is printed of what was found."""

from __future__ import annotations

from typing import Any

import pytest

from conftest import PERSON
from mcp_client import connected, direct_transport
from recollect import Memory, ScriptedClock
from recollect.mcp.protocol import Conversation
from samples import FLAKY
from serving import serving
from shell import NOW, Shell

ASKED: dict[str, tuple[str, dict[str, Any], list[str]]] = {
    "the beginning of a word": ("migr", {}, ["folder", "order"]),
    "one character of Japanese": ("夜", {}, ["night"]),
    "from a day on": ("migrations", {"since": "2026-03-02"}, ["order"]),
    "up to a day": ("migrations", {"until": "2026-03-01"}, ["folder"]),
    "a kind": ("migrations", {"kind": ("log",)}, ["folder"]),
    "a tag": ("migrations", {"tag": "release"}, ["order"]),
    "a topic": ("migrations", {"topic": "Folders"}, ["folder"]),
    "a trust": ("migrations", {"trust": ("agent",)}, ["folder"]),
    "a time in words": ("migrations", {"since": "2w"}, ["folder", "order"]),
    "only a day": ("what happened on 2026-02-27?", {}, []),
    "the next page": ("migrations", {"limit": 1, "offset": 1}, []),
}


@pytest.fixture
def ids(shell: Shell) -> dict[str, str]:
    """What `ASKED` is asked of: two days, a learning of a person, entries of an agent."""
    said = {"folder": "We renamed the migrations folder.", "night": "データベースの移行は夜に行う。"}
    topics = {"folder": "Folders", "night": "移行"}
    made = {
        name: shell.json(
            "log", "add", text, "--topic", topics[name], RECOLLECT_NOW="2026-02-27T09:00:00Z", CLAUDECODE="1"
        )
        for name, text in said.items()
    }
    fields = {**FLAKY, "title": "Run migrations before the deploy", "tags": ["release"]}
    return {**{name: one["id"] for name, one in made.items()}, "order": shell.learn(**fields)}


@pytest.mark.parametrize("name", ASKED)
def test_every_way_in_finds_the_same(shell: Shell, ids: dict[str, str], name: str) -> None:
    query, given, wanted = ASKED[name]
    listed = [(f"--{one}", *(value if isinstance(value, tuple) else (str(value),))) for one, value in given.items()]
    by_command = shell.json("search", query, *[part for option in listed for part in option])["results"]
    plural = {"kind": "kinds", "trust": "trusts"}
    with Memory.open(shell.folder, actor=PERSON, environ=shell.environ, clock=ScriptedClock(NOW)) as memory:
        found = memory.search(query, **{plural.get(one, one): value for one, value in given.items()})
        with serving(memory) as served:
            asked = {one: ",".join(value) if isinstance(value, tuple) else value for one, value in given.items()}
            answer = served.client().get("/api/search", params={"query": query, **asked})
        with connected(direct_transport(Conversation(lambda: True, lambda: memory).said)) as client:
            listed_by_agent = client.call("search", query=query, **given)["hits"]
    hits = [hit.id for hit in found]
    assert [hit["id"] for hit in by_command] == hits
    assert [hit["id"] for hit in answer.json()["results"]] == hits
    assert [hit["id"] for hit in listed_by_agent] == hits
    if name == "the next page":
        assert len(hits) == 1
        assert hits != [shell.json("search", query, "--limit", "1")["results"][0]["id"]]
    else:
        assert {hit.id for hit in found if hit.matched_fields} == {ids[one] for one in wanted}
        assert name != "only a day" or hits == [ids["night"], ids["folder"]]


def test_of_several_ids_those_that_are_there_are_shown_before_the_error(shell: Shell) -> None:
    id = shell.learn()
    done = shell.run("get", id, "bogus", "learn_nope")
    assert done.returncode == 1
    assert done.stdout.decode().startswith("# Stripe webhooks arrive out of order")
    assert b"no 'bogus'" in done.stderr
    assert b"learn_nope" in done.stderr


def test_a_learning_that_is_out_of_use_says_so(shell: Shell) -> None:
    id = shell.learn()
    assert "archived" not in shell.said("search", id)
    shell.said("learn", "archive", id)
    assert "confidence 0.70 · archived" in shell.said("search", id)
    assert shell.said("get", id).endswith("Out of use: archived\n")


def test_a_superseded_learning_names_what_replaces_it(shell: Shell) -> None:
    old, new = shell.learn(), shell.learn(**FLAKY)
    shell.said("learn", "supersede", old, new)
    for command in (("search", old), ("learn", "show", old), ("get", old)):
        assert f"superseded by {new}" in shell.said(*command)


def test_a_decision_that_no_longer_holds_says_so_wherever_it_is_found(shell: Shell) -> None:
    old, new = (
        shell.json("decide", text, "--confidence", "0.8", "--category", "storage")["id"]
        for text in ("Keep sessions in Redis because they expire", "Keep sessions in PostgreSQL because they must last")
    )
    ways = (
        ("search", old),
        ("get", old),
        ("get", "--around", "3", old),
        ("decision", "show", old),
        ("decision", "list"),
    )
    assert not [way for way in ways if "reversed" in shell.said(*way)]
    shell.said("decision", "reverse", old, "--reason", "Redis lost them")
    assert [way for way in ways if "reversed" in shell.said(*way)] == list(ways)
    assert shell.said("undo").startswith(
        f"undid decision.reversed of 2026-03-02T09:00Z: {old} is active: Keep sessions"
    )
    shell.said("decision", "reverse", old, "--reason", "Redis lost them", "--by", new)
    assert [way for way in ways if f"superseded by {new}" in shell.said(*way)] == list(ways)
    assert [hit["out_of_use"] for hit in shell.json("search", "sessions")["results"] if hit["id"] == new] == [""]


def test_staged_entries_are_narrowed_like_everything_else(shell: Shell) -> None:
    shell.said("staged", "add", "Always pin the base image by digest", "--body", "Tags move between builds.")
    assert "pin the base image" in shell.said("search", "base image", "--kind", "staged", "--since", "2026-03-02")
    assert shell.json("search", "base image", "--kind", "staged", "--until", "2026-03-01")["results"] == []


def test_whole_instructions_call_outcome_and_task_by_what_they_are_known_as(shell: Shell) -> None:
    id = shell.learn()
    shell.said("task", "outcome", "add", "O-1", "--name", "Refunds in every currency")
    shell.said("task", "add", "T-1", "--outcome", "O-1", "--title", "Convert at the day's rate")
    told = shell.said("inject", "--full", "--task", "T-1", "--outcome", "O-1", "--learning", id)
    assert "**Outcome**: Refunds in every currency\n" in told
    assert "## Your Task: Convert at the day's rate\n" in told
    new = shell.said("inject", "--full", "--task", "T-2", "--outcome", "O-2", "--title", "Something else")
    assert "**Outcome**: O-2\n" in new


@pytest.mark.parametrize("kind", ["link", "file"])
def test_a_docs_folder_that_is_a_link_or_a_file_is_passed_over_and_the_doctor_says_so(shell: Shell, kind: str) -> None:
    id = shell.learn()
    if kind == "link":
        (shell.folder / "elsewhere").mkdir()
        (shell.folder / "docs").symlink_to("elsewhere")
    else:
        (shell.folder / "docs").write_text("all of it")
    assert id in shell.said("search", "stripe webhooks")
    for command in (("store", "verify"), ("store", "rebuild"), ("staged", "index")):
        shell.said(*command)
    assert "not done" not in shell.said("cycle")
    told = shell.run("doctor").stdout.decode()
    assert f"{shell.folder}/docs: it is a link or a file, so the documents below it are neither searched" in told
