"""Rows of topics: their names and aliases, their state, and which entries belong to them.

A name or alias is found by its key (`text/topics.py`). First and last mention and the number of entries are counted
again whenever entries come or go, so that they cannot drift. A merged topic leads to its target.
"""

from __future__ import annotations

from recollect.core.clock import DAY
from recollect.core.errors import NotFound
from recollect.core.records import noun_of, record
from recollect.store import db, journal

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import date
    from typing import Any

    from recollect.core.context import Row, Tx

KIND = "topic"
_KNOWN = "EXISTS (SELECT 1 FROM topics t WHERE t.space = a.space AND t.id = a.topic_id)"  # no damaged id
QUIET = 90 * DAY  # an open topic without a mention for this long is dormant

_COLUMNS = "id, name, state, named_by, first_at, last_at, entries"
_STATES = {
    None: "",
    "open": " AND state = 'open' AND last_at >= :quiet",
    "dormant": " AND state = 'open' AND last_at < :quiet",
    "done": " AND state = 'done'",
}


@record
class TopicRow:
    """`state` is open, done or dormant; `named_by` is offline, person or model."""

    id: str
    name: str
    state: str
    named_by: str
    first_at: int
    last_at: int
    entries: int


def listed(
    tx: Tx, *, now: int, state: str | None = None, limit: int = 50, offset: int = 0
) -> tuple[list[TopicRow], int]:
    where = f"AND merged_into IS NULL{_STATES[state]}"
    params = {"quiet": now - QUIET} if ":quiet" in where else {}
    found, total = db.page(tx, "topics", _COLUMNS, where, "last_at DESC, id", limit=limit, offset=offset, **params)
    return [_row(row, now) for row in found], total


def get(tx: Tx, id: str, *, now: int) -> TopicRow:
    """A topic by its id; for a merged topic its target."""
    row = tx.row(f"SELECT {_COLUMNS}, merged_into FROM topics WHERE space = :space AND id = :id", id=id)
    if row is None:
        raise NotFound(f"There is no topic {id}. List the topics with `recollect topic list`")
    return get(tx, row[-1], now=now) if row[-1] else _row(row[:-1], now)


def keyed(tx: Tx, key: str, *, now: int) -> TopicRow | None:
    sql = f"SELECT topic_id FROM topic_aliases a WHERE space = :space AND key = :key AND {_KNOWN} ORDER BY 1 LIMIT 1"
    id = tx.value(sql, key=key)
    return get(tx, id, now=now) if id else None


def found(tx: Tx, topic: str, key: str, *, now: int) -> TopicRow:
    """A topic by its id, or by the key of a name or alias."""
    known = get(tx, topic, now=now) if noun_of(topic) == KIND else keyed(tx, key, now=now)
    if known is None:
        raise NotFound(f"There is no topic {topic!r:.80}. List the topics with `recollect topic list`")
    return known


def of_entries(tx: Tx, ids: Sequence[str], *, now: int) -> dict[str, tuple[TopicRow, ...]]:
    """The topics of entries, first before second; entries without a topic are left out."""
    sql = (
        f"SELECT e.entry_id, e.place, t.{_COLUMNS} FROM topic_entries e JOIN topics t ON t.space = e.space "
        "AND t.id = e.topic_id WHERE e.space = :space AND e.entry_id IN (:keys)"
    )
    found: dict[str, tuple[TopicRow, ...]] = {}
    for entry, _, *row in sorted(db.among(tx, sql, list(ids)), key=lambda row: row[:2]):
        found[entry] = (*found.get(entry, ()), _row(row, now))
    return found


def first_of(tx: Tx, ids: Sequence[str]) -> dict[str, str]:
    sql = "SELECT entry_id, topic_id FROM topic_entries a WHERE space = :space AND place = 1 AND entry_id IN (:keys)"
    return dict(db.among(tx, f"{sql} AND {_KNOWN}", list(ids)))


def first_name(tx: Tx, entry: str) -> str:
    return next((found[0].name for found in of_entries(tx, [entry], now=0).values()), "")


def names_between(tx: Tx, first: date, last: date) -> dict[str, str]:
    """The names of entries' first topics, by the entries' references (`2026-03-02#1`)."""
    sql = (  # +place: no skip scan
        "SELECT e.entry_id, t.name FROM topic_entries e JOIN topics t ON t.space = e.space AND t.id = e.topic_id "
        "WHERE e.space = :space AND +e.place = 1 AND e.entry_id >= :first AND e.entry_id < :after ORDER BY e.entry_id"
    )
    found = tx.rows(sql, first=f"log/{first}", after=f"log/{last}$")
    return {id.removeprefix("log/"): name for id, name in found}


