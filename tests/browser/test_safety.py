"""No stored text runs in the page, whatever field it is in; and every page can be read on a phone and by keyboard."""

from __future__ import annotations

import pytest
from playwright.sync_api import expect

from browsing import Site
from recollect import NewDecision, NewFinding, Review
from recollect.api.pages.prose import place as place_of
from recollect.core.journal import NewEntry
from samples import FLAKY, WEBHOOKS, learning

PAGES = (
    *("/", "/inbox", "/agent", "/sessions", "/search", "/learnings", "/learnings/new", "/decisions", "/decisions/new"),
    *("/decisions/insight", "/journal", "/topics", "/themes", "/staging", "/health", "/tokens", "/settings"),
)
HOSTILE = (
    "<img src=x onerror=window.run=1>",
    "<svg/onload=window.run=1>",
    "<script>window.run=1</script>",
    '"><script>window.run=1</script>',
    "' onfocus=window.run=1 autofocus '",
    "[click](javascript:window.run=1)",
    "{{ 7 * 7 }}{% raw %}",
    "</textarea></pre><iframe srcdoc='<script>parent.run=1</script>'></iframe>",
    "<style>body{display:none}</style>",
    "<form action=https://evil.example><button>x</button></form>",
)

on_sqlite = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)


@on_sqlite
def test_a_hostile_text_in_every_field_is_only_text(site: Site) -> None:
    memory = site.memory
    paths = [*PAGES, "/learnings?q=release", "/search?q=release", "/agent?prompt=release+of+the+billing+service"]
    for number, hostile in enumerate(HOSTILE):
        sentence = f"Deploys of service {number} that skip the {hostile} step break the release of billing"
        fields = {name: f"{WEBHOOKS[name]} {hostile}" for name in ("context", "observation", "implication", "action")}
        new = learning(WEBHOOKS, title=f"{number} {hostile}"[:100], **fields, tags=(hostile[:50],), domain=hostile[:50])
        kept = memory.learn(new).learning
        memory.inject(task=f"T-{number}", outcome="O-1", title=sentence, learnings=(kept.id,))
        memory.journal.add(NewEntry(text=sentence, topic=hostile))
        chosen = NewDecision(decision=sentence, confidence=0.8, category="process", context=hostile, pattern=hostile)
        decided = memory.decisions.record(chosen, anyway=True).decision
        memory.decisions.review(decided.id, Review(outcome="failure", result=hostile, lesson=hostile))
        memory.themes.add(f"work-{number}", NewFinding(description=sentence, category=hostile, source=hostile))
        rule = f"When service {number} is released, run the {hostile} step before the deploy"
        memory.staging.stage(rule, sentence)
        for verb in ("Always", "Never"):
            memory.learn(
                learning(WEBHOOKS, title=f"{verb} release service {number}", action=f"{verb} {hostile} release.")
            )
        paths += [f"/learnings/{kept.id}", f"/decisions/{decided.id}"]
    assert memory.inbox.waiting()
    memory.journal.compact()
    memory.themes.run(always=True)
    paths += [f"/learnings/{kept.id}/edit", "/journal/root", "/journal/daily/2026-03-02", "/journal/log/2026-03-02"]
    paths += [f"/themes/{theme.name}" for theme in memory.themes.list()]
    paths += [f"/topics/{topic.id}" for topic in memory.topics.page()[0]]
    paths += [place_of("", hit.id) for hit in memory.search("release of billing", limit=60)]
    for path in dict.fromkeys(paths):
        site.go(path)
        assert site.page.evaluate("window.run") is None, path
        assert site.page.locator("main iframe, main img, main [onerror], main [onfocus]").count() == 0, path
        assert site.page.locator("a[href^='javascript']").count() == 0, path
        assert site.page.locator("h1").is_visible(), path


@on_sqlite
def test_a_hostile_text_typed_into_the_forms_is_only_text(site: Site) -> None:
    for hostile in HOSTILE[:4]:
        site.go("/search")
        site.page.fill("#q", hostile)
        site.page.keyboard.press("Enter")
        site.page.wait_for_load_state("networkidle")
        site.go("/staging")
        site.page.get_by_label("The rule").fill(hostile)
        site.press("Stage")
        assert site.page.evaluate("window.run") is None


@on_sqlite
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_page_fits_a_phone(site: Site, scheme: str) -> None:
    site.memory.learn(learning(WEBHOOKS))
    site.memory.journal.add(NewEntry(text="Moved the nightly build to the new runner", topic="Nightly build"))
    site.memory.journal.compact()
    phone = site.another(viewport={"width": 390, "height": 800}, color_scheme=scheme)
    for path in (*PAGES, "/journal/root"):
        phone.goto(site.served.site + path)
        assert phone.evaluate("document.documentElement.scrollWidth <= innerWidth"), path


