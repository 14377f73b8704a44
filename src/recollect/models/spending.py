"""Who may ask, and what it may cost: one claim per ask, tokens set aside before a call and settled after it.

The budget is a space's and a day's, and is never passed: a call is counted with the most it can use until it has said
what it did use. Nothing here is open while a model thinks; each step is a transaction of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from recollect.core.clock import day_of, zone_named
from recollect.core.context import Context, Embedder
from recollect.core.errors import NoAnswer
from recollect.core.prompt import Completion, Prompt
from recollect.models.jobs import KINDS, job_of
from recollect.models.openai import OpenAIEmbedder
from recollect.store import answers, usage
from recollect.store.answers import AnswerKey
from recollect.store.usage import Usage
from recollect.text.tokens import tokens

EMBEDDING = "embedding"
CLAIM_SECONDS = 600.0
CHARS = 20
"""Characters of a long token; what is beyond an answer's last one was not asked for and is not counted."""
FRAME = 200
"""Tokens a wire format may add to what is sent."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The right to ask one thing, until it expires."""

    ctx: Context
    id: str
    owner: str
    kind: str
    generator: str

    @property
    def today(self) -> str:
        return today(self.ctx)


def take(ctx: Context, id: str, *, kind: str, generator: str, seconds: float) -> Claim | None:
    """The claim, or None while another process asks the same."""
    made = Claim(ctx=ctx, id=id, owner=ctx.ids("claim"), kind=kind, generator=generator)
    now = ctx.wall_clock.now()
    with ctx.db.write(ctx.space) as tx:
        taken = usage.claim(
            tx,
            id,
            owner=made.owner,
            kind=kind,
            generator=generator,
            day=made.today,
            now=now,
            until=now + round(seconds * 1000),
        )
    return made if taken else None


def reserve(claim: Claim, prompt: Prompt) -> bool:
    """Set aside what one call can use at most; False when that is more than the day has left."""
    ctx = claim.ctx
    with ctx.db.write(ctx.space) as tx:
        return usage.reserve(
            tx,
            claim.id,
            owner=claim.owner,
            day=claim.today,
            tokens=most(prompt),
            budget=ctx.settings.models.daily_tokens,
        )


def settle(claim: Claim, prompt: Prompt, said: Completion | None, *, billed: bool = False) -> Usage:
    """Count what a call used: what the provider says, else our own count; all of it when nobody can tell."""
    used = _used(claim, prompt, said, billed=billed)
    with claim.ctx.db.write(claim.ctx.space) as tx:
        usage.settle(tx, claim.id, owner=claim.owner, used=used)
    return used


def keep(claim: Claim, prompt: Prompt, said: Completion, key: AnswerKey) -> None:
    """Settle a call whose answer is used, keep the answer and give the claim back, all at once."""
    ctx = claim.ctx
    with ctx.db.write(ctx.space) as tx:
        usage.settle(tx, claim.id, owner=claim.owner, used=_used(claim, prompt, said))
        answers.put(tx, key, generator=claim.generator, answer=said.text, at=ctx.clock.now())
        usage.release(tx, claim.id, owner=claim.owner)


def release(claim: Claim) -> None:
    with claim.ctx.db.write(claim.ctx.space) as tx:
        usage.release(tx, claim.id, owner=claim.owner)


def fell_back(ctx: Context, *, kind: str, generator: str) -> None:
    """Remember that the offline twin answered in a model's place."""
    with ctx.db.write(ctx.space) as tx:
        usage.add(tx, Usage(day=today(ctx), kind=kind, generator=generator, fallbacks=1))


def paid(
    ctx: Context, prompt: Prompt, *, kind: str, generator: str, call: Callable[[], Completion]
) -> tuple[Completion, Usage]:
    """What one call gives that nobody else could make for us, and what it used. Raises NoAnswer."""
    claim = take(ctx, ctx.ids("call"), kind=kind, generator=generator, seconds=prompt.timeout + 10)
    assert claim is not None  # nobody else has this id
    try:
        if not reserve(claim, prompt):
            raise NoAnswer("today's budget is used up")
        try:
            said = call()
        except NoAnswer as failure:
            settle(claim, prompt, None, billed=failure.billed)
            raise
        return said, settle(claim, prompt, said)
    finally:
        release(claim)


def embed(ctx: Context, embedder: Embedder, texts: Sequence[str]) -> list[Any]:
    """Vectors of texts. What an endpoint is sent is counted like any call; this machine's own model is free."""
    if not isinstance(embedder, OpenAIEmbedder):
        return embedder.embed(texts)
    made: list[Any] = []

    def call() -> Completion:
        made.extend(embedder.embed(texts))
        return Completion(text="")

    prompt = Prompt(kind=EMBEDDING, instructions="", data="\n".join(texts), max_tokens=0, timeout=CLAIM_SECONDS)
    paid(ctx, prompt, kind=EMBEDDING, generator=embedder.name, call=call)
    return made


def today(ctx: Context) -> str:
    """The day whose budget a call takes from: the day of the call, also while an older record is replayed."""
    return day_of(ctx.wall_clock.now(), zone_named(ctx.settings.timezone)).isoformat()


def most(prompt: Prompt) -> int:
    """No tokeniser makes more tokens than there are bytes."""
    return len(f"{prompt.instructions}{prompt.data}".encode("utf-8", "replace")) + FRAME + prompt.max_tokens


def _used(claim: Claim, prompt: Prompt, said: Completion | None, *, billed: bool = False) -> Usage:
    if said is not None:
        asked = _count(said.input_tokens, tokens(f"{prompt.instructions}\n{prompt.data}"))
        told = _count(said.output_tokens, min(tokens(said.text[: prompt.max_tokens * CHARS]), prompt.max_tokens))
    else:
        asked, told = (most(prompt) - prompt.max_tokens, prompt.max_tokens) if billed else (0, 0)
    job = job_of(claim.ctx.settings.models, claim.kind)
    cost = asked * job.price_in + told * job.price_out if claim.kind in KINDS else 0
    return Usage(
        day=claim.today,
        kind=claim.kind,
        generator=claim.generator,
        calls=1,
        input_tokens=asked,
        output_tokens=told,
        cost_micros=round(cost),
    )


def _count(given: int | None, ours: int) -> int:
    return given if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= usage.MOST else ours
