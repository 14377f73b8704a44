"""Reading in pages: a whole table, so that memory does not grow with it, or rows by many keys, of which one statement
takes only so many.

Knows nothing about what the rows mean.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import Any

    from recollect.core.context import Row, Tx

PAGE = 500
KEYS = 100  # in one statement: SQLite looks for each name among all names before it


def every(tx: Tx, table: str, columns: str, *, key: int = 1, where: str = "") -> Iterator[Row]:
    """All rows in the order of their first `key` columns, which must be unique within the space."""
    names = columns.split(", ")[:key]
    order = ", ".join(names)
    last: Row | None = None
    while True:
        after = f" AND ({order}) > ({', '.join(f':k{i}' for i in range(key))})" if last else ""
        page = tx.rows(
            f"SELECT {columns} FROM {table} WHERE space = :space{where}{after} ORDER BY {order} LIMIT {PAGE}",
            **({f"k{i}": last[i] for i in range(key)} if last else {}),
        )
        yield from page
        if len(page) < PAGE:
            return
        last = page[-1]


def among(tx: Tx, sql: str, keys: Sequence[object], **params: Any) -> Iterator[Row]:
    """The rows of a statement that asks `IN (:keys)`, in no order between pages."""
    for start in range(0, len(keys), KEYS):
        page = {f"key{i}": key for i, key in enumerate(keys[start : start + KEYS])}
        yield from tx.rows(sql.replace(":keys", f":{', :'.join(page)}"), **page, **params)
