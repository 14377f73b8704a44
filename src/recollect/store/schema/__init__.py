"""Tables of both engines, as named migrations in order.

Each migration is a list of statements with the engine's types left open: `$int`, `$text`, `$key` (an integer the engine
counts up), `$table` (what ends a table definition). A migration runs in one transaction, after a verified backup.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.store.schema import m001_foundation


@dataclass(frozen=True)
class Migration:
    name: str
    statements: tuple[str, ...]


MIGRATIONS: tuple[Migration, ...] = (Migration("m001_foundation", m001_foundation.STATEMENTS),)

VERSION = len(MIGRATIONS)


def rendered(statement: str, types: dict[str, str]) -> str:
    """A statement with the engine's types in place."""
    for name, text in types.items():
        statement = statement.replace(name, text)
    return statement
