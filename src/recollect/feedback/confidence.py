"""How confidence moves. All arithmetic is in integer thousandths and clamped; every move is an event."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import UTC, date, datetime

from recollect.core.clock import DAY
from recollect.core.confidence import decimal, thousandths
from recollect.core.context import Context, Tx
from recollect.core.errors import NoHistory
from recollect.core.learning import Learning, Verdict
from recollect.store import events
from recollect.store import learnings as rows

BATCH = 500


def after_verdict(ctx: Context, stored: int, verdict: Verdict) -> int:
    """Confidence after one more verdict."""
    rules = ctx.settings.confidence
    step = thousandths(rules.helpful) if verdict == "helpful" else -thousandths(rules.not_helpful)
    return clamped(ctx, stored + step)


def clamped(ctx: Context, stored: int) -> int:
    rules = ctx.settings.confidence
    return max(thousandths(rules.floor), min(thousandths(rules.ceiling), stored))


def decay(ctx: Context) -> int:
    """Take what is due from learnings nobody used: per full period since the last use, however often this runs.

    What was taken is remembered as the end of the last full period counted, not as the moment of running, so that a
    run a day late takes neither more nor less.
    """
    changed = 0
    now = ctx.clock.now()
    active: tuple[date, ...] | None = None
    if ctx.settings.confidence.decay_clock == "active":
        try:
            active = ctx.git.active_days()
        except NoHistory:
            return 0  # nobody can say which days were active; forgetting nothing is the safe answer
    for batch in _due_batches(ctx, now):
        with ctx.db.write(ctx.space) as tx:
            for id in batch:
                changed += _decay_one(tx, ctx, rows.get(tx, id), now, active)
    return changed


def periods_due(anchor: int, now: int, days: int, active: tuple[date, ...] | None) -> tuple[int, int]:
    """Full periods between two instants, and the instant the last of them ended."""
    if active is None:
        count = max(0, (now - anchor) // (days * DAY))
        return count, anchor + count * days * DAY
    after = active[bisect_right(active, _day(anchor)) : bisect_right(active, _day(now))]
    count = len(after) // days
    if not count:
        return 0, anchor
    return count, round(datetime.combine(after[count * days - 1], datetime.min.time(), UTC).timestamp() * 1000)


def _decay_one(tx: Tx, ctx: Context, learning: Learning, now: int, active: tuple[date, ...] | None) -> int:
    rules = ctx.settings.confidence
    count, until = periods_due(rows.last_used(learning), now, rules.decay_days, active)
    if not count:
        return 0
    before = round(learning.confidence * 1000)
    # What was set below the floor on purpose stays there: decay only ever takes.
    after = min(before, max(thousandths(rules.floor), before - count * thousandths(rules.decay)))
    rows.set_decayed(tx, learning.id, stored=after, until=until)
    if after == before:
        return 0
    events.record(
        tx,
        ctx,
        change=ctx.ids("change"),
        subject=learning.id,
        what="confidence.decayed",
        old={"confidence": decimal(before)},
        new={"confidence": decimal(after)},
        reason=f"{count} x {rules.decay_days} {rules.decay_clock} days without use",
    )
    return 1


def _due_batches(ctx: Context, now: int) -> Iterator[list[str]]:
    """Ids that may be due, in small transactions so that nobody waits long for the writer."""
    before = now - ctx.settings.confidence.decay_days * DAY
    with ctx.db.read(ctx.space) as tx:
        ids = rows.unused_since(tx, before)
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]


def _day(ms: int) -> date:
    return datetime.fromtimestamp(ms / 1000, UTC).date()
