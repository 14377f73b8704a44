"""Mirroring a vault: a change on one side goes over, a change on both is nobody's to decide."""

from __future__ import annotations

from pathlib import Path

import pytest

from recollect import Memory
from recollect.store.vault import FolderVault
from recollect.tend.mirror import mirror

# What a file was when both sides were equal, what it is here and there now, and what bringing it from here does.
# None is no file.
FATES: list[tuple[str | None, str | None, str | None, str]] = [
    (None, "new", None, "written"),
    (None, None, "new", "ahead"),
    (None, "a", "b", "conflicts"),
    (None, "a and more", "a", "written"),
    (None, "a", "a and more", "ahead"),
    ("old", "new", "old", "written"),
    ("old", "old", "new", "ahead"),
    ("old", "one", "two", "conflicts"),
    ("old", "old, grown", "old, grown further", "ahead"),
    ("old", "old, grown further", "old, grown", "written"),
    ("old", None, "old", "removed"),
    ("old", "old", None, "ahead"),
    ("old", None, "changed", "conflicts"),
    ("old", "changed", None, "conflicts"),
    ("old", "same", "same", "equal"),
    ("old", None, None, "gone"),
]


@pytest.fixture
def folder(tmp_path: Path) -> FolderVault:
    return FolderVault(tmp_path / "mirror", tmp_path / "mirror.lock")


@pytest.mark.parametrize(("last", "here", "there", "fate"), FATES)
@pytest.mark.parametrize("force", [False, True])
def test_every_fate_of_a_file(
    memory: Memory,
    folder: FolderVault,
    last: str | None,
    here: str | None,
    there: str | None,
    fate: str,
    force: bool,
) -> None:
    vault = memory.context.vault
    known: dict[str, str] = {}
    if last is not None:
        vault.replace("d/x.md", last)
        known = mirror(vault, folder, known).equal
    for side, text in ((vault, here), (folder, there)):
        if text is None:
            side.delete("d/x.md")
        else:
            side.replace("d/x.md", text)
    done = mirror(vault, folder, known, force=force)
    if force and fate == "conflicts":
        fate = "removed" if here is None else "written"
    found = {name: "d/x.md" in getattr(done, name) for name in ("written", "removed", "ahead", "conflicts")}
    assert [name for name, holds in found.items() if holds] == ([fate] if fate in found else [])
    assert vault.read("d/x.md") == here
    assert folder.read("d/x.md") == (here if fate in ("written", "removed") else there)


def test_bringing_it_back_and_forth_ends_in_nothing_to_do(memory: Memory, folder: FolderVault) -> None:
    vault = memory.context.vault
    vault.append("2026-03-01.md", "theirs\n")
    folder.append("2026-03-02.md", "ours\n")
    known = mirror(vault, folder, {}).equal
    known = mirror(folder, vault, known).equal
    for source, target in ((vault, folder), (folder, vault)):
        done = mirror(source, target, known)
        assert (done.written, done.removed, done.ahead, done.conflicts) == ((), (), (), ())
    assert vault.paths() == folder.paths() == ["2026-03-01.md", "2026-03-02.md"]


def test_the_repositorys_own_files_are_not_mirrored(memory: Memory, folder: FolderVault) -> None:
    folder.replace("learnings.md", "staged")
    folder.replace("index.md", "index")
    assert mirror(folder, memory.context.vault, {}).written == ()
    assert memory.context.vault.paths() == []
