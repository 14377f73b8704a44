"""What can go wrong between us and a server: each recovers by itself or ends in one line that says what to do."""

from __future__ import annotations

import os
import re
import select
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from conftest import PERSON
from embedded import project_of
from embedders import WordEmbedder
from old_stores import unpack
from recollect import Memory, NewEntry, NewFinding
from recollect.core.context import Db, Tx
from recollect.core.errors import StoreBusy, StoreDamaged, StoreUnreachable
from recollect.memory.admin import Rescue
from recollect.models.scripted import ScriptedModels
from recollect.store.postgres import PostgresDb
from recollect.store.postgres_setup import Made, initialise
from recollect.store.schema import MIGRATIONS, OLDEST, VERSION
from samples import learning
from servers import Server, copied, own_server, reachable_install

SECRET = "s3cr3t-Pa55"
TROUBLED = f"troubled_{os.environ.get('PYTEST_XDIST_WORKER', 'alone')}"


@pytest.fixture(scope="module")
def url(server: Server) -> str:
    url = server.new_database(TROUBLED)
    initialise(url)
    return url


@pytest.fixture
def db(url: str) -> Iterator[PostgresDb]:
    db = PostgresDb(url, busy_seconds=5)
    yield db
    db.close()


def _add(tx: Tx, id: str) -> None:
    tx.run("INSERT INTO outcomes (space, id, name, created_at) VALUES (:space, :id, '', 0)", id=id)


def _outcomes(db: Db, space: str = "s") -> set[str]:
    with db.read(space) as tx:
        return {id for (id,) in tx.rows("SELECT id FROM outcomes WHERE space = :space")}


def _cut_connections(server: Server) -> None:
    server.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
        f"WHERE datname = '{TROUBLED}' AND pid <> pg_backend_pid()"
    )


# A connection that breaks


def test_a_connection_that_died_while_idle_is_replaced_unseen(db: PostgresDb, server: Server) -> None:
    with db.write("s") as tx:
        _add(tx, "before")
    _cut_connections(server)
    with db.write("s") as tx:
        _add(tx, "after")
    assert {"before", "after"} <= _outcomes(db)


def test_a_connection_cut_in_the_middle_of_a_transaction_stores_nothing(db: PostgresDb, server: Server) -> None:
    def half(tx: Tx) -> None:
        _add(tx, "half")
        _cut_connections(server)
        _add(tx, "other half")

    with pytest.raises(StoreUnreachable, match="did not happen"), db.write("s") as tx:
        half(tx)
    assert not {"half", "other half"} & _outcomes(db)


def test_a_connection_cut_before_the_commit_is_no_commit(db: PostgresDb, server: Server) -> None:
    def all_but_the_commit(tx: Tx) -> None:
        _add(tx, "uncommitted")
        _cut_connections(server)

    with pytest.raises(StoreUnreachable, match="did not happen"), db.write("s") as tx:
        all_but_the_commit(tx)
    assert "uncommitted" not in _outcomes(db)


def test_a_commit_whose_answer_was_lost_is_looked_up_and_acknowledged(db: PostgresDb, server: Server) -> None:
    database = db.address.parts["dbname"]
    with _relay_that_loses_the_answer_to_a_commit(server.folder / ".s.PGSQL.5432") as port:
        away = PostgresDb(f"postgresql://postgres@127.0.0.1:{port}/{database}", busy_seconds=10)
        with away.write("s") as tx:
            _add(tx, "answer lost")
        away.close()
    assert "answer lost" in _outcomes(db)


