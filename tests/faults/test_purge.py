"""Purged means gone: no byte of ours holds it, whatever held it before (P14)."""

from __future__ import annotations

import json
import os
import re
import subprocess
import time
from pathlib import Path

import pytest

from conftest import AGENT, Opener
from embedded import database, engine, raw  # noqa: F401
from recollect import LearningEdit, Memory, NotFound, Refused
from recollect.core.decision import NewDecision
from recollect.core.errors import BadInput
from recollect.core.journal import NewEntry
from recollect.core.learning import TaskVerdicts, Write
from recollect.memory.spool import keep
from recollect.store import decisions, events, model_rows, spool
from recollect.store.project import backups_of
from recollect.store.schema import BY_NAME
from recollect.text.tokens import terms
from samples import MIGRATIONS, WEBHOOKS, learning

ASKED = model_rows.AnswerKey(kind="extract", version="1", source_hash="x")
CANARY = "zyzzogeton4711 whispers xylophage"
SENTENCE = f"The {CANARY} and overtakes every other delivery"


def holding(folder: Path, *texts: str) -> list[str]:
    """The files below a folder whose raw bytes hold one of the texts, in any case."""
    wanted = [text.lower().encode() for text in texts]
    return sorted(
        str(path.relative_to(folder))
        for path in folder.rglob("*")
        if path.is_file() and any(text in path.read_bytes().lower() for text in wanted)
    )


@pytest.fixture
def everywhere(memory: Memory) -> Memory:
    """The canary in every kind of place that keeps words."""
    noted = memory.learn(learning(WEBHOOKS, observation=SENTENCE, tags=("zyzzogeton4711", "stripe"))).learning
    memory.learnings.edit(noted.id, LearningEdit(context=f"{CANARY} in an edit"))
    memory.learnings.edit(noted.id, LearningEdit(context="Back to something harmless in the billing service"))
    quoting = memory.learn(learning(MIGRATIONS, action=f"Remember: {SENTENCE}")).learning
    memory.work.add_outcome(f"outcome {CANARY}", name=f"About {CANARY}")
    memory.work.add_task(f"task {CANARY}", outcome=f"outcome {CANARY}", title=f"Do {CANARY}")
    memory.observe(f"DISCOVERY[blocker]: {SENTENCE}, said the log", task=f"task {CANARY}", title=CANARY)
    memory.inject(task=f"task {CANARY}", outcome="o9", title="stripe webhooks order")
    memory.learnings.archive(quoting.id, reason=f"because {CANARY}")
    with memory.context.db.write(memory.context.space) as tx:
        events.raise_escalation(
            tx, kind="doubt", subject=noted.id, reason=CANARY, detail={CANARY: [SENTENCE, {"a": CANARY}]}, at=1
        )
        model_rows.put_answer(tx, ASKED, generator="g", answer=json.dumps({"t": SENTENCE}), at=1)
    memory.context.vault.append("2026-03-02.md", f"## Deliveries\n{SENTENCE}\nand more\n")
    memory.context.vault.replace("weekly/2026-W10.md", f"- {CANARY.upper()}\n- kept line\n")
    said = TaskVerdicts(task="t", output=f"{SENTENCE}\nLEARNING_HELPFUL: {noted.id}")
    write = Write(id="change_9", what=said)
    keep(memory.project, write, actor=memory.context.actor, at=memory.context.clock.now())
    (memory.project.spools[0] / "000-broken.unreadable").write_text(f'{{"torn": "{CANARY}')
    memory.data.backup()
    memory.data.backup()
    damaged = database(memory).parent / "damaged" / "then"
    damaged.mkdir(parents=True)
    (damaged / "memory.db-wal").write_bytes(b"\0" * 100 + CANARY.encode())
    return memory


def test_of_one_learning_a_second_purge_takes_its_own_tags(memory: Memory) -> None:
    said = "The zyzzogeton customer said it, and xylophage agreed"
    noted = memory.learn(learning(WEBHOOKS, context=said, tags=("zyzzogeton", "xylophage", "stripe"))).learning
    for text, left in (("zyzzogeton customer", ("xylophage", "stripe")), ("xylophage agreed", ("stripe",))):
        memory.data.purge(text=text)
        assert memory.learnings.get(noted.id).tags == left


