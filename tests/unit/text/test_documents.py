"""Permanent documents: placing, taking out, splitting, indexing and merging keep every line they should."""

import json
import re
from collections import Counter
from collections.abc import Collection
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollect.text.documents import (
    PARTS_MARK,
    check_index,
    make_index,
    relinked,
    rendered_entry,
    sections,
    split,
    with_block,
    without_block,
    without_sentences,
)
from recollect.text.route import NEW_FILE, Placement, Router, is_target, manner
from recollect.text.staging import merge_staging

DOCUMENT = """# Testing

Intro.

## Unit tests

They are fast.

### Names

Say what holds.

## Flaky tests

Quarantine them.
"""
ROUTING = json.loads((Path(__file__).parents[2] / "data/routing.json").read_text("utf-8"))


# Sections and blocks


def test_a_section_ends_at_the_next_heading_of_its_level() -> None:
    found = {section.slug: DOCUMENT.split("\n")[section.first : section.last] for section in sections(DOCUMENT)}
    assert found["unit-tests"][0] == "## Unit tests"
    assert found["unit-tests"][-2:] == ["Say what holds.", ""]
    assert found["names"] == ["### Names", "", "Say what holds.", ""]


def test_a_block_is_added_at_the_end_of_its_section() -> None:
    after = with_block(DOCUMENT, rendered_entry("Freeze the clock", "It drifts.", 3), "unit-tests")
    assert "Say what holds.\n\n### Freeze the clock\n\nIt drifts.\n\n## Flaky tests" in after
    assert without_block(after, rendered_entry("Freeze the clock", "It drifts.", 3)) == DOCUMENT


def test_a_block_without_a_section_is_added_at_the_end() -> None:
    assert with_block(DOCUMENT, "## More\n", None) == DOCUMENT + "\n## More\n"
    assert with_block("", "## More\n", None) == "## More\n"


def test_headings_in_a_body_go_below_the_entrys_own() -> None:
    assert rendered_entry("T", "# a\n\n```\n# code\n```", 3) == "### T\n\n#### a\n\n```\n# code\n```\n"


def test_a_block_that_was_edited_or_stands_twice_is_not_taken_out() -> None:
    block = rendered_entry("Freeze the clock", "It drifts.", 3)
    after = with_block(DOCUMENT, block, "unit-tests")
    assert without_block(after.replace("It drifts.", "It drifts!"), block) is None
    assert without_block(with_block(after, block, None), block) is None


# Routing


def place(router: Router, title: str, body: str = "", ignored: Collection[str] = ()) -> Placement:
    """The likeliest place, or a new file where nothing is near."""
    return next(iter(router.ranked(title, body, ignored)), NEW_FILE)


def test_nearly_all_learnings_are_placed_where_a_reader_would_put_them() -> None:
    assert (len(ROUTING["entries"]), len(ROUTING["documents"])) == (40, 8)
    right = 0
    for entry in ROUTING["entries"]:
        placed = place(Router(ROUTING["documents"]), entry["title"], entry["body"])
        right += (placed.path, placed.heading) == (entry["path"], entry["heading"])
    assert right >= 39


def test_no_learning_goes_under_a_heading_about_something_else() -> None:
    for entry in ROUTING["entries"]:
        others = {path: text for path, text in ROUTING["documents"].items() if path != entry["path"]}
        assert place(Router(others), entry["title"], entry["body"]).heading == ""


def test_a_few_words_in_common_with_a_rule_make_a_section_of_its_own_beside_it() -> None:
    rules = "# Learnings\n\n## Name a unit test after the behaviour it checks\n\nA reader sees what broke.\n"
    new = "Never retry a failing test until it is green", "A flaky test hides a race; quarantine it and file a bug."
    assert place(Router({"memory/shared.md": rules}), *new).heading == ""


def test_where_no_document_is_near_a_new_file_is_proposed() -> None:
    assert place(Router(ROUTING["documents"]), "Book travel through the portal").path == ""
    assert place(Router({}), "Anything").path == ""


