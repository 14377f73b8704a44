"""Entries that their file no longer holds: still found, shown and in the tree, under the ids they always had."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import PERSON, Opener
from recollect import BadInput, Memory, NotFound, ScriptedClock
from recollect.capture import log_text
from recollect.capture.documents import refresh_logs
from recollect.core.journal import NewEntry
from recollect.inject.brief import brief
from recollect.memory.admin import Rescue
from recollect.tend.doctor import doctor
from recollect.text.tokens import ContextBudget

LOG = "2026-03-02.md"


def written(memory: Memory, *texts: str) -> list[str]:
    return [memory.journal.add(NewEntry(text=text, topic=text)).id for text in texts]


def told(memory: Memory) -> str:
    return brief(memory.context, ContextBudget(characters=9_000)).text


def refs(memory: Memory) -> dict[str, tuple[str, ...]]:
    return {point.topic: point.refs for point in memory.journal.sources("daily/2026-03-02")}


def deleted(memory: Memory) -> None:
    memory.context.vault.delete(LOG)


def emptied(memory: Memory) -> None:
    memory.context.vault.replace(LOG, "")


def cut(memory: Memory) -> None:
    text = memory.context.vault.read(LOG) or ""
    memory.context.vault.replace(LOG, text[: text.index("## zebra")])


def on_another_branch(memory: Memory) -> None:
    memory.context.vault.replace(LOG, "## giraffe\n\nAn older day.\n")


LOSSES = (deleted, emptied, cut, on_another_branch)


@pytest.mark.parametrize("lose", LOSSES)
def test_an_entry_that_the_file_lost_is_remembered_everywhere(memory: Memory, lose: Callable[[Memory], None]) -> None:
    ids = written(memory, "quokka hops", "zebra runs")
    memory.cycle()
    lose(memory)
    for _ in range(2):
        assert [memory.journal.entry(id).text for id in ids] == ["quokka hops", "zebra runs"]
        assert memory.search("zebra", kinds=("log",))[0].id == ids[1]
        assert "zebra runs" in told(memory)
        assert "zebra runs" in memory.journal.show("2026-03-02")
        assert "zebra" in memory.journal.node("daily/2026-03-02")
        assert "zebra" in memory.journal.node("root")
        memory.cycle()


@pytest.mark.parametrize("lose", LOSSES)
def test_a_loss_is_named_and_the_file_is_written_again_byte_for_byte(
    memory: Memory, lose: Callable[[Memory], None]
) -> None:
    written(memory, "quokka hops", "zebra runs", "gnu grazes")
    before = memory.context.vault.read(LOG)
    memory.cycle()
    lose(memory)
    memory.cycle()
    (fault,) = memory.status().faults
    assert fault.path == LOG
    (finding,) = memory.data.verify()
    assert (finding.what, finding.subject) == ("log", LOG)
    assert "rebuild --files" in finding.remedy
    done = memory.data.rebuild(files=True)
    assert done.files == (LOG,)
    after = memory.context.vault.read(LOG) or ""
    if lose is on_another_branch:
        assert "giraffe" in after
        assert (before or "") in after
    else:
        assert after == before
    assert memory.status().faults == ()
    assert memory.data.verify() == ()


def test_a_removed_entry_does_not_shift_the_others(memory: Memory) -> None:
    ids = written(memory, "one", "two", "three")
    text = memory.context.vault.read(LOG) or ""
    memory.context.vault.replace(LOG, text[text.index("## two") :])
    assert written(memory, "four") == ["log/2026-03-02#4"]
    memory.cycle()
    assert [memory.journal.entry(id).text for id in ids] == ["one", "two", "three"]
    assert refs(memory)["four"] == ("2026-03-02#4",)


def test_a_number_is_not_given_again_when_the_whole_log_went(memory: Memory) -> None:
    written(memory, "one", "two")
    deleted(memory)
    assert written(memory, "three") == ["log/2026-03-02#3"]
    memory.cycle()
    assert refs(memory) == {name: (f"2026-03-02#{n}",) for n, name in enumerate(("one", "two", "three"), start=1)}


def test_an_entry_that_a_person_edits_is_the_same_entry(memory: Memory) -> None:
    (ours,) = written(memory, "one")
    memory.context.vault.append(LOG, "\n## by hand\n\nerstwhile words\n")
    memory.cycle()
    text = (memory.context.vault.read(LOG) or "").replace("\n\none\n", "\n\nuno\n").replace("erstwhile", "other")
    memory.context.vault.replace(LOG, text)
    memory.cycle()
    assert memory.journal.entry(ours).text == "uno"
    assert memory.journal.entry("log/2026-03-02#2").text == "other words"
    assert memory.search("erstwhile", kinds=("log",)) == []
    assert memory.data.verify() == ()


def test_an_entry_that_a_person_puts_in_the_middle_gets_the_next_number(memory: Memory) -> None:
    ids = written(memory, "one", "two")
    text = memory.context.vault.read(LOG) or ""
    memory.context.vault.replace(LOG, text.replace("## two", "## between\n\nx\n\n## two"))
    memory.cycle()
    assert [memory.journal.entry(id).text for id in ids] == ["one", "two"]
    assert memory.journal.entry("log/2026-03-02#3").topic == "between"
    assert refs(memory)["between"] == ("2026-03-02#3",)
    assert refs(memory)["two"] == ("2026-03-02#2",)


def test_a_copy_of_an_entry_is_an_entry_of_its_own(memory: Memory) -> None:
    (id,) = written(memory, "one")
    text = memory.context.vault.read(LOG) or ""
    forged = text.replace("\n\none\n", "\n\nforged words\n")
    memory.context.vault.replace(LOG, f"{forged}\n{text}")
    memory.cycle()
    assert memory.journal.entry(id).text == "one"
    assert memory.journal.entry("log/2026-03-02#2").text == "forged words"


def test_a_number_that_a_log_claims_for_itself_is_not_believed(memory: Memory) -> None:
    written(memory, "one")
    memory.context.vault.append(LOG, "\n## forged\n<!-- recollect: number=1 -->\n\nwords\n")
    memory.cycle()
    assert refs(memory)["forged"] == ("2026-03-02#2",)


def test_a_purged_entry_that_an_old_file_brings_back_stays_purged(open_memory: Opener) -> None:
    memory = open_memory(PERSON)
    ids = written(memory, "canary sings aloud every morning", "other")
    before = memory.context.vault.read(LOG) or ""
    memory.data.purge(id=ids[0])
    memory.context.vault.replace(LOG, before)
    memory.cycle()
    with pytest.raises(NotFound):
        memory.journal.entry(ids[0])
    assert memory.journal.entry(ids[1]).text == "other"
    assert memory.search("canary", kinds=("log",)) == []
    assert "canary" not in memory.journal.node("daily/2026-03-02")


def test_after_a_restore_to_before_a_purge_the_log_purges_its_entry_again(
    open_memory: Opener, environ: dict[str, str], tmp_path: Path, engine: str
) -> None:
    if engine != "sqlite":
        pytest.skip("the backup of a server brings the log back, too")
    memory = open_memory(PERSON)
    ids = written(memory, "one", "canary sings aloud every morning", "three")
    memory.data.backup(tmp_path / "before.db")
    memory.data.purge(id=ids[1])
    Rescue(memory.project.root, actor=PERSON, environ=environ, clock=memory.context.clock).restore(
        tmp_path / "before.db"
    )
    memory.cycle()
    assert [memory.journal.entry(id).text for id in (ids[0], ids[2])] == ["one", "three"]
    with pytest.raises(NotFound):
        memory.journal.entry(ids[1])
    assert memory.search("canary", kinds=("log",)) == []
    assert written(memory, "four") == ["log/2026-03-02#4"]


def test_a_purge_reaches_an_entry_that_no_file_holds(open_memory: Opener) -> None:
    memory = open_memory(PERSON)
    ids = written(memory, "canary sings aloud every morning", "other")
    memory.cycle()
    deleted(memory)
    memory.data.purge(id=ids[0])
    with memory.context.db.read(memory.context.space) as tx:
        assert "canary" not in str(tx.rows("SELECT * FROM log_entries WHERE space = :space"))
    assert memory.search("canary") == []
    assert memory.data.rebuild(files=True).files == (LOG,)
    assert "canary" not in (memory.context.vault.read(LOG) or "")
    assert memory.journal.entry(ids[1]).text == "other"


def test_a_long_entry_is_written_again_whole(memory: Memory) -> None:
    long = " ".join(f"word{number}" for number in range(20_000))
    memory.journal.add(NewEntry(text="first", topic="t"))
    memory.journal.add(NewEntry(text=long, topic="long"))
    before = memory.context.vault.read(LOG)
    memory.cycle()
    deleted(memory)
    memory.data.rebuild(files=True)
    assert memory.context.vault.read(LOG) == before


def test_a_log_from_before_entries_were_rows_keeps_its_ids(open_memory: Opener) -> None:
    memory = open_memory(PERSON)
    ids = written(memory, "canary sings aloud every morning", "two", "three")
    memory.data.purge(id=ids[0])
    with memory.context.db.write(memory.context.space) as tx:  # as the migration leaves a store
        tx.run("DELETE FROM log_entries WHERE space = :space")
        tx.run("UPDATE logs SET stamp = 'unread' WHERE space = :space")
        tx.run("DELETE FROM readings WHERE space = :space")
    assert [memory.journal.entry(id).text for id in ids[1:]] == ["two", "three"]
    memory.cycle()
    deleted(memory)
    assert [memory.journal.entry(id).text for id in ids[1:]] == ["two", "three"]
    assert written(memory, "four") == ["log/2026-03-02#4"]


STEPS = st.lists(st.sampled_from(["add", "add", "hand", "delete", "cut", "cycle"]), min_size=2, max_size=12)


@given(steps=STEPS)
@settings(max_examples=15)
def test_whatever_happens_to_the_files_every_entry_keeps_its_id_and_words(
    memory: Memory, clock: ScriptedClock, steps: list[str]
) -> None:
    clock.advance(days=1)
    day = memory.journal.today()
    path = f"{day}.md"
    known: dict[str, str] = {}
    for number, step in enumerate([*steps, "add", "cycle"]):
        words = f"words{number} of {day}"
        if step == "add":
            known[memory.journal.add(NewEntry(text=words, topic=f"t{number}")).id] = words
        elif step == "hand":
            memory.context.vault.append(path, f"\n## hand {number}\n\n{words}\n")
            refresh_logs(memory.context)  # what nobody has read yet is lost with its file
            found = next(each for each in log_text.read(memory.context, day).entries if words in each.text)
            known[found.id] = words
        elif step == "delete":
            memory.context.vault.delete(path)
        elif step == "cut" and "## " in (text := memory.context.vault.read(path) or ""):
            memory.context.vault.replace(path, text[: text.rindex("## ")])
        elif step == "cycle":
            memory.cycle()
        assert {id: memory.journal.entry(id).text for id in known} == known
    for id, words in known.items():
        assert id in [hit.id for hit in memory.search(words, kinds=("log",))]
    memory.data.rebuild(files=True)
    assert memory.data.verify() == ()


def examined(memory: Memory) -> list[str]:
    found = doctor(memory.project, lambda: memory.context, environ={}, now=memory.context.clock.now())
    return [finding.subject for finding in found.findings if finding.what == "log"]


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("name", ["2026-02-30.md", "2026-3-5.md"])
def test_a_log_with_a_wrong_name_is_named(memory: Memory, name: str) -> None:
    memory.context.vault.append(name, "## lost\n\nwords\n")
    (fault,) = memory.status().faults
    assert fault.path == name
    assert name in examined(memory)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_doctor_names_a_log_that_cannot_be_read(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="x", topic="t"))
    (memory.project.vault / "2026-03-03.md").mkdir()
    memory.cycle()
    assert "2026-03-03.md" in examined(memory)
    with pytest.raises((NotFound, BadInput)):
        memory.journal.show("2026-03-03")
