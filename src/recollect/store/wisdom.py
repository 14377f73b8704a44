"""Rows derived from decisions: wordings of summaries, and wisdom. Lost ones are made again."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.context import Tx
from recollect.store import rows
from recollect.store.paging import among


def wordings(tx: Tx, level: str, ids: Sequence[str]) -> dict[str, tuple[int, str, str]]:
    """What a summary or digest says of each decision: (version it was made from, wording, generator)."""
    sql = """
        SELECT decision_id, version, wording, generator FROM decision_wordings
        WHERE space = :space AND level = :level AND decision_id IN (:keys)"""
    return {id: (version, wording, generator) for id, version, wording, generator in among(tx, sql, ids, level=level)}


def put_wording(tx: Tx, id: str, level: str, *, version: int, wording: str, generator: str) -> int:
    """Store a wording unless the decision changed while it was made; 1 when stored."""
    return tx.run(
        """
        INSERT INTO decision_wordings (space, decision_id, level, version, wording, generator)
        SELECT :space, id, :level, version, :wording, :generator
        FROM decisions WHERE space = :space AND id = :id AND version = :version
        ON CONFLICT (space, decision_id, level) DO UPDATE SET version = excluded.version,
          wording = excluded.wording, generator = excluded.generator""",
        id=id,
        level=level,
        version=version,
        wording=wording,
        generator=generator,
    )


def get(tx: Tx, scope: str, as_of: int) -> str | None:
    """Wisdom made before that still holds at an instant."""
    found = tx.value(
        "SELECT wisdom FROM decision_wisdom WHERE space = :space AND scope = :scope "
        "AND made_for <= :as_of AND valid_until > :as_of",
        scope=scope,
        as_of=as_of,
    )
    return None if found is None else str(found)


def put(tx: Tx, *, scope: str, made_for: int, valid_until: int, wisdom: str) -> None:
    values = {"made_for": made_for, "valid_until": valid_until, "wisdom": wisdom}
    rows.put(tx, "decision_wisdom", "scope", scope=scope, **values)


def forget(tx: Tx) -> None:
    """A decision changed: whatever was concluded from it is concluded again."""
    tx.run("DELETE FROM decision_wisdom WHERE space = :space")
