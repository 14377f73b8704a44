"""Rows of what was read in from the repository's own files: by which clone, with which stamp, giving which passages.

Staged learnings and permanent documents are files that every clone has for itself, while a space is searched as one: a
passage stays as long as some clone's file holds it. A clone that read nothing new for a month holds nothing any more;
should it live, it reads its files in again.
"""

from __future__ import annotations

from collections.abc import Collection

from recollect.core.clock import DAY
from recollect.core.context import Context, Tx
from recollect.store import rows

FORGOTTEN_AFTER = 30 * DAY


def of(ctx: Context) -> dict[str, str]:
    """The stamp of every source that this clone read in."""
    sql = "SELECT source, stamp FROM readings WHERE space = :space AND clone = :clone"
    with ctx.db.read(ctx.space) as tx:
        return dict(tx.rows(sql, clone=ctx.clone))


def held_elsewhere(tx: Tx, clone: str, *, source: str) -> set[str]:
    """The passages that other clones found in a source."""
    sql = "SELECT ids FROM readings WHERE space = :space AND source = :source AND clone <> :clone"
    return {id for (ids,) in tx.rows(sql, source=source, clone=clone) for id in ids.split("\n")}


def all_held(tx: Tx) -> set[str]:
    """The passages that any clone found in any source."""
    return {id for (ids,) in tx.rows("SELECT ids FROM readings WHERE space = :space") for id in ids.split("\n")}


def put(tx: Tx, clone: str, source: str, *, stamp: str, ids: Collection[str], at: int) -> None:
    """Remember how a clone read a source; one that is gone has no stamp and is forgotten."""
    tx.run(
        "DELETE FROM readings WHERE space = :space AND source = :source AND (clone = :clone OR at < :long_ago)",
        source=source,
        clone=clone,
        long_ago=at - FORGOTTEN_AFTER,
    )
    if stamp:
        rows.add(tx, "readings", clone=clone, source=source, stamp=stamp, ids="\n".join(ids), at=at)


def keep_only(tx: Tx, clone: str, *, without: Collection[str]) -> None:
    """Forget what other clones read in, and that this one found some passages."""
    tx.run("DELETE FROM readings WHERE space = :space AND clone <> :clone", clone=clone)
    for source, ids in tx.rows("SELECT source, ids FROM readings WHERE space = :space"):
        left = [id for id in ids.split("\n") if id not in without]
        tx.run(
            "UPDATE readings SET ids = :ids WHERE space = :space AND source = :source",
            source=source,
            ids="\n".join(left),
        )


def forget(tx: Tx) -> None:
    """Every clone reads its files in again."""
    tx.run("DELETE FROM readings WHERE space = :space")
