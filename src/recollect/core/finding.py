"""Findings of work units, and the themes they are grouped into.

A finding is in a raw JSON file of its work unit and never changes; its theme and the theme's name are rows.
"""

from __future__ import annotations

import re

from recollect.core.choices import Trust
from recollect.core.errors import BadInput
from recollect.core.records import GIVEN, check_text, record

THEME_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
THEME_NAME_LIMIT = 60  # characters; a theme's name is a file name and a line of INDEX.md
WORK_ID_LIMIT = 100  # characters; with ".json" well below the 255 bytes of a file name
FINDING_LIMIT = 10_000  # characters of one field; the same as a field of a learning
_WORK_ID = re.compile(r"[^\W_][\w.-]*")
_DEVICES = frozenset(["con", "prn", "aux", "nul", *(f"com{n}" for n in range(10)), *(f"lpt{n}" for n in range(10))])


@record
class NewFinding:
    description: str
    category: str = ""
    source: str = ""
    proposed_rule: str = ""
    disposition: str = ""

    def __post_init__(self) -> None:
        for name in ("description", "category", "source", "proposed_rule", "disposition"):
            check_text(getattr(self, name), name, most=FINDING_LIMIT)
        if not self.description.strip():
            raise BadInput("a finding needs a description")


@record
class Finding:
    """One item of a raw file. `number` counts from 1 over the items of the file, unusable ones included."""

    work_id: str
    number: int
    description: str
    category: str = ""
    source: str = ""
    proposed_rule: str = ""
    disposition: str = ""
    trust: Trust = "agent"  # any tool that can write to the folder can write a raw file

    STORED = {"work_id": GIVEN, "trust": GIVEN}

    @property
    def id(self) -> str:
        return f"finding/{self.work_id}#{self.number}"

    @property
    def dismissed(self) -> bool:
        """The disposition may go on with a reason: `dismissed:already-fixed-in-code`, "Dismissed (duplicate)"."""
        return self.disposition.strip().casefold().startswith("dismiss")

    @property
    def text(self) -> str:
        """Description and rule together, for grouping and search."""
        return " ".join(part for part in (self.description.strip(), self.proposed_rule.strip()) if part)


@record
class AddedFinding(Finding):
    """A new finding; `warning` when it is in its file but not searchable yet."""

    warning: str = ""


@record
class WorkFile:
    """A valid raw file."""

    path: str
    work_id: str
    timestamp: str
    findings: tuple[Finding, ...]
    sha: str


@record
class SkippedFile:
    """A raw file, or an item in one, that cannot be used, and why."""

    path: str
    reason: str


@record
class Theme:
    """A named group of findings. A name that a person gave (`named_by`) is never changed by the grouping."""

    name: str
    summary: str
    named_by: str
    findings: tuple[str, ...]
    work_ids: tuple[str, ...]
    left_out: tuple[str, ...] = ()  # findings that did not fit the theme's budget


def check_work_id(value: str) -> str:
    """A work id names a file, on every system."""
    if not isinstance(value, str) or not _WORK_ID.fullmatch(value) or len(value) > WORK_ID_LIMIT:
        raise BadInput(
            f"work id {str(value)[:60]!r} must be 1 to {WORK_ID_LIMIT} letters, digits, dots, dashes or "
            "underscores, starting with a letter or digit"
        )
    if ".." in value or value.split(".")[0].casefold() in _DEVICES:
        raise BadInput(f"work id {value!r} cannot name a file")
    return value


def check_theme_name(value: str) -> str:
    if not isinstance(value, str) or not THEME_NAME.fullmatch(value) or len(value) > THEME_NAME_LIMIT:
        raise BadInput(
            f"theme name {str(value)[:70]!r} must be lower-case words joined by dashes, at most "
            f"{THEME_NAME_LIMIT} characters, such as build-caching"
        )
    if value in _DEVICES:
        raise BadInput(f"theme name {value!r} cannot name a file on every system")
    return value
