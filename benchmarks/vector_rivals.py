"""Other ways to keep vectors in SQLite, on the same random vectors as `benchmarks.vectors`.

    python -m benchmarks.vector_rivals [--pieces 10000 100000]

sqlite-vec with float32 and a partition key; plain rows of float32 that are all read and multiplied; and what the
product does: signs first, then the vectors of a thousand candidates. CPU milliseconds for the 50 nearest.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import numpy as np
import sqlite_vec

from benchmarks.vectors import DIMENSIONS, LIMIT, RandomEmbedder
from recollect.store.schema import MIGRATIONS, statements
from recollect.store.sqlite import TYPES
from recollect.store.sqlite_file import let_round
from recollect.store.vectors import SqliteVectors

ROUNDS = 15


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pieces", type=int, nargs="+", default=[10_000, 100_000])
    for count in parser.parse_args().pieces:
        with tempfile.TemporaryDirectory() as folder:
            compare(Path(folder) / "rivals.db", count)


def compare(path: Path, count: int) -> None:
    vectors = RandomEmbedder().embed([""] * count)
    (query,) = RandomEmbedder(DIMENSIONS).embed([""])
    connection = apsw.Connection(str(path))
    connection.execute("PRAGMA journal_mode=WAL; PRAGMA cache_size=-16000").fetchall()
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    let_round(connection)
    for migration in MIGRATIONS:
        for statement in statements(migration, TYPES):
            connection.execute(statement)
    connection.execute(f"CREATE VIRTUAL TABLE rival USING vec0(space TEXT PARTITION KEY, v float[{DIMENSIONS}])")
    connection.execute("CREATE TABLE plain (number INTEGER PRIMARY KEY, v BLOB NOT NULL) STRICT")
    blobs = [(number, vector.tobytes()) for number, vector in enumerate(vectors)]
    print(f"\n{count:,} pieces")
    with connection:
        load(
            "sqlite-vec",
            lambda: connection.executemany("INSERT INTO rival (rowid, space, v) VALUES (?, 's', ?)", blobs),
        )
        load("plain rows", lambda: connection.executemany("INSERT INTO plain (number, v) VALUES (?, ?)", blobs))
        entries = [(number, "k", [(0, vector)]) for number, vector in enumerate(vectors)]
        load("signs", lambda: SqliteVectors(connection, "s", 1).put(entries))
    asked = query.tobytes()
    timed(
        "sqlite-vec",
        lambda: connection.execute(
            f"SELECT rowid FROM rival WHERE v MATCH ? AND k = {LIMIT} AND space = 's'", (asked,)
        ).fetchall(),
    )
    timed("plain rows", lambda: scan(connection, query))
    timed("signs", lambda: SqliteVectors(connection, "s", 1).nearest(query, limit=LIMIT))


def scan(connection: apsw.Connection, query: Any) -> list[int]:
    rows: list[Any] = connection.execute("SELECT number, v FROM plain").fetchall()
    table = np.frombuffer(b"".join(row[1] for row in rows), np.float32).reshape(len(rows), -1)
    best: list[int] = np.argsort(-np.einsum("ij,j->i", table, query))[:LIMIT].tolist()
    return [rows[at][0] for at in best]


def load(what: str, call: Callable[[], object]) -> None:
    started = time.process_time()
    call()
    print(f"  {what}: loaded in {time.process_time() - started:.1f} s", flush=True)


def timed(what: str, call: Callable[[], object]) -> None:
    took = []
    for _ in range(ROUNDS):
        started = time.process_time()
        call()
        took.append(1000 * (time.process_time() - started))
    print(f"  {what}: p50 {statistics.median(took):.1f} ms", flush=True)


if __name__ == "__main__":
    main()
