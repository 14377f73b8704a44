"""Rows of asks that wait for an agent: what is asked about what, until it is answered and the answer is used."""

from __future__ import annotations

import json
from dataclasses import dataclass

from recollect.core.context import Row, Tx
from recollect.store import rows

_COLUMNS = "id, kind, prompt, version, source_hash, subject, sources, max_tokens, opened_at, answered_at"


@dataclass(frozen=True, kw_only=True)
class OpenAsk:
    """One ask: the prompt's name and version, the thing it is about, and the texts it is to be answered from."""

    id: str
    kind: str
    prompt: str
    version: str
    source_hash: str
    subject: str
    sources: tuple[str, ...]
    max_tokens: int
    opened_at: int
    answered_at: int | None = None


def put(tx: Tx, ask: OpenAsk) -> None:
    """Open an ask; an older one of the same kind about the same thing is no longer worth an answer."""
    tx.run(
        "DELETE FROM asks WHERE space = :space AND kind = :kind AND subject = :subject AND id <> :id",
        kind=ask.kind,
        subject=ask.subject,
        id=ask.id,
    )
    rows.add_once(tx, "asks", "id", **{**vars(ask), "sources": json.dumps(ask.sources, ensure_ascii=False)})


def get(tx: Tx, id: str) -> OpenAsk | None:
    row = tx.row(f"SELECT {_COLUMNS} FROM asks WHERE space = :space AND id = :id", id=id)
    return _ask(row) if row else None


def waiting(tx: Tx) -> list[OpenAsk]:
    """Asks without an answer, oldest first."""
    found = tx.rows(
        f"SELECT {_COLUMNS} FROM asks WHERE space = :space AND answered_at IS NULL ORDER BY opened_at, kind, subject"
    )
    return [_ask(row) for row in found]


def answered(tx: Tx, kind: str) -> list[OpenAsk]:
    """Asks of a kind whose answer has come and was not used yet."""
    found = tx.rows(
        f"SELECT {_COLUMNS} FROM asks WHERE space = :space AND kind = :kind AND answered_at IS NOT NULL "
        "ORDER BY answered_at, subject",
        kind=kind,
    )
    return [_ask(row) for row in found]


def mark_answered(tx: Tx, id: str, *, at: int) -> None:
    tx.run("UPDATE asks SET answered_at = :at WHERE space = :space AND id = :id", id=id, at=at)


def close(tx: Tx, id: str) -> None:
    tx.run("DELETE FROM asks WHERE space = :space AND id = :id", id=id)


def _ask(row: Row) -> OpenAsk:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return OpenAsk(**{**values, "sources": tuple(json.loads(values["sources"]))})