def test_a_document_that_fits_without_a_fitting_heading_gets_a_new_one() -> None:
    document = "# Stripe\n\nStripe webhooks arrive late. Stripe signs webhooks.\n\n## Zebra\n\nBlack and white.\n"
    assert place(Router({"docs/stripe.md": document}), "Stripe webhooks arrive twice").where == "docs/stripe.md"


def test_meaning_counts_beside_words_when_it_is_known() -> None:
    documents = {"a.md": "# A\n\n## Felines\n\nPurring.\n", "b.md": "# B\n\n## Canines\n\nBarking.\n"}
    router = Router(documents, alike=lambda _, others: [float("Felines" in other) for other in others])
    placed = place(router, "Cats meow")
    assert (placed.path, placed.heading) == ("a.md", "felines")


# Splitting


def long_document(sizes: list[int]) -> str:
    parts = ["# Guide\n\nRead the [second](#topic-1) first.\n"]
    for number, size in enumerate(sizes):
        body = "\n".join(f"Line {line} of topic {number}." for line in range(size))
        parts.append(f"## Topic {number}\n\n{body}\n")
    return "\n".join(parts)


def content(texts: list[str]) -> Counter[str]:
    """Non-blank lines, with link targets left out: those are meant to change."""
    lines = [re.sub(r"\]\([^)]*\)", "]", line) for text in texts for line in text.split("\n")]
    return Counter(line for line in lines if line.strip())


@example([207, 50, 245, 110])
@given(st.lists(st.integers(1, 250), min_size=2, max_size=8))
def test_a_split_keeps_every_line_once_and_makes_files_of_a_readable_size(sizes: list[int]) -> None:
    text = long_document(sizes)
    done = split("docs/guide.md", text)
    assert done is not None
    parts = [part for path, part in done.files.items() if path != "docs/guide.md"]
    titles = Counter(part.split("\n")[0] for part in parts)
    links = Counter(
        line for line in re.sub(r"\]\([^)]*\)", "]", done.files["docs/guide.md"]).split("\n") if line.startswith("- [")
    )
    assert content(list(done.files.values())) - titles - links - Counter([PARTS_MARK]) == content([text])
    assert all(part.count("\n") <= 303 for part in parts)
    for one, other in pairwise(part.count("\n") for part in parts):
        assert min(one, other) >= 100 or one + other >= 300, "a crumb that would have fitted into its neighbour"


def test_parts_are_about_as_long_as_each_other() -> None:
    done = split("docs/guide.md", long_document([30] * 20))
    assert done
    sizes = [part.count("\n") for path, part in done.files.items() if path != "docs/guide.md"]
    assert len(sizes) == 3
    assert max(sizes) - min(sizes) < 70


def test_a_part_is_named_after_what_its_sections_hold_and_the_old_document_lists_them() -> None:
    subjects = ("cache key", "cache size", "cache warmth", "login token", "login page", "login limit")
    text = "# Guide\n\n" + "\n".join(f"## The {subject}\n\n" + f"About the {subject}.\n" * 60 for subject in subjects)
    done = split("docs/guide.md", text)
    assert done is not None
    assert sorted(done.files) == ["docs/guide-cache.md", "docs/guide-login.md", "docs/guide.md"]
    assert "- [Cache](guide-cache.md): The cache key, The cache size, The cache warmth" in done.files["docs/guide.md"]


def test_a_document_whose_links_stay_is_not_touched() -> None:
    text = "# Other\r\n\r\nSee [this](guide.md#elsewhere)."
    assert relinked(text, "docs/other.md", {("docs/guide.md", "moved"): ("docs/part.md", "moved")}) == text


def test_an_h2_that_is_too_long_is_split_at_its_h3() -> None:
    deep = "\n".join(f"### Part {number}\n\n" + "\n".join(["x"] * 150) + "\n" for number in range(4))
    done = split("guide.md", f"# Guide\n\n## All of it\n\nIntro.\n\n{deep}")
    assert done is not None
    assert len(done.files) >= 3


