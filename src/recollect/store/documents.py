"""Rows of the permanent documents: the stamp each had when its sections were last made searchable."""

from __future__ import annotations

from recollect.core.context import Tx


def stamps(tx: Tx) -> dict[str, str]:
    """Every known document's stamp, by path."""
    return dict(tx.rows("SELECT path, stamp FROM documents WHERE space = :space"))


def put(tx: Tx, path: str, stamp: str) -> None:
    """Remember how a document was read; one that is gone has no stamp and is forgotten."""
    if not stamp:
        tx.run("DELETE FROM documents WHERE space = :space AND path = :path", path=path)
        return
    tx.run(
        """
        INSERT INTO documents (space, path, stamp) VALUES (:space, :path, :stamp)
        ON CONFLICT (space, path) DO UPDATE SET stamp = excluded.stamp""",
        path=path,
        stamp=stamp,
    )
