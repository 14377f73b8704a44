"""Promise P29: no website or stranger reaches the memory. Every row of the matrix goes over every route there is."""

from __future__ import annotations

import json
import re
import socket
import time
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, timedelta
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus

import httpx
import pytest
from fastapi import FastAPI, Request
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from conftest import AGENT, Opener
from declared import calls_of, routes_of, undeclared
from recollect import Memory, NewDecision, Review, ScriptedClock
from recollect.api import auth
from recollect.api.app import PAGE_HOST, make_app
from recollect.api.auth import BrowserSessions, changing, leaving, looking, visiting
from recollect.api.guard import HEADERS, JSON_PATHS
from recollect.api.spaces import Spaces
from recollect.core.errors import BadInput, NotFound, Refused
from recollect.models.configured import KINDS
from recollect.models.scripted import ScriptedModels, ScriptedProvider
from recollect.store import bulk, events
from repos import Repo
from samples import WEBHOOKS, learning
from serving import Served, serving

VALUES = {"id": "learn_1", "number": "1", "day": "2026-03-02"}  # any other part of an address is x
JSON = {"content-type": "application/json"}


@pytest.fixture
def settings() -> dict[str, str]:
    return {"FAILURES_PER_MINUTE": "100000", "MAX_BODY": "10000", "BODY_SECONDS": "1"}


@pytest.fixture
def memory(open_memory: Opener, environ: dict[str, str], settings: dict[str, str]) -> Memory:
    environ.update({f"RECOLLECT_SERVE_{name}": value for name, value in settings.items()})
    return open_memory()


@pytest.fixture
def served(memory: Memory) -> Iterator[Served]:
    with serving(memory) as running:
        yield running


Call = tuple[str, str]
before_the_store = pytest.mark.parametrize("engine", ["sqlite"])
"""For what the gate decides: no engine is asked."""


def calls(app: FastAPI, *declared: Any) -> list[Call]:
    """Every method and address whose route declares one of these."""
    found = []
    values = {**VALUES, "space": app.state.spaces.here.context.space}
    for path, methods, dependant in routes_of(app):
        assert dependant is not None
        if path.endswith("/feed/live"):
            continue  # a stream, which does not end
        if not declared or set(declared) & set(calls_of(dependant)):
            address = re.sub(r"\{(\w+)(:\w+)?\}", lambda part: values.get(part[1], "x"), path)
            found += [(method, address) for method in sorted(methods)]
    return found


def unlike(client: httpx.Client, wanted: list[Call], status: int, **request: Any) -> dict[Call, int]:
    """What answered otherwise than with this status."""
    seen = {}
    for method, path in wanted:
        answer = client.request(method, path, **request)
        if answer.status_code != status:
            seen[method, path] = answer.status_code
        missing = [name for name in HEADERS if name not in answer.headers]
        assert not missing, f"{method} {path} answered without {missing}"
        assert not [name for name in answer.headers if name.startswith("access-control")]
    return seen


def state(memory: Memory) -> dict[str, object]:
    with memory.context.db.read(memory.context.space) as tx:
        return {table.name: bulk.sums(tx, table) for table in bulk.DUMPED}


def test_the_live_feed_says_that_something_happened_and_only_to_a_person(served: Served, memory: Memory) -> None:
    assert served.stranger().get(f"/s/{served.space}/feed/live").headers["location"].startswith("/sign-in")
    with served.browser().stream("GET", f"/s/{served.space}/feed/live") as stream:
        lines = stream.iter_lines()
        assert next(lines) == "retry: 5000"
        memory.learn(learning(WEBHOOKS))
        assert next(line for line in lines if line.startswith("data: "))


def writing(wanted: list[Call]) -> list[Call]:
    return [call for call in wanted if call[0] in ("POST", "PUT", "PATCH")]


# Declarations


def test_every_route_declares_who_may_use_it(memory: Memory) -> None:
    assert undeclared(make_app(Spaces(memory))) == []


def test_a_route_without_a_declaration_is_found() -> None:
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.get("/open")(lambda: None)
    app.mount("/files", lambda scope, receive, send: None)  # type: ignore[arg-type, return-value]
    assert undeclared(app) == ["GET /open", " /files"]


