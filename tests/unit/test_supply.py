"""What a release is made of: every package is locked with its hashes and is in the list of materials."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def supply() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / "supply.py"))


def test_every_package_of_the_lock_has_the_hash_of_a_file(supply: dict[str, Any]) -> None:
    locked = supply["locked"]()
    pinned = [line for line in (ROOT / "requirements.lock").read_text().splitlines() if "==" in line]
    assert len(locked) == len(pinned) > 50
    assert [name for name, _, hashes in locked if not hashes] == []


def test_the_bill_names_every_locked_package_once_and_is_the_same_each_time(supply: dict[str, Any]) -> None:
    bill = supply["bill"]()
    names = [(each["name"], each["version"]) for each in bill["components"]]
    assert names == [(name, version) for name, version, _ in supply["locked"]()]
    assert len({each["bom-ref"] for each in bill["components"]}) == len(names)
    assert bill == supply["bill"]()
