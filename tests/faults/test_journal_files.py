"""What can stand in the memory folder where a log is expected."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from recollect import Memory, ScriptedClock
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


def test_a_log_with_odd_bytes_is_read(memory: Memory) -> None:
    memory.project.vault.mkdir(exist_ok=True)
    (memory.project.vault / "2026-03-02.md").write_bytes(b"\xef\xbb\xbf## a\r\nok \xff\x00 done\r\n## b\r\nx\r\n")
    memory.cycle()
    assert [entry.topic for entry in entries.parse(date(2026, 3, 2), memory.journal.show("2026-03-02"))] == ["a", "b"]
    assert (memory.project.vault / "2026-03-02.md").stat().st_size == 30