def sizes(tx: Tx, ids: Sequence[str]) -> dict[str, int]:
    return dict(db.among(tx, "SELECT id, entries FROM topics WHERE space = :space AND id IN (:keys)", list({*ids})))


def entries_of(tx: Tx, id: str, *, limit: int = 1_000_000, offset: int = 0) -> list[tuple[str, int]]:
    """The entries of a topic with their times, newest first."""
    sql = (
        "SELECT entry_id, at FROM topic_entries WHERE space = :space AND topic_id = :id "
        "ORDER BY at DESC, entry_id DESC LIMIT :limit OFFSET :offset"
    )
    return tx.rows(sql, id=id, limit=limit, offset=offset)


def last_of(tx: Tx, *, session: str = "", since: int = 0, limit: int = 1) -> list[tuple[str, str]]:
    of_session = "AND session = :session " if session else ""
    sql = (
        f"SELECT entry_id, topic_id FROM topic_entries a WHERE space = :space {of_session}AND place = 1 "
        f"AND at >= :since AND {_KNOWN} ORDER BY at DESC, entry_id DESC LIMIT :limit"
    )
    params = {"session": session} if session else {}
    return tx.rows(sql, since=since, limit=limit, **params)


def latest(tx: Tx, *, session: str | None = None, since: int = 0) -> str | None:
    """The first topic of the latest entry of a session, or since a moment; none where a session is not known."""
    return (
        next((topic for _, topic in last_of(tx, session=session or "", since=since)), None)
        if session or since
        else None
    )


def of_one_session(tx: Tx, id: str, session: str) -> bool:
    sql = "SELECT 1 FROM topic_entries WHERE space = :space AND topic_id = :id AND session <> :session LIMIT 1"
    return not tx.rows(sql, id=id, session=session)


def aliases(tx: Tx, id: str) -> list[tuple[str, str]]:
    sql = "SELECT alias, key FROM topic_aliases WHERE space = :space AND topic_id = :id ORDER BY position"
    return tx.rows(sql, id=id)


def add(tx: Tx, id: str, *, name: str, key: str, named_by: str, at: int) -> None:
    values = {"first_at": at, "last_at": at, "entries": 0, "merged_into": None}
    db.add_row(tx, "topics", id=id, name=name, state="open", named_by=named_by, **values)
    put_aliases(tx, id, [(name, key)])


def change(tx: Tx, id: str, **values: Any) -> None:
    """Set columns of a topic. The tree is told of a new name."""
    if values.get("name", name := columns(tx, id)["name"]) != name:
        day = "substr(entry_id, 5, 10)"  # of log/2026-03-02#1
        sql = f"SELECT {day} FROM topic_entries WHERE space = :space AND topic_id = :id AND place = 1 GROUP BY 1"
        journal.regroup(tx, [found for (found,) in tx.rows(sql, id=id)])
    db.update(tx, "topics", {"id": id}, **values)


def columns(tx: Tx, id: str) -> dict[str, Any]:
    row = tx.row("SELECT name, state, named_by, merged_into FROM topics WHERE space = :space AND id = :id", id=id)
    return dict(zip(("name", "state", "named_by", "merged_into"), row or (None,) * 4, strict=True))


def put_aliases(tx: Tx, id: str, names: Iterable[tuple[str, str]]) -> None:
    tx.run("DELETE FROM topic_aliases WHERE space = :space AND topic_id = :id", id=id)
    by_key = {key: alias for alias, key in names}
    for position, (key, alias) in enumerate(by_key.items()):
        db.add_row(tx, "topic_aliases", topic_id=id, position=position, alias=alias, key=key)


def put_entry(tx: Tx, entry: str, topics: Sequence[str], *, session: str, at: int) -> list[str]:
    """Set the topics of an entry, first before second; returns the old ones."""
    sql = "SELECT topic_id FROM topic_entries WHERE space = :space AND entry_id = :id ORDER BY place"
    found = tx.rows(sql, id=entry)
    tx.run("DELETE FROM topic_entries WHERE space = :space AND entry_id = :id", id=entry)
    for place, topic in enumerate(dict.fromkeys(topics), start=1):
        db.add_row(tx, "topic_entries", entry_id=entry, place=place, topic_id=topic, session=session, at=at)
    before = [id for (id,) in found]
    if before and before[:1] != [*topics[:1]]:
        journal.regroup(tx, [entry[4:14]])
    _count_again(tx, {*topics, *before})
    return before


