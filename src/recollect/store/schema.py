"""The schema: the names of the migrations in order, and one table of all tables.

`TABLES` says of every table what backups, purge, `verify` and `rebuild` need to know; a new table is a new row here,
and tests hold the list against the database. `store/migrations.py` holds the statements. They leave the engine's
types open as `$int`, `$text`, `$key` (an integer the engine counts up), `$table` (what ends a table definition),
`$vector` and `$vector_index` (how the engine stores vectors). A migration runs in one transaction, after a verified
backup.
"""

from __future__ import annotations

from recollect.core.records import record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

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


@record
class Table:
    """What the rest of the store needs to know about one table.

    `key` identifies a row within a space; a table without one only grows, in the order of `order`. `made` are columns
    that the store fills in by itself. `parent` names another row of the same table, which is loaded first.
    `words` are the columns that may hold people's words, which a purge scrubs. `shapes` are the columns that are read
    as more than a text: an object, a list of names, a list of pairs, JSON of any shape, or a day. `refers` says which
    column names a row of which table. `left_out` is why a backup of a space leaves the table out. `derived` rows are
    made again by `rebuild` or the next cycle; all others hold what people and agents said or did.
    """

    name: str
    key: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    parent: str = ""
    words: tuple[str, ...] = ()
    shapes: Mapping[str, str] = {}
    refers: Mapping[str, str] = {}
    left_out: str = ""
    derived: bool = False

    @property
    def reading_order(self) -> tuple[str, ...]:
        return self.order or self.key


TABLES: tuple[Table, ...] = (
    Table(name="outcomes", key=("id",), words=("name",)),
    Table(name="tasks", key=("id",), words=("title",), refers={"outcome_id": "outcomes"}),
    Table(
        name="learnings",
        key=("id",),
        parent="superseded_by",
        words=("title", "context", "observation", "implication", "action", "domain", "origin"),
        refers={
            "superseded_by": "learnings",
            "source_outcome_id": "outcomes",
            "source_task_id": "tasks",
            "source_discovery_id": "discoveries",
        },
    ),
    Table(name="learning_tags", key=("learning_id", "position"), words=("tag",), refers={"learning_id": "learnings"}),
    Table(
        name="learning_sources",
        key=("learning_id", "position"),
        words=("origin",),
        refers={
            "learning_id": "learnings",
            "outcome_id": "outcomes",
            "task_id": "tasks",
            "discovery_id": "discoveries",
        },
    ),
    Table(
        name="discoveries",
        key=("id",),
        words=("content", "skipped"),
        refers={"task_id": "tasks", "outcome_id": "outcomes", "learning_id": "learnings"},
    ),
    Table(
        name="injections",
        key=("learning_id", "task_id"),
        refers={"learning_id": "learnings", "task_id": "tasks", "outcome_id": "outcomes"},
    ),
    Table(
        name="decisions",
        key=("id",),
        parent="superseded_by",
        words=(
            *("decision", "context", "pattern", "bridge_structure", "bridge_function"),
            *("result", "lesson", "category", "agent", "reasons", "components"),
        ),
        shapes={"reasons": "json", "components": "json"},  # their records check themselves, see `derived`
        refers={"superseded_by": "decisions"},
    ),
    Table(name="decision_tags", key=("decision_id", "position"), words=("tag",), refers={"decision_id": "decisions"}),
    Table(name="finding_files", key=("path",)),
    Table(
        name="themes",
        key=("name",),
        words=("summary", "work_ids", "left_out", "inherited", "inherited_units"),
        shapes={"work_ids": "names", "left_out": "names", "inherited": "names", "inherited_units": "names"},
    ),
    Table(name="theme_findings", key=("finding_id",)),
    Table(name="sessions", key=("id",), shapes={"day": "day"}),
    Table(name="host_sessions", key=("id",), words=("transcript",)),
    Table(name="host_events", key=("id",), shapes={"given": "names"}),
    Table(name="escalations", key=("number",), words=("reason", "resolution", "detail"), shapes={"detail": "object"}),
    Table(name="tokens", key=("id",), words=("name", "made_by")),
    Table(name="answers", key=("kind", "version", "source_hash"), words=("generator", "answer")),
    Table(name="asks", key=("id",), words=("subject", "sources"), shapes={"sources": "names"}),
    Table(name="model_usage", key=("day", "kind", "generator"), shapes={"day": "day"}),
    Table(
        name="events",
        order=("seq",),
        made=("seq",),
        words=("who", "reason", "old_values", "new_values"),
        shapes={"old_values": "object", "new_values": "object"},
    ),
    # Derived, but in every backup: loading passages makes the word index again without knowing which room owns which.
    Table(name="passages", key=("id",), order=("doc",), made=("doc", "hash", "terms"), derived=True),
    Table(
        name="decision_wordings",
        key=("decision_id", "level"),
        words=("wording", "generator"),
        refers={"decision_id": "decisions"},
        left_out="made again by the next cycle",
        derived=True,
    ),
    Table(
        name="decision_wisdom",
        key=("scope",),
        words=("wisdom",),
        shapes={"wisdom": "json"},
        left_out="made again when it is asked for",
        derived=True,
    ),
    Table(
        name="requests",
        key=("caller", "request_key"),
        shapes={"headers": "object"},
        left_out="answers that are kept for a day in case a request is repeated",
    ),
    Table(name="leases", key=("name",), left_out="belong to running processes"),
    Table(name="ask_claims", key=("id",), left_out="belong to running processes"),
    Table(
        name="logs",
        key=("day",),
        shapes={"day": "day"},
        left_out="which logs the tree has read; the next cycle reads them again",
        derived=True,
    ),
    Table(
        name="nodes",
        key=("id",),
        shapes={"first_day": "day", "topics": "pairs", "incomplete": "names"},
        left_out="the tree, made again from the logs",
        derived=True,
    ),
    Table(name="tree_state", key=("name",), left_out="the tree, made again from the logs", derived=True),
    Table(
        name="readings",
        key=("clone", "source"),
        left_out="which files of which clone search has read; the next cycle reads them again",
        derived=True,
    ),
    Table(
        name="vault_parts",
        key=("path", "position"),
        left_out="the files of a server's vault: a backup carries them, a migration writes them as files",
    ),
    Table(name="terms", key=("term",), left_out="counted again while passages are loaded", derived=True),
    Table(name="passage_words", left_out="the word index, made again while passages are loaded"),
    Table(name="vector_models", left_out="made again by the next cycles", derived=True),
    Table(name="vectors", left_out="made again by the next cycles", derived=True),
    Table(name="vector_signs", left_out="made again by the next cycles", derived=True),
    Table(name="moves", left_out="unused; earlier versions moved a store in steps"),
    Table(name="spaces", left_out="numbers of the word index"),
    Table(name="meta", left_out="about the store itself"),
    Table(name="migrations", left_out="about the store itself"),
)
"""In the order in which rows are loaded: a row comes after the rows it refers to."""

DERIVED = frozenset(table.name for table in TABLES if table.derived)
