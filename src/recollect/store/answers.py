"""Rows of models' answers, so that the same question is never paid for twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from recollect.core.context import Tx


@dataclass(frozen=True)
class StoredAnswer:
    answer: str
    generator: str


def get(tx: Tx, *, kind: str, version: str, source_hash: str) -> StoredAnswer | None:
    row = tx.row(
        """
        SELECT answer, generator FROM answers
        WHERE space = :space AND kind = :kind AND version = :version AND source_hash = :source_hash""",
        kind=kind,
        version=version,
        source_hash=source_hash,
    )
    return StoredAnswer(*row) if row else None


def put(tx: Tx, *, kind: str, version: str, source_hash: str, generator: str, answer: str, at: int) -> None:
    """The first answer stays: two processes that asked at once end up with one."""
    tx.run(
        """
        INSERT INTO answers (space, kind, version, source_hash, generator, answer, created_at)
        VALUES (:space, :kind, :version, :source_hash, :generator, :answer, :at)
        ON CONFLICT (space, kind, version, source_hash) DO NOTHING""",
        kind=kind,
        version=version,
        source_hash=source_hash,
        generator=generator,
        answer=answer,
        at=at,
    )
