"""The recent patterns of ROOT.md in a model's words: the same lessons, each leading to the same entry."""

from __future__ import annotations

import re
from collections.abc import Sequence

from recollect.core.calendar import ROOT
from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.models.asking import OFFLINE, RETOLD, Ask, ask, known
from recollect.models.reading import unwrapped
from recollect.text import points, root
from recollect.text.root import Wording

KIND = "root"
_LINE = re.compile(r"- (.+?): (.+) → log/(\d{4}-\d{2}-\d{2}#\d+)")


def wording(ctx: Context, *, asking: bool = True) -> Wording:
    """How a pass words the patterns: by a model if one is configured, as they were found otherwise."""
    if ctx.models.provider(KIND) is None:
        return root.as_found

    def word(lines: Sequence[str]) -> tuple[list[str], str]:
        if not lines:
            return root.as_found(lines)
        asked = question(lines)
        found = ask(ctx, asked) if asking else known(ctx, asked)
        return root.as_found(lines) if found is None or found.generator == OFFLINE else (found.value, found.generator)

    return word


def question(lines: Sequence[str]) -> Ask[list[str]]:
    """What a model is asked about the patterns of the latest months."""
    return Ask(
        kind=KIND,
        subject=ROOT,
        sources=("\n".join(lines),),
        own_words=RETOLD,
        offline=lambda: list(lines),
        accept=lambda text: _accepted(text, lines),
        max_tokens=1_500,
    )


def _accepted(text: str, lines: Sequence[str]) -> list[str]:
    wanted = {found[3] for line in lines if (found := _LINE.fullmatch(line))}
    said: dict[str, str] = {}
    for raw in unwrapped(text).splitlines():
        if not raw.strip():
            continue
        found = _LINE.fullmatch(points.plain(raw))
        if found is None:
            raise BadInput("a line is not `- topic: text → log/…`")
        if found[3] not in wanted or found[3] in said:
            raise BadInput(f"log/{found[3]} is not among the sources, or is there twice")
        said[found[3]] = found[0]
    if said.keys() != wanted:
        raise BadInput("it loses patterns")
    return list(said.values())
