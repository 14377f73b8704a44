"""Entries that are only a heading, files in the middle of a merge, nodes that another program made."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from recollect import Memory, Refused
from repos import Repo

CONFLICT = "# Learnings\n\n<<<<<<< ours\n## Retry twice\n\nx\n=======\n## Retry thrice\n\ny\n>>>>>>> theirs\n"


def test_a_heading_without_a_body_is_found_and_agrees(memory: Memory) -> None:
    memory.staging.stage("Use UTC everywhere in stored times")
    assert [hit.title for hit in memory.search("utc", kinds=("staged",))] == ["Use UTC everywhere in stored times"]
    memory.context.vault.append("2026-03-01.md", "## Heading only giraffe [project]\n")
    memory.cycle()
    assert memory.search("giraffe", kinds=("log",))
    assert memory.data.verify() == ()


def test_a_staging_file_in_the_middle_of_a_merge_is_left_alone(memory: Memory) -> None:
    file = Path(memory.project.root, memory.context.settings.staging.file)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(CONFLICT)
    repo = Repo(memory.project.root)
    repo.commit(date(2026, 3, 1))
    for use in (
        lambda: memory.staging.stage("Retry only idempotent requests", "A repeated payment charges twice."),
        lambda: memory.staging.ages(),
    ):
        with pytest.raises(Refused, match="merge conflicts"):
            use()
    assert "merge conflicts" in memory.staging.consolidate().reason
    assert file.read_text() == CONFLICT
    assert "merge conflicts" in dict(memory.cycle().steps)["consolidation"]


def test_a_node_that_another_program_made_is_kept_beside_ours(memory: Memory) -> None:
    vault = memory.context.vault
    daily = "---\ntype: daily\nstatus: fixed\nperiod: 2025-11-12\n---\n\n## Topics\n- envoy: the proxy was upgraded\n"
    weekly = "---\ntype: weekly\nstatus: fixed\nperiod: 2025-W46\n---\n\n## Topics\n- walrus: said in the week only\n"
    vault.replace("daily/2025-11-12.md", daily)
    vault.replace("weekly/2025-W46.md", weekly)
    memory.cycle()
    assert vault.read("daily/2025-11-12.md") == daily
    assert vault.read("weekly/2025-W46.before.md") == weekly
