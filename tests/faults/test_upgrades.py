"""Upgrades keep your data: a store of every released schema is opened, and nothing is missing afterwards (P10)."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import PERSON
from old_stores import DERIVED, VERSIONS, rows_of, unpack
from recollect import Memory
from recollect.store.schema import MIGRATIONS, VERSION


def test_there_is_a_store_of_every_schema() -> None:
    assert tuple(range(1, VERSION + 1)) == VERSIONS, "make the missing one: python tests/old_stores.py"


@pytest.mark.parametrize("version", VERSIONS)
def test_an_upgraded_store_has_every_row_it_had(tmp_path: Path, environ: dict[str, str], version: int) -> None:
    database = unpack(version, tmp_path / "project")
    before = rows_of(database)
    assert len(before["learnings"]) == 4
    with Memory.open(tmp_path / "project", create=True, actor=PERSON, environ=environ) as memory:
        assert memory.data.verify() == ()
        assert memory.search("webhooks out of order")[0].learning.times_helpful == 1
    after = rows_of(database)
    for table, rows in before.items():
        if table in DERIVED:
            continue
        kept = [{name: row[name] for name in rows[0]} for row in after[table]] if rows else []
        assert kept == rows, table


@pytest.mark.parametrize("version", [version for version in VERSIONS if version < VERSION])
def test_before_an_upgrade_the_store_is_backed_up_as_it_was(
    tmp_path: Path, environ: dict[str, str], version: int
) -> None:
    database = unpack(version, tmp_path / "project")
    before = rows_of(database)
    Memory.open(tmp_path / "project", create=True, actor=PERSON, environ=environ).close()
    assert rows_of(database.parent / "backups" / f"before-{MIGRATIONS[version]}.db") == before
