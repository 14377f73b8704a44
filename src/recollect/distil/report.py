"""What a consolidation did, as records and as the Markdown report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal

from recollect.text.ripeness import Held

Fate = Literal["consolidated", "superseded", "redundant", "contradiction", "vague", "refused", "file limit"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What became of one entry. `where` is a document's heading, or the id of what it was held against."""

    slug: str
    title: str
    fate: Fate
    where: str
    reason: str
    score: float = 0.0

    @property
    def left(self) -> bool:
        """Whether it left the staging file."""
        return self.fate in ("consolidated", "superseded", "redundant")


@dataclass(frozen=True, kw_only=True)
class Consolidation:
    """One run: whether it was due and why, what became of each entry, what stays and why."""

    due: bool
    trigger: str
    reason: str
    outcomes: tuple[Outcome, ...] = ()
    held: tuple[Held, ...] = ()
    splits: tuple[str, ...] = ()
    escalations: tuple[str, ...] = ()
    index_changes: tuple[str, ...] = ()
    report: str = ""
    diff: str = ""


def rendered(run: Consolidation, day: date) -> str:
    """The report as Markdown."""
    counts = [
        ("consolidated", "consolidated"),
        ("superseded", "superseded"),
        ("redundant", "redundant"),
        ("contradiction", "contradictions"),
        ("vague", "too vague"),
        ("refused", "refused"),
        ("file limit", "waiting for a split"),
    ]
    summary = [f"- Trigger: {run.trigger}, {run.reason}"]
    summary += [f"- {name.capitalize()}: {len(_of(run, fate))}" for fate, name in counts]
    summary += [f"- Still staged: {len(run.held) + sum(not one.left for one in run.outcomes)}"]
    stays = [f"- {held.slug}: {held.reason}" for held in run.held]
    parts: list[tuple[str, Sequence[str]]] = [
        ("Summary", [*summary, *(["", "Held back:", "", *stays] if stays else [])]),
        ("Consolidated", _lines(run, "consolidated", "→")),
        ("Superseded", _lines(run, "superseded", "by")),
        ("Redundant", _lines(run, "redundant", "repeats")),
        ("Contradictions", _lines(run, "contradiction", "against")),
        ("File Limits", [*(f"- split {path}" for path in run.splits), *_lines(run, "file limit", "at")]),
        ("Escalations", [f"- {line}" for line in run.escalations]),
        ("Index Changes", [f"- {line}" for line in run.index_changes]),
    ]
    body = "\n\n".join(f"## {title}\n\n" + ("\n".join(lines) or "None.") for title, lines in parts)
    return f"# Consolidation report, {day.isoformat()}\n\n{body}\n"


def _of(run: Consolidation, fate: str) -> list[Outcome]:
    return [outcome for outcome in run.outcomes if outcome.fate == fate]


def _lines(run: Consolidation, fate: str, link: str) -> list[str]:
    lines = []
    for one in _of(run, fate):
        score = f", score {one.score:.2f}" if one.score else ""
        lines.append(f"- {one.title} ({one.slug}) {link} {one.where}: {one.reason}{score}")
    return lines