@on_sqlite
def test_a_long_word_fits_a_phone(site: Site) -> None:
    """A URL, a hash or a word without spaces breaks; in text, in titles, beside badges, and in lists."""
    memory = site.memory
    url = f"https://example.com/{'a' * 80}/Donaudampfschiff"
    one = memory.learn(learning(WEBHOOKS, title=f"Read {url}"[:100], context=f"{url} {'c' * 120}", tags=("t" * 40,)))
    other = memory.learn(learning(FLAKY, title="x" * 90, context=url))
    decided = [
        memory.decisions.record(
            NewDecision(decision=f"{verb} {url} for the shop", confidence=0.8, category="arch", context=url),
            anyway=True,
        ).decision.id
        for verb in ("Use", "Keep")
    ]
    entry = memory.journal.add(NewEntry(text=f"Look at {url} and `{'c' * 120}` for more", topic=f"Mirror {'m' * 50}"))
    memory.journal.add(NewEntry(text=f"Then {url} came back", topic="Mirror again"))
    memory.staging.stage(f"When {url} fails, run make x before the deploy", url)
    memory.themes.add(f"work-{'w' * 50}", NewFinding(description=f"{url} is slow {'h' * 100}", proposed_rule=url))
    topic = memory.topics.show("Mirror again").topic.id
    id, rival = one.learning.id, other.learning.id
    phone = site.another(viewport={"width": 390, "height": 800})
    day = entry.id.removeprefix("log/").partition("#")[0]
    wide = {}
    for path in (
        *PAGES,
        *("/search?q=shop", "/search?q=example", f"/search?q={'d' * 90}", "/agent?prompt=Use+example.com+for+the+shop"),
        *(
            f"/learnings/{id}",
            f"/learnings/{id}/edit",
            f"/learnings/{id}/pick",
            f"/learnings/{id}/compare?other={rival}",
        ),
        *(f"/decisions/{decided[0]}", f"/decisions/{decided[0]}/pick"),
        *(f"/decisions/{decided[0]}/compare?other={decided[1]}", f"/topics/{topic}", f"/journal/log/{day}"),
        *(f"/text/{entry.id.replace('#', '%23')}", f"/text/{decided[0]}", f"/raw/{id}", "/feed", "/findings/plan"),
        f"/journal/nothing/{'n' * 90}",
    ):
        phone.goto(site.served.site + path)
        over = phone.evaluate("document.documentElement.scrollWidth - innerWidth")
        if over > 0:
            wide[path] = over
    assert wide == {}


@on_sqlite
def test_the_keyboard_reaches_the_content_and_the_menu(site: Site) -> None:
    site.go("/learnings")
    site.page.keyboard.press("Tab")
    assert site.page.evaluate("document.activeElement.textContent") == "Skip to content"
    names = []
    for _ in range(13):
        site.page.keyboard.press("Tab")
        names.append(site.page.evaluate("document.activeElement.textContent").strip())
    assert names[0] == "Home"
    assert names[-1] == "Settings"
    site.page.keyboard.press("Enter")
    site.page.wait_for_url("**/settings")


@on_sqlite
def test_the_browser_keeps_no_copy_of_what_it_showed(site: Site) -> None:
    site.memory.learn(learning(WEBHOOKS))
    site.go("/search")
    site.page.fill("#q", "webhooks")
    expect(site.page.locator(".hit")).to_have_count(1)
    site.page.fill("#q", "zebra xylophone")
    expect(site.page.locator(".hit")).to_have_count(0)
    site.page.wait_for_url("**q=zebra*")
    kept = site.page.evaluate("JSON.stringify([localStorage, sessionStorage])")
    assert "Stripe" not in kept
    assert "csrf" not in kept
    site.page.go_back()  # typing leaves no trail of half words behind
    site.page.go_forward()
    expect(site.page.locator(".hit")).to_have_count(0)
    expect(site.page.locator("nav")).to_be_visible()


@on_sqlite
def test_the_menu_says_where_one_is(site: Site) -> None:
    id = site.memory.learn(learning(WEBHOOKS)).learning.id
    site.memory.journal.add(NewEntry(text="Moved the nightly build to the new runner", topic="Nightly build"))
    places = {"/learnings": "Learnings", f"/learnings/{id}": "Learnings", f"/learnings/{id}/edit": "Learnings"}
    for path, name in {**places, "/journal/log/2026-03-02": "Journal", "/health": "Health"}.items():
        site.go(path)
        assert site.page.locator("nav [aria-current]").inner_text().strip() == name, path


@on_sqlite
def test_every_empty_page_teaches(site: Site) -> None:
    for path in ("/", "/learnings", "/journal", "/decisions", "/themes", "/inbox", "/agent", "/search", "/sessions"):
        site.go(path)
        assert len(site.page.locator(".empty").first.inner_text()) > 20, path


@on_sqlite
def test_a_wrong_code_is_said_and_the_right_one_lets_in_once(site: Site) -> None:
    stranger = site.browser.new_context().new_page()
    stranger.goto(f"{site.served.site}/")
    outside = site.served.site.partition("/s/")[0]
    for code, ends in (
        ("wrong-wrong", "/sign-in"),
        (site.served.codes[0], "/sign-in"),
        (site.served.codes[-1], f"/s/{site.served.space}/"),
    ):
        stranger.get_by_label("Code").fill(code)
        with stranger.expect_navigation():
            stranger.get_by_role("button", name="Sign in").click()
        assert stranger.url == outside + ends