def test_the_canary_is_in_all_of_these_places_before(everywhere: Memory) -> None:
    everywhere.context.db.close()
    found = holding(everywhere.project.root.parent, CANARY)
    assert {Path(name).suffix for name in found} == {".db", ".md", ".json", ".unreadable", ".db-wal"}
    assert len(found) >= 8


def test_a_purged_text_is_in_no_file_and_under_no_word(everywhere: Memory) -> None:
    done = everywhere.data.purge(text=CANARY)
    assert done.found == ()
    assert done.out_of_reach
    rows = everywhere.context.db
    rows.close()
    assert holding(everywhere.project.root.parent, CANARY, json.dumps(CANARY)) == []
    words = raw(everywhere)
    words.execute("CREATE VIRTUAL TABLE temp.left USING fts5vocab(main, passage_words, row)")
    kept = {re.split("[+:]", term, maxsplit=1)[1] for (term,) in words.execute("SELECT term FROM temp.left")}
    kept |= {term for (term,) in words.execute("SELECT term FROM terms")}
    assert kept.isdisjoint(set(terms(CANARY)))
    segments = b"".join(block for (block,) in words.execute("SELECT block FROM passage_words_data"))
    assert b"yzzogeton4711" not in segments
    assert everywhere.data.verify() == ()


def test_the_rest_stays_and_a_mark_says_that_something_went(everywhere: Memory) -> None:
    everywhere.data.purge(text=CANARY)
    found = everywhere.learnings.page(status="all")[0]
    assert {each.title for each in found} >= {WEBHOOKS["title"], MIGRATIONS["title"]}
    assert any(each.observation == "The [purged] and overtakes every other delivery" for each in found)
    assert everywhere.context.vault.read("2026-03-02.md") == (
        "## Deliveries\nThe [purged] and overtakes every other delivery\nand more\n"
    )
    assert "The [purged] and overtakes" in (everywhere.context.vault.read("weekly/2026-W10.md") or "")
    assert [hit.learning.title for hit in everywhere.search("stripe webhooks")][:1] == [WEBHOOKS["title"]]
    assert [kept.problem for kept in everywhere.data.backups()] == [""]
    waiting = spool.pending(everywhere.project.spools)
    assert "LEARNING_HELPFUL" in waiting[0].read_text()


@pytest.mark.parametrize("by", ["text", "id"])
def test_what_does_not_say_it_stays_row_for_row(everywhere: Memory, by: str) -> None:
    said = "DISCOVERY[constraint]: The gateway closes idle connections after a minute."
    other = everywhere.observe(said, task="gateways", outcome="launch").captured[0].learning

    def told() -> list[object]:
        with everywhere.context.db.read(everywhere.context.space) as tx:
            history = [event for id in (other.id, other.source_discovery_id or "") for event in events.of(tx, id)]
        return [everywhere.learnings.get(other.id), everywhere.work.discovery_page(task="gateways")[0], history]

    before = told()
    noted = next(each for each in everywhere.learnings.page(status="all")[0] if each.title == WEBHOOKS["title"])
    everywhere.data.purge(**({"text": CANARY} if by == "text" else {"id": noted.id}))
    assert told() == before


def test_a_text_too_short_to_be_a_name_leaves_every_name_as_it_was(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="The codeword is !! a !!.", topic="codes"))
    memory.staging.stage("Foreign keys must have an index", "Joins on them are slow.")

    def subjects() -> set[str]:
        with memory.context.db.read(memory.context.space) as tx:
            return {event.subject for event in events.all_of(tx) if "/" in event.subject}

    before = subjects()
    memory.data.purge(text="!! a !!")
    assert before
    assert subjects() >= before


def test_a_wording_made_of_what_was_purged_goes_too(memory: Memory) -> None:
    given = NewDecision(decision=f"Use a queue since {SENTENCE}", confidence=0.8, category="architecture")
    id = memory.decisions.record(given).decision.id
    with memory.context.db.write(memory.context.space) as tx:
        assert decisions.put_wording(
            tx, id, "digest", version=1, wording="A queue, as the paraphrase says", generator="g"
        )
    memory.data.purge(text=CANARY)
    memory.context.db.close()
    assert holding(memory.project.root.parent, "as the paraphrase says") == []


