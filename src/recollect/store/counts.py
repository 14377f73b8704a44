"""How much of everything there is."""

from __future__ import annotations

from recollect.core.context import Tx


def learnings_by_status(tx: Tx) -> dict[str, int]:
    rows = tx.rows("SELECT status, count(*) FROM learnings WHERE space = :space GROUP BY status ORDER BY status")
    return {"active": 0, "archived": 0, "superseded": 0, **dict(rows)}


def injections(tx: Tx) -> int:
    return int(tx.value("SELECT count(*) FROM injections WHERE space = :space"))


def verdicts(tx: Tx) -> dict[str, int]:
    rows = tx.rows(
        "SELECT feedback, count(*) FROM injections WHERE space = :space AND feedback IS NOT NULL "
        "GROUP BY feedback ORDER BY feedback"
    )
    return {"helpful": 0, "not_helpful": 0, **dict(rows)}


def discoveries(tx: Tx) -> int:
    return int(tx.value("SELECT count(*) FROM discoveries WHERE space = :space"))


def passages(tx: Tx) -> int:
    return int(tx.value("SELECT count(*) FROM passages WHERE space = :space"))
