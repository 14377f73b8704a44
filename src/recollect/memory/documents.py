"""The facet of the journal and its tree.

The facet of staged learnings and the documents they go into.

The facet of findings and the themes they gather into.

The facet of any text by its id: what a search hit leads to.
"""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING, Any

from recollect.capture import finding as findings
from recollect.capture import log, logs
from recollect.capture.finding import Survey
from recollect.capture.learn import Captured
from recollect.capture.log import Logged
from recollect.capture.logs import LogDay
from recollect.core.context import Context
from recollect.core.finding import AddedFinding, Finding, NewFinding, Theme
from recollect.core.journal import Entry, NewEntry, Point
from recollect.core.records import as_record, as_text
from recollect.distil import themes, tree
from recollect.distil.compact import Progress
from recollect.distil.themes import Due, Gathering
from recollect.distil.tree import Compacted, NodeView
from recollect.memory.open import embed_at_once
from recollect.tend import kinds
from recollect.tend.cycle import reindex
from recollect.tend.kinds import FullText, Neighbouring
from recollect.tend.verify import rebuild_tree

if TYPE_CHECKING:
    from recollect.capture.learn import Captured
    from recollect.capture.stage import Staged
    from recollect.distil.documents import IndexState, Refactored
    from recollect.distil.inbox import RestoredEntry
    from recollect.distil.staged import Ages, Consolidation


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


class Staging:
    """Learnings between hand-offs: staged, aged, consolidated, brought back."""

    def __init__(self, context: Context):
        self._context = context

    def stage(self, title: str, body: str = "") -> Staged:
        """Append a learning to the staging file, past the quality gate."""
        from recollect.capture.stage import stage

        return stage(self._context, as_text(title, "title"), as_text(body, "body"))

    def ages(self, path: str | None = None) -> Ages:
        """How long each entry has been staged, in active days."""
        from recollect.distil.staged import ages

        return ages(self._context, path)

    def undated(self) -> Ages:
        """What is staged, where `ages` is refused because git cannot say how old it is."""
        from recollect.distil.staged import undated

        return undated(self._context)

    def consolidate(self, *, dry_run: bool = False) -> Consolidation:
        """Move what has proved itself into the permanent documents, when that is due."""
        from recollect.distil.consolidate import consolidate

        return consolidate(self._context, dry_run=dry_run)

    def preview(self) -> Consolidation:
        """What a consolidation would do, without asking a model: only what one answered before is used."""
        from dataclasses import replace

        from recollect.distil.consolidate import consolidate
        from recollect.models.ask import CachedOnly

        return consolidate(replace(self._context, models=CachedOnly(self._context.models)), dry_run=True)

    def restore(self, entry: str) -> RestoredEntry:
        """Stage an entry again that left the staging file."""
        from recollect.distil.inbox import restore

        return restore(self._context, entry)

    def promote(self, entry: str, *, context: str = "", implication: str = "", action: str = "") -> Captured:
        """Make a staged entry a learning with confidence."""
        from recollect.distil.staged import promote

        return promote(self._context, entry, context=context, implication=implication, action=action)

    def refactor(self, path: str, *, force: bool = False) -> Refactored:
        """Split a permanent document that grew too long; with `force` also one that did not."""
        from recollect.distil.documents import refactor

        return refactor(self._context, path, force=force)

    def index(self, *, check: bool = False) -> IndexState:
        """Write the memory index again, or only say what is wrong with it."""
        from recollect.distil import documents

        return documents.check_index(self._context) if check else documents.write_index(self._context)


class Themes:
    """Raw findings of work units, and the short files that sum them up."""

    def __init__(self, context: Context):
        self._context = context

    def add(self, work_id: str, new: NewFinding | None = None, **fields: Any) -> AddedFinding:
        return findings.add(self._context, work_id, as_record(new, NewFinding, fields))

    def finding(self, id: str) -> Finding:
        return findings.get(self._context, id)

    def promote(self, id: str, *, title: str | None = None) -> Captured:
        return findings.promote(self._context, id, title=title)

    def survey(self) -> Survey:
        """The raw files: usable ones, and those passed over with the reason."""
        return findings.survey(self._context)

    def due(self) -> Due:
        return themes.due(self._context, findings.survey(self._context))

    def run(self, *, always: bool = False) -> Gathering:
        return themes.run(self._context, always=always)

    def list(self) -> list[Theme]:
        return themes.themes(self._context)

    def show(self, name: str) -> tuple[Theme, str]:
        return themes.text_of(self._context, name)

    def index(self) -> str:
        """INDEX.md as it stands."""
        return themes.index(self._context)

    def rename(self, old: str, new: str) -> Theme:
        return themes.rename(self._context, old, new)


class Texts:
    """Whole texts, and what stands beside them."""

    def __init__(self, context: Context):
        self._context = context

    def get(self, id: str) -> FullText:
        """The whole of whatever an id names."""
        return kinds.get(self._context, id)

    def around(self, id: str, *, before: int = 3, after: int = 3) -> list[Neighbouring]:
        """What stands before and after it, in short."""
        return kinds.around(self._context, id, before=before, after=after)
