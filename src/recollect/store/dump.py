"""Dump and load: every row of a space, in pages, from one transaction into another.

`schema.TABLES` says which tables, in an order in which rows can be inserted again. A row that is loaded twice is there
once. Knows nothing about files and backups.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.core.context import Row, Tx
from recollect.core.errors import StoreDamaged, StoreNewer
from recollect.core.values import Passage
from recollect.store import passages, schema
from recollect.store.db import PAGE, among, insertion
from recollect.store.schema import Table

TABLES = tuple(table for table in schema.TABLES if not table.left_out)
VAULT = next(table for table in schema.TABLES if table.name == "vault_parts")
_by_name = {table.name: table for table in (*TABLES, VAULT)}

_MADE_FROM_THEM = (
    *("decision_wordings", "decision_wisdom", "requests", "ask_claims"),
    *("logs", "nodes", "tree_state", "readings"),
)
"""Tables that are emptied with a space: they say something about rows that are gone."""


@dataclass(frozen=True, kw_only=True)
class RowPage:
    """Some rows of one table. `place` is where reading continues after them."""

    table: str
    columns: tuple[str, ...]
    rows: list[Row]
    place: Row | None = None


def pages(tx: Tx, table: Table, *, after: Row | None = None, size: int = PAGE) -> Iterator[RowPage]:
    """A table's rows in loading order, from the beginning or after the place of an earlier page."""
    columns = _columns(tx, table)
    where = f" AND {table.parent} IS NULL" if table.parent else ""
    place = after
    while True:
        found = _page(tx, table, columns, where, place, size)
        if found:
            place = found[-1][: len(table.reading_order)]
            yield RowPage(
                table=table.name,
                columns=columns,
                rows=[row[len(table.reading_order) :] for row in found],
                place=place,
            )
        if len(found) < size:
            break
    if table.parent:
        yield from _children(tx, table, columns, place, size)


def sums(tx: Tx, table: Table) -> tuple[int, str]:
    """How many rows a table has in this space, and the hash of all of them: equal stores give equal sums."""
    running, count = hashlib.sha256(), 0
    for page in pages(tx, table):
        for row in page.rows:
            running.update(_packed(row).encode("utf-8", "surrogatepass") + b"\n")
        count += len(page.rows)
    return (count, running.hexdigest()) if count else (0, "")


def load(tx: Tx, page: RowPage) -> None:
    """Write a page's rows. A row that is there already is brought to the page's state."""
    table = _by_name.get(page.table)
    if table is None:
        raise StoreNewer(f"the dump has a table {page.table[:40]!r} that this program does not know; upgrade it")
    known = _columns(tx, table)
    if not set(page.columns) <= set(known):
        extra = sorted(set(page.columns) - set(known))
        raise StoreNewer(f"the dump has columns of {table.name} that this program does not know ({extra}); upgrade it")
    if table.name == "passages":
        for row in page.rows:
            passages.put(tx, _passage(dict(zip(page.columns, row, strict=True))))
        return
    sql = insertion(table.name, page.columns, ", ".join(table.key), replace=True)
    tx.run_many(sql, (dict(zip(page.columns, row, strict=True)) for row in page.rows))


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
    rows = {table.name: count(source, table) for table in tables}
    total = remaining = sum(rows.values())
    for table in tables:
        for page in pages(source, table):
            load(target, page)
            remaining -= len(page.rows)
            if progress is not None:
                progress(remaining, total)
        if sums(target, table) != sums(source, table):
            raise StoreDamaged(
                f"The copy of {table.name} differs from its source, so the copy was discarded. Try again"
            )
    return rows


def count(tx: Tx, table: Table) -> int:
    return int(tx.value(f"SELECT count(*) FROM {table.name} WHERE space = :space"))


def empty(tx: Tx) -> None:
    """Take every row of a space out, and what was made from them: what a load that is begun anew starts from."""
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


def _page(tx: Tx, table: Table, columns: tuple[str, ...], where: str, after: Row | None, size: int) -> list[Row]:
    order = table.reading_order
    params: dict[str, Any] = {}
    if after is not None:
        where += f" AND ({', '.join(order)}) > ({', '.join(f':after{i}' for i in range(len(order)))})"
        params = {f"after{i}": value for i, value in enumerate(after)}
    return tx.rows(
        f"SELECT {', '.join((*order, *columns))} FROM {table.name} WHERE space = :space{where} "
        f"ORDER BY {', '.join(order)} LIMIT :size",
        size=size,
        **params,
    )


def _children(tx: Tx, table: Table, columns: tuple[str, ...], place: Row | None, size: int) -> Iterator[RowPage]:
    """Rows that point at another one, each after the one it points at."""
    (key,) = table.key
    pointing: dict[str, str] = dict(
        tx.rows(f"SELECT {key}, {table.parent} FROM {table.name} WHERE space = :space AND {table.parent} IS NOT NULL")
    )
    ordered = sorted(pointing, key=lambda child: (_depth(child, pointing), child))
    sql = f"SELECT {key}, {', '.join(columns)} FROM {table.name} WHERE space = :space AND {key} IN (:keys)"
    for start in range(0, len(ordered), size):
        chunk = ordered[start : start + size]
        by_key = {row[0]: row[1:] for row in among(tx, sql, chunk)}
        yield RowPage(table=table.name, columns=columns, rows=[by_key[id] for id in chunk], place=place)


def _depth(id: str, pointing: dict[str, str]) -> int:
    depth = 0
    while id in pointing and depth <= len(pointing):
        id = pointing[id]
        depth += 1
    return depth


def _columns(tx: Tx, table: Table) -> tuple[str, ...]:
    """Sorted by name: two stores may have got their columns in different orders."""
    return tuple(sorted(name for name in tx.columns(table.name) if name != "space" and name not in table.made))


def _passage(values: dict[str, Any]) -> Passage:
    return Passage(
        id=values["id"],
        kind=values["kind"],
        title=values["title"],
        lines=tuple(values["text"].split("\n")),
        keywords=(values["keywords"],) if values["keywords"] else (),
        who=values["who"],
        at=values["at"],
        trust=values["trust"],
        thread=values["thread"],
        position=values["position"],
    )


def _packed(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