def test_only_these_are_open_to_everybody(memory: Memory) -> None:
    open_to_all = calls(make_app(Spaces(memory)), auth.public)
    assert open_to_all == [("GET", "/health"), ("GET", "/sign-in"), ("POST", "/sign-in"), ("GET", "/static/x/x")]


def test_reading_changes_nothing_and_only_reading_is_by_get(served: Served, memory: Memory) -> None:
    served.client("api").post("/api/logs", json={"text": "Something.", "topic": "x"}).raise_for_status()
    before = state(memory)
    api, browser = served.client("api"), served.browser()
    for method, path in calls(served.app, auth.reads, auth.public, visiting, looking):
        if method == "GET":
            answer = (api if path.startswith("/api") else browser).get(path)
            assert answer.status_code in (200, 400, 404, 409), f"{path}: {answer.text}"
    assert state(memory) == before
    changes = calls(served.app, auth.writes, auth.maintains, changing, leaving)
    assert {method for method, _ in changes} <= {"POST", "PATCH", "DELETE"}


def test_looking_asks_no_model(open_memory: Opener, tmp_path: Path, clock: ScriptedClock) -> None:
    nobody = ScriptedProvider([])  # has no answer to anything
    memory = open_memory(models=ScriptedModels(dict.fromkeys(KINDS, nobody)))
    repo = Repo(tmp_path / "project")
    day = date(2026, 1, 5)
    repo.commit(day, {"docs/builds.md": "# Builds\n\n## Caching\n\nKeep build caches small.\n"})
    for number, topic in enumerate(("lock files", "compiler flags", "base images", "test shards", "logs", "ports")):
        memory.staging.stage(f"When a build cache depends on {topic}, put {topic} into its key", "Stale packages came.")
        repo.commit(day + timedelta(days=number + 1))
    for number in range(40):
        repo.commit(day + timedelta(days=10 + number))
    decided = NewDecision(
        decision="Key caches by content", confidence=0.8, category="builds", pattern="name by content"
    )
    for _ in range(3):
        made = memory.decisions.record(decided, anyway=True).decision.id
        memory.decisions.review(made, Review(outcome="success"))
    clock.advance(days=100)
    with serving(memory) as served:
        api, browser = served.client("reader"), served.browser()
        for method, path in calls(served.app, auth.reads, visiting):
            if method == "GET":
                answer = (api if path.startswith("/api") else browser).get(path)
                assert answer.status_code in (200, 400, 404), path
        assert "Due" in browser.get("/staging").text
    assert nobody.prompts == []
    assert memory.models.pending() == []


# The matrix


def test_without_a_valid_token_nothing_is_answered(served: Served, memory: Memory) -> None:
    before = state(memory)
    wanted = calls(served.app, auth.reads, auth.writes)
    nobody = served.client(None, headers=JSON)
    assert len(wanted) > 50
    assert unlike(nobody, wanted, 401) == {}
    for given in ("Bearer wrong", "Bearer", f"Basic {served.secrets['api']}", served.secrets["api"]):
        assert unlike(nobody, wanted[:5], 401, headers={"authorization": given}) == {}
    memory.tokens.revoke("api")
    assert (
        unlike(
            served.client(
                "api",
            ),
            wanted,
            401,
            headers=JSON,
        )
        == {}
    )
    assert {**state(memory), "tokens": 0, "events": 0} == {**before, "tokens": 0, "events": 0}


@pytest.mark.parametrize("place", ["texts", "around", "why", "tree"])
def test_an_id_with_a_line_break_is_asked_for_like_any_other(served: Served, place: str) -> None:
    assert served.client(None).get(f"/api/{place}/a%0Ab").status_code == 401
    known = served.client("api").get(f"/api/{place}/a%0Ab")
    assert known.status_code in (400, 404)
    assert "no such address" not in known.text


def test_a_read_only_token_changes_nothing(served: Served, memory: Memory) -> None:
    served.client("reader").get("/api/status").raise_for_status()  # notes when the token was last used
    before = state(memory)
    assert unlike(served.client("reader"), calls(served.app, auth.writes, auth.maintains), 403, headers=JSON) == {}
    assert state(memory) == before


