"""Stores of every released schema, kept as files: what an upgrade must bring over whole (P10).

`python tests/old_stores.py` makes the files that are missing: the rows of a store of today that a schema had a place
for, in tables made by the migrations up to it. A file that is there is never made again.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import apsw

from recollect import Actor, Memory, NewDecision, ScriptedClock
from recollect.store import bulk, passages, project
from recollect.store.schema import MIGRATIONS, OLDEST, VERSION, statements
from recollect.store.sqlite import TYPES, SqliteDb
from recollect.store.sqlite_file import _FIRST, APPLICATION_ID, _tell_planner, let_round
from samples import FLAKY, WEBHOOKS, counted_ids
from samples import MIGRATIONS as MIGRATIONS_LEARNED

FOLDER = Path(__file__).parent / "data" / "stores"
VERSIONS = tuple(range(OLDEST, OLDEST + len(list(FOLDER.glob("schema_*.db.gz")))))
PERSON = Actor(name="ada", channel="cli", trust="human")
SPACE = "golden"
DERIVED = ("passages", "terms", "vectors")  # a new schema may make them anew; `verify` says whether they are whole
_OWN = ("meta", "migrations", "sqlite_", "passage_words", "terms", "passages")


def unpack(version: int, root: Path, environ: Mapping[str, str]) -> Path:
    """A project whose store has an old schema; gives the database file."""
    root.mkdir(parents=True)
    project.create(root, environ, space=SPACE, timezone="UTC")
    database = project.load(root, environ).database
    database.write_bytes(gzip.decompress(_file(version).read_bytes()))
    return database


def rows_of(database: Path) -> dict[str, list[dict[str, Any]]]:
    """Every row of every table, read by SQLite alone."""
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    names = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").fetchall()
    found = {}
    for (name,) in names:
        if str(name).startswith(("meta", "migrations", "sqlite_", "passage_words")):
            continue
        columns = [str(row[0]) for row in connection.execute("SELECT name FROM pragma_table_info(?)", (name,))]
        rows = connection.execute(f'SELECT * FROM "{name}" ORDER BY 1, 2').fetchall()
        found[str(name)] = [dict(zip(columns, row, strict=True)) for row in rows]
    connection.close()
    return found


def _file(version: int) -> Path:
    return FOLDER / f"schema_{version}.db.gz"


def _fill(memory: Memory) -> None:
    clock = memory.context.clock
    assert isinstance(clock, ScriptedClock)
    first = memory.learn(**WEBHOOKS, source_task_id="t-1", source_outcome_id="o-1").learning
    second = memory.learn(**MIGRATIONS_LEARNED).learning
    third = memory.learn(**FLAKY).learning
    memory.observe("DISCOVERY[constraint]: Uploads must stay below 5 MB because the gateway cuts them off", task="t-2")
    memory.inject(task="t-3", outcome="o-2", title="Handle Stripe webhooks that arrive out of order")
    memory.feedback(f"LEARNING_HELPFUL: {first.id}", task="t-3")
    memory.learnings.supersede(third.id, second.id)
    memory.learnings.pin(first.id)
    memory.decisions.record(
        NewDecision(decision="Use PostgreSQL for the team store", confidence=0.8, category="architecture", tags=("db",))
    )
    clock.advance(days=40)
    memory.cycle()


def _make(version: int, source: Path, target: Path) -> None:
    db = SqliteDb(target)
    connection = db.connection()
    let_round(connection)
    with connection:
        connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
        for statement in _FIRST:
            connection.execute(statement)
        for position, migration in enumerate(MIGRATIONS[: version - OLDEST + 1], start=OLDEST):
            for statement in statements(migration, TYPES):
                connection.execute(statement)
            connection.execute("INSERT INTO migrations (name, position) VALUES (?, ?)", (migration, position))
        connection.execute("INSERT INTO meta (name, value) VALUES ('schema', ?)", (str(version),))
        _tell_planner(connection)
    connection.execute("PRAGMA foreign_keys=OFF")
    connection.execute("ATTACH ? AS today", (str(source),))
    for (name,) in connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall():
        if not str(name).startswith(_OWN):
            info = connection.execute("SELECT name FROM pragma_table_info(?)", (name,)).fetchall()
            columns = ", ".join(str(column) for (column,) in info)
            connection.execute(f"INSERT INTO main.{name} ({columns}) SELECT {columns} FROM today.{name}")
    columns = "id, kind, title, text, keywords, who, at, trust, thread, position"
    found = connection.execute(f"SELECT {columns} FROM today.passages ORDER BY doc").fetchall()
    with db.write(SPACE) as tx:
        for row in found:
            values = dict(zip(columns.split(", "), row, strict=True))
            if values["kind"] in ("learning", "decision"):
                passages.put(tx, bulk.passage_from(values))
    connection.execute("DETACH today")
    assert connection.execute("PRAGMA foreign_key_check").fetchall() == []
    connection.execute("VACUUM")
    connection.execute("PRAGMA journal_mode=DELETE").fetchall()
    db.close()


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        root = Path(scratch) / "today"
        root.mkdir()
        (root / "recollect.toml").write_text(f'space = "{SPACE}"\ntimezone = "UTC"\n')
        clock = ScriptedClock("2026-03-02T09:00:00Z")
        environ = {"RECOLLECT_HOME": str(root / "home")}
        with Memory.open(root, create=True, actor=PERSON, clock=clock, ids=counted_ids(), environ=environ) as memory:
            _fill(memory)
        for version in range(OLDEST, VERSION + 1):
            if not _file(version).exists():
                target = Path(scratch) / f"{version}.db"
                _make(version, memory.project.database, target)
                _file(version).write_bytes(gzip.compress(target.read_bytes(), 9, mtime=0))
                print(f"made {_file(version).name}", file=sys.stderr)


if __name__ == "__main__":
    main()
