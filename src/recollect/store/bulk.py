"""Every row of a space: dumped and loaded from one transaction into another, and scrubbed for a purge.

`schema.TABLES` lists the tables in an order in which rows can be inserted again. Loading a row twice leaves one row.
Knows nothing about files and backups.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice
from typing import Any

from recollect.core.context import Row, Tx
from recollect.core.errors import StoreDamaged
from recollect.core.new_learning import TITLE_LIMIT
from recollect.core.records import Passage, loads
from recollect.store import db, events, passages
from recollect.store.db import PAGE, among, every, insertion, update
from recollect.store.schema import BY_NAME, TABLES, Table, references

DUMPED = tuple(table for table in TABLES if not table.left_out)
VAULT = BY_NAME["vault_parts"]
# Tables that are emptied with a space: their rows are about rows that are gone.
_MADE_FROM_THEM = ("decision_wordings", "decision_wisdom", "ask_claims", "logs", "nodes", "tree_state", "readings")


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
    """Write rows; an existing row is overwritten."""
    if table.name == "passages":
        for values in given:
            passages.put(tx, passage_from(values))
    elif given:
        tx.run_many(insertion(table.name, tuple(given[0]), ", ".join(table.key), replace=True), given)


def sums(tx: Tx, table: Table) -> tuple[int, str]:
    """The number of rows of a table in this space, and their hash: equal stores give equal sums."""
    running, number = hashlib.sha256(), 0
    for row in rows(tx, table):
        running.update(json.dumps(row, ensure_ascii=False).encode("utf-8", "surrogatepass") + b"\n")
        number += 1
    return (number, running.hexdigest()) if number else (0, "")


def carry(
    source: Tx,
    target: Tx,
    *,
    tables: Sequence[Table] = (*DUMPED, VAULT),
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, int]:
    """Load every row of a space and check that both sides are equal; the number of rows by table.

    `progress` is called with the rows that remain and all rows.
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
    """Delete every row of a space, and what was made from them, before a load."""
    for name in _MADE_FROM_THEM:
        tx.run(f"DELETE FROM {name} WHERE space = :space")
    for (id,) in tx.rows("SELECT id FROM passages WHERE space = :space"):
        passages.remove(tx, id)
    for table in reversed(DUMPED):
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
    """A passage from its row, without the columns that the store makes."""
    lines, keywords = tuple(values["text"].split("\n")), (values["keywords"],) if values["keywords"] else ()
    others = {name: value for name, value in values.items() if name not in ("text", "keywords")}
    return Passage(**others, lines=lines, keywords=keywords)


def _children(tx: Tx, table: Table, columns: Sequence[str]) -> Iterator[Sequence[Any]]:
    """Rows that point at another one, each after its target, with the key in front."""
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


Scrub = Callable[[str], str]  # returns a text without the words that must go
REPLACED = {"learnings": "archived", "decisions": "reversed"}  # the status of a row whose successor was purged


def scrub_rows(tx: Tx, words: Scrub, names: Scrub, *, dry: bool = False) -> dict[str, list[Row]]:
    """Scrub every column of words and of names; the keys of the changed rows, by table. `dry` changes nothing."""
    changed: dict[str, list[Row]] = {}
    for table in TABLES:
        for key, values in list(_scrubbed(tx, table, words, names)):
            if not dry and (new := values.pop(table.reading_order[0], None)):
                _rename(tx, table, key, new)
                key = (new, *key[1:])
            if not dry and values:
                update(tx, table.name, dict(zip(table.reading_order, key, strict=True)), **values)
            changed.setdefault(table.name, []).append(key)
    return changed


def drop(tx: Tx, table: str, keys: Collection[Row]) -> None:
    order = BY_NAME[table].reading_order
    where = " AND ".join(f"{name} = :{name}" for name in order)
    rows = (dict(zip(order, key, strict=True)) for key in keys)
    tx.run_many(f"DELETE FROM {table} WHERE space = :space AND {where}", rows)


def forget_made(tx: Tx) -> None:
    """Delete rows that may quote anything and are made again: decisions in short form, and cached vectors, whose only
    key is the hash of a text."""
    for rows in ("decision_wisdom WHERE", "decision_wordings WHERE", "answers WHERE kind = 'embedding' AND"):
        tx.run(f"DELETE FROM {rows} space = :space")


def touch(tx: Tx, table: str, ids: Collection[str], *, at: int) -> None:
    """Count up the version of learnings or decisions, so that an open edit cannot bring the words back."""
    sql = f"UPDATE {table} SET version = version + 1, updated_at = :at WHERE space = :space AND id = :id"
    tx.run_many(sql, ({"id": id, "at": at} for id in sorted(ids)))