@before_the_store
@pytest.mark.parametrize("host", ["evil.example", "evil.example:7447", "127.0.0.1.evil.example", "localhost.", ""])
def test_a_host_we_do_not_go_by_is_refused(served: Served, host: str) -> None:
    assert unlike(served.client("api"), calls(served.app), 421, headers={"host": host}) == {}


@before_the_store
@pytest.mark.parametrize("origin", ["null", "http://evil.example", "http://localhost:1", "http://127.0.0.1"])
def test_another_origin_is_refused(served: Served, origin: str) -> None:
    assert unlike(served.client("api"), calls(served.app), 403, headers={"origin": origin}) == {}


@before_the_store
def test_our_own_origin_is_let_in(served: Served) -> None:
    assert served.client("api").get("/api/status", headers={"origin": served.url}).status_code == 200


@before_the_store
@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_the_api_takes_json_alone(served: Served, kind: str) -> None:
    wanted = [call for call in writing(calls(served.app)) if call[1].startswith(JSON_PATHS)]
    body = b'{"title": "x"}'
    assert unlike(served.client("api"), wanted, 415, headers={"content-type": kind}, content=body) == {}


@before_the_store
def test_a_body_too_large_is_refused(served: Served) -> None:
    body = b'{"title": "' + b"x" * 20_000 + b'"}'
    assert unlike(served.client("api"), writing(calls(served.app)), 413, headers=JSON, content=body) == {}


@before_the_store
@pytest.mark.parametrize(
    ("name", "value"),
    [("token", "x"), ("access_token", "x"), ("API_KEY", "x"), ("authorization", "Bearer x"), ("q", None)],
)
def test_a_token_in_the_address_is_refused(served: Served, name: str, value: str | None) -> None:
    params = {name: value or served.secrets["api"]}
    assert unlike(served.client(None, headers=JSON), calls(served.app), 400, params=params) == {}


def chunked(served: Served, path: str, chunk: bytes, pause: float) -> bytes:
    """The answer to a body of chunks that never ends."""
    host, port = served.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=20) as line:
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {host}\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n"
        )
        line.sendall(f"{head}Authorization: Bearer {served.secrets['api']}\r\n\r\n".encode())
        try:
            while True:
                line.sendall(b"%x\r\n%s\r\n" % (len(chunk), chunk))
                line.settimeout(0.01)
                try:
                    return line.recv(1000)
                except TimeoutError:
                    line.settimeout(20)
                time.sleep(pause)
        except (BrokenPipeError, ConnectionResetError):
            return line.recv(1000)


@before_the_store
def test_a_body_without_an_end_is_cut_off_by_size_and_by_time(served: Served) -> None:
    for path in ("/api/learnings", "/cstp", "/sign-in"):
        assert chunked(served, path, b"x" * 4000, 0).startswith(b"HTTP/1.1 413")
    assert chunked(served, "/api/learnings", b"x", 0.2).startswith(b"HTTP/1.1 408")


