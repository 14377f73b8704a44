"""What changed since the last pass: logs by their stamps, nodes by the looks of their folders.

Ten years must cost what one month costs, so a pass looks closely at the latest quarter only. Older files are looked at
when a file was made, replaced or deleted beside them, on the first pass of a day, and when everything is asked for.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from recollect.capture import log_files as logs
from recollect.core import calendar
from recollect.core.calendar import LEVELS, Level, Period
from recollect.core.context import Tx
from recollect.core.errors import BadInput
from recollect.distil.node_files import NodeFiles
from recollect.store import journal
from recollect.text.tree import digest, log_path, path_of

CLOSE_LOOK = timedelta(days=92)
_LOGS = "logs"
_UNREADABLE = "unreadable"
_BEGUN = "begun"


@dataclass(frozen=True, kw_only=True)
class Noticed:
    """Days whose log was written to, days whose log is gone, and nodes that are not as we left them."""

    written: tuple[date, ...]
    gone: tuple[date, ...]
    damaged: frozenset[Period]


def notice(files: NodeFiles, *, everything: bool) -> Noticed:
    seen = looks(files)
    with files.ctx.db.read(files.ctx.space) as tx:
        thorough = everything or journal.state(tx, "looked on") != files.today.isoformat()
        moved = {name for name, look in seen.items() if thorough or journal.state(tx, f"look {name}") != look}
        known = journal.log_stamps(tx, date.min if _LOGS in moved else files.today - CLOSE_LOOK)
        unread = unreadable(tx)
        cut_off = _above_all_days(tx) if journal.state(tx, _BEGUN) else frozenset()
    # Two days ahead: another machine's today may be our tomorrow.
    latest = [log_path(files.today + timedelta(days=2 - n)) for n in range(CLOSE_LOOK.days + 3)]
    stamps = files.ctx.vault.stamps(names=None if _LOGS in moved else latest)
    changed = (name for name, stamp in stamps.items() if everything or known.get(name[:-3]) != stamp)
    looked_at = {f"{day}.md" for day in known} if _LOGS in moved else set(latest)
    return Noticed(
        written=tuple(logs.days({*changed, *unread})),
        gone=tuple(date.fromisoformat(day) for day in known if f"{day}.md" in looked_at - stamps.keys()),
        damaged=cut_off.union(*(_damaged(files, level) for level in LEVELS if level in moved)),
    )


def begin(tx: Tx) -> None:
    """From here until `remember` a node may be made whose parents are not: who finds the mark looks at all of them."""
    journal.put_state(tx, _BEGUN, "yes")


def remember(files: NodeFiles, tx: Tx, looks: dict[str, str]) -> None:
    """What everything looked like when the pass ended."""
    journal.put_state(tx, _BEGUN, "")
    journal.put_state(tx, "looked on", files.today.isoformat())
    journal.put_state(tx, _UNREADABLE, " ".join(sorted(path for path in files.unreadable if "/" not in path)))
    for name, look in looks.items():
        journal.put_state(tx, f"look {name}", look)


def unreadable(tx: Tx) -> list[str]:
    """The logs that the last pass could not read. Every pass tries again: what they say is in no node."""
    return journal.state(tx, _UNREADABLE).split()


def looks(files: NodeFiles) -> dict[str, str]:
    return {name: _look(files, name) for name in (_LOGS, *LEVELS)}


def _look(files: NodeFiles, name: str) -> str:
    """Changes with the files of a folder; of nodes also when one of the latest was written to in place."""
    vault = files.ctx.vault
    if name == _LOGS:
        return vault.folder_stamp("")
    level: Level = next(level for level in LEVELS if level == name)
    days = (files.today - timedelta(days=n) for n in range(CLOSE_LOOK.days))
    of = {"daily": calendar.day, "weekly": calendar.week, "monthly": calendar.month}[level]
    latest = sorted({path_of(of(day).id).partition("/")[2] for day in days})
    return digest(f"{vault.folder_stamp(level)} {vault.stamps(level, names=latest)}")


def _above_all_days(tx: Tx) -> frozenset[Period]:
    """Every week and month that has a day: after a pass that was cut off, any of them may be behind."""
    found: set[Period] = set()
    for row in journal.nodes_between(tx, "daily", date.min, date.max):
        above = calendar.parent(calendar.parse_period(row.id))
        while above is not None:
            found.add(above)
            above = calendar.parent(above)
    return frozenset(found)


def _damaged(files: NodeFiles, level: Level) -> set[Period]:
    """Nodes that are missing, edited, left in conflict or a stranger's."""
    with files.ctx.db.read(files.ctx.space) as tx:
        known = {row.id: row for row in journal.nodes_between(tx, level, date.min, date.max)}
    here = {period.id for name in files.ctx.vault.stamps(level) if (period := _period(level, name))}
    odd = {id for id in known.keys() | here if id not in known or id not in here or not files.intact(known[id])}
    return set(map(calendar.parse_period, odd))


def _period(level: Level, name: str) -> Period | None:
    try:
        found = calendar.parse_period(f"{level}/{name.removesuffix('.md')}")
    except BadInput:
        return None
    return found if name.endswith(".md") else None
