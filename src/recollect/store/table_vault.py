"""The vault as a table, for a team whose store is a server.

A file is its rows in order of position; an append adds one, a replacement takes their place. Paths follow the same
rules as in a folder, so that every file can be mirrored into one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from recollect.core.context import Db, Row, Tx
from recollect.core.errors import BadInput
from recollect.store.files import content_hash
from recollect.store.vault import PIECE, changed, checked_parts


class TableVault:
    """The files of one space; see the protocol `Vault`."""

    def __init__(self, db: Db, space: str, tx: Tx | None = None):
        self._db = db
        self._space = space
        self._tx = tx

    def read(self, path: str) -> str | None:
        checked_parts(path)
        with self._reading() as tx:
            return _text(tx, path)

    def append(self, path: str, text: str, *, after: str | None = None) -> str:
        checked_parts(path)
        with self._writing() as tx:
            if after is not None and after != _stamps(tx, path, path).get(path, ""):
                raise changed(path)
            _refuse_impossible(tx, path)
            _add(tx, path, text)
            return _stamps(tx, path, path)[path]

    def replace(self, path: str, text: str, *, expect: str | None = None) -> None:
        checked_parts(path)
        with self._writing() as tx:
            _refuse_changed(tx, path, expect)
            _refuse_impossible(tx, path)
            # The new part comes after the old ones, so that a position is never used twice.
            last = tx.value("SELECT max(position) FROM vault_parts WHERE space = :space AND path = :path", path=path)
            _add(tx, path, text)
            old = "DELETE FROM vault_parts WHERE space = :space AND path = :path AND position <= :last"
            tx.run(old, path=path, last=last or 0)

    def delete(self, path: str, *, expect: str | None = None) -> None:
        checked_parts(path)
        with self._writing() as tx:
            _refuse_changed(tx, path, expect)
            tx.run("DELETE FROM vault_parts WHERE space = :space AND path = :path", path=path)

    def paths(self, prefix: str = "") -> list[str]:
        if prefix:
            checked_parts(prefix)
        with self._reading() as tx:
            return _below(tx, prefix)

    def pieces(self, path: str) -> Iterator[str]:
        checked_parts(path)
        with self._reading() as tx:
            sql = (
                "SELECT position, length(text) FROM vault_parts WHERE space = :space AND path = :path ORDER BY position"
            )
            parts = tx.rows(sql, path=path)
        for first, last in _stretches(parts):
            # A transaction for each: the caller may need one of its own in between.
            with self._reading() as tx:
                found = tx.rows(
                    "SELECT text FROM vault_parts WHERE space = :space AND path = :path "
                    "AND position BETWEEN :first AND :last ORDER BY position",
                    path=path,
                    first=first,
                    last=last,
                )
            yield from (text for (text,) in found)

    def stamps(self, folder: str = "", *, names: Sequence[str] | None = None) -> dict[str, str]:
        if folder:
            checked_parts(folder)
        prefix = f"{folder}/" if folder else ""
        if names is None:
            low, high = prefix, f"{prefix}\U0010ffff"
        else:
            low, high = prefix + min(names, default=""), prefix + max(names, default="")
        with self._reading() as tx:
            found = _stamps(tx, low, high)
        here = {path.removeprefix(prefix): stamp for path, stamp in found.items()}
        return {name: stamp for name, stamp in here.items() if "/" not in name and (names is None or name in names)}

    def folder_stamp(self, folder: str) -> str:
        return content_hash(repr(sorted(self.stamps(folder).items())))

    def inside(self, tx: Tx) -> TableVault:
        return TableVault(self._db, self._space, tx)

    def _reading(self) -> AbstractContextManager[Tx]:
        return nullcontext(self._tx) if self._tx else self._db.read(self._space)

    def _writing(self) -> AbstractContextManager[Tx]:
        return nullcontext(self._tx) if self._tx else self._db.write(self._space)


def _stamps(tx: Tx, low: str, high: str) -> dict[str, str]:
    """Positions only grow, so the last one and the length change with every write."""
    sql = (
        "SELECT path, max(position), sum(length(text)) FROM vault_parts "
        "WHERE space = :space AND path BETWEEN :low AND :high GROUP BY path"
    )
    return {path: f"{last}:{size}" for path, last, size in tx.rows(sql, low=low, high=high)}


def _stretches(parts: Sequence[Row]) -> Iterator[tuple[int, int]]:
    """Parts (position, length) to read together, as (first, last) position: a log has many small ones."""
    first, size = 0, 0
    for number, (position, length) in enumerate(parts):
        first, size = (position, length) if not size else (first, size + length)
        if size >= PIECE or number == len(parts) - 1:
            yield first, position
            size = 0


def _text(tx: Tx, path: str) -> str | None:
    rows = tx.rows("SELECT text FROM vault_parts WHERE space = :space AND path = :path ORDER BY position", path=path)
    return "".join(text for (text,) in rows) if rows else None


def _add(tx: Tx, path: str, text: str) -> None:
    # As a folder would read it back: what is no text becomes a question mark, and no row can hold a NUL.
    readable = text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")
    tx.run(
        """
        INSERT INTO vault_parts (space, path, position, text)
        SELECT :space, :path, coalesce(max(position), 0) + 1, :text
        FROM vault_parts WHERE space = :space AND path = :path""",
        path=path,
        text=readable,
    )


def _below(tx: Tx, prefix: str) -> list[str]:
    # "/" is followed by "0": everything below a folder is one range of the key.
    within = " AND path >= :low AND path < :high" if prefix else ""
    sql = f"SELECT DISTINCT path FROM vault_parts WHERE space = :space{within} ORDER BY path"
    return [path for (path,) in tx.rows(sql, low=f"{prefix}/", high=f"{prefix}0")]


def _refuse_changed(tx: Tx, path: str, expect: str | None) -> None:
    if expect is None:
        return
    text = _text(tx, path)
    if ("" if text is None else content_hash(text)) != expect:
        raise changed(path)


def _refuse_impossible(tx: Tx, path: str) -> None:
    """A name is a file or a folder, never both."""
    folder = path
    while folder := folder.rpartition("/")[0]:
        if _text(tx, folder) is not None:
            raise BadInput(f"{folder} is a file where a folder is expected")
    if _below(tx, path):
        raise BadInput(f"{path} is a folder; a file cannot take its place")
