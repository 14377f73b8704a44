"""The facet of the journal and its tree."""

from __future__ import annotations

from datetime import date
from typing import Any

from recollect.capture import log
from recollect.capture import log_files as logs
from recollect.capture.log import Logged
from recollect.capture.log_files import LogDay
from recollect.core.context import Context
from recollect.core.journal import Entry, NewEntry, Point
from recollect.core.record import as_record
from recollect.distil import tree
from recollect.distil.tree import Compacted, NodeView
from recollect.distil.upkeep import Progress
from recollect.memory.opening import embed_at_once
from recollect.tend.rebuild import rebuild_tree
from recollect.tend.reindex import reindex


class Journal:
    """Raw logs and the nodes made from them."""

    def __init__(self, context: Context, folder: str):
        self._context = context
        self._folder = folder

    def add(self, new: NewEntry | None = None, /, **fields: Any) -> Logged:
        """Append an entry, given as a record or as its fields."""
        done = log.add(self._context, as_record(new, NewEntry, fields))
        embed_at_once(self._context)
        return done

    def days(self) -> list[LogDay]:
        """The days with a log, newest first."""
        return logs.listed(self._context)

    def show(self, day: date | str) -> str:
        """A day's log; the day may be called `today` or `yesterday`."""
        return logs.show(self._context, logs.day_named(self._context, day) if isinstance(day, str) else day)

    def today(self) -> date:
        """Whose log an entry without a session goes into."""
        return logs.today(self._context)

    def nodes(self) -> list[str]:
        """The ids of all nodes."""
        return tree.ids(self._context)

    def entry(self, id: str) -> Entry:
        return logs.entry(self._context, id)

    def adopt(self, id: str) -> Entry:
        """Vouch for an entry that came from outside; the entry that says so, which nodes may hold."""
        done = log.adopt(self._context, id)
        embed_at_once(self._context)
        return done

    def compact(
        self, *, everything: bool = False, dry_run: bool = False, progress: Progress | None = None
    ) -> tuple[Compacted, str]:
        """What was done, and a warning when the configured re-index command failed."""
        done = tree.compact(self._context, everything=everything, dry_run=dry_run, progress=progress)
        changed = bool(done.changes) and not dry_run
        return done, reindex(self._context.settings.tree.reindex, self._folder) if changed else ""

    def rebuild(self) -> Compacted:
        """Make every node again from the raw logs."""
        return rebuild_tree(self._context)

    def tree(self, period: str | None = None) -> list[NodeView]:
        return tree.view(self._context, period)

    def node(self, id: str) -> str:
        """A node's file as it stands."""
        return tree.read(self._context, id)

    def sources(self, id: str) -> list[Point]:
        """Every line of a node with the entries it was taken from."""
        return tree.sources(self._context, id)