def test_an_entry_whose_rows_were_cut_off_is_kept_and_said_to_be(
    tmp_path: Path, environ: dict[str, str], url: str, server: Server
) -> None:
    """The server ends the connection inside the transaction behind the append; the entry is in the log by then."""
    environ["RECOLLECT_STORE"] = url
    (tmp_path / "project").mkdir()
    with Memory.open(tmp_path / "project", create=True, actor=PERSON, environ=environ) as memory:
        db = memory.context.db
        begun = 0

        class Cut:
            def __getattr__(self, name: str) -> object:
                return getattr(db, name)

            @contextmanager
            def write(self, space: str) -> Iterator[Tx]:
                nonlocal begun
                begun += 1
                with db.write(space) as tx:
                    if begun == 2:  # the append's own is the vault's
                        _cut_connections(server)
                    yield tx

        cut = Memory(replace(memory.context, db=Cut()), memory.project)  # type: ignore[arg-type]
        logged = cut.journal.add(NewEntry(text="Refunds moved to the ledger"))
        assert begun == 2
        assert "The log entry was saved but is not searchable yet: the connection" in logged.warning
        assert "did not happen" not in logged.warning
        assert memory.journal.entry(logged.id).text == "Refunds moved to the ledger"
        memory.cycle()
        assert [hit.id for hit in memory.search("refunds ledger") if hit.kind == "log"] == [logged.id]


def test_a_transaction_that_a_crash_left_no_trace_of_did_not_happen(db: PostgresDb) -> None:
    assert db._connections._was_committed("9000000000000") is False


@contextmanager
def _relay_that_loses_the_answer_to_a_commit(socket_file: Path) -> Iterator[int]:
    """A way to the server on which the first client to commit is cut off when the server has answered."""
    lost = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def serve() -> None:
            with suppress(OSError):
                while True:
                    threading.Thread(target=carry, args=(listening.accept()[0],), daemon=True).start()

        def carry(client: socket.socket) -> None:
            with client, socket.socket(socket.AF_UNIX) as upstream, suppress(OSError):
                upstream.connect(str(socket_file))
                while True:
                    readable, _, _ = select.select([client, upstream], [], [])
                    for one in readable:
                        data = one.recv(65536)
                        if not data:
                            return
                        (upstream if one is client else client).sendall(data)
                        if one is client and b"COMMIT" in data and not lost.is_set():
                            lost.set()
                            upstream.recv(65536)
                            return

        threading.Thread(target=serve, daemon=True).start()
        yield listening.getsockname()[1]
        assert lost.is_set()


def test_an_error_that_was_swallowed_inside_a_transaction_is_not_acknowledged(db: PostgresDb) -> None:
    def careless(tx: Tx) -> None:
        _add(tx, "swallowed")
        with suppress(psycopg.Error):
            _add(tx, "swallowed")

    with pytest.raises(AssertionError, match="swallowed"), db.write("s") as tx:
        careless(tx)
    assert "swallowed" not in _outcomes(db)


def test_a_transaction_that_ends_in_an_error_leaves_the_connection_usable(db: PostgresDb) -> None:
    for _ in range(6):  # more often than there are connections
        with pytest.raises(psycopg.errors.NotNullViolation), db.write("s") as tx:
            tx.run("INSERT INTO outcomes (space, id) VALUES (:space, 'raised')")
    assert "raised" not in _outcomes(db)


def test_a_server_that_comes_back_is_waited_for(tmp_path: Path) -> None:
    with own_server() as server:
        initialise(server.new_database("away"))
        db = PostgresDb(server.url("away"), busy_seconds=20)
        with db.write("s") as tx:
            _add(tx, "before")
        server.stop("immediate")
        returning = threading.Timer(0.5, server.start)
        returning.start()
        with db.write("s") as tx:
            _add(tx, "after")
        returning.join()
        assert {"before", "after"} == _outcomes(db)
        db.close()


# Waiting in line


def test_one_writer_per_space_and_others_do_not_wait(db: PostgresDb, url: str) -> None:
    other = PostgresDb(url, busy_seconds=0.3)
    with db.write("s"):
        with pytest.raises(StoreBusy, match="try again"), other.write("s"):
            pass
        with other.write("elsewhere") as tx:
            _add(tx, "at the same time")
        assert "at the same time" not in _outcomes(other)
    other.close()


