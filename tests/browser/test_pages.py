"""Each page's main job, done by clicking and typing in a real browser, on both engines."""

from __future__ import annotations

import re
from datetime import date, timedelta
from pathlib import Path

from playwright.sync_api import Browser, expect

from browsing import Site, signed_in
from conftest import STRANGER
from recollect import Memory, NewDecision, NewFinding, Review, ScriptedClock
from recollect.api.auth import Public
from recollect.api.spaces import Spaces
from recollect.core.journal import NewEntry
from recollect.core.learning import SessionEvent, SessionTurn, Write
from repos import Repo
from samples import FLAKY, MIGRATIONS, WEBHOOKS, learning

FIELDS = ("context", "observation", "implication", "action")


def write_learning(site: Site, fields: dict[str, object]) -> str:
    """Fill in the form; gives the new learning's id."""
    site.go("/learnings/new")
    site.page.fill("[name=title]", str(fields["title"]))
    for name in FIELDS:
        site.page.fill(f"[name={name}]", str(fields[name]))
    site.page.fill("[name=tags]", ", ".join(fields["tags"]))  # type: ignore[arg-type]
    site.press("Save")
    return site.page.url.rpartition("/")[2]


def test_home_says_what_is_new_until_one_has_seen_it(site: Site, clock: ScriptedClock) -> None:
    site.memory.learn(learning(WEBHOOKS))
    site.memory.inject(task="T-1", outcome="O-1", title="Handle Stripe webhooks in the billing service")
    site.go("/")
    assert re.search(r"1\s+learning", site.page.inner_text(".fresh"))
    assert "T-1 was shown Stripe webhooks arrive out of order" in site.says()
    clock.advance(seconds=1)
    site.press("I have seen this")
    assert "Nothing new" in site.says()
    clock.advance(seconds=1)
    site.memory.journal.add(NewEntry(text="The webhook queue was drained by hand", topic="Webhook queue"))
    site.go("/")
    assert re.search(r"1\s+entry", site.page.inner_text(".fresh"))


def test_home_shows_what_happens_while_one_looks(site: Site) -> None:
    site.go("/")
    expect(site.page.locator("[data-feed].live")).to_have_count(1)
    site.memory.journal.add(NewEntry(text="The webhook queue was drained by hand", topic="Webhook queue"))
    expect(site.page.locator("#feed")).to_contain_text("wrote Webhook queue")


def test_everything_is_read_back_beside_other_work(site: Site) -> None:
    site.memory.learn(learning(WEBHOOKS))
    site.go("/health")
    assert re.search(r"Models\s+offline\s+Used today\s+0 calls, 0 of 500,000 tokens", site.says())
    site.press("Read everything back")
    site.follow("Learnings")
    site.go("/health")
    expect(site.page.locator("main")).to_contain_text("rows, files and indexes agree")


def test_a_learning_is_written_edited_tagged_pinned_and_archived(site: Site) -> None:
    id = write_learning(site, WEBHOOKS)
    site.follow("Edit")
    site.page.fill("[name=action]", "Fetch the object from the API instead of trusting the order of events")
    site.page.fill("[name=domain]", "")
    site.press("Save")
    assert "Fetch the object" in site.says()
    assert site.memory.learnings.get(id).domain is None
    site.page.get_by_label("Add, separated by commas").fill("payments")
    site.press("Add")
    site.press("✕ stripe")
    site.press("Pin")
    site.shot("learning")
    site.press("Unpin")
    site.press("Archive")
    stored = site.memory.learnings.get(id)
    assert (stored.status, stored.pinned, set(stored.tags)) == ("archived", False, {"webhooks", "payments"})
    assert site.memory.why(id).events[-1].channel == "page"  # type: ignore[union-attr]
    site.press("Restore")
    assert site.memory.learnings.get(id).status == "active"


def test_a_verdict_moves_the_confidence_and_its_plot(site: Site) -> None:
    id = write_learning(site, WEBHOOKS)
    site.memory.inject(task="T-1", outcome="O-1", title="Handle Stripe webhooks", learnings=(id,))
    site.go(f"/learnings/{id}")
    site.press("Misled")
    assert site.memory.learnings.get(id).confidence == 0.6
    site.press("Undo")
    assert site.memory.learnings.get(id).confidence == 0.7
    assert [one.feedback for one in site.memory.learnings.injections(id)] == [None]
    site.press("Helped")
    site.press("Misled")
    site.press("Undo")
    assert [one.feedback for one in site.memory.learnings.injections(id)] == ["helpful"]
    assert site.page.locator("svg circle.mark").count() == 6
    assert "2026-03-02" in (site.page.text_content("svg.chart") or "")


def test_a_sign_of_use_is_told_with_its_reason_beside_what_is_certain(site: Site) -> None:
    id = site.memory.learn(learning(WEBHOOKS)).learning.id
    shown = SessionEvent(session="s-1", host="codex", event="UserPromptSubmit", task="s-1", learnings=(id,))
    said = "The created timestamp of the event is compared with the stored one before applying it."
    for what in (shown, SessionTurn(session="s-1", host="codex", request="Order the refunds", answer=said)):
        assert site.memory.sessions.deliver(Write(id=f"change_{type(what).__name__}", what=what))
    site.go(f"/learnings/{id}")
    assert "seems to have used it task s-1: " in site.says()


