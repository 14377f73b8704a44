"""What can stand in the memory folder where a log is expected."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from recollect import Memory, ScriptedClock
from recollect.core.finding import NewFinding
from recollect.core.journal import NewEntry
from recollect.text import entries

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)  # a table has no odd files


def test_an_unreadable_log_keeps_its_week_open(memory: Memory, clock: ScriptedClock, tmp_path: Path) -> None:
    memory.journal.add(NewEntry(text="x", topic="t"))
    root = memory.project.vault
    (root / "2026-03-03.md").mkdir()
    (root / "2026-03-04.md").symlink_to(tmp_path)
    clock.advance(days=60)
    done, _ = memory.journal.compact()
    assert done.unreadable == ("2026-03-03.md", "2026-03-04.md")
    states = {node.id: node for node in memory.journal.tree("2026-03")}
    assert states["daily/2026-03-02"].status == "fixed"
    assert states["weekly/2026-W10"].status == states["monthly/2026-03"].status == "tentative"
    assert states["monthly/2026-03"].incomplete == ("2026-03-03.md", "2026-03-04.md")
    assert memory.status().incomplete == ("monthly/2026-03", "weekly/2026-W10")
    (root / "2026-03-03.md").rmdir()
    (root / "2026-03-04.md").unlink()
    memory.context.vault.append("2026-03-03.md", "## now readable\nx\n")
    memory.cycle()
    states = {node.id: node for node in memory.journal.tree("2026-03")}
    assert (states["monthly/2026-03"].status, states["monthly/2026-03"].incomplete) == ("fixed", ())


def test_a_log_that_cannot_be_read_is_tried_again_however_old_it_is(memory: Memory, clock: ScriptedClock) -> None:
    memory.journal.add(NewEntry(text="x", topic="t"))
    for name in ("2026-02-03.md", "2026-03-03.md"):
        (memory.project.vault / name).mkdir()
    clock.advance(days=400)
    for _ in range(3):
        done, _ = memory.journal.compact()
        assert done.unreadable == memory.status().unreadable == ("2026-02-03.md", "2026-03-03.md")
        assert {node.id: node.status for node in memory.journal.tree("2026-W10")}["weekly/2026-W10"] == "tentative"
    (memory.project.vault / "2026-03-03.md").rmdir()
    done, _ = memory.journal.compact()
    assert done.unreadable == memory.status().unreadable == ("2026-02-03.md",)
    assert {node.id: node.status for node in memory.journal.tree("2026-W10")}["weekly/2026-W10"] == "fixed"


def test_the_marks_of_a_merge_in_a_log_reach_no_node(memory: Memory, clock: ScriptedClock) -> None:
    memory.project.vault.mkdir(exist_ok=True)
    log = "\ufeff## Ours [feedback]\nrule\n<<<<<<< HEAD\n## Left\na\n=======\n## Right\nb\n>>>>>>> theirs\n"
    (memory.project.vault / "2026-03-01.md").write_text(log, encoding="utf-8")
    memory.cycle()
    for node in memory.journal.tree("2026-02"):
        assert (node.generator, node.topics) == ("copy", ("Ours [feedback]", "Left [project]", "Right [project]"))
    done, _ = memory.journal.compact(everything=True)
    assert done.changes == ()


def test_an_empty_log_makes_no_node(memory: Memory) -> None:
    memory.journal.add(NewEntry(text="Moved the queue", topic="queue"))
    (memory.project.vault / "2026-03-04.md").touch()
    memory.cycle()
    assert {node.id for node in memory.journal.tree("2026-W10")} == {"weekly/2026-W10", "daily/2026-03-02"}
    assert memory.journal.compact()[0].changes == ()
    assert "2026-03-04" not in memory.context.vault.read("ROOT.md")  # type: ignore[operator]


@pytest.mark.parametrize(
    ("place", "step"),
    [("memory/ROOT.md", "tree"), ("memory/learnings/INDEX.md", "themes"), ("memory/learnings.md", "consolidation")],
)
def test_a_folder_in_the_place_of_a_file_stops_its_step_and_not_the_cycle(
    memory: Memory, place: str, step: str
) -> None:
    memory.journal.add(NewEntry(text="Moved the queue", topic="queue"))
    for number in range(5):
        memory.themes.add(f"work-{number}", NewFinding(description=f"Builds miss the cache {number} times"))
    home = memory.project.root if place == "memory/learnings.md" else memory.project.data
    (home / place).mkdir(parents=True)
    done = dict(memory.cycle().steps)
    assert done[step].startswith("not done: ")
    assert "move it away" in done[step]
    assert done["backup"].startswith("wrote ")
    assert [name for name, did in done.items() if did.startswith("not done")] == [step]


def test_a_log_with_odd_bytes_is_read(memory: Memory) -> None:
    memory.project.vault.mkdir(exist_ok=True)
    (memory.project.vault / "2026-03-02.md").write_bytes(b"\xef\xbb\xbf## a\r\nok \xff\x00 done\r\n## b\r\nx\r\n")
    memory.cycle()
    assert [entry.topic for entry in entries.parse(date(2026, 3, 2), memory.journal.show("2026-03-02"))] == ["a", "b"]
    assert (memory.project.vault / "2026-03-02.md").stat().st_size == 30
