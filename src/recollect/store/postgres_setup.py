"""Opening a store on PostgreSQL, and making one: database, role, rights, extension, tables.

Opening never changes a schema, because many programs share it; `recollect store db init` does. The store's role may
only read and write rows, and no other role may connect to the database. A refusal comes before anything is made.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

import psycopg
from psycopg import sql
from psycopg.conninfo import make_conninfo

from recollect.core.context import Row
from recollect.core.errors import BadInput, NotInitialised, StoreDamaged, StoreUnreachable
from recollect.core.records import record
from recollect.store.postgres import TYPES, WORD_INDEX, PostgresDb, index_large_spaces, lock_key
from recollect.store.postgres_pool import Address, translated
from recollect.store.schema import OLDEST, VERSION, due, newer, statements

# Roles that may write rows, but got no rights on tables that another role made later.
_LACKING = """
SELECT DISTINCT r.rolname FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
WHERE c.oid = to_regclass('learnings') AND a.privilege_type = 'INSERT' AND a.grantee <> c.relowner
  AND EXISTS (SELECT FROM pg_class t WHERE t.relnamespace = c.relnamespace AND t.relkind = 'r'
    AND pg_has_role(t.relowner, 'USAGE')
    AND NOT (has_table_privilege(r.oid, t.oid, 'SELECT') AND has_table_privilege(r.oid, t.oid, 'MAINTAIN')))
ORDER BY r.rolname"""


def about_role(connection: psycopg.Connection[Row], address: Address, user: str) -> list[str]:
    """Notes about a role that exists already and is not changed."""
    found = connection.execute("SELECT rolsuper FROM pg_roles WHERE rolname = %s", (user,)).fetchone()
    notes = []
    if found == (True,):
        notes.append(
            f"role {user} is a superuser and may do everything on this server; name a role of the store's own in "
            "store.url, and this command makes it"
        )
    if found and not _takes_password(address):
        notes.append(
            f"role {user} was there before, its password was not changed, and it is not the one in the store's "
            "address. Correct the address, or set the password with ALTER ROLE"
        )
    return notes


def _takes_password(address: Address) -> bool:
    """False only if the server refuses the password; the role may be unable to connect for other reasons."""
    try:
        psycopg.connect(address.conninfo).close()
    except psycopg.OperationalError as error:
        return "password authentication failed" not in str(error)
    return True


def make_role(connection: psycopg.Connection[Row], user: str, password: str) -> list[str]:
    if connection.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", (user,)).fetchone():
        return []
    create = sql.SQL("CREATE ROLE {} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE").format(sql.Identifier(user))
    if password:
        # Hashed here, so that the server's log never sees it.
        hashed = connection.pgconn.encrypt_password(password.encode(), user.encode(), b"scram-sha-256").decode()
        create += sql.SQL(" PASSWORD {}").format(sql.Literal(hashed))
    connection.execute(create)
    return [f"role {user}"]


def has_database(connection: psycopg.Connection[Row], name: str) -> bool:
    return bool(connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone())


def make_database(connection: psycopg.Connection[Row], name: str) -> list[str]:
    if has_database(connection, name):
        return []
    connection.execute(sql.SQL("CREATE DATABASE {} ENCODING 'UTF8' TEMPLATE template0").format(sql.Identifier(name)))
    return [f"database {name}"]


def let_in(connection: psycopg.Connection[Row], role: str) -> None:
    """Let only this role, and roles that were granted it, connect to the database; it reads and writes rows."""
    (name,) = connection.execute("SELECT current_database()").fetchone() or ("",)
    database = sql.Identifier(name)
    with connection.transaction():
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, sql.Identifier(role)))
    _grant(connection, role)


def grant_what_lacks(connection: psycopg.Connection[Row]) -> list[str]:
    """Grant the newest tables to the roles that have the older ones."""
    lacking = [str(role) for (role,) in connection.execute(_LACKING.encode()).fetchall()]
    for role in lacking:
        _grant(connection, role)
    return [f"rights of role {role}" for role in lacking]


def _grant(connection: psycopg.Connection[Row], role: str) -> None:
    with connection.transaction():
        for statement in (
            "GRANT USAGE ON SCHEMA public TO {}",
            "GRANT SELECT, INSERT, UPDATE, DELETE, MAINTAIN ON ALL TABLES IN SCHEMA public TO {}",
            "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}",
            "REVOKE INSERT, UPDATE, DELETE ON meta, migrations FROM {}",
        ):
            connection.execute(sql.SQL(statement).format(sql.Identifier(role)))


OLDEST_SERVER = 17  # the first with the MAINTAIN privilege, which a purge needs
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
    WHERE attrelid = to_regclass('vectors') AND attname = 'vector'), false),
  coalesce((SELECT pg_has_role(relowner, 'USAGE') FROM pg_class WHERE oid = to_regclass('meta')), true)"""


@dataclass(frozen=True)
class _Seen:
    server_number: int
    server: str
    encoding: str
    mark: str
    tables: int
    has_vector: bool
    can_vector: bool
    keeps_vectors: bool
    may_upgrade: bool
    version: int


@record
class Made:
    """`notes` are for the administrator."""

    made: list[str]
    notes: list[str]


