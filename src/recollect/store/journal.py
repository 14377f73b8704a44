"""Rows of the journal: entries as last read, logs, nodes, the day each session began, and what each clone read.

An entry's row stays when its file goes; only `purge` and undo empty it.

Staged learnings and permanent documents are files that every clone has for itself, while a space is searched as one. So
a reading says which clone read which file, with which stamp and which passages; a passage stays while some clone's file
holds it. The readings of a clone that read nothing new for a month are deleted; if it lives, it reads its files again.
Knows nothing about how a node is made; a capsule is a text here.
"""

from __future__ import annotations

from datetime import date

from recollect.core.clock import DAY
from recollect.core.records import record
from recollect.store import db

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from recollect.core.choices import Trust
    from recollect.core.context import Context, Tx
    from recollect.core.journal import NodeStatus

_LOG_END = "end of log"
PURGED = "purged"  # in place of the hash of an entry whose words are gone


@record
class LogRow:
    day: date
    stamp: str
    hash: str
    entries: int


@record
class EntryRow:
    """An entry without its text; see the migration for the columns."""

    number: int
    place: int
    key: str
    hash: str
    held: bool
    secret: bool
    trust: Trust
    who: str
    at: int

    @property
    def purged(self) -> bool:
        return self.hash == PURGED

    @property
    def words(self) -> str:
        return self.hash.partition(":")[0]


@record
class LogEnd:
    """The end of a log at this stamp: its last entry, which is ours, and the characters of all entries."""

    stamp: str
    number: int
    size: int


@record
class NodeRow:
    """`waiting`: a model is still to write the node, which now has its offline text."""

    id: str
    level: str
    first_day: date
    status: NodeStatus
    source_key: str
    body_hash: str
    generator: str
    topics: tuple[tuple[str, str], ...]  # each with its type
    incomplete: tuple[str, ...]
    capsule: str
    tokens: int
    waiting: bool
    made_at: int


def session_day(tx: Tx, session: str, today: date) -> date:
    found = tx.value("SELECT day FROM sessions WHERE space = :space AND id = :id", id=session)
    if found is None:
        db.add_row(tx, "sessions", id=session, day=today)
        return today
    return date.fromisoformat(found)


def entry_rows(tx: Tx, day: date) -> list[EntryRow]:
    return db.select(tx, EntryRow, "log_entries", "AND day = :day ORDER BY place, number", day=day)


def entry_texts(tx: Tx, day: date, numbers: Collection[int]) -> dict[int, str]:
    sql = "SELECT number, text FROM log_entries WHERE space = :space AND day = :day AND number IN (:keys)"
    return dict(db.among(tx, sql, list(numbers), day=day.isoformat()))


def last_number(tx: Tx, day: date) -> int:
    return tx.value("SELECT max(number) FROM log_entries WHERE space = :space AND day = :day", day=day.isoformat()) or 0


def entry_keys(tx: Tx, day: date) -> set[str]:
    sql = "SELECT key FROM log_entries WHERE space = :space AND day = :day AND key <> ''"
    return {key for (key,) in tx.rows(sql, day=day.isoformat())}


def put_entry(tx: Tx, day: date, row: EntryRow, text: str | None = None) -> None:
    """Write an entry; without a text the old one stays."""
    if text is None:
        db.update(tx, "log_entries", {"day": day, "number": row.number}, **vars(row))
    else:
        db.put_row(tx, "log_entries", "day, number", day=day, text=text, **vars(row))


def empty_entry(tx: Tx, day: date, number: int, *, text: str, **more: str) -> None:
    """Delete an entry's text. Its number is not given again, and its key tells it from a new one."""
    db.update(tx, "log_entries", {"day": day, "number": number}, text=text, hash=PURGED, secret=0, **more)


def hash_again(tx: Tx, hashed: Callable[[date, str], str]) -> None:
    """Hash the texts again after a purge: a hash of few words would give them away."""
    for day, number, hash, text in list(hashed_texts(tx)):
        if (now := hashed(day, text)) != hash:
            db.update(tx, "log_entries", {"day": day, "number": number}, hash=now)


def hashed_texts(tx: Tx) -> Iterator[tuple[date, int, str, str]]:
    for day, number, hash, text in db.every(tx, "log_entries", "day, number, hash, text", key=2):
        if hash != PURGED:
            yield date.fromisoformat(day), number, hash, text


def entry_days(tx: Tx) -> list[date]:
    sql = "SELECT day FROM log_entries WHERE space = :space GROUP BY day ORDER BY day"
    return [date.fromisoformat(day) for (day,) in tx.rows(sql)]


