"""Opening a store on PostgreSQL, and making one: database, role, extension, tables.

Opening never changes a schema: many programs share it, so `recollect db init` does, when somebody decides to. Whatever
is refused is refused before anything was made.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from recollect.core.context import Row
from recollect.core.errors import BadInput, NotInitialised, StoreDamaged, StoreNewer, StoreUnreachable
from recollect.store.grades import graded, tokens
from recollect.store.postgres import INSERT_WORDS, TYPES, WORD_INDEX, PostgresDb, lock_key, word_parts
from recollect.store.postgres_address import Address, translated
from recollect.store.postgres_vectors import index_large_spaces
from recollect.store.schema import MIGRATIONS, VERSION, makes_words_anew, statements

OLDEST_SERVER = 17
OLDEST_PGVECTOR = [0, 8]  # half floats, and walks that go on until enough was found
MARK = "recollect"  # the comment on the table `meta` says whose database this is

_FIRST = (
    'CREATE TABLE meta (name text COLLATE "C" PRIMARY KEY, value text NOT NULL)',
    f"COMMENT ON TABLE meta IS '{MARK}'",
    'CREATE TABLE migrations (name text COLLATE "C" PRIMARY KEY, position integer NOT NULL)',
    'CREATE TABLE spaces (space text COLLATE "C" PRIMARY KEY, number bigint GENERATED ALWAYS AS IDENTITY)',
    *WORD_INDEX,
)

_LOOK = """
SELECT current_setting('server_version_num')::int, current_setting('server_version'),
  current_setting('server_encoding'),
  coalesce(obj_description(to_regclass('meta'), 'pg_class'), ''),
  (SELECT count(*) FROM pg_class WHERE relnamespace = current_schema()::regnamespace
     AND relkind IN ('r', 'p', 'v', 'm', 'f')),
  EXISTS (SELECT FROM pg_extension WHERE extname = 'vector'
    AND string_to_array(substring(extversion from '^[0-9]+[.][0-9]+'), '.')::int[] >= %(oldest)s::int[]),
  EXISTS (SELECT FROM pg_available_extensions WHERE name = 'vector' AND installed_version IS NULL
    AND string_to_array(substring(default_version from '^[0-9]+[.][0-9]+'), '.')::int[] >= %(oldest)s::int[]),
  coalesce((SELECT atttypid::regtype::text = 'halfvec' FROM pg_attribute
    WHERE attrelid = to_regclass('vectors') AND attname = 'vector'), false)"""


@dataclass(frozen=True)
class _Seen:
    """What a look at a database says, before anything is decided."""

    server_number: int
    server: str
    encoding: str
    mark: str
    tables: int
    has_vector: bool
    can_vector: bool
    keeps_vectors: bool
    version: int


def open_postgres(url: str, *, busy_seconds: float, connect_seconds: float, connections: int) -> PostgresDb:
    """The store at `url`, checked. One that is newer, older, empty or not ours is refused untouched."""
    db = PostgresDb(url, busy_seconds=busy_seconds, connect_seconds=connect_seconds, connections=connections)
    try:
        with db.plain() as connection:
            seen = _look(connection, db.place)
        _refuse_unusable(seen, db.place)
        if not seen.mark:
            raise NotInitialised(f"{db.place} has no store yet; make one with: recollect db init")
        if seen.version < VERSION:
            raise StoreUnreachable(
                f"{db.place} has schema {seen.version}, this program needs {VERSION}. Nothing was touched; take a "
                "backup (pg_dump), then run: recollect db init"
            )
        db.keeps_vectors = seen.keeps_vectors
    except BaseException:
        db.close()
        raise
    return db


def initialise(url: str, *, admin: str | None = None) -> list[str]:
    """Make or upgrade the store at `url`; says what it made.

    With `admin` (an address of somebody who may) also the database and the role that `url` names: the role may read and
    write rows, nothing else. Without it, the role of `url` owns what it makes.
    """
    address = Address(url)
    made: list[str] = []
    if admin is None:
        made += _make_schema(PostgresDb(url), role=None)
        return made
    name, user = address.parts.get("dbname"), address.parts.get("user")
    if not name or not user:
        raise BadInput("store.url must name a user and a database: postgresql://user@host/database")
    office = PostgresDb(admin)
    try:
        with office.plain() as connection:
            _refuse_old_server(_look(connection, office.place), office.place)
            made += _make_role(connection, user, address.parts.get("password", ""))
            made += _make_database(connection, name)
    finally:
        office.close()
    inside = make_conninfo(Address(admin).conninfo, dbname=name)
    made += _make_schema(PostgresDb(inside), role=user)
    return made


def _make_schema(db: PostgresDb, *, role: str | None) -> list[str]:
    """Each migration in its own transaction; the version moves with it, so a crash continues where it stopped."""
    made: list[str] = []
    try:
        with db.plain() as connection:
            seen = _look(connection, db.place)
            _refuse_unusable(seen, db.place)
            if seen.can_vector:
                made += _make_extension(connection, db.place)
            while done := _next_step(connection, db.place):
                made += done
            made += _make_vectors(connection, db.place)
            made += index_large_spaces(connection)
            if role is not None:
                _grant(connection, role)
    finally:
        db.close()
    return made


def _next_step(connection: psycopg.Connection[Row], place: str) -> list[str]:
    """One migration, together with what it stands on; two people who run this at once take turns."""
    made: list[str] = []
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key("schema"),))
        seen = _look(connection, place)
        if seen.version >= VERSION:
            return []
        migration = MIGRATIONS[seen.version]
        position = seen.version + 1
        types = TYPES if seen.has_vector else {**TYPES, "$vector": "bytea"}
        for statement in (*(_FIRST if position == 1 else ()), *statements(migration, types)):
            connection.execute(statement.encode())
        if makes_words_anew(migration):
            _remake_words(connection)
        connection.execute("INSERT INTO migrations (name, position) VALUES (%s, %s)", (migration, position))
        connection.execute(
            "INSERT INTO meta (name, value) VALUES ('schema', %s) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (str(position),),
        )
        made.append(f"schema {migration}")
    return made


def _remake_words(connection: psycopg.Connection[Row]) -> None:
    """The word index from the terms that passages hold."""
    connection.execute("TRUNCATE passage_words")
    with connection.cursor("all_passages") as rows, connection.cursor() as index:
        rows.execute("SELECT p.doc, s.number, p.terms FROM passages p JOIN spaces s USING (space)")
        for doc, number, stream in rows:
            index.executemany(INSERT_WORDS, list(word_parts(doc, tokens(number, *graded(stream)))))


def _make_extension(connection: psycopg.Connection[Row], place: str) -> list[str]:
    """Where this role may; without it the store works on words alone."""
    with suppress(psycopg.errors.InsufficientPrivilege), connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key("schema"),))
        if _look(connection, place).can_vector:
            connection.execute("CREATE EXTENSION vector")
            return ["extension vector"]
    return []


def _make_vectors(connection: psycopg.Connection[Row], place: str) -> list[str]:
    """A store that was made before its server had pgvector learns to keep vectors."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key("schema"),))
        seen = _look(connection, place)
        if seen.keeps_vectors or not seen.has_vector:
            return []
        connection.execute("TRUNCATE vectors, vector_models")
        connection.execute("ALTER TABLE vectors ALTER COLUMN vector TYPE halfvec USING NULL")
    return ["room for vectors"]