@before_the_store
def test_half_a_head_holds_no_connection_however_it_trickles(served: Served) -> None:
    host, port = served.url.removeprefix("http://").split(":")
    for first in (b"", b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n"):
        with socket.create_connection((host, int(port)), timeout=0.2) as line:
            line.sendall(first)
            assert not first or line.recv(1000).startswith(b"HTTP/1.1 200")
            line.sendall(b"GET /health HTTP/1.1\r\nX-Slow: ")
            begun = time.monotonic()
            while not closed(line):
                assert time.monotonic() - begun < 10, "it waits for the rest"
                with suppress(BrokenPipeError, ConnectionResetError):
                    line.sendall(b"x")


def closed(line: socket.socket) -> bool:
    try:
        return line.recv(1000) == b""
    except TimeoutError:
        return False
    except ConnectionResetError:
        return True


# What answers beside the routes


async def neighbour(scope: Scope, receive: Receive, send: Send) -> None:
    """Says who asks, and tries to write on their behalf."""
    request = Request(scope)
    who = auth.caller(request, writing=False).context.actor.name
    try:
        auth.caller(request, writing=True)
    except Refused as no:
        who = str(no)
    await PlainTextResponse(who)(scope, receive, send)


def test_a_neighbour_answers_whoever_holds_a_token(memory: Memory) -> None:
    with serving(memory, neighbours={"/mcp": neighbour}) as running:
        assert undeclared(running.app) == []
        wanted = [("GET", "/mcp"), ("POST", "/mcp"), ("DELETE", "/mcp")]
        assert unlike(running.client(None, headers=JSON), wanted, 401) == {}
        assert running.client("api").post("/mcp", content=b"x").status_code == 415
        assert running.client("api").post("/mcp", json={}, headers={"host": "evil.example"}).status_code == 421
        assert running.client("api").post("/mcp", json={}).text == "api"
        assert "may only read" in running.client("reader").post("/mcp", json={}).text


# The page


def test_the_page_is_for_whoever_typed_the_code(served: Served) -> None:
    stranger = served.stranger()
    for method, path in calls(served.app, visiting, changing, looking, leaving):
        sent_to = stranger.request(method, path).headers["location"]
        assert sent_to == ("/sign-in" if method == "POST" or path == "/" else f"/sign-in?next={quote_plus(path)}")
        assert stranger.request(method, path, headers={"hx-request": "true"}).headers["hx-redirect"] == "/sign-in"
    assert stranger.post("/sign-in", data={"code": "wrong"}).status_code == 403
    assert served.browser().get("/").text.count("<h1>Home</h1>") == 1
    assert len(served.codes) == 2


def test_under_a_name_that_every_port_shares_there_is_no_page_and_no_cookie(served: Served) -> None:
    cookies = dict(served.browser().cookies)
    pages = calls(served.app, visiting, changing, looking, leaving)
    for host in ("127.0.0.1", "localhost", "[::1]"):
        program = served.client(None, headers={"host": host}, cookies=cookies)
        assert unlike(program, [*pages, ("GET", "/sign-in")], 421) == {}
        assert program.get("/learnings", headers={"accept": "text/html"}).status_code == 421, "as it was before"
        assert program.get("/api/nowhere").status_code == 404
        refused = program.post("/sign-in", data={"code": served.codes[-1]})
        assert (refused.status_code, "set-cookie" in refused.headers) == (421, False)
        said = program.get("/").text
        assert "Open the one that `recollect serve` printed in its terminal." in said
        assert PAGE_HOST not in said, "whoever knows the name can have the cookie sent to another port"
    assert served.client("api").get("/api/status").status_code == 200


@before_the_store
def test_after_signing_in_one_is_where_one_wanted_to_be(served: Served) -> None:
    stranger = served.stranger()
    wanted = f"/s/{served.space}/learnings?status=all&q=a%20b"
    form = stranger.get(stranger.get(wanted).headers["location"])
    kept = re.search(r'name="next" value="([^"]*)"', form.text)
    assert kept is not None
    answer = stranger.post("/sign-in", data={"code": served.codes[-1], "next": unescape(kept[1])})
    assert answer.headers["location"] == wanted
    partly = {"hx-request": "true", "hx-current-url": f"http://{PAGE_HOST}{wanted}"}
    signed_out = served.stranger().get(f"/s/{served.space}/search", headers=partly)
    assert signed_out.headers["hx-redirect"] == f"/sign-in?next={quote_plus(wanted)}"


@before_the_store
@pytest.mark.parametrize(
    "next", ["//evil.example", "https://evil.example", "/\\evil.example", "evil.example", "/\t/evil.example",
             "javascript:alert(1)", "/a\r\nSet-Cookie: x=1", "http:/evil.example", "/\u2028"],
)  # fmt: skip
def test_signing_in_leads_nowhere_else(served: Served, next: str) -> None:
    answer = served.stranger().post("/sign-in", data={"code": served.codes[-1], "next": next})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")


@before_the_store
def test_a_code_serves_once_and_the_next_is_announced(served: Served) -> None:
    served.browser()
    assert served.stranger().post("/sign-in", data={"code": served.codes[0]}).status_code == 403
    served.browser()


def test_every_letter_of_a_code_is_chance() -> None:
    codes: list[str] = []
    sessions = BrowserSessions(hours=1, announce=codes.append)
    for _ in range(200):
        sessions.begin()
    for part in (slice(5), slice(6, None)):
        assert len({code[part] for code in codes}) > 195, part


@before_the_store
def test_a_code_that_was_guessed_at_is_replaced(served: Served) -> None:
    stranger = served.stranger()
    for _ in range(10):
        stranger.post("/sign-in", data={"code": "aaaaa-aaaaa"})
    assert len(served.codes) == 2
    assert stranger.post("/sign-in", data={"code": served.codes[0]}).status_code == 403


@before_the_store
def test_the_cookie_is_for_our_pages_alone(served: Served) -> None:
    answer = served.stranger().post("/sign-in", data={"code": served.codes[-1]})
    cookie = answer.headers["set-cookie"]
    assert {"HttpOnly", "Path=/", "SameSite=strict"} == set(cookie.split("; ")[1:]), "no Domain: for this name alone"


def test_a_cookie_does_not_open_the_api_nor_a_token_the_page(served: Served) -> None:
    assert served.browser().get("/api/status").status_code == 401
    assert served.client("person", headers={"host": PAGE_HOST}).get("/").status_code == 303


def test_a_form_without_its_token_changes_nothing(served: Served) -> None:
    browser = served.browser()
    for method, path in calls(served.app, changing, leaving):
        for data in ({}, {"csrf_token": "wrong"}):
            assert browser.request(method, path, data=data).status_code == 403
        assert browser.request(method, path, headers={"x-csrf-token": "wrong"}).status_code == 403
    page = browser.get("/").text
    given = re.search(r'name="csrf_token" value="([^"]+)"', page)
    assert given is not None
    assert "<h1>Sign in</h1>" in browser.post("/sign-out", data={"csrf_token": given[1]}).text
    assert browser.get("/").url.path == "/sign-in"


@before_the_store
def test_who_cannot_announce_a_code_lets_nobody_in(memory: Memory) -> None:
    sessions = make_app(Spaces(memory), announce=None).state.sessions
    sessions.begin()
    assert sessions.sign_in("") is None
    assert sessions.sign_in("-") is None


# Limits


@pytest.mark.parametrize("settings", [{"FAILURES_PER_MINUTE": "5"}])
def test_whoever_tries_tokens_has_to_wait(served: Served) -> None:
    stranger = served.client(None)
    seen = [stranger.get("/api/status").status_code for _ in range(7)]
    assert seen == [401] * 5 + [429] * 2
    assert int(stranger.get("/api/status").headers["retry-after"]) >= 1
    assert served.client("api").get("/api/status").status_code == 200, "others at this address are not locked out"


@before_the_store
@pytest.mark.parametrize("settings", [{"FAILURES_PER_MINUTE": "5"}])
def test_whoever_tries_codes_has_to_wait(served: Served) -> None:
    stranger = served.stranger()
    assert [stranger.post("/sign-in", data={"code": "x"}).status_code for _ in range(6)] == [403] * 5 + [429]
    assert stranger.post("/sign-in", data={"code": served.codes[-1]}).status_code == 429
    assert served.client("api").get("/api/status").status_code == 200


@pytest.mark.parametrize("settings", [{"REQUESTS_PER_MINUTE": "5"}])
def test_a_token_has_its_share(served: Served) -> None:
    assert [served.client("api").get("/api/status").status_code for _ in range(6)] == [200] * 5 + [429]
    assert served.client("person").get("/api/status").status_code == 200


# Tokens


def test_only_a_person_makes_and_revokes_tokens(memory: Memory, open_memory: Opener) -> None:
    agent = open_memory(AGENT)
    with pytest.raises(Refused, match="only a person"):
        agent.tokens.new("mine", channel="person")
    memory.tokens.new("worker")
    with pytest.raises(Refused, match="only a person"):
        agent.tokens.revoke("worker")


@pytest.mark.parametrize(
    "wrong", [{"name": " "}, {"name": "n" * 61}, {"name": "two\nlines"}, {"name": "worker", "channel": "root"}], ids=str
)
def test_a_token_needs_a_name_and_a_channel_that_we_know(memory: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        memory.tokens.new(**wrong)
    assert memory.tokens.list() == []


@pytest.mark.parametrize(("channel", "trust"), [("api", "agent"), ("person", "human"), ("import", "external")])
def test_whose_token_it_is_decides_how_far_its_words_are_trusted(memory: Memory, channel: Any, trust: str) -> None:
    _, secret = memory.tokens.new("worker", channel=channel)
    holder = memory.tokens.holder(secret)
    assert holder is not None
    assert (holder.actor.channel, holder.actor.trust) == (channel, trust)


def test_a_name_is_of_one_token_until_that_is_revoked(memory: Memory, clock: ScriptedClock) -> None:
    first, _ = memory.tokens.new(" worker ")
    with pytest.raises(Refused, match="worker already"):
        memory.tokens.new("worker")
    memory.tokens.revoke("worker")
    clock.advance(seconds=1)
    second, secret = memory.tokens.new("worker")
    assert memory.tokens.revoke(first.id).revoked_at == clock.now() - 1_000, "once is enough"
    assert memory.tokens.holder(secret) == second
    memory.tokens.revoke("worker")
    assert memory.tokens.holder(secret) is None
    with pytest.raises(NotFound):
        memory.tokens.revoke("worker")
    with memory.context.db.read(memory.context.space) as tx:
        told = [(event.subject, event.what) for event in events.all_of(tx)]
    assert told == [(token.id, f"token.{what}") for token in (first, second) for what in ("made", "revoked")]


SCOPES = {
    ("api", ()): {"reads", "writes"},
    ("person", ()): {"reads", "writes", "maintains"},
    ("import", ()): {"reads", "writes"},
    ("api", ("read",)): {"reads"},
    ("api", ("write",)): {"writes"},
    ("api", ("admin",)): {"maintains"},
    ("api", ("read", "write", "admin")): {"reads", "writes", "maintains"},
    ("import", ("import",)): {"writes"},
}


@before_the_store
@pytest.mark.parametrize(("given", "opens"), SCOPES.items(), ids=lambda one: str(one) if isinstance(one, tuple) else "")
def test_a_scope_opens_its_routes_alone(
    served: Served, memory: Memory, given: tuple[Any, Any], opens: set[str]
) -> None:
    """Every route of the API, over HTTP, JSON-RPC and MCP."""
    channel, scopes = given
    _, secret = memory.tokens.new("scoped", channel=channel, scopes=scopes)
    client = httpx.Client(base_url=served.url, headers={"authorization": f"Bearer {secret}"})
    for name in ("reads", "writes", "maintains"):
        wanted = [call for call in calls(served.app, getattr(auth, name)) if call[1].startswith("/api")]
        wanted = [call for call in wanted if call != ("GET", "/api/openapi.json")]
        refused = [call for call in wanted if "may only" in client.request(*call, headers=JSON).text]
        assert refused == ([] if name in opens else wanted)
    for method, params, needs in (
        ("getWisdom", {}, "reads"),
        ("setPreserve", {"id": "dec_1"}, "writes"),
        ("compact", {}, "maintains"),
    ):
        said = client.post("/cstp", json={"jsonrpc": "2.0", "id": 1, "method": f"cstp.{method}", "params": params}).text
        assert ("may only" in said) is not opens.issuperset({needs, "reads"})
    client.close()


@pytest.mark.parametrize(
    "wrong",
    [
        {"channel": "import", "scopes": ("write",)},
        {"channel": "import", "scopes": ("admin",)},
        {"channel": "api", "scopes": ("import",)},
        {"scopes": ("root",)},
        {"expires": "soon"},
    ],
    ids=str,
)
def test_a_scope_or_time_that_a_token_cannot_have_is_refused(memory: Memory, wrong: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        memory.tokens.new("worker", **wrong)
    assert memory.tokens.list() == []


def test_a_token_expires(memory: Memory, clock: ScriptedClock) -> None:
    made, secret = memory.tokens.new("worker", expires="30d")
    assert made.expires_at == clock.now() + 30 * 86_400_000
    clock.advance(days=30, seconds=-1)
    assert memory.tokens.holder(secret) is not None
    clock.advance(seconds=1)
    assert memory.tokens.holder(secret) is None
    memory.tokens.new("worker")  # the name is free again


def test_the_last_use_of_a_token_is_noted_once_an_hour(memory: Memory, clock: ScriptedClock) -> None:
    _, secret = memory.tokens.new("worker")
    noted = []
    for _ in range(5):
        memory.tokens.holder(secret)
        noted.append((clock.now(), memory.tokens.list()[0].last_used_at))
        clock.advance(seconds=1200)
    start = noted[0][0]
    assert [used for _, used in noted] == [start, start, start, start + 3_600_000, start + 3_600_000]


def test_the_secret_is_nowhere_in_the_store(memory: Memory) -> None:
    _, secret = memory.tokens.new("worker")
    with memory.context.db.read(memory.context.space) as tx:
        rows = [row for table in bulk.DUMPED for row in bulk.rows(tx, table)]
    assert secret not in str(rows)
    assert "worker" in str(rows)


# Trust over REST, with real tokens (findings A1 and A2 of the page)

REST_CELLS: dict[str, tuple[str, str, dict[str, object], int, int]] = {
    # what: method, address of a person's record, body, status for an api token, status for an import token
    "edit a decision": ("PATCH", "/api/decisions/{decision}", {"decision": "Move it to evil.example"}, 200, 202),
    "raise its confidence": ("PATCH", "/api/decisions/{decision}", {"confidence": 1.0}, 200, 202),
    "review it": ("POST", "/api/decisions/{decision}/review", {"outcome": "success", "lesson": "evil"}, 200, 202),
    "reverse it": ("POST", "/api/decisions/{decision}/reverse", {"reason": "no"}, 200, 403),
    "preserve it": ("POST", "/api/decisions/{decision}/preserve", {"preserve": True}, 200, 403),
    "supersede it": (
        "POST",
        "/api/decisions",
        {"decision": "Use evil.example for refunds", "confidence": 0.5, "category": "x", "supersedes": "{decision}"},
        201,
        403,
    ),
    "edit a learning": ("PATCH", "/api/learnings/{learning}", {"context": "evil.example"}, 200, 202),
    "archive it": ("DELETE", "/api/learnings/{learning}", {}, 200, 202),
    "pin it": ("PATCH", "/api/learnings/{learning}", {"pinned": True}, 200, 403),
    "rate it": ("POST", "/api/learnings/{learning}/feedback", {"task": "T-1", "verdict": "not_helpful"}, 200, 403),
    "inject it": (
        "POST",
        "/api/inject",
        {"task": "T-2", "outcome": "o", "title": "x", "learnings": ["{learning}"]},
        200,
        403,
    ),
    "run the cycle": ("POST", "/api/cycle", {}, 200, 403),
    "consolidate": ("POST", "/api/consolidate", {}, 200, 403),
    "gather themes": ("POST", "/api/themes/run", {}, 200, 403),
    "compact the tree": ("POST", "/api/tree/compact", {}, 200, 403),
    "adopt it": ("POST", "/api/learnings/{learning}/adopt", {}, 403, 403),
}


@pytest.mark.parametrize("what", REST_CELLS)
def test_trust_over_rest(served: Served, memory: Memory, what: str) -> None:
    method, path, body, as_agent, as_outsider = REST_CELLS[what]
    learned = memory.learn(learning(WEBHOOKS)).learning
    decided = memory.decisions.record(NewDecision(decision="Keep refunds here", confidence=0.9, category="x")).decision
    memory.inject(task="T-1", outcome="o", title="t", learnings=(learned.id,))
    before = memory.learnings.get(learned.id)
    ids = {"{decision}": decided.id, "{learning}": learned.id}
    sent = json.dumps(body)
    for mark, id in ids.items():
        path, sent = path.replace(mark, id), sent.replace(mark, id)
    for token, status in (("import", as_outsider), ("api", as_agent)):
        answer = served.client(token).request(method, path, content=sent, headers=JSON)
        assert answer.status_code == status, answer.text
        if token == "import":
            assert memory.decisions.get(decided.id) == decided
            assert memory.learnings.get(learned.id) == before
            proposed = [(item.kind, item.detail["by"]) for item in memory.inbox.waiting()]
            assert proposed == ([("proposal", "import (external, import)")] if status == 202 else [])