def days_with(tx: Tx, *, held: bool, secret: bool = False) -> dict[date, int]:
    """How many entries of each day the file holds, or does not hold; with `secret` only those with a secret. Purged
    entries do not count."""
    sql = (
        "SELECT day, count(*) FROM log_entries WHERE space = :space AND held = :held AND secret >= :least "
        "AND hash <> :purged GROUP BY day ORDER BY day"
    )
    found = tx.rows(sql, held=int(held), least=int(secret), purged=PURGED)
    return {date.fromisoformat(day): count for day, count in found}


def days_of_others(tx: Tx) -> dict[date, int]:
    """How many external entries of each day no caller of this store wrote."""
    sql = (
        "SELECT day, count(*) FROM log_entries WHERE space = :space AND trust = 'external' AND who = '' "
        "AND hash <> :purged GROUP BY day ORDER BY day"
    )
    return {date.fromisoformat(day): count for day, count in tx.rows(sql, purged=PURGED)}


def log_end(tx: Tx, day: date) -> LogEnd | None:
    """The end of a day's log; known only of the log that was written last."""
    known, _, rest = state(tx, _LOG_END).partition(" ")
    if known != day.isoformat():
        return None
    try:
        number, size, stamp = rest.split(" ")
        return LogEnd(stamp=stamp, number=int(number), size=int(size))
    except ValueError:
        return None  # it does not read back; the caller reads the log


def put_log_end(tx: Tx, day: date, end: LogEnd) -> None:
    put_state(tx, _LOG_END, f"{day.isoformat()} {end.number} {end.size} {end.stamp}")


def forget_log_end(tx: Tx) -> None:
    put_state(tx, _LOG_END, "")


def log_stamps(tx: Tx, since: date) -> dict[str, str]:
    sql = "SELECT day, stamp FROM logs WHERE space = :space AND day >= :since ORDER BY day"
    return dict(tx.rows(sql, since=since.isoformat()))


def entry_counts(tx: Tx) -> dict[date, int]:
    """How many entries of each log are searchable; `logs.entries` holds the count of the last compaction."""
    day = "substr(id, 5, 10)"  # of log/2026-03-02#1
    found = tx.rows(f"SELECT {day}, count(*) FROM passages WHERE space = :space AND kind = 'log' GROUP BY {day}")
    return {date.fromisoformat(day): entries for day, entries in found}


def log(tx: Tx, day: date) -> LogRow | None:
    return db.one(tx, LogRow, "logs", "AND day = :day", day=day)


def put_log(tx: Tx, row: LogRow) -> None:
    db.put_row(tx, "logs", "day", **vars(row))


def days_until(tx: Tx, day: date, *, limit: int) -> list[date]:
    """The last days with a log up to a day, ascending."""
    sql = "SELECT day FROM logs WHERE space = :space AND day <= :day ORDER BY day DESC LIMIT :limit"
    return [date.fromisoformat(row[0]) for row in reversed(tx.rows(sql, day=day.isoformat(), limit=limit))]


def node(tx: Tx, id: str) -> NodeRow | None:
    return db.one(tx, NodeRow, "nodes", "AND id = :id", id=id)


def nodes_between(tx: Tx, level: str, first: date, last: date) -> list[NodeRow]:
    between = "AND level = :level AND first_day BETWEEN :first AND :last ORDER BY first_day"
    return db.select(tx, NodeRow, "nodes", between, level=level, first=first, last=last)


def ids(tx: Tx) -> list[str]:
    return [id for (id,) in tx.rows("SELECT id FROM nodes WHERE space = :space ORDER BY level, first_day")]


def months(tx: Tx) -> dict[str, tuple[str, str]]:
    """The hashes of the months' bodies and sources, by id, in order."""
    sql = "SELECT id, body_hash, source_key FROM nodes WHERE space = :space AND level = 'monthly' ORDER BY first_day"
    return {id: (said, made_from) for id, said, made_from in tx.rows(sql)}


def capsules(tx: Tx, ids: Sequence[str]) -> list[str]:
    sql = "SELECT capsule FROM nodes WHERE space = :space AND id = :id"
    return [tx.value(sql, id=id) for id in ids]


def tentative(tx: Tx, level: str) -> list[NodeRow]:
    where = "AND status = 'tentative' AND level = :level ORDER BY first_day"
    return db.select(tx, NodeRow, "nodes", where, level=level)


def unsettled(tx: Tx) -> list[tuple[str, str, bool]]:
    """(id, status, waits for a model) of every node that is not final, in order."""
    sql = (
        "SELECT id, status, waiting FROM nodes WHERE space = :space AND (status = 'tentative' OR waiting = 1) "
        "ORDER BY level, first_day"
    )
    return [(id, status, bool(waiting)) for id, status, waiting in tx.rows(sql)]


def longest_waiting(tx: Tx, level: str) -> NodeRow | None:
    more = "AND waiting = 1 AND level = :level ORDER BY made_at, first_day LIMIT 1"
    return db.one(tx, NodeRow, "nodes", more, level=level)


