"""Rows of the inbox: what only a person may settle. The same matter is raised once."""

from __future__ import annotations

import json

from recollect.core.errors import NotFound
from recollect.core.record import record
from recollect.store.paging import every

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from recollect.core.context import Tx

_COLUMNS = "number, kind, subject, other, reason, detail, created_at, resolved_at, resolution"


@record
class Escalation:
    number: int
    kind: str
    subject: str
    other: str
    reason: str
    detail: dict[str, Any]
    created_at: int
    resolved_at: int | None
    resolution: str | None


def raise_once(
    tx: Tx, *, kind: str, subject: str, other: str = "", reason: str, detail: dict[str, Any], at: int
) -> bool:
    """True when this is a new matter; one that was raised before stays as it was, also when it was dismissed."""
    return bool(
        tx.rows(
            """
            INSERT INTO escalations (space, number, kind, subject, other, reason, detail, created_at)
            SELECT :space, coalesce(max(number), 0) + 1, :kind, :subject, :other, :reason, :detail, :at
            FROM escalations WHERE space = :space
            ON CONFLICT (space, kind, subject, other) DO NOTHING RETURNING number""",
            kind=kind,
            subject=subject,
            other=other,
            reason=reason,
            detail=json.dumps(detail, ensure_ascii=False, sort_keys=True),
            at=at,
        )
    )


def find(tx: Tx, *, kind: str, subject: str, other: str = "") -> Escalation | None:
    """The matter of this kind between these two, settled or not."""
    sql = (
        f"SELECT {_COLUMNS} FROM escalations "
        "WHERE space = :space AND kind = :kind AND subject = :subject AND other = :other"
    )
    row = tx.row(sql, kind=kind, subject=subject, other=other)
    return _escalation(row) if row else None


def waiting(tx: Tx) -> list[Escalation]:
    """What nobody settled yet, oldest first."""
    sql = f"SELECT {_COLUMNS} FROM escalations WHERE space = :space AND resolved_at IS NULL ORDER BY number"
    return [_escalation(row) for row in tx.rows(sql)]


def get(tx: Tx, number: int) -> Escalation:
    row = tx.row(f"SELECT {_COLUMNS} FROM escalations WHERE space = :space AND number = :number", number=number)
    if row is None:
        raise NotFound(f"no matter {number} in the inbox; `recollect inbox` lists them")
    return _escalation(row)


def all_of(tx: Tx) -> Iterator[Escalation]:
    """Every matter, settled or not, oldest first."""
    return (_escalation(row) for row in every(tx, "escalations", _COLUMNS))


def resolve(tx: Tx, number: int, *, resolution: str, at: int) -> None:
    tx.run(
        "UPDATE escalations SET resolved_at = :at, resolution = :resolution WHERE space = :space AND number = :number",
        number=number,
        at=at,
        resolution=resolution,
    )


def reopen(tx: Tx, number: int) -> None:
    """What settled it was taken back."""
    tx.run(
        "UPDATE escalations SET resolved_at = NULL, resolution = NULL WHERE space = :space AND number = :number",
        number=number,
    )


def _escalation(row: tuple[Any, ...]) -> Escalation:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return Escalation(**{**values, "detail": json.loads(values["detail"])})
