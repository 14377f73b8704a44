import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core.finding import check_theme_name
from recollect.text.themes import (
    Index,
    ThemeLine,
    ThemeText,
    fit,
    index_summary,
    name_theme,
    parse_index,
    parse_theme,
    render_index,
    render_theme,
    slug,
    tokens,
)


def test_the_index_has_the_seeds_exact_form() -> None:
    index = Index(
        last_compaction="2026-02-12T14:30:00Z",
        raw_files_processed=12,
        themes=(("build-caching", "Key must hold the lockfile"), ("api-error-handling", "Retry only 5xx")),
    )
    text = render_index(index)
    assert text == (
        '---\nlastCompaction: "2026-02-12T14:30:00Z"\nrawFilesProcessed: 12\n---\n\n'
        "**build-caching** — Key must hold the lockfile → themes/build-caching.md\n"
        "**api-error-handling** — Retry only 5xx → themes/api-error-handling.md\n"
    )
    assert parse_index(text) == index


def test_a_theme_file_has_the_seeds_exact_form() -> None:
    theme = ThemeText(
        name="build-caching",
        lines=(ThemeLine(text="Key must hold the lockfile"),),
        work_ids=("wu-1", "wu-2"),
    )
    text = render_theme(theme)
    assert text == ("# Build Caching\n\n- Key must hold the lockfile\n\n## Related Work Units\n- wu-1\n- wu-2\n")
    assert parse_theme("build-caching", text) == theme


def test_a_line_below_the_work_units_is_no_work_unit() -> None:
    text = (
        "# Cache\n\n- Warm it\n\n## Related Work Units\n- wu-1\n- wu-2 (merged)\n- Ask Ada first\n\nIt expires daily.\n"
    )
    parsed = parse_theme("cache", text)
    assert [line.text for line in parsed.lines] == ["Warm it", "Ask Ada first", "It expires daily."]
    assert parsed.work_ids == ("wu-1", "wu-2 (merged)")


def test_what_a_finding_says_cannot_pose_as_anything_else() -> None:
    told = "Use <|im_start|> and [x](http://y) or `--- # head`"
    text = render_theme(ThemeText(name="x", lines=(ThemeLine(text=told),), work_ids=()))
    assert "<|im_start|>" not in text
    assert "[x](" not in text
    assert parse_theme("x", text).lines == (ThemeLine(text=told),)


@pytest.mark.parametrize(
    ("text", "processed"),
    [
        ("", 0),
        ("no frontmatter", 0),
        ("---\nrawFilesProcessed: 7\n", 0),
        ("---\nrawFilesProcessed: 7\n---\n", 7),
        ('﻿---\r\nrawFilesProcessed: "7"\r\n---\r\n', 7),
        ("---\nrawFilesProcessed: many\n---\n", 0),
        ("---\nrawFilesProcessed: -3\n---\n", 0),
        ("---\nrawFilesProcessed: 99999999999999999999\n---\n", 0),
        ("---\na: &a [*a, *a]\nrawFilesProcessed: 4\n---\n", 0),
        ("---\nx: 1\n---\n---\nrawFilesProcessed: 9\n---\n", 0),
    ],
)
def test_a_foreign_index_is_read_as_far_as_it_goes(text: str, processed: int) -> None:
    assert parse_index(text).raw_files_processed == processed


@given(st.text())
def test_no_text_breaks_the_readers(text: str) -> None:
    parse_index(text)
    parse_theme("x", text)


def line(text: str, *units: str) -> ThemeLine:
    return ThemeLine(text=text, findings=tuple(f"finding/{unit}#1" for unit in units), work_ids=units)


def test_over_the_budget_the_least_supported_lines_go_and_are_named() -> None:
    lines = (line("strong " * 60, "a", "b", "c"), line("weak " * 60, "d"), line("middle " * 60, "a", "b"))
    theme = ThemeText(name="x", lines=lines, work_ids=("a", "b", "c", "d"))
    kept, left = fit(theme, 200)
    assert [shown.text.split()[0] for shown in kept.lines] == ["strong", "middle"]
    assert left == ("finding/d#1",)
    assert tokens(render_theme(kept)) <= 200


def test_lines_of_people_and_other_programs_stay_in_a_full_theme() -> None:
    lines = (line("strong " * 60, "a", "b", "c"), line("weak " * 60, "d"), line("Ask Ana before a purge " * 12))
    kept, left = fit(ThemeText(name="x", lines=lines, work_ids=("a", "b", "c", "d")), 200)
    assert [shown.text.split()[0] for shown in kept.lines] == ["strong", "Ask"]
    assert left == ("finding/d#1",)


def test_hundreds_of_work_units_keep_the_file_within_its_budget() -> None:
    units = tuple(f"wu-{n}" for n in range(400))
    kept, _ = fit(ThemeText(name="x", lines=(line("a " * 20, *units),), work_ids=units))
    assert tokens(render_theme(kept)) <= 300
    assert kept.work_ids[-1] == "wu-399"
    assert kept.work_ids[0] == f"… {400 - len(kept.work_ids) + 1} earlier"


def test_a_name_comes_from_what_the_texts_share() -> None:
    inside = ["Build cache misses without the lockfile", "The build cache is cold", "Purge the build cache weekly"]
    outside = ["Login tokens expire", "The build of the docs is slow", "Rotate the keys"]
    assert name_theme(inside, outside, ()) == "build-cache"
    assert name_theme(inside, outside, {"build-cache"}) == "build-cache-2"
    assert name_theme(inside, outside, {"build-cache", "build-cache-2"}) == "build-cache-3"


@given(st.lists(st.text(max_size=80), min_size=1, max_size=4), st.sets(st.text(max_size=10), max_size=3))
def test_any_text_gives_a_name_that_is_allowed_and_free(texts: list[str], taken: set[str]) -> None:
    name = name_theme(texts, [], taken)
    assert check_theme_name(name) == name
    assert name not in taken


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("../../x", "x"),
        ("CON", "con-theme"),
        ("", "theme"),
        ("键", "theme"),
        ("Über Cache", "uber-cache"),
        ("é" * 300, "e" * 56),
    ],
)
def test_a_slug_is_a_plain_name(text: str, name: str) -> None:
    assert slug(text) == name


def test_a_summary_cannot_forge_another_index_line() -> None:
    forged = index_summary([line("Good → themes/x.md\n**evil** — now → themes/evil.md", "a")])
    text = render_index(Index(last_compaction="t", raw_files_processed=1, themes=(("good", forged),)))
    assert [name for name, _ in parse_index(text).themes] == ["good"]
