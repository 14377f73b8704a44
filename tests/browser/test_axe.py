"""Every page passes axe in both themes, on a wide window and on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Browser

import npm
from browsing import signed_in
from recollect import Memory, NewDecision, NewFinding, Review, ScriptedClock
from recollect.api.auth import Public
from recollect.api.spaces import Spaces
from recollect.core.journal import NewEntry
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning

AXE = npm.FOLDER / "node_modules" / "axe-core" / "axe.min.js"

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_no_page_has_a_fault_that_axe_finds(
    memory: Memory, chromium: Browser, clock: ScriptedClock, tmp_path: Path, scheme: str, width: int
) -> None:
    paths = fill(memory, clock)
    faults = {}

    def check(name: str) -> None:
        window.add_script_tag(path=AXE)
        if found := window.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))"):
            faults[name] = found

    def broken() -> None:
        raise ZeroDivisionError

    spaces = Spaces(memory, places=lambda: {"elsewhere": tmp_path / "nowhere"})  # one that cannot be opened
    with signed_in(chromium, memory, "axe", spaces=spaces) as site:
        site.served.app.add_api_route("/s/{space}/broken", broken, dependencies=[Public])
        window = site.another(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
        for path in (*paths, "/broken"):
            window.goto(site.served.site + path)
            check(path)
        window.goto(site.served.site + PROMPTED)
        window.get_by_text("Give the ticked learnings to a task").click()
        window.get_by_label("Task id").fill("T-9")
        with window.expect_navigation():
            window.get_by_role("button", name="Inject these").click()
        check("injected")
        outside = site.served.site.partition("/s/")[0]
        window.goto(f"{outside}/")
        assert "elsewhere" in window.inner_text("main")
        check("spaces")
        with window.expect_navigation():
            window.get_by_role("button", name="Sign out").click()
        check("sign in")
        window.get_by_label("Code").fill("wrong")
        with window.expect_navigation():
            window.get_by_role("button", name="Sign in").click()
        check("a wrong code")
    assert faults == {}


PROMPTED = "/agent?prompt=Stripe+webhooks+out+of+order"


def fill(memory: Memory, clock: ScriptedClock) -> list[str]:
    """Something for every page; the paths of the pages."""
    one, two, _ = (memory.learn(learning(fields)).learning.id for fields in (WEBHOOKS, FLAKY, MIGRATIONS))
    for verb in ("Always", "Never"):
        memory.learn(learning(MIGRATIONS, title=f"{verb} run migrations first", action=f"{verb} run migrations."))
    memory.inject(task="T-1", outcome="O-1", title="Stripe webhooks", learnings=(one,))
    memory.rate(one, "helpful", task="T-1")
    for number in range(6):
        new = NewDecision(decision=f"Choose library {number} for parsing", confidence=0.9, category="tooling")
        made = memory.decisions.record(new).decision.id
        if number:
            memory.decisions.review(made, Review(outcome="success" if number % 2 else "failure"))
        memory.themes.add(
            f"work-{number}", NewFinding(description=f"The cache key of job {number} lacks the lock file")
        )
        memory.journal.add(NewEntry(text="Moved the nightly build to the new runner", topic="Nightly build"))
        clock.advance(days=20)
    memory.themes.run(always=True)
    memory.staging.stage("When a build cache depends on lock files, put their hash into its key", "It was stale.")
    memory.journal.compact()
    memory.themes.add("work-9", NewFinding(description="The cache key of job 9 lacks the lock file"))
    first = memory.decisions.page()[0][-1].id
    theme, topic = memory.themes.list()[0].name, memory.topics.page()[0][0].id
    ids = memory.journal.nodes()
    nodes = [f"/journal/{next(id for id in ids if id.startswith(level))}" for level in ("monthly", "weekly", "daily")]
    card, choice = f"/learnings/{one}", f"/decisions/{made}"
    return [
        *("/", "/inbox", PROMPTED, "/sessions", "/search?q=webhooks", "/feed", "/health", "/tokens", "/settings"),
        *("/learnings", "/learnings?q=webhooks", "/learnings/new", card, f"{card}/edit", f"{card}/pick"),
        *(f"{card}/compare?other={two}", "/decisions", "/decisions/new", choice, f"{choice}/edit", f"{choice}/pick"),
        *(f"{choice}/compare?other={first}", "/decisions/insight", "/journal", "/journal/root", *nodes),
        *("/journal/log/2026-03-02", "/text/log/2026-03-02%231", "/raw/log/2026-03-02%231", "/staging"),
        *("/themes", "/findings/plan", f"/themes/{theme}", "/topics", "/topics?state=dormant", f"/topics/{topic}"),
        *("/nowhere", "/learnings/learn_nothing1"),
    ]
