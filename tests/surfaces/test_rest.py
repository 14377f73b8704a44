"""REST over real HTTP, on both engines: what workers, programs and editors rely on."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import httpx
import pytest

from recollect import Memory, ScriptedClock
from recollect.store import events
from repos import Repo
from serving import Served, serving

WEBHOOKS = {
    "title": "Stripe webhooks arrive out of order",
    "context": "Integrating Stripe payments",
    "observation": "Webhook deliveries can overtake each other",
    "implication": "Handlers must not assume an order",
    "action": "Compare the event's created timestamp before applying it",
    "tags": ["stripe"],
    "domain": "payments",
    "pattern_type": "gotcha",
}
DECISION = {"decision": "Process Stripe webhooks from a queue", "confidence": 0.8, "category": "architecture"}


@pytest.fixture
def served(memory: Memory) -> Iterator[Served]:
    with serving(memory) as running:
        yield running


@pytest.fixture
def api(served: Served) -> httpx.Client:
    return served.client("api")


def learned(api: httpx.Client, **given: Any) -> dict[str, Any]:
    answer = api.post("/api/learnings?anyway=true", json={**WEBHOOKS, **given})
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()["learning"]
    return made


# Learnings


def test_a_learning_is_created_and_read_back(api: httpx.Client) -> None:
    answer = api.post("/api/learnings", json=WEBHOOKS)
    made = answer.json()["learning"]
    assert answer.status_code == 201
    assert api.get(answer.headers["location"]).json() == made
    assert made["title"] == WEBHOOKS["title"]
    assert made["created_at"] == "2026-03-02T09:00:00Z"
    assert made["trust"] == "agent"


def test_the_same_insight_again_is_the_same_learning(api: httpx.Client) -> None:
    first = learned(api)
    again = api.post("/api/learnings", json=WEBHOOKS)
    assert again.status_code == 200
    assert again.json()["learning"]["id"] == first["id"]
    assert again.json()["merged"] is True


def test_a_token_does_not_choose_a_confidence(api: httpx.Client) -> None:
    refused = api.post("/api/learnings", json={**WEBHOOKS, "confidence": 1.0})
    assert (refused.status_code, "only a person" in refused.json()["detail"]) == (403, True), refused.text


def test_a_learning_that_teaches_nothing_is_refused_unless_insisted_on(api: httpx.Client) -> None:
    thin = dict.fromkeys(("title", "context", "observation", "implication", "action"), "It broke")
    refused = api.post("/api/learnings", json=thin)
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:recollect:rejected")
    assert api.post("/api/learnings", params={"anyway": True}, json=thin).status_code == 201


def test_learnings_are_listed_by_every_filter_of_the_seed(api: httpx.Client) -> None:
    kept = learned(api)
    learned(api, title="Indexes lock tables", observation="A plain index build blocks writes", domain="database",
            context="Migrating", implication="Downtime", action="Build it concurrently", tags=[],
            pattern_type="solution")  # fmt: skip

    def ids(**wanted: Any) -> list[str]:
        answer = api.get("/api/learnings", params=wanted)
        assert answer.status_code == 200, answer.text
        return [one["id"] for one in answer.json()["learnings"]]

    assert ids(domain="payments") == [kept["id"]]
    assert ids(minConfidence=0.6) == ids(min_confidence=0.6) == [kept["id"]]
    assert ids(query="stripe webhooks") == ids(search="stripe webhooks") == [kept["id"]]
    assert ids(tag="stripe") == [kept["id"]]
    assert ids(status="archived") == []
    assert len(ids(status="all")) == 2


def test_pages_link_to_their_neighbours(api: httpx.Client) -> None:
    for number in range(5):
        api.post("/api/outcomes", json={"id": f"o{number}"}).raise_for_status()
    seen = []
    address = "/api/outcomes?limit=2"
    while address:
        answer = api.get(address)
        assert answer.json()["total"] == 5
        seen += [one["id"] for one in answer.json()["outcomes"]]
        address = answer.links.get("next", {}).get("url", "")
    assert sorted(seen) == [f"o{number}" for number in range(5)]
    assert api.get("/api/outcomes?limit=2&offset=2").links["prev"]["url"] == "/api/outcomes?limit=2&offset=0"


def test_search_gives_results_with_score_and_fields(api: httpx.Client) -> None:
    kept = learned(api)
    found = api.get("/api/learnings/search", params={"query": "stripe webhooks", "minConfidence": 0.6}).json()
    assert (found["total"], found["limit"], found["offset"]) == (1, 10, 0)
    assert found["results"][0]["learning"]["id"] == kept["id"]
    assert "title" in found["results"][0]["matched_fields"]


def test_a_search_links_to_its_next_part(api: httpx.Client) -> None:
    kept = {learned(api, title=f"Stripe webhooks reach worker {number} late")["id"] for number in range(5)}
    assert len(kept) == 5
    seen: list[str] = []
    address = "/api/search?query=stripe+webhooks&kind=learning&limit=2"
    while address:
        answer = api.get(address)
        seen += [one["id"] for one in answer.json()["results"]]
        address = answer.links.get("next", {}).get("url", "")
        assert answer.json()["total"] == len(seen) + bool(address)
    assert sorted(seen) == sorted(kept)


def test_a_learning_is_edited_archived_and_brought_back(api: httpx.Client) -> None:
    id = learned(api)["id"]
    edited = api.patch(f"/api/learnings/{id}", json={"tags": ["payments"], "pinned": True}).json()
    assert (edited["tags"], edited["pinned"]) == (["payments"], True)
    assert api.delete(f"/api/learnings/{id}").json()["status"] == "archived"
    assert api.patch(f"/api/learnings/{id}", json={"status": "active"}).json()["status"] == "active"
    assert api.patch(f"/api/learnings/{id}", json={"status": "archived", "title": "Old"}).json()["title"] == "Old"


def test_the_second_of_two_editors_is_told_and_nothing_is_lost(api: httpx.Client) -> None:
    id = learned(api)["id"]
    first, second = api.get(f"/api/learnings/{id}"), api.get(f"/api/learnings/{id}")
    done = api.patch(f"/api/learnings/{id}", json={"title": "First"}, headers={"if-match": first.headers["etag"]})
    late = api.patch(f"/api/learnings/{id}", json={"title": "Second"}, headers={"if-match": second.headers["etag"]})
    assert (done.status_code, late.status_code) == (200, 412)
    assert "read it again" in late.json()["detail"]
    assert api.get(f"/api/learnings/{id}").json()["title"] == "First"
    assert api.delete(f"/api/learnings/{id}", headers={"if-match": first.headers["etag"]}).status_code == 412
    assert api.delete(f"/api/learnings/{id}", headers={"if-match": done.headers["etag"]}).status_code == 200


def test_a_worker_claims_a_task_finishes_it_and_its_verdict_counts(api: httpx.Client) -> None:
    kept = learned(api)
    task = {"task": "pay-1", "outcome": "refunds", "title": "Handle Stripe refund webhooks in order"}
    shown = api.post("/api/inject", json=task).json()
    assert [one["id"] for one in shown["learnings"]] == [kept["id"]]
    assert kept["id"] in shown["markdown"]
    assert [one["task_id"] for one in api.get("/api/injections?task=pay-1").json()["injections"]] == ["pay-1"]

    said = "DISCOVERY[blocker]: Adding a column with a default locks the orders table, so backfill in batches."
    seen = api.post("/api/observe", json={"output": said, "task": "pay-1", "outcome": "refunds"}).json()
    assert [one["type"] for one in seen["discoveries"]] == ["blocker"]

    taken = api.post("/api/feedback", json={"output": f"LEARNING_HELPFUL: {kept['id']}", "task": "pay-1"}).json()
    assert taken["counted"] == [kept["id"]]
    assert api.get(f"/api/learnings/{kept['id']}").json()["confidence"] == 0.75
    assert len(api.get(f"/api/learnings/{kept['id']}/history").json()["events"]) == 2


def test_a_verdict_by_hand_takes_our_names_and_those_of_the_seed(api: httpx.Client) -> None:
    id = learned(api)["id"]
    for task, body in (("t", {"task": "t", "verdict": "not_helpful"}), ("u", {"taskId": "u", "helpful": False})):
        shown = {"task": task, "outcome": "o", "title": "x", "learnings": [id]}
        api.post("/api/inject", json=shown).raise_for_status()
        answer = api.post(f"/api/learnings/{id}/feedback", json=body)
        assert answer.status_code == 200, answer.text
    assert answer.json()["times_not_helpful"] == 2
    nowhere = api.post(f"/api/learnings/{id}/feedback", json={"task": "elsewhere", "verdict": "helpful"})
    assert nowhere.status_code == 409


def test_a_preview_shows_what_a_task_would_be_shown_and_records_nothing(served: Served) -> None:
    kept = learned(served.client("api"))
    task = {"task": "pay-1", "outcome": "refunds", "title": "Handle Stripe refund webhooks in order"}
    seen = served.client("reader").post("/api/inject/preview", json=task).json()
    assert [one["id"] for one in seen["learnings"]] == [kept["id"]]
    assert served.client("api").get("/api/injections").json()["total"] == 0
    assert served.client("api").get("/api/tasks").json()["total"] == 0


def test_the_last_change_can_be_undone_but_a_persons_only_by_a_person(served: Served) -> None:
    api, person = served.client("api"), served.client("person")
    id = learned(api)["id"]
    api.patch(f"/api/learnings/{id}", json={"title": "Newer"}).raise_for_status()
    assert [one["title"] for one in api.post("/api/undo", json={}).json()["learnings"]] == [WEBHOOKS["title"]]
    person.patch(f"/api/learnings/{id}", json={"title": "Mine"}).raise_for_status()
    assert api.post("/api/undo", json={}).status_code == 403
    assert person.post("/api/undo", json={}).json()["decisions"] == []


def test_whoever_read_an_older_version_neither_merges_nor_supersedes_nor_preserves_nor_adopts(served: Served) -> None:
    person = served.client("person")
    id = learned(person)["id"]
    other = learned(person, **dict.fromkeys(("title", "action"), "Build concurrently"))["id"]
    decision = person.post("/api/decisions", json=DECISION).json()["decision"]["id"]
    changes: list[tuple[str, dict[str, Any]]] = [
        (f"/api/learnings/{id}/merge", {"id": other}),
        (f"/api/learnings/{id}/supersede", {"id": other}),
        (f"/api/learnings/{id}/adopt", {}),
        (f"/api/decisions/{decision}/preserve", {}),
        (f"/api/decisions/{decision}/adopt", {}),
    ]
    for path, body in changes:
        assert person.post(path, json=body, headers={"if-match": '"7"'}).status_code == 412, path
    tag = person.get(f"/api/learnings/{id}").headers["etag"]
    assert person.post(f"/api/learnings/{id}/merge", json={"id": other}, headers={"if-match": tag}).status_code == 200


def test_a_read_is_answered_again_only_when_something_changed(api: httpx.Client) -> None:
    id = learned(api)["id"]
    for path in (f"/api/learnings/{id}", "/api/learnings", "/api/status", "/health"):
        tag = api.get(path).headers["etag"]
        again = api.get(path, headers={"if-none-match": f'"other", W/{tag}'})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", tag)
    tag = api.get(f"/api/learnings/{id}").headers["etag"]
    task = {"task": "t", "outcome": "o", "title": "x", "learnings": [id]}
    api.post("/api/inject", json=task).raise_for_status()  # moves a counter, which is not an edit
    assert api.get(f"/api/learnings/{id}", headers={"if-none-match": tag}).status_code == 200
    assert api.patch(f"/api/learnings/{id}", json={"pinned": True}, headers={"if-match": tag}).status_code == 200


def test_head_answers_as_get_does_without_a_body(served: Served) -> None:
    api = served.client("api")
    for path in ("/health", "/api/learnings", "/api/learnings/learn_nowhere", "/sign-in"):
        head, get = api.head(path), api.get(path)
        assert (head.status_code, head.content) == (get.status_code, b"")
        assert head.headers["content-length"] == get.headers["content-length"]


def test_an_unknown_field_is_refused_at_any_depth(api: httpx.Client) -> None:
    for wrong in ({"reasons": [{"text": "Bursts", "txet": "x"}]}, {"bridge": {"structure": "Queue", "sructure": "x"}}):
        refused = api.post("/api/decisions", json={**DECISION, **wrong})
        assert (refused.status_code, "unknown field" in refused.json()["detail"]) == (400, True), refused.text
        call = {"jsonrpc": "2.0", "id": 1, "method": "cstp.recordDecision", "params": {**DECISION, **wrong}}
        assert "error" not in api.post("/cstp", json=call).json()  # other clients' keys are kept as words


def test_trust_comes_from_the_token(served: Served, memory: Memory) -> None:
    made = {}
    for name in ("api", "person", "import"):
        fields = ("title", "context", "observation", "implication", "action")
        own = {field: f"What {name} saw of the {field} of {name}" for field in fields}
        made[name] = learned(served.client(name), **own)
    assert [one["trust"] for one in made.values()] == ["agent", "human", "external"]
    events = memory.why(made["import"]["id"]).events  # type: ignore[union-attr]
    assert [(event.who, event.channel) for event in events] == [("import", "import")]
    stranger = made["import"]["id"]
    assert served.client("api").post(f"/api/learnings/{stranger}/adopt", json={}).status_code == 403
    assert served.client("person").post(f"/api/learnings/{stranger}/adopt", json={}).json()["trust"] == "agent"
    place = served.client("import").post("/api/logs", json={"text": "Ask the zebras"}).headers["location"]
    assert served.client("api").post(f"{place}/adopt", json={}).status_code == 403
    assert served.client("person").post(f"{place}/adopt", json={}).json()["trust"] == "agent"


def test_every_write_is_an_event_with_the_tokens_name_and_channel(served: Served, memory: Memory) -> None:
    person = served.client("person")
    id, other = learned(person)["id"], learned(person, **dict.fromkeys(("title", "action"), "Build concurrently"))["id"]
    decision = person.post("/api/decisions", json=DECISION).json()["decision"]["id"]
    writes: list[tuple[str, str, dict[str, Any]]] = [
        ("PATCH", f"/api/learnings/{id}", {"tags": ["new"]}),
        ("POST", "/api/inject", {"task": "t", "outcome": "o", "title": "x", "learnings": [id]}),
        ("POST", f"/api/learnings/{id}/feedback", {"task": "t", "verdict": "helpful"}),
        ("POST", f"/api/learnings/{other}/supersede", {"id": id}),
        ("DELETE", f"/api/learnings/{id}", {}),
        ("POST", "/api/observe", {"task": "t2", "output": "DISCOVERY[blocker]: The sandbox answers 429 under load."}),
        ("POST", "/api/outcomes", {"id": "out-1", "name": "Refunds"}),
        ("POST", "/api/tasks", {"id": "task-1", "title": "Refund"}),
        ("POST", "/api/logs", {"text": "Moved the webhook.", "topic": "refunds"}),
        ("PATCH", f"/api/decisions/{decision}", {"context": "Bursts"}),
        ("POST", f"/api/decisions/{decision}/preserve", {}),
        ("POST", f"/api/decisions/{decision}/review", {"outcome": "success"}),
        ("POST", "/api/findings", {"work_id": "w", "description": "The cache key misses the lock file"}),
        ("POST", "/api/staged", {"title": "Always pin the base image by digest", "body": "Tags move between builds."}),
    ]
    last = 0
    for method, path, body in writes:
        answer = person.request(method, path, json=body)
        assert answer.is_success, f"{path}: {answer.text}"
        with memory.context.db.read(memory.context.space) as tx:
            fresh = [event for event in events.all_of(tx) if event.seq > last and event.subject[:6] != "token_"]
        assert fresh, f"{method} {path} left no event"
        assert {(event.who, event.channel) for event in fresh} == {("person", "person")}
        last = fresh[-1].seq


# The other nouns


def test_entries_go_to_the_log_and_up_the_tree(api: httpx.Client, clock: ScriptedClock) -> None:
    logged = api.post("/api/logs", json={"text": "Moved the refund webhook to the queue.", "topic": "refunds"})
    assert logged.status_code == 201
    assert api.get(logged.headers["location"]).json()["topic"] == "refunds"
    assert api.get("/api/logs").json()["days"] == [{"day": "2026-03-02", "entries": 1}]
    assert "refund webhook" in api.get("/api/logs/2026-03-02").json()["text"]
    assert api.post("/api/tree/compact", json={}).json()["done"]["changes"]
    assert [node["id"] for node in api.get("/api/tree").json()["nodes"]] == ["root", "monthly/2026-03"]
    assert api.get("/api/tree/daily/2026-03-02").json()["sources"]
    assert api.get("/api/tree/root").json()["id"] == "root"
    assert api.get("/api/tree/nowhere").status_code == 404
    assert (
        api.get("/api/search", params={"query": "refund webhook", "kind": "log"}).json()["results"][0]["id"]
        == "log/2026-03-02#1"
    )
    assert api.get("/api/why/log/2026-03-02%231").json()["topic"] == "refunds"


def test_decisions_are_recorded_reviewed_and_counted(api: httpx.Client) -> None:
    made = api.post("/api/decisions", json={**DECISION, "reasons": [{"kind": "analysis", "text": "Bursts time out"}]})
    id = made.json()["decision"]["id"]
    assert api.get("/api/review-queue").json()["total"] == 1
    stale = api.post(f"/api/decisions/{id}/review", json={"outcome": "success"}, headers={"if-match": '"7"'})
    assert stale.status_code == 412
    reviewed = api.post(f"/api/decisions/{id}/review", json={"outcome": "success", "lesson": "Queues absorb bursts"})
    assert reviewed.json()["outcome"] == "success"
    assert api.get("/api/calibration").json()["overall"]["decisions"] == 1
    assert api.get("/api/decisions", params={"query": "webhooks"}).json()["decisions"][0]["id"] == id
    assert api.get("/api/decisions/compacted").json()["full"][0]["id"] == id
    assert api.post(f"/api/decisions/{id}/preserve", json={}).json()["preserve"] is True
    assert api.get("/api/wisdom").json()["wisdom"] == []


def test_findings_gather_into_themes(api: httpx.Client) -> None:
    for number in range(5):
        made = api.post(
            "/api/findings",
            json={"workId": f"w{number}", "description": f"The build cache key misses the lock file, case {number}"},
        )
        assert made.status_code == 201, made.text
    assert api.get(made.headers["location"]).json()["work_id"] == "w4"
    assert api.get("/api/findings").json()["total"] == 5
    assert api.post("/api/themes/run", json={}).json()["ran"] is True
    name = api.get("/api/themes").json()["themes"][0]["name"]
    assert api.patch(f"/api/themes/{name}", json={"name": "build-cache"}).json()["name"] == "build-cache"
    assert "build cache" in api.get("/api/themes/build-cache").json()["text"].lower()


def test_a_name_in_any_script_is_an_address(api: httpx.Client) -> None:
    made = api.post("/api/findings", json={"work_id": "größe𠙛", "description": "The build cache misses the lock file"})
    assert made.status_code == 201, made.text
    assert api.get(made.headers["location"]).json()["work_id"] == "größe𠙛"


def test_learnings_are_staged_and_consolidation_says_whether_it_is_due(api: httpx.Client, tmp_path: Path) -> None:
    staged = api.post("/api/staged", json={
        "title": "Always pin the base image by digest", "body": "Tags move: two builds of one commit differed.",
    })  # fmt: skip
    assert staged.status_code == 201
    vague = api.post("/api/staged", json={"title": "Be careful", "body": "It broke."})
    assert vague.status_code == 422
    assert "not staged" in vague.json()["detail"]
    assert api.get("/api/staged").status_code == 409  # git cannot say yet how old it is
    Repo(tmp_path / "project").commit(date(2026, 3, 2))
    assert [one["age"] for one in api.get("/api/staged").json()["staged"]] == [0]
    assert api.get("/api/search", params={"query": "base image digest", "kind": "staged"}).json()["total"] == 1
    assert api.post("/api/consolidate", json={"dryRun": True}).json()["due"] is False


def test_only_a_person_settles_what_waits(served: Served) -> None:
    api, person = served.client("api"), served.client("person")
    learned(api, title="Deploy on Fridays", observation="Always deploy on Fridays", context="Deploying",
            implication="Deploys happen on Fridays", action="Always deploy on Fridays")  # fmt: skip
    learned(api, title="Never deploy on Fridays", observation="Never deploy on Fridays", context="Deploying",
            implication="Deploys never happen on Fridays", action="Never deploy on Fridays")  # fmt: skip
    items = api.get("/api/inbox").json()["items"]
    assert [item["kind"] for item in items] == ["contradiction"]
    address = f"/api/inbox/{items[0]['number']}"
    assert api.post(f"{address}/resolve", json={"verb": "keep-both"}).status_code == 403
    assert person.post(f"{address}/resolve", json={"verb": "keep-both"}).json()["resolution"] == "keep-both"
    assert api.get("/api/inbox").json()["total"] == 0


def test_status_and_cycle_answer(api: httpx.Client) -> None:
    assert api.get("/api/status").json()["actor"] == {"name": "api", "channel": "api", "trust": "agent"}
    assert api.post("/api/cycle", json={}).json()["steps"][0] == ["tree", "nothing due"]
    assert api.get("/health").json() == {"status": "ok"}


# JSON-RPC


def test_json_rpc_answers_calls_and_batches(api: httpx.Client) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "cstp.recordDecision", "params": DECISION}
    made = api.post("/cstp", json=call).json()["result"]
    query = {"jsonrpc": "2.0", "id": 2, "method": "cstp.getDecision", "params": {"id": made["id"]}}
    assert [one["result"]["id"] for one in api.post("/cstp", json=[query, query]).json()] == [made["id"]] * 2
    assert api.post("/cstp", json={"jsonrpc": "2.0", "method": "cstp.compact"}).status_code == 204


def test_a_batch_is_bounded(api: httpx.Client) -> None:
    call = {"jsonrpc": "2.0", "id": 1, "method": "cstp.getWisdom"}
    assert api.post("/cstp", json=[call] * 10_000).json()["error"]["code"] == -32600


def test_a_read_only_token_calls_only_what_reads(served: Served, memory: Memory) -> None:
    reader = served.client("reader")
    asked = reader.post("/cstp", json={"jsonrpc": "2.0", "id": 1, "method": "cstp.getWisdom"}).json()
    assert asked["result"] == {"wisdom": []}
    for method, params in (("recordDecision", DECISION), ("compact", {}), ("setPreserve", {"id": "dec_1"}),
                           ("reviewDecision", {"id": "dec_1", "outcome": "success"})):  # fmt: skip
        said = reader.post("/cstp", json={"jsonrpc": "2.0", "id": 1, "method": f"cstp.{method}", "params": params})
        scopes = f"--scope read --scope {'admin' if method == 'compact' else 'write'}"
        refusal = f"may only read; make another with: recollect host token new NAME {scopes}"
        assert refusal in said.json()["error"]["message"]
    assert memory.decisions.page()[1] == 0


def test_a_method_that_an_address_does_not_take_is_told_those_it_does(api: httpx.Client) -> None:
    answer = api.put("/api/learnings", json={})
    assert (answer.status_code, answer.headers["allow"]) == (405, "GET, HEAD, POST")
    assert api.put("/api/learnings/learn_x", json={}).headers["allow"] == "DELETE, GET, HEAD, PATCH"


# Threads


def test_eight_editors_of_one_text_lose_no_word(served: Served) -> None:
    id = learned(served.client("api"))["id"]

    def write(word: str) -> int:
        client, tries = served.client("api"), 0
        while True:
            tries += 1
            read = client.get(f"/api/learnings/{id}")
            longer = f"{read.json()['action']} {word}"
            answer = client.patch(
                f"/api/learnings/{id}", json={"action": longer}, headers={"if-match": read.headers["etag"]}
            )
            if answer.status_code == 200:
                return tries
            assert answer.status_code == 412, answer.text

    words = [f"word{number}" for number in range(24)]
    with ThreadPoolExecutor(8) as pool:
        tries = sum(pool.map(write, words))
    final = served.client("api").get(f"/api/learnings/{id}").json()
    assert set(words) <= set(final["action"].split())
    assert final["version"] == 1 + len(words)
    assert tries > len(words), "nobody was ever slower: the test did not put them against each other"


def test_threads_share_one_memory_without_losing_a_write(served: Served, memory: Memory) -> None:
    def work(number: int) -> list[int]:
        client = served.client("api")
        said = [client.post("/api/tasks", json={"id": f"t{number}-{n}"}).status_code for n in range(10)]
        return [*said, client.get("/api/learnings/search?query=stripe").status_code]

    with ThreadPoolExecutor(16) as pool:
        seen = {status for statuses in pool.map(work, range(16)) for status in statuses}
    assert seen == {200, 201}
    assert memory.work.task_page()[1] == 160
