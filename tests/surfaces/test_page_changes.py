"""Every form of the page, sent twice: what changes nothing says so, and every Undo that is offered works, once."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from html import unescape
from pathlib import Path

import httpx
import pytest
from fastapi.routing import APIRoute

from conftest import STRANGER, Opener
from recollect import Memory, NewDecision, NewFinding
from recollect.api.pages import decisions, learnings, staging
from recollect.core.journal import NewEntry
from repos import Repo
from samples import FLAKY, MIGRATIONS, UV, WEBHOOKS, learning
from serving import serving

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

TOML = 'space = "uploads"\ntimezone = "UTC"\n[staging]\nkeep_newest = 0\nbatch = 1\n'
NOTICE = re.compile(r'<div class="notice">(.*?)</div>', re.DOTALL)
ELSEWHERE = {
    "/agent": "records what a task was shown",
    "/journal/compact": "is work that outlasts a request",
    "/health": "is work that outlasts a request",
    "/themes/run": "is work that outlasts a request",
    "/staging/consolidate": "is work that outlasts a request",
    "/seen": "changes a cookie",
    "/tokens": "shows a secret once",
    "/tokens/revoke": "says “for good” on its button",
    **dict.fromkeys(("/undo", "/journal/undo", "/inbox/{number}/undo", "/staging/{slug}/demote"), "is an undo"),
}
"""Forms that are no change to a record, and why."""


@dataclass
class Reader:
    """A browser as the forms need it: it sends where it was, and reads what a page says."""

    browser: httpx.Client
    here: str
    token: str = ""

    def send(self, path: str, **data: object) -> tuple[str, dict[str, str]]:
        """The notice of the page that follows, and the form of its Undo, if it has one."""
        self.token = self.token or re.findall(r'name="csrf_token" value="([^"]+)"', self.browser.get("/").text)[0]
        given = {name: value() if callable(value) else value for name, value in data.items()}
        answer = self.browser.post(path, data={"csrf_token": self.token, **given}, headers={"referer": self.here})
        if answer.status_code in (400, 409) and 'class="editor"' in answer.text:  # the form again, with what was typed
            return "Not done: " + said_by("".join(re.findall(r'<p role="alert">(.*?)</p>', answer.text))), {}
        assert answer.status_code == 200, f"{path}: {answer.status_code} {said_by(answer.text)}"
        found = "".join(NOTICE.findall(answer.text))
        undo = dict(re.findall(r'name="(change|back)" value="([^"]*)"', found))
        if path := re.search(r'action="([^"]+)"', found):
            undo["path"] = path[1]
        return said_by(found), {name: unescape(value) for name, value in undo.items()}

    def undo(self, form: dict[str, str]) -> str:
        given = dict(form)
        return self.send(given.pop("path"), **given)[0]


def said_by(html: str) -> str:
    return " ".join(unescape(re.sub(r"<form.*?</form>|<[^>]+>", " ", html, flags=re.DOTALL)).split())


def forms(memory: Memory) -> dict[str, tuple[str, dict[str, object]]]:
    """Each form by its route and verb, with an address and fields that change something once."""
    one, other, third, *_ = (memory.learn(learning(fields)).learning.id for fields in (WEBHOOKS, FLAKY, MIGRATIONS))
    memory.inject(task="T-1", outcome="O-1", title="Stripe webhooks", learnings=(one, other))
    kept, gone = (
        memory.decisions.record(NewDecision(decision=f"Keep {text}", confidence=0.8, category="storage")).decision.id
        for text in ("sessions in Redis, for they expire", "builds on the old runner until spring")
    )
    stranger = memory.acting_as(STRANGER)
    foreign = stranger.learn(learning(UV)).learning.id
    new_one = {
        name: f"Mirrors of the registry lag behind: {name}" for name in ("context", "observation", "implication")
    }
    moved = memory.learn(learning(UV, title="Wait for the mirror of the registry", **new_one)).learning.id
    chosen = NewDecision(decision="Use a queue for webhooks, not threads", confidence=0.8, category="architecture")
    theirs = stranger.decisions.record(chosen).decision.id
    entry = stranger.journal.add(NewEntry(text="The mirror of the registry is slow", topic="Registry mirror")).id
    for topic in ("Nightly build", "Nightly build", "Refund queue"):
        memory.journal.add(NewEntry(text=f"Worked on the {topic.lower()} and mended it", topic=topic))
    build, queue = (memory.topics.show(name).topic.id for name in ("Nightly build", "Refund queue"))
    first = memory.topics.show(build).entries[0].id
    for number in range(5):
        text = f"The cache key of job {number} leaves out the lock file, so builds reuse stale packages"
        memory.themes.add(f"work-{number}", NewFinding(description=text, proposed_rule="Hash the lock file"))
    memory.themes.run(always=True)
    theme = memory.themes.list()[0].name
    rules = {
        "hold": "When a build cache depends on lock files, put their hash into its key",
        "adopt": "When a deploy fails, roll back before reading logs",
        "withdraw": "When a test needs the time, inject a clock instead of patching one",
        "promote": "When a webhook is retried, look for its id before doing its work again",
    }
    slugs = {
        verb: (stranger if verb == "adopt" else memory).staging.stage(rule, "It went wrong twice.").id.partition("/")[2]
        for verb, rule in rules.items()
    }
    for rule in ("Always", "Never"):
        memory.learn(learning(MIGRATIONS, title=f"{rule} run migrations first", action=f"{rule} run migrations."))
    item = memory.inbox.waiting()[0].number
    words = {name: str(WEBHOOKS[name]) for name in ("context", "observation", "implication", "action")}
    new = {"title": "Wait for the queue to drain", **{name: f"{said}, seen again" for name, said in words.items()}}
    decided = {"decision": "Move the shop to one region, not three", "confidence": "0.7", "category": "architecture"}
    on_card: dict[str, tuple[str, dict[str, object]]] = {
        "archive": (one, {}),
        "restore": (one, {}),
        "pin": (one, {}),
        "unpin": (one, {}),
        "adopt": (foreign, {}),
        "tag": (one, {"tag": "payments"}),
        "helpful": (one, {}),
        "not-helpful": (other, {}),
        "no-verdict": (third, {}),
        "supersede": (third, {"other": one}),
        "move": (moved, {}),
        "merge": (one, {"other": other}),
    }
    on_decision: dict[str, tuple[str, dict[str, object]]] = {
        "review": (kept, {"outcome": "success", "result": "", "lesson": ""}),
        "preserve": (kept, {"on": "yes"}),
        "adopt": (theirs, {}),
        "reverse": (gone, {"reason": "The team went back"}),
        "supersede": (kept, {"other": theirs}),
    }
    memory.inject(task="T-2", outcome="O-1", title="Migrations", learnings=(third,))
    assert on_card.keys() == learnings.ACTIONS.keys()
    assert on_decision.keys() == decisions.VERBS.keys()
    made = {
        "/learnings": ("/learnings", new),
        "/learnings/{id}/edit": (
            f"/learnings/{one}/edit",
            {
                "version": lambda: memory.learnings.get(one).version,
                **words,
                "title": "Webhooks overtake each other",
                "tags": "stripe",
            },
        ),
        "/decisions": ("/decisions", decided),
        "/decisions/{id}/edit": (
            f"/decisions/{kept}/edit",
            {"version": lambda: memory.decisions.get(kept).version, **decided, "category": "process"},
        ),
        "/journal": ("/journal", {"text": "Moved the webhook to the queue", "topic": "Refund webhooks"}),
        "/text/{id:path}/adopt": (f"/text/{entry.replace('#', '%23')}/adopt", {}),
        "/topics/{id}/{verb} rename": (f"/topics/{queue}/rename", {"name": "Refunds by queue"}),
        "/topics/{id}/{verb} close": (f"/topics/{queue}/close", {}),
        "/topics/{id}/{verb} open": (f"/topics/{queue}/open", {}),
        "/topics/{id}/{verb} split": (f"/topics/{build}/split", {"entry": first, "name": "Builds by night"}),
        "/topics/{id}/{verb} merge": (f"/topics/{build}/merge", {"name": "Refunds by queue"}),
        "/staging": ("/staging", {"rule": "When a job is slow, profile it before adding workers", "body": "Twice."}),
        "/staging/{slug}/promote": (f"/staging/{slugs['promote']}/promote", {}),
        "/staging/restore": ("/staging/restore", {"entry": slugs["withdraw"]}),
        "/findings/{verb} hold": ("/findings/hold", {"finding": "finding/work-0#1"}),
        "/findings/{verb} release": ("/findings/release", {"finding": "finding/work-0#1"}),
        "/themes/{name}/promote": (f"/themes/{theme}/promote", {"finding": "finding/work-1#1"}),
        "/themes/{name}/rename": (f"/themes/{theme}/rename", {"name": theme}),
        "/inbox/{number}": (f"/inbox/{item}", {"verb": "dismiss"}),
    }
    for verb in ("hold", "release", "adopt", "disown", "withdraw", "restore"):
        slug = slugs[{"release": "hold", "disown": "adopt", "restore": "withdraw"}.get(verb, verb)]
        made[f"/staging/{{slug}}/{{verb}} {verb}"] = (f"/staging/{slug}/{verb}", {})
    assert staging.VERBS.keys() == {
        name.partition(" ")[2] for name in made if name.startswith("/staging/{slug}/{verb}")
    }
    for verb, (id, data) in on_decision.items():
        made[f"/decisions/{{id}}/{{verb}} {verb}"] = (f"/decisions/{id}/{verb}", data)
    for verb, (id, data) in on_card.items():
        made[f"/learnings/{{id}}/{{verb}} {verb}"] = (f"/learnings/{id}/{verb}", data)
        if verb in learnings.BULK:
            sent = {**data, "verb": verb, "learning": [foreign] if verb == "adopt" else [one, foreign]}
            made[f"/learnings/bulk {verb}"] = ("/learnings/bulk", sent)
    return made


def test_a_change_that_changes_nothing_says_so_and_offers_no_undo(memory: Memory) -> None:
    with serving(memory) as running:
        reader = Reader(running.browser(), here=f"{running.site}/learnings")
        table = forms(memory)
        posted = {
            route.path.removeprefix("/s/{space}")
            for route in running.app.routes
            if isinstance(route, APIRoute) and "POST" in route.methods and route.path.startswith("/s/{space}")
        }
        assert posted == {name.partition(" ")[0] for name in table} | ELSEWHERE.keys()
        for name, (path, data) in table.items():
            reader.send(path, **data)
            said, undo = reader.send(path, **data)
            if undo:
                told = reader.undo(undo)
                assert not told.startswith("Not "), f"{name}: “{said}” offers an Undo that says “{told}”"
                again = reader.undo(undo)
                assert again != told or "Nothing" in again, f"{name}: “{undo}” pressed twice says “{again}” twice"
            else:
                assert re.search(
                    "Nothing changed|Not done|Not undone|already|says the same|keeps its name|back", said
                ), f"{name}: {said}"


def test_undo_pressed_twice_says_that_it_is_undone(memory: Memory) -> None:
    with serving(memory) as running:
        reader = Reader(running.browser(), here=f"{running.site}/learnings")
        id = memory.learn(learning(WEBHOOKS)).learning.id
        _, undo = reader.send(f"/learnings/{id}/pin")
        assert reader.undo(undo) == "Undone: “Stripe webhooks arrive out of order”"
        assert reader.undo(undo) == "Not undone: that change was undone already"
        assert not memory.learnings.get(id).pinned


def test_the_undo_of_anything_pressed_twice_says_that_it_is_undone(memory: Memory) -> None:
    """Also without an address to come back to, as after a reload."""
    with serving(memory) as running:
        reader = Reader(running.browser(), here="")
        table = forms(memory)
        theme = table["/themes/{name}/rename"][0].split("/")[2]
        table["/themes/{name}/rename"] = (f"/themes/{theme}/rename", {"name": "stale-builds"})
        for name in ("/inbox/{number}", "/themes/{name}/rename", "/staging", "/staging/{slug}/promote",
                     "/staging/{slug}/{verb} withdraw", "/learnings/{id}/{verb} move"):  # fmt: skip
            path, data = table[name]
            _, undo = reader.send(path, **data)
            assert not reader.undo(undo).startswith("Not "), name
            again = reader.undo(undo)
            assert again.startswith("Not undone: "), f"{name}: {again}"
            assert "already" in again, f"{name}: {again}"


def test_several_are_named_when_they_change_and_when_that_is_undone(memory: Memory) -> None:
    with serving(memory) as running:
        reader = Reader(running.browser(), here=f"{running.site}/learnings")
        ids = [memory.learn(learning(fields)).learning.id for fields in (WEBHOOKS, FLAKY, MIGRATIONS, UV)]
        memory.learnings.pin(ids[0])
        said, undo = reader.send("/learnings/bulk", verb="pin", learning=ids[:2])
        assert said == "Pinned 1 learning: “Flaky browser tests wait for the network”; 1 was so already"
        assert reader.undo(undo) == "Undone: “Flaky browser tests wait for the network”"
        assert memory.learnings.get(ids[0]).pinned
        said, undo = reader.send("/learnings/bulk", verb="archive", learning=ids)
        assert said.startswith("Archived 4 learnings: “Stripe webhooks arrive out of order”, “")
        assert said.endswith("” and 1 more")
        assert reader.undo(undo).startswith("Undone for 4 records: “")


def test_the_page_and_rest_show_the_claims_of_two_staged_entries_beside_each_other(
    open_memory: Opener, tmp_path: Path
) -> None:
    older = "# Learnings\n\n## Always sign release tags\n\n- Log who signed.\n- Retry a failed upload 3 times.\n"
    newer = f"{older}\n## Uploads\n\nRetry a failed upload 5 times.\n"
    work = [(date(2026, 1, day), {"memory/learnings.md": newer, "recollect.toml": TOML}) for day in range(1, 20)]
    Repo(tmp_path / "project").import_history(work)
    memory = open_memory()
    memory.staging.consolidate()
    claims = ("Retry a failed upload 3 times.", "Retry a failed upload 5 times.")
    with serving(memory) as served:
        detail = served.client("person").get("/api/inbox/1").json()["detail"]
        assert (detail["known"], detail["new"]) == claims
        page = served.browser().get("/inbox").text
        assert tuple(re.findall(r'<p class="lead">(Retry.*?)</p>', page)) == claims