def test_a_document_without_headings_to_split_at_stays() -> None:
    assert split("guide.md", "# Guide\n\n" + "x\n" * 500) is None


def test_links_follow_the_headings_that_moved() -> None:
    done = split("docs/guide.md", long_document([200, 200]), taken=["docs/guide-topic-0.md"])
    assert done is not None
    assert done.moved["docs/guide.md", "topic-1"] == ("docs/guide-topic-1.md", "topic-1-1")
    assert "docs/guide-topic-0-2.md" in done.files
    assert "[second](guide-topic-1.md#topic-1-1)" in done.files["docs/guide.md"]
    other = "See [it](../docs/guide.md#topic-1), [web](https://x.org/guide.md#topic-1) and `[x](guide.md#topic-1)`.\n"
    after = relinked(other + "```\n[it](../docs/guide.md#topic-1)\n```\n", "agents/a.md", done.moved)
    assert "[it](../docs/guide-topic-1.md#topic-1-1)" in after
    assert "https://x.org/guide.md#topic-1" in after
    assert "```\n[it](../docs/guide.md#topic-1)\n```" in after


# The index

DOCUMENTS = {"docs/testing.md": DOCUMENT, "agents/x.md": "# Skills\n\nNo sections.\n"}
INDEX = """# Memory index

<!-- recollect: generated from the documents below; `recollect staged index` writes it again -->

## agents/x.md

- [Skills](../agents/x.md)

## docs/testing.md

- [Unit tests](../docs/testing.md#unit-tests) — They are fast.
- [Flaky tests](../docs/testing.md#flaky-tests) — Quarantine them.
"""


def test_the_index_lists_every_section_with_what_it_says() -> None:
    assert make_index(DOCUMENTS, "memory/index.md") == INDEX
    assert check_index(INDEX, DOCUMENTS, "memory/index.md") == []


def test_the_index_shows_what_a_section_says_not_its_code() -> None:
    document = "## Setup\n\n```sh\nmake dev\n```\n\n<!-- checked\ntwice -->\nRun it once. Then work.\n"
    assert make_index({"a.md": document}, "index.md").endswith("- [Setup](a.md#setup) — Run it once.\n")
    assert make_index({"a.md": "## Jobs\n\n- Retry once.\n"}, "index.md").endswith("— Retry once.\n")


UNIT, FLAKY = INDEX.split("\n")[-3:-1]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (INDEX + UNIT + "\n", "duplicate"),
        (INDEX + "- [Gone](../docs/gone.md#x)\n", "orphan"),
        (INDEX.replace(UNIT + "\n", ""), "missing"),
        (INDEX.replace(UNIT + "\n", "").replace("- [Skills]", UNIT + "\n- [Skills]"), "wrong section"),
        (INDEX.replace(f"{UNIT}\n{FLAKY}", f"{FLAKY}\n{UNIT}"), "wrong order"),
        (INDEX + "- loose words\n", "not an entry"),
        (INDEX.replace("They are fast.", "They are slow."), "out of date"),
    ],
)
def test_a_wrong_index_is_told_by_its_fault(text: str, fault: str) -> None:
    assert fault in {problem.fault for problem in check_index(text, DOCUMENTS, "memory/index.md")}


@pytest.mark.parametrize(
    "link",
    [
        "See [it]({}).",
        'See [it]({} "Its title") and [more](x.md).',
        "See [it](<{}>).",
        "[r1]: {}",
        "  [r1]: <{}> 'Its title'",
        'See <a href="{}">it</a>.',
        "See <a class='x' href='{}'>it</a>.",
    ],
)
@pytest.mark.parametrize("target", ["guide.md#moved", "#moved"])
def test_a_link_of_any_form_follows_a_moved_heading(link: str, target: str) -> None:
    moved = {("docs/guide.md", "moved"): ("docs/part.md", "moved-1")}
    here = "docs/other.md" if target.startswith("guide") else "docs/guide.md"
    assert relinked(link.format(target) + "\n", here, moved) == link.format("part.md#moved-1") + "\n"


