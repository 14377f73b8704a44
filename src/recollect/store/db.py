"""The port to a database: one transaction type for both engines.

An engine gives a Session (how to execute, how to keep the word index and vectors). `Transaction` adds what must hold
whatever the engine: every statement is walled into one space, and work that belongs to a commit runs exactly once
before it.
"""

from __future__ import annotations

from collections import Counter

from recollect.core.errors import StoreUnreachable
from recollect.store import grades

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Any, Protocol

    from recollect.core.context import Row, Tx, Vectors
else:
    Protocol = object

_walled: set[str] = set()

Entry = tuple[int, str, str, "Sequence[tuple[int, Any]]"]
"""A passage's vectors: its number, its kind, its hash, and each piece with its unit vector."""


class Session(Protocol):
    """What an engine must be able to do inside a transaction it has opened."""

    def execute(self, sql: str, params: Mapping[str, Any]) -> list[Row]: ...
    def execute_many(self, sql: str, many: Iterable[Mapping[str, Any]], *, returning: bool) -> list[Row]: ...
    def changes(self) -> int:
        """Rows changed by the last statement."""

    def columns(self, table: str) -> Sequence[str]: ...
    def index(self, doc: int, tokens: str) -> None: ...
    def unindex(self, doc: int) -> None: ...
    def match(self, tokens: Sequence[str], within: Sequence[str]) -> list[Sequence[int]]: ...
    @property
    def keeps_vectors(self) -> bool: ...
    def vectors(self, space: str, model: int) -> Vectors: ...
    def flush(self) -> None:
        """Write what `index` may have kept back; called before the commit."""


class Transaction:
    """A transaction in one space; see the protocol `Tx` for what each method promises."""

    def __init__(self, space: str, session: Session, number: int):
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
        self._session.index(doc, grades.tokens(self._number, strong, others))

    def unindex(self, doc: int) -> None:
        self._session.unindex(doc)

    def match(self, terms: Sequence[str], *, within: Sequence[str] = ()) -> list[tuple[Sequence[int], Sequence[int]]]:
        graded, scope = (grades.tokens(self._number, some, some).split() for some in (terms, within))
        found = self._session.match(graded, scope)
        return list(zip(found[: len(terms)], found[len(terms) :], strict=True))

    @property
    def keeps_vectors(self) -> bool:
        return self._session.keeps_vectors

    def vectors(self, model: int) -> Vectors:
        return self._session.vectors(self._space, model)

    def before_commit(self, action: Callable[[Tx, Counter[str]], None]) -> Counter[str]:
        return self._last.setdefault(action, Counter())

    def refuse_half_moved(self, place: str) -> None:
        """Called by the engine when a writer begins: a move that goes on would undo what was written meanwhile."""
        source = self.value("SELECT source FROM moves WHERE space = :space")
        if source is not None:
            raise StoreUnreachable(
                f"a move from {source} to {place} is not finished, and until then nothing is written there. Run the "
                "same recollect migrate again to finish it, or with --restart to begin anew"
            )

    def finish(self) -> None:
        """Called by the engine just before it commits."""
        for action, counts in self._last.items():
            action(self, counts)
        self._session.flush()


def _refuse_without_space(sql: str) -> None:
    """Promise P31: a query without a space is a bug of ours, whatever it would have returned."""
    if sql in _walled:
        return
    if ":space" not in sql:
        raise AssertionError(f"a statement that names no :space was refused: {sql[:120]}")
    _walled.add(sql)
