"""Upgrades keep your data: a store of every released schema is opened, and nothing is missing afterwards (P10)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import apsw
import numpy as np
import pytest

from conftest import PERSON
from hooks import Hooks
from old_stores import DERIVED, SPACE, VERSIONS, rows_of, unpack
from recollect import Memory
from recollect.hosts.hook import UPGRADING
from recollect.store import vectors
from recollect.store.project import backups_of
from recollect.store.schema import OLDEST, VERSION, due
from recollect.store.sqlite_file import LARGE


def test_there_is_a_store_of_every_schema() -> None:
    assert tuple(range(OLDEST, VERSION + 1)) == VERSIONS, "make the missing one: python tests/old_stores.py"


@pytest.mark.parametrize("version", VERSIONS)
def test_an_upgraded_store_has_every_row_it_had(tmp_path: Path, environ: dict[str, str], version: int) -> None:
    database = unpack(version, tmp_path / "project", environ)
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
    database = unpack(version, tmp_path / "project", environ)
    before = rows_of(database)
    Memory.open(tmp_path / "project", create=True, actor=PERSON, environ=environ).close()
    assert rows_of(backups_of(database) / f"before-{due(version)[0][1]}.db") == before


def test_vectors_of_half_floats_are_rounded_and_still_near(tmp_path: Path, environ: dict[str, str]) -> None:
    database = unpack(19, tmp_path / "project", environ)
    old = apsw.Connection(str(database))
    ((model, size),) = old.execute("SELECT model, dimensions FROM vector_models")
    before = [
        (doc, piece, np.frombuffer(data, "<f2").astype(float))
        for doc, piece, data in old.execute("SELECT doc, piece, vector FROM vectors")
    ]
    old.close()
    assert len(before) > 4
    with Memory.open(tmp_path / "project", create=True, actor=PERSON, environ=environ) as memory:
        assert memory.data.verify() == ()
        with memory.context.db.read(SPACE) as tx:
            for doc, piece, vector in before:
                found = vectors.nearest(tx, str(model), vector, limit=1)
                assert found[0][:2] == (doc, piece)
                cosines = vectors.cosines(tx, str(model), vector, [doc for doc, _, _ in before])
                for other, number, their in before:
                    assert cosines[other][number] == pytest.approx(their @ vector, abs=3e-3)
    assert {len(row["vector"]) for row in rows_of(database)["vectors"]} == {size + 2}


def test_a_damaged_vector_does_not_keep_a_store_from_its_upgrade(tmp_path: Path, environ: dict[str, str]) -> None:
    database = unpack(19, tmp_path / "project", environ)
    old = apsw.Connection(str(database))
    (first, second, third, *_) = [number for (number,) in old.execute("SELECT number FROM vectors ORDER BY number")]
    for number, data in ((first, b""), (second, b"odd"), (third, b"\xff" * 768)):
        old.execute("UPDATE vectors SET vector = ? WHERE number = ?", (data, number))
    old.execute("INSERT INTO vectors SELECT 1000, 99999, model, piece, space, kind, hash, vector FROM vectors LIMIT 1")
    before = old.execute("SELECT count(*) FROM vectors WHERE doc <> 99999").fetchone()
    old.close()
    with Memory.open(tmp_path / "project", create=True, actor=PERSON, environ=environ) as memory:
        assert memory.search("webhooks out of order")
    assert before is not None
    assert len(rows_of(database)["vectors"]) == before[0] - 3


@pytest.mark.parametrize(
    ("channel", "read_only", "scopes"),
    [
        ("api", 0, ("read", "write", "admin")),
        ("api", 1, ("read",)),
        ("person", 0, ("read", "write", "admin")),
        ("import", 0, ("read", "import")),
        ("import", 1, ("read",)),
    ],
)
def test_a_token_of_an_earlier_version_keeps_what_it_may(
    tmp_path: Path, environ: dict[str, str], channel: str, read_only: int, scopes: tuple[str, ...]
) -> None:
    connection = apsw.Connection(str(unpack(OLDEST, tmp_path / "project", environ)))
    columns = "space, id, name, channel, read_only, hash, made_by, created_at"
    values = (SPACE, "token_1", "old", channel, read_only, "hash", "ada", 0)
    connection.execute(f"INSERT INTO tokens ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
    connection.close()
    with Memory.open(tmp_path / "project", create=True, actor=PERSON, environ=environ) as memory:
        assert [token.scopes for token in memory.tokens.list()] == [scopes]


def test_a_hook_leaves_the_upgrade_of_a_large_store_to_the_background(tmp_path: Path, environ: dict[str, str]) -> None:
    database = unpack(VERSION - 1, tmp_path / "project", environ)
    old = apsw.Connection(str(database))
    old.execute("CREATE TABLE ballast (bytes BLOB)")
    old.execute("INSERT INTO ballast VALUES (zeroblob(?))", (LARGE,))
    old.execute("DROP TABLE ballast")  # the file stays as large
    old.close()
    hooks = Hooks(tmp_path / "project", environ)
    assert hooks.fire("UserPromptSubmit", prompt="Why do webhooks arrive out of order?") == ""
    assert schema_of(database) == VERSION - 1
    done = subprocess.run(  # a process of its own, because it starts another
        [sys.executable, "-P", "-m", "recollect", "hook", "SessionStart", "--host", "claude-code"],
        input=json.dumps({"session_id": "s-2", "cwd": str(tmp_path / "project"), "source": "startup"}),
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout) == {"systemMessage": UPGRADING}
    until = time.monotonic() + 120
    while schema_of(database) < VERSION and time.monotonic() < until:
        time.sleep(0.1)
    assert "webhooks" in hooks.fire("SessionStart", source="startup").lower()


def schema_of(database: Path) -> int:
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    ((version,),) = connection.execute("SELECT value FROM meta WHERE name = 'schema'")
    connection.close()
    return int(str(version))
