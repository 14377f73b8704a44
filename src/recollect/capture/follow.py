"""Following logs that somebody edits by hand: those of the latest days are read in before a search.

A log whose stamp is unchanged costs one look at the file system; older ones wait for the next cycle. The tree is not
touched, and learns of the change by itself.
"""

from __future__ import annotations

from datetime import timedelta

from recollect.capture import log as logs
from recollect.capture.log import source
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
        deleted = {day for day in missing if passages.ids_under(tx, f"{source(day)}#")}
    changed = 0
    for day in latest:
        stamp = stamps.get(log_path(day), "")
        written_to = stamp not in ("", searched.get(source(day)), compacted.get(day.isoformat()))
        if written_to or day in deleted:
            log = logs.read(ctx, day)
            with ctx.db.write(ctx.space) as tx:
                logs.read_in(tx, ctx, log)
            changed += 1
    return changed
