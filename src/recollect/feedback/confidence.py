"""How confidence moves: by verdicts and by decay. All arithmetic is in integer thousandths and clamped.

Every move is an event.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from datetime import date, datetime, time, tzinfo

from recollect.core.choices import Verdict
from recollect.core.clock import DAY, day_of, zone_named
from recollect.core.context import Context, Tx
from recollect.core.errors import NoHistory
from recollect.core.learning import Learning
from recollect.core.values import decimal, thousandths
from recollect.store import events
from recollect.store import learnings as rows

BATCH = 500  # learnings per transaction: few enough that other writers do not wait long


def after_verdict(ctx: Context, stored: int, verdict: Verdict) -> int:
    """Confidence after one more verdict."""
    rules = ctx.settings.confidence
    # A person may have set a value beyond the bounds; then a verdict does not move it back.
    if verdict == "helpful":
        return max(stored, min(thousandths(rules.ceiling), stored + thousandths(rules.helpful)))
    return min(stored, max(thousandths(rules.floor), stored - thousandths(rules.not_helpful)))


def without_verdict(ctx: Context, stored: int, moved: int) -> int:
    """Confidence without what a verdict moved, within the same bounds as the verdict."""
    rules = ctx.settings.confidence
    lowest, highest = min(stored, thousandths(rules.floor)), max(stored, thousandths(rules.ceiling))
    return max(lowest, min(highest, stored - moved))


def decay(ctx: Context, *, dry_run: bool = False) -> int:
    """Lower the confidence of unused learnings, once per full period since the last use, however often this runs.

    Gives how many lost confidence; with `dry_run`, how many would. The end of the last counted period is stored, not
    the time of the run, so that a late run takes neither more nor less.
    """
    changed = 0
    now = ctx.clock.now()
    active: tuple[date, ...] | None = None
    if ctx.settings.confidence.decay_clock == "active":
        try:
            active = ctx.git.active_days()
        except NoHistory:
            return 0  # without known active days nothing decays
    for batch in _due_batches(ctx, now):
        with ctx.db.read(ctx.space) if dry_run else ctx.db.write(ctx.space) as tx:
            for id in batch:
                changed += _decay_one(tx, ctx, rows.get(tx, id), now, active, dry_run=dry_run)
    return changed


def periods_due(anchor: int, now: int, days: int) -> tuple[int, int]:
    """Full periods of calendar days between two instants, and the instant the last of them ended."""
    count = max(0, (now - anchor) // (days * DAY))
    return count, anchor + count * days * DAY


def active_periods_due(anchor: int, now: int, days: int, active: tuple[date, ...], zone: tzinfo) -> tuple[int, int]:
    """The same in active days, counted from the day after the anchor's; a period ends when its last day begins."""
    after = active[bisect_right(active, day_of(anchor, zone)) : bisect_right(active, day_of(now, zone))]
    count = len(after) // days
    if not count:
        return 0, anchor
    return count, round(datetime.combine(after[count * days - 1], time.min, zone).timestamp() * 1000)


def _decay_one(
    tx: Tx, ctx: Context, learning: Learning, now: int, active: tuple[date, ...] | None, *, dry_run: bool
) -> int:
    rules = ctx.settings.confidence
    used = rows.last_used(learning)
    if active is None:
        count, until = periods_due(used, now, rules.decay_days)
    else:
        count, until = active_periods_due(used, now, rules.decay_days, active, zone_named(ctx.settings.timezone))
    if not count:
        return 0
    before = round(learning.confidence * 1000)
    # A confidence that was set below the floor stays there: decay never raises.
    after = min(before, max(thousandths(rules.floor), before - count * thousandths(rules.decay)))
    if dry_run:
        return int(after != before)
    rows.set_decayed(tx, learning.id, stored=after, until=until)
    if after == before:
        return 0
    events.record(
        tx,
        ctx,
        subject=learning.id,
        what="confidence.decayed",
        old={"confidence": decimal(before)},
        new={"confidence": decimal(after)},
        reason=f"{count} x {rules.decay_days} {rules.decay_clock} days without use",
    )
    return 1


def _due_batches(ctx: Context, now: int) -> Iterator[list[str]]:
    """Ids that may be due, in batches."""
    rules = ctx.settings.confidence
    # Active days begin at midnight, so a period of them can be almost a day shorter than its number of days.
    days = rules.decay_days - 1 if rules.decay_clock == "active" else rules.decay_days
    before = now - days * DAY
    ids = ctx.read(rows.unused_since, before)
    for start in range(0, len(ids), BATCH):
        yield ids[start : start + BATCH]
