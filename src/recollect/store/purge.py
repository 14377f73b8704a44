"""Purge in the rows of a space: what a thing said, how it is removed, and how a text is scrubbed from every column.

`schema.TABLES` names the columns that may hold people's words; a test holds it against the database. Passages and terms
are not scrubbed: they are made again from their owners.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterator
from typing import Any

from recollect.core.context import Row, Tx
from recollect.core.learning import COIA
from recollect.core.new_learning import TITLE_LIMIT
from recollect.store import decisions, events, learnings, passages, tasks
from recollect.store.db import among, every
from recollect.store.derived import references
from recollect.store.schema import TABLES, Table

Scrub = Callable[[str], str]
"""Gives a text without what is to go; the same text when there was nothing in it."""


NAMED_BY_CALLERS = ("outcomes", "tasks")
"""Tables whose ids are words of the caller's, too."""


def scrub_texts(tx: Tx, scrub: Scrub) -> dict[str, list[Row]]:
    """Scrub every text column; the keys of the rows that changed, by table."""
    changed: dict[str, list[Row]] = {}
    for table in TABLES:
        for key, values in _scrubbed(tx, table, scrub):
            _update(tx, table.name, table.reading_order, key, values)
            changed.setdefault(table.name, []).append(key)
    return changed


def count_texts(tx: Tx, scrub: Scrub) -> dict[str, int]:
    """How many rows of each table `scrub_texts` would change."""
    counts = {table.name: sum(1 for _ in _scrubbed(tx, table, scrub)) for table in TABLES}
    for table in NAMED_BY_CALLERS:
        counts[table] += sum(1 for (id,) in every(tx, table, "id") if scrub(id) != id)
    return {table: count for table, count in counts.items() if count}


def in_passages(tx: Tx, pattern: re.Pattern[str]) -> bool:
    """Whether search knows the text, which another clone's files may say."""
    return any(pattern.search(f"{title}\n{text}") for _, title, text in every(tx, "passages", "id, title, text"))


def rename_ids(tx: Tx, scrub: Scrub, fresh: Callable[[], str]) -> int:
    """Give outcomes and tasks whose id holds the text a fresh one, everywhere it is named."""
    renamed = 0
    for table in NAMED_BY_CALLERS:
        for (id,) in list(every(tx, table, "id")):
            if scrub(id) != id:
                _rename(tx, table, id, fresh())
                renamed += 1
    return renamed


def rename_subjects(tx: Tx, scrub: Scrub) -> None:
    """What happened to things that words of theirs name goes by new names; what waits about them is raised anew."""
    named = tx.rows(
        "SELECT subject FROM events WHERE space = :space UNION SELECT subject FROM escalations WHERE space = :space "
        "UNION SELECT other FROM escalations WHERE space = :space"
    )
    for (name,) in named:
        if (new := scrub(name)) != name:
            tx.run("UPDATE events SET subject = :new WHERE space = :space AND subject = :name", name=name, new=new)
            tx.run("DELETE FROM escalations WHERE space = :space AND (subject = :name OR other = :name)", name=name)


def rename_in_events(tx: Tx, kinds: Collection[str], renamed: Scrub) -> None:
    """Names that stand alone in what some kinds of events say."""
    for seq, what, *said in every(tx, "events", "seq, what, old_values, new_values"):
        old, new = (_scrubbed_json(values, renamed) for values in said)
        if what in kinds and [old, new] != said:
            _update(tx, "events", ("seq",), (seq,), {"old_values": old, "new_values": new})


def drop(tx: Tx, table: str, keys: list[Row]) -> None:
    """Rows that are worth nothing without the text they held."""
    key = next(each.reading_order for each in TABLES if each.name == table)
    where = " AND ".join(f"{name} = :{name}" for name in key)
    tx.run_many(
        f"DELETE FROM {table} WHERE space = :space AND {where}", (dict(zip(key, row, strict=True)) for row in keys)
    )