def test_two_learnings_are_merged_and_one_replaces_another(site: Site) -> None:
    kept, other, old = (write_learning(site, fields) for fields in (WEBHOOKS, FLAKY, MIGRATIONS))
    site.go(f"/learnings/{kept}")
    site.follow("Merge or replace")
    site.page.get_by_label("The other learning").fill("flaky")
    expect(site.page.locator("#found a").first).to_contain_text("Flaky")
    site.page.locator("#found a").first.click()
    expect(site.page.locator(".pair section h2")).to_have_text([str(WEBHOOKS["title"]), str(FLAKY["title"])])
    assert site.page.locator(".pair :is(del, ins)").count() == 0, "of texts that share little nothing is marked"
    with site.page.expect_navigation():
        site.page.get_by_role("button", name="Merge").first.click()
    assert site.memory.learnings.get(other).superseded_by == kept
    site.press("Undo")
    assert site.memory.learnings.get(other).superseded_by is None
    site.go(f"/learnings/{old}/compare?other={kept}")
    with site.page.expect_navigation():
        site.page.get_by_role("button", name="Supersede").last.click()
    assert site.memory.learnings.get(old).superseded_by == kept
    assert f"Superseded by {kept}" in site.says()


def test_many_learnings_are_changed_at_once_and_back(site: Site) -> None:
    ids = [site.memory.learn(learning(fields)).learning.id for fields in (WEBHOOKS, FLAKY, MIGRATIONS)]
    site.go("/learnings")
    site.page.get_by_label("Select all on this page").check()
    expect(site.page.locator("#chosen")).to_have_text("3 selected")
    site.press("Archive")
    assert "Archived 3 learnings" in site.page.inner_text("#notices")
    assert {one.status for one in site.memory.learnings.many(ids)} == {"archived"}
    site.press("Undo")
    assert "Undone for 3 records" in site.page.inner_text("#notices")
    assert {one.status for one in site.memory.learnings.many(ids)} == {"active"}
    site.page.get_by_label("Select Stripe webhooks arrive out of order").check()
    site.page.get_by_label("Tags to add").fill("payments, urgent")
    site.press("Tag")
    assert {"payments", "urgent"} <= set(site.memory.learnings.get(ids[0]).tags)
    expect(site.page.locator(".bulk")).to_be_hidden()
    with site.page.expect_navigation():
        site.page.evaluate("document.querySelector('.choosing').requestSubmit(document.querySelector('[value=pin]'))")
    assert "Tick the rows first" in site.page.inner_text("#notices")


def test_enter_among_the_ticked_rows_tags_and_never_archives(site: Site) -> None:
    id = site.memory.learn(learning(WEBHOOKS)).learning.id
    site.go("/learnings")
    row = site.page.get_by_label("Select Stripe webhooks arrive out of order")
    row.check()
    with site.page.expect_navigation():
        row.press("Enter")
    assert "nothing changed" in site.page.inner_text("#notices")
    row.check()
    site.page.get_by_label("Tags to add").fill("payments")
    with site.page.expect_navigation():
        site.page.get_by_label("Tags to add").press("Enter")
    after = site.memory.learnings.get(id)
    assert (after.status, "payments" in after.tags) == ("active", True)


def test_enter_in_a_field_never_presses_one_of_several_verbs(site: Site, memory: Memory) -> None:
    """A form with fields to type in has one button, or its first one is what the field is for."""
    ids = [memory.learn(learning(fields)).learning.id for fields in (WEBHOOKS, FLAKY, MIGRATIONS)]
    memory.decisions.record(
        NewDecision(decision="Keep sessions in Redis, for they expire", confidence=0.8, category="x")
    )
    memory.staging.stage("When a deploy fails, roll back before reading logs", "It was down for an hour.")
    paths = [
        "/learnings",
        "/decisions",
        "/decisions/new",
        "/learnings/new",
        "/agent?prompt=webhooks",
        "/tokens",
        "/staging",
    ]
    found = []
    for path in (
        *paths,
        f"/learnings/{ids[0]}",
        f"/learnings/{ids[0]}/edit",
        "/journal",
        "/search",
        "/themes",
        "/inbox",
    ):
        site.go(path)
        found += site.page.evaluate(
            """[...document.forms].filter(form => form.querySelector('input:not([type=hidden])'))
            .map(form => [...form.querySelectorAll('button:not([type=button])')].map(button => button.textContent))
            .filter(buttons => buttons.length > 1)"""
        )
    assert [buttons[0] for buttons in found] == ["Tag"]


def test_typed_words_rank_by_best_match_unless_an_order_is_chosen(site: Site, clock: ScriptedClock) -> None:
    site.memory.learn(learning(WEBHOOKS, title="Webhooks that overtake each other need a lock on the order"))
    clock.advance(seconds=1)
    for number in range(3):
        said = {"title": f"Rule {number} of the nightly job", "observation": f"Job {number} waited for a lock"}
        site.memory.learn(learning(FLAKY, **said, context=f"Job {number}", implication=f"Wait {number}", tags=()))
    site.go("/learnings")
    first = site.page.locator("tbody tr").first
    expect(first).to_contain_text("Rule")
    site.page.get_by_label("Words").fill("overtake lock order")
    expect(first).to_contain_text("overtake")
    order = site.page.locator("[name=sort]")
    assert order.locator("option").first.inner_text() == "best match, or newest"
    order.select_option("newest")
    expect(first).to_contain_text("Rule")


