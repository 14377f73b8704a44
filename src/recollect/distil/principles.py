"""Principles in a model's words. What they stand on is counted in `distil/wisdom.py` and never changes here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from recollect.core.context import Context
from recollect.core.errors import BadInput
from recollect.distil.wisdom import NEGATION, PRINCIPLE_WORDS, Saying, Wisdom
from recollect.models.asking import OFFLINE, RETOLD, Answer, Ask, ask, known
from recollect.models.reading import read_line
from recollect.text.frame import one_line

KIND = "principle"


def reworded(ctx: Context, taught: Sequence[Wisdom], *, calls: int = 0) -> list[Wisdom]:
    """Wisdom with the wordings models gave; at most `calls` questions are asked for more."""
    if ctx.models.provider(KIND) is None:
        return list(taught)
    made: list[Wisdom] = []
    for one in taught:
        said: list[Saying] = []
        for saying in one.principles:
            answer: Answer[str] | None = known(ctx, question(one.category, saying))
            if answer is None and calls > 0:
                calls -= 1
                answer = ask(ctx, question(one.category, saying))
            if answer is None or answer.generator == OFFLINE:
                said.append(saying)
            else:
                said.append(replace(saying, text=answer.value, generator=answer.generator))
        lines = tuple(saying.line("confirmation") for saying in said)
        made.append(replace(one, principles=tuple(said), key_principles=lines))
    return made


def question(category: str, saying: Saying) -> Ask[str]:
    """What a model is asked about one principle."""
    return Ask(
        kind=KIND,
        subject=f"{category}: {saying.text}",
        sources=(json.dumps({"wordings": list(saying.wordings)}, ensure_ascii=False),),
        own_words=RETOLD,
        offline=lambda: saying.text,
        accept=lambda text: _accepted(text, saying),
        longest=PRINCIPLE_WORDS * 12,
        max_tokens=100,
    )


def _accepted(text: str, saying: Saying) -> str:
    line = one_line(read_line(text, words=PRINCIPLE_WORDS * 3 // 2))
    if bool(NEGATION.search(line.casefold())) != bool(NEGATION.search(saying.text.casefold())):
        raise BadInput("it turns the principle round")
    return line
