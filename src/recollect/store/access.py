"""Rows of tokens. Only the hash of a secret is stored, so the store's readers cannot use it."""

from __future__ import annotations

from typing import Any

from recollect.core.context import Tx
from recollect.core.errors import NotFound
from recollect.core.token import Token
from recollect.store import db

_COLUMNS = "id, name, channel, scopes, made_by, created_at, expires_at, last_used_at, revoked_at"


def add_token(tx: Tx, token: Token, *, hash: str) -> None:
    db.add_row(tx, "tokens", **{**vars(token), "scopes": " ".join(token.scopes), "hash": hash})


def tokens(tx: Tx) -> list[Token]:
    """Every token, newest first, revoked ones too."""
    sql = f"SELECT {_COLUMNS} FROM tokens WHERE space = :space ORDER BY created_at DESC, id"
    return [_token(row) for row in tx.rows(sql)]


def token_named(tx: Tx, name: str) -> Token:
    """The token with this id, or the valid one with this name."""
    sql = f"""
        SELECT {_COLUMNS} FROM tokens
        WHERE space = :space AND (id = :name OR (name = :name AND revoked_at IS NULL))
        ORDER BY created_at DESC"""
    found = tx.row(sql, name=name)
    if found is None:
        raise NotFound(f"There is no token {name[:80]!r}. List the tokens with `recollect host token list`")
    return _token(found)


def token_of_hash(tx: Tx, hash: str) -> Token | None:
    """The token whose secret has this hash, valid or not."""
    found = tx.row(f"SELECT {_COLUMNS} FROM tokens WHERE space = :space AND hash = :hash", hash=hash)
    return None if found is None else _token(found)


def token_used(tx: Tx, id: str, *, at: int) -> None:
    tx.run("UPDATE tokens SET last_used_at = :at WHERE space = :space AND id = :id", id=id, at=at)


def revoke_token(tx: Tx, id: str, *, at: int) -> None:
    sql = "UPDATE tokens SET revoked_at = :at WHERE space = :space AND id = :id AND revoked_at IS NULL"
    tx.run(sql, id=id, at=at)


def _token(row: tuple[Any, ...]) -> Token:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return Token(**{**values, "scopes": tuple(values["scopes"].split())})