def test_a_secret_typed_into_a_search_is_refused_in_its_place(site: Site) -> None:
    site.memory.learn(learning(WEBHOOKS))
    site.go("/learnings")
    words = site.page.get_by_label("Words")
    words.fill("rct_ab")
    expect(site.page.get_by_role("alert")).to_contain_text("a token must not be in an address")
    words.fill("webhooks")
    expect(site.page.locator("tbody tr")).to_have_count(1)
    answer = site.page.goto(f"{site.served.site}/search?q=rct_ab")
    assert answer is not None
    assert answer.status == 400
    assert "text/html" in answer.headers["content-type"]
    assert site.page.locator(".menu a").count() > 5
    assert "rct_ab" not in answer.text()


def test_words_and_an_order_narrow_together_and_totals_are_true(site: Site) -> None:
    for number in range(120):
        fields = {
            **WEBHOOKS,
            "title": f"Webhook handler {number:03d} must not trust the order",
            "tags": (f"n{number}",),
        }
        site.memory.learn(learning(fields, observation=f"Handler {number} of service {number} was overtaken"))
    total = site.memory.learnings.page(limit=1)[1]
    site.go("/learnings?q=webhook&sort=title")
    assert f"{total} in all" in site.says()
    titles = site.page.locator("tbody tr td:nth-child(2) a:first-child").all_text_contents()
    assert titles == sorted(titles)
    assert site.page.locator("tbody mark").count() >= len(titles)


def test_the_table_narrows_while_one_types(site: Site) -> None:
    for fields in (WEBHOOKS, MIGRATIONS, FLAKY):
        site.memory.learn(learning(fields))
    site.go("/learnings")
    expect(site.page.locator("tbody tr")).to_have_count(3)
    site.page.get_by_label("Words").fill("exclusive lock")
    expect(site.page.locator("tbody tr")).to_have_count(1)
    site.page.get_by_label("Words").fill("")
    site.page.locator("[name=sort]").select_option("title")
    expect(site.page.locator("tbody tr").first).to_contain_text("Flaky")
    site.shot("learnings")


def test_a_refused_filter_is_said_in_place_of_the_table(site: Site) -> None:
    site.memory.learn(learning(WEBHOOKS))
    site.go("/learnings")
    order = site.page.locator("[name=sort]")
    order.evaluate("select => select.options[2].value = 'moon phase'")
    order.select_option("moon phase")
    expect(site.page.get_by_role("alert")).to_contain_text("moon phase")
    expect(site.page.locator("tbody tr")).to_have_count(0)
    order.select_option("newest")
    expect(site.page.locator("tbody tr")).to_have_count(1)


def test_what_is_not_there_is_said_with_the_menu_at_hand(site: Site) -> None:
    for path in ("/learnings/learn_nothing", "/journal/daily/2026-02-30", "/nowhere"):
        answer = site.page.goto(site.served.site + path)
        assert answer is not None
        assert answer.status in (400, 404), path
        assert site.page.get_by_role("alert").is_visible()
        site.follow("Learnings")


def test_a_defect_is_a_page_with_the_menu_and_says_nothing_private(site: Site) -> None:
    def broken() -> None:
        raise ZeroDivisionError("a private word")

    site.served.app.add_api_route("/s/{space}/broken", broken, dependencies=[Public])
    answer = site.page.goto(f"{site.served.site}/broken")
    assert answer is not None
    assert answer.status == 500
    assert "internal error: ZeroDivisionError" in site.page.get_by_role("alert").inner_text()
    assert "private" not in site.page.content()
    site.follow("Learnings")


def test_what_the_form_lacks_is_said_and_what_was_typed_stays(site: Site) -> None:
    site.go("/learnings/new")
    site.page.fill("[name=title]", "Stripe webhooks arrive out of order")
    for name in FIELDS:
        site.page.fill(f"[name={name}]", " ")
    site.page.fill("[name=tags]", "stripe, webhooks")
    site.press("Save")
    assert site.page.input_value("[name=tags]") == "stripe, webhooks"
    assert "empty" in site.page.get_by_role("alert").inner_text()
    assert site.page.input_value("[name=title]") == "Stripe webhooks arrive out of order"


def test_two_editors_of_one_learning_lose_nothing(site: Site) -> None:
    id = write_learning(site, WEBHOOKS)
    second = site.another()
    second.goto(f"{site.served.site}/learnings/{id}/edit")
    site.follow("Edit")
    site.page.fill("[name=action]", "The first editor's action")
    site.press("Save")
    second.fill("[name=action]", "The second editor's action")
    with second.expect_navigation():
        second.get_by_role("button", name="Save").click()
    assert "The first editor's action" in second.inner_text(".conflict")
    assert second.input_value("[name=action]") == "The second editor's action"
    assert site.memory.learnings.get(id).action == "The first editor's action"
    with second.expect_navigation():
        second.get_by_role("button", name="Save").click()
    stored = site.memory.learnings.get(id)
    assert (stored.action, set(stored.tags)) == ("The second editor's action", set(WEBHOOKS["tags"]))


