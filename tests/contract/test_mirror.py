"""Mirroring a vault: a change on one side goes over, a change on both is nobody's to decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Memory
from recollect.core.context import Vault
from recollect.store.vault import FolderVault
from recollect.tend.export import mirror

# What a file was when both sides were equal, what it is here and there now, and what bringing it from here does: when
# here is the team's (a pull), and when there is (a push). None is no file.
FATES: list[tuple[str | None, str | None, str | None, str, str]] = [
    (None, "new", None, "written", "written"),
    (None, None, "new", "ahead", "ahead"),
    (None, "a", "b", "conflicts", "conflicts"),
    (None, "a and more", "a", "written", "written"),
    (None, "a", "a and more", "ahead", "ahead"),
    ("old", "new", "old", "written", "written"),
    ("old", "old", "new", "ahead", "ahead"),
    ("old", "one", "two", "conflicts", "conflicts"),
    ("old", "old, grown", "old, grown further", "ahead", "ahead"),
    ("old", "old, grown further", "old, grown", "written", "written"),
    ("old", "ol", "old", "written", "written"),
    ("old", None, "old", "removed", "missing"),
    ("old", "old", None, "written", "ahead"),
    ("old", None, "changed", "conflicts", "missing"),
    ("old", "changed", None, "written", "conflicts"),
    ("old", "same", "same", "equal", "equal"),
    ("old", None, None, "gone", "gone"),
]

# The same for a log, where it differs: it only ever grows, whoever brings it.
LOG_FATES: list[tuple[str, str | None, str | None, str]] = [
    ("old", None, "old", "missing"),
    ("old", None, "old, grown", "missing"),
    ("old", "old", None, "written"),
    ("old", "ol", "old", "ahead"),
]


@pytest.fixture
def folder(tmp_path: Path) -> FolderVault:
    return FolderVault(tmp_path / "mirror", tmp_path / "mirror.lock")


@pytest.mark.parametrize(("last", "here", "there", "pulled", "pushed"), FATES)
@pytest.mark.parametrize("pull", [True, False])
@pytest.mark.parametrize("force", [False, True])
def test_every_fate_of_a_file(
    memory: Memory,
    folder: FolderVault,
    last: str | None,
    here: str | None,
    there: str | None,
    pulled: str,
    pushed: str,
    pull: bool,
    force: bool,
) -> None:
    fate = pulled if pull else pushed
    if force and fate == "conflicts":
        fate = "removed" if here is None else "written"
    _meets(memory.context.vault, folder, "d/x.md", (last, here, there), fate, pull=pull, force=force)


@pytest.mark.parametrize(("last", "here", "there", "fate"), LOG_FATES)
@pytest.mark.parametrize("pull", [True, False])
@pytest.mark.parametrize("force", [False, True])
def test_a_log_is_never_removed_nor_shortened(
    memory: Memory,
    folder: FolderVault,
    last: str,
    here: str | None,
    there: str | None,
    fate: str,
    pull: bool,
    force: bool,
) -> None:
    _meets(memory.context.vault, folder, "2026-03-01.md", (last, here, there), fate, pull=pull, force=force)


def _meets(
    vault: Vault,
    folder: FolderVault,
    path: str,
    texts: tuple[str | None, str | None, str | None],
    fate: str,
    *,
    pull: bool,
    force: bool,
) -> None:
    last, here, there = texts
    known: dict[str, str] = {}
    if last is not None:
        vault.replace(path, last)
        known = mirror(vault, folder, known, pull=True).equal
    for side, text in ((vault, here), (folder, there)):
        if text is None:
            side.delete(path)
        else:
            side.replace(path, text)
    done = mirror(vault, folder, known, pull=pull, force=force)
    found = {name: path in getattr(done, name) for name in ("written", "removed", "ahead", "missing", "conflicts")}
    assert [name for name, holds in found.items() if holds] == ([fate] if fate in found else [])
    assert vault.read(path) == here
    assert folder.read(path) == (here if fate in ("written", "removed") else there)


def test_bringing_it_back_and_forth_ends_in_nothing_to_do(memory: Memory, folder: FolderVault) -> None:
    vault = memory.context.vault
    vault.append("2026-03-01.md", "theirs\n")
    folder.append("2026-03-02.md", "ours\n")
    known = mirror(vault, folder, {}, pull=True).equal
    known = mirror(folder, vault, known, pull=False).equal
    for source, target in ((vault, folder), (folder, vault)):
        done = mirror(source, target, known, pull=source is vault)
        assert (done.written, done.removed, done.ahead, done.missing, done.conflicts) == ((), (), (), (), ())
    assert vault.paths() == folder.paths() == ["2026-03-01.md", "2026-03-02.md"]


def test_the_repositorys_own_files_are_not_mirrored(memory: Memory, folder: FolderVault) -> None:
    folder.replace("learnings.md", "staged")
    folder.replace("index.md", "index")
    assert mirror(folder, memory.context.vault, {}, pull=False).written == ()
    assert memory.context.vault.paths() == []
