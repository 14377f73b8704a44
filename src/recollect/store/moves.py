"""Rows that say how far a move into this store has come, written with the rows that were moved."""

from __future__ import annotations

import json
from dataclasses import dataclass

from recollect.core.context import Row, Tx
from recollect.store import db


@dataclass(frozen=True, kw_only=True)
class Move:
    """A move that is not finished: where from, and after which row of each table it goes on."""

    source: str
    reached: dict[str, Row]


def unfinished(tx: Tx) -> Move | None:
    row = tx.row("SELECT source, reached FROM moves WHERE space = :space")
    if row is None:
        return None
    return Move(source=row[0], reached={name: tuple(place) for name, place in json.loads(row[1]).items()})


def begin(tx: Tx, *, source: str, at: int) -> None:
    finish(tx)  # an earlier one that is begun anew
    db.add_row(tx, "moves", source=source, reached="{}", started_at=at)


def reach(tx: Tx, reached: dict[str, Row]) -> None:
    tx.run("UPDATE moves SET reached = :reached WHERE space = :space", reached=json.dumps(reached))


def finish(tx: Tx) -> None:
    tx.run("DELETE FROM moves WHERE space = :space")