def test_a_learning_that_is_out_of_use_is_marked_among_the_hits_and_in_the_preview(site: Site) -> None:
    id = site.memory.learn(learning(WEBHOOKS)).learning.id
    site.memory.learnings.archive(id)
    for address in (f"/search?q={id}", "/agent?prompt=Stripe+webhooks+arrive+out+of+order"):
        site.go(address)
        assert "archived" in site.says().lower()


def test_a_decision_that_was_replaced_is_marked_among_the_hits_and_leads_to_the_new_one(site: Site) -> None:
    old, new = (
        site.memory.decisions.record(NewDecision(decision=text, confidence=0.8, category="storage")).decision.id
        for text in ("Keep sessions in Redis because they expire", "Keep sessions in PostgreSQL because they must last")
    )
    site.memory.decisions.reverse(old, reason="Redis lost them", by=new)
    for address in (f"/search?q={old}", "/decisions", f"/decisions/{old}"):
        site.go(address)
        assert f"superseded by {new}" in site.says().lower()


def test_search_finds_while_one_types_and_says_why(site: Site) -> None:
    site.memory.learn(learning(WEBHOOKS))
    site.memory.journal.add(NewEntry(text="The webhook queue was drained by hand", topic="Webhook queue"))
    site.go("/search")
    site.page.fill("#q", "webhook order")
    expect(site.page.locator(".hit").first).to_contain_text("webhook")
    site.shot("search")
    site.page.fill("#q", "zebra xylophone")
    expect(site.page.locator("#results")).to_contain_text("Nothing found")


def test_the_journal_is_written_and_walked_from_root_to_the_raw_words(site: Site, clock: ScriptedClock) -> None:
    site.go("/journal")
    site.page.get_by_label("What happened").fill("Moved the nightly build to the new runner; it is twice as fast.")
    site.page.get_by_label("Topic").fill("Nightly build")
    site.press("Add to today's log")
    assert "twice as fast" in site.says()
    clock.advance(days=40)
    site.go("/journal")
    site.press("Bring it up to date")
    site.shot("journal")
    site.go("/journal/root")
    for name in ("", "March 2026", "Week 10, 2 to 8 March 2026", "Monday 2 March 2026"):
        if name:
            site.follow(name)
        assert "Nightly build" in site.says()
        assert "sha256" not in site.says()
        assert "<!--" not in site.says()
    site.follow("log of 2026-03-02")
    assert "twice as fast" in site.says()
    site.follow("Everything")
    site.follow("log/2026-03-02#1")
    assert "twice as fast" in site.says()
    site.follow("Log of 2026-03-02")
    site.go("/journal")
    with site.page.expect_navigation():
        site.page.locator("svg.chart a").first.click()
    assert "Log of Monday 2 March 2026" in site.says()
    assert "ada" in site.page.inner_text(".entry .facts")


def test_an_entry_is_taken_back_and_its_words_are_in_the_form_again(site: Site) -> None:
    site.go("/journal")
    site.page.get_by_label("What happened").fill("Moved the webhook to the queue")
    site.page.get_by_label("Topic").fill("Refund webhooks")
    site.page.get_by_label("Type").select_option("reference")
    site.press("Add to today's log")
    assert "Wrote “Refund webhooks”" in site.page.inner_text("#notices")
    site.press("Undo")
    assert "Took back “Refund webhooks”" in site.page.inner_text("#notices")
    assert site.page.input_value("[name=text]") == "Moved the webhook to the queue"
    assert site.page.input_value("[name=topic]") == "Refund webhooks"
    assert site.page.input_value("[name=type]") == "reference"
    assert site.memory.search("webhook", kinds=("log",)) == []
    site.press("Add to today's log")
    assert "Moved the webhook to the queue" in site.says()


def test_a_topic_is_renamed_merged_split_taken_back_and_closed(site: Site) -> None:
    for topic in ("Nightly build", "Refund queue"):
        site.memory.journal.add(NewEntry(text=f"Worked on the {topic.lower()} and mended it", topic=topic))
    site.go("/topics")
    site.follow("Nightly build")
    assert "Life line" in site.says()
    site.page.get_by_label("Name", exact=True).fill("Nightly runs")
    site.press("Rename")
    assert site.page.inner_text("h1") == "Nightly runs"
    site.page.get_by_label("Take in another topic").fill("Refund queue")
    site.press("Merge it in")
    assert "2 entries" in site.says()
    site.page.get_by_label("Choose Refund queue").check()
    site.page.get_by_label("New topic of the chosen entries").fill("Refunds by night")
    site.press("Split off")
    assert "1 entry" in site.says()
    assert site.memory.topics.show("Refunds by night").entries[0].title == "Refund queue"
    site.press("Undo")
    assert "2 entries" in site.says()
    site.press("Close")
    assert site.page.inner_text(".facts .badge") == "done"


