"""Opening the embedded store: create, migrate after a verified backup, refuse what is newer or not ours.

Knows the order of migrations and nothing of what the tables mean.
"""

from __future__ import annotations

from contextlib import suppress

import apsw

from recollect.core.errors import NotInitialised, StoreDamaged, StoreNewer, Trouble
from recollect.store.files import locked, write_path
from recollect.store.schema import MIGRATIONS, VERSION, makes_words_anew, statements
from recollect.store.sqlite import LARGE_CACHE, TYPES, WORD_INDEX, SqliteDb, translated

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

APPLICATION_ID = 0x7265636F  # "reco"
MADE_NOTE = "A store was made beside this file. While this file is here, a missing store is reported, not begun anew.\n"

_FIRST = (
    "CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT",
    "CREATE TABLE migrations (name TEXT PRIMARY KEY, position INTEGER NOT NULL) STRICT",
    "CREATE TABLE spaces (space TEXT PRIMARY KEY, number INTEGER NOT NULL UNIQUE) STRICT",
    *WORD_INDEX,
)


def open_sqlite(path: Path, *, create: bool, busy_seconds: float) -> SqliteDb:
    """The store at `path`, up to date. A store that vanished is reported, never quietly begun anew."""
    made = path.with_suffix(".made")
    made_before = made.exists()  # looked at first: another process may be making both, the store before the mark
    empty = not path.exists() or path.stat().st_size == 0
    if empty and made_before:
        raise StoreDamaged(
            f"{path} is missing or empty, but it was there before. Bring it back with: recollect restore FILE "
            f"(backups are in {path.parent / 'backups'}). To begin anew on purpose, delete {made}"
        )
    if empty and not create:
        raise NotInitialised("nothing is remembered here yet; begin with: recollect init")
    log_left = path.with_name(path.name + "-wal").exists()
    db = SqliteDb(path, busy_seconds=busy_seconds)
    try:
        if log_left:  # others are at work, or one of them was killed
            from recollect.store.damage import refuse_lost_log

            refuse_lost_log(db)
        version = 0 if empty else version_of(db)
        if version != VERSION:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with locked(path.with_suffix(".lock")):
                migrate(db, backup=path.parent / "backups")
        db.upgraded = 0 < version < VERSION
    except BaseException:
        db.close()
        raise
    if not made.exists():
        with suppress(Trouble):  # a store that can only be read needs no marker today
            write_path(made, MADE_NOTE)
    return db


def version_of(db: SqliteDb) -> int:
    """The schema of a store; 0 for an empty file."""
    connection = db.connection()
    with translated(db.path), suppress(apsw.SQLError):  # no such table: a new store, or not ours
        found = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
        if found == (str(VERSION),):
            return VERSION
    with translated(db.path), connection:  # one view of it all: another process may be making the store just now
        owner = connection.pragma("application_id")
        tables = connection.execute("SELECT count(*) FROM sqlite_schema WHERE type = 'table'").fetchone()
        if owner != APPLICATION_ID:
            if tables != (0,):
                raise StoreDamaged(f"{db.path} is a database of another program; choose another place for the store")
            return 0
        try:
            found = connection.execute("SELECT value FROM meta WHERE name = 'schema'").fetchone()
            version = int(found[0]) if found else 0
        except (apsw.SQLError, ValueError):
            version = 0
        schemas = connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'migrations'").fetchone()
    if version < 1 or schemas != (1,):  # ours, so it was written together with its version
        raise StoreDamaged(
            f"{db.path} is damaged: it does not say which schema it has. Nothing was deleted. Run: recollect doctor"
        )
    if version > VERSION:
        raise StoreNewer(
            f"{db.path} was written by a newer Recollect (schema {version}, this program knows {VERSION}). "
            "Nothing was touched; upgrade this program"
        )
    return version


def migrate(db: SqliteDb, *, backup: Path | None) -> None:
    """Each migration in its own transaction; the version moves with it, so a crash continues where it stopped."""
    version = version_of(db)
    connection = db.connection()
    connection.execute(LARGE_CACHE)
    if 0 < version < VERSION:
        with translated(db.path):
            held = {name for (name,) in connection.execute("SELECT name FROM migrations")}
        if ahead := sorted(held.intersection(MIGRATIONS[version:])):
            raise StoreDamaged(
                f"{db.path} is damaged: it names schema {version} but holds {ahead[0]} already. Nothing was deleted. "
                "Run: recollect doctor"
            )
        if backup is not None:
            from recollect.store.copies import backup_to

            backup_to(db, backup / f"before-{MIGRATIONS[version]}.db")
    for position, migration in enumerate(MIGRATIONS[version:], start=version + 1):
        with translated(db.path), connection:
            if position == 1:
                connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
                for statement in _FIRST:
                    connection.execute(statement)
            for statement in statements(migration, TYPES):
                connection.execute(statement)
            if makes_words_anew(migration):
                from recollect.store.soundness import remake_words

                remake_words(connection)
            connection.execute("INSERT INTO migrations (name, position) VALUES (?, ?)", (migration, position))
            connection.execute(
                "INSERT INTO meta (name, value) VALUES ('schema', ?) "
                "ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (str(position),),
            )
            if position == VERSION:
                _tell_planner(connection)


def _tell_planner(connection: apsw.Connection) -> None:
    """Every key starts with the space, and in most stores there is one: alone it selects nothing.

    Without statistics SQLite guesses ten rows for it and prefers such an index to the row numbers it was given.
    """
    connection.execute("ANALYZE")
    # What it sampled of a filled store goes too: it led to walking all passages of a kind instead of reading a few.
    for (table,) in connection.execute(
        "SELECT name FROM sqlite_schema WHERE name IN ('sqlite_stat1', 'sqlite_stat4')"
    ).fetchall():
        connection.execute(f"DELETE FROM {table}")
    indexes = connection.execute(
        "SELECT s.tbl_name, s.name, (SELECT count(*) FROM pragma_index_info(s.name)) FROM sqlite_schema s "
        "WHERE s.type = 'index' AND (SELECT name FROM pragma_index_info(s.name) LIMIT 1) = 'space'"
    ).fetchall()
    for table, index, columns in indexes:
        counts = [1_000_000, 1_000_000, *([1_000] * (int(str(columns)) - 2)), 1]
        connection.execute(
            "INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)", (table, index, " ".join(map(str, counts)))
        )
    connection.execute("ANALYZE sqlite_schema")
