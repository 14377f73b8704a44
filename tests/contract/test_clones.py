"""Two copies of a repository on one memory: each has files of its own, and neither undoes what the other's say.

The second is a linked worktree, which shares the embedded store as a clone shares a team's.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from pathlib import Path

import pytest

from conftest import PERSON, Opener
from recollect import Memory, NotFound, ScriptedClock
from recollect.core.clock import DAY
from recollect.core.finding import NewFinding
from recollect.core.journal import NewEntry
from recollect.memory.admin import mirror_vault
from recollect.store.journal import FORGOTTEN_AFTER
from repos import Repo

RETRIES = "Retry zebra uploads with backoff because the gateway drops bursts"
CACHES = "Pin the giraffe cache version because upgrades change its keys"


class Clones:
    def __init__(self, one: Memory, other: Memory):
        self.one, self.other = one, other

    def found(self, query: str) -> list[list[str]]:
        """The staged entries and sections that a search finds, asked by each in turn, twice."""
        asked = (self.one, self.other, self.one, self.other)
        found = []
        for memory in asked:
            found.append([hit.id for hit in memory.search(query, kinds=("staged", "doc"))])
        return found


@pytest.fixture
def clones(open_memory: Opener, tmp_path: Path, environ: dict[str, str], clock: ScriptedClock) -> Iterator[Clones]:
    one = open_memory()
    repo = Repo(tmp_path / "project")
    repo.commit(date(2026, 3, 1), {"docs/deploy.md": "# Deploys\n\nThe lion fleet deploys at noon.\n"})
    repo.git("worktree", "add", "-q", str(tmp_path / "other"))
    with Memory.open(tmp_path / "other", actor=PERSON, environ=environ, clock=clock) as other:
        yield Clones(one, other)


def write(memory: Memory, path: str, text: str) -> None:
    file = memory.project.root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")


def test_what_either_staged_is_found_by_both(clones: Clones) -> None:
    zebra, giraffe = clones.one.staging.stage(RETRIES).id, clones.other.staging.stage(CACHES).id
    assert clones.found("zebra uploads") == [[zebra]] * 4
    assert clones.found("giraffe cache") == [[giraffe]] * 4
    assert clones.other.texts.get(zebra).title == RETRIES
    assert clones.one.texts.get(giraffe).title == CACHES


def test_a_staged_entry_is_gone_when_neither_has_it(clones: Clones) -> None:
    zebra = clones.one.staging.stage(RETRIES).id
    clones.other.staging.stage(RETRIES)
    write(clones.one, "memory/learnings.md", "# Learnings\n")
    assert clones.found("zebra uploads") == [[zebra]] * 4
    write(clones.other, "memory/learnings.md", "# Learnings\n")
    clones.other.cycle()
    assert clones.found("zebra uploads") == [[]] * 4
    with pytest.raises(NotFound):
        clones.one.texts.get(zebra)


def test_documents_are_read_once_by_each_and_stay_while_one_has_them(clones: Clones) -> None:
    from recollect.capture.documents import refresh

    assert [refresh(memory.context) for memory in (clones.one, clones.other, clones.one, clones.other)] == [1, 1, 0, 0]
    write(clones.other, "docs/pay.md", "# Payments\n\nThe okapi fleet pays at noon.\n")
    assert clones.found("okapi")[1:] == [["doc/docs/pay.md#payments"]] * 3
    (clones.one.project.root / "docs/deploy.md").unlink()
    assert clones.found("lion")[1:] == [["doc/docs/deploy.md#deploys"]] * 3
    (clones.other.project.root / "docs/deploy.md").unlink()
    assert clones.found("lion")[1:] == [[]] * 3


def test_neither_calls_what_the_other_has_a_fault(clones: Clones) -> None:
    clones.one.staging.stage(RETRIES)
    write(clones.one, "docs/deploy.md", "# Deploys\n\nThe lion fleet deploys at dusk.\n")
    for memory in (clones.one, clones.other, clones.one):
        memory.search("lion")
        assert memory.data.verify() == ()


def test_a_clone_that_went_away_holds_nothing_after_a_month(clones: Clones, clock: ScriptedClock) -> None:
    clones.other.staging.stage(CACHES)
    clock.advance(days=FORGOTTEN_AFTER / DAY + 1)
    clones.one.staging.stage(RETRIES)
    assert clones.one.search("giraffe cache", kinds=("staged",)) == []


def test_a_rebuild_forgets_what_only_another_has_until_that_one_looks(clones: Clones) -> None:
    giraffe = clones.other.staging.stage(CACHES).id
    clones.one.data.rebuild()
    assert clones.one.search("giraffe cache", kinds=("staged",)) == []
    assert clones.found("giraffe cache")[1:] == [[giraffe]] * 3


@pytest.mark.parametrize("engine", ["postgres"])
def test_a_purge_marks_the_files_that_are_here_though_the_vault_is_a_table(memory: Memory) -> None:
    memory.staging.stage(CACHES)
    entry = memory.journal.add(NewEntry(text="The giraffe cache broke.", topic="caches")).id
    memory.themes.add("giraffe-cache", NewFinding(description="Keys of two versions were mixed up"))
    mirror_vault(memory.project, pull=True, force=False)
    folder = memory.project.vault
    done = memory.data.purge(text="giraffe cache")
    shown = done.files
    assert done.found == ()
    assert not [path for path in memory.project.data.parent.rglob("*") if "giraffe" in path.name]
    assert {"memory/learnings.md", str(folder / "2026-03-02.md")} <= set(shown)
    for path in folder.rglob("*.md"):
        assert "giraffe cache" not in path.read_text()
    assert memory.search("giraffe", kinds=("staged", "doc")) == []
    assert "Pin the [purged] version" in memory.search("upgrades", kinds=("staged",))[0].title
    memory.data.purge(id=entry)
    assert "caches" not in (folder / "2026-03-02.md").read_text()
    assert mirror_vault(memory.project, pull=True, force=False).conflicts == ()


def test_a_purge_takes_the_other_ones_words_out_of_search(clones: Clones) -> None:
    clones.other.staging.stage(CACHES)
    write(clones.other, "docs/pay.md", "# Payments\n\nThe giraffe cache pays at noon.\n")
    clones.other.search("giraffe")
    clones.one.data.purge(text="giraffe cache")
    assert clones.one.search("giraffe", kinds=("staged", "doc")) == []