def test_a_decision_is_recorded_reviewed_kept_and_reversed(site: Site) -> None:
    site.go("/decisions/new")
    site.page.get_by_label("Decision").fill("Use PostgreSQL for the team's store instead of a file share")
    site.page.get_by_label("Why").fill("Many writers on many machines")
    site.page.get_by_label("Confidence").fill("0.8")
    site.page.locator("form.editor").get_by_label("Category").fill("architecture")
    site.press("Decide")
    id = site.page.url.rpartition("/")[2]
    site.page.get_by_label("Outcome").select_option("success")
    site.page.get_by_label("Lesson").fill("One server is easier to back up")
    site.press("Save the review")
    site.press("Preserve: never shrink it")
    site.follow("Edit")
    site.page.get_by_label("Pattern").fill("one store for many writers")
    site.press("Save")
    stored = site.memory.decisions.get(id)
    assert (stored.pattern, stored.reasons[0].text) == ("one store for many writers", "Many writers on many machines")
    assert (stored.outcome, stored.lesson, stored.preserve) == ("success", "One server is easier to back up", True)
    site.page.get_by_label("Reverse it because").fill("The team went back to one machine")
    site.press("Reverse")
    assert "reversed" in site.says()
    site.press("Undo")
    assert site.memory.decisions.get(id).status == "active"


def test_a_decision_is_replaced_by_one_that_is_found_by_its_words(site: Site) -> None:
    old, new = (
        site.memory.decisions.record(NewDecision(decision=text, confidence=0.8, category="storage")).decision.id
        for text in ("Keep sessions in Redis because they expire", "Keep sessions in PostgreSQL because they must last")
    )
    site.go(f"/decisions/{old}")
    site.follow("Choose the decision that replaces it")
    site.page.get_by_label("The other decision").fill("must last")
    expect(site.page.locator("#found a").first).to_contain_text("PostgreSQL")
    with site.page.expect_navigation():
        site.page.locator("#found a").first.click()
    assert site.page.locator(".pair del").all_inner_texts()[:1] == ["Redis"]
    assert site.page.locator(".pair ins").all_inner_texts()[:1] == ["PostgreSQL"]
    with site.page.expect_navigation():
        site.page.get_by_role("button", name="Supersede").last.click()
    assert site.memory.decisions.get(old).superseded_by == new
    assert "Replaced “Keep sessions in Redis" in site.page.inner_text("#notices")
    site.go("/")
    assert "replaced Keep sessions in Redis" in site.says()


def test_replacing_a_decision_is_taken_back(site: Site) -> None:
    old, new = (
        site.memory.decisions.record(NewDecision(decision=text, confidence=0.8, category="storage")).decision.id
        for text in ("Keep sessions in Redis because they expire", "Keep sessions in PostgreSQL because they must last")
    )
    site.go(f"/decisions/{old}/compare?other={new}")
    with site.page.expect_navigation():
        site.page.get_by_role("button", name="Supersede").last.click()
    site.press("Undo")
    assert site.memory.decisions.get(old).status == "active"


def test_a_learning_moves_to_the_persons_ring_and_back(site: Site) -> None:
    id = site.memory.learn(learning(WEBHOOKS)).learning.id
    site.memory.learnings.pin(id)
    site.go(f"/learnings/{id}")
    site.press("Move to me")
    assert "to your own ring" in site.page.inner_text("#notices")
    assert site.memory.learnings.get(id).status == "archived"
    site.press("Undo")
    back = site.memory.learnings.page()[0]
    assert [(one.id, one.pinned) for one in back] == [(id, True)]
    assert site.memory.learnings.page(status="all")[1] == 1


def test_two_editors_of_one_decision_lose_nothing(site: Site) -> None:
    new = NewDecision(decision="Use a queue for webhooks, not threads", confidence=0.8, category="architecture")
    id = site.memory.decisions.record(new).decision.id
    site.go(f"/decisions/{id}/edit")
    site.memory.decisions.edit(id, pattern="queues before threads")
    site.page.get_by_label("Context").fill("Bursts of four hundred events")
    site.press("Save")
    assert "Nothing was overwritten" in site.page.get_by_role("alert").inner_text()
    assert site.page.get_by_label("Context").input_value() == "Bursts of four hundred events"
    assert site.memory.decisions.get(id).pattern == "queues before threads"


def test_what_came_from_outside_is_marked_and_can_be_adopted(site: Site) -> None:
    stranger = site.memory.acting_as(STRANGER)
    id = stranger.learn(learning(WEBHOOKS)).learning.id
    chosen = NewDecision(decision="Use a queue for webhooks, not threads", confidence=0.8, category="architecture")
    decided = stranger.decisions.record(chosen).decision.id
    for path, facet in ((f"/learnings/{id}", site.memory.learnings), (f"/decisions/{decided}", site.memory.decisions)):
        site.go(path)
        assert "external" in site.says()
        site.press("Adopt")
        assert "external" not in site.page.inner_text(".facts")
        assert facet.get(path.rpartition("/")[2]).trust == "agent"


def test_a_status_update_is_no_decision_unless_one_insists(site: Site) -> None:
    site.go("/decisions/new")
    site.page.get_by_label("Decision").fill("Finished the migration and all tests pass")
    site.page.locator("form.editor").get_by_label("Category").fill("process")
    site.press("Decide")
    assert site.page.get_by_role("alert").is_visible()
    assert site.page.input_value("[name=decision]") == "Finished the migration and all tests pass"
    site.page.get_by_label("It is a decision all the same").check()
    site.press("Decide")
    assert "Finished the migration" in site.says()


