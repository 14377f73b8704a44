"""What model calls may cost: a claim for each question, tokens reserved before a call and settled after it.

`CallLimit` limits the calls of a pass, `limited` those of a whole cycle or command, the daily budget the tokens of a
space. The budget is never exceeded: until a call reports its usage, it counts with the most it can use. No transaction
is open during a call.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from recollect.core.clock import day_of, zone_named
from recollect.core.context import Completion, Context, Embedder, Models, Prompt, Provider
from recollect.core.errors import NoAnswer
from recollect.core.records import record, replace
from recollect.models.configured import KINDS, job_of
from recollect.store import model_rows
from recollect.store.model_rows import AnswerKey, Usage
from recollect.text.tokens import tokens

EMBEDDING = "embedding"
CLAIM_SECONDS = 600.0  # for embedding a batch; the endpoint's own limit is 30 seconds for 64 texts
CHARS_PER_TOKEN = 20  # more than the longest usual token has; text beyond `max_tokens` of these is not counted
WIRE_TOKENS = 200  # that a wire format may add to a request: roles, separators, a system preamble


@dataclass(kw_only=True)
class CallLimit:
    """How many model calls a pass may still make, and how many it made. Cached answers cost none."""

    left: int
    made: int = 0

    def take(self) -> bool:
        """Whether one more call may be made; counts it."""
        if self.left <= 0:
            return False
        self.left -= 1
        self.made += 1
        return True


class LimitedModels:
    """Models that share one limit on calls. A `dry` run makes none: it uses cached answers, else the offline ones."""

    def __init__(self, models: Models, limit: CallLimit, *, dry: bool = False):
        self.limit, self.dry, self.configured, self.pause = limit, dry, models.provider, models.pause
        self.embedder, self.loaded_embedder = models.embedder, models.loaded_embedder

    def provider(self, kind: str) -> Provider | None:
        return None if self.dry else self.configured(kind)


def limited(ctx: Context, *, dry: bool = False) -> Context:
    """The context with a limit of `models.calls`; a part of a cycle shares the cycle's limit."""
    if limits(ctx):
        return ctx
    return replace(ctx, models=LimitedModels(ctx.models, CallLimit(left=ctx.settings.models.calls), dry=dry))


def limits(ctx: Context, limit: CallLimit | None = None) -> list[CallLimit]:
    """A pass's own limit, and that of the cycle or command."""
    both = (limit, ctx.models.limit if isinstance(ctx.models, LimitedModels) else None)
    return [each for each in both if each is not None]


def used_up(ctx: Context, limit: CallLimit | None = None) -> bool:
    return any(each.left <= 0 for each in limits(ctx, limit))


@record
class ModelClaim:
    """The right of one process to ask one question, until it expires."""

    ctx: Context
    id: str
    owner: str
    kind: str
    generator: str


@contextmanager
def claimed(ctx: Context, id: str, *, kind: str, generator: str, seconds: float) -> Iterator[ModelClaim | None]:
    """A claim while a question is asked; None while another process asks the same question."""
    claim = ModelClaim(ctx=ctx, id=id, owner=ctx.ids("claim"), kind=kind, generator=generator)
    now = ctx.wall_clock.now()
    about = {"owner": claim.owner, "kind": kind, "generator": generator, "day": today(ctx)}
    taken = ctx.write(model_rows.claim_call, id, **about, now=now, until=now + round(seconds * 1000))
    try:
        yield claim if taken else None
    finally:
        if taken:
            ctx.write(model_rows.release_call, id, owner=claim.owner)


def reserve_tokens(claim: ModelClaim, prompt: Prompt) -> bool:
    """Reserve the most that one call can use; False when the day's budget has less left."""
    ctx = claim.ctx
    return ctx.write(
        model_rows.reserve_tokens,
        claim.id,
        owner=claim.owner,
        day=today(ctx),
        tokens=max_tokens_of(prompt),
        budget=ctx.settings.models.daily_tokens,
    )


