"""The line that INDEX.md has for a theme, in a model's words when one is configured."""

from __future__ import annotations

import json
from dataclasses import replace

from recollect.core.context import Context
from recollect.distil.theme_plan import PlannedTheme
from recollect.models.asking import RETOLD, Ask, ask
from recollect.models.reading import read_line
from recollect.text.frame import one_line
from recollect.text.theme_files import SUMMARY_WORDS, uncounted

KIND = "theme"


def worded(ctx: Context, planned: PlannedTheme) -> tuple[PlannedTheme, str]:
    """The theme with its summary, and by whom that is worded."""
    answer = ask(ctx, question(planned))
    return replace(planned, theme=replace(planned.theme, summary=answer.value)), answer.generator


def question(planned: PlannedTheme) -> Ask[str]:
    """What a model is asked about one theme."""
    told = {"theme": planned.theme.name, "lines": [uncounted(line.text) for line in planned.text.lines]}
    return Ask(
        kind=KIND,
        subject=f"theme/{planned.theme.name}",
        sources=(json.dumps(told, ensure_ascii=False),),
        own_words=RETOLD,
        offline=lambda: planned.theme.summary,
        accept=_accepted,
        max_tokens=100,
    )


def _accepted(text: str) -> str:
    return one_line(read_line(text, words=SUMMARY_WORDS * 3 // 2)).replace(" → ", " -> ")