def test_the_reliability_diagram_counts_reviews(site: Site) -> None:
    for number in range(6):
        made = site.memory.decisions.record(
            NewDecision(decision=f"Choose library {number} for parsing", confidence=0.9, category="tooling")
        )
        outcome = "success" if number % 2 else "failure"
        site.memory.decisions.review(made.decision.id, Review(outcome=outcome))  # type: ignore[arg-type]
    site.go("/decisions/insight")
    assert site.page.locator("svg .count").all_text_contents() == ["6"]
    assert "Over-confident: 6 reviewed" in site.says()
    site.shot("decisions")


def test_themes_are_gathered_renamed_and_a_finding_becomes_a_learning(site: Site, memory: Memory) -> None:
    for number in range(5):
        text = f"The cache key of job {number} leaves out the lock file, so builds reuse stale packages"
        memory.themes.add(f"work-{number}", NewFinding(description=text, proposed_rule="Hash the lock file"))
    site.go("/themes")
    site.follow("What a gathering would do")
    assert "5 findings would join a theme" in site.says()
    row = site.page.locator("[data-row]", has_text="work-4#1")
    with site.page.expect_navigation():
        row.get_by_role("button", name="Hold").click()
    assert "Held back finding/work-4#1" in site.page.inner_text("#notices")
    assert "work-4" not in site.page.inner_text(".diff")
    site.press("Undo")
    assert "work-4" in site.page.inner_text(".diff")
    with site.page.expect_navigation():
        row.get_by_role("button", name="Hold").click()
    shown = site.page.locator(".diff .plus").all_inner_texts()
    site.press("Gather now")
    with site.page.expect_navigation():
        site.page.locator("tbody a").first.click()
    assert "work-4" not in site.says()
    name = site.page.inner_text("h1")
    written = memory.themes.show(name)[1].splitlines()
    assert [line.removeprefix("+").rstrip("\n") for line in shown] == written
    site.page.get_by_label("New name").fill("build-caching")
    site.press("Rename")
    assert site.page.inner_text("h1") == "build-caching"
    site.shot("theme")
    with site.page.expect_navigation():
        site.page.get_by_role("button", name="Make it a learning").first.click()
    assert "/learnings/learn_" in site.page.url


BUILDS = "# Builds\n\n## Caching\n\nKeep build caches small and keyed by content.\n"


def test_staging_shows_ages_and_the_diff_and_consolidates(site: Site, tmp_path: Path, clock: ScriptedClock) -> None:
    repo = Repo(tmp_path / "project")
    day = date(2026, 1, 5)
    repo.commit(day, {"docs/builds.md": BUILDS})
    for number, topic in enumerate(
        ("lock files", "compiler flags", "base images", "test shards", "artefact names", "logs", "target triples")
    ):
        site.go("/staging")
        site.page.get_by_label("The rule").fill(f"When a build cache depends on {topic}, put {topic} into its key")
        site.page.get_by_label("Why, how, where").fill(f"Builds reused stale packages because {topic} were left out.")
        site.press("Stage")
        repo.commit(day + timedelta(days=number + 1))
    for number in range(40):
        repo.commit(day + timedelta(days=10 + number))
    clock.advance(days=8)
    site.go("/staging")
    assert "Due" in site.says()
    assert site.page.locator(".diff .plus").count() > 0
    site.shot("staging")
    held = site.page.locator(".card [data-row]").first
    title = held.inner_text().partition(" →")[0]
    with site.page.expect_navigation():
        held.get_by_role("button", name="Hold").click()
    assert title not in site.page.inner_text(".card .list")
    site.press("Undo")
    assert title in site.page.inner_text(".card .list")
    docs, staged = tmp_path / "project" / "docs", tmp_path / "project" / "memory" / "learnings.md"

    def rules(*texts: str) -> set[str]:
        return {line.strip("#*- .") for text in texts for line in text.splitlines() if "When a build cache" in line}

    before = rules(staged.read_text())
    site.press("Consolidate now")
    assert "consolidated" in site.says()
    moved = before - rules(staged.read_text())
    assert any("lock files" in rule for rule in moved)
    site.press("Undo")
    assert "Staged again: “When a build cache depends on" in site.page.inner_text("#notices")
    assert rules(staged.read_text()) == before
    assert "When a build cache" not in "".join(path.read_text() for path in docs.rglob("*.md"))


def test_a_staged_rule_is_taken_out_made_a_learning_and_back(site: Site) -> None:
    rule = "When a build cache depends on lock files, put their hash into its key"
    site.go("/staging")
    site.page.get_by_label("The rule").fill(rule)
    site.press("Stage")
    assert f"“{rule}” is staged" in site.page.inner_text("#notices")
    site.press("Undo")
    assert "Nothing is staged" in site.says() or rule not in site.page.inner_text("main")
    site.press("Undo")
    site.press("Make it a learning")
    assert f"Made a learning of “{rule}”" in site.page.inner_text("#notices")
    assert [one.title for one in site.memory.learnings.page()[0]] == [rule]
    site.press("Undo")
    assert rule in site.page.inner_text("table")
    assert site.memory.learnings.page()[0] == []
    stranger = site.memory.acting_as(STRANGER)
    stranger.staging.stage("When a deploy fails, roll back before reading logs", "It was down for an hour.")
    site.go("/staging")
    site.press("Adopt")
    assert "not adopted" not in site.memory.project.root.joinpath("memory/learnings.md").read_text()
    site.press("Undo")
    assert "not adopted" in site.memory.project.root.joinpath("memory/learnings.md").read_text()


