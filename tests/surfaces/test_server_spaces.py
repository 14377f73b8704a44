"""One server for all spaces of a user: a token reaches its own space alone, and one broken space harms no other."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PERSON, Opener
from mcp_client import connected, http_transport
from recollect import Memory
from recollect.api.spaces import BROKEN_SECONDS, IDLE_SECONDS, Spaces
from recollect.core.errors import NotFound, StoreUnreachable
from recollect.core.journal import NewEntry
from samples import FLAKY, WEBHOOKS, learning
from serving import MCP, serving


class Opening:
    """Opens spaces by their folder and counts how often; a folder named `gone` cannot be opened."""

    def __init__(self, environ: dict[str, str]):
        self.environ = environ
        self.opened: list[str] = []
        self.now = 0.0

    def __call__(self, folder: Path) -> Memory:
        self.opened.append(folder.name)
        if folder.name == "gone":
            raise StoreUnreachable("the store of gone cannot be reached; start it and try again")
        return Memory.open(folder, actor=PERSON, environ=self.environ)

    def seconds(self) -> float:
        return self.now


@pytest.fixture
def opening(environ: dict[str, str]) -> Opening:
    return Opening(environ)


@pytest.fixture
def other(open_memory: Opener, environ: dict[str, str], tmp_path: Path) -> Memory:
    """The memory of a second space, in the same store where that is a server's."""
    folder = tmp_path / "other"
    folder.mkdir()
    open_memory()  # the environment names the engine from here on
    return Memory.open(folder, create=True, actor=PERSON, environ=environ)


@pytest.fixture
def spaces(open_memory: Opener, other: Memory, opening: Opening, tmp_path: Path) -> Iterator[Spaces]:
    here, name = open_memory(), other.context.space
    here.learn(learning(WEBHOOKS))
    other.learn(learning(FLAKY))
    other.journal.add(NewEntry(text="Moved the nightly build to the other runner", topic="Nightly build"))
    other.journal.compact()
    made = Spaces(
        here,
        places=lambda: {name: tmp_path / "other", "gone": tmp_path / "gone"},
        opener=opening,
        seconds=opening.seconds,
    )
    yield made
    made.close()
    other.close()


@pytest.fixture
def secret(other: Memory) -> str:
    return other.tokens.new("worker")[1]


def test_a_token_chooses_its_space_on_every_surface(spaces: Spaces, other: Memory, secret: str) -> None:
    with serving(spaces.here, spaces=spaces, neighbours=MCP) as served:
        served.secrets["other"] = secret
        for token, title, space in (
            ("api", WEBHOOKS["title"], spaces.here.context.space),
            ("other", FLAKY["title"], other.context.space),
        ):
            api = served.client(token)
            listed = api.get("/api/learnings", headers={"x-space": "gone"}).json()["learnings"]
            assert [each["title"] for each in listed] == [title]
            assert api.get("/api/status").json()["space"] == space
            made = {"decision": f"Use a queue in {space}", "confidence": 0.8, "category": "architecture"}
            call = {"jsonrpc": "2.0", "id": 1, "method": "cstp.recordDecision", "params": made}
            id = api.post("/cstp", json=call).json()["result"]["id"]
            with connected(http_transport(f"{served.url}/mcp", served.secrets[token])) as client:
                assert client.call("status")["lines"][0].startswith(f"memory of {space} (")
                found = client.call("search", query=str(title))["hits"]
                assert [hit["title"].replace("**", "") for hit in found][:1] == [title]
                assert f"Use a queue in {space}" in str(client.ask("get_prompt", "review"))
                if space == other.context.space:
                    assert "Nightly build" in str(client.ask("read_resource", "recollect://root"))
            stranger = served.client("other" if token == "api" else "api")
            assert stranger.get(f"/api/decisions/{id}").status_code == 404


def test_a_token_of_one_space_opens_no_other(spaces: Spaces, other: Memory, secret: str) -> None:
    with serving(spaces.here, spaces=spaces) as served:
        served.secrets["other"] = secret
        ours = spaces.here.learnings.page()[0][0].id
        assert served.client("other").get(f"/api/learnings/{ours}").status_code == 404
        other.tokens.revoke("worker")
        assert served.client("other").get("/api/learnings").status_code in (401, 503)
        assert served.client("api").get("/api/learnings").status_code == 200


def test_a_space_that_cannot_be_opened_harms_no_other(spaces: Spaces, opening: Opening, secret: str) -> None:
    with serving(spaces.here, spaces=spaces) as served:
        served.secrets["other"] = secret
        assert served.client("api").get("/api/learnings").status_code == 200
        assert opening.opened == [], "a token of the first space opens no other"
        assert served.client("other").get("/api/learnings").status_code == 200
        unknown = served.client(None, headers={"authorization": "Bearer rct_nobody"})
        for _ in range(3):
            answer = unknown.get("/api/learnings")
            assert answer.status_code == 503, "its token might be of the space that cannot be read"
            assert "gone" not in answer.text
        assert opening.opened.count("gone") == 1, "what failed just now is not tried again by every request"
        opening.now += BROKEN_SECONDS + 1
        unknown.get("/api/learnings")
        assert opening.opened.count("gone") == 2
        assert served.client("api").get("/health").status_code == 200


def test_the_first_page_lists_every_space_with_what_it_holds_or_why_not(spaces: Spaces, other: Memory) -> None:
    with serving(spaces.here, spaces=spaces) as served:
        listed = served.browser().get(f"{served.url}/").text
        assert listed.count("1 learning") == 2
        assert f'href="/s/{other.context.space}/"' in listed
        assert 'role="note"' in listed, "the space that cannot be opened says why"


def test_a_space_is_opened_when_asked_for_and_closed_when_idle(spaces: Spaces, opening: Opening, other: Memory) -> None:
    name = other.context.space
    assert opening.opened == []
    with spaces.using(name) as first, spaces.using(name) as second:
        assert first is second
        opening.now += IDLE_SECONDS + 1
        spaces.close_idle()
        assert second.learnings.page()[1] == 1, "not while a request works on it"
    opening.now += IDLE_SECONDS + 1
    spaces.close_idle()
    with spaces.using(name) as again:
        assert again is not first
        assert again.learnings.page()[1] == 1
    assert opening.opened == ["other", "other"]
    opening.now += IDLE_SECONDS + 1
    spaces.close_idle()
    assert spaces.here.learnings.page()[1] == 1, "the space it was started in stays open"


def test_a_space_that_nobody_has_is_not_found(spaces: Spaces) -> None:
    for name in ("nothing", "", "../other", "other\n"):
        with pytest.raises(NotFound):
            spaces.take(name)


def test_a_register_that_cannot_be_read_leaves_the_space_where_the_server_was_started(memory: Memory) -> None:
    def damaged() -> dict[str, Path]:
        raise StoreUnreachable("register.json is damaged")

    spaces = Spaces(memory, places=damaged)
    assert spaces.names() == [memory.context.space]
    with spaces.using(memory.context.space) as found:
        assert found is memory