def settle_call(claim: ModelClaim, prompt: Prompt, said: Completion | None, *, billed: bool = False) -> Usage:
    """Count what a call used: by the provider's figures, else by ours; everything reserved when neither is known."""
    used = _used(claim, prompt, said, billed=billed)
    claim.ctx.write(model_rows.settle_usage, claim.id, owner=claim.owner, used=used)
    return used


def keep_answer(claim: ModelClaim, prompt: Prompt, said: Completion, key: AnswerKey) -> None:
    """Settle a call whose answer is used and cache the answer, in one transaction."""
    ctx = claim.ctx
    with ctx.db.write(ctx.space) as tx:
        model_rows.settle_usage(tx, claim.id, owner=claim.owner, used=_used(claim, prompt, said))
        model_rows.put_answer(tx, key, generator=claim.generator, answer=said.text, at=ctx.clock.now())


def count_fallback(ctx: Context, *, kind: str, generator: str) -> None:
    ctx.write(model_rows.add_usage, Usage(day=today(ctx), kind=kind, generator=generator, fallbacks=1))


def call_once(
    ctx: Context, prompt: Prompt, *, kind: str, generator: str, call: Callable[[], Completion]
) -> tuple[Completion, Usage]:
    """Make one call within the budget, without cache or retries."""
    with claimed(ctx, ctx.ids("call"), kind=kind, generator=generator, seconds=prompt.timeout + 10) as claim:
        assert claim is not None  # the id is new
        if not reserve_tokens(claim, prompt):
            raise NoAnswer("today's budget is used up (setting models.daily_tokens)")
        try:
            said = call()
        except NoAnswer as failure:
            settle_call(claim, prompt, None, billed=failure.billed)
            raise
        return said, settle_call(claim, prompt, said)


def embed(ctx: Context, embedder: Embedder, texts: Sequence[str]) -> list[Any]:
    """Vectors of texts. A call to an endpoint counts against the budget; the local model is free."""
    if not getattr(embedder, "billed", False):
        return embedder.embed(texts)
    made: list[Any] = []

    def call() -> Completion:
        made.extend(embedder.embed(texts))
        return Completion(text="")

    prompt = Prompt(kind=EMBEDDING, instructions="", data="\n".join(texts), max_tokens=0, timeout=CLAIM_SECONDS)
    call_once(ctx, prompt, kind=EMBEDDING, generator=embedder.name, call=call)
    return made


def today(ctx: Context) -> str:
    """The day whose budget a call uses: the day of the call, also while an older record is replayed."""
    return day_of(ctx.wall_clock.now(), zone_named(ctx.settings.timezone)).isoformat()


def max_tokens_of(prompt: Prompt) -> int:
    """The most tokens a call can use: no tokeniser makes more tokens than there are bytes."""
    return len(f"{prompt.instructions}{prompt.data}".encode("utf-8", "replace")) + WIRE_TOKENS + prompt.max_tokens


def _used(claim: ModelClaim, prompt: Prompt, said: Completion | None, *, billed: bool = False) -> Usage:
    asked, told = (max_tokens_of(prompt) - prompt.max_tokens, prompt.max_tokens) if billed else (0, 0)
    if said is not None:
        ours = min(tokens(said.text[: prompt.max_tokens * CHARS_PER_TOKEN]), prompt.max_tokens)
        asked = _reported(said.input_tokens, tokens(f"{prompt.instructions}\n{prompt.data}"))
        told = _reported(said.output_tokens, ours)
    job = job_of(claim.ctx.settings.models, claim.kind)
    cost = asked * job.price_in + told * job.price_out if claim.kind in KINDS else 0
    return Usage(
        day=today(claim.ctx),
        kind=claim.kind,
        generator=claim.generator,
        calls=1,
        input_tokens=asked,
        output_tokens=told,
        cost_micros=round(cost),
    )


def _reported(given: int | None, ours: int) -> int:
    """A provider's figure if it can be one, otherwise ours."""
    return given if type(given) is int and 0 <= given <= model_rows.MOST_TOKENS else ours