def test_what_is_staged_is_shown_also_where_git_cannot_say_how_old_it_is(site: Site) -> None:
    site.memory.staging.stage("When a build cache depends on lock files, put their hash into its key", "It was stale.")
    site.go("/staging")
    assert "git" in site.page.get_by_role("note").inner_text()
    assert site.page.locator("tbody td").all_inner_texts()[1:3] == ["–", "–"]
    assert "lock files" in site.says()


def test_many_staged_rules_are_paged_and_an_action_keeps_the_place(site: Site) -> None:
    text = "# Learnings\n\n" + "".join(f"## When job {n} fails, read its log first\n\nTwice.\n\n" for n in range(60))
    file = site.memory.project.root / site.memory.context.settings.staging.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    site.go("/staging")
    assert site.page.locator("table tbody tr").count() == 25
    site.follow("Next →")
    site.page.get_by_role("button", name="Take out").first.click()
    site.page.wait_for_url("**/staging?offset=25")
    assert "Took out" in site.page.inner_text("#notices")
    site.press("Undo")
    assert site.page.url.endswith("/staging?offset=25")


def test_two_lists_of_a_page_keep_each_others_place(site: Site, tmp_path: Path) -> None:
    repo, day = Repo(tmp_path / "project"), date(2026, 1, 5)
    words = "lock flag image shard log target package mirror token cache queue".split()
    rules = [f"## When the {one} of a {other} changes, build the {other} again\n\nIts {one} was stale twice.\n"
             for one in words for other in words if one != other]  # fmt: skip
    staged = site.memory.context.settings.staging.file
    repo.commit(day, {"docs/builds.md": BUILDS, staged: "# Learnings\n\n" + "\n".join(rules)})
    for number in range(40):
        repo.commit(day + timedelta(days=1 + number))
    site.go("/staging")
    ready = site.page.get_by_role("navigation", name="Pages of what is ready")
    listed = site.page.get_by_role("navigation", name="Pages of what is staged")
    ready.get_by_role("link", name="Next").click()
    listed.get_by_role("link", name="Last").click()
    site.page.wait_for_url("**/staging?offset=100&ready=25")
    assert "page 2 of" in ready.inner_text()
    assert "page 5 of 5" in listed.inner_text()


def test_no_name_of_a_theme_hides_a_page_or_is_hidden(site: Site, memory: Memory) -> None:
    for number in range(5):
        text = f"The cache key of job {number} leaves out the lock file, so builds reuse stale packages"
        memory.themes.add(f"work-{number}", NewFinding(description=text, proposed_rule="Hash the lock file"))
    memory.themes.run(always=True)
    name = memory.themes.list()[0].name
    for new in ("findings", "plan", "run", "themes"):
        site.go(f"/themes/{name}")
        site.page.locator("[name=name]").fill(new)
        site.press("Rename")
        assert f"Renamed {name} to {new}" in site.page.inner_text("#notices")
        assert site.page.inner_text("h1") == new
        site.press("Undo")
        assert memory.themes.list()[0].name == name


def test_a_topic_that_is_not_there_leaves_the_search_form(site: Site) -> None:
    answer = site.page.goto(f"{site.served.site}/search?q=migr&topic=nope")
    assert answer is not None
    assert site.page.input_value("#q") == "migr"
    assert "nope" in site.page.get_by_role("alert").inner_text()


def test_a_space_is_found_without_its_slash(site: Site) -> None:
    site.page.goto(site.served.site)
    assert site.page.url == f"{site.served.site}/"
    assert site.page.inner_text("h1") == "Home"


def test_a_vague_rule_is_sent_back_with_what_was_typed(site: Site) -> None:
    site.go("/staging")
    site.page.get_by_label("The rule").fill("Be careful")
    site.press("Stage")
    assert site.page.get_by_role("alert").is_visible()
    assert site.page.get_by_label("The rule").input_value() == "Be careful"


def test_the_inbox_shows_both_sides_and_settles(site: Site) -> None:
    rule = {
        **MIGRATIONS,
        "title": "Always run migrations before the deploy",
        "action": "Run migrations before the deploy.",
    }
    old = site.memory.learn(learning(rule)).learning
    against = {
        "title": "Never run migrations before the deploy",
        "action": "Do not run migrations before the deploy.",
        "observation": "A migration that ran early broke the old version that was still serving",
    }
    new = site.memory.learn(learning(MIGRATIONS, **against)).learning
    site.go("/inbox")
    assert "Always run migrations" in site.says()
    assert "Never run migrations" in site.says()
    site.shot("inbox")
    assert site.page.locator(".pair del").first.inner_text() == "Always"
    with site.page.expect_navigation():
        site.page.get_by_role("button", name="Keep new").click()
    assert "Nothing waits" in site.says()
    assert site.memory.learnings.get(old.id).superseded_by == new.id
    site.press("Undo")
    assert "is open again" in site.page.inner_text("#notices")
    assert site.memory.learnings.get(old.id).status == "active"
    assert len(site.memory.inbox.waiting()) == 1