def remove(tx: Tx, table: str, id: str) -> dict[str, str]:
    """Delete a row, its parts and every mention of it; returns the rows it had replaced, with their new status."""
    replaced: dict[str, str] = {}
    for holder, column, target in references():
        if target.name != table:
            continue
        if column in holder.key:
            tx.run(f"DELETE FROM {holder.name} WHERE space = :space AND {column} = :id", id=id)
        elif column == holder.parent:
            sql = f"SELECT id FROM {table} WHERE space = :space AND {column} = :id ORDER BY id"
            replaced = {old: REPLACED[table] for (old,) in tx.rows(sql, id=id)}
            sql = f"UPDATE {table} SET status = :status, {column} = NULL, version = version + 1"
            tx.run(f"{sql} WHERE space = :space AND {column} = :id", id=id, status=REPLACED[table])
        else:
            tx.run(f"UPDATE {holder.name} SET {column} = NULL WHERE space = :space AND {column} = :id", id=id)
    remove_mentions(tx, id)
    tx.run(f"DELETE FROM {table} WHERE space = :space AND id = :id", id=id)
    return replaced


def remove_mentions(tx: Tx, id: str) -> None:
    """Remove a thing's passage, the events and inbox items about it, and events of others that name it."""
    passages.remove(tx, id)
    tx.run("DELETE FROM escalations WHERE space = :space AND (subject = :id OR other = :id)", id=id)
    tx.run("DELETE FROM events WHERE space = :space AND subject = :id", id=id)
    said = every(tx, "events", "seq, old_values, new_values")
    drop(tx, "events", [(seq,) for seq, old, new in said if json.dumps(id) in old or json.dumps(id) in new])


def quotes(tx: Tx, table: Table, id: str) -> tuple[list[str], list[str]]:
    """The ids to purge together and all texts they ever held; a learning brings its raw discoveries. Empty: no row."""
    row = tx.row(f"SELECT {', '.join(table.words)} FROM {table.name} WHERE space = :space AND id = :id", id=id)
    if row is None:
        return [], []
    said: list[Any] = [
        loads(text) if text and column in table.shapes else text for column, text in zip(table.words, row, strict=True)
    ]
    for event in events.of(tx, id):
        said += [value for old in (event.old, event.new) for name, value in old.items() if not name.endswith("_at")]
    texts: list[str] = []
    walked(said, lambda text: texts.append(text) or text)  # type: ignore[func-returns-value]
    sources = tx.rows(
        """
        SELECT id, content FROM discoveries WHERE space = :space AND (learning_id = :id OR id IN (
          SELECT discovery_id FROM learning_sources WHERE space = :space AND learning_id = :id)) ORDER BY id""",
        id=id,
    )
    return [id, *(source for source, _ in sources)], [*texts, *(content for _, content in sources)]


def walked(value: Any, scrub: Scrub) -> Any:
    """A JSON value with every text in it scrubbed."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [walked(item, scrub) for item in value]
    if isinstance(value, dict):
        return {scrub(key): walked(item, scrub) for key, item in value.items()}
    return value


def _scrubbed(tx: Tx, table: Table, words: Scrub, names: Scrub) -> Iterator[tuple[Row, dict[str, Any]]]:
    columns = (*table.words, *table.names)
    if not columns:
        return
    width = len(table.reading_order)
    for row in every(tx, table.name, ", ".join((*table.reading_order, *columns)), key=width):
        values: dict[str, Any] = {}
        for name, old in zip(columns, row[width:], strict=True):
            scrub = names if name in table.names else words
            if old is None:
                continue
            new = _scrubbed_json(old, scrub) if name in table.shapes else scrub(old)
            if new != old:
                values[name] = new[:TITLE_LIMIT] if (table.name, name) == ("learnings", "title") else new
        if values:
            yield row[:width], values


def _scrubbed_json(text: str, scrub: Scrub) -> str:
    old = loads(text)
    new = walked(old, scrub)
    return text if new == old else json.dumps(new, ensure_ascii=False, sort_keys=True)


def _rename(tx: Tx, table: Table, key: Row, new: str) -> None:
    """Give a row a new key, also in references: foreign keys allow a new row only before the old one goes."""
    (name,) = table.key
    (old,) = key
    rest = ", ".join(column for column in tx.columns(table.name) if column not in ("space", name))
    tx.run(
        f"INSERT INTO {table.name} (space, {name}, {rest}) SELECT :space, :new, {rest} FROM {table.name} "
        f"WHERE space = :space AND {name} = :old",
        old=old,
        new=new,
    )
    for holder, column, target in references():
        if target is table:
            sql = f"UPDATE {holder.name} SET {column} = :new WHERE space = :space AND {column} = :old"
            tx.run(sql, old=old, new=new)
    tx.run(f"DELETE FROM {table.name} WHERE space = :space AND {name} = :old", old=old)
