"""What both engines share: transactions, rows, pages, leases, and the grades of the word index.

An engine gives an `EngineSession`. `Transaction` adds what must hold on every engine: each statement names its space,
and work that belongs to a commit runs once, just before it.

A lease lets one process at a time do a long piece of work without a lock. It expires by the process's own clock, so a
killed holder blocks others only for a while; a lease from the future comes from a clock that was ahead, and counts as
expired. Its fence grows each time it is taken: a holder that was overtaken sees an old fence and must not write.

The word index keeps the terms of a passage in two grades, main and mentioned, because candidates are chosen by the
index alone, before any passage is read. A change to the grades needs `recollect store rebuild`.

Names of tables and columns are ours, never a caller's.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache

from recollect.core.clock import MINUTE
from recollect.core.context import Context, Tx
from recollect.core.errors import Refused, Stale, Trouble
from recollect.core.records import loads, record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    from recollect.core.context import Row, Vectors

    T = TypeVar("T")
else:
    Protocol = object


def add_row(tx: Tx, table: str, /, **values: Any) -> None:
    tx.run(insertion(table, tuple(values)), **_stored(values))


def add_row_once(tx: Tx, table: str, key: str, /, **values: Any) -> bool:
    """Insert a row unless one has the same `key` columns; whether it was inserted."""
    return bool(tx.run(insertion(table, tuple(values), key), **_stored(values)))


def put_row(tx: Tx, table: str, key: str, /, **values: Any) -> None:
    tx.run(insertion(table, tuple(values), key, replace=True), **_stored(values))


def update(tx: Tx, table: str, key: Mapping[str, Any], /, **values: Any) -> int:
    """Set columns of the rows with this key; returns their number."""
    wanted = {f"key_{name}": key[name] for name in key}
    return tx.run(_updating(table, tuple(key), tuple(values)), **_stored({**values, **wanted}))


@cache
def _updating(table: str, key: tuple[str, ...], names: tuple[str, ...]) -> str:
    changes = ", ".join(f"{name} = :{name}" for name in names)
    return f"UPDATE {table} SET {changes} WHERE space = :space" + "".join(f" AND {name} = :key_{name}" for name in key)


def select(tx: Tx, kind: type[T], table: str, more: str = "", /, **params: Any) -> list[T]:
    """Records whose fields are named after a table's columns; `more` holds conditions and an order."""
    found = tx.rows(f"SELECT {columns_of(kind)} FROM {table} WHERE space = :space {more}", **_stored(params))
    return [record_from(kind, row) for row in found]


def one(tx: Tx, kind: type[T], table: str, more: str = "", /, **params: Any) -> T | None:
    return next(iter(select(tx, kind, table, more, **params)), None)


def count(tx: Tx, table: str, more: str = "", /, **params: Any) -> int:
    return int(tx.value(f"SELECT count(*) FROM {table} WHERE space = :space {more}", **params))


def page(
    tx: Tx, table: str, columns: str, more: str, order: str, /, *, limit: int, offset: int, **params: Any
) -> tuple[list[Row], int]:
    """Some rows of a list, and how many it has in all."""
    sql = f"SELECT {columns} FROM {table} WHERE space = :space {more} ORDER BY {order} LIMIT :limit OFFSET :offset"
    return tx.rows(sql, **params, limit=limit, offset=offset), count(tx, table, more, **params)


def save(tx: Tx, table: str, id: str, /, *, expect: int, **values: Any) -> None:
    """Write an edited learning or decision; refused if it is no longer at version `expect`."""
    if not update(tx, table, {"id": id, "version": expect}, **values):
        raise Stale(f"{id} was changed in the meantime; read it again and repeat your edit")


def tags_of(tx: Tx, noun: str, ids: Sequence[str]) -> dict[str, list[str]]:
    """The tags of learnings or decisions, in order; ids without tags are left out."""
    found: dict[str, list[str]] = {}
    sql = f"SELECT {noun}_id, tag FROM {noun}_tags WHERE space = :space AND {noun}_id IN (:keys)"
    for id, tag in among(tx, f"{sql} ORDER BY {noun}_id, position", ids):
        found.setdefault(id, []).append(tag)
    return found


def write_tags(tx: Tx, noun: str, tags: Mapping[str, Sequence[str]]) -> None:
    tx.run_many(f"DELETE FROM {noun}_tags WHERE space = :space AND {noun}_id = :id", ({"id": id} for id in tags))
    tx.run_many(
        f"INSERT INTO {noun}_tags (space, {noun}_id, position, tag) VALUES (:space, :id, :position, :tag)",
        ({"id": id, "position": place, "tag": tag} for id in tags for place, tag in enumerate(tags[id])),
    )


def replaced(tx: Tx, table: str, id: str) -> list[str]:
    sql = f"SELECT id FROM {table} WHERE space = :space AND superseded_by = :id ORDER BY id"
    return [row[0] for row in tx.rows(sql, id=id)]


