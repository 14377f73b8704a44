"""The names of the migrations in order, and their statements for one engine.

A migration leaves the engine's types open: `$int`, `$text`, `$key` (an integer the engine counts up), `$table` (what
ends a table definition), `$vector` and `$vector_index` (how the engine stores vectors). It runs in one transaction,
after a verified backup. `store/migrations.py` holds the statements.
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
REBUILDS_WORDS = frozenset({"m011_grades"})
"""Migrations after which the word index is made again from the terms of all passages."""


def statements(migration: str, types: dict[str, str]) -> list[str]:
    """The statements of a migration with the engine's types in place."""
    from recollect.store.migrations import STATEMENTS

    made = []
    for statement in STATEMENTS[migration]:
        for name, text in types.items():
            statement = statement.replace(name, text)
        made.append(statement)
    return made