def test_a_read_sees_one_moment_while_others_write(db: PostgresDb, url: str) -> None:
    other = PostgresDb(url)
    with db.read("view") as tx:
        count = "SELECT count(*) FROM outcomes WHERE space = :space"
        before = tx.value(count)
        with other.write("view") as out:
            _add(out, "later")
        assert tx.value(count) == before == 0
    other.close()
    assert _outcomes(db, "view") == {"later"}


def test_when_every_connection_is_in_use_the_next_one_waits_then_says_so(url: str) -> None:
    db = PostgresDb(url, connections=1, busy_seconds=0.3)
    with _Held(db) as release, pytest.raises(StoreBusy, match=r"All 1 connections.*store\.connections"):
        _outcomes(db)
    release.set()
    patient = PostgresDb(url, connections=1, busy_seconds=20)
    with _Held(patient) as release:
        threading.Timer(0.2, release.set).start()
        assert _outcomes(patient) is not None
    db.close()
    patient.close()


class _Held:
    """A thread that keeps a connection until told."""

    def __init__(self, db: PostgresDb):
        self._db = db
        self._release = threading.Event()
        self._inside = threading.Event()
        self._thread = threading.Thread(target=self._hold)

    def _hold(self) -> None:
        with self._db.read("s"):
            self._inside.set()
            self._release.wait(20)

    def __enter__(self) -> threading.Event:
        self._thread.start()
        assert self._inside.wait(20), "the thread got no connection"
        return self._release

    def __exit__(self, *_: object) -> None:
        self._release.set()
        self._thread.join()


def test_a_server_without_free_connections_is_waited_for_then_named(server: Server, url: str) -> None:
    server.sql("CREATE ROLE crowded LOGIN SUPERUSER CONNECTION LIMIT 1")
    server.sql(f"ALTER ROLE crowded NOSUPERUSER; GRANT CONNECT ON DATABASE {TROUBLED} TO crowded")
    address = server.url(TROUBLED, user="crowded")
    first = psycopg.connect(address)
    db = PostgresDb(address, connect_seconds=0.3)
    with pytest.raises(StoreBusy, match="takes no more connections"):
        _outcomes(db)
    patient = PostgresDb(address, connect_seconds=20)
    threading.Timer(0.2, first.close).start()
    with pytest.raises(StoreUnreachable, match="permission denied"):  # it came in, and may read nothing
        _outcomes(patient)
    patient.close()


def test_a_writer_that_falls_asleep_will_lose_its_turn(db: PostgresDb) -> None:
    with db.write("s") as tx:
        limit = tx.value("SELECT current_setting('idle_in_transaction_session_timeout') WHERE :space <> ''")
    assert limit == "1min"


# What cannot be used


def _command(project: Path, environ: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "recollect", *arguments],
        cwd=project,
        env={**environ, "PYTHONPATH": os.pathsep.join(sys.path), "RECOLLECT_STORE_CONNECT_SECONDS": "0.3"},
        capture_output=True,
        text=True,
    )


TAKEN_BACK = {
    "m014_entries": "DROP TABLE log_entries",
    "m015_scopes": "ALTER TABLE tokens DROP scopes, DROP expires_at, DROP last_used_at",
    "m016_unused": "ALTER TABLE tokens ADD read_only bigint; CREATE TABLE moves (); CREATE TABLE requests ()",
    "m017_topics": "DROP TABLE topic_entries, topic_aliases, topics",
    "m018_proven": "DROP INDEX learnings_proven",
    "m019_reasons": "ALTER TABLE host_sessions DROP pid; ALTER TABLE host_events DROP why",
    "m020_smaller": "ALTER TABLE vectors ADD hash text",
    "m021_machine": "ALTER TABLE host_sessions DROP machine",
}