def test_a_purged_learning_takes_with_it_what_quotes_it(everywhere: Memory) -> None:
    noted = next(each for each in everywhere.learnings.page(status="all")[0] if each.title == WEBHOOKS["title"])
    everywhere.data.purge(id=noted.id)
    with pytest.raises(NotFound):
        everywhere.learnings.get(noted.id)
    assert everywhere.data.verify() == ()
    everywhere.context.db.close()
    assert holding(everywhere.project.root.parent, SENTENCE) == []
    assert holding(everywhere.project.root.parent, WEBHOOKS["implication"]) == []
    with everywhere.context.db.read(everywhere.context.space) as tx:
        assert [event.what for event in events.of(tx, noted.id)] == ["purged"]


def test_a_purge_of_signs_touches_no_id_that_is_made_of_words(memory: Memory) -> None:
    memory.staging.stage("When untitled, name it", "Never leave a page untitled, because links to it break.")
    kept = memory.learn(learning(observation="Deliveries overtake each other ?!?!?! and nobody sees it")).learning
    memory.data.purge(text="?!?!?!")
    assert "?!" not in memory.learnings.get(kept.id).observation
    assert [event.what for event in memory.why("staged/when-untitled-name-it").events] == ["staged.added"]


def test_a_learning_made_from_a_discovery_takes_the_discovery_along(memory: Memory) -> None:
    seen = memory.observe(f"DISCOVERY[blocker]: {SENTENCE} on Mondays", task="t").captured[0].learning
    memory.data.purge(id=seen.id)
    assert memory.work.discovery_page()[0] == []
    memory.context.db.close()
    assert holding(memory.project.root.parent, CANARY) == []


def test_what_a_purged_learning_had_replaced_is_archived(memory: Memory) -> None:
    old = memory.learn(learning(MIGRATIONS)).learning
    new = memory.learn(learning(WEBHOOKS)).learning
    memory.learnings.supersede(old.id, new.id)
    memory.data.purge(id=new.id)
    assert (memory.learnings.get(old.id).status, memory.learnings.get(old.id).superseded_by) == ("archived", None)
    assert memory.data.verify() == ()
    assert "archived" in memory.why(old.id).events[-1].reason
    assert memory.learnings.undo()[0].id == old.id


def test_a_topic_that_goes_leaves_no_second_copy_of_its_nodes(memory: Memory) -> None:
    memory.journal.add(NewEntry(topic="zyzzogeton4711", text="Talked to the team"))
    memory.staging.stage("Never deploy to zyzzogeton4711 on Fridays", "It is slow then.")
    memory.journal.compact()
    before = set(memory.context.vault.paths())
    planned = memory.data.plan_purge(text="zyzzogeton4711").files
    assert len(set(planned)) == len(planned)
    memory.data.purge(text="zyzzogeton4711")
    assert set(memory.context.vault.paths()) == before
    assert "[purged]" in memory.journal.node("daily/2026-03-02")


