"""The facets of texts: the journal and its tree, findings and themes, staged learnings, and any text by its id."""

from __future__ import annotations

from contextlib import suppress
from datetime import date
from typing import Any

from recollect.capture import finding as findings
from recollect.capture import log, logs, topics
from recollect.capture import stage as stages
from recollect.capture.documents import refresh_logs
from recollect.capture.log import Accepted, Logged
from recollect.capture.logs import LogDay
from recollect.capture.stage import Staged
from recollect.core.errors import Trouble
from recollect.core.finding import AddedFinding, NewFinding
from recollect.core.journal import Entry, NewEntry
from recollect.core.records import as_record, as_text
from recollect.distil import consolidate as runs
from recollect.distil import inbox, staged, themes
from recollect.distil import tree as trees
from recollect.distil.staged import Consolidation, IndexState
from recollect.distil.themes import Due
from recollect.distil.tree import Compacted, Progress
from recollect.memory.memory import Facet, call, reads
from recollect.memory.open import embed_at_once
from recollect.models.budget import limited
from recollect.store import journal as node_rows
from recollect.store import topics as topic_rows
from recollect.tend import kinds
from recollect.tend.cycle import reindex
from recollect.tend.doctor import rebuild_tree


class Journal(Facet):
    def add(self, new: NewEntry | None = None, /, **fields: Any) -> Logged:
        done = log.add(self._ctx, as_record(new, NewEntry, fields))
        embed_at_once(self._ctx)
        return done

    def days(self) -> list[LogDay]:
        self._read_in()
        return logs.listed(self._ctx)

    def show(self, day: date | str) -> str:
        return logs.show(self._ctx, logs.day_named(self._ctx, day) if isinstance(day, str) else day)

    today = call(logs.today)
    entries = call(logs.entries_of)
    nodes = reads(node_rows.ids)
    entry = call(logs.entry)

    def adopt(self, id: str) -> Entry:
        """Vouch for an entry from outside; returns the entry that records this, which nodes may use."""
        done = log.adopt(self._ctx, id)
        embed_at_once(self._ctx)
        return done

    def accept(self) -> Accepted:
        """Trust what others wrote, and will write, in the shared folder as an agent's."""
        self._read_in()
        return log.accept(self._ctx)

    def _read_in(self) -> None:
        """Read in the logs that a pull or a person changed; a read-only store stays as it is."""
        with suppress(Trouble):
            refresh_logs(self._ctx)

    def compact(self, *, everything: bool = False, progress: Progress | None = None) -> tuple[Compacted, str]:
        done = trees.compact(self._ctx, everything=everything, progress=progress)
        return done, reindex(self._ctx.settings.tree.reindex, str(self._project.root)) if done.changes else ""

    rebuild = call(rebuild_tree)
    tree = call(trees.view)
    node = call(trees.read)
    sources = call(trees.sources)


class Themes(Facet):
    def add(self, work_id: str, new: NewFinding | None = None, **fields: Any) -> AddedFinding:
        return findings.add(self._ctx, work_id, as_record(new, NewFinding, fields))

    finding = call(findings.get)
    adopt = call(findings.adopt)
    hold = call(findings.hold)
    promote = call(findings.promote)
    survey = call(findings.survey)

    def due(self) -> Due:
        return themes.due(self._ctx, findings.survey(self._ctx))

    preview = call(themes.preview)
    run = call(themes.run)
    list = call(themes.themes)
    show = call(themes.text_of)
    index = call(themes.index)
    rename = call(themes.rename)


class Texts(Facet):
    get = call(kinds.get)
    briefly = call(kinds.briefly)
    for_agent = call(kinds.for_agent)
    around = call(kinds.around)


class Staging(Facet):
    def stage(self, title: str, body: str = "") -> Staged:
        return stages.stage(self._ctx, as_text(title, "title"), as_text(body, "body"))

    ages = call(staged.ages)
    undated = call(staged.undated)
    consolidate = call(runs.consolidate)
    restore = call(inbox.restore)
    adopt = call(stages.adopt)
    hold = call(stages.hold)
    promote = call(staged.promote)
    withdraw = call(staged.withdraw)
    refactor = call(staged.refactor)

    def preview(self) -> Consolidation:
        """What a consolidation would do; models are not called, only cached answers are used."""
        return runs.consolidate(limited(self._ctx, dry=True), dry_run=True)

    def index(self, *, check: bool = False) -> IndexState:
        return staged.check_index(self._ctx) if check else staged.write_index(self._ctx)


class Topics(Facet):
    page = call(topics.page)
    show = call(topics.show)
    entries = reads(topic_rows.entries_of)
    of_entries = reads(topic_rows.of_entries)
    rename = call(topics.renamed)
    merge = call(topics.merged)
    split = call(topics.split)
    close = call(topics.closed)
    open = call(topics.opened)
