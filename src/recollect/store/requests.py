"""Rows of answered requests: what a client that repeats itself is told again instead of doing it twice."""

from __future__ import annotations

import json
from collections.abc import Mapping

from recollect.core.context import Tx
from recollect.core.record import record
from recollect.store import rows


@record
class Answered:
    """What a request was, and what it was told; status 0 while it is under way."""

    hash: str
    status: int
    answer: str
    headers: dict[str, str]


def find(tx: Tx, caller: str, key: str) -> Answered | None:
    row = tx.row(
        "SELECT hash, status, answer, headers FROM requests "
        "WHERE space = :space AND caller = :caller AND request_key = :key",
        caller=caller,
        key=key,
    )
    return Answered(hash=row[0], status=row[1], answer=row[2], headers=json.loads(row[3])) if row else None


def begin(tx: Tx, caller: str, key: str, *, hash: str, at: int) -> None:
    values = {"hash": hash, "status": 0, "answer": "", "headers": "{}", "created_at": at}
    rows.add(tx, "requests", caller=caller, request_key=key, **values)


def finish(tx: Tx, caller: str, key: str, *, status: int, answer: str, headers: Mapping[str, str]) -> None:
    tx.run(
        "UPDATE requests SET status = :status, answer = :answer, headers = :headers "
        "WHERE space = :space AND caller = :caller AND request_key = :key",
        caller=caller,
        key=key,
        status=status,
        answer=answer,
        headers=json.dumps(dict(headers)),
    )


def forget(tx: Tx, caller: str, key: str) -> None:
    tx.run(
        "DELETE FROM requests WHERE space = :space AND caller = :caller AND request_key = :key", caller=caller, key=key
    )


def forget_before(tx: Tx, at: int) -> None:
    tx.run("DELETE FROM requests WHERE space = :space AND created_at < :at", at=at)


def forget_all(tx: Tx) -> None:
    tx.run("DELETE FROM requests WHERE space = :space")
