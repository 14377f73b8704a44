"""The schema: the names of the migrations in order, and one table of all tables.

`TABLES` says of every table what backups, purge, `verify` and `rebuild` need to know; a new table is a new row here,
and tests compare the list with the database. `store/migrations/` holds the statements. They leave the engine's types
open as `$int`, `$text`, `$key` (an integer the engine counts up), `$table` (what ends a table definition), `$vector`
and the like (how the engine stores vectors). A migration runs in one transaction, after a verified backup.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from recollect.core.errors import StoreNewer
from recollect.core.records import record

MIGRATIONS = tuple(
    "m013_base m014_entries m015_scopes m016_unused m017_topics m018_proven m019_reasons m020_smaller "
    "m021_machine".split()
)
OLDEST = 13  # the schema of the last version that kept the memory in the working tree; older ones were never released
VERSION = OLDEST - 1 + len(MIGRATIONS)


def newer(place: object, version: int) -> StoreNewer:
    return StoreNewer(
        f"{place} was written by a newer Recollect (schema {version}, this program knows {VERSION}). Nothing was "
        "touched; upgrade this program"
    )


def due(version: int) -> list[tuple[int, str]]:
    """The migrations that a store of this schema (0: a new one) lacks, each with the schema it leads to."""
    return [step for step in enumerate(MIGRATIONS, start=OLDEST) if step[0] > version]


def statements(migration: str, types: dict[str, str]) -> list[str]:
    sql = (Path(__file__).parent / "migrations" / f"{migration}.sql").read_text("utf-8")
    code = "".join(line for line in sql.splitlines(keepends=True) if not line.startswith("--"))
    made = [statement.strip() for statement in code.split(";\n") if statement.strip()]
    for name, text in types.items():
        made = [statement.replace(name, text) for statement in made]
    return made


@record
class Table:
    """One table.

    `key` identifies a row within a space; a table without one only grows, in the order of `order`. The store fills in
    the columns in `made`. `parent` names another row of the same table, which is loaded first. `words` are the columns
    that may hold people's words, `names` those with ids, names and paths that words may make; a purge scrubs both.
    `shapes` are the columns that are read as more than a text (an object, a list of names, a list of pairs, JSON of any
    shape, a day) or hold one of a few values that the database does not check. `refers` says which column names a row
    of which table. `left_out` is why a backup of a space leaves the table out. `derived` rows are made again by
    `rebuild` or the next cycle; all others hold what people and agents said or did.
    """

    name: str
    key: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    made: tuple[str, ...] = ()
    parent: str = ""
    words: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    shapes: Mapping[str, str] = {}
    refers: Mapping[str, str] = {}
    left_out: str = ""
    derived: bool = False

    @property
    def reading_order(self) -> tuple[str, ...]:
        return self.order or self.key


# In loading order: a row comes after the rows it refers to.
TABLES: tuple[Table, ...] = (
    Table(name="outcomes", key=("id",), words=("name",), names=("id",)),
    Table(name="tasks", key=("id",), words=("title",), names=("id",), refers={"outcome_id": "outcomes"}),
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
        shapes={"trust": "trust"},
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
        shapes={"feedback_trust": "verdict's trust"},
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
        shapes={"reasons": "json", "components": "json"},  # their records check themselves, see `check.py`
        refers={"superseded_by": "decisions"},
    ),
    Table(name="decision_tags", key=("decision_id", "position"), words=("tag",), refers={"decision_id": "decisions"}),
    Table(name="finding_files", key=("path",), names=("path",)),
    Table(
        name="themes",
        key=("name",),
        words=("summary", "inherited"),
        names=("name", "work_ids", "left_out", "inherited_units"),
        shapes={"work_ids": "names", "left_out": "names", "inherited": "names", "inherited_units": "names"},
    ),
    Table(name="theme_findings", key=("finding_id",), names=("finding_id",), refers={"theme": "themes"}),
    Table(name="sessions", key=("id",), names=("id",), shapes={"day": "day"}),
    Table(
        name="log_entries",
        key=("day", "number"),
        words=("key", "who", "text"),
        shapes={"day": "day", "trust": "trust", "held": "flag", "secret": "flag"},
    ),
    Table(name="topics", key=("id",), parent="merged_into", words=("name",), refers={"merged_into": "topics"}),
    Table(name="topic_aliases", key=("topic_id", "position"), words=("alias", "key"), refers={"topic_id": "topics"}),
    Table(name="topic_entries", key=("entry_id", "place"), names=("session",), refers={"topic_id": "topics"}),
    Table(name="host_sessions", key=("id",), words=("transcript",), names=("id", "machine")),
    Table(
        name="host_events",
        key=("id",),
        words=("why",),
        names=("session", "given"),
        shapes={"given": "names", "why": "object"},
    ),
    Table(
        name="escalations",
        key=("number",),
        words=("reason", "resolution", "detail"),
        names=("subject", "other"),
        shapes={"detail": "object"},
    ),
    Table(name="tokens", key=("id",), words=("name", "made_by")),
    Table(name="answers", key=("kind", "version", "source_hash"), words=("generator", "answer")),
    Table(name="asks", key=("id",), words=("subject", "sources"), shapes={"sources": "names"}),
    Table(name="model_usage", key=("day", "kind", "generator"), shapes={"day": "day"}),
    Table(
        name="events",
        order=("seq",),
        made=("seq",),
        words=("who", "reason", "old_values", "new_values"),
        names=("subject",),
        shapes={"old_values": "object", "new_values": "object", "trust": "trust"},
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
    Table(name="spaces", left_out="numbers of the word index"),
    Table(name="meta", left_out="about the store itself"),
    Table(name="migrations", left_out="about the store itself"),
)

BY_NAME = {table.name: table for table in TABLES}
DERIVED = frozenset(table.name for table in TABLES if table.derived)


def references() -> Iterator[tuple[Table, str, Table]]:
    """Every column that names a row of another table: (table, column, other table)."""
    return ((table, column, BY_NAME[target]) for table in TABLES for column, target in table.refers.items())
