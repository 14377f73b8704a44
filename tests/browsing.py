"""The page in a real browser, signed in on a real server over a test's memory. Screenshots are kept in tmp/pages."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from recollect import Memory
from serving import Served, serving

CHROMIUM = "/usr/bin/chromium"
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update")
SHOTS = Path(__file__).parents[1] / "tmp" / "pages"


@dataclass
class Site:
    """The page in a browser that is signed in, and everything it complained about."""

    served: Served
    page: Page
    browser: Browser
    memory: Memory
    name: str
    complaints: list[str] = field(default_factory=list)

    def go(self, path: str) -> None:
        answer = self.page.goto(self.served.site + path)
        assert answer is not None
        assert answer.status == 200, self.page.inner_text("body")

    def press(self, label: str) -> None:
        """Press the button of exactly this label and wait for the page that follows."""
        with self.page.expect_navigation():
            self.page.get_by_role("button", name=label, exact=True).click()

    def follow(self, label: str) -> None:
        with self.page.expect_navigation():
            self.page.get_by_role("link", name=label, exact=True).first.click()

    def says(self) -> str:
        return self.page.inner_text("main")

    def shot(self, name: str) -> None:
        SHOTS.mkdir(parents=True, exist_ok=True)
        self.page.screenshot(path=SHOTS / f"{self.name}-{name}.png", full_page=True)

    def another(self, **options: object) -> Page:
        """A second window of the same browser, signed in."""
        context = self.browser.new_context(**options)  # type: ignore[arg-type]
        context.add_cookies(self.page.context.cookies())  # type: ignore[arg-type]
        return context.new_page()


@contextmanager
def chromium() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        yield browser
        browser.close()


@contextmanager
def signed_in(browser: Browser, memory: Memory, name: str, **options: Any) -> Iterator[Site]:
    """Serve a memory and sign in to its page; whatever the browser complained about fails the test."""
    with serving(memory, **options) as served:
        context = browser.new_context(viewport={"width": 1100, "height": 800})
        page = context.new_page()
        page.set_default_timeout(20_000)
        site = Site(served=served, page=page, browser=browser, memory=memory, name=re.sub(r"\W+", "-", name).strip("-"))
        page.on("dialog", lambda dialog: (site.complaints.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("pageerror", lambda error: site.complaints.append(f"script error {error}"))
        page.on("console", lambda said: site.complaints.append(said.text) if "Security Policy" in said.text else None)
        page.goto(f"{served.site}/")
        page.get_by_label("Code").fill(served.codes[-1])
        with page.expect_navigation():
            page.get_by_role("button", name="Sign in").click()
        yield site
        context.close()
    assert not site.complaints
