"""The vault keeps texts by path, whether it is a folder or a table."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect import BadInput, Memory, Stale
from recollect.store.files import content_hash


def test_what_is_appended_reads_back_in_order(memory: Memory) -> None:
    vault = memory.context.vault
    assert vault.read("2026-03-01.md") is None
    for text in ("one\n", "two\n", "three\n"):
        vault.append("2026-03-01.md", text)
    assert vault.read("2026-03-01.md") == "one\ntwo\nthree\n"


def test_an_append_behind_another_end_is_refused_and_leaves_the_file(memory: Memory) -> None:
    vault = memory.context.vault
    assert vault.append("a.md", "one\n", after="") == vault.stamps()["a.md"]
    stamp = vault.append("a.md", "two\n", after=vault.stamps()["a.md"])
    for somebody_else in (lambda: vault.append("a.md", "three\n"), lambda: vault.delete("a.md")):
        somebody_else()
        before = vault.read("a.md")
        with pytest.raises(Stale, match="another process"):
            vault.append("a.md", "four\n", after=stamp)
        assert vault.read("a.md") == before


def test_stamps_are_given_of_the_names_that_are_asked_for(memory: Memory) -> None:
    vault = memory.context.vault
    for path in ("a.md", "b.md", "c.md", "d/a.md", "d/c.md"):
        vault.append(path, path)
    for folder in ("", "d"):
        every = vault.stamps(folder)
        assert vault.stamps(folder, names=["c.md", "a.md", "no.md"]) == {name: every[name] for name in ("a.md", "c.md")}
        assert vault.stamps(folder, names=[]) == {}
    assert sorted(vault.stamps("d")) == ["a.md", "c.md"]


def test_pieces_make_the_whole_text(memory: Memory) -> None:
    vault = memory.context.vault
    texts = ["", "a" * 10, "", "b" * 700_000, "c" * 700_000, "d" * 3_000_000, "e", ""]
    for text in texts:
        vault.append("a.md", text)
    assert "".join(vault.pieces("a.md")) == "".join(texts)


def test_a_replacement_takes_the_place_of_everything(memory: Memory) -> None:
    vault = memory.context.vault
    vault.append("root.md", "old ")
    vault.append("root.md", "older")
    vault.replace("root.md", "new")
    vault.append("root.md", "er")
    assert vault.read("root.md") == "newer"


def test_a_replacement_that_expects_another_text_is_refused(memory: Memory) -> None:
    vault = memory.context.vault
    vault.replace("daily/2026-03-01.md", "first", expect="")
    with pytest.raises(Stale, match="another process"):
        vault.replace("daily/2026-03-01.md", "second", expect="")
    vault.replace("daily/2026-03-01.md", "second", expect=content_hash("first"))
    with pytest.raises(Stale):
        vault.delete("daily/2026-03-01.md", expect=content_hash("first"))
    assert vault.read("daily/2026-03-01.md") == "second"


def test_deleting_is_done_once_and_for_all(memory: Memory) -> None:
    vault = memory.context.vault
    vault.replace("a.md", "text")
    vault.delete("a.md")
    vault.delete("a.md")
    for path in ("a.md", "no/such/folder.md"):
        with pytest.raises(Stale):
            vault.delete(path, expect=content_hash("text"))
    assert vault.read("a.md") is None
    assert vault.paths() == []


def test_paths_are_listed_by_folder_in_order(memory: Memory) -> None:
    vault = memory.context.vault
    for path in ("daily/b.md", "daily/a.md", "daily-notes.md", "daily0.md", "weekly/x.md", "daily/deep/c.md"):
        vault.replace(path, path)
    assert vault.paths("daily") == ["daily/a.md", "daily/b.md", "daily/deep/c.md"]
    assert vault.paths() == sorted(
        ["daily-notes.md", "daily/a.md", "daily/b.md", "daily/deep/c.md", "daily0.md", "weekly/x.md"]
    )
    assert vault.paths("daily/a.md") == vault.paths("daily/a.md/x") == vault.paths("nowhere") == []


@pytest.mark.parametrize(
    "path", ["", "/etc/passwd", "../x", "a//b", "a/../b", ".hidden", "a/.git/b", "a\\b", "C:x", "a\nb", "x" * 300]
)
def test_a_path_that_leads_elsewhere_is_refused(memory: Memory, path: str) -> None:
    vault = memory.context.vault
    for action in (lambda: vault.read(path), lambda: vault.append(path, "x"), lambda: vault.replace(path, "x")):
        with pytest.raises(BadInput):
            action()
    assert vault.paths() == []


@pytest.mark.parametrize(("first", "second"), [("a", "a/b"), ("a/b", "a"), ("a/b", "a/b/c")])
def test_a_name_is_a_file_or_a_folder_never_both(memory: Memory, first: str, second: str) -> None:
    vault = memory.context.vault
    vault.replace(first, "x")
    with pytest.raises(BadInput):
        vault.replace(second, "y")
    assert vault.paths() == [first]


@given(texts=st.lists(st.text(st.characters(exclude_characters="\0"), max_size=40), max_size=6))
def test_any_text_comes_back(memory: Memory, texts: list[str]) -> None:
    vault = memory.context.vault
    vault.delete("any.md")
    for text in texts:
        vault.append("any.md", text)
    expected = "".join(texts).encode("utf-8", "replace").decode()
    assert (vault.read("any.md") or "") == expected
