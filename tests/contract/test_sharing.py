"""Raw words that a team shares in its repository: two clones, two stores, one folder in git."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from conftest import AGENT, PERSON
from recollect import Actor, Memory, Refused, ScriptedClock
from recollect.core.finding import NewFinding
from recollect.core.journal import NewEntry
from recollect.inject.brief import brief
from recollect.store.project import create, share, trust
from recollect.text.tokens import ContextBudget

LOG = "2026-03-02.md"
Clone = Callable[[str], Memory]


def git(folder: Path, *args: str) -> str:
    named = ("-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
    done = subprocess.run(["git", *named, *args], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path, clock: ScriptedClock, environ: dict[str, str]) -> Clone:
    """Opens the clone of a person of that name, who has a home and a store of their own."""

    def opened(name: str, actor: Actor = PERSON) -> Memory:
        home = tmp_path / f"home-{name}"
        mine = {**environ, "HOME": str(home), "XDG_STATE_HOME": str(home / "state")}
        mine |= {"XDG_DATA_HOME": str(home / "data"), "RECOLLECT_HOME": str(home / "recollect")}
        root = tmp_path / name
        if not root.is_dir():
            if (tmp_path / "ada").is_dir():
                git(tmp_path, "clone", "-q", "ada", name)
            else:
                root.mkdir()
                git(root, "init", "-q", "-b", "main")
            trust(root, mine)  # as `recollect init --share` does: a clone brings the setting with it
            create(root, mine, space="shop", timezone="UTC")
            share(root, mine)
            git(root, "add", "recollect.toml", ".gitattributes")
            git(root, "commit", "-q", "--allow-empty", "-m", "begin")
        ids = iter(range(10_000))
        return Memory.open(
            root, actor=actor, clock=clock, ids=lambda kind: f"{kind}_{name}{next(ids):04}", environ=mine
        )

    return opened


def add(memory: Memory, text: str) -> str:
    return memory.journal.add(NewEntry(text=text, topic=text)).id


def commit(memory: Memory) -> None:
    git(memory.project.root, "add", "memory")
    git(memory.project.root, "commit", "-q", "-m", "words")


def pull(memory: Memory, other: Memory) -> None:
    git(memory.project.root, "pull", "-q", "--no-rebase", "--no-edit", str(other.project.root), "main")
    memory.cycle()


def test_only_raw_words_are_in_the_repository(clone: Clone) -> None:
    memory = clone("ada")
    add(memory, "zebra runs")
    memory.themes.add("wu-1", NewFinding(description="Builds miss the cache"))
    memory.cycle()
    untracked = git(memory.project.root, "status", "--porcelain", "-uall", "memory").split()[1::2]
    assert untracked == [f"memory/{LOG}", "memory/learnings/wu-1.json"]
    assert "zebra" in (memory.context.vault.read("ROOT.md") or "")
    commit(memory)
    memory.cycle()
    assert git(memory.project.root, "status", "--porcelain") == ""


def test_two_clones_that_merge_keep_their_ids(clone: Clone) -> None:
    ada = clone("ada")
    first = add(ada, "first")
    commit(ada)
    bob = clone("bob")
    bob.cycle()
    ours, theirs = add(ada, "ours"), add(bob, "theirs")
    assert ours == theirs == "log/2026-03-02#2"
    commit(ada)
    commit(bob)
    pull(ada, bob)
    pull(bob, ada)
    assert [ada.journal.entry(id).text for id in (first, ours, "log/2026-03-02#3")] == ["first", "ours", "theirs"]
    assert [bob.journal.entry(id).text for id in (first, theirs, "log/2026-03-02#3")] == ["first", "theirs", "ours"]
    assert ada.data.verify() == bob.data.verify() == ()


def test_words_of_others_are_external_until_a_person_accepts_the_folder(clone: Clone) -> None:
    ada = clone("ada")
    add(ada, "zebra protocol")
    commit(ada)
    bob = clone("bob")
    own = add(bob, "giraffe work")
    bob.cycle()
    hit = bob.search("zebra", kinds=("log",))[0]
    assert hit.trust == "external"
    assert bob.journal.entry(own).trust == "agent"
    assert bob.status().others_entries == 1

    def shown() -> list[bool]:
        told = brief(bob.context, ContextBudget(characters=9_000)).text
        texts = (told, *(bob.journal.node(id) for id in ("root", "daily/2026-03-02", "weekly/2026-W10")))
        assert all("giraffe" in text for text in texts)
        return ["zebra" in text for text in texts]

    assert shown() == [False] * 4
    with pytest.raises(Refused):
        clone("bob", AGENT).journal.accept()  # type: ignore[call-arg]
    assert bob.journal.accept().entries == 1
    bob.cycle()
    assert bob.journal.entry(hit.id).trust == "agent"
    assert shown() == [True] * 4
    add(ada, "later words")
    commit(ada)
    commit(bob)
    pull(bob, ada)
    assert bob.search("later", kinds=("log",))[0].trust == "agent"
    assert bob.data.verify() == ()


def test_others_cannot_change_the_words_of_an_entry_before_they_are_accepted(clone: Clone) -> None:
    memory = clone("ada")
    id = add(memory, "never deploy")
    memory.cycle()
    vault = memory.context.vault
    vault.replace(LOG, (vault.read(LOG) or "").replace("never deploy\n", "always deploy\n"))
    memory.cycle()
    assert (memory.journal.entry(id).text, memory.journal.entry(id).trust) == ("never deploy", "agent")
    other = memory.journal.entry("log/2026-03-02#2")
    assert (other.text, other.trust) == ("always deploy", "external")


def test_a_branch_without_the_log_forgets_nothing(clone: Clone) -> None:
    memory = clone("ada")
    git(memory.project.root, "branch", "other")
    id = add(memory, "zebra runs")
    commit(memory)
    memory.cycle()
    git(memory.project.root, "checkout", "-q", "other")
    memory.cycle()
    assert memory.journal.entry(id).text == "zebra runs"
    assert memory.search("zebra", kinds=("log",))[0].id == id
    assert "zebra" in brief(memory.context, ContextBudget(characters=9_000)).text
    assert add(memory, "giraffe") == "log/2026-03-02#2"
    commit(memory)
    git(memory.project.root, "checkout", "-q", "main")
    git(memory.project.root, "merge", "-q", "--no-edit", "other")
    memory.cycle()
    assert memory.journal.entry(id).text == "zebra runs"
    assert memory.journal.entry("log/2026-03-02#2").text == "giraffe"
    assert memory.data.verify() == ()


def test_folders_of_other_tools_are_used_where_they_are(clone: Clone, tmp_path: Path, environ: dict[str, str]) -> None:
    root = tmp_path / "ada"
    (root / "memory").mkdir(parents=True)
    (root / "memory" / "2026-03-01.md").write_text("## by hipocampus\n\nquokka\n")
    (root / ".specwright" / "learnings").mkdir(parents=True)
    raw = '{"workId": "wu-9", "timestamp": "2026-02-12T14:30:00Z", "findings": [{"description": "slow numbat"}]}'
    (root / ".specwright" / "learnings" / "wu-9.json").write_text(raw)
    (root / ".specwright" / "learnings" / "themes").mkdir()
    (root / ".specwright" / "learnings" / "themes" / "slow-builds.md").write_text(
        "# Slow Builds\n\nCache the wombat.\n"
    )
    git(root, "init", "-q", "-b", "main")
    create(root, environ, space="shop", timezone="UTC")
    made = share(root, environ)
    assert "use of memory/ as it is" in made
    assert share(root, environ) == []
    memory = Memory.open(root, actor=PERSON, environ=environ)
    memory.cycle()
    assert {hit.id for hit in memory.search("quokka numbat")} >= {"log/2026-03-01#1", "finding/wu-9#1"}
    assert sorted(path.name for path in (root / ".specwright" / "learnings").iterdir()) == ["themes", "wu-9.json"]
    memory.themes.run(always=True)
    assert "Cache the wombat." in memory.themes.show("slow-builds")[1]


def test_a_number_that_was_shown_names_the_same_entry_after_a_checkout(clone: Clone) -> None:
    ada = clone("ada")
    add(ada, "first")
    commit(ada)
    bob = clone("bob")
    bob.cycle()
    add(ada, "second")
    commit(ada)
    git(bob.project.root, "pull", "-q", "--no-rebase", "--no-edit", str(ada.project.root), "main")
    assert bob.journal.entry("log/2026-03-02#2").text == "second"
    git(bob.project.root, "checkout", "-q", "HEAD~1")
    assert add(bob, "third") == "log/2026-03-02#3"
    assert bob.journal.entry("log/2026-03-02#2").text == "second"


def test_what_a_pull_brought_is_counted_and_accepted_at_once(clone: Clone) -> None:
    ada = clone("ada")
    add(ada, "first")
    commit(ada)
    bob = clone("bob")
    assert [day.entries for day in bob.journal.days()] == [1]
    add(ada, "second")
    commit(ada)
    git(bob.project.root, "pull", "-q", "--no-rebase", "--no-edit", str(ada.project.root), "main")
    assert bob.journal.accept().entries == 2
