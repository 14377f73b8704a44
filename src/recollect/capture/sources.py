"""The tools whose memory can be taken in, where each keeps it, and what reads it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, get_args

from recollect.capture import bring_claude_code, bring_claude_mem, bring_markdown
from recollect.capture.pieces import Passed, Piece
from recollect.core.errors import BadInput

Source = Literal["claude-code", "claude-mem", "markdown"]
SOURCES: tuple[Source, ...] = get_args(Source)


def pieces(
    source: Source, path: Path | None, *, of: str | None, root: Path, home: Path, environ: Mapping[str, str]
) -> Iterator[Piece | Passed]:
    """What a tool kept: at `path`, or where it keeps what it knows of the project at `root`."""
    if source == "claude-code":
        return bring_claude_code.read(path or bring_claude_code.folder_of(root, home, environ))
    if source == "claude-mem":
        return bring_claude_mem.read(path or bring_claude_mem.file_of(home), of or root.name)
    if path is None:
        raise BadInput("say which folder holds the notes")
    return bring_markdown.read(path)
