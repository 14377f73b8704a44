"""Who may ask, and what it may cost: one claim per ask, tokens set aside before a call and settled after it.

The budget is a space's and a day's, and is never passed: a call is counted with the most it can use until it has said
what it did use. Nothing here is open while a model thinks; each step is a transaction of its own.

Which model does which kind of job, by the settings. Names and values only: nothing is called here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from recollect.core.clock import day_of, zone_named
from recollect.core.context import Completion, Context, Embedder, Prompt
from recollect.core.errors import BadInput, NoAnswer
from recollect.core.records import record
from recollect.core.settings import ModelSettings
from recollect.models.providers import OpenAIEmbedder
from recollect.store import model_rows
from recollect.store.model_rows import AnswerKey, Usage
from recollect.text.tokens import tokens

KINDS = {
    "extract": "turn a discovery into a learning",
    "observe": "find discoveries in a finished task's output",
    "daily": "summarise a day",
    "weekly": "summarise a week",
    "monthly": "summarise a month",
    "root": "word the recent patterns of ROOT.md",
    "decision-summary": "shorten a decision",
    "decision-digest": "reduce a decision to a line",
    "principle": "word a principle that decisions share",
    "theme": "word what a theme's findings say",
    "compare": "judge a pair of rules that words cannot settle",
    "quality": "judge whether a staged learning states a rule",
    "route": "choose the document a staged learning belongs to",
    "rewrite": "word a staged learning for its document",
}
"""Every kind of job, and what it is."""

PROVIDERS = ("none", "anthropic", "openai", "command", "agent")


@record
class Job:
    """How one kind of job is done."""

    provider: str
    model: str
    base_url: str
    command: tuple[str, ...]
    key_env: str
    key_command: tuple[str, ...]
    seconds: float
    price_in: float
    price_out: float

    def __post_init__(self) -> None:
        if self.provider not in PROVIDERS:
            raise BadInput(f"models.provider must be one of {', '.join(PROVIDERS)}, not {self.provider!r}")
        if self.provider in ("anthropic", "openai") and not self.model:
            raise BadInput(f"models.provider = {self.provider} needs models.model")
        if self.provider == "command" and not self.command:
            raise BadInput('models.provider = command needs models.command, such as ["claude", "-p"]')
        for name in ("command", "key_command"):
            if not all(isinstance(part, str) for part in getattr(self, name)):
                raise BadInput(f"models.{name} must be a list of words")
        for name in ("seconds", "price_in", "price_out"):
            if not 0 <= getattr(self, name) < 1e6:
                raise BadInput(f"models.{name} must be 0 or more")


_OPTIONS = tuple(Job.__annotations__)
_NOTHING = ModelSettings()
_BELONGS = {
    "provider": ("model", "base_url", "command", "key_env", "key_command", "price_in", "price_out"),
    "base_url": ("key_env", "key_command", "price_in", "price_out"),
    "model": ("price_in", "price_out"),
}
"""What a kind of job with another provider, address or model does not take over: above all, no key goes elsewhere."""


@lru_cache(maxsize=64)
def job_of(settings: ModelSettings, kind: str) -> Job:
    """The settings for a kind: `[models]`, with what `[models.jobs.KIND]` says over it."""
    given: dict[str, Any] = {name: getattr(settings, name) for name in _OPTIONS}
    wish = _wishes(settings).get(kind, {})
    for chosen, belonging in _BELONGS.items():
        if wish.get(chosen, given[chosen]) != given[chosen]:
            given |= {name: getattr(_NOTHING, name) for name in belonging}
    for name, value in wish.items():
        if isinstance(given[name], float) and isinstance(value, int):
            value = float(value)
        if type(value) is not type(given[name]):
            raise BadInput(f"models.jobs.{kind}.{name} must be {type(given[name]).__name__}, not {value!r}")
        given[name] = value
    return Job(**given)


def _wishes(settings: ModelSettings) -> dict[str, dict[str, Any]]:
    try:
        wishes = {kind: dict(wish) for kind, wish in settings.jobs}
    except (TypeError, ValueError):
        raise BadInput("write the model of one kind of job as [models.jobs.KIND]") from None
    for kind, wish in wishes.items():
        if kind not in KINDS:
            raise BadInput(f"models.jobs has no kind {kind!r}; there are {', '.join(KINDS)}")
        if not set(wish) <= set(_OPTIONS):
            raise BadInput(f"models.jobs.{kind} may set {', '.join(_OPTIONS)}, nothing else")
    return wishes


EMBEDDING = "embedding"
CLAIM_SECONDS = 600.0
CHARS = 20
"""Characters of a long token; what is beyond an answer's last one was not asked for and is not counted."""
FRAME = 200
"""Tokens a wire format may add to what is sent."""


@dataclass(frozen=True, kw_only=True)
class ModelClaim:
    """The right to ask one thing, until it expires."""

    ctx: Context
    id: str
    owner: str
    kind: str
    generator: str

    @property
    def today(self) -> str:
        return today(self.ctx)


def take(ctx: Context, id: str, *, kind: str, generator: str, seconds: float) -> ModelClaim | None:
    """The claim, or None while another process asks the same."""
    made = ModelClaim(ctx=ctx, id=id, owner=ctx.ids("claim"), kind=kind, generator=generator)
    now = ctx.wall_clock.now()
    with ctx.db.write(ctx.space) as tx:
        taken = model_rows.claim_call(
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


def reserve(claim: ModelClaim, prompt: Prompt) -> bool:
    """Set aside what one call can use at most; False when that is more than the day has left."""
    ctx = claim.ctx
    with ctx.db.write(ctx.space) as tx:
        return model_rows.reserve_tokens(
            tx,
            claim.id,
            owner=claim.owner,
            day=claim.today,
            tokens=most(prompt),
            budget=ctx.settings.models.daily_tokens,
        )


def settle(claim: ModelClaim, prompt: Prompt, said: Completion | None, *, billed: bool = False) -> Usage:
    """Count what a call used: what the provider says, else our own count; all of it when nobody can tell."""
    used = _used(claim, prompt, said, billed=billed)
    with claim.ctx.db.write(claim.ctx.space) as tx:
        model_rows.settle_usage(tx, claim.id, owner=claim.owner, used=used)
    return used


def keep(claim: ModelClaim, prompt: Prompt, said: Completion, key: AnswerKey) -> None:
    """Settle a call whose answer is used, keep the answer and give the claim back, all at once."""
    ctx = claim.ctx
    with ctx.db.write(ctx.space) as tx:
        model_rows.settle_usage(tx, claim.id, owner=claim.owner, used=_used(claim, prompt, said))
        model_rows.put_answer(tx, key, generator=claim.generator, answer=said.text, at=ctx.clock.now())
        model_rows.release_call(tx, claim.id, owner=claim.owner)


def release(claim: ModelClaim) -> None:
    with claim.ctx.db.write(claim.ctx.space) as tx:
        model_rows.release_call(tx, claim.id, owner=claim.owner)


def fell_back(ctx: Context, *, kind: str, generator: str) -> None:
    """Remember that the offline twin answered in a model's place."""
    with ctx.db.write(ctx.space) as tx:
        model_rows.add_usage(tx, Usage(day=today(ctx), kind=kind, generator=generator, fallbacks=1))


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


def _used(claim: ModelClaim, prompt: Prompt, said: Completion | None, *, billed: bool = False) -> Usage:
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
    return (
        given
        if isinstance(given, int) and not isinstance(given, bool) and 0 <= given <= model_rows.MOST_TRIES
        else ours
    )
