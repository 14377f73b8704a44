"""Every page passes axe in both themes, on a wide window and on a phone."""

from __future__ import annotations

import pytest

import npm
from browsing import Site
from recollect import NewDecision, NewFinding, Review, ScriptedClock
from recollect.core.journal import NewEntry
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning

AXE = npm.FOLDER / "node_modules" / "axe-core" / "axe.min.js"

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@pytest.mark.parametrize(("scheme", "width"), [("light", 1280), ("dark", 1280), ("light", 390), ("dark", 390)])
def test_no_page_has_a_fault_that_axe_finds(site: Site, clock: ScriptedClock, scheme: str, width: int) -> None:
    memory = site.memory
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
    paths = (
        *("/", "/inbox", "/agent?prompt=Stripe+webhooks+out+of+order", "/sessions", "/search?q=webhooks"),
        *("/learnings", "/learnings?q=webhooks", "/learnings/new", f"/learnings/{one}", f"/learnings/{one}/edit"),
        *(f"/learnings/{one}/pick", f"/learnings/{one}/compare?other={two}", "/decisions", f"/decisions/{made}"),
        *(
            "/decisions/new",
            f"/decisions/{made}/edit",
            f"/decisions/{made}/pick",
            f"/decisions/{made}/compare?other={first}",
            "/feed",
            "/decisions/insight",
            "/journal",
            "/journal/root",
            "/journal/log/2026-03-02",
        ),
        *(
            "/text/log/2026-03-02%231",
            "/themes",
            "/themes/plan",
            f"/themes/{theme}",
            "/staging",
            "/health",
            "/tokens",
            "/settings",
        ),
        *("/topics", "/topics?state=dormant", f"/topics/{topic}", "/nowhere"),
    )
    window = site.another(viewport={"width": width, "height": 900}, color_scheme=scheme, bypass_csp=True)
    faults = {}
    for path in paths:
        window.goto(site.served.site + path)
        window.add_script_tag(path=AXE)
        found = window.evaluate("axe.run().then(r => r.violations.map(v => [v.id, v.nodes[0].html]))")
        if found:
            faults[path] = found
    assert faults == {}
