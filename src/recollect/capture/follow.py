"""Following what people and agents edit by hand: the staging file, documents and the latest logs, before a search.

A file whose stamp is unchanged costs one look at the file system; older logs wait for the next cycle. The tree is not
touched, and learns of a changed log by itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, timedelta

from recollect.capture import documents, stage
from recollect.capture import log_files as logs
from recollect.core.context import Context
from recollect.store import journal, passages, readings
from recollect.text.tree import log_path

DAYS = 7  # today and those before; and tomorrow, which another machine's today may be
DOCUMENTS = 50  # changed ones that are read while somebody waits for hits; a cycle reads them all


def refresh(ctx: Context) -> None:
    """Make what is searched follow the files."""
    read = readings.of(ctx)
    stage.refresh_passages(ctx, read=read)
    documents.refresh(ctx, read=read, most=DOCUMENTS)
    if ctx.db.engine == "sqlite":  # a team's logs are in its store, where nobody edits them by hand
        refresh_logs(ctx, read)


def refresh_all_logs(ctx: Context) -> int:
    """Read in every log that was written to since, however old and large: a process was killed between an entry and
    its rows, or somebody edited the file. How many those were."""
    read = readings.of(ctx)
    stamps = ctx.vault.stamps()
    with ctx.db.read(ctx.space) as tx:
        compacted = journal.log_stamps(tx, date.min)
    changed = 0
    for day in logs.days(name for name, stamp in stamps.items() if stamp):
        known = (read.get(logs.source(day)), compacted.get(day.isoformat()))
        if stamps[log_path(day)] not in known:
            with ctx.db.write(ctx.space) as tx:
                logs.index(tx, ctx, logs.read_in(tx, ctx, day))
            changed += 1
    return changed


def refresh_logs(ctx: Context, read: Mapping[str, str]) -> int:
    """Read in the latest logs that were written to or deleted since they were `read`; how many those were."""
    latest = [logs.today(ctx) + timedelta(days=1 - back) for back in range(DAYS + 1)]
    stamps = ctx.vault.stamps(names=[log_path(day) for day in latest])
    with ctx.db.read(ctx.space) as tx:
        compacted = journal.log_stamps(tx, latest[-1])
        missing = [day for day in latest if log_path(day) not in stamps and day.isoformat() in compacted]
        deleted = {day for day in missing if passages.ids_under(tx, f"{logs.source(day)}#")}
    changed = 0
    for day in latest:
        stamp = stamps.get(log_path(day), "")
        written_to = stamp not in ("", read.get(logs.source(day)), compacted.get(day.isoformat()))
        if written_to or day in deleted:
            with ctx.db.write(ctx.space) as tx:
                logs.read_in(tx, ctx, day)
            changed += 1
    return changed