def successors(tx: Tx, table: str, id: str) -> list[str]:
    """The chain of learnings or decisions that replaced this one, nearest first."""
    chain: list[str] = []
    sql = f"SELECT superseded_by FROM {table} WHERE space = :space AND id = :id"
    while (after := tx.value(sql, id=chain[-1] if chain else id)) is not None and after not in chain:
        chain.append(after)
    return chain


def columns_of(kind: Any) -> str:
    return ", ".join(kind.__annotations__)


def record_from(kind: type[T], row: Sequence[Any]) -> T:
    """A record from its columns, each converted to its declared type."""
    values = dict(zip(kind.__annotations__, row, strict=True))
    for name, declared in kind.__annotations__.items():
        if declared in _READERS:
            values[name] = _READERS[declared](values[name])
    return kind(**values)


def _day(text: str) -> Any:
    from datetime import date  # what is shown to a task has none

    return date.fromisoformat(text)


_READERS: dict[str, Callable[[Any], Any]] = {
    "bool": bool,
    "date": _day,
    "dict[str, Any]": loads,
    "tuple[str, ...]": lambda text: tuple(loads(text)),
    "tuple[tuple[str, str], ...]": lambda text: tuple(map(tuple, loads(text))),
}
"""Converters by declared type; other columns are used unchanged."""


def _stored(values: dict[str, Any]) -> dict[str, Any]:
    """Values as columns hold them: flags as numbers, days as ISO dates, lists and objects as JSON."""
    return {name: _column(value) for name, value in values.items()}


def _column(value: Any) -> Any:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, tuple | list | dict):
        import json  # what is shown to a task has none

        return json.dumps(value, ensure_ascii=False)
    return value.isoformat() if hasattr(value, "isoformat") else value


@cache
def insertion(table: str, names: tuple[str, ...], key: str = "", *, replace: bool = False) -> str:
    """The statement that adds a row; with a key, an existing row stays or is replaced."""
    sql = f"INSERT INTO {table} (space, {', '.join(names)}) VALUES (:space, :{', :'.join(names)})"
    if not key:
        return sql
    change = ", ".join(f"{name} = excluded.{name}" for name in names if name not in key.split(", "))
    return f"{sql} ON CONFLICT (space, {key}) DO {f'UPDATE SET {change}' if replace else 'NOTHING'}"


PAGE = 500  # rows of one statement: large enough that its cost per row is flat, small enough for memory
KEYS = 100  # in one statement: SQLite compares each parameter name with all before it


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
    """The rows of a statement with `IN (:keys)`; the order holds only within a page of keys."""
    for start in range(0, len(keys), KEYS):
        page = {f"key{i}": key for i, key in enumerate(keys[start : start + KEYS])}
        yield from tx.rows(sql.replace(":keys", f":{', :'.join(page)}"), **page, **params)


CLOCKS_APART = MINUTE  # most that a team's clocks may differ; a lease from further ahead does not count


@record
class Lease:
    name: str
    owner: str
    fence: int


def is_live(now: int, *, taken_at: int, expires_at: int) -> bool:
    return now < expires_at and taken_at <= now + CLOCKS_APART


def take_lease(ctx: Context, name: str, *, seconds: float) -> Lease | None:
    owner = ctx.ids("lease")
    now = ctx.wall_clock.now()
    with ctx.db.write(ctx.space) as tx:
        sql = "SELECT fence, taken_at, expires_at FROM leases WHERE space = :space AND name = :name"
        held = tx.row(sql, name=name)
        if held and is_live(now, taken_at=held[1], expires_at=held[2]):
            return None
        fence = (held[0] if held else 0) + 1
        until = now + round(seconds * 1000)
        put_row(tx, "leases", "name", name=name, owner=owner, fence=fence, taken_at=now, expires_at=until)
    return Lease(name=name, owner=owner, fence=fence)


def renew_lease(ctx: Context, lease: Lease, *, seconds: float) -> None:
    now = ctx.wall_clock.now()
    with ctx.db.write(ctx.space) as tx:
        check_lease(tx, lease)
        update(tx, "leases", {"name": lease.name}, taken_at=now, expires_at=now + round(seconds * 1000))


def release_lease(ctx: Context, lease: Lease) -> None:
    """End a lease early; its fence stays, so it only grows. A lease that cannot be released expires."""
    with suppress(Trouble), ctx.db.write(ctx.space) as tx:
        update(tx, "leases", {"name": lease.name, "owner": lease.owner}, expires_at=0)


def check_lease(tx: Tx, lease: Lease) -> None:
    """Call inside the transaction that writes the result of leased work."""
    fence = tx.value("SELECT fence FROM leases WHERE space = :space AND name = :name", name=lease.name)
    if fence != lease.fence:
        raise Refused(f"Another process took over {lease.name}, so this process changed nothing")


HEADER_LINES = 3  # title, who, keywords: the first lines of a passage's terms
LENGTH_WEIGHT = 0.9  # how much a long text has to repeat a word before it counts as a main word of it
TYPICAL_LENGTH = 40  # terms of a learning, the most common passage