def _take_back_to_oldest(server: Server, database: str) -> None:
    """A store as the oldest schema had it; a new migration says above how it is taken back."""
    for migration in reversed(MIGRATIONS[1:]):
        server.sql(TAKEN_BACK[migration], database)
    server.sql(f"DELETE FROM migrations WHERE position > {OLDEST}", database)
    server.sql(f"UPDATE meta SET value = '{OLDEST}' WHERE name = 'schema'", database)


def test_an_upgrade_serves_every_space(server: Server, tmp_path: Path, environ: dict[str, str]) -> None:
    url = server.new_database("upgraded")
    initialise(url)
    environ = {**environ, "RECOLLECT_STORE": url}
    for name in ("one", "two"):
        with Memory.open(tmp_path / name, create=True, actor=PERSON, environ=environ) as memory:
            memory.learn(learning())
    _take_back_to_oldest(server, "upgraded")
    assert initialise(url).made == [f"schema {name}" for name in MIGRATIONS[1:]]
    for name in ("one", "two"):
        with Memory.open(tmp_path / name, actor=PERSON, environ=environ) as memory:
            assert memory.search("webhooks out of order")
            assert memory.data.verify() == ()


def _another_programs(server: Server) -> str:
    url = server.new_database("foreign")
    server.sql("CREATE TABLE meta (id int); CREATE TABLE invoices (id int)", "foreign")
    return url


def _newer(server: Server) -> str:
    url = server.new_database("newer")
    initialise(url)
    server.sql("UPDATE meta SET value = '9999' WHERE name = 'schema'", "newer")
    return url


def _older(server: Server) -> str:
    url = server.new_database("older")
    initialise(url)
    server.sql("UPDATE meta SET value = '13' WHERE name = 'schema'", "older")
    return url


def _wrong_encoding(server: Server) -> str:
    server.sql("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0 LOCALE 'C'")
    return server.url("latin")


def _wrong_password(server: Server) -> str:
    server.sql("CREATE ROLE locked_out LOGIN PASSWORD 'right'")
    return server.url("postgres", user="locked_out", password=SECRET)


def _stranger(server: Server) -> str:
    server.sql("CREATE ROLE stranger LOGIN")
    initialise(server.new_database("private"))
    return server.url("private", user="stranger")


def _without_version(server: Server, name: str = "versionless") -> str:
    url = server.new_database(name)
    initialise(url)
    server.sql("UPDATE meta SET value = 'xx' WHERE name = 'schema'", name)
    return url


UNUSABLE: dict[str, tuple[Callable[[Server], str], str, int]] = {
    "no server": (lambda _: f"postgresql://u:{SECRET}@/x?host=/tmp/no-such-socket", "check that the server runs", 3),
    "no host": (lambda _: f"postgresql://u:{SECRET}@no-such-host.invalid/x", "cannot be reached", 3),
    "no database": (lambda server: server.url("nowhere"), "recollect store db init --admin", 3),
    "wrong password": (_wrong_password, "refused the password", 3),
    "another program's": (_another_programs, "a database of its own", 3),
    "newer schema": (_newer, "upgrade this program", 3),
    "older schema": (_older, "recollect store db init", 3),
    "no schema said": (_without_version, "is damaged: it names no schema that was ever released", 3),
    "not UTF-8": (_wrong_encoding, "ENCODING 'UTF8'", 3),
    "no rights": (_stranger, "permission denied", 3),
    "no store yet": (lambda server: server.new_database("empty"), "recollect store db init", 2),
    "no address": (lambda _: f"postgresql://u:{SECRET}@[host/x", "percent-encoded", 2),
    "another kind": (lambda _: f"mysql://u:{SECRET}@host/x", "begin with postgresql://", 2),
}


