"""Who comes into a store's database on PostgreSQL, and what they may do there: rows, and nothing else.

Makes the database and the role too, for somebody who may. Knows nothing about tables but that they are there.
"""

from __future__ import annotations

import psycopg
from psycopg import sql

from recollect.core.context import Row
from recollect.store.postgres_address import Address

# Roles that write rows, but were left out when somebody else made the newest tables.
_LACKING = """
SELECT DISTINCT r.rolname FROM pg_class c, aclexplode(c.relacl) a JOIN pg_roles r ON r.oid = a.grantee
WHERE c.oid = to_regclass('learnings') AND a.privilege_type = 'INSERT' AND a.grantee <> c.relowner
  AND EXISTS (SELECT FROM pg_class t WHERE t.relnamespace = c.relnamespace AND t.relkind = 'r'
    AND pg_has_role(t.relowner, 'USAGE')
    AND NOT (has_table_privilege(r.oid, t.oid, 'SELECT') AND has_table_privilege(r.oid, t.oid, 'MAINTAIN')))
ORDER BY r.rolname"""


def about_role(connection: psycopg.Connection[Row], address: Address, user: str) -> list[str]:
    """What to know about a role that is there already and stays as it is."""
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
    """False only when the server says so; whether the role can come in from here at all is another matter."""
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
    """Nobody but this role, and whoever was let in by name, comes into the database; it reads and writes rows."""
    (name,) = connection.execute("SELECT current_database()").fetchone() or ("",)
    database = sql.Identifier(name)
    with connection.transaction():
        connection.execute(sql.SQL("REVOKE ALL ON DATABASE {} FROM PUBLIC").format(database))
        connection.execute("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
        connection.execute(sql.SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, sql.Identifier(role)))
    _grant(connection, role)


def grant_what_lacks(connection: psycopg.Connection[Row]) -> list[str]:
    """The newest tables also to those who were given the older ones."""
    lacking = [str(role) for (role,) in connection.execute(_LACKING.encode()).fetchall()]
    for role in lacking:
        _grant(connection, role)
    return [f"rights of role {role}" for role in lacking]


def _grant(connection: psycopg.Connection[Row], role: str) -> None:
    """Rows and nothing else: no tables, no other database's business."""
    with connection.transaction():
        for statement in (
            "GRANT USAGE ON SCHEMA public TO {}",
            "GRANT SELECT, INSERT, UPDATE, DELETE, MAINTAIN ON ALL TABLES IN SCHEMA public TO {}",
            "GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {}",
            "REVOKE INSERT, UPDATE, DELETE ON meta, migrations FROM {}",
        ):
            connection.execute(sql.SQL(statement).format(sql.Identifier(role)))
