"""The facet of staged learnings and the documents they go into."""

from __future__ import annotations

from typing import TYPE_CHECKING

from recollect.core.context import Context
from recollect.core.limits import as_text

if TYPE_CHECKING:
    from recollect.capture.learn import Captured
    from recollect.capture.stage import Staged
    from recollect.distil.documents import IndexState, Refactored
    from recollect.distil.removal import Restored
    from recollect.distil.report import Consolidation
    from recollect.distil.staged import Ages


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
        from recollect.models.asking import Unasked

        return consolidate(replace(self._context, models=Unasked(self._context.models)), dry_run=True)

    def restore(self, entry: str) -> Restored:
        """Stage an entry again that left the staging file."""
        from recollect.distil.removal import restore

        return restore(self._context, entry)

    def promote(self, entry: str, *, context: str = "", implication: str = "", action: str = "") -> Captured:
        """Make a staged entry a learning with confidence."""
        from recollect.distil.removal import promote

        return promote(self._context, entry, context=context, implication=implication, action=action)

    def refactor(self, path: str, *, force: bool = False) -> Refactored:
        """Split a permanent document that grew too long; with `force` also one that did not."""
        from recollect.distil.documents import refactor

        return refactor(self._context, path, force=force)

    def index(self, *, check: bool = False) -> IndexState:
        """Write the memory index again, or only say what is wrong with it."""
        from recollect.distil import documents

        return documents.check(self._context) if check else documents.write_index(self._context)
