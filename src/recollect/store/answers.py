"""Rows of models' answers, so that the same question is never paid for twice."""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.context import Tx
from recollect.store import rows


@dataclass(frozen=True, kw_only=True)
class AnswerKey:
    """What makes two questions the same: the kind, the prompt's version, and the hash of the sources."""

    kind: str
    version: str
    source_hash: str


@dataclass(frozen=True)
class StoredAnswer:
    answer: str
    generator: str


def get(tx: Tx, key: AnswerKey) -> StoredAnswer | None:
    row = tx.row(
        """
        SELECT answer, generator FROM answers
        WHERE space = :space AND kind = :kind AND version = :version AND source_hash = :source_hash""",
        **vars(key),
    )
    return StoredAnswer(*row) if row else None


def put(tx: Tx, key: AnswerKey, *, generator: str, answer: str, at: int) -> None:
    """The first answer stays: two processes that asked at once end up with one."""
    values = {"generator": generator, "answer": answer, "created_at": at}
    rows.add_once(tx, "answers", "kind, version, source_hash", **vars(key), **values)


def forget(tx: Tx, key: AnswerKey) -> None:
    """An answer that the rules no longer accept: it is asked for anew."""
    tx.run(
        """
        DELETE FROM answers
        WHERE space = :space AND kind = :kind AND version = :version AND source_hash = :source_hash""",
        **vars(key),
    )