@pytest.mark.parametrize("case", UNUSABLE)
def test_a_store_that_cannot_be_used_is_one_line_and_leaves_no_trace(
    case: str, tmp_path: Path, environ: dict[str, str], server: Server
) -> None:
    make, says, code = UNUSABLE[case]
    environ["RECOLLECT_STORE"] = make(server)
    project = tmp_path / "project"
    project.mkdir()
    done = _command(project, environ, "init")
    assert (done.returncode, done.stdout) == (code, "")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1
    assert SECRET not in done.stderr
    assert not list(project.iterdir())
    name = re.search(r"/(\w+)\?host=/tmp/rpg", environ["RECOLLECT_STORE"])
    if name and case in ("no store yet", "not UTF-8"):
        assert server.sql("SELECT FROM pg_class WHERE relname IN ('meta', 'learnings')", name[1]) == []


def test_the_doctor_of_a_damaged_server_names_the_server_and_no_file_of_another_store(
    tmp_path: Path, environ: dict[str, str], server: Server
) -> None:
    Memory.open(tmp_path, create=True, environ=environ, actor=PERSON).close()  # as after a move: its store stays
    embedded = project_of(tmp_path, environ).database
    environ["RECOLLECT_STORE"] = _without_version(server, "damaged")
    rescue = Rescue(tmp_path, actor=PERSON, environ=environ)
    (damage,) = [finding for finding in rescue.doctor().findings if finding.level == "damage"]
    assert damage.subject == f"postgresql://postgres@{server.folder}/damaged"
    assert str(embedded) not in f"{damage.detail} {damage.remedy}"
    assert "recollect store db init" in damage.remedy
    assert not (embedded.parent / "damaged").exists()


def test_a_server_that_is_too_old_is_named_with_the_version_needed() -> None:
    with own_server(install=reachable_install(16)) as server:
        url = server.new_database("team")
        for attempt in (lambda: initialise(url), lambda: initialise(url, admin=server.url())):
            with pytest.raises(StoreUnreachable, match=r"runs PostgreSQL 16.*17 or newer"):
                attempt()
        assert server.sql("SELECT FROM pg_class WHERE relname = 'meta'", "team") == []


def test_a_server_without_pgvector_works_on_words_alone_until_it_gets_it(
    tmp_path: Path, environ: dict[str, str]
) -> None:
    bare = Path("/tmp") / f"recollect-bare-{os.getpid()}"
    try:
        install = copied(18, bare)
        control = install / "share" / "postgresql" / "extension" / "vector.control"
        described = control.read_text("utf-8")
        control.unlink()
        with own_server(install=install) as server:
            url = server.new_database("team")
            assert "extension vector" not in initialise(url).made
            environ["RECOLLECT_STORE"] = url
            models = ScriptedModels({}, embedder=WordEmbedder(loaded=True))
            with Memory.open(tmp_path, create=True, environ=environ, models=models) as memory:
                kept = memory.learn(learning()).learning
                assert [hit.learning.id for hit in memory.search("stripe webhooks")] == [kept.id]
                assert memory.data.embed().why_not.startswith("the server has no pgvector")
                assert "words alone" in memory.status().embedder
                memory.learnings.archive(kept.id)
                assert memory.data.verify() == ()
            control.write_text(described, "utf-8")
            assert initialise(url).made == ["extension vector", "columns for vectors"]
            assert initialise(url).made == []
            with Memory.open(tmp_path, environ=environ, models=models) as memory:
                assert memory.data.embed().made == 1
                assert memory.status().embedder == "words"
    finally:
        shutil.rmtree(bare)


# Making a store