def _look(connection: psycopg.Connection[Row], place: str) -> _Seen:
    with translated(place):
        found = connection.execute(_LOOK.encode(), {"oldest": OLDEST_PGVECTOR}).fetchone()
        assert found is not None
        version = 0
        if found[3] == MARK:
            row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
            version = int(row[0]) if row else 0
    return _Seen(*(*found, version))


def _refuse_unusable(seen: _Seen, place: str) -> None:
    _refuse_old_server(seen, place)
    if seen.encoding != "UTF8":
        raise StoreUnreachable(f"{place} stores text as {seen.encoding}; make a database with ENCODING 'UTF8'")
    if seen.mark != MARK and seen.tables:
        raise StoreDamaged(f"{place} is a database of another program; give the store a database of its own")
    if seen.version > VERSION:
        raise StoreNewer(
            f"{place} was written by a newer Recollect (schema {seen.version}, this program knows {VERSION}). "
            "Nothing was touched; upgrade this program"
        )


def _refuse_old_server(seen: _Seen, place: str) -> None:
    if seen.server_number // 10_000 < OLDEST_SERVER:
        raise StoreUnreachable(f"{place} runs PostgreSQL {seen.server}; {OLDEST_SERVER} or newer is needed")


def _make_role(connection: psycopg.Connection[Row], user: str, password: str) -> list[str]:
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (user,)).fetchone():
        return []
    create = sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE").format(sql.Identifier(user))
    if password:
        # Hashed here, so that the server's log never sees it.
        hashed = connection.pgconn.encrypt_password(password.encode(), user.encode(), b"scram-sha-256").decode()
        create += sql.SQL(" PASSWORD {}").format(sql.Literal(hashed))
    connection.execute(create)
    return [f"role {user}"]


def _make_database(connection: psycopg.Connection[Row], name: str) -> list[str]:
    if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone():
        return []
    connection.execute(sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(sql.Identifier(name)))
    return [f"database {name}"]


def _grant(connection: psycopg.Connection[Row], role: str) -> None:
    """Rows and nothing else: no tables, no other database's business, and nobody but this role comes in."""
    who = sql.Identifier(role)
    (database,) = connection.execute("SELECT current_database()").fetchone() or ("",)
    with connection.transaction():
        for statement in (
            sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(sql.Identifier(database)),
            sql.SQL("REVOKE CREATE ON SCHEMA public FROM PUBLIC"),
            sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(sql.Identifier(database), who),
            sql.SQL("GRANT USAGE ON SCHEMA public TO {}").format(who),
            sql.SQL("GRANT SELECT, INSERT, UPDATE, DELETE, MAINTAIN ON ALL TABLES IN SCHEMA public TO {}").format(who),
            sql.SQL("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}").format(who),
            sql.SQL("REVOKE INSERT, UPDATE, DELETE ON meta, migrations FROM {}").format(who),
        ):
            connection.execute(statement)
