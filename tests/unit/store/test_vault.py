"""The vault on disk: text files below one root, whole or not at all, and no way out of it."""

from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from recollect import BadInput, Stale
from recollect.core.errors import FateUnknown, StoreUnreachable
from recollect.store.files import content_hash
from recollect.store.vault import FolderVault, _states, _walk


@pytest.fixture
def vault(tmp_path: Path) -> FolderVault:
    return FolderVault(tmp_path / "memory", tmp_path / "locks" / "vault.lock")


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret.md").write_text("not yours")
    return folder


def test_nothing_is_made_before_the_first_write(vault: FolderVault) -> None:
    assert vault.read("2026-03-01.md") is None
    assert vault.paths() == []
    vault.delete("2026-03-01.md")
    assert not vault.root.exists()


def test_what_is_appended_is_read_back(vault: FolderVault) -> None:
    vault.append("2026-03-01.md", "## One\n")
    vault.append("2026-03-01.md", "## Zwei ü 漢\n")
    assert vault.read("2026-03-01.md") == "## One\n## Zwei ü 漢\n"


def test_replace_writes_the_whole_file(vault: FolderVault) -> None:
    vault.replace("daily/2026-03-01.md", "long text before")
    vault.replace("daily/2026-03-01.md", "short")
    assert vault.read("daily/2026-03-01.md") == "short"
    assert [path.name for path in (vault.root / "daily").iterdir()] == ["2026-03-01.md"], "no temp file is left"


@pytest.mark.parametrize(
    ("existing", "expect", "fine"),
    [
        (None, "", True),
        ("old", "", False),
        ("old", content_hash("old"), True),
        ("old", content_hash("other"), False),
        (None, content_hash("old"), False),
        ("", content_hash(""), True),
        ("", "", False),
        ("old", None, True),
    ],
)
@pytest.mark.parametrize("verb", ["replace", "delete"])
def test_a_change_by_somebody_else_is_refused(
    vault: FolderVault, existing: str | None, expect: str | None, fine: bool, verb: str
) -> None:
    vault.append("other.md", "x")
    if existing is not None:
        vault.replace("a.md", existing)
    change = {
        "replace": lambda: vault.replace("a.md", "new", expect=expect),
        "delete": lambda: vault.delete("a.md", expect=expect),
    }[verb]
    if fine:
        change()
        assert vault.read("a.md") == ("new" if verb == "replace" else None)
    else:
        with pytest.raises(Stale, match=r"a\.md"):
            change()
        assert vault.read("a.md") == existing


def test_a_list_is_sorted_and_holds_only_our_files(vault: FolderVault, outside: Path) -> None:
    for path in ("b.md", "a.md", "daily/c.md", "daily/deep/d.md"):
        vault.append(path, "x")
    (vault.root / ".hidden.md").write_text("x")
    (vault.root / "link.md").symlink_to(outside / "secret.md")
    (vault.root / "linked").symlink_to(outside)
    os.mkfifo(vault.root / "pipe.md")
    assert vault.paths() == ["a.md", "b.md", "daily/c.md", "daily/deep/d.md"]
    assert vault.paths("daily") == ["daily/c.md", "daily/deep/d.md"]
    assert vault.paths("daily/deep") == ["daily/deep/d.md"]
    assert vault.paths("nowhere") == []


BAD_PATHS = [
    "",
    "/etc/x",
    "../x",
    "a/../../x",
    "..",
    ".",
    "./a.md",
    "a//b.md",
    "a/",
    ".hidden",
    "a/.hidden/b.md",
    "a\\b.md",
    "C:x.md",
    "a\x00.md",
    "a\n.md",
    "\ud800.md",
    "x" * 201,
    "a/" + "x" * 300,
]


@pytest.mark.parametrize("path", BAD_PATHS, ids=lambda path: ascii(path)[:20])
def test_a_path_that_is_not_inside_is_refused(vault: FolderVault, tmp_path: Path, path: str) -> None:
    for use in (
        lambda: vault.read(path),
        lambda: vault.append(path, "x"),
        lambda: vault.replace(path, "x"),
        lambda: vault.delete(path),
    ):
        with pytest.raises(BadInput):
            use()
    if path:
        with pytest.raises(BadInput):
            vault.paths(path)
    assert not vault.root.exists()


def test_a_link_to_a_file_outside_is_not_followed(vault: FolderVault, outside: Path) -> None:
    vault.append("a.md", "x")
    (vault.root / "link.md").symlink_to(outside / "secret.md")
    with pytest.raises(BadInput, match="symbolic link"):
        vault.read("link.md")
    with pytest.raises(BadInput, match="symbolic link"):
        vault.append("link.md", "mine now")
    vault.replace("link.md", "mine")
    assert vault.read("link.md") == "mine"
    assert (outside / "secret.md").read_text() == "not yours", "the link was replaced, not what it pointed to"


