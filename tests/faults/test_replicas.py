"""A team's server with a replica: several hosts in one address, searches from the replica, and the primary lost.

The long run with three nodes, Patroni and etcd is `make failover`.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import PERSON
from recollect import Memory, NewEntry
from recollect.core.errors import FateUnknown
from recollect.store.postgres import PostgresDb
from recollect.store.postgres_setup import initialise
from samples import MIGRATIONS, learning
from servers import Server, own_server


class Pair:
    """A primary, its replica, and an address that names the replica first."""

    def __init__(self, primary: Server, replica: Server):
        self.primary, self.replica = primary, replica
        self.url = f"postgresql://postgres@/team?host={replica.folder},{primary.folder}"

    def open(self, root: Path, environ: dict[str, str], **settings: str) -> Memory:
        root.mkdir(exist_ok=True)
        environ = {**environ, "RECOLLECT_STORE": self.url, **settings}
        return Memory.open(root, create=True, actor=PERSON, environ=environ)


@pytest.fixture
def pair() -> Iterator[Pair]:
    folder = Path(tempfile.mkdtemp(prefix="rpg-", dir="/tmp"))
    with own_server(options=("wal_level=replica", "max_wal_senders=4")) as primary:
        initialise(primary.new_database("team"))
        replica = Server(folder, options=("hot_standby=on",))
        try:
            replica.follow(primary)
            replica.start()
            yield Pair(primary, replica)
        finally:
            if replica.running:
                replica.stop("immediate")
            shutil.rmtree(folder, ignore_errors=True)


def test_of_several_hosts_the_one_that_takes_writes_is_used(
    pair: Pair, tmp_path: Path, environ: dict[str, str]
) -> None:
    with pair.open(tmp_path / "project", environ) as memory:
        kept = memory.learn(learning()).learning
        assert pair.primary.sql(f"SELECT 1 FROM learnings WHERE id = '{kept.id}'", "team") == [(1,)]


def test_a_replica_answers_searches_and_no_search_misses_what_was_just_written(
    pair: Pair, tmp_path: Path, environ: dict[str, str]
) -> None:
    with pair.open(tmp_path / "project", environ, RECOLLECT_STORE_READ_FROM="replica") as memory:
        for searching in (True, False):
            with memory.context.db.read(memory.context.space, searching=searching) as tx:
                assert tx.value("SELECT pg_is_in_recovery() WHERE :space <> ''") is searching
        for number in range(20):
            logged = memory.journal.add(NewEntry(text=f"The ledger closes books of kind zyx{number}"))
            assert logged.id in [hit.id for hit in memory.search(f"zyx{number} ledger")]


def test_a_replica_that_stays_behind_is_not_asked(pair: Pair, tmp_path: Path, environ: dict[str, str]) -> None:
    with pair.open(tmp_path / "project", environ, RECOLLECT_STORE_READ_FROM="replica") as memory:
        pair.replica.sql("SELECT pg_wal_replay_pause()")
        kept = memory.learn(learning(MIGRATIONS)).learning
        assert memory.search("migration")[0].id == kept.id
        pair.replica.stop("immediate")
        assert memory.search("migration")[0].id == kept.id


def test_when_the_primary_is_lost_the_same_process_goes_on_with_the_replica(
    pair: Pair, tmp_path: Path, environ: dict[str, str]
) -> None:
    with pair.open(tmp_path / "project", environ, RECOLLECT_STORE_READ_FROM="replica") as memory:
        first = memory.learn(learning()).learning
        pair.primary.stop("fast")
        pair.replica.promote()
        second = memory.learn(learning(MIGRATIONS)).learning
        assert {first.id, second.id} == {each.id for each in memory.learnings.page()[0]}
        assert memory.search("migration")[0].id == second.id


def test_a_transaction_number_that_a_crashed_server_gave_again_is_not_taken_for_ours() -> None:
    """The server keeps nothing of a number whose records were not flushed, and gives it to the next one."""
    with own_server(durable=True) as server:
        url = server.new_database("team")
        initialise(url)
        db = PostgresDb(url, busy_seconds=5)
        with db.write("s"):
            number = db._connections._inside.number
        assert db._connections._was_committed(number)
        server.restart("immediate")
        with pytest.raises(FateUnknown, match="what was stored is recognised"):
            db._connections._was_committed(number)
        db.close()
