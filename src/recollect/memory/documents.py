"""The facets of texts: the journal and its tree, staged learnings, findings and themes, and any text by its id.

A method is one call into a room; what it means is said there.
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
from recollect.core.finding import AddedFinding, Finding, NewFinding, Theme
from recollect.core.journal import Entry, NewEntry, Point
from recollect.core.records import as_record, as_text
from recollect.distil import themes, tree
from recollect.distil.compact import Progress
from recollect.distil.themes import Due, Gathering
from recollect.distil.tree import Compacted, NodeView
from recollect.memory.memory import Facet
from recollect.memory.open import embed_at_once
from recollect.tend import kinds
from recollect.tend.cycle import reindex
from recollect.tend.kinds import AgentText, FullText, Neighbouring
from recollect.tend.verify import rebuild_tree

if TYPE_CHECKING:
    from recollect.capture.learn import Captured
    from recollect.capture.stage import Staged
    from recollect.distil.documents import IndexState, Refactored
    from recollect.distil.inbox import RestoredEntry
    from recollect.distil.staged import Ages, Consolidation


class Journal(Facet):
    """Raw logs and the nodes made from them."""

    def add(self, new: NewEntry | None = None, /, **fields: Any) -> Logged:
        """Append an entry, given as a record or as its fields."""
        done = log.add(self._ctx, as_record(new, NewEntry, fields))
        embed_at_once(self._ctx)
        return done

    def days(self) -> list[LogDay]:
        """The days with a log, newest first."""
        return logs.listed(self._ctx)

    def show(self, day: date | str) -> str:
        """A day's log; the day may be called `today` or `yesterday`."""
        return logs.show(self._ctx, logs.day_named(self._ctx, day) if isinstance(day, str) else day)

    def today(self) -> date:
        """Whose log an entry without a session goes into."""
        return logs.today(self._ctx)

    def nodes(self) -> list[str]:
        """The ids of all nodes."""
        return tree.ids(self._ctx)

    def entry(self, id: str) -> Entry:
        return logs.entry(self._ctx, id)

    def adopt(self, id: str) -> Entry:
        """Vouch for an entry that came from outside; the entry that says so, which nodes may hold."""
        done = log.adopt(self._ctx, id)
        embed_at_once(self._ctx)
        return done

    def compact(
        self, *, everything: bool = False, dry_run: bool = False, progress: Progress | None = None
    ) -> tuple[Compacted, str]:
        """What was done, and a warning when the configured re-index command failed."""
        done = tree.compact(self._ctx, everything=everything, dry_run=dry_run, progress=progress)
        changed = bool(done.changes) and not dry_run
        return done, reindex(self._ctx.settings.tree.reindex, str(self._project.root)) if changed else ""

    def rebuild(self) -> Compacted:
        """Make every node again from the raw logs."""
        return rebuild_tree(self._ctx)

    def tree(self, period: str | None = None) -> list[NodeView]:
        return tree.view(self._ctx, period)

    def node(self, id: str) -> str:
        """A node's file as it stands."""
        return tree.read(self._ctx, id)

    def sources(self, id: str) -> list[Point]:
        """Every line of a node with the entries it was taken from."""
        return tree.sources(self._ctx, id)


class Staging(Facet):
    """Learnings between hand-offs: staged, aged, consolidated, brought back."""

    def stage(self, title: str, body: str = "") -> Staged:
        """Append a learning to the staging file, past the quality gate."""
        from recollect.capture.stage import stage

        return stage(self._ctx, as_text(title, "title"), as_text(body, "body"))

    def ages(self, path: str | None = None) -> Ages:
        """How long each entry has been staged, in active days."""
        from recollect.distil.staged import ages

        return ages(self._ctx, path)

    def undated(self) -> Ages:
        """What is staged, where `ages` is refused because git cannot say how old it is."""
        from recollect.distil.staged import undated

        return undated(self._ctx)

    def consolidate(self, *, dry_run: bool = False) -> Consolidation:
        """Move what has proved itself into the permanent documents, when that is due."""
        from recollect.distil.consolidate import consolidate

        return consolidate(self._ctx, dry_run=dry_run)

    def preview(self) -> Consolidation:
        """What a consolidation would do, without asking a model: only what one answered before is used."""
        from dataclasses import replace

        from recollect.distil.consolidate import consolidate
        from recollect.models.ask import CachedOnly

        return consolidate(replace(self._ctx, models=CachedOnly(self._ctx.models)), dry_run=True)

    def restore(self, entry: str) -> RestoredEntry:
        """Stage an entry again that left the staging file."""
        from recollect.distil.inbox import restore

        return restore(self._ctx, entry)

    def promote(self, entry: str, *, context: str = "", implication: str = "", action: str = "") -> Captured:
        """Make a staged entry a learning with confidence."""
        from recollect.distil.staged import promote

        return promote(self._ctx, entry, context=context, implication=implication, action=action)

    def refactor(self, path: str, *, force: bool = False) -> Refactored:
        """Split a permanent document that grew too long; with `force` also one that did not."""
        from recollect.distil.documents import refactor

        return refactor(self._ctx, path, force=force)

    def index(self, *, check: bool = False) -> IndexState:
        """Write the memory index again, or only say what is wrong with it."""
        from recollect.distil import documents

        return documents.check_index(self._ctx) if check else documents.write_index(self._ctx)


class Themes(Facet):
    """Raw findings of work units, and the short files that sum them up."""

    def add(self, work_id: str, new: NewFinding | None = None, **fields: Any) -> AddedFinding:
        return findings.add(self._ctx, work_id, as_record(new, NewFinding, fields))

    def finding(self, id: str) -> Finding:
        return findings.get(self._ctx, id)

    def promote(self, id: str, *, title: str | None = None) -> Captured:
        return findings.promote(self._ctx, id, title=title)

    def survey(self) -> Survey:
        """The raw files: usable ones, and those passed over with the reason."""
        return findings.survey(self._ctx)

    def due(self) -> Due:
        return themes.due(self._ctx, findings.survey(self._ctx))

    def run(self, *, always: bool = False) -> Gathering:
        return themes.run(self._ctx, always=always)

    def list(self) -> list[Theme]:
        return themes.themes(self._ctx)

    def show(self, name: str) -> tuple[Theme, str]:
        return themes.text_of(self._ctx, name)

    def index(self) -> str:
        """INDEX.md as it stands."""
        return themes.index(self._ctx)

    def rename(self, old: str, new: str) -> Theme:
        return themes.rename(self._ctx, old, new)


class Texts(Facet):
    """Whole texts, and what stands beside them."""

    def get(self, id: str) -> FullText:
        """The whole of whatever an id names."""
        return kinds.get(self._ctx, id)

    def for_agent(self, id: str) -> AgentText:
        """The same as an agent is shown it."""
        return kinds.for_agent(self._ctx, id)

    def around(self, id: str, *, before: int = 3, after: int = 3) -> list[Neighbouring]:
        """What stands before and after it, in short."""
        return kinds.around(self._ctx, id, before=before, after=after)
