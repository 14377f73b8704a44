"""The whole tree from logs alone: a golden month, and what holds for any logs."""

from __future__ import annotations

import os
import subprocess
import sys
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.core import calendar
from recollect.core.journal import NewEntry
from recollect.text import entries, nodes
from recollect.text.nodes import Limits
from trees import LOGS, MONTH, SHOUTED, grow, reachable


def test_the_golden_month_is_made_byte_for_byte():
    made = grow(LOGS, date(2026, 3, 1))
    if os.environ.get("UPDATE_GOLDEN"):
        for path, text in made.items():
            (MONTH / "tree" / path).parent.mkdir(parents=True, exist_ok=True)
            (MONTH / "tree" / path).write_text(text, "utf-8")
    kept = {path.relative_to(MONTH / "tree").as_posix(): path for path in (MONTH / "tree").rglob("*.md")}
    assert made.keys() == kept.keys()
    for name, path in kept.items():
        assert made[name] == path.read_text("utf-8"), name


@pytest.mark.parametrize("seed", ["1", "2", "3"])
def test_the_same_logs_give_the_same_bytes_in_every_process(seed: str):
    script = (
        "from datetime import date; from recollect.text import nodes; from trees import LOGS, SHOUTED, grow; "
        "print(nodes.digest(str(sorted(grow(LOGS | SHOUTED, date(2026, 3, 1)).items()))))"
    )
    environ = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    said = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    assert said.stdout.strip() == nodes.digest(str(sorted(grow(LOGS | SHOUTED, date(2026, 3, 1)).items())))


def test_the_golden_month_passes_every_threshold():
    made = grow(LOGS, date(2026, 3, 1))
    made_by = {path: nodes.parse(path[:-3], text).generator for path, text in made.items() if "/" in path}
    for level in calendar.LEVELS:
        used = {generator for path, generator in made_by.items() if path.startswith(level)}
        assert nodes.OFFLINE in used


WORDS = ["decided", "shipped", "TODO", "never", "pgbouncer", "409", "v2.1", "src/a.py\n", "tenant\n", "```\n", "x"]
LOG_TEXTS = st.lists(
    st.builds(
        lambda topic, kind, words: entries.render(NewEntry(text=" ".join(words), type=kind, topic=topic)),
        st.sampled_from(["auth", "billing", "search", "deploy: eu", "ops [user]"]),
        st.sampled_from(["user", "feedback", "project", "reference"]),
        st.lists(
            st.sampled_from(WORDS),
            min_size=1,
            max_size=12,
        ),
    ),
    min_size=1,
    max_size=5,
).map("\n".join)
DAYS = st.integers(0, 60).map(lambda n: date(2025, 12, 8) + timedelta(days=n))
SMALL = Limits(daily=12, weekly=20, monthly=30, root_tokens=400)


@given(st.dictionaries(DAYS, LOG_TEXTS, min_size=1, max_size=12), st.integers(0, 40))
def test_every_entry_is_reachable_from_the_root(logs: dict[date, str], later: int):
    files = grow(logs, max(logs) + timedelta(days=later), SMALL)
    wanted = {entry.ref for day, text in logs.items() for entry in entries.parse(day, text)}
    assert wanted <= reachable(files)


@given(st.dictionaries(DAYS, LOG_TEXTS, min_size=1, max_size=6))
def test_no_node_is_fixed_before_its_children(logs: dict[date, str]):
    for later in (0, 1, 8, 30):
        files = grow(logs, max(logs) + timedelta(days=later), SMALL)
        read = {path[:-3]: nodes.parse(path[:-3], text) for path, text in files.items() if "/" in path}
        for id, node in read.items():
            parent = calendar.parent(calendar.parse_period(id))
            if parent and read[parent.id].status == "fixed":
                assert node.status == "fixed", (id, later)


@pytest.mark.parametrize(
    ("today", "status"), [("2026-05-07", "tentative"), ("2026-05-09", "tentative"), ("2026-05-10", "fixed")]
)
def test_a_month_waits_for_its_last_week_even_when_its_own_time_has_come(today: str, status: str):
    files = grow({date(2026, 4, 30): "## late\nThe week of this Thursday ends on 3 May.\n"}, date.fromisoformat(today))
    assert nodes.parse("monthly/2026-04", files["monthly/2026-04.md"]).status == status


@pytest.mark.parametrize(
    ("today", "expected"),
    [
        ("2026-03-01", ["2026-02-23", "2026-02-25", "2026-02-26", "2026-02-27", "2026-03-01"]),
        ("2026-03-05", ["2026-02-27", "2026-03-01"]),
        ("2026-07-01", ["2026-02-23", "2026-02-25", "2026-02-26", "2026-02-27", "2026-03-01"]),
        ("2026-02-03", ["2026-02-02", "2026-02-03"]),
    ],
)
def test_the_recent_days_are_the_last_seven_or_the_last_before_an_absence(today: str, expected: list[str]):
    found = nodes.recent_days(sorted(LOGS), date.fromisoformat(today))
    assert [day.isoformat() for day in found] == expected


@given(st.integers(0, 40), st.integers(0, 30), st.integers(0, 30), st.integers(1, 400))
def test_kept_items_and_references_are_whole_in_every_node_and_in_the_root_or_its_overflow(
    rules: int, users: int, references: int, length: int
):
    said = [("feedback", f"rule{n} {'word ' * length}end{n}") for n in range(rules)]
    said += [("user", f"fact{n} {'word ' * length}end{n}") for n in range(users)]
    said += [("reference", f"board{n} https://example.org/{n}") for n in range(references)]
    work = "".join(f"## step {n} [project]\nMoved function g{n} to module h{n}.\n\n" for n in range(80))
    log = work + "".join(f"## item {n} [{kind}]\n{text}\n\n" for n, (kind, text) in enumerate(said))
    files = grow({date(2026, 3, 2): log}, date(2026, 3, 2), SMALL)
    everything = files["ROOT.md"] + files.get("ROOT.overflow.md", "")
    for text in [files[f"{id}.md"] for id in ("daily/2026-03-02", "weekly/2026-W10", "monthly/2026-03")] + [everything]:
        assert [words for _, words in said if words not in text] == []
    assert "more topics [" not in everything
