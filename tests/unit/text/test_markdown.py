"""Frontmatter, fences and headings, on what people, tools and enemies write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text import markdown


def test_frontmatter_is_read_as_strings_lists_and_mappings():
    text = "---\ntitle: no\nperiod: 2026-03-01\ntopics:\n- a [user]\n- b [project]\n---\n\nBody\n"
    assert markdown.frontmatter(text) == (
        {"title": "no", "period": "2026-03-01", "topics": ["a [user]", "b [project]"]},
        "Body\n",
    )


def test_topics_of_other_tools_are_one_string_that_yaml_does_not_cut():
    fields, _ = markdown.frontmatter("---\ntopics: C# [project], issue #12, a: b\n---\nBody")
    assert fields == {"topics": "C# [project], issue #12, a: b"}


def test_a_yaml_list_of_topics_stays_a_list():
    fields, _ = markdown.frontmatter("---\ntopics: [auth, search]\n---\nBody")
    assert fields == {"topics": ["auth", "search"]}


ALIAS_BOMB = "a: &a [x, x]\n" + "".join(
    f"{c}: &{c} [*{p}, *{p}]\n" for p, c in zip("abcdefgh", "bcdefghi", strict=True)
)


@pytest.mark.parametrize(
    "text",
    [
        "no frontmatter at all",
        "---\nstatus: fixed\nnever closed",
        f"---\n{ALIAS_BOMB}---\nBody",
        "---\nstatus: tentative\nstatus: fixed\n---\nBody",
        "---\n" + "[" * 5_000 + "\n---\nBody",
        "---\n- a\n- list\n---\nBody",
        "---\n: : :\n  - }{\n---\nBody",
        "---\nx: \x07\n---\nBody",
        " ---\nstatus: fixed\n---\nBody",
        "---\n" + "a: b\n" * 3_000 + "---\nBody",
        "",
        "---",
        "---\n---",
    ],
)
def test_what_cannot_be_read_safely_gives_no_fields_and_the_whole_text(text: str):
    assert markdown.frontmatter(text) == ({}, text)


def test_only_the_first_of_two_frontmatters_counts():
    fields, body = markdown.frontmatter("---\nstatus: tentative\n---\n---\nstatus: fixed\n---\nBody")
    assert fields == {"status": "tentative"}
    assert body == "---\nstatus: fixed\n---\nBody"


def test_a_byte_order_mark_and_windows_line_ends_are_no_obstacle():
    assert markdown.frontmatter("\ufeff---\r\nstatus: fixed\r\n---\r\nBody\r\n") == ({"status": "fixed"}, "Body\n")


KEYS = st.from_regex(r"[a-z]{1,8}", fullmatch=True)
VALUES = st.text(st.characters(categories=["L", "N", "P", "Zs"]))


@given(st.dictionaries(KEYS, VALUES, min_size=1))
def test_frontmatter_reads_back_as_it_was_written(fields: dict[str, str]):
    assert markdown.frontmatter(markdown.with_frontmatter(fields, "Body")) == (fields, "Body\n")


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        ("a\n```\n## b\n```\nc", [False, True, True, True, False]),
        ("~~~~\n```\n~~~\n~~~~\nx", [True, True, True, True, False]),
        ("```py\nx\n```` \ny", [True, True, True, False]),
        ("``` not `a` fence\nx", [False, False]),
        ("   ```\nx\n```\ny", [True, True, True, False]),
        ("    ```\nx", [False, False]),
        ("```\n``` no end\nx", [True, True, True]),
    ],
)
def test_fences_are_followed(text: str, inside: list[bool]):
    assert [in_fence for _, in_fence in markdown.fenced(text.split("\n"))] == inside


def test_an_open_fence_is_closed_with_its_own_mark():
    assert markdown.close_fence("a\n~~~~\ncode\n") == "a\n~~~~\ncode\n~~~~"


def test_headings_are_demoted_outside_fences_and_not_below_the_sixth_level():
    text = "# a\n###### b\n```\n# c\n```\n#no\n##"
    assert markdown.demote(text) == "## a\n###### b\n```\n# c\n```\n#no\n###"


def test_promoting_takes_demoting_back():
    text = "# a\n## b\ntext\n##### c"
    assert markdown.promote(markdown.demote(text)) == text


def test_sections_are_cut_at_their_level_only():
    text = "before\n## One\na\n### inner\n```\n## not a heading\n```\n## Two\nb"
    assert markdown.sections(text, 2) == [
        ("", "before"),
        ("One", "a\n### inner\n```\n## not a heading\n```"),
        ("Two", "b"),
    ]


CONFLICT = "a\n<<<<<<< HEAD\nours\n||||||| base\nold\n=======\ntheirs\n>>>>>>> branch\nb"


def test_a_conflict_left_by_git_is_seen():
    assert markdown.has_conflict(CONFLICT)
    assert not markdown.has_conflict("a\n=======\nb")


def test_both_sides_of_a_conflict_stay_and_the_base_goes():
    assert list(markdown.without_conflict_marks(CONFLICT.split("\n"))) == ["a", "ours", "theirs", "b"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("## Use C#", (2, "Use C#")),
        ("## Closed ##", (2, "Closed")),
        ("###", (3, "")),
        ("#no", None),
        (" # indented", None),
        ("####### seven", None),
    ],
)
def test_a_heading_has_a_level_and_a_title(line: str, expected: tuple[int, str] | None) -> None:
    assert markdown.heading(line) == expected


def test_headings_in_fences_and_comments_are_text() -> None:
    lines = ["# a", "```", "# b", "    ```", "```", "<!--", "# c", "-->", "## d", "### e"]
    assert markdown.headings(lines) == [0, 8, 9]
    assert markdown.headings(lines, deepest=2) == [0, 8]


def test_code_blocks_are_found_with_their_fences() -> None:
    assert markdown.code_blocks("a\n```py\nx\n```\nb\n~~~\ny") == ["```py\nx\n```", "~~~\ny"]


@pytest.mark.parametrize(("depth", "read"), [(8, True), (9, False)])
def test_frontmatter_nests_eight_levels_and_no_more(depth: int, read: bool) -> None:
    fields, _ = markdown.frontmatter(f"---\na: {'[' * (depth - 1)}x{']' * (depth - 1)}\n---\nBody\n")
    assert bool(fields) is read
