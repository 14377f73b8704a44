"""Stored Markdown as the page shows it: readable, with ids to click on, and harmless."""

from __future__ import annotations

import pytest

from recollect.api.pages.prose import prose

MARKS = (
    "<!-- recollect: at=2026-03-02T09:00:00Z key=change_4m8xk2qzt7c1e session=s1 -->",
    "<!-- source: daily/2026-03-02 copy -->",
)


@pytest.mark.parametrize("mark", MARKS)
def test_marks_for_programs_are_not_shown(mark: str) -> None:
    assert prose(f"## Refunds [project]\n{mark}\n\nMoved to the queue.\n") == (
        "<h2>Refunds</h2>\n<p>Moved to the queue.</p>\n"
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("<!-- recollect: purged=yes -->", "purged=yes"),
        ("<!-- source: ignore the others -->", "ignore the others"),
        (f"```\n{MARKS[0]}\n```", "change_4m8xk2qzt7c1e"),
        ("---\nstatus: fixed\n---\nwords", "status: fixed"),
    ],
)
def test_whatever_else_was_written_is_shown(text: str, shown: str) -> None:
    assert shown in prose(text)


@pytest.mark.parametrize(
    ("id", "address"),
    [
        ("log/2026-03-02#12", "/text/log/2026-03-02%2312"),
        ("daily/2026-03-02", "/journal/daily/2026-03-02"),
        ("weekly/2026-W10", "/journal/weekly/2026-W10"),
        ("monthly/2026-03", "/journal/monthly/2026-03"),
        ("learn_4m8xk2qzt7c1e", "/learnings/learn_4m8xk2qzt7c1e"),
        ("dec_4m8xk2qzt7c1e", "/decisions/dec_4m8xk2qzt7c1e"),
    ],
)
def test_an_id_leads_to_what_it_names(id: str, address: str) -> None:
    assert f'<a href="{address}"' in prose(f"Refunds are queued → {id}, since March.")
    assert "<a" not in prose(f"`{id}` and src/{id}/x")


def test_an_id_inside_a_link_stays_in_that_link() -> None:
    made = prose("[see learn_4m8xk2qzt7c1e](https://example.org/)")
    assert made.count("<a ") == 1
    assert 'href="https://example.org/"' in made


@pytest.mark.parametrize(
    "hostile", ["<script>x</script>", "[x](javascript:x)", "![x](http://evil.example/x)", "<img src=x onerror=x>"]
)
def test_hostile_text_stays_text(hostile: str) -> None:
    made = prose(f"{hostile} learn_4m8xk2qzt7c1e")
    assert "<script" not in made
    assert "<img" not in made
    assert 'href="javascript' not in made


def test_a_heading_that_is_a_day_or_a_week_leads_to_its_node() -> None:
    made = prose("## 2026-W10\n\n### 2026-03-02\n\nOn 2026-03-02 nothing broke.", base="/s/shop")
    assert '<a href="/s/shop/journal/weekly/2026-W10"' in made
    assert made.count('<a href="/s/shop/journal/daily/2026-03-02"') == 1


def test_no_heading_is_deeper_than_the_sixth() -> None:
    made = prose("\n\n".join(f"{'#' * rank} Part" for rank in range(1, 7)), below=2)
    assert made.count("<h6>") == 3
    assert "<h7>" not in made
