"""Rows of tokens. Only a hash of the secret is kept: whoever reads the store cannot speak to the server."""

from __future__ import annotations

from typing import Any

from recollect.core.context import Tx
from recollect.core.errors import NotFound
from recollect.core.token import Token
from recollect.store import rows

_COLUMNS = "id, name, channel, read_only, made_by, created_at, revoked_at"


def add(tx: Tx, token: Token, *, hash: str) -> None:
    rows.add(tx, "tokens", **{**vars(token), "read_only": int(token.read_only), "hash": hash})


def listed(tx: Tx) -> list[Token]:
    """Every token, newest first, revoked ones too."""
    sql = f"SELECT {_COLUMNS} FROM tokens WHERE space = :space ORDER BY created_at DESC, id"
    return [_token(row) for row in tx.rows(sql)]


def named(tx: Tx, name: str) -> Token:
    """The token with this id, or the valid one with this name."""
    sql = f"""
        SELECT {_COLUMNS} FROM tokens
        WHERE space = :space AND (id = :name OR (name = :name AND revoked_at IS NULL))
        ORDER BY created_at DESC"""
    found = tx.row(sql, name=name)
    if found is None:
        raise NotFound(f"no token {name[:80]!r}; see: recollect token list")
    return _token(found)


def of_hash(tx: Tx, hash: str) -> Token | None:
    """The valid token whose secret has this hash."""
    sql = f"SELECT {_COLUMNS} FROM tokens WHERE space = :space AND hash = :hash AND revoked_at IS NULL"
    found = tx.row(sql, hash=hash)
    return None if found is None else _token(found)


def revoke(tx: Tx, id: str, *, at: int) -> None:
    sql = "UPDATE tokens SET revoked_at = :at WHERE space = :space AND id = :id AND revoked_at IS NULL"
    tx.run(sql, id=id, at=at)


def _token(row: tuple[Any, ...]) -> Token:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return Token(**{**values, "read_only": bool(values["read_only"])})
