"""Rows of tokens. Only the hash of a secret is stored, so the store's readers cannot use it."""

from __future__ import annotations

from recollect.core.context import Tx
from recollect.core.errors import NotFound
from recollect.core.token import Token
from recollect.store import db

_COLUMNS = "id, name, channel, scopes, made_by, created_at, expires_at, last_used_at, revoked_at"


def add_token(tx: Tx, token: Token, *, hash: str) -> None:
    db.add_row(tx, "tokens", **{**vars(token), "scopes": " ".join(token.scopes), "hash": hash})


def tokens(tx: Tx) -> list[Token]:
    """Every token, newest first, revoked ones too."""
    return _tokens(tx, "ORDER BY created_at DESC, id")


def token_named(tx: Tx, name: str) -> Token:
    """The token with this id, or the valid one with this name."""
    valid = "AND (id = :name OR (name = :name AND revoked_at IS NULL)) ORDER BY created_at DESC"
    found = _tokens(tx, valid, name=name)
    if not found:
        raise NotFound(f"There is no token {name[:80]!r}. List the tokens with `recollect host token list`")
    return found[0]


def token_of_hash(tx: Tx, hash: str) -> Token | None:
    """The token whose secret has this hash, valid or not."""
    return next(iter(_tokens(tx, "AND hash = :hash", hash=hash)), None)


def token_used(tx: Tx, id: str, *, at: int) -> None:
    db.update(tx, "tokens", {"id": id}, last_used_at=at)


def revoke_token(tx: Tx, id: str, *, at: int) -> None:
    db.update(tx, "tokens", {"id": id}, revoked_at=at)


def _tokens(tx: Tx, more: str, **params: str) -> list[Token]:
    found = db.select(tx, dict, _COLUMNS, "tokens", more, **params)
    return [Token(**{**values, "scopes": tuple(values["scopes"].split())}) for values in found]
