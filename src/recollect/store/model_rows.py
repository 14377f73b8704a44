"""Rows about models: cached answers, asks that wait for an agent, what models used, and claims on running calls.

Thanks to cached answers the same question is never paid for twice. An ask waits until it is answered and the answer is
used. A claim keeps two processes from paying for the same call and reserves the tokens that the call may use at most;
these and the day's usage never exceed the budget. A claim outlives a killed holder until it expires; its tokens then
count as used, because the call may have been paid for.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.context import Tx
from recollect.core.records import record
from recollect.store import db
from recollect.store.db import CLOCKS_APART, is_live


@record
class AnswerKey:
    """What makes two questions the same: the kind, the prompt's version, and the hash of the sources."""

    kind: str
    version: str
    source_hash: str


@dataclass(frozen=True)
class StoredAnswer:
    answer: str
    generator: str


_SAME = "AND kind = :kind AND version = :version AND source_hash = :source_hash"


def get_answer(tx: Tx, key: AnswerKey) -> StoredAnswer | None:
    return db.one(tx, StoredAnswer, "answers", _SAME, **vars(key))


def put_answer(tx: Tx, key: AnswerKey, *, generator: str, answer: str, at: int) -> None:
    """The first answer stays, so that two processes that asked at once get the same one."""
    values = {"generator": generator, "answer": answer, "created_at": at}
    db.add_row_once(tx, "answers", "kind, version, source_hash", **vars(key), **values)


def forget_answers(tx: Tx, key: AnswerKey) -> None:
    """Delete an answer that the checks no longer accept, so that it is asked for again."""
    tx.run(f"DELETE FROM answers WHERE space = :space {_SAME}", **vars(key))


@record
class OpenAsk:
    """`prompt` is the prompt's name, `sources` the texts to answer from."""

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


def put_ask(tx: Tx, ask: OpenAsk) -> None:
    """Open an ask in place of an older one of the same kind and subject."""
    tx.run(
        "DELETE FROM asks WHERE space = :space AND kind = :kind AND subject = :subject AND id <> :id",
        kind=ask.kind,
        subject=ask.subject,
        id=ask.id,
    )
    db.add_row_once(tx, "asks", "id", **vars(ask))


def get_ask(tx: Tx, id: str) -> OpenAsk | None:
    return db.one(tx, OpenAsk, "asks", "AND id = :id", id=id)


def waiting_asks(tx: Tx) -> list[OpenAsk]:
    return db.select(tx, OpenAsk, "asks", "AND answered_at IS NULL ORDER BY opened_at, kind, subject")


def answered_asks(tx: Tx, kind: str) -> list[OpenAsk]:
    """Asks of a kind whose answer was not used yet."""
    where = "AND kind = :kind AND answered_at IS NOT NULL ORDER BY answered_at, subject"
    return db.select(tx, OpenAsk, "asks", where, kind=kind)


def mark_ask_answered(tx: Tx, id: str, *, at: int) -> None:
    db.update(tx, "asks", {"id": id}, answered_at=at)


def close_ask(tx: Tx, id: str) -> None:
    tx.run("DELETE FROM asks WHERE space = :space AND id = :id", id=id)


MOST_TOKENS = 10**12  # of one call: a larger number is a server's mistake, and would spoil every sum


@record
class Usage:
    """What one kind of job used of one model on one day. A fallback is an ask that got the offline answer."""

    day: str
    kind: str
    generator: str
    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost_micros: int = 0
    fallbacks: int = 0

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens


_ADD_USAGE = db.insertion("model_usage", tuple(Usage.__annotations__))
_SUMS = ", ".join(
    f"{name} = model_usage.{name} + excluded.{name}"
    for name in Usage.__annotations__
    if name not in ("day", "kind", "generator")
)


def add_usage(tx: Tx, used: Usage) -> None:
    tx.run(
        f"{_ADD_USAGE} ON CONFLICT (space, day, kind, generator) DO UPDATE SET {_SUMS}",
        **vars(used)
        | {name: min(getattr(used, name), MOST_TOKENS) for name in ("input_tokens", "output_tokens", "cost_micros")},
    )


def all_usage(tx: Tx) -> list[Usage]:
    return db.select(tx, Usage, "model_usage", "ORDER BY day, kind, generator")


def spoken_for(tx: Tx, day: str) -> int:
    """Tokens of a day that are used or reserved."""
    used = tx.value(
        "SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM model_usage WHERE space = :space AND day = :day",
        day=day,
    )
    reserved = tx.value(
        "SELECT coalesce(sum(reserved), 0) FROM ask_claims WHERE space = :space AND day = :day", day=day
    )
    return int(used) + int(reserved)


def claim_call(tx: Tx, id: str, *, owner: str, kind: str, generator: str, day: str, now: int, until: int) -> bool:
    """Claim a call; False while another process has claimed it."""
    for expired, holder in tx.rows(
        "SELECT id, owner FROM ask_claims WHERE space = :space AND (expires_at <= :now OR taken_at > :latest)",
        now=now,
        latest=now + CLOCKS_APART,
    ):
        release_call(tx, expired, owner=holder)
    if claimed_calls(tx, id, now=now):
        return False
    values = {"taken_at": now, "expires_at": until, "day": day, "kind": kind, "generator": generator, "reserved": 0}
    db.add_row(tx, "ask_claims", id=id, owner=owner, **values)
    return True


def claimed_calls(tx: Tx, id: str, *, now: int) -> bool:
    found = tx.row("SELECT taken_at, expires_at FROM ask_claims WHERE space = :space AND id = :id", id=id)
    return found is not None and is_live(now, taken_at=found[0], expires_at=found[1])


def reserve_tokens(tx: Tx, id: str, *, owner: str, day: str, tokens: int, budget: int) -> bool:
    """Reserve the tokens of one call; False when they exceed the day's budget or the claim was lost."""
    if spoken_for(tx, day) + tokens > budget:
        return False
    return bool(db.update(tx, "ask_claims", {"id": id, "owner": owner}, reserved=tokens, day=day))


def settle_usage(tx: Tx, id: str, *, owner: str, used: Usage) -> None:
    """Replace the tokens reserved for a call by those it used."""
    db.update(tx, "ask_claims", {"id": id, "owner": owner}, reserved=0)
    add_usage(tx, used)


def release_call(tx: Tx, id: str, *, owner: str) -> None:
    """Release a claim; reserved tokens that were never settled count as used."""
    row = tx.row(
        "SELECT day, kind, generator, reserved FROM ask_claims WHERE space = :space AND id = :id AND owner = :owner",
        id=id,
        owner=owner,
    )
    if row and row[3]:
        add_usage(tx, Usage(day=row[0], kind=row[1], generator=row[2], calls=1, input_tokens=row[3]))
    tx.run("DELETE FROM ask_claims WHERE space = :space AND id = :id AND owner = :owner", id=id, owner=owner)
