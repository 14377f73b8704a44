"""One row from named values, and one record from a row: what nearly every table needs, written once.

Names of tables and columns are ours, never a caller's. Knows nothing about what the rows mean.
"""

from __future__ import annotations

from functools import cache

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, TypeVar

    from recollect.core.context import Row, Tx

    T = TypeVar("T")


def add(tx: Tx, table: str, /, **values: Any) -> None:
    """A new row; that one with its key is there already is a mistake of ours."""
    tx.run(insertion(table, tuple(values)), **values)


def add_once(tx: Tx, table: str, key: str, /, **values: Any) -> bool:
    """A new row, unless there is one with these values in the columns of `key`; whether it was new."""
    return bool(tx.run(insertion(table, tuple(values), key), **values))


def put(tx: Tx, table: str, key: str, /, **values: Any) -> None:
    """A row as it is from now on: new, or in the place of the one with the same key."""
    tx.run(insertion(table, tuple(values), key, replace=True), **values)


def record_from(kind: type[T], columns: str, row: Row) -> T:
    """A record whose fields are called like the columns."""
    return kind(**dict(zip(columns.split(", "), row, strict=True)))


@cache
def insertion(table: str, names: tuple[str, ...], key: str = "", *, replace: bool = False) -> str:
    """The statement that adds a row; with a key, one that is there stays as it is, or is replaced."""
    sql = f"INSERT INTO {table} (space, {', '.join(names)}) VALUES (:space, :{', :'.join(names)})"
    if not key:
        return sql
    change = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key.split(", "))
    return f"{sql} ON CONFLICT (space, {key}) DO {f'UPDATE SET {change}' if replace else 'NOTHING'}"