@pytest.mark.parametrize(
    "line", ["[^1]: guide.md#moved", "See guide.md#moved.", "[it](https://guide.md#moved)", "[it](guide.md)"]
)
def test_what_is_no_link_to_a_moved_heading_stays(line: str) -> None:
    assert relinked(line + "\n", "docs/a.md", {("docs/guide.md", "moved"): ("docs/part.md", "moved")}) == line + "\n"


# Merging the staging file


def staging(*entries: str, preamble: str = "# Learnings") -> str:
    return "\n\n".join([preamble, *(f"## {entry}\n\nBecause of {entry}." for entry in entries)]) + "\n"


def test_new_entries_of_both_sides_are_kept_and_consolidated_ones_stay_gone() -> None:
    merged = merge_staging(staging("a", "b"), staging("b", "c"), staging("a", "b", "d"))
    assert merged.text == staging("b", "c", "d")
    assert merged.conflicts == ()


def test_an_entry_rewritten_while_the_other_side_consolidated_it_is_kept() -> None:
    theirs = staging("a", "b").replace("Because of a.", "Because of much more.")
    assert "much more" in merge_staging(staging("a", "b"), staging("b"), theirs).text


def test_one_side_that_changed_an_entry_wins_over_one_that_did_not() -> None:
    ours = staging("a").replace("Because of a.", "Because.")
    assert merge_staging(staging("a"), ours, staging("a")).text == ours
    assert merge_staging(staging("a"), staging("a"), ours).text == ours


def test_an_entry_changed_on_both_sides_is_a_conflict_that_loses_nothing() -> None:
    ours, theirs = (staging("a").replace("Because of a", word) for word in ("Left", "Right"))
    merged = merge_staging(staging("a"), ours, theirs)
    assert merged.conflicts == ("a",)
    assert "Left" in merged.text
    assert "Right" in merged.text
    assert "<<<<<<<" in merged.text


def test_two_entries_written_under_one_title_are_both_kept() -> None:
    ours, theirs = (staging("a").replace("Because of a", word) for word in ("Left", "Right"))
    assert merge_staging(staging(), ours, theirs).text.count("## a\n") == 2
    assert merge_staging(staging(), ours, ours).text == ours


@pytest.mark.parametrize("rule", ["***", "---"])
def test_a_rule_after_an_entry_stays_and_does_not_bring_the_entry_back(rule: str) -> None:
    ruled = staging("a", "b") + f"\n{rule}\n"
    assert merge_staging(staging("a", "b"), ruled, staging("a", "b")).text == ruled
    assert merge_staging(staging("a", "b"), staging("a", "b"), ruled).text == ruled
    assert merge_staging(staging("a", "b"), staging("a"), ruled).text == staging("a")


def test_the_later_day_of_consolidation_survives_a_merge() -> None:
    marked = staging("a", preamble="# Learnings\n\n<!-- recollect: consolidated on {} -->")
    merged = merge_staging(staging("a"), marked.format("2026-03-01"), marked.format("2026-04-01"))
    assert merged.conflicts == ()
    assert "consolidated on 2026-04-01" in merged.text
    assert "2026-03-01" not in merged.text


titles = st.lists(st.sampled_from("abcdef"), unique=True).map(lambda names: staging(*names))


@given(titles, titles, titles)
def test_a_merge_keeps_what_is_new_and_drops_what_one_side_dropped(base: str, ours: str, theirs: str) -> None:
    names = [set(re.findall(r"^## (.)$", text, re.MULTILINE)) for text in (base, ours, theirs)]
    expected = ((names[1] | names[2]) - names[0]) | (names[0] & names[1] & names[2])
    merged = merge_staging(base, ours, theirs)
    assert set(re.findall(r"^## (.)$", merged.text, re.MULTILINE)) == expected
    assert merge_staging(base, merged.text, merged.text).text == merged.text


