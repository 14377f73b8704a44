"""Rows and what is derived from them agree; where they do not, it is seen, and rebuilt to the byte (P6)."""

from __future__ import annotations

import pytest

from conftest import Opener
from embedded import derived_dump, engine, fill, raw  # noqa: F401
from recollect import LearningEdit, Memory, NewDecision, NewFinding, ScriptedClock
from recollect.core.records import Passage
from recollect.store import passages
from recollect.tend.kinds import KINDS
from samples import WEBHOOKS, learning


def differences(memory: Memory) -> list[str]:
    return [f"{found.level} {found.what} {found.subject}: {found.detail}" for found in memory.data.verify()]


def test_after_ordinary_work_everything_agrees(memory: Memory) -> None:
    ids = fill(memory)
    memory.learnings.edit(ids[0], LearningEdit(observation="Deliveries overtake each other under load"))
    memory.learnings.merge(ids[1], ids[2])
    memory.learnings.undo()
    memory.rate(ids[0], "not_helpful", task="t1")
    memory.cycle()
    assert differences(memory) == []


class Ticking:
    """A real clock shows another time whenever it is asked."""

    def __init__(self) -> None:
        self._at = 1_772_442_000_000

    def now(self) -> int:
        self._at += 1
        return self._at


def test_whatever_is_captured_agrees_while_the_clock_goes_on(open_memory: Opener) -> None:
    memory = open_memory(clock=Ticking())
    memory.learn(learning(WEBHOOKS))
    memory.observe("DISCOVERY[constraint]: The queue takes 256 KB, so larger payloads go to a store.", task="t1")
    memory.journal.add(topic="refunds", text="Moved the refund webhook to the queue")
    memory.decisions.record(NewDecision(decision="Use a queue for webhooks", confidence=0.8, category="architecture"))
    memory.staging.stage("When a build cache depends on lock files, put their hash into its key")
    for number in range(5):
        memory.themes.add(f"wu-{number}", NewFinding(description=f"The build cache key misses hash {number}"))
    assert differences(memory) == []
    memory.themes.run()
    memory.journal.compact()
    assert differences(memory) == []


@pytest.mark.parametrize("day", ["2026-03-02", "2026-01-15"])
@pytest.mark.parametrize("words", [12, 600_000])
def test_an_entry_whose_writer_was_killed_before_its_rows_is_read_in_by_verify(
    memory: Memory, day: str, words: int
) -> None:
    memory.journal.add(topic="refunds", text="Moved the refund webhook to the queue")
    memory.context.vault.append(f"{day}.md", f"## ledger [project]\n\nThe ledger balances. {'word ' * words}\n")
    assert differences(memory) == []
    assert memory.search("ledger balances")


IN_DERIVED: dict[str, str] = {
    "a lost passage": "DELETE FROM passages WHERE kind = 'learning' AND title LIKE 'Long%'",
    "a changed letter in a passage": "UPDATE passages SET text = replace(text, 'Webhook', 'Webhoek')",
    "stale terms": "UPDATE passages SET terms = 'stripe' WHERE title LIKE 'Stripe%'",
    "a lost term": "DELETE FROM terms WHERE term = 'stripe'",
    "a wrong term count": "UPDATE terms SET docs = docs + 1 WHERE term = 'stripe'",
    "a wrong number of passages": "UPDATE terms SET docs = docs - 1 WHERE term = ''",
    "a term of nothing": "INSERT INTO terms SELECT space, 'ghost', 3 FROM spaces",
    "a word index without a document": "DELETE FROM passage_words WHERE rowid = 1",
    "a word index with one too many": "INSERT INTO passage_words (rowid, terms) VALUES (99, '1+stripe')",
    "a word of nothing": "INSERT INTO passage_words (rowid, terms) VALUES (99, '1:ghost')",
    "an empty word index": "INSERT INTO passage_words (passage_words) VALUES ('delete-all')",
    "a broken word index": "UPDATE passage_words_data SET block = x'0badc0de' WHERE id > 10",
    "a counter too high": "UPDATE learnings SET times_helpful = 9999",
    "an injection not counted": "UPDATE learnings SET times_injected = 0",
    "a recurrence without a source": "UPDATE learnings SET recurrence = 7",
}


IN_HOMES: dict[str, str] = {
    "a changed letter in a learning": "UPDATE learnings SET observation = replace(observation, 'row', 'raw')",
    "a lost tag": "DELETE FROM learning_tags WHERE tag = 'locks'",
}