def test_the_role_that_db_init_makes_may_do_everything_and_nothing_more(
    server: Server, tmp_path: Path, environ: dict[str, str]
) -> None:
    url = server.url("guarded", user="locked_agent", password=SECRET)
    made = initialise(url, admin=server.url()).made
    assert made[:3] == ["role locked_agent", "database guarded", "extension vector"]
    assert initialise(url, admin=server.url()) == Made(made=[], notes=[])
    environ["RECOLLECT_STORE"] = url
    root = tmp_path / "project"
    root.mkdir()
    with Memory.open(root, create=True, environ=environ) as memory:
        kept = memory.learn(learning()).learning
        memory.inject(task="t", outcome="o", title="Stripe webhooks arrive out of order")
        memory.rate(kept.id, "helpful")
        memory.cycle()
        memory.context.vault.append("a.md", "x")
        assert SECRET not in memory.status().store
        assert memory.status().store == f"postgresql://locked_agent@{server.folder}/guarded"
        copy = memory.data.backup().path
        assert Rescue(root, actor=memory.context.actor, environ=environ).restore(Path(copy)).kept is not None
        assert memory.learnings.get(kept.id).times_helpful == 1
    with psycopg.connect(url, autocommit=True) as connection:
        for forbidden in (
            "CREATE TABLE mine (id int)",
            "DROP TABLE learnings",
            "ALTER TABLE learnings ADD COLUMN x int",
            "TRUNCATE events",
            "UPDATE meta SET value = '0'",
            "SELECT * FROM pg_authid",
            "CREATE ROLE other",
            "CREATE DATABASE other",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(forbidden.encode())
    server.sql("CREATE ROLE outsider LOGIN")
    with pytest.raises(psycopg.OperationalError, match="permission denied"):
        psycopg.connect(server.url("guarded", user="outsider"))


def test_a_password_never_reaches_the_servers_log(tmp_path: Path) -> None:
    with own_server(options=("log_statement=all", "log_min_messages=info")) as server:
        initialise(server.url("guarded", user="agent", password=SECRET), admin=server.url())
        log = (server.folder / "log").read_text()
    assert "CREATE ROLE" in log
    assert SECRET not in log


@pytest.mark.parametrize("make", [_another_programs, _wrong_encoding])
def test_a_database_that_cannot_be_used_is_refused_before_a_role_is_made(make: Callable[[Server], str]) -> None:
    with own_server() as server:
        name = make(server).partition("@/")[2].partition("?")[0]
        with pytest.raises((StoreDamaged, StoreUnreachable)):
            initialise(server.url(name, user="agent"), admin=server.url())
        assert server.sql("SELECT rolname FROM pg_roles WHERE rolcanlogin") == [("postgres",)]


def _made_by_an_older_program(server: Server, url: str, database: str) -> None:
    """A store with a role for rows only, as it was before the last table came."""
    initialise(url, admin=server.url())
    _take_back_to_oldest(server, database)


def test_a_role_that_may_not_upgrade_is_told_who_may(server: Server, tmp_path: Path, environ: dict[str, str]) -> None:
    url = server.url("behind", user="agent_behind")
    _made_by_an_older_program(server, url, "behind")
    with pytest.raises(StoreUnreachable, match=r"then run: recollect store db init --admin ADDRESS$"):
        Memory.open(tmp_path, create=True, environ={**environ, "RECOLLECT_STORE": url})
    with pytest.raises(StoreUnreachable, match=r"then run: recollect store db init$"):
        Memory.open(tmp_path, create=True, environ={**environ, "RECOLLECT_STORE": server.url("behind")})
    with pytest.raises(StoreUnreachable, match=r"permission denied.*recollect store db init --admin ADDRESS"):
        initialise(url)


@pytest.mark.parametrize("way", ["for the store's role", "as the owner"])
def test_an_upgrade_gives_the_stores_roles_their_rights_to_new_tables(
    server: Server, tmp_path: Path, environ: dict[str, str], way: str
) -> None:
    database = f"upgraded_{way[:2]}"
    url = server.url(database, user=f"agent_{database}")
    _made_by_an_older_program(server, url, database)
    server.sql(f"CREATE ROLE reader_{database}; GRANT SELECT ON learnings TO reader_{database}", database)
    if way == "as the owner":
        made = initialise(server.url(database)).made
        assert made[-1] == f"rights of role agent_{database}"
    else:
        initialise(url, admin=server.url())
    assert initialise(server.url(database)).made == []
    assert server.sql(f"SELECT has_table_privilege('reader_{database}', 'readings', 'SELECT')", database) == [(False,)]
    with Memory.open(tmp_path, create=True, actor=PERSON, environ={**environ, "RECOLLECT_STORE": url}) as memory:
        memory.learn(learning())
        assert memory.data.verify() == ()


def test_a_role_that_was_there_before_keeps_its_password_and_that_is_said(server: Server) -> None:
    server.sql("CREATE ROLE locked_before LOGIN PASSWORD 'first'")
    for password, said in (("first", False), (SECRET, True)):
        done = initialise(server.url("passworded", user="locked_before", password=password), admin=server.url())
        assert any("its password was not changed" in note for note in done.notes) == said
        assert SECRET not in " ".join(done.notes)


def test_a_superuser_as_the_stores_role_is_warned_of(server: Server, tmp_path: Path, environ: dict[str, str]) -> None:
    environ["RECOLLECT_STORE"] = server.url("powerful")
    done = _command(tmp_path, environ, "store", "db", "init", "--admin", server.url())
    assert done.returncode == 0
    assert "role postgres is a superuser" in done.stdout


def test_people_who_make_a_store_at_once_make_one(server: Server) -> None:
    url = server.new_database("rushed")
    made: list[list[str]] = []
    threads = [threading.Thread(target=lambda: made.append(initialise(url).made)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 4
    assert sum(bool(done) for done in made) >= 1
    steps = [step for done in made for step in done if step.startswith("schema")]
    assert len(steps) == len(set(steps))


def test_db_init_makes_a_store_that_the_commands_use(server: Server, tmp_path: Path, environ: dict[str, str]) -> None:
    environ["RECOLLECT_STORE"] = server.new_database("commanded")
    project = tmp_path / "project"
    project.mkdir()
    first, second = (_command(project, environ, "store", "db", "init") for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0)
    assert "made schema" in first.stdout
    assert "nothing to do" in second.stdout
    assert _command(project, environ, "init").returncode == 0
    assert "postgresql" in _command(project, environ, "status").stdout
    assert not project_of(project, environ).database.exists()


def test_moving_and_mirroring_by_command(server: Server, tmp_path: Path, environ: dict[str, str]) -> None:
    url = server.new_database("moved")
    initialise(url)
    project = tmp_path / "project"
    project.mkdir()
    assert _command(project, environ, "init").returncode == 0
    with Memory.open(project, environ=environ) as memory:
        memory.learn(learning())
        memory.context.vault.append("2026-03-01.md", "entry\n")
    moved = _command(project, environ, "store", "migrate", "--from", "embedded", "--to", url)
    assert moved.returncode == 0
    assert "counts and hashes agree" in moved.stdout
    again = _command(project, environ, "store", "migrate", "--from", "embedded", "--to", url)
    assert (again.returncode, "already holds a memory" in again.stderr) == (1, True)
    team = {**environ, "RECOLLECT_STORE": url}
    with Memory.open(project, environ=team) as memory:
        memory.context.vault.append("2026-03-01.md", "from the team\n")
    assert "wrote 2026-03-01.md" in _command(project, team, "store", "vault", "pull").stdout
    log = project_of(project, environ).vault / "2026-03-01.md"
    assert log.read_text() == "entry\nfrom the team\n"
    log.write_text("entry\nfrom the team\nfrom here\n")
    assert "wrote 2026-03-01.md" in _command(project, team, "store", "vault", "push").stdout
    assert "both sides are equal" in _command(project, team, "store", "vault", "pull").stdout
    assert _command(project, environ, "store", "vault", "pull").returncode == 2


@pytest.mark.parametrize(
    ("version", "says"),
    [
        (VERSION - 1, "was upgraded to this program's schema after a backup, and otherwise not changed"),
        (VERSION, "memory.db was not changed"),
    ],
)
def test_a_move_says_whether_the_source_was_upgraded(
    server: Server, tmp_path: Path, environ: dict[str, str], version: int, says: str
) -> None:
    url = server.new_database(f"from_schema_{version}")
    initialise(url)
    project = tmp_path / "project"
    unpack(version, project, environ)
    assert says in _command(project, environ, "store", "migrate", "--from", "embedded", "--to", url).stdout


def test_a_folder_that_lost_its_files_takes_nothing_from_the_team(
    server: Server, tmp_path: Path, environ: dict[str, str]
) -> None:
    environ["RECOLLECT_STORE"] = server.new_database("kept")
    initialise(environ["RECOLLECT_STORE"])
    project = tmp_path / "project"
    project.mkdir()
    assert _command(project, environ, "init").returncode == 0
    with Memory.open(project, environ=environ) as memory:
        files = {"2026-03-01.md": "entry\n", "learnings/finding.md": "a finding\n"}
        for path, text in files.items():
            memory.context.vault.append(path, text)
        assert _command(project, environ, "store", "vault", "pull").returncode == 0
        shutil.rmtree(memory.project.vault)
        pushed = _command(project, environ, "store", "vault", "push")
        for path in files:
            assert (
                f"missing here, kept in the store: {path}; bring it back with: recollect store vault pull"
                in pushed.stdout
            )
        assert {path: memory.context.vault.read(path) for path in files} == files
    assert _command(project, environ, "store", "vault", "pull").returncode == 0
    assert {path: (memory.project.vault / path).read_text() for path in files} == files


# Purged means gone


def test_a_purged_text_is_in_no_table_and_no_index_of_the_server(tmp_path: Path, environ: dict[str, str]) -> None:
    with own_server() as server:
        url = server.url("team", user="agent")
        initialise(url, admin=server.url())
        root = tmp_path / "project"
        root.mkdir()
        with Memory.open(root, create=True, actor=PERSON, environ={**environ, "RECOLLECT_STORE": url}) as memory:
            memory.learn(learning(observation="The zyzzogeton4711 overtakes every other delivery"))
            memory.context.vault.append("2026-03-02.md", "zyzzogeton4711 was here\n")
            server.sql("CHECKPOINT")
            assert _holding(server, b"zyzzogeton4711")
            memory.data.purge(text="zyzzogeton4711")
            server.sql("CHECKPOINT")
            assert memory.search("webhooks order")
            assert _holding(server, b"zyzzogeton4711") == []


def test_a_purge_after_a_pull_takes_a_work_id_out_of_the_state_of_the_mirror(
    server: Server, tmp_path: Path, environ: dict[str, str]
) -> None:
    environ["RECOLLECT_STORE"] = server.new_database("mirrored")
    initialise(environ["RECOLLECT_STORE"])
    root = tmp_path / "project"
    root.mkdir()
    with Memory.open(root, create=True, actor=PERSON, environ=environ) as memory:
        memory.themes.add("wu-zyzzogeton4711", NewFinding(description="Foreign keys have an index"))
        memory.themes.add("wu-2", NewFinding(description="Migrations are reversible"))
        assert _command(root, environ, "store", "vault", "pull").returncode == 0
        mirror = memory.project.data / "mirror.json"
        assert "zyzzogeton4711" in mirror.read_text()
        assert memory.data.purge(text="zyzzogeton4711").found == ()
        assert "zyzzogeton4711" not in mirror.read_text()
        assert "both sides are equal" in _command(root, environ, "store", "vault", "pull").stdout


def _holding(server: Server, word: bytes) -> list[str]:
    """Files of the database, log of changes aside, whose raw bytes hold a word."""
    return [str(path) for path in (server.data / "base").rglob("*") if path.is_file() and word in path.read_bytes()]
