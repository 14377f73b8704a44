"""The facet of findings and the themes they gather into."""

from __future__ import annotations

from typing import Any

from recollect.capture import finding as findings
from recollect.capture.finding import Survey
from recollect.capture.learn import Captured
from recollect.core.context import Context
from recollect.core.finding import AddedFinding, Finding, NewFinding, Theme
from recollect.core.record import as_record
from recollect.distil import themes
from recollect.distil.themes import Due, Gathering


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
