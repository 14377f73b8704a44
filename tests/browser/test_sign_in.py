"""Several spaces in one browser, and the cookie that opens them, which no other port receives."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from conftest import PERSON, Opener
from recollect import Memory
from recollect.api.app import PAGE_HOST
from recollect.api.spaces import Spaces
from recollect.core.errors import StoreUnreachable
from samples import FLAKY, WEBHOOKS, learning
from serving import Served, serving

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@contextmanager
def listener() -> Iterator[tuple[int, list[str | None]]]:
    """Another program's server on this machine, and the cookies it was sent."""
    seen: list[str | None] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append(self.headers.get("cookie"))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"<title>another</title>")

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_address[1], seen
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


@pytest.fixture
def two(open_memory: Opener, environ: dict[str, str], tmp_path: Path) -> Iterator[tuple[Memory, Spaces]]:
    """A memory, and spaces with two more: one works, one cannot be opened."""
    here = open_memory()
    here.learn(learning(WEBHOOKS))
    other = tmp_path / "other"
    other.mkdir()
    with Memory.open(other, create=True, actor=PERSON, environ=environ) as memory:
        memory.learn(learning(FLAKY))
        name = memory.context.space

    def opened(folder: Path) -> Memory:
        if folder.name == "gone":
            raise StoreUnreachable("the store of gone cannot be reached; start it and try again")
        return Memory.open(folder, actor=PERSON, environ=environ)

    spaces = Spaces(here, places=lambda: {name: other, "gone": tmp_path / "gone"}, opener=opened)
    yield here, spaces
    spaces.close()


def test_the_cookie_goes_to_no_other_port_of_this_machine(chromium: Browser, memory: Memory) -> None:
    with serving(memory) as served, listener() as (port, seen):
        context = chromium.new_context()
        page = signed_in(context.new_page(), served)
        assert [cookie["domain"] for cookie in context.cookies()] == [PAGE_HOST], "for this name alone"
        for host in ("127.0.0.1", "localhost", "another.localhost"):
            page.goto(f"http://{host}:{port}/")
            page.goto(f"http://{host}:{served.url.rpartition(':')[2]}/health")
            assert page.context.cookies(f"http://{host}:{port}/") == []
        assert len(seen) >= 3
        assert set(seen) == {None}
        page.goto(f"{served.site}/")
        assert page.inner_text("h1") == "Home"
        context.close()


def test_one_sign_in_opens_every_space_and_both_stay_open(chromium: Browser, two: tuple[Memory, Spaces]) -> None:
    here, spaces = two
    first, second = here.context.space, next(name for name in spaces.names()[1:] if name != "gone")
    with serving(here, spaces=spaces) as served:
        context = chromium.new_context()
        page = signed_in(context.new_page(), served)
        root = f"http://{PAGE_HOST}:{served.url.rpartition(':')[2]}"
        for _ in range(2):
            for space, title in ((first, WEBHOOKS["title"]), (second, FLAKY["title"])):
                page.goto(f"{root}/")
                assert page.inner_text("h1") == "Spaces"
                page.get_by_role("main").get_by_role("link", name=space, exact=True).click()
                page.wait_for_url(f"{root}/s/{space}/")
                page.get_by_role("link", name="Learnings", exact=True).first.click()
                page.wait_for_url(f"{root}/s/{space}/learnings")
                assert str(title) in page.inner_text("main")
        page.locator("summary", has_text="Recollect").click()
        page.get_by_label("Spaces").get_by_role("link", name=first, exact=True).click()
        page.wait_for_url(f"{root}/s/{first}/")
        context.close()


def test_a_space_that_cannot_be_opened_says_what_to_do_and_the_others_answer(
    chromium: Browser, two: tuple[Memory, Spaces]
) -> None:
    here, spaces = two
    with serving(here, spaces=spaces) as served:
        context = chromium.new_context()
        page = signed_in(context.new_page(), served)
        answer = page.goto(f"{served.site.rpartition('/')[0]}/gone/")
        assert answer is not None
        assert answer.status == 503
        assert "the store of gone cannot be reached; start it and try again" in page.inner_text("main")
        page.locator("summary", has_text="Recollect").click()
        page.get_by_label("Spaces").get_by_role("link", name=here.context.space, exact=True).click()
        page.wait_for_url(f"{served.site}/")
        assert served.client("api").get("/api/learnings").json()["total"] == 1
        context.close()


def test_a_deep_link_survives_signing_in(chromium: Browser, memory: Memory) -> None:
    id = memory.learn(learning(WEBHOOKS)).learning.id
    with serving(memory) as served:
        page = chromium.new_context().new_page()
        page.goto(f"{served.site}/learnings/{id}/edit")
        page.get_by_label("Code").fill("wrong-wrong")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_label("Code").fill(served.codes[-1])
        with page.expect_navigation():
            page.get_by_role("button", name="Sign in").click()
        assert page.url == f"{served.site}/learnings/{id}/edit"
        page.context.close()


def signed_in(page: Any, served: Served) -> Any:
    page.set_default_timeout(20_000)
    page.goto(f"{served.site}/")
    page.get_by_label("Code").fill(served.codes[-1])
    with page.expect_navigation():
        page.get_by_role("button", name="Sign in").click()
    return page
