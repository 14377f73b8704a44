"""Leases: rows that let one process at a time do a long piece of work, without holding a lock.

A lease expires by itself, so a killed holder blocks nobody for long, whatever the clock did: one that was taken later
than now was taken while the clock was ahead, and has expired. The fence grows with every taking; a holder that was
overtaken finds that its fence is old and must not write.

Leases are held against the process's own clock, never against the time of a record that is replayed.
"""

from __future__ import annotations

from contextlib import suppress

from recollect.core.clock import MINUTE
from recollect.core.context import Context, Tx
from recollect.core.errors import Refused, Trouble
from recollect.core.record import record
from recollect.store import rows

CLOCKS_APART = MINUTE
"""How far the clocks of a team's machines may differ; a lease from further ahead is no live process's."""


@record
class Lease:
    name: str
    owner: str
    fence: int


def is_live(now: int, *, taken_at: int, expires_at: int) -> bool:
    """Whether a lease still counts: it has not run out, and does not run for longer than its length from now on."""
    return now < expires_at and taken_at <= now + CLOCKS_APART


def take(ctx: Context, name: str, *, seconds: float) -> Lease | None:
    """The lease, or None while somebody else holds it."""
    owner = ctx.ids("lease")
    now = ctx.wall_clock.now()
    with ctx.db.write(ctx.space) as tx:
        sql = "SELECT fence, taken_at, expires_at FROM leases WHERE space = :space AND name = :name"
        held = tx.row(sql, name=name)
        if held and is_live(now, taken_at=held[1], expires_at=held[2]):
            return None
        fence = (held[0] if held else 0) + 1
        until = now + round(seconds * 1000)
        rows.put(tx, "leases", "name", name=name, owner=owner, fence=fence, taken_at=now, expires_at=until)
    return Lease(name=name, owner=owner, fence=fence)


def renew(ctx: Context, lease: Lease, *, seconds: float) -> None:
    """Ask for more time; refused when somebody overtook us."""
    now = ctx.wall_clock.now()
    with ctx.db.write(ctx.space) as tx:
        check(tx, lease)
        tx.run(
            "UPDATE leases SET taken_at = :now, expires_at = :until WHERE space = :space AND name = :name",
            name=lease.name,
            now=now,
            until=now + round(seconds * 1000),
        )


def release(ctx: Context, lease: Lease) -> None:
    """Give it back early; the fence stays, so that it only ever grows.

    One that cannot be given back runs out by itself: what it was taken for is done or not without it.
    """
    with suppress(Trouble), ctx.db.write(ctx.space) as tx:
        tx.run(
            "UPDATE leases SET expires_at = 0 WHERE space = :space AND name = :name AND owner = :owner",
            name=lease.name,
            owner=lease.owner,
        )


def check(tx: Tx, lease: Lease) -> None:
    """Call inside the transaction that writes the result of leased work."""
    fence = tx.value("SELECT fence FROM leases WHERE space = :space AND name = :name", name=lease.name)
    if fence != lease.fence:
        raise Refused(f"another process took over {lease.name}; its result stands")
