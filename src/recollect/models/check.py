"""What is configured, and whether it answers: one tiny call to each provider, with its latency and cost."""

from __future__ import annotations

import time
from dataclasses import dataclass

from recollect.core.context import Context, Provider
from recollect.core.errors import NoAnswer
from recollect.core.prompt import Prompt
from recollect.models import spending
from recollect.models.agent import AgentProvider
from recollect.models.jobs import KINDS, job_of
from recollect.models.prompts import framed

INSTRUCTIONS = "Answer with the word that the data holds, and nothing else."
WORD = "ready"
MAX_TOKENS = 1_000
"""Room for a model that thinks before it speaks."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """One provider: the kinds of job it does, and how a tiny call went. An agent is not called."""

    name: str
    kinds: tuple[str, ...]
    ok: bool
    reason: str = ""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


def check(ctx: Context) -> list[Checked]:
    """Every provider that some kind of job is configured for, in the order of the kinds."""
    by_provider: dict[int, tuple[Provider, list[str]]] = {}
    for kind in KINDS:
        provider = ctx.models.provider(kind)
        if provider is not None:
            by_provider.setdefault(id(provider), (provider, []))[1].append(kind)
    return [_checked(ctx, provider, tuple(kinds)) for provider, kinds in by_provider.values()]


def _checked(ctx: Context, provider: Provider, kinds: tuple[str, ...]) -> Checked:
    if isinstance(provider, AgentProvider):
        return Checked(name=provider.name, kinds=kinds, ok=True, reason="answers later; see: recollect pending")
    job = job_of(ctx.settings.models, kinds[0])
    prompt = Prompt(
        kind="check",
        instructions=INSTRUCTIONS,
        data=framed([WORD]),
        max_tokens=MAX_TOKENS,
        timeout=job.seconds or 30.0,
    )
    started = time.monotonic()
    try:
        said, used = spending.paid(
            ctx, prompt, kind=kinds[0], generator=provider.name, call=lambda: provider.complete(prompt)
        )
    except NoAnswer as failure:
        return Checked(name=provider.name, kinds=kinds, ok=False, reason=str(failure))
    seconds = time.monotonic() - started
    priced = bool(job.price_in or job.price_out)
    return Checked(
        name=provider.name,
        kinds=kinds,
        ok=bool(said.text.strip()),
        reason="" if said.text.strip() else "it answered with nothing",
        seconds=round(seconds, 3),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost=used.cost_micros / 1e6 if priced else None,
    )