def move(tx: Tx, entries: Sequence[str], source: str, target: str) -> list[str]:
    """Move entries from one topic to another; returns those that moved. An entry with both keeps only the target."""
    moved = []
    for entry in entries:
        held = tx.rows(
            "SELECT topic_id, session, at FROM topic_entries WHERE space = :space AND entry_id = :id ORDER BY place",
            id=entry,
        )
        if any(topic == source for topic, _, _ in held):
            topics = [target if topic == source else topic for topic, _, _ in held]
            put_entry(tx, entry, topics, session=held[0][1], at=held[0][2])
            moved.append(entry)
    return moved


def absorb(tx: Tx, keep: str, gone: str) -> None:
    """Move the entries and names of a topic to another, to which its id leads from now on."""
    move(tx, [entry for entry, _ in entries_of(tx, gone)], gone, keep)
    put_aliases(tx, keep, [*aliases(tx, keep), *aliases(tx, gone)])
    put_aliases(tx, gone, [])
    change(tx, gone, merged_into=keep)


def state(tx: Tx, id: str) -> dict[str, Any]:
    """What a change of a topic may differ in: columns, names and entries."""
    names = [alias for alias, _ in aliases(tx, id)]
    return {**columns(tx, id), "aliases": names, "entries": [entry for entry, _ in entries_of(tx, id)]}


def also(tx: Tx, entry: str, topic: str) -> None:
    sql = "SELECT topic_id, session, at FROM topic_entries WHERE space = :space AND entry_id = :id AND place = 1"
    if row := tx.row(sql, id=entry):
        put_entry(tx, entry, [row[0], topic], session=row[1], at=row[2])


def remove(tx: Tx, id: str) -> None:
    """Delete a topic with its names and all topics that were merged into it."""
    for (merged,) in tx.rows("SELECT id FROM topics WHERE space = :space AND merged_into = :id", id=id):
        remove(tx, merged)
    for table, column in (("topic_aliases", "topic_id"), ("topic_entries", "topic_id"), ("topics", "id")):
        tx.run(f"DELETE FROM {table} WHERE space = :space AND {column} = :id", id=id)


def mend(tx: Tx) -> None:
    """Give names and entries under an id that no topic has to the topic that lost them, which has their name and no
    alias; without one they go, and the entries get a topic anew."""
    for table in ("topic_aliases", "topic_entries"):
        for (id,) in tx.rows(f"SELECT DISTINCT topic_id FROM {table} a WHERE space = :space AND NOT {_KNOWN}"):
            owner = tx.value(
                "SELECT t.id FROM topics t JOIN topic_aliases a ON a.space = t.space AND a.alias = t.name "
                "WHERE t.space = :space AND a.topic_id = :id AND merged_into IS NULL AND NOT EXISTS (SELECT 1 FROM "
                "topic_aliases b WHERE b.space = t.space AND b.topic_id = t.id) LIMIT 1",
                id=id,
            )
            for each in ("topic_entries", "topic_aliases"):
                if owner:
                    tx.run(f"UPDATE {each} SET topic_id = :to WHERE space = :space AND topic_id = :id", to=owner, id=id)
                else:
                    tx.run(f"DELETE FROM {each} WHERE space = :space AND topic_id = :id", id=id)
            _count_again(tx, [owner] if owner else [])
    lost = "merged_into NOT IN (SELECT id FROM topics t WHERE t.space = topics.space)"
    tx.run(f"UPDATE topics SET merged_into = NULL WHERE space = :space AND {lost}")


def _count_again(tx: Tx, ids: Iterable[str]) -> None:
    of = "FROM topic_entries e WHERE e.space = topics.space AND e.topic_id = topics.id"
    for id in sorted(ids):
        tx.run(
            f"UPDATE topics SET entries = (SELECT count(*) {of}), first_at = coalesce((SELECT min(e.at) {of}), "
            f"first_at), last_at = coalesce((SELECT max(e.at) {of}), last_at) WHERE space = :space AND id = :id",
            id=id,
        )


def _row(row: Sequence[Any] | Row, now: int) -> TopicRow:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    if values["state"] == "open" and values["last_at"] < now - QUIET:
        values["state"] = "dormant"
    return TopicRow(**values)