def test_a_link_to_a_folder_outside_is_not_followed(vault: FolderVault, outside: Path) -> None:
    vault.append("a.md", "x")
    (vault.root / "linked").symlink_to(outside)
    for use in (
        lambda: vault.read("linked/secret.md"),
        lambda: vault.append("linked/new.md", "x"),
        lambda: vault.replace("linked/secret.md", "x"),
        lambda: vault.delete("linked/secret.md"),
        lambda: vault.paths("linked"),
    ):
        with pytest.raises(BadInput, match="symbolic link"):
            use()
    assert [path.name for path in outside.iterdir()] == ["secret.md"]
    assert (outside / "secret.md").read_text() == "not yours"


@pytest.mark.parametrize("verb", ["read", "append"])
@pytest.mark.parametrize("odd", ["fifo", "folder"])
def test_what_is_no_file_is_refused_and_not_waited_for(vault: FolderVault, odd: str, verb: str) -> None:
    vault.append("a.md", "x")
    place = vault.root / "2026-03-01.md"
    os.mkfifo(place) if odd == "fifo" else place.mkdir()
    handles = len(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else 0
    for _ in range(3):
        with pytest.raises(BadInput):
            vault.read("2026-03-01.md") if verb == "read" else vault.append("2026-03-01.md", "x")
    if handles:
        assert len(os.listdir("/proc/self/fd")) == handles, "no handle is left open"


def test_a_folder_is_never_replaced_by_a_file(vault: FolderVault) -> None:
    vault.append("daily/a.md", "x")
    with pytest.raises(BadInput):
        vault.replace("daily", "x")
    with pytest.raises(BadInput):
        vault.delete("daily")
    assert vault.paths() == ["daily/a.md"]


def test_a_file_where_a_folder_is_expected_is_refused(vault: FolderVault) -> None:
    vault.append("a.md", "x")
    for use in (
        lambda: vault.append("a.md/b.md", "x"),
        lambda: vault.read("a.md/b.md"),
    ):
        with pytest.raises(BadInput):
            use()
    assert vault.read("a.md") == "x"


def test_text_that_is_not_utf8_is_read_and_lone_surrogates_are_written(vault: FolderVault) -> None:
    vault.append("a.md", "x\ud800y")
    assert vault.read("a.md") == "x?y"
    (vault.root / "latin.md").write_bytes(b"caf\xe9")
    assert vault.read("latin.md") == "caf\ufffd"


@pytest.mark.parametrize("gone", ["a folder", "a file"])
def test_what_goes_while_a_folder_is_listed_hides_nothing_else(vault: FolderVault, gone: str) -> None:
    for name in ("one", "two", "three"):
        vault.append(f"{name}/2026-03-01.md" if gone == "a folder" else name, "x")
    handle = os.open(vault.root, os.O_RDONLY)
    try:
        listing = _walk(handle) if gone == "a folder" else _states(handle, None)
        seen = next(listing)[0]
        left = next(path for path in vault.root.iterdir() if path.name != seen)
        shutil.rmtree(left) if left.is_dir() else left.unlink()
        names = {seen, *(found[0] for found in listing)}
    finally:
        os.close(handle)
    assert names == {"one", "two", "three"} - {left.name}


def test_a_change_that_keeps_the_size_is_seen_while_the_clock_stands_still(vault: FolderVault) -> None:
    stamp = vault.append("a.md", "one\n")
    file = vault.root / "a.md"
    written = file.stat().st_ctime_ns  # a coarse clock says the same for a while
    file.write_text("eno\n")
    os.utime(file, ns=(written, written))
    assert vault.stamps()["a.md"] != stamp
    with pytest.raises(Stale):
        vault.append("a.md", "two\n", after=stamp)


@pytest.mark.parametrize("text", ["one\ntwo\nby hand\n", "eno\nowt\n"], ids=["more", "as much"])
def test_an_append_beside_which_somebody_else_wrote_knows_no_stamp(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    stamp = vault.append("a.md", "one\n")
    sync = os.fsync

    def slow(handle: int) -> None:
        (vault.root / "a.md").write_text(text)
        sync(handle)

    with monkeypatch.context() as slowed:
        slowed.setattr(os, "fsync", slow)
        assert vault.append("a.md", "two\n", after=stamp) == ""
    assert vault.read("a.md") == text


def test_an_append_that_fails_is_cut_off_but_not_what_another_program_wrote_behind_it(
    vault: FolderVault, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault.append("a.md", "one\n")
    file = vault.root / "a.md"

    def failing(behind: str) -> None:
        def fail(_: int) -> None:
            with file.open("a") as other:
                other.write(behind)
            raise OSError(errno.EIO, "Input/output error")

        with monkeypatch.context() as broken:
            broken.setattr(os, "fsync", fail)
            vault.append("a.md", "two\n")

    with pytest.raises(StoreUnreachable, match="check the folder"):
        failing("")
    assert file.read_text() == "one\n"
    with pytest.raises(FateUnknown, match="another program wrote behind it"):
        failing("by hand\n")
    assert file.read_text() == "one\ntwo\nby hand\n"
