"""Rows derived from decisions: wordings of summaries, and wisdom. Lost ones are made again."""

from __future__ import annotations

from collections.abc import Sequence

from recollect.core.context import Tx

_CHUNK = 500


def wordings(tx: Tx, level: str, ids: Sequence[str]) -> dict[str, tuple[int, str, str]]:
    """What a summary or digest says of each decision: (version it was made from, wording, generator)."""
    found: dict[str, tuple[int, str, str]] = {}
    for start in range(0, len(ids), _CHUNK):
        chunk = ids[start : start + _CHUNK]
        names = ", ".join(f":i{i}" for i in range(len(chunk)))
        for id, version, wording, generator in tx.rows(
            "SELECT decision_id, version, wording, generator FROM decision_wordings "
            f"WHERE space = :space AND level = :level AND decision_id IN ({names})",
            level=level,
            **{f"i{i}": id for i, id in enumerate(chunk)},
        ):
            found[id] = (version, wording, generator)
    return found


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
    tx.run(
        """
        INSERT INTO decision_wisdom (space, scope, made_for, valid_until, wisdom)
        VALUES (:space, :scope, :made_for, :valid_until, :wisdom)
        ON CONFLICT (space, scope) DO UPDATE SET made_for = excluded.made_for, valid_until = excluded.valid_until,
          wisdom = excluded.wisdom""",
        scope=scope,
        made_for=made_for,
        valid_until=valid_until,
        wisdom=wisdom,
    )


def forget(tx: Tx) -> None:
    """A decision changed: whatever was concluded from it is concluded again."""
    tx.run("DELETE FROM decision_wisdom WHERE space = :space")
