"""What a person comes for, in as few clicks as promised; typing is no click."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect

from browsing import Site
from recollect import Memory, NewDecision, ScriptedClock
from recollect.api.pages.base import LongWork
from recollect.core.journal import NewEntry
from recollect.core.learning import SessionEvent, SessionTurn, Write
from recollect.hosts.hook import respond
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@dataclass
class Hand:
    """Presses, counted."""

    site: Site
    clicks: int = 0

    def press(self, what: Locator, *, leaves: bool = True) -> None:
        self.clicks += 1
        if not leaves:
            what.click()
            return
        with self.site.page.expect_navigation():
            what.click()

    def follow(self, name: str) -> None:
        self.press(self.site.page.get_by_role("link", name=name, exact=True).first)

    def button(self, name: str) -> None:
        self.press(self.site.page.get_by_role("button", name=name, exact=True))


@pytest.fixture
def hand(site: Site) -> Iterator[Hand]:
    return Hand(site)


def questions(memory: Memory, count: int) -> None:
    """Pairs of learnings that contradict each other."""
    for number in range(count):
        for verb, words in (("Always", "Run"), ("Never", "Do not run")):
            said = f"the nightly job of service number {number} before the deploy"
            memory.learn(
                learning(
                    MIGRATIONS,
                    title=f"{verb} run {said}",
                    context=f"Deploying service number {number}",
                    observation=f"Service {number} was seen when its job ran: {verb.lower()} do it",
                    action=f"{words} {said}.",
                )
            )


def test_a_learning_is_found_and_mended_in_four_clicks(site: Site, hand: Hand) -> None:
    for fields in (WEBHOOKS, MIGRATIONS, FLAKY):
        site.memory.learn(learning(fields))
    site.go("/")
    hand.follow("Learnings")
    site.page.get_by_label("Words").fill("overtake each other")
    expect(site.page.locator("tbody tr")).to_have_count(1)
    hand.press(site.page.locator("tbody a").first)
    hand.follow("Edit")
    site.page.fill("[name=action]", "Compare the created time first")
    hand.button("Save")
    assert "Saved “Stripe webhooks arrive out of order”" in site.page.inner_text("#notices")
    assert hand.clicks <= 4


def test_ten_questions_are_answered_in_twelve_clicks_without_losing_the_place(site: Site, hand: Hand) -> None:
    questions(site.memory, 11)
    waiting = [item.number for item in site.memory.inbox.waiting()]
    assert len(waiting) >= 11
    site.go("/")
    hand.press(site.page.locator(".menu a[href$='/inbox']"))
    for number in waiting[:10]:
        assert site.page.get_attribute("nav [aria-current=true] >> nth=0", "href") is not None
        assert site.page.locator("form.verbs").get_attribute("action").endswith(f"/inbox/{number}")  # type: ignore[union-attr]
        hand.press(site.page.locator("form.verbs button", has_text="Keep both"))
        assert f"contradiction {number}: keep both" in site.page.inner_text("#notices")
    assert len(site.memory.inbox.waiting()) == len(waiting) - 10
    assert hand.clicks <= 12


def test_an_answer_is_a_key_away_and_undo_reopens_the_question(site: Site) -> None:
    questions(site.memory, 2)
    before = len(site.memory.inbox.waiting())
    site.go("/inbox")
    with site.page.expect_navigation():
        site.page.keyboard.press("1")
    assert len(site.memory.inbox.waiting()) < before
    site.press("Undo")
    assert len(site.memory.inbox.waiting()) == before
    assert {one.status for one in site.memory.learnings.page(status="all")[0]} == {"active"}


def test_keys_walk_the_questions_from_the_open_one(site: Site) -> None:
    questions(site.memory, 2)
    second = site.memory.inbox.waiting()[1].number
    site.go("/inbox")
    site.page.keyboard.press("j")
    with site.page.expect_navigation():
        site.page.keyboard.press("Enter")
    assert site.page.url.endswith(f"open={second}")


def test_any_decision_is_three_clicks_away(site: Site, hand: Hand) -> None:
    ids, names = {}, {}
    for number in range(60):
        names[number] = "".join(chr(ord("a") + int(digit)) for digit in f"{number:02d}") * 3
        new = NewDecision(decision=f"Use library {names[number]} for parsing", confidence=0.8, category="tooling")
        ids[number] = site.memory.decisions.record(new).decision.id
    for number in (0, 30, 59):
        hand.clicks = 0
        site.go("/")
        hand.follow("Decisions")
        site.page.get_by_label("Words").fill(names[number])
        expect(site.page.locator("tbody tr").first).to_contain_text(names[number])
        hand.press(site.page.locator("tbody a").first)
        assert site.page.url.endswith(ids[number])
        assert hand.clicks <= 3
    site.go("/decisions")
    seen = 0
    while True:
        seen += site.page.locator("tbody tr").count()
        if not site.page.get_by_role("link", name="Next →").count():
            break
        site.follow("Next →")
    assert seen == 60, "and all of them can be paged through"


def test_words_reach_every_decision_that_has_them_page_by_page(site: Site) -> None:
    for number in range(260):
        new = NewDecision(decision=f"Parse feed {number} with a library", confidence=0.8, category="tooling")
        site.memory.decisions.record(new, anyway=True)
    site.go("/decisions?q=library")
    assert "260 in all" in site.says()
    site.follow("Last")
    assert site.page.locator("tbody tr").count() == 10


def test_from_a_month_to_the_raw_words_in_four_clicks(site: Site, hand: Hand, clock: ScriptedClock) -> None:
    for number in range(30):
        text = f"Decided to move job {number} to the new runner because the old one is slow. " * 12
        site.memory.journal.add(NewEntry(text=text, topic=f"Runner {number}"))
    clock.advance(days=60)
    site.memory.journal.compact()
    site.go("/")
    hand.follow("Journal")
    hand.follow("March on one page")
    assert site.page.url.endswith("/journal/monthly/2026-03")
    hand.press(site.page.locator("article.prose a[href*='/text/log/']").first)
    assert "to the new runner because the old one is slow" in site.says()
    assert hand.clicks <= 4


def test_the_heat_map_is_one_stop_and_arrows_walk_it(site: Site, clock: ScriptedClock) -> None:
    for _ in range(3):
        site.memory.journal.add(NewEntry(text="Moved the nightly build to the new runner", topic="Nightly build"))
        clock.advance(days=1)
    site.go("/journal")
    assert site.page.locator(".heat a[tabindex='0']").count() == 1
    assert site.page.locator(".heat a").count() == 3
    site.page.locator(".heat a[tabindex='0']").focus()
    site.page.keyboard.press("ArrowUp")
    assert "2026-03-03" in str(site.page.evaluate("document.activeElement.getAttribute('href')"))


def test_keys_search_move_select_and_explain(site: Site) -> None:
    for fields in (WEBHOOKS, MIGRATIONS, FLAKY):
        site.memory.learn(learning(fields))
    site.go("/learnings")
    keyboard = site.page.keyboard
    keyboard.press("/")
    assert site.page.evaluate("document.activeElement.name") == "q"
    site.page.locator("h1").click()
    for key in ("j", "j", "x"):
        keyboard.press(key)
    assert site.page.locator("tbody tr").nth(1).locator("[data-select]").is_checked()
    keyboard.press("?")
    expect(site.page.locator("#keys")).to_be_visible()
    keyboard.press("Escape")
    with site.page.expect_navigation():
        keyboard.press("e")
    assert site.page.url.endswith("/edit")
    site.page.locator("h1").click()
    for key in ("g", "d"):
        keyboard.press(key)
    site.page.wait_for_url("**/decisions")


def test_no_tag_is_no_change(site: Site) -> None:
    site.memory.learn(learning(WEBHOOKS))
    site.go("/learnings")
    site.page.locator("tbody [data-select]").check()
    site.press("Tag")
    assert site.page.inner_text("#notices").strip() == "Tick rows and write a tag; nothing changed"


def test_a_button_rests_once_its_answer_is_there(site: Site) -> None:
    site.go("/agent")
    site.page.get_by_label("A prompt or a task").fill("Why do webhooks overtake each other?")
    show = site.page.get_by_role("button", name="Show", exact=True)
    show.click()
    expect(site.page.get_by_role("heading", name="With the prompt")).to_be_visible()
    expect(show).not_to_have_attribute("aria-busy", "true")


def test_a_form_leaves_the_page_where_it_stood(site: Site) -> None:
    for number in range(40):
        title = f"Handler {number} must not trust the order of events"
        site.memory.learn(learning(WEBHOOKS, title=title, observation=f"Handler {number} was overtaken"), anyway=True)
    site.go("/learnings")
    rows = site.page.locator("tbody tr").count()
    site.page.locator("[data-select]").nth(rows - 1).check()
    site.page.evaluate("scrollTo(0, 400)")
    site.press("Pin")
    assert abs(site.page.evaluate("scrollY") - 400) < 5


def test_the_page_shows_the_bytes_that_the_hook_prints(
    site: Site, tmp_path: Path, environ: dict[str, str], clock: ScriptedClock
) -> None:
    site.memory.learn(learning(WEBHOOKS))
    site.memory.journal.add(
        NewEntry(text="- outcome: Stripe webhooks are compared by their created time", topic="Order")
    )
    site.memory.journal.compact()
    prompt = "Handle Stripe webhooks that arrive out of order"
    site.go(f"/agent?prompt={prompt.replace(' ', '+')}")
    shown = {name: "".join(site.page.locator(f"[data-part={name}]").all_text_contents()) for name in ("brief", "given")}
    printed = {}
    programs = str(Path(sys.executable).parent)  # where `recollect` is no program, a hook names it by its path
    moment = environ | {"RECOLLECT_NOW": "2026-03-02T09:00:00Z", "PATH": f"{programs}:{environ.get('PATH', '')}"}
    for name, event, more in (
        ("brief", "SessionStart", {"source": "startup"}),
        ("given", "UserPromptSubmit", {"prompt": prompt}),
    ):
        said: list[str] = []
        payload = {"session_id": "s-1", "cwd": str(site.memory.project.root), **more}
        respond("claude-code", event, payload, moment, said.append)
        printed[name] = json.loads(said[0])["hookSpecificOutput"]["additionalContext"]
    assert shown == printed
    assert "Stripe webhooks" in shown["given"]


def test_a_theme_is_chosen_and_kept(site: Site) -> None:
    site.go("/learnings")
    light = site.page.evaluate("getComputedStyle(document.body).backgroundColor")
    site.press("Dark")
    assert site.page.url.endswith("/learnings")
    assert site.page.evaluate("getComputedStyle(document.body).backgroundColor") != light
    site.go("/journal")
    assert site.page.get_attribute("html", "data-theme") == "dark"
    site.press("Auto")


def test_everything_that_matters_works_without_scripts(site: Site, clock: ScriptedClock) -> None:
    ids = [site.memory.learn(learning(fields)).learning.id for fields in (WEBHOOKS, FLAKY)]
    questions(site.memory, 1)
    plain = site.another(java_script_enabled=False)
    plain.goto(f"{site.served.site}/learnings?q=webhooks")
    plain.locator(f"[value={ids[0]}]").check()
    plain.get_by_role("button", name="Archive", exact=True).click()
    assert "Archived 1 learning" in plain.inner_text("#notices")
    plain.get_by_role("button", name="Undo").click()
    assert site.memory.learnings.get(ids[0]).status == "active"
    plain.goto(f"{site.served.site}/inbox")
    plain.locator("form.verbs button", has_text="Dismiss").click()
    assert site.memory.inbox.waiting() == []
    plain.goto(f"{site.served.site}/health")
    plain.get_by_role("button", name="Read everything back").click()
    for _ in range(20):
        plain.wait_for_timeout(300)
        plain.goto(f"{site.served.site}/health")
        if "agree" in plain.inner_text("main"):
            break
    assert "rows, files and indexes agree" in plain.inner_text("main")


def test_long_work_is_shown_on_every_page_until_it_ends(site: Site) -> None:
    works = site.served.app.state.works.setdefault(site.served.space, [])
    works.append(work := LongWork("Reading everything back"))
    work.at("learnings", 3, 10)
    site.go("/topics")
    assert "Reading everything back goes on: learnings, 3 of 10" in site.says()
    works.remove(work)
    expect(site.page.locator("#works")).to_contain_text("Done")
    site.go("/topics")
    assert site.page.inner_text("#works").strip() == ""


def test_a_server_that_is_gone_is_said(site: Site) -> None:
    site.go("/search")
    site.page.route("**/search?*", lambda route: route.abort())
    site.page.fill("#q", "webhooks")
    expect(site.page.locator("#offline")).to_be_visible()


def test_a_token_is_made_shown_once_and_revoked(site: Site) -> None:
    site.go("/tokens")
    site.page.get_by_label("Name").fill("dashboard")
    site.page.get_by_label("read", exact=True).check()
    site.press("Make")
    assert site.page.locator("pre").inner_text().startswith("rct_")
    site.go("/tokens")
    assert "rct_" not in site.page.content()
    with site.page.expect_navigation():
        site.page.locator("tr", has_text="dashboard").get_by_role("button", name="Revoke for good").click()
    assert [one.revoked_at is not None for one in site.memory.tokens.list() if one.name == "dashboard"] == [True]


def test_sessions_are_listed_with_what_they_were_given(
    site: Site, environ: dict[str, str], clock: ScriptedClock
) -> None:
    id = site.memory.learn(learning(WEBHOOKS)).learning.id
    said: list[str] = []
    payload = {"session_id": "s-7", "cwd": str(site.memory.project.root), "prompt": "Stripe webhooks out of order"}
    respond(
        "claude-code", "UserPromptSubmit", payload, environ | {"RECOLLECT_NOW": "2026-03-02T09:00:00Z"}, said.append
    )
    other = site.memory.learn(learning(FLAKY)).learning.id
    shown = SessionEvent(session="s-7", host="codex", event="UserPromptSubmit", task="s-7", learnings=(other,))
    turn = SessionTurn(session="s-7", host="codex", request="Make it green", answer=str(FLAKY["action"]))
    for what in (shown, turn):
        assert site.memory.sessions.deliver(Write(id=f"change_{type(what).__name__}", what=what))
    site.memory.rate(id, "helpful", task="s-7")
    site.memory.journal.add(NewEntry(text="Compared the created times of events", topic="Event order", session="s-7"))
    site.go("/sessions")
    assert "Wrote Event order" in site.says()
    assert "Stripe webhooks arrive out of order" in site.says()
    assert "helpful" in site.says()
    assert "the session seems to have used it" in site.says()
    site.go("/")
    assert "claude-code was shown Stripe webhooks arrive out of order" in site.says(), "and no id of a session"
