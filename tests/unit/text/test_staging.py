"""The staging file as text: what counts as an entry, and that changing one thing changes nothing else."""

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.text.staging import marked_consolidated, read_staging, with_entry, without

FILE = """# Learnings

Jotted between hand-offs.

---

## Pin tool versions

A floating formatter turned the build red.

```markdown
## Not a heading
```

## Load the skill first ##

Blind edits break promises.

---

## Pin tool versions
"""


def test_entries_are_the_h2_sections_after_the_preamble() -> None:
    staging = read_staging(FILE)
    assert [(entry.title, entry.slug) for entry in staging.entries] == [
        ("Pin tool versions", "pin-tool-versions"),
        ("Load the skill first", "load-the-skill-first"),
        ("Pin tool versions", "pin-tool-versions-2"),
    ]
    assert staging.preamble == "# Learnings\n\nJotted between hand-offs.\n\n---\n"
    assert staging.lines == 21
    assert staging.entries[1].body == "Blind edits break promises."


@pytest.mark.parametrize(
    "text",
    [
        "```\n## x\n```\n",
        "~~~~\n```\n## x\n~~~\n## y\n~~~~\n",
        "<!--\n## template\n-->\n",
        "    ## indented code\n",
        "### deeper\n",
        "##no space\n",
        "## \n",
        "",
    ],
)
def test_what_only_looks_like_a_heading_is_text(text: str) -> None:
    assert read_staging(text).entries == ()


def test_a_fence_that_is_never_closed_hides_the_rest() -> None:
    assert [entry.title for entry in read_staging("## a\n```\n## b\n").entries] == ["a"]


def test_removing_an_entry_leaves_every_other_line_as_it_was() -> None:
    lines = FILE.split("\n")
    entry = read_staging(FILE).entries[1]
    expected = "\n".join(lines[: entry.first] + lines[entry.last :])
    assert without(FILE, {"load-the-skill-first"}) == expected


def test_an_added_entry_comes_last_and_reads_back() -> None:
    entry = read_staging(with_entry(FILE, "Measure first", "Then tune.\n")).entries[-1]
    assert (entry.title, entry.body) == ("Measure first", "Then tune.")


def test_the_day_of_the_last_consolidation_is_kept_in_the_preamble_once() -> None:
    once = marked_consolidated(FILE, date(2026, 3, 1))
    twice = marked_consolidated(once, date(2026, 4, 1))
    assert read_staging(once).consolidated_on == date(2026, 3, 1)
    assert read_staging(twice).consolidated_on == date(2026, 4, 1)
    assert twice == once.replace("2026-03-01", "2026-04-01")
    assert [entry.text for entry in read_staging(twice).entries] == [entry.text for entry in read_staging(FILE).entries]


@pytest.mark.parametrize("day", ["2026-13-45", "0000-00-00"])
def test_a_mark_that_is_no_date_counts_as_none(day: str) -> None:
    assert read_staging(f"<!-- recollect: consolidated on {day} -->\n").consolidated_on is None


@pytest.mark.parametrize("line", ["<!-- pending: ask Ada -->", "Status: pending", "**Status:** Pending validation"])
def test_an_entry_can_be_marked_pending(line: str) -> None:
    assert read_staging(f"## a\n\nbody\n{line}\n").entries[0].pending
    assert not read_staging("## a\n\nThe pending queue grows.\n").entries[0].pending


@given(st.lists(st.sampled_from(["## a", "## b c", "text", "", "---", "```", "# t", "<!-- x", "-->", "\u2028"])))
def test_removing_all_entries_leaves_the_preamble_and_parsing_loses_no_line(lines: list[str]) -> None:
    text = "\n".join([*lines, ""])
    staging = read_staging(text)
    covered = sum(entry.last - entry.first for entry in staging.entries)
    assert len(staging.preamble.split("\n")) * (staging.preamble != "") + covered <= staging.lines + 1
    assert read_staging(without(text, {entry.slug for entry in staging.entries})).entries == ()
