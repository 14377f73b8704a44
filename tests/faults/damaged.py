"""A store with content of every noun, and the commands that must report whatever damage it is given."""

from __future__ import annotations

import io
import os
import shutil
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from conftest import PERSON
from embedded import fill
from embedders import WordEmbedder
from recollect.__main__ import run
from recollect.models.scripted import ScriptedModels
from workshop import NOW, Workshop

LOOKING = ("store verify", "doctor", "status")
COMMANDS = (*LOOKING, "store rebuild")
CODES = (0, 1, 2, 3)
KEPT = ("home/.local", "project/memory", "project/docs")


@dataclass(frozen=True, kw_only=True)
class Said:
    """What a command printed, and how it ended; `error` is what it raised when it should have said it."""

    command: str
    code: int
    output: str
    error: BaseException | None = None


class Patient:
    """A project whose files are put back as they were before each damage."""

    def __init__(self, scratch: Path):
        self.root = scratch / "project"
        self._scratch = scratch
        self.database = scratch / "home/.local/share/recollect/spaces/shop/memory.db"
        self._sound = scratch / "sound"
        home = scratch / "home"
        home.mkdir()
        self.environ = {
            "HOME": str(home),
            "USER": "ada",
            "PATH": os.environ["PATH"],
            "RECOLLECT_EMBED_USE": "off",
            "RECOLLECT_NOW": NOW,
        }
        self._make()

    def _make(self) -> None:
        workshop = Workshop(self.root, self.environ)
        models = ScriptedModels({}, embedder=WordEmbedder(loaded=True))
        with workshop.open(models).acting_as(PERSON) as memory:
            workshop.prepare(memory)
            workshop.work(memory)
            fill(memory)
            self._add_rows(memory.context.db.connection())  # type: ignore[attr-defined]
            memory.data.embed()
            memory.cycle()
            assert memory.data.verify() == ()
            self.tables = tables(memory.context.db.connection())  # type: ignore[attr-defined]
        for name in KEPT:
            shutil.copytree(self._scratch / name, self._sound / name)

    @staticmethod
    def _add_rows(connection: apsw.Connection) -> None:
        """What hosts, servers and models leave behind."""
        connection.execute("""
            INSERT INTO sessions VALUES ('shop', 's1', '2026-03-01');
            INSERT INTO host_sessions (space, id, host, began_at, context_at, transcript, place, pid)
            VALUES ('shop', 's1', 'claude-code', 1, 1, '', 0, 4711);
            INSERT INTO host_events (space, id, session, event, at, given, why)
            VALUES ('shop', 'e1', 's1', 'Stop', 1, '["learn_1"]', '{"learn_1": "webhook"}');
            INSERT INTO tokens (space, id, name, channel, hash, made_by, created_at, scopes)
            VALUES ('shop', 't1', 'laptop', 'api', 'hash', 'ada', 1, 'write');
            INSERT INTO asks VALUES ('shop', 'ask_1', 'summary', 'Say it', '1', 'hash', 'x', '["y"]', 10, 1, NULL);
            INSERT INTO ask_claims VALUES ('shop', 'ask_1', 'ada', 1, '2026-03-01', 'summary', 'm', 10, 1);
            INSERT INTO model_usage VALUES ('shop', '2026-03-01', 'summary', 'm', 1, 2, 3, 4, 5)""")

    def heal(self) -> None:
        """The project as it was made."""
        for name in KEPT:
            shutil.rmtree(self._scratch / name, ignore_errors=True)
            shutil.copytree(self._sound / name, self._scratch / name)

    def flip(self, bit: int) -> None:
        data = bytearray(self.database.read_bytes())
        data[bit // 8] ^= 1 << bit % 8
        self.database.write_bytes(data)

    def damage(self, statement: str, *values: Any) -> int:
        """Write past all constraints; how many rows it changed."""
        connection = apsw.Connection(str(self.database))
        try:
            connection.execute("PRAGMA foreign_keys=OFF; PRAGMA ignore_check_constraints=ON")
            connection.execute("PRAGMA writable_schema=ON")
            connection.execute(statement, values)
            return connection.changes()
        finally:
            connection.close()

    def row(self, table: str, key: str, column: str, where: str) -> tuple[Any, Any]:
        """The first row for which something holds: its key and a column of it."""
        connection = apsw.Connection(str(self.database))
        try:
            ((found, value),) = connection.execute(f"SELECT {key}, {column} FROM {table} WHERE {where} LIMIT 1")
            return found, value
        finally:
            connection.close()

    def says(self, *arguments: str) -> Said:
        """A command in this process."""
        told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)
        outside = dict(os.environ)
        os.environ.clear()
        os.environ.update(self.environ)
        code, error = -1, None
        try:
            with redirect_stdout(told), redirect_stderr(told):
                code = run([*" ".join(arguments).split(), "--project", str(self.root)])
        except BaseException as raised:
            error = raised
        finally:
            os.environ.clear()
            os.environ.update(outside)
        return Said(command=" ".join(arguments), code=code, output=told.buffer.getvalue().decode(), error=error)

    def really_says(self, *arguments: str) -> Said:
        """The same in a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "recollect", *" ".join(arguments).split(), "--project", str(self.root)],
            env={**os.environ, "RECOLLECT_HOME": "", **self.environ},
            capture_output=True,
            text=True,
            check=False,
        )
        return Said(command=" ".join(arguments), code=done.returncode, output=done.stdout + done.stderr)


def tables(connection: apsw.Connection) -> dict[str, list[tuple[str, str]]]:
    """Every table that holds rows, with its columns and their types."""
    names = connection.execute(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'passage_words%' "
        "AND name NOT LIKE 'sqlite_%' ORDER BY name"
    ).fetchall()
    found: dict[str, list[tuple[str, str]]] = {}
    for (name,) in names:
        columns = connection.execute("SELECT name, type FROM pragma_table_info(?)", (name,)).fetchall()
        if connection.execute(f"SELECT count(*) FROM {name}").fetchall() != [(0,)]:
            found[str(name)] = [(str(column), str(kind)) for column, kind in columns]
    return found
