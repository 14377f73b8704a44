"""The page in a real browser, as a test uses it. Screenshots are kept in tmp/pages, to be looked at."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, Page

from recollect import Memory
from serving import Served

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
        answer = self.page.goto(self.served.url + path)
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