@pytest.fixture
def leftovers(memory: Memory) -> list[Path]:
    """Unfinished files of a process that is gone: of a backup, of a restore, of a log."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    data, name = memory.project.data, f"{gone.pid}.0123456789ab.recollect-tmp"
    backups = backups_of(memory.project.database)
    for folder in (backups, memory.project.vault):
        folder.mkdir(parents=True, exist_ok=True)
    left = [
        backups / f".memory-20260302T090000Z-1.db.{name}",
        data / f".memory.db.{name}",
        data / f".memory.db.{name}-journal",
        memory.project.vault / f".2026-03-02.md.{name}",
    ]
    for path in left:
        path.write_text(SENTENCE)
    return left


def test_a_purge_takes_the_unfinished_files_of_killed_processes(memory: Memory, leftovers: list[Path]) -> None:
    memory.journal.add(NewEntry(text=SENTENCE))
    assert memory.data.purge(text=CANARY).found == ()
    assert not any(path.exists() for path in leftovers)


def test_a_cycle_sweeps_the_unfinished_files_of_killed_processes(memory: Memory, leftovers: list[Path]) -> None:
    written_now = memory.project.data / f".mirror.json.{os.getpid()}.0123456789ab.recollect-tmp"
    fresh = leftovers.pop()  # a process on another machine may be writing it
    for path in (written_now, *leftovers):
        path.touch()
        os.utime(path, (time.time() - 90, time.time() - 90))
    memory.cycle()
    assert [path.exists() for path in (written_now, fresh, *leftovers)] == [True, True, False, False, False]
    os.utime(written_now, (time.time() - 4000, time.time() - 4000))  # its number belongs to another process by now
    memory.cycle()
    assert not written_now.exists()
    leftovers[0].touch()
    os.utime(leftovers[0], (time.time() + 90, time.time() + 90))  # left while the clock was ahead
    memory.cycle()
    assert not leftovers[0].exists()


def test_a_key_inside_something_longer_goes_and_what_stands_around_it_stays(memory: Memory) -> None:
    id = memory.journal.add(NewEntry(text="Called https://host/v1?t=xhunter2y and https://host/v2", topic="calls")).id
    memory.data.purge(text="Hunter2")
    assert memory.journal.entry(id).text == "Called https://host/v1?t=x[purged]y and https://host/v2"


def test_a_purge_again_finds_nothing_and_says_so(memory: Memory) -> None:
    kept = memory.learn(learning()).learning
    memory.data.purge(id=kept.id)
    assert memory.data.purge(id=kept.id).things == ()
    with pytest.raises(NotFound, match="learn_never"):
        memory.data.purge(id="learn_never")


def test_a_text_that_stands_nowhere_is_not_found_and_no_backup_gives_way(memory: Memory) -> None:
    memory.learn(learning())
    kept = memory.data.backup()
    for purge in (memory.data.purge, memory.data.plan_purge):
        with pytest.raises(NotFound, match="nowhere"):
            purge(text="zebra crossing")
    assert [each.path for each in memory.data.backups()] == [kept.path]


def test_a_text_that_only_an_own_backup_says_is_found(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="Remember the zebra crossing", topic="walks"))
    memory.data.backup()
    log = next(memory.project.vault.glob("2*.md"))
    log.write_text(log.read_text().replace("zebra", "horse"))
    memory.cycle()
    assert memory.data.purge(text="zebra crossing").backups_replaced


def test_a_plan_names_what_would_go_and_changes_nothing(everywhere: Memory) -> None:
    plan = everywhere.data.plan_purge(text=CANARY)
    assert plan.rows.keys() == {"outcomes", "tasks", "learnings", "discoveries", "escalations", "answers", "events"}
    assert plan.backups == 3
    everywhere.context.db.close()
    assert len(holding(everywhere.project.root.parent, CANARY)) >= 8


@pytest.mark.parametrize("text", ["", "   ", "abc", "a b c"])
def test_a_text_that_would_be_everywhere_is_refused(memory: Memory, text: str) -> None:
    with pytest.raises(BadInput, match="characters"):
        memory.data.purge(text=text)


@pytest.mark.parametrize("id", ["theme/x", "nonsense"])
def test_a_thing_without_a_purge_of_its_own_is_refused_clearly(memory: Memory, id: str) -> None:
    with pytest.raises(BadInput, match="--text"):
        memory.data.purge(id=id)


def test_only_a_person_may_purge(open_memory: Opener) -> None:
    memory = open_memory(AGENT)
    kept = memory.learn(learning()).learning
    with pytest.raises(Refused, match="only a person"):
        memory.data.purge(id=kept.id)


def test_every_column_that_keeps_words_is_known_to_purge(memory: Memory) -> None:
    """A new table must say what of it a purge has to look at; ids, hashes and fixed words are listed here."""
    not_words = {
        "space", "status", "pattern_type", "trust", "hash", "type", "kind", "version", "source_hash", "feedback",
        "feedback_trust", "change_id", "what", "channel", "owner", "superseded_by", "stakes", "outcome", "level",
        "scope", "sha", "named_by", "file_hash", "before_hash", "text_hash", "day", "prompt", "generator", "host",
        "event", "scopes", "state", "entry_id",
    }  # fmt: skip
    made_ids = {"learnings", "discoveries", "decisions", "tokens", "asks", "host_events", "topics"}
    derived = {"passages", "terms", "leases", "meta", "migrations", "spaces", "logs", "nodes", "tree_state"}
    derived |= {"vault_parts", "ask_claims", "readings"}  # or files
    derived |= {"vector_models", "vectors", "vector_signs"}  # numbers, and the name of a model
    forgotten = []
    for (table,) in raw(memory).execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table in derived or table.startswith(("passage_words", "sqlite_")):
            continue
        known = BY_NAME[table]
        words = {*known.words, *known.names, *known.refers, *(["id"] if table in made_ids else [])}
        for _, column, kind, *_ in raw(memory).execute(f"PRAGMA table_info({table})").fetchall():
            if kind == "TEXT" and column not in words | not_words:
                forgotten.append(f"{table}.{column}")
    assert forgotten == []