def expected(length: int) -> float:
    """How often a text of `length` terms repeats its main words; 1 for one of typical length."""
    return (1 - LENGTH_WEIGHT) + LENGTH_WEIGHT * length / TYPICAL_LENGTH


def graded(stream: str) -> tuple[set[str], set[str]]:
    """The main terms of a passage (in its header, or as often as its length suggests), and the others."""
    *header, text = stream.split("\n", HEADER_LINES)
    tokens = text.split()
    strong = set(" ".join(header).split())
    often = expected(len(tokens))
    if often <= 1:
        return strong.union(tokens), set()
    said: set[str] = set()
    if often <= 2:  # most texts; seeing a second mention takes two thirds of the time of counting
        strong.update([term for term in tokens if term in said or said.add(term)])  # type: ignore[func-returns-value]
    else:
        strong.update([term for term, count in Counter(tokens).items() if count >= often])
        said.update(tokens)
    return strong, said - strong


def index_tokens(space: int, strong: Iterable[str], others: Iterable[str]) -> str:
    """A passage's terms as the index keeps them, separated by spaces, prefixed with space number and grade."""
    return f"{_under(f'{space}+', strong)} {_under(f'{space}:', others)}".strip()


def _under(prefix: str, terms: Iterable[str]) -> str:
    joined = f" {prefix}".join(terms)  # adding it to each takes twice as long
    return prefix + joined if joined else ""


Entry = tuple[int, str, "Sequence[tuple[int, Any]]"]  # a passage's number, its kind, and its pieces' unit vectors


class EngineSession(Protocol):
    def execute(self, sql: str, params: Mapping[str, Any]) -> list[Row]: ...
    def execute_many(self, sql: str, many: Iterable[Mapping[str, Any]], *, returning: bool) -> list[Row]: ...
    def changes(self) -> int: ...

    def columns(self, table: str) -> Sequence[str]: ...
    def index(self, doc: int, tokens: str) -> None: ...
    def unindex(self, doc: int) -> None: ...
    def match(self, tokens: Sequence[str], within: Sequence[str]) -> list[Sequence[int]]: ...
    @property
    def keeps_vectors(self) -> bool: ...
    def vectors(self, space: str, model: int) -> Vectors: ...
    def flush(self) -> None:
        """Write what `index` buffered; called before the commit."""


class Transaction:
    """See the protocol `Tx`."""

    def __init__(self, space: str, session: EngineSession, number: int):
        self._space = space
        self._session = session
        self._number = number
        self._last: dict[Callable[[Tx, Counter[str]], None], Counter[str]] = {}

    @property
    def space(self) -> str:
        return self._space

    def rows(self, sql: str, **params: Any) -> list[Row]:
        _refuse_without_space(sql)
        return self._session.execute(sql, {**params, "space": self._space})

    def row(self, sql: str, **params: Any) -> Row | None:
        found = self.rows(sql, **params)
        return found[0] if found else None

    def value(self, sql: str, **params: Any) -> Any:
        found = self.rows(sql, **params)
        return found[0][0] if found else None

    def run(self, sql: str, **params: Any) -> int:
        self.rows(sql, **params)
        return self._session.changes()

    def run_many(self, sql: str, many: Iterable[dict[str, Any]]) -> None:
        self._many(sql, many, returning=False)

    def rows_many(self, sql: str, many: Iterable[dict[str, Any]]) -> list[Row]:
        return self._many(sql, many, returning=True)

    def _many(self, sql: str, many: Iterable[dict[str, Any]], *, returning: bool) -> list[Row]:
        _refuse_without_space(sql)
        return self._session.execute_many(sql, map(self._in_space, many), returning=returning)

    def _in_space(self, params: dict[str, Any]) -> dict[str, Any]:
        params["space"] = self._space
        return params

    def columns(self, table: str) -> Sequence[str]:
        return self._session.columns(table)

    def index(self, doc: int, strong: Iterable[str], others: Iterable[str]) -> None:
        self._session.index(doc, index_tokens(self._number, strong, others))

    def unindex(self, doc: int) -> None:
        self._session.unindex(doc)

    def match(self, terms: Sequence[str], *, within: Sequence[str] = ()) -> list[tuple[Sequence[int], Sequence[int]]]:
        graded, scope = (index_tokens(self._number, some, some).split() for some in (terms, within))
        found = self._session.match(graded, scope)
        return list(zip(found[: len(terms)], found[len(terms) :], strict=True))

    @property
    def keeps_vectors(self) -> bool:
        return self._session.keeps_vectors

    def vectors(self, model: int) -> Vectors:
        return self._session.vectors(self._space, model)

    def before_commit(self, action: Callable[[Tx, Counter[str]], None]) -> Counter[str]:
        return self._last.setdefault(action, Counter())

    def finish(self) -> None:
        """The engine calls this just before it commits."""
        for action, counts in self._last.items():
            action(self, counts)
        self._session.flush()


@cache
def _refuse_without_space(sql: str) -> None:
    """Promise P31: a query without a space is a bug of ours."""
    if ":space" not in sql:
        raise AssertionError(f"a statement that names no :space was refused: {sql[:120]}")