def tags_of(tx: Tx, learnings: list[str]) -> Iterator[Row]:
    """The tags of learnings, each with its key: an earlier purge leaves gaps between their places."""
    sql = "SELECT learning_id, position, tag FROM learning_tags WHERE space = :space AND learning_id IN (:keys)"
    return among(tx, sql, learnings)


def forget_embeddings(tx: Tx) -> None:
    """Vectors that are kept by the hash of a text alone, so that nobody can tell whose they are."""
    tx.run("DELETE FROM answers WHERE space = :space AND kind = 'embedding'")


def rehash_discovery(tx: Tx, id: str, digest: str) -> None:
    tx.run("UPDATE discoveries SET hash = :digest WHERE space = :space AND id = :id", id=id, digest=digest)


def touch(tx: Tx, table: str, ids: Collection[str], *, at: int) -> None:
    """A new version of learnings or decisions, so that an open edit cannot bring the text back, and no wording made of
    it is shown."""
    for id in sorted(ids):
        if table == "decisions":
            tx.run("DELETE FROM decision_wordings WHERE space = :space AND decision_id = :id", id=id)
        tx.run(
            f"UPDATE {table} SET version = version + 1, updated_at = :at WHERE space = :space AND id = :id",
            id=id,
            at=at,
        )


def remove_learning(tx: Tx, id: str) -> None:
    """A learning and every row that is about it. What it had replaced is archived, replaced by nothing."""
    tx.run("UPDATE discoveries SET learning_id = NULL WHERE space = :space AND learning_id = :id", id=id)
    for table in ("learning_tags", "learning_sources", "injections"):
        tx.run(f"DELETE FROM {table} WHERE space = :space AND learning_id = :id", id=id)
    _remove(tx, "learnings", id, status_of_replaced="archived")


def remove_decision(tx: Tx, id: str) -> None:
    """A decision and every row that is about it. What it had replaced is reversed, replaced by nothing."""
    for table in ("decision_tags", "decision_wordings"):
        tx.run(f"DELETE FROM {table} WHERE space = :space AND decision_id = :id", id=id)
    decisions.forget_wisdom(tx)
    _remove(tx, "decisions", id, status_of_replaced="reversed")


def remove_entry(tx: Tx, id: str) -> None:
    """What rows know of a log entry; its words are in the log."""
    passages.remove(tx, id)
    _remove_mentions(tx, id)


def remove_discovery(tx: Tx, id: str) -> None:
    """A discovery and every row that names it."""
    tx.run("UPDATE learnings SET source_discovery_id = NULL WHERE space = :space AND source_discovery_id = :id", id=id)
    tx.run("UPDATE learning_sources SET discovery_id = NULL WHERE space = :space AND discovery_id = :id", id=id)
    _remove_mentions(tx, id)
    tx.run("DELETE FROM discoveries WHERE space = :space AND id = :id", id=id)


Quotes = tuple[list[str], list[str]]
"""The ids that go together, and the texts they hold; no ids when the thing does not exist."""


def quotes_of_learning(tx: Tx, id: str) -> Quotes:
    """A learning, the raw discoveries it was made of, and everything it ever said."""
    found = learnings.many(tx, [id])
    if not found:
        return [], []
    things, texts = [id], [found[0].title, *found[0].fields]
    for event in events.of(tx, id):
        for said in (event.old, event.new):
            texts += [said[name] for name in ("title", *COIA) if isinstance(said.get(name), str)]
    rows = tx.rows(
        """
        SELECT id, content FROM discoveries WHERE space = :space AND (learning_id = :learning OR id IN (
          SELECT discovery_id FROM learning_sources WHERE space = :space AND learning_id = :learning)) ORDER BY id""",
        learning=id,
    )
    return [*things, *(discovery for discovery, _ in rows)], [*texts, *(content for _, content in rows)]


def quotes_of_discovery(tx: Tx, id: str) -> Quotes:
    found = tasks.known_discovery(tx, id)
    return ([id], [found.content]) if found else ([], [])


