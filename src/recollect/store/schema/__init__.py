"""Tables of both engines, as named migrations in order.

Each migration is a module of statements with the engine's types left open: `$int`, `$text`, `$key` (an integer the
engine counts up), `$table` (what ends a table definition), `$vector` and `$vector_index` (how it keeps vectors). It
runs in one transaction, after a verified backup.
"""

from __future__ import annotations

MIGRATIONS = (
    "m001_foundation",
    "m002_team",
    "m003_decisions",
    "m004_themes",
    "m005_journal",
    "m006_vectors",
    "m007_access",
    "m008_models",
    "m009_hosts",
    "m010_search",
    "m011_grades",
    "m012_readings",
    "m013_leases",
)
VERSION = len(MIGRATIONS)


def makes_words_anew(migration: str) -> bool:
    """Whether the word index has to be made again from the terms of all passages."""
    from importlib import import_module

    return hasattr(import_module(f"recollect.store.schema.{migration}"), "WORDS_ANEW")


def statements(migration: str, types: dict[str, str]) -> list[str]:
    """The statements of a migration with the engine's types in place; loaded only when a store has to be migrated."""
    from importlib import import_module

    made = []
    for statement in import_module(f"recollect.store.schema.{migration}").STATEMENTS:
        for name, text in types.items():
            statement = statement.replace(name, text)
        made.append(statement)
    return made
