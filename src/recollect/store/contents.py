"""Whether the content of every row reads: a column that holds JSON holds it in its shape, one that names a day a day.

A flipped bit leaves a row that the engine finds sound and no reader understands. This module knows which columns are
read as more than a text or a number, and which tables can be made again. Whether a text is UTF-8 at all, only SQLite
has to be asked (`soundness`).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from datetime import date
from typing import Any, NamedTuple

from recollect.core.context import Tx
from recollect.core.errors import BadInput
from recollect.store import decisions
from recollect.store.db import every

DERIVED = frozenset(
    "passages terms vectors vector_models vector_signs logs nodes tree_state readings decision_wordings "
    "decision_wisdom".split()
)
"""Tables whose rows `rebuild` or the next cycle makes again; all others hold what somebody said or did."""

Shape = Callable[[str], object]
"""Reads a column's text; raises when it cannot."""


class Unreadable(NamedTuple):
    """A row that does not read: its table, what it is about, and what is wrong."""

    table: str
    subject: str
    detail: str

    @property
    def derived(self) -> bool:
        return self.table in DERIVED


def _mapping(text: str) -> object:
    value = json.loads(text)
    if not isinstance(value, dict):
        raise ValueError("not an object")
    return value


def _names(text: str) -> object:
    value = json.loads(text)
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise ValueError("not a list of names")
    return value


def _pairs(text: str) -> object:
    value = json.loads(text)
    if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
        raise ValueError("not a list of pairs")
    return value


_CONTENTS: dict[str, tuple[tuple[str, ...], dict[str, Shape]]] = {
    "events": (("seq", "subject"), {"old_values": _mapping, "new_values": _mapping}),
    "escalations": (("number", "subject"), {"detail": _mapping}),
    "themes": (("name",), dict.fromkeys(("work_ids", "left_out", "inherited", "inherited_units"), _names)),
    "sessions": (("id",), {"day": date.fromisoformat}),
    "asks": (("id",), {"sources": _names}),
    "model_usage": (("day", "kind", "generator"), {"day": date.fromisoformat}),
    "host_events": (("id",), {"given": _names}),
    "requests": (("caller", "request_key"), {"headers": _mapping}),
    "logs": (("day",), {"day": date.fromisoformat}),
    "nodes": (("id",), {"first_day": date.fromisoformat, "topics": _pairs, "incomplete": _names}),
}
"""By table: its key, and the columns that are read as more than they are stored as. The last of the key is its subject,
unless it is part of a longer one."""


def unreadable(tx: Tx) -> Iterator[Unreadable]:
    """Rows of this space whose content nobody can read."""
    for table, (key, columns) in _CONTENTS.items():
        for row in every(tx, table, ", ".join((*key, *columns)), key=len(key)):
            for name, text in zip(columns, row[len(key) :], strict=True):
                if not _reads(columns[name], text):
                    yield Unreadable(table, _subject(table, row[: len(key)]), _detail(table, name, row))
                    break
    yield from _decisions(tx)


def _decisions(tx: Tx) -> Iterator[Unreadable]:
    """Decisions are read as records that check themselves; what each column may hold says too little of them."""
    for (id,) in every(tx, "decisions", "id"):
        try:
            for found in decisions.many(tx, [id]):
                decisions.passage_of(found)
        except (ArithmeticError, AttributeError, BadInput, LookupError, TypeError, ValueError, RecursionError):
            yield Unreadable("decisions", id, "the decision does not read back")


def drop_unreadable(tx: Tx) -> int:
    """Delete the rows of derived tables that nobody can read, so that they can be made again; how many there were."""
    found = [each for each in unreadable(tx) if each.derived]
    for table, (key, _) in _CONTENTS.items():
        if table in DERIVED:
            wanted = [{key[0]: each.subject} for each in found if each.table == table]
            tx.run_many(f"DELETE FROM {table} WHERE space = :space AND {key[0]} = :{key[0]}", wanted)
    return len(found)


def _reads(shape: Shape, text: Any) -> bool:
    try:
        shape(text)
    except (ValueError, TypeError, RecursionError):
        return False
    return True


def _subject(table: str, key: tuple[Any, ...]) -> str:
    return str(key[-1]) if table in ("events", "escalations") else " ".join(map(str, key))


def _detail(table: str, column: str, row: tuple[Any, ...]) -> str:
    return f"event {row[0]} does not read back" if table == "events" else f"{table}.{column} does not read back"
