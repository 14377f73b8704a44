"""The week that docs/a-week.md tells, played again: the page is what is printed, and the facts hold."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from embedded import project_of
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


def environ_of(told: tuple[str, Path]) -> dict[str, str]:
    return {"HOME": str(told[1].parent / "home")}


def vault(told: tuple[str, Path]) -> Path:
    return project_of(told[1], environ_of(told)).vault


def test_the_demo_tells_the_week_on_one_screen(played: tuple[week.Week, str]) -> None:
    lines = week.screen(played[0]).splitlines()
    assert len(lines) <= 24
    here = str(played[0].project.folder.parent)  # a test's folder may have a long name
    assert max(len(line.replace(here, "/tmp/recollect-week-12345678")) for line in lines) <= 100
    told = "\n".join(lines)
    for part in ("Asked ", "Brought ", "Learned ", "Decided ", "Moved ", "Kept ", "Look "):
        assert f"\n{part}" in told
    assert "0.90  rose from 0.70  Stripe webhooks arrive out of order" in told
    assert "0.40  sank from 0.70  Every test card number works in the Stripe sandbox" in told
    assert told.count("  new at  ") == 3
    assert "helped in 4 of 5 sessions" in told
    assert "docs/database.md, docs/services.md, docs/testing.md" in told
    assert "Decided   Process Stripe webhooks from a queue over handling them in the request → success" in told


def test_what_the_demo_says_to_look_at_works_in_another_shell(played: tuple[week.Week, str]) -> None:
    told = week.screen(played[0])
    lines = [line.strip() for line in told.partition("\nLook ")[2].splitlines()[:3]]
    environ = {"PATH": os.environ["PATH"], "HOME": "/nonexistent", "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run("\n".join(lines), shell=True, env=environ, capture_output=True, text=True, check=True)
    assert "Refund webhooks are stuck" in done.stdout


def test_the_page_is_what_is_printed(told: tuple[str, Path]) -> None:
    assert week.renamed(told[0]) == week.PAGE.read_text("utf-8"), "renew it: python scripts/week.py --page"


def test_one_learning_rose_and_one_sank_below_injection(told: tuple[str, Path]) -> None:
    with Memory.open(told[1], environ=environ_of(told)) as memory:
        found = {learning.title: learning for learning in memory.learnings.page(limit=50)[0]}
    assert found["Stripe webhooks arrive out of order"].confidence == pytest.approx(0.9)
    assert found["Every test card number works in the Stripe sandbox"].confidence == pytest.approx(0.4)
    assert len(found) == 5, "three were discovered on the way"


def test_every_session_left_an_entry_and_nothing_of_ours(told: tuple[str, Path]) -> None:
    text = "\n".join(path.read_text("utf-8") for path in sorted(vault(told).glob("2*.md")))
    for sessions in WEEK.values():
        for session in sessions:
            assert f"- request: {session.asked}" in text
    assert text.count("- request: ") == sum(map(len, WEEK.values()))
    assert "Relevant Learnings" not in text
    assert "LEARNING_" not in text


def test_the_tree_grew_and_everything_agrees(told: tuple[str, Path]) -> None:
    daily = sorted(path.stem for path in (vault(told) / "daily").iterdir())
    assert daily == [f"2026-03-0{day}" for day in range(2, 7)]
    with Memory.open(told[1], environ=environ_of(told)) as memory:
        assert memory.data.verify() == ()
        assert memory.status().spooled == 0
        assert memory.decisions.review_queue() == []


def test_ripe_learnings_moved_into_the_documents(told: tuple[str, Path]) -> None:
    assert "### Backfill large tables in batches during migrations" in (told[1] / "docs/database.md").read_text("utf-8")
    staged = (told[1] / "memory/learnings.md").read_text("utf-8")
    assert "Backfill large tables" not in staged
    assert "Page long lists with a cursor" in staged, "the newest three stay"