def open_postgres(
    url: str, *, busy_seconds: float, connect_seconds: float, connections: int, read_from: str = "primary"
) -> PostgresDb:
    """The store at `url`, checked. A newer, older, empty or foreign one is refused untouched."""
    seconds = {"busy_seconds": busy_seconds, "connect_seconds": connect_seconds}
    db = PostgresDb(url, **seconds, connections=connections, read_from=read_from)
    try:
        with db.plain() as connection:
            seen = _look(connection, db.place)
        _refuse_unusable(seen, db.place)
        if not seen.mark:
            raise NotInitialised(f"{db.place} has no store yet; make one with: recollect store db init")
        if seen.version < VERSION:
            raise StoreUnreachable(
                f"{db.place} has schema {seen.version}, this program needs {VERSION}. Nothing was touched; take a "
                f"backup (pg_dump), then run: recollect store db init{'' if seen.may_upgrade else ' --admin ADDRESS'}"
            )
        db.keeps_vectors = seen.keeps_vectors
    except BaseException:
        db.close()
        raise
    return db


def initialise(url: str, *, admin: str | None = None) -> Made:
    """Make or upgrade the store at `url`; with `admin` (an administrator's address) also its database and role.

    Without `admin`, the role of `url` owns what it makes.
    """
    address = Address(url)
    if admin is None:
        return Made(made=_make_schema(PostgresDb(url), role=None), notes=[])
    name, user = address.parts.get("dbname"), address.parts.get("user")
    if not name or not user:
        raise BadInput("store.url must name a user and a database: postgresql://user@host/database")
    office = PostgresDb(admin)
    inside = PostgresDb(make_conninfo(Address(admin).conninfo, dbname=name))
    try:
        with office.plain() as connection:
            _refuse_old_server(_look(connection, office.place), office.place)
            if has_database(connection, name):
                with inside.plain() as there:
                    _refuse_unusable(_look(there, inside.place), inside.place)
            notes = about_role(connection, address, user)
            made = make_role(connection, user, address.parts.get("password", ""))
            made += make_database(connection, name)
        return Made(made=made + _make_schema(inside, role=user), notes=notes)
    finally:
        office.close()
        inside.close()


def _make_schema(db: PostgresDb, *, role: str | None) -> list[str]:
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
                let_in(connection, role)
            made += grant_what_lacks(connection)
    finally:
        db.close()
    return made


@contextmanager
def _alone(connection: psycopg.Connection[Row], place: str) -> Iterator[_Seen]:
    """A transaction that only one process runs at a time, and the state it finds."""
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", (lock_key("schema"),))
        yield _look(connection, place)


def _next_step(connection: psycopg.Connection[Row], place: str) -> list[str]:
    """Run the next migration; the first one also makes the store's own tables."""
    with _alone(connection, place) as seen:
        if seen.version >= VERSION:
            return []
        position, migration = due(seen.version)[0]
        types = TYPES if seen.has_vector else {**TYPES, "$vector": "bytea"}
        for statement in (*(_FIRST if position == OLDEST else ()), *statements(migration, types)):
            connection.execute(statement.encode())
        connection.execute("INSERT INTO migrations (name, position) VALUES (%s, %s)", (migration, position))
        connection.execute(
            "INSERT INTO meta (name, value) VALUES ('schema', %s) "
            "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
            (str(position),),
        )
    return [f"schema {migration}"]


def _make_extension(connection: psycopg.Connection[Row], place: str) -> list[str]:
    """Make the extension if this role may; without it the store works on words alone."""
    with suppress(psycopg.errors.InsufficientPrivilege), _alone(connection, place) as seen:
        if seen.can_vector:
            connection.execute("CREATE EXTENSION vector")
            return ["extension vector"]
    return []


def _make_vectors(connection: psycopg.Connection[Row], place: str) -> list[str]:
    """Let a store that is older than its server's pgvector keep vectors."""
    with _alone(connection, place) as seen:
        if seen.keeps_vectors or not seen.has_vector:
            return []
        connection.execute("TRUNCATE vectors, vector_models")
        connection.execute("ALTER TABLE vectors ALTER COLUMN vector TYPE halfvec USING NULL")
    return ["columns for vectors"]


def _look(connection: psycopg.Connection[Row], place: str) -> _Seen:
    with translated(place):
        found = connection.execute(_LOOK.encode(), {"oldest": OLDEST_PGVECTOR}).fetchone()
        assert found is not None
        version = 0
        if found[3] == MARK:
            row = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
            version = int(row[0]) if row and row[0].isdecimal() else 0
            if version < OLDEST:  # ours, so it was written together with its version
                raise StoreDamaged(
                    f"{place} is damaged: it names no schema that was ever released. Nothing was deleted. Restore it "
                    "from your backup"
                )
    return _Seen(*(*found, version))


def _refuse_unusable(seen: _Seen, place: str) -> None:
    _refuse_old_server(seen, place)
    if seen.encoding != "UTF8":
        raise StoreUnreachable(f"{place} stores text as {seen.encoding}; make a database with ENCODING 'UTF8'")
    if seen.mark != MARK and seen.tables:
        raise StoreDamaged(f"{place} is a database of another program; give the store a database of its own")
    if seen.version > VERSION:
        raise newer(place, seen.version)


def _refuse_old_server(seen: _Seen, place: str) -> None:
    if seen.server_number // 10_000 < OLDEST_SERVER:
        raise StoreUnreachable(f"{place} runs PostgreSQL {seen.server}; {OLDEST_SERVER} or newer is needed")
