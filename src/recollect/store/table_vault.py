"""The vault as a table: what a team shares when its store is a server.

A file is its rows in order of position; an append adds one, a replacement takes their place. See the protocol `Vault`;
paths follow the same rules as in a folder, so that every file can be mirrored into one.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from recollect.core.context import Db, Tx
from recollect.core.errors import BadInput, Stale
from recollect.store.files import content_hash
from recollect.store.vault import checked_parts


class TableVault:
    """The files of one space."""

    def __init__(self, db: Db, space: str):
        self._db = db
        self._space = space

    def read(self, path: str) -> str | None:
        checked_parts(path)
        with self._reading() as tx:
            return _text(tx, path)

    @contextmanager
    def _reading(self) -> Iterator[Tx]:
        """The transaction that is open already, or one of its own: owners of passages read files beside rows."""
        joined = self._db.inside(self._space)
        if joined is not None:
            yield joined
            return
        with self._db.read(self._space) as tx:
            yield tx

    def append(self, path: str, text: str) -> None:
        checked_parts(path)
        with self._db.write(self._space) as tx:
            _refuse_impossible(tx, path)
            _add(tx, path, text)

    def replace(self, path: str, text: str, *, expect: str | None = None) -> None:
        checked_parts(path)
        with self._db.write(self._space) as tx:
            _refuse_changed(tx, path, expect)
            _refuse_impossible(tx, path)
            _remove(tx, path)
            _add(tx, path, text)

    def delete(self, path: str, *, expect: str | None = None) -> None:
        checked_parts(path)
        with self._db.write(self._space) as tx:
            _refuse_changed(tx, path, expect)
            _remove(tx, path)

    def paths(self, prefix: str = "") -> list[str]:
        """Files below `prefix` (a folder), sorted."""
        if prefix:
            checked_parts(prefix)
        with self._reading() as tx:
            return _below(tx, prefix)


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


def _remove(tx: Tx, path: str) -> None:
    tx.run("DELETE FROM vault_parts WHERE space = :space AND path = :path", path=path)


def _below(tx: Tx, prefix: str) -> list[str]:
    # "/" is followed by "0": everything below a folder is one range of the key.
    within = " AND path >= :low AND path < :high" if prefix else ""
    params = {"low": prefix + "/", "high": prefix + "0"} if prefix else {}
    rows = tx.rows(f"SELECT DISTINCT path FROM vault_parts WHERE space = :space{within} ORDER BY path", **params)
    return [path for (path,) in rows]


def _refuse_changed(tx: Tx, path: str, expect: str | None) -> None:
    if expect is None:
        return
    text = _text(tx, path)
    if ("" if text is None else content_hash(text)) != expect:
        raise Stale(f"{path} was changed by somebody else in the meantime; read it again")


def _refuse_impossible(tx: Tx, path: str) -> None:
    """A name is a file or a folder, never both."""
    parts = path.split("/")
    parents = ["/".join(parts[:end]) for end in range(1, len(parts))]
    if _below(tx, path) or any(_text(tx, parent) is not None for parent in parents):
        raise BadInput(f"{path} goes through a file where a folder is expected")