@pytest.mark.parametrize("statement", IN_DERIVED.values(), ids=IN_DERIVED)
def test_a_difference_in_what_is_derived_is_seen_and_mended(memory: Memory, statement: str) -> None:
    fill(memory)
    before = derived_dump(memory)
    raw(memory).execute(statement)
    assert differences(memory)
    memory.data.rebuild()
    assert differences(memory) == []
    assert derived_dump(memory) == before


@pytest.mark.parametrize("statement", IN_HOMES.values(), ids=IN_HOMES)
def test_a_change_behind_our_back_is_seen(memory: Memory, statement: str) -> None:
    fill(memory)
    raw(memory).execute(statement)
    assert any("shows something else" in difference for difference in differences(memory))


def test_a_rebuild_is_equal_to_the_byte_and_twice_is_once(memory: Memory) -> None:
    ids = fill(memory)
    memory.learnings.edit(ids[2], LearningEdit(action="Wait for what the page shows"))
    before = derived_dump(memory)
    raw(memory).execute("DELETE FROM passages")
    raw(memory).execute("DELETE FROM terms")
    raw(memory).execute("INSERT INTO passage_words (passage_words) VALUES ('delete-all')")
    assert memory.search("stripe") == []
    memory.data.rebuild()
    assert derived_dump(memory) == before
    memory.data.rebuild()
    assert derived_dump(memory) == before


def test_a_passage_that_nobody_owns_is_named_and_removed(memory: Memory) -> None:
    fill(memory)
    stray = Passage(id="stray/1", kind="stray", title="Stray", lines=("nobody owns this",), at=1, trust="agent")
    with memory.context.db.write(memory.context.space) as tx:
        passages.put(tx, stray)
    assert differences(memory) == ["difference passage stray/1: a stray passage that nothing owns"]
    assert memory.data.rebuild().orphans == 1
    assert differences(memory) == []


def test_references_to_nothing_are_told_but_nothing_is_touched(memory: Memory) -> None:
    fill(memory)
    raw(memory).execute("UPDATE learnings SET source_discovery_id = 'disc_gone' WHERE title LIKE 'Flaky%'")
    assert [found.level for found in memory.data.verify()] == ["notice"]
    memory.data.rebuild()
    assert [found.subject for found in memory.data.verify()] == ["disc_gone"]


FIRST = "(SELECT min(seq) FROM events WHERE what = 'learning.created')"
HISTORIES = {
    "an event that was moved": (f"UPDATE events SET seq = seq + 1000 WHERE seq = {FIRST}", "is not in its place"),
    "an event of another record": (f"UPDATE events SET subject = 'learn_x' WHERE seq = {FIRST}", "it is not there"),
    "an event that was lost": (f"DELETE FROM events WHERE seq = {FIRST}", "is not in its place"),
    "a record without events": ("DELETE FROM events WHERE what = 'learning.created'", "no event tells how it began"),
    "an earlier value": ("UPDATE events SET old_values = '{\"confidence\": 0.1}' WHERE what LIKE 'conf%'", "began"),
    "a confidence without an event": ("UPDATE learnings SET confidence = confidence - 1", "its confidence is not what"),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "said"), HISTORIES.values(), ids=HISTORIES)
def test_a_history_that_does_not_lead_to_its_record_is_named(memory: Memory, statement: str, said: str) -> None:
    fill(memory)
    assert differences(memory) == []
    raw(memory).execute(statement)
    assert any("notice history" in told and said in told for told in differences(memory)), differences(memory)


def test_every_kind_of_passage_has_an_owner(memory: Memory) -> None:
    fill(memory)
    kinds = {kind for (kind,) in raw(memory).execute("SELECT DISTINCT kind FROM passages")}
    assert kinds <= {kind.name for kind in KINDS if kind.ids}


@pytest.mark.parametrize("times", [1, 2, 5])
def test_decay_runs_as_often_as_it_likes(memory: Memory, times: int, clock: ScriptedClock) -> None:
    fill(memory)
    clock.advance(days=61)
    for _ in range(times):
        memory.cycle()
        memory.context.db.close()
    assert {found.confidence for found in memory.learnings.page()[0]} == {0.66, 0.71}


def test_a_verdict_counts_once_however_often_the_output_comes(memory: Memory) -> None:
    first, *_ = fill(memory)
    for _ in range(3):
        memory.feedback(f"LEARNING_HELPFUL: {first}\n" * 5, task="t1")
    kept = memory.learnings.get(first)
    assert (kept.confidence, kept.times_helpful) == (0.75, 1)


def test_an_injection_counts_once_however_often_it_is_asked_for(memory: Memory) -> None:
    first, *_ = fill(memory)
    for _ in range(3):
        memory.inject(task="t1", outcome="o1", title="Stripe webhooks arrive in which order")
    assert memory.learnings.get(first).times_injected == 1