def quotes_of_decision(tx: Tx, id: str) -> Quotes:
    """A decision and everything it ever said."""
    found = decisions.many(tx, [id])
    if not found:
        return [], []
    texts = list(decisions.passage_of(found[0]).lines)
    for event in events.of(tx, id):
        walked([event.old, event.new], lambda text: texts.append(text) or text)  # type: ignore[func-returns-value]
    return [id], texts


def _scrubbed(tx: Tx, table: Table, scrub: Scrub) -> Iterator[tuple[Row, dict[str, Any]]]:
    """The rows of a table that hold the text: their keys and what the columns should hold instead."""
    if not table.words:
        return
    width = len(table.reading_order)
    for row in every(tx, table.name, ", ".join((*table.reading_order, *table.words)), key=width):
        values: dict[str, Any] = {}
        for name, old in zip(table.words, row[width:], strict=True):
            if old is None:
                continue
            new = _scrubbed_json(old, scrub) if name in table.shapes else scrub(old)
            if new != old:
                values[name] = new[:TITLE_LIMIT] if (table.name, name) == ("learnings", "title") else new
        if values:
            yield row[:width], values


def _scrubbed_json(text: str, scrub: Scrub) -> str:
    old = json.loads(text)
    new = walked(old, scrub)
    return text if new == old else json.dumps(new, ensure_ascii=False, sort_keys=True)


def walked(value: Any, scrub: Scrub) -> Any:
    """A value as JSON has it, with every text in it scrubbed."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, list):
        return [walked(item, scrub) for item in value]
    if isinstance(value, dict):
        return {scrub(key): walked(item, scrub) for key, item in value.items()}
    return value


def _update(tx: Tx, table: str, key: tuple[str, ...], values_of_key: Row, values: dict[str, Any]) -> None:
    where = " AND ".join(f"{name} = :key_{name}" for name in key)
    tx.run(
        f"UPDATE {table} SET {', '.join(f'{name} = :{name}' for name in values)} WHERE space = :space AND {where}",
        **values,
        **{f"key_{name}": value for name, value in zip(key, values_of_key, strict=True)},
    )


def _rename(tx: Tx, table: str, old: str, new: str) -> None:
    rest = {"outcomes": "name, created_at", "tasks": "outcome_id, title, created_at"}[table]
    tx.run(
        f"INSERT INTO {table} (space, id, {rest}) SELECT :space, :new, {rest} FROM {table} "
        "WHERE space = :space AND id = :old",
        old=old,
        new=new,
    )
    for holder, column, target in references():
        if target == table:
            tx.run(f"UPDATE {holder} SET {column} = :new WHERE space = :space AND {column} = :old", old=old, new=new)
    tx.run("UPDATE events SET subject = :new WHERE space = :space AND subject = :old", old=old, new=new)
    tx.run(f"DELETE FROM {table} WHERE space = :space AND id = :old", old=old)


def _remove(tx: Tx, table: str, id: str, *, status_of_replaced: str) -> None:
    tx.run(
        f"UPDATE {table} SET status = :status, superseded_by = NULL, version = version + 1 "
        "WHERE space = :space AND superseded_by = :id",
        id=id,
        status=status_of_replaced,
    )
    passages.remove(tx, id)
    _remove_mentions(tx, id)
    tx.run(f"DELETE FROM {table} WHERE space = :space AND id = :id", id=id)


def _remove_mentions(tx: Tx, id: str) -> None:
    """Events and matters about a thing, and those about others that name it."""
    tx.run("DELETE FROM escalations WHERE space = :space AND (subject = :id OR other = :id)", id=id)
    tx.run("DELETE FROM events WHERE space = :space AND subject = :id", id=id)
    mentions = [
        (seq,)
        for seq, old, new in every(tx, "events", "seq, old_values, new_values")
        if json.dumps(id) in old or json.dumps(id) in new
    ]
    drop(tx, "events", mentions)