def test_what_the_agent_sees_is_shown_with_reasons_and_injects_what_is_ticked(site: Site) -> None:
    shown = site.memory.learn(learning(WEBHOOKS)).learning
    weak = site.memory.learn(learning(FLAKY, title="Stripe tests are flaky at night")).learning
    site.memory.learnings.edit(weak.id, confidence=0.2)
    site.go("/agent")
    site.page.get_by_label("A prompt or a task").fill("Handle Stripe webhooks that arrive out of order")
    expect(site.page.locator("[data-part=given]").first).to_contain_text("Stripe webhooks arrive out of order")
    assert site.memory.work.injections() == []
    assert "Matched: " in site.says()
    assert "left out" in site.says()
    site.shot("agent")
    site.page.get_by_text("Give the ticked learnings to a task").click()
    site.page.get_by_label("Task id").fill("T-9")
    site.press("Inject these")
    assert shown.id in site.says()
    assert [each.learning_id for each in site.memory.work.injections(task="T-9")] == [shown.id]


def test_nothing_that_is_shown_reads_as_below_a_bar_and_a_rings_hits_have_reasons(site: Site) -> None:
    mine = site.memory.learn(learning(WEBHOOKS)).learning
    moved = site.memory.learnings.move(mine.id, to="me").learning
    for number in range(6):
        text = f"Moved the Stripe webhooks of shop {number} behind a queue, because they arrive out of order"
        site.memory.journal.add(NewEntry(text=text, topic=f"Stripe webhooks of shop {number}"))
    site.go("/agent?prompt=Handle+Stripe+webhooks+that+arrive+out+of+order")
    given = "".join(site.page.locator("[data-part=given]").all_text_contents())
    told = site.page.locator("li.why")
    shown = [each for each in told.all_inner_texts() if "left out" not in each]
    assert len(shown) > 1
    assert not [each for each in shown if "below" in each.lower() or "no room" in each.lower()]
    ring = told.filter(has_text="ring me")
    assert moved.id in given
    assert "shown" in ring.inner_text()
    assert "Matched: " in ring.inner_text()
    assert str(WEBHOOKS["title"]) in ring.inner_text()


def test_the_menu_stands_still_and_controls_in_a_row_are_one_height(site: Site) -> None:
    site.page.set_viewport_size({"width": 400, "height": 800})
    menus = set()
    for path in ("/", "/search", "/agent"):
        site.go(path)
        boxes = [link.bounding_box() for link in site.page.locator(".menu a").all()]
        menus.add(str([(box["y"], box["width"], box["height"]) for box in boxes if box]))
    assert len(menus) == 1
    site.page.set_viewport_size({"width": 1280, "height": 800})
    for path in ("/search", "/learnings", "/decisions"):
        site.go(path)
        boxes = [one.bounding_box() for one in site.page.locator("form.filters").first.locator("input, select").all()]
        assert len({round(box["height"], 1) for box in boxes if box}) == 1


def test_what_a_contradiction_is_about_is_said_in_words(site: Site) -> None:
    for title, action in (
        ("Always run migrations before the deploy", "Run migrations before the deploy."),
        ("Never run migrations before the deploy", "Do not run migrations before the deploy."),
    ):
        site.memory.learn(learning(MIGRATIONS, title=title, action=action))
    site.go("/inbox")
    assert "they contradict each other" in site.says()


def test_every_part_of_the_brief_says_why_it_is_there_and_what_found_no_room(site: Site, clock: ScriptedClock) -> None:
    for number in range(60):
        said = f"Always do {number} before {number + 1}: the person insisted on the order of step {number}, " * 3
        site.memory.journal.add(NewEntry(text=said, topic=f"Order of step {number}", type="feedback"))
    clock.advance(days=1)
    site.memory.cycle()
    site.go("/agent")
    parts = site.page.locator(".start .part")
    assert parts.count() >= 4
    for part in parts.all():
        assert len(part.locator(".facts").last.text_content() or "") > 40, part.text_content()
    rules = parts.filter(has_text="What people asked for")
    told = re.search(r"(\d+) more lines found no room", rules.text_content() or "")
    assert told
    counted = re.search(r"- (\d+) more, in", rules.text_content() or "")
    assert counted
    assert told[1] == counted[1]


def test_a_hit_of_a_ring_is_a_link_where_this_server_has_its_pages(memory: Memory, chromium: Browser) -> None:
    me = memory.context.rings.named(memory.context, "me")
    moved = memory.learnings.move(memory.learn(learning(WEBHOOKS)).learning.id, to="me").learning
    spaces = Spaces(memory, places=lambda: {me.space: memory.project.home / "me"})
    with signed_in(chromium, memory, "rings", spaces=spaces) as site:
        site.go("/agent?prompt=Handle+Stripe+webhooks+that+arrive+out+of+order")
        link = site.page.locator("li.why a", has_text=str(WEBHOOKS["title"])).first.get_attribute("href")
        assert link == f"/s/{me.space}/learnings/{moved.id}"
