"""Printing: JSON for programs, short lines for people, drawn tables only on a terminal."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

from recollect.cli.printing import put, visible
from recollect.core.plain import plain

HELD = "another process is at it; one that was killed keeps its turn for ten minutes at most"


def emit(value: Any, text: str, *, as_json: bool) -> None:
    """The value as JSON, or its text for a person; what it warns of goes to standard error."""
    if warning := getattr(value, "warning", ""):
        print(f"recollect: {visible(warning)}", file=sys.stderr)
    put(json.dumps(plain(value), ensure_ascii=False, indent=2) if as_json else visible(text))


def redactions(kinds: Sequence[str]) -> str:
    """What was taken out of a text before it was kept, to be said behind it."""
    return f" (redacted: {', '.join(kinds)})" if kinds else ""


def said(value: object) -> str:
    """A value for a person's eyes: a dash for none, words for a list."""
    if value is None or value == []:
        return "–"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def table(headings: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Aligned columns in a pipe, a drawn table on a terminal."""
    cells = [[" ".join(str(cell).splitlines()) for cell in row] for row in rows]
    if sys.stdout is not None and sys.stdout.isatty():
        return _drawn(headings, cells)
    widths = [max(len(row[i]) for row in [list(headings), *cells]) for i in range(len(headings))]
    lines = [list(headings), *cells]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in lines
    )


def _drawn(headings: Sequence[str], cells: list[list[str]]) -> str:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(*headings, box=None, header_style="none", pad_edge=False)
    drawn.columns[0].no_wrap = True  # an id must stay one word to be copied
    for column in drawn.columns[1:]:
        column.overflow = "fold"  # and no letter of another may be cut off
    for row in cells:
        drawn.add_row(*(Text(cell) for cell in row))  # Text: stored words are never markup
    console = Console(color_system=None)
    with console.capture() as captured:
        console.print(drawn)
    return captured.get().rstrip("\n")
