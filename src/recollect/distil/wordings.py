"""How a decision reads at the summary and digest levels: prepared by a cycle, kept until the decision changes.

A model may word it better (its answers are cached by content); the offline twin takes the first sentences.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.context import Context, Tx
from recollect.core.decision import Decision
from recollect.core.plain import plain
from recollect.distil.levels import DIGEST_WORDS, SUMMARY_WORDS, Level, digest_wording, summary_wording
from recollect.distil.page import Wordings
from recollect.models.asking import OFFLINE, RETOLD, Ask, ask, known
from recollect.models.prompts import load_prompt
from recollect.models.reading import read_line
from recollect.store import wisdom as derived
from recollect.text.frame import one_line

_OFFLINE = {"summary": summary_wording, "digest": digest_wording}
_WORDS = {"summary": SUMMARY_WORDS, "digest": DIGEST_WORDS}


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """What a cycle did about wordings."""

    made: int
    waiting: int


def source_of(decision: Decision) -> str:
    """What a wording is made from, and nothing that a wording does not depend on."""
    names = ("decision", "context", "reasons", "pattern", "outcome", "result", "lesson")
    return json.dumps({name: plain(getattr(decision, name)) for name in names}, ensure_ascii=False, sort_keys=True)


def load(tx: Tx, leveled: Sequence[tuple[Decision, str]]) -> Wordings:
    """The prepared wordings of decisions at their levels, as far as they were made from what these are now."""
    found: dict[tuple[str, str], str] = {}
    for level in _OFFLINE:
        now = {decision.id: decision.version for decision, at in leveled if at == level}
        for id, (version, wording, _) in derived.wordings(tx, level, list(now)).items():
            if version == now[id]:
                found[id, level] = wording
    return found


def missing(ctx: Context, tx: Tx, leveled: Sequence[tuple[Decision, Level]]) -> list[tuple[Decision, Level]]:
    """Those whose wording has to be made: none yet, made from other words, or without the model or prompt of today."""
    lacking: list[tuple[Decision, Level]] = []
    for level in _OFFLINE:
        here = [decision for decision, at in leveled if at == level]
        stored = derived.wordings(tx, level, [decision.id for decision in here])
        modelled = ctx.models.provider(f"decision-{level}") is not None
        by_prompt = f"@{load_prompt(f'decision-{level}').version}"
        for decision in here:
            version, _, generator = stored.get(decision.id, (0, "", ""))
            if version != decision.version or (modelled and not generator.endswith(by_prompt)):
                lacking.append((decision, level))  # type: ignore[arg-type]
    return lacking


def prepare(ctx: Context, lacking: Sequence[tuple[Decision, Level]]) -> Prepared:
    """Make wordings; a model is asked for a few, newest first, and the others wait for the next cycle."""
    calls = ctx.settings.decisions.model_calls
    made = waiting = 0
    done: list[tuple[Decision, Level, str, str]] = []
    with ctx.db.read(ctx.space) as tx:
        stored = load(tx, lacking)
    # What a model failed on before comes after what it was not asked yet.
    for decision, level in sorted(lacking, key=lambda pair: (pair[0].id, pair[1]) in stored):
        asked = question(decision, level)
        modelled = ctx.models.provider(asked.kind) is not None
        answer = known(ctx, asked) if modelled else None
        if answer is None and modelled and calls <= 0:
            waiting += 1
            continue
        if answer is None:
            calls -= modelled
            answer = ask(ctx, asked)
        if answer.generator == OFFLINE and modelled:
            waiting += 1
            if (decision.id, level) in stored:  # what there is was made from the same words, maybe by a model
                continue
        done.append((decision, level, answer.value, answer.generator))
    for start in range(0, len(done), 500):
        with ctx.db.write(ctx.space) as tx:
            for decision, level, wording, generator in done[start : start + 500]:
                made += derived.put_wording(
                    tx, decision.id, level, version=decision.version, wording=wording, generator=generator
                )
    return Prepared(made=made, waiting=waiting)


def question(decision: Decision, level: Level) -> Ask[str]:
    """What a model is asked about one decision."""
    return Ask(
        kind=f"decision-{level}",
        subject=decision.id,
        sources=(source_of(decision),),
        own_words=RETOLD,
        offline=lambda: _OFFLINE[level](decision),
        accept=lambda text: _accepted(text, _WORDS[level]),
        max_tokens=200,
    )


def _accepted(text: str, words: int) -> str:
    """A model's wording if it is one short line."""
    return one_line(read_line(text, words=words * 3 // 2))
