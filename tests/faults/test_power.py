"""What was acknowledged survives a power cut (P2), and the test can tell: with less syncing, something is lost."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import apsw

from embedded import engine, raw  # noqa: F401
from recollect import Memory
from scale import TORTURE, campaign

PROGRAM = Path(__file__).with_name("power.py")


def lost_in_cuts(tmp_path: Path, seed: int, cuts: int, *synchronous: str) -> int:
    """How many acknowledged learnings are missing, over all cuts; each image must be sound besides."""
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, PROGRAM, tmp_path / "project", tmp_path / "images", str(seed), str(cuts), *synchronous],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert len(result["cuts"]) == cuts
    lost = 0
    for cut in result["cuts"]:
        image = Path(cut["image"])
        connection = apsw.Connection(str(image / "memory.db"))
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        kept = {id for (id,) in connection.execute("SELECT id FROM learnings")}
        lost += len(set(result["promised"][: cut["promised"]]) - kept)
        connection.close()
        shutil.rmtree(image)
    return lost


@campaign
def test_no_power_cut_loses_what_was_acknowledged(tmp_path: Path, seed: int) -> None:
    (tmp_path / "project").mkdir()
    assert lost_in_cuts(tmp_path, seed, 60 if TORTURE == 1 else 300) == 0


def test_the_cuts_are_real_with_less_syncing_something_is_lost(tmp_path: Path) -> None:
    (tmp_path / "project").mkdir()
    assert lost_in_cuts(tmp_path, 0, 40, "NORMAL") > 0


def test_the_store_is_opened_as_promised(memory: Memory) -> None:
    """What holds for every connection; a power cut only tries the second."""
    asked = ("journal_mode", "synchronous", "foreign_keys", "secure_delete")
    assert [raw(memory).pragma(name) for name in asked] == ["wal", 2, 1, 1]
