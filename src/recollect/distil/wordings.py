"""How a decision reads at the summary and digest levels: prepared by a cycle, kept until the decision changes.

A model may word it better (its answers are cached by content); the offline twin takes the first sentences.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass

from recollect.core.context import Context, Tx
from recollect.core.decision import Decision
from recollect.core.errors import BadInput
from recollect.core.plain import plain
from recollect.distil.levels import DIGEST_WORDS, SUMMARY_WORDS, Level, digest_wording, summary_wording
from recollect.distil.page import Wordings
from recollect.models.asking import OFFLINE, Ask, ask
from recollect.models.prompts import load_prompt
from recollect.store import wisdom as derived
from recollect.text.frame import one_line

_OFFLINE = {"summary": summary_wording, "digest": digest_wording}
_WORDS = {"summary": SUMMARY_WORDS, "digest": DIGEST_WORDS}
_LINK = re.compile(r"\w+://\S+")
_REFUSAL = re.compile(r"^(?:i(?:'m| am) sorry|sorry|i can(?:no|')t|as an ai|unfortunately)\b", re.IGNORECASE)


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
    """Those whose wording has to be made: none yet, made from other words, or made offline before a model came."""
    lacking: list[tuple[Decision, Level]] = []
    for level in _OFFLINE:
        here = [decision for decision, at in leveled if at == level]
        stored = derived.wordings(tx, level, [decision.id for decision in here])
        modelled = ctx.models.provider(f"decision-{level}") is not None
        for decision in here:
            version, _, generator = stored.get(decision.id, (0, "", ""))
            if version != decision.version or (modelled and generator == OFFLINE):
                lacking.append((decision, level))  # type: ignore[arg-type]
    return lacking


def prepare(ctx: Context, lacking: Sequence[tuple[Decision, Level]]) -> Prepared:
    """Make wordings; a model is asked for a few, newest first, and the others wait for the next cycle."""
    calls = ctx.settings.decisions.model_calls
    made = waiting = 0
    done: list[tuple[Decision, Level, str, str]] = []
    for decision, level in lacking:
        if ctx.models.provider(f"decision-{level}") is not None:
            if calls <= 0:
                waiting += 1
                continue
            calls -= 1
        answer = ask(ctx, _question(decision, level))
        done.append((decision, level, answer.value, answer.generator))
    for start in range(0, len(done), 500):
        with ctx.db.write(ctx.space) as tx:
            for decision, level, wording, generator in done[start : start + 500]:
                made += derived.put_wording(
                    tx, decision.id, level, version=decision.version, wording=wording, generator=generator
                )
    return Prepared(made=made, waiting=waiting)


def _question(decision: Decision, level: Level) -> Ask[str]:
    prompt = load_prompt(f"decision-{level}")
    source = source_of(decision)
    return Ask(
        kind=f"decision-{level}",
        version=prompt.version,
        instructions=prompt.text,
        sources=(source,),
        offline=lambda: _OFFLINE[level](decision),
        accept=lambda text: _accepted(text, source, _WORDS[level]),
        max_tokens=200,
    )


def _accepted(text: str, source: str, words: int) -> str:
    """A model's wording if it keeps the rules: one short line, no refusal, no link the decision does not have."""
    line = one_line(text)
    if not line or len(line.split()) > words * 3 // 2 or len(line) > words * 12:
        raise BadInput("the wording is empty or too long")
    if _REFUSAL.search(line):
        raise BadInput("the model refused")
    if any(link not in source for link in _LINK.findall(line)):
        raise BadInput("the wording adds a link")
    return line
