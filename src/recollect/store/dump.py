"""Dump and load: every row of a space, from one transaction into another.

`schema.TABLES` says which tables, in an order in which rows can be inserted again. A row that is loaded twice is there
once. Knows nothing about files and backups.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from recollect.core.context import Tx
from recollect.core.errors import StoreDamaged
from recollect.core.values import Passage
from recollect.store import db, passages, schema
from recollect.store.db import PAGE, among, every, insertion
from recollect.store.schema import BY_NAME, Table

TABLES = tuple(table for table in schema.TABLES if not table.left_out)
VAULT = BY_NAME["vault_parts"]
_MADE_FROM_THEM = (
    *("decision_wordings", "decision_wisdom", "ask_claims"),
    *("logs", "nodes", "tree_state", "readings"),
)
"""Tables that are emptied with a space: they say something about rows that are gone."""


def rows(tx: Tx, table: Table) -> Iterator[dict[str, Any]]:
    """A table's rows in loading order, by column."""
    # Sorted by name: two stores may have got their columns in different orders.
    columns = sorted(name for name in tx.columns(table.name) if name != "space" and name not in table.made)
    key = table.reading_order
    parents = f" AND {table.parent} IS NULL" if table.parent else ""
    found = every(tx, table.name, ", ".join((*key, *columns)), key=len(key), where=parents)
    for row in chain(found, _children(tx, table, columns) if table.parent else ()):
        yield dict(zip(columns, row[len(key) :], strict=True))


def load(tx: Tx, table: Table, given: Sequence[dict[str, Any]]) -> None:
    """Write rows. One that is there already is brought to the given state."""
    if table.name == "passages":
        for values in given:
            passages.put(tx, passage_from(values))
    elif given:
        tx.run_many(insertion(table.name, tuple(given[0]), ", ".join(table.key), replace=True), given)


def sums(tx: Tx, table: Table) -> tuple[int, str]:
    """How many rows a table has in this space, and the hash of all of them: equal stores give equal sums."""
    running, number = hashlib.sha256(), 0
    for row in rows(tx, table):
        running.update(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        number += 1
    return (number, running.hexdigest()) if number else (0, "")


def carry(
    source: Tx,
    target: Tx,
    *,
    tables: Sequence[Table] = (*TABLES, VAULT),
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, int]:
    """Load every row of a space and prove that both sides are equal; the number of rows by table.

    `progress` is told the rows that remain and all rows.
    """
    counts = {table.name: db.count(source, table.name) for table in tables}
    total = remaining = sum(counts.values())
    for table in tables:
        found = rows(source, table)
        while page := list(islice(found, PAGE)):
            load(target, table, page)
            remaining -= len(page)
            if progress is not None:
                progress(remaining, total)
        if sums(target, table) != sums(source, table):
            raise StoreDamaged(
                f"The copy of {table.name} differs from its source, so the copy was discarded. Try again"
            )
    return counts


def empty(tx: Tx) -> None:
    """Delete every row of a space, and what was made from them, so that a load can begin."""
    for name in _MADE_FROM_THEM:
        tx.run(f"DELETE FROM {name} WHERE space = :space")
    for (id,) in tx.rows("SELECT id FROM passages WHERE space = :space"):
        passages.remove(tx, id)
    for table in reversed(TABLES):
        if table.parent:  # rows that point at each other go one generation at a time
            while tx.run(
                f"DELETE FROM {table.name} WHERE space = :space AND {table.key[0]} NOT IN "
                f"(SELECT {table.parent} FROM {table.name} WHERE space = :space AND {table.parent} IS NOT NULL)"
            ):
                pass
        tx.run(f"DELETE FROM {table.name} WHERE space = :space")


def empty_vault(tx: Tx) -> None:
    tx.run(f"DELETE FROM {VAULT.name} WHERE space = :space")


def passage_from(values: dict[str, Any]) -> Passage:
    """A passage from its row, without what the store makes of it."""
    lines, keywords = tuple(values["text"].split("\n")), (values["keywords"],) if values["keywords"] else ()
    others = {name: value for name, value in values.items() if name not in ("text", "keywords")}
    return Passage(**others, lines=lines, keywords=keywords)


def _children(tx: Tx, table: Table, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Rows that point at another one, each after the one it points at, their key in front."""
    (key,) = table.key
    pointing: dict[str, str] = dict(
        tx.rows(f"SELECT {key}, {table.parent} FROM {table.name} WHERE space = :space AND {table.parent} IS NOT NULL")
    )
    ordered = sorted(pointing, key=lambda child: (_depth(child, pointing), child))
    sql = f"SELECT {key}, {', '.join(columns)} FROM {table.name} WHERE space = :space AND {key} IN (:keys)"
    by_key = {row[0]: row for row in among(tx, sql, ordered)}
    return (by_key[id] for id in ordered)


def _depth(id: str, pointing: dict[str, str]) -> int:
    depth = 0
    while id in pointing and depth <= len(pointing):
        id = pointing[id]
        depth += 1
    return depth
