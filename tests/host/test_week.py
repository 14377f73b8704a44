"""The week that docs/a-week.md tells, played again: the page is what is printed, and the facts hold."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from recollect import Memory
from shell import ROOT

sys.path.insert(0, str(ROOT / "scripts"))

import week
from week_sessions import WEEK


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> tuple[week.Week, str]:
    played = week.begun(tmp_path_factory.mktemp("week"))
    return played, played.tell()


@pytest.fixture(scope="module")
def told(played: tuple[week.Week, str]) -> tuple[str, Path]:
    return played[1], played[0].project.folder


def test_the_demo_tells_the_week_on_one_screen(played: tuple[week.Week, str]) -> None:
    lines = week.screen(played[0]).splitlines()
    assert len(lines) <= 24
    assert max(map(len, lines)) <= 100
    told = "\n".join(lines)
    for part in ("Asked ", "Brought ", "Learned ", "Decided ", "Moved ", "Kept ", "Look "):
        assert f"\n{part}" in told
    assert "0.95  rose from 0.70  Stripe webhooks arrive out of order" in told
    assert "0.40  sank from 0.70  Every test card number works in the Stripe sandbox" in told
    assert told.count("  new at  ") == 3
    assert "helped in 5 of 6 sessions" in told
    assert "docs/database.md, docs/services.md, docs/testing.md" in told
    assert "Decided   Process Stripe webhooks from a queue over handling them in the request → success" in told


def test_the_page_is_what_is_printed(told: tuple[str, Path]) -> None:
    assert week.renamed(told[0]) == week.PAGE.read_text("utf-8"), "renew it: python scripts/week.py --page"


def test_one_learning_rose_and_one_sank_below_injection(told: tuple[str, Path]) -> None:
    with Memory.open(told[1], environ={}) as memory:
        found = {learning.title: learning for learning in memory.learnings.page(limit=50)[0]}
    assert found["Stripe webhooks arrive out of order"].confidence == pytest.approx(0.95)
    assert found["Every test card number works in the Stripe sandbox"].confidence == pytest.approx(0.4)
    assert len(found) == 5, "three were discovered on the way"


def test_every_session_left_an_entry_and_nothing_of_ours(told: tuple[str, Path]) -> None:
    text = "\n".join(path.read_text("utf-8") for path in sorted((told[1] / "memory").glob("2*.md")))
    for sessions in WEEK.values():
        for session in sessions:
            assert f"- request: {session.asked}" in text
    assert text.count("- request: ") == sum(map(len, WEEK.values()))
    assert "Relevant Learnings" not in text
    assert "LEARNING_" not in text


def test_the_tree_grew_and_everything_agrees(told: tuple[str, Path]) -> None:
    daily = sorted(path.stem for path in (told[1] / "memory/daily").iterdir())
    assert daily == [f"2026-03-0{day}" for day in range(2, 7)]
    with Memory.open(told[1], environ={}) as memory:
        assert memory.data.verify() == ()
        assert memory.status().spooled == 0
        assert memory.decisions.review_queue() == []


def test_ripe_learnings_moved_into_the_documents(told: tuple[str, Path]) -> None:
    assert "### Backfill large tables in batches during migrations" in (told[1] / "docs/database.md").read_text("utf-8")
    staged = (told[1] / "memory/learnings.md").read_text("utf-8")
    assert "Backfill large tables" not in staged
    assert "Page long lists with a cursor" in staged, "the newest three stay"