def test_link_targets_are_those_that_github_makes() -> None:
    text = "# Coverage\n\n## Coverage\n\nx\n\n## Don't panic\n\n## Q&A & Testing\n\n## Größe_x – 2.0\n"
    assert [section.slug for section in sections(text)] == [
        "coverage",
        "coverage-1",
        "dont-panic",
        "qa--testing",
        "größe_x--20",
    ]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Old rule. Name its owner.", "Name its owner."),
        ("- Old rule. Name its owner.\n- Other.", "- Name its owner.\n- Other."),
        ("  * Name its owner. Old rule.", "* Name its owner."),
        ("1. Old rule. Name its owner.\n2. Other.", "1. Name its owner.\n2. Other."),
        ("- Old rule.\n- Other.", "- Other."),
        ("```\nOld rule.\n```", "```\nOld rule.\n```"),
    ],
)
def test_taking_a_sentence_out_leaves_the_mark_of_its_list_item(text: str, left: str) -> None:
    assert without_sentences(text, lambda said: said == "Old rule.") == left


def test_the_form_that_learnings_share_brings_none_of_them_nearer_to_a_document() -> None:
    rules = ("Tag the release before a deploy", "Name the encoding of a CSV file", "Order pages by a unique column")
    texts = [f"{rule}\n\nWhy: it cost an afternoon.\n\nHow to apply: whenever you touch this code." for rule in rules]
    documents = {"docs/ops.md": f"# Ops\n\n## Deploys\n\nDeploy from main.\n\n### {texts[0]}\n"}
    router = Router(documents)
    assert place(router, "", texts[1]).heading == "deploys"
    form = manner(texts)
    assert [place(router, "", text, form).heading for text in texts] == ["deploys", "", ""]


def test_a_document_attracts_what_is_like_entries_that_went_there_before() -> None:
    documents = {f"docs/{name}.md": f"# {name}\n\n## Rules\n\nBe careful.\n" for name in ("alpha", "beta", "gamma")}
    earlier = [("docs/beta.md", "Warm the cache before a deploy", "A cold cache took the site down.")]
    ranked = Router(documents, earlier=earlier).ranked(
        "Flush the cache after a deploy", "A stale cache showed old prices."
    )
    assert [each.path for each in ranked] == ["docs/beta.md"]
    assert ranked[0].score > 0.5


def test_documents_that_fit_about_as_well_have_about_the_same_chance() -> None:
    documents = {
        f"docs/{name}.md": f"# {name}\n\n## Cache\n\nWarm the cache of {name}.\n" for name in ("alpha", "beta")
    }
    first, second = Router(documents).ranked("Warm the cache", "")
    assert (first.score, second.score) == (0.5, 0.5)


def test_two_learnings_alike_do_not_make_a_form() -> None:
    assert manner(["Tag the release", "Tag the release"]) == frozenset()


@pytest.mark.parametrize(
    ("path", "text", "target"),
    [
        ("docs/testing.md", "# Testing\n\nMock the clock.\n", True),
        ("agents/plan-archive.md", "# Plans\n\nMock the clock.\n", False),
        ("docs/archive/2024.md", "# Plans\n\nMock the clock.\n", False),
        ("docs/CHANGELOG.md", "# Changes\n\nMock the clock.\n", False),
        ("docs/api.md", "<!-- Generated by typedoc -->\n# API\n\nMock the clock.\n", False),
        ("docs/caching.md", "# Caching\n\n- [Keys](caching-keys.md)\n- [Life](caching-life.md)\n", False),
        ("docs/history-of-orders.md", "# Orders\n\nMock the clock.\n", False),
    ],
)
def test_archives_changelogs_generated_files_and_what_a_split_left_are_no_targets(
    path: str, text: str, target: bool
) -> None:
    assert is_target(path, text) == target
    assert (place(Router({path: text}), "Mock the clock in tests").path == path) == target
