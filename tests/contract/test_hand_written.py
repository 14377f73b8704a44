"""Secrets in files that people write: the file stays as it is, and nothing that is made from it holds them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Opener
from recollect import Memory
from recollect.core.journal import NewEntry
from recollect.inject.brief import brief
from recollect.models.ask import Ask
from recollect.text.tokens import ContextBudget

PASSWORD = "hunter2-Zq81xK"
TOKEN = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"
DIAGNOSIS = "secretprivateword"
SECRETS = (PASSWORD, TOKEN, DIAGNOSIS)
HELD = f"The deploy key is password={PASSWORD}\nand {TOKEN} too.\n<private>my {DIAGNOSIS}</private> zebra\n"
LOG = "2026-03-02.md"


def leaks(*texts: object) -> list[str]:
    return [secret for secret in SECRETS for text in texts if secret in str(text)]


def derived(memory: Memory) -> Iterator[str]:
    """Everything that is made from the files: other files, rows, and what an agent is told."""
    vault = memory.context.vault
    for path in vault.paths():
        if path not in (LOG, "learnings.md") and not path.endswith(".json"):
            yield vault.read(path) or ""
    with memory.context.db.read(memory.context.space) as tx:
        for table in ("log_entries", "logs", "passages", "nodes", "tree_state", "events", "answers", "asks", "terms"):
            yield str(tx.rows(f"SELECT * FROM {table} WHERE space = :space"))
    yield brief(memory.context, ContextBudget(characters=9_000)).text


@pytest.fixture
def held(memory: Memory) -> str:
    text = f"## deploy [project]\n{HELD}\n## key {TOKEN} [user]\nwords\n"
    memory.context.vault.append(LOG, text)
    memory.cycle()
    return text


def test_a_secret_in_a_log_stays_in_the_file_and_reaches_nothing_else(memory: Memory, held: str) -> None:
    assert memory.context.vault.read(LOG) == held
    assert leaks(*derived(memory)) == []
    entry = memory.journal.entry("log/2026-03-02#1")
    hits = memory.search("deploy zebra", kinds=("log",))
    shown = (
        entry,
        hits,
        memory.journal.show("2026-03-02"),
        memory.texts.get("log/2026-03-02#2"),
    )
    assert leaks(*shown) == []
    assert "zebra" in entry.text
    assert hits[0].id == entry.id


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_no_byte_of_the_database_holds_a_secret_of_a_hand_written_log(memory: Memory, held: str) -> None:
    memory.journal.add(NewEntry(text="more words"))
    memory.cycle()
    for path in memory.project.data.rglob("*"):
        if path.is_file() and path.name != LOG:
            assert [secret for secret in SECRETS if secret.encode() in path.read_bytes()] == []


def test_the_file_and_the_lines_are_named(memory: Memory, held: str) -> None:
    (fault,) = memory.status().faults
    assert (fault.path, fault.detail) == (LOG, "lines 2, 3, 4, 6 hold a secret or private text")
    assert [(found.subject, found.level) for found in memory.data.verify()] == [(LOG, "notice")]


def test_a_private_span_over_two_entries_hides_both(memory: Memory) -> None:
    text = f"## one\n<private>\n{DIAGNOSIS}\n## two {DIAGNOSIS}\nmore {DIAGNOSIS}\n</private> zebra\n## three\nwords\n"
    memory.context.vault.append(LOG, text)
    memory.cycle()
    assert leaks(*derived(memory)) == []
    assert memory.search("zebra", kinds=("log",))[0].id == "log/2026-03-02#2"
    assert memory.journal.entry("log/2026-03-02#3").topic == "three"


def test_a_span_that_is_never_closed_does_not_hide_what_an_agent_logs(memory: Memory) -> None:
    memory.context.vault.append(LOG, f"## one\n<private> {DIAGNOSIS}\n")
    added = memory.journal.add(NewEntry(text="zebra words", topic="t"))
    memory.cycle()
    assert memory.journal.entry(added.id).text == "zebra words"
    assert leaks(*derived(memory)) == []


def test_what_is_written_again_is_what_is_remembered(memory: Memory, held: str) -> None:
    memory.context.vault.delete(LOG)
    memory.data.rebuild(files=True)
    assert leaks(memory.context.vault.read(LOG)) == []
    assert "[redacted:" in (memory.context.vault.read(LOG) or "")


def test_what_a_person_wrote_stays_when_a_lost_entry_comes_back(memory: Memory, held: str) -> None:
    memory.journal.add(NewEntry(text="zyzzyva", topic="lost"))
    memory.cycle()
    memory.context.vault.replace(LOG, held)
    memory.cycle()
    memory.data.rebuild(files=True)
    text = memory.context.vault.read(LOG) or ""
    assert text.startswith(held)
    assert "zyzzyva" in text


def test_no_model_is_given_a_secret() -> None:
    asked = Ask(kind="daily", subject="x", sources=[HELD], offline=lambda: "", accept=str)
    assert leaks(asked.sources) == []


def test_secrets_in_staged_learnings_documents_and_findings_reach_nothing(open_memory: Opener) -> None:
    memory = open_memory()
    root = memory.project.root
    for name, text in {
        "memory/learnings.md": f"# Learnings\n\n---\n\n## Rule about {TOKEN}\n\n{HELD}",
        "docs/deploy.md": f"# Deploy\n\nOpening {TOKEN}\n\n## Keys\n\n{HELD}",
    }.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    found = {"category": "build", "source": "review", "description": HELD}
    raw = {"workId": "wu-1", "timestamp": "2026-02-12T14:30:00Z", "findings": [found]}
    memory.context.vault.replace("learnings/wu-1.json", json.dumps(raw))
    memory.cycle()
    hits = memory.search("zebra deploy", limit=20)
    kinds = {hit.kind for hit in hits}
    assert {"staged", "doc", "finding"} <= kinds
    assert (
        leaks(
            *derived(memory), hits, *(memory.texts.get(hit.id) for hit in hits), memory.texts.get("doc/docs/deploy.md")
        )
        == []
    )
    named = {fault.path for fault in memory.status().faults}
    assert named == {"memory/learnings.md", "docs/deploy.md", "learnings/wu-1.json"}
    assert named <= {found.subject for found in memory.data.verify()}
    assert TOKEN in Path(root / "docs/deploy.md").read_text()
