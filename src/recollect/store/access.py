"""Rows of access: tokens, and the answers that are kept for repeated requests.

Of a token only the hash of its secret is stored, so the store's readers cannot use it. A client that repeats a request
under the same key is told the first answer again instead of doing the work twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from recollect.core.context import Tx
from recollect.core.errors import NotFound
from recollect.core.records import record
from recollect.core.token import Token
from recollect.store import db

_COLUMNS = "id, name, channel, read_only, made_by, created_at, revoked_at"


def add_token(tx: Tx, token: Token, *, hash: str) -> None:
    db.add_row(tx, "tokens", **{**vars(token), "read_only": int(token.read_only), "hash": hash})


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
    """The valid token whose secret has this hash."""
    sql = f"SELECT {_COLUMNS} FROM tokens WHERE space = :space AND hash = :hash AND revoked_at IS NULL"
    found = tx.row(sql, hash=hash)
    return None if found is None else _token(found)


def revoke_token(tx: Tx, id: str, *, at: int) -> None:
    sql = "UPDATE tokens SET revoked_at = :at WHERE space = :space AND id = :id AND revoked_at IS NULL"
    tx.run(sql, id=id, at=at)


def _token(row: tuple[Any, ...]) -> Token:
    values = dict(zip(_COLUMNS.split(", "), row, strict=True))
    return Token(**{**values, "read_only": bool(values["read_only"])})


@record
class Answered:
    """What a request was, and what it was told; status 0 while it is under way."""

    hash: str
    status: int
    answer: str
    headers: dict[str, str]


def find_request(tx: Tx, caller: str, key: str) -> Answered | None:
    row = tx.row(
        "SELECT hash, status, answer, headers FROM requests "
        "WHERE space = :space AND caller = :caller AND request_key = :key",
        caller=caller,
        key=key,
    )
    return Answered(hash=row[0], status=row[1], answer=row[2], headers=json.loads(row[3])) if row else None


def begin_request(tx: Tx, caller: str, key: str, *, hash: str, at: int) -> None:
    values = {"hash": hash, "status": 0, "answer": "", "headers": "{}", "created_at": at}
    db.add_row(tx, "requests", caller=caller, request_key=key, **values)


def finish_request(tx: Tx, caller: str, key: str, *, status: int, answer: str, headers: Mapping[str, str]) -> None:
    tx.run(
        "UPDATE requests SET status = :status, answer = :answer, headers = :headers "
        "WHERE space = :space AND caller = :caller AND request_key = :key",
        caller=caller,
        key=key,
        status=status,
        answer=answer,
        headers=json.dumps(dict(headers)),
    )


def forget_request(tx: Tx, caller: str, key: str) -> None:
    tx.run(
        "DELETE FROM requests WHERE space = :space AND caller = :caller AND request_key = :key", caller=caller, key=key
    )


def forget_requests_before(tx: Tx, at: int) -> None:
    tx.run("DELETE FROM requests WHERE space = :space AND created_at < :at", at=at)


def forget_requests(tx: Tx) -> None:
    tx.run("DELETE FROM requests WHERE space = :space")
