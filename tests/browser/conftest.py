"""A real browser, signed in on a real server over a test's memory."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from browsing import Site
from recollect import Memory
from serving import serving

CHROMIUM = "/usr/bin/chromium"
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@pytest.fixture
def site(chromium: Browser, memory: Memory, request: pytest.FixtureRequest) -> Iterator[Site]:
    with serving(memory) as served:
        context = chromium.new_context(viewport={"width": 1100, "height": 800})
        page = context.new_page()
        page.set_default_timeout(20_000)
        name = re.sub(r"\W+", "-", request.node.name).strip("-")
        site = Site(served=served, page=page, browser=chromium, memory=memory, name=name)
        page.on("dialog", lambda dialog: (site.complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: site.complaints.append(f"script error {error}"))
        page.on("console", lambda said: site.complaints.append(said.text) if "Security Policy" in said.text else None)
        page.goto(served.url)
        page.get_by_label("Code").fill(served.codes[-1])
        with page.expect_navigation():
            page.get_by_role("button", name="Sign in").click()
        yield site
        context.close()
        assert not site.complaints
