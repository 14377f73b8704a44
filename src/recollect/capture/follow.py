"""Following logs that somebody edits by hand: those of the latest days are read in before a search.

A log whose stamp is unchanged costs one look at the file system; older ones wait for the next cycle. The tree is not
touched, and learns of the change by itself.
"""

from __future__ import annotations

from datetime import date, timedelta

from recollect.capture import log as logs
from recollect.capture.log import KIND, LogText
from recollect.core.context import Context
from recollect.store import journal, passages, readings
from recollect.text.tree import log_path

DAYS = 7  # today and those before; and tomorrow, which another machine's today may be


def refresh(ctx: Context) -> int:
    """Read in the latest logs that were written to or deleted since; how many those were."""
    latest = [logs.today(ctx) + timedelta(days=1 - back) for back in range(DAYS + 1)]
    stamps = ctx.vault.stamps(names=[log_path(day) for day in latest])
    with ctx.db.read(ctx.space) as tx:
        searched = readings.stamps(tx, ctx.clone)
        compacted = journal.log_stamps(tx, latest[-1])
        missing = [day for day in latest if log_path(day) not in stamps]
        deleted = {day for day in missing if passages.ids_under(tx, f"{_source(day)}#")}
    changed = 0
    for day in latest:
        stamp = stamps.get(log_path(day), "")
        written_to = stamp not in ("", searched.get(_source(day)), compacted.get(day.isoformat()))
        if written_to or day in deleted:
            _read_in(ctx, day, stamp)
            changed += 1
    return changed


def _read_in(ctx: Context, day: date, stamp: str) -> None:
    log = logs.read(ctx, day) if stamp else LogText(day=day, entries=(), hash="", raw=None)
    with ctx.db.write(ctx.space) as tx:
        readings.put(tx, ctx.clone, _source(day), stamp=stamp, ids=(), at=ctx.clock.now())
        if sum(len(each.text) for each in log.entries) <= logs.INDEXED_AT_ONCE:
            logs.index(tx, ctx, log)


def _source(day: date) -> str:
    return f"{KIND}/{day.isoformat()}"
