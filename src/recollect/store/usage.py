"""Rows about what models used, and the claims that keep two processes from paying for the same ask.

A claim carries the tokens that the running call may use at most; together with what was used on that day it never
passes the budget. A claim outlives its killed holder until it expires, like a lease, and counts as used from then on:
the call may have been paid for.
"""

from __future__ import annotations

from dataclasses import dataclass

from recollect.core.context import Tx
from recollect.store import rows
from recollect.store.leases import CLOCKS_APART, is_live

MOST = 10**12
"""Tokens one call may claim to have used: a number that no server means is not carried into sums."""


@dataclass(frozen=True, kw_only=True)
class Usage:
    """What one kind of job used of one model on one day. A fall-back is an ask that the offline twin answered."""

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


def add(tx: Tx, used: Usage) -> None:
    tx.run(
        """
        INSERT INTO model_usage
          (space, day, kind, generator, calls, input_tokens, output_tokens, cost_micros, fallbacks)
        VALUES (:space, :day, :kind, :generator, :calls, :input_tokens, :output_tokens, :cost_micros, :fallbacks)
        ON CONFLICT (space, day, kind, generator) DO UPDATE SET
          calls = model_usage.calls + excluded.calls,
          input_tokens = model_usage.input_tokens + excluded.input_tokens,
          output_tokens = model_usage.output_tokens + excluded.output_tokens,
          cost_micros = model_usage.cost_micros + excluded.cost_micros,
          fallbacks = model_usage.fallbacks + excluded.fallbacks""",
        **vars(used)
        | {name: min(getattr(used, name), MOST) for name in ("input_tokens", "output_tokens", "cost_micros")},
    )


def everything(tx: Tx) -> list[Usage]:
    """All rows, oldest day first."""
    columns = "day, kind, generator, calls, input_tokens, output_tokens, cost_micros, fallbacks"
    sql = f"SELECT {columns} FROM model_usage WHERE space = :space ORDER BY day, kind, generator"
    return [rows.record_from(Usage, columns, row) for row in tx.rows(sql)]


def spoken_for(tx: Tx, day: str) -> int:
    """Tokens of a day that are used, or may be by calls that are under way."""
    used = tx.value(
        "SELECT coalesce(sum(input_tokens + output_tokens), 0) FROM model_usage WHERE space = :space AND day = :day",
        day=day,
    )
    reserved = tx.value(
        "SELECT coalesce(sum(reserved), 0) FROM ask_claims WHERE space = :space AND day = :day", day=day
    )
    return int(used) + int(reserved)


def claim(tx: Tx, id: str, *, owner: str, kind: str, generator: str, day: str, now: int, until: int) -> bool:
    """Become the only one who asks; False while somebody else does."""
    for expired, holder in tx.rows(
        "SELECT id, owner FROM ask_claims WHERE space = :space AND (expires_at <= :now OR taken_at > :latest)",
        now=now,
        latest=now + CLOCKS_APART,
    ):
        release(tx, expired, owner=holder)
    if claimed(tx, id, now=now):
        return False
    values = {"taken_at": now, "expires_at": until, "day": day, "kind": kind, "generator": generator, "reserved": 0}
    rows.add(tx, "ask_claims", id=id, owner=owner, **values)
    return True


def claimed(tx: Tx, id: str, *, now: int) -> bool:
    """Whether somebody asks this right now."""
    found = tx.row("SELECT taken_at, expires_at FROM ask_claims WHERE space = :space AND id = :id", id=id)
    return found is not None and is_live(now, taken_at=found[0], expires_at=found[1])


def reserve(tx: Tx, id: str, *, owner: str, day: str, tokens: int, budget: int) -> bool:
    """Set the tokens of one call aside; False when the day's budget does not have them or the claim was lost."""
    if spoken_for(tx, day) + tokens > budget:
        return False
    return bool(
        tx.run(
            "UPDATE ask_claims SET reserved = :tokens, day = :day WHERE space = :space AND id = :id AND owner = :owner",
            id=id,
            owner=owner,
            day=day,
            tokens=tokens,
        )
    )


def settle(tx: Tx, id: str, *, owner: str, used: Usage) -> None:
    """Put what a call really used in the place of what was set aside for it."""
    tx.run(
        "UPDATE ask_claims SET reserved = 0 WHERE space = :space AND id = :id AND owner = :owner", id=id, owner=owner
    )
    add(tx, used)


def release(tx: Tx, id: str, *, owner: str) -> None:
    """Give a claim back; what was set aside and never settled counts as used."""
    row = tx.row(
        "SELECT day, kind, generator, reserved FROM ask_claims WHERE space = :space AND id = :id AND owner = :owner",
        id=id,
        owner=owner,
    )
    if row and row[3]:
        add(tx, Usage(day=row[0], kind=row[1], generator=row[2], calls=1, input_tokens=row[3]))
    tx.run("DELETE FROM ask_claims WHERE space = :space AND id = :id AND owner = :owner", id=id, owner=owner)