def wait_again(tx: Tx, id: str, *, at: int) -> None:
    """After a model failed on this node, other waiting nodes come first."""
    db.update(tx, "nodes", {"id": id}, made_at=at)


def generators(tx: Tx, level: str) -> list[str]:
    sql = "SELECT generator FROM nodes WHERE space = :space AND level = :level GROUP BY generator ORDER BY generator"
    return [generator for (generator,) in tx.rows(sql, level=level)]


def set_waiting(tx: Tx, level: str, generator: str, *, waiting: bool) -> None:
    db.update(tx, "nodes", {"level": level, "generator": generator}, waiting=waiting)


def put_node(tx: Tx, row: NodeRow) -> None:
    db.put_row(tx, "nodes", "id", **vars(row))


def counts(tx: Tx) -> list[tuple[str, str, int, int]]:
    """Level, status, how many nodes, how many of them wait for a model."""
    sql = """
        SELECT level, status, count(*), sum(waiting) FROM nodes
        WHERE space = :space GROUP BY level, status ORDER BY level, status"""
    return tx.rows(sql)


def incomplete(tx: Tx) -> list[NodeRow]:
    return db.select(tx, NodeRow, "nodes", "AND incomplete <> '[]' ORDER BY first_day, id")


UNREADABLE = "unreadable"


def unreadable_logs(tx: Tx) -> list[str]:
    """The logs that the last pass could not read; every pass tries them again."""
    return state(tx, UNREADABLE).split()


def state(tx: Tx, name: str) -> str:
    return tx.value("SELECT value FROM tree_state WHERE space = :space AND name = :name", name=name) or ""


def put_state(tx: Tx, name: str, value: str) -> None:
    db.put_row(tx, "tree_state", "name", name=name, value=value)


REGROUPED = "regrouped"  # how often topics changed since the last pass, and the days of their entries


def regroup(tx: Tx, days: Collection[str]) -> None:
    """Record that entries of some days belong to another topic, or to one with another name."""
    times, *known = (state(tx, REGROUPED) or "0").split()
    put_state(tx, REGROUPED, " ".join([str(int(times) + 1), *sorted({*known, *days})]))


def forget_tree(tx: Tx) -> None:
    """Delete all rows here that can be made again."""
    for table in ("logs", "nodes", "tree_state"):
        tx.run(f"DELETE FROM {table} WHERE space = :space")


FORGOTTEN_AFTER = 30 * DAY  # a month, as the docstring says; chosen


def readings_of(ctx: Context) -> dict[str, str]:
    sql = "SELECT source, stamp FROM readings WHERE space = :space AND clone = :clone"
    with ctx.db.read(ctx.space) as tx:
        return dict(tx.rows(sql, clone=ctx.clone))


def held_here(tx: Tx, clone: str, *, source: str) -> set[str]:
    """The passages that a clone last found in a source."""
    sql = "SELECT ids FROM readings WHERE space = :space AND source = :source AND clone = :clone"
    return {id for (ids,) in tx.rows(sql, source=source, clone=clone) for id in ids.split("\n")}


def held_elsewhere(tx: Tx, clone: str, *, source: str) -> set[str]:
    """The passages that other clones found in a source."""
    sql = "SELECT ids FROM readings WHERE space = :space AND source = :source AND clone <> :clone"
    return {id for (ids,) in tx.rows(sql, source=source, clone=clone) for id in ids.split("\n")}


def all_readings(tx: Tx) -> set[str]:
    return {id for (ids,) in tx.rows("SELECT ids FROM readings WHERE space = :space") for id in ids.split("\n")}


def put_reading(tx: Tx, clone: str, source: str, *, stamp: str, ids: Collection[str], at: int) -> None:
    """Record how a clone read a source; without a stamp the source is gone and is deleted."""
    tx.run(
        "DELETE FROM readings WHERE space = :space AND source = :source AND (clone = :clone OR at < :long_ago)",
        source=source,
        clone=clone,
        long_ago=at - FORGOTTEN_AFTER,
    )
    if stamp:
        db.add_row(tx, "readings", clone=clone, source=source, stamp=stamp, ids="\n".join(ids), at=at)


def keep_only_readings(tx: Tx, clone: str, *, without: Collection[str]) -> None:
    """Delete the readings of other clones, and the passages in `without` from this clone's."""
    tx.run("DELETE FROM readings WHERE space = :space AND clone <> :clone", clone=clone)
    for source, ids in tx.rows("SELECT source, ids FROM readings WHERE space = :space"):
        left = [id for id in ids.split("\n") if id not in without]
        db.update(tx, "readings", {"source": source}, ids="\n".join(left))


def forget_readings(tx: Tx, clone: str, *, besides: str) -> None:
    """Have every clone read its files again; this one keeps its reading of the source `besides`."""
    sql = "DELETE FROM readings WHERE space = :space AND NOT (clone = :clone AND source = :besides)"
    tx.run(sql, clone=clone, besides=besides)
