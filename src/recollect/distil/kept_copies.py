"""Copies of nodes that we did not write: another tool's (`….before.md`) and what somebody edited (`….edited.md`).

They may hold words that no log has, so they are found by search and shown by their id, `weekly/2025-W46.before`.
Nothing is made from them, and nothing here ever changes one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from recollect.core.context import Context
from recollect.core.passage import Passage
from recollect.text import nodes

KIND = "kept"
_ID = re.compile(r"(?:ROOT|(?:daily|weekly|monthly)/[\w-]+)\.(?:before|edited(?:-\d+)?)")


def is_kept(id: str) -> bool:
    return bool(_ID.fullmatch(id))


def ids(ctx: Context) -> list[str]:
    return [path.removesuffix(".md") for path in ctx.vault.paths() if is_kept(path.removesuffix(".md"))]


def passages_of(ctx: Context, ids: Iterable[str]) -> Iterator[Passage]:
    for id in ids:
        text = ctx.vault.read(f"{id}.md")
        if text is not None:
            yield passage_of(id, text)


def passage_of(id: str, text: str) -> Passage:
    """How a copy is searched. It has no time: what it tells of may be long past."""
    lines = nodes.parse(id, text).body.split("\n")
    return Passage(
        id=id,
        kind=KIND,
        title=f"{id}, a copy that was kept",
        lines=tuple(line for line in lines if line.strip() and not line.startswith("<!--")),
        at=0,
        trust="agent",
        thread=KIND,
    )
