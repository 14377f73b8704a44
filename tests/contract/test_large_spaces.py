"""A space on a server that has outgrown exact comparison, with the bound brought down to a test's size."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psycopg
import pytest

from recollect.core.records import Passage
from recollect.store import passages, vectors
from recollect.store.postgres import PostgresDb, PostgresVectors
from recollect.store.postgres_setup import initialise
from recollect.store.vectors import Embedded
from servers import Server

BOUND = 100
SIZE = 64
RARE = 20  # one passage in so many is of the rare kind


def unit(*seed: int) -> np.ndarray:
    made = np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)
    return made / np.linalg.norm(made)


@pytest.fixture(scope="module")
def url(server: Server, tmp_path_factory: pytest.TempPathFactory) -> str:
    name = f"large_{tmp_path_factory.getbasetemp().name.replace('-', '_')}"
    url: str = server.url(name, user=f"{name}_agent", password="x")
    initialise(url, admin=server.url())
    db = PostgresDb(url)
    for number, (space, count) in enumerate({"large": 600, "small": 60, "neighbour": 600}.items()):
        with db.write(space) as tx:
            for n in range(count):
                kind = "common" if n % RARE else "rare"
                passages.add_all(tx, [Passage(id=f"p/{n}", kind=kind, title="", lines=("x",), at=0, trust="agent")])
            made = [
                Embedded(doc=one.doc, kind=one.kind, hash=one.hash, pieces=[(0, unit(number, n))])
                for n, one in enumerate(vectors.waiting(tx, "m", limit=count))
            ]
            assert vectors.put(tx, "m", made, at=0) == count
    db.close()
    return url


@pytest.fixture
def owner(server: Server, url: str) -> Iterator[psycopg.Connection[tuple[object, ...]]]:
    database = str(Path(url.partition("?")[0]).name)
    with psycopg.connect(server.url(database), autocommit=True) as connection:
        for space in ("large", "small"):
            PostgresVectors(connection, space, 1, exact=BOUND).index_if_large(SIZE)
        yield connection


def indexes(connection: psycopg.Connection[tuple[object, ...]]) -> int:
    found = connection.execute("SELECT count(*) FROM pg_indexes WHERE indexname LIKE 'vectors_near_%'").fetchone()
    assert found is not None
    return int(str(found[0]))


def test_the_agents_role_says_who_makes_the_index(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        assert "recollect store db init" in PostgresVectors(connection, "neighbour", 1, exact=BOUND).index_if_large(
            SIZE
        )
        assert PostgresVectors(connection, "small", 1, exact=BOUND).index_if_large(SIZE) == ""


def test_only_a_large_space_gets_an_index_and_only_once(owner: psycopg.Connection[tuple[object, ...]]) -> None:
    assert indexes(owner) == 1
    assert PostgresVectors(owner, "large", 1, exact=BOUND).index_if_large(SIZE) == ""
    assert indexes(owner) == 1


def test_walking_the_index_finds_what_comparing_finds(owner: psycopg.Connection[tuple[object, ...]]) -> None:
    met = 0
    for seed in range(20):
        query = unit(9, seed)
        compared = PostgresVectors(owner, "large", 1).nearest(query, limit=10, kinds=("common", "rare"))
        with owner.transaction():
            owner.execute("SET LOCAL enable_seqscan = off")
            walked = PostgresVectors(owner, "large", 1, exact=BOUND).nearest(query, limit=10)
            (used,) = owner.execute(
                "SELECT sum(pg_stat_get_xact_numscans(indexrelid)) FROM pg_stat_user_indexes "
                "WHERE indexrelname LIKE 'vectors_near_%'"
            ).fetchone() or (0,)
        assert int(str(used)) >= 1
        assert len(walked) == 10
        met += len({row[0] for row in compared} & {row[0] for row in walked})
    assert met >= 190


def test_a_filter_never_leaves_too_few(owner: psycopg.Connection[tuple[object, ...]]) -> None:
    with owner.transaction():
        owner.execute("SET LOCAL enable_seqscan = off")
        common = PostgresVectors(owner, "large", 1, exact=BOUND).nearest(unit(9), limit=550, kinds=("common",))
        rare = PostgresVectors(owner, "large", 1, exact=BOUND).nearest(unit(9), limit=30, kinds=("rare",))
    assert len(common) == 550
    assert len(rare) == 600 // RARE
