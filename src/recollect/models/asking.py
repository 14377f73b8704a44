"""ask(): a model's answer to a question about some sources, or the offline twin's.

Answers are kept by kind, prompt version and source hash, so the same question is paid for once. Model output is
untrusted: it passes `checked` or is not used. At most three tries, within the day's budget, by one process at a time;
then the offline twin answers. No transaction is open while a model thinks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Generic, TypeVar

from recollect.core.context import Context, Models, Provider
from recollect.core.errors import BadInput, NoAnswer
from recollect.core.prompt import Prompt
from recollect.models import spending
from recollect.models.agent import AgentProvider
from recollect.models.jobs import job_of
from recollect.models.prompts import END, PromptText, framed, load_prompt
from recollect.models.reading import words_in
from recollect.models.spending import Claim
from recollect.store import answers, asks, usage
from recollect.store.answers import AnswerKey
from recollect.store.asks import OpenAsk
from recollect.store.files import content_hash
from recollect.text import grounded
from recollect.text.redact import redact

T = TypeVar("T")
TRIES = 3
OFFLINE = "offline"
LONGEST_PAUSE = 20.0
"""Seconds; a server that wants to be left alone for longer is left alone until another day."""
POLL = 0.2
RETOLD = 0.5
"""Share of words from the sources in what only retells them. A paraphrase keeps its names and terms."""
LONGEST = 200_000
"""Characters a model is given; about longer sources it is not asked."""


@dataclass(frozen=True, kw_only=True)
class Ask(Generic[T]):
    """One question: about which thing and sources, how to answer it without a model, how to read an answer."""

    kind: str
    subject: str  # the id of what it is about
    sources: Sequence[str]
    offline: Callable[[], T]
    accept: Callable[[str], T]  # raises BadInput
    prompt: str = ""  # the prompt's name, where it is not the kind's
    must_keep: Sequence[str] = ()  # texts that the answer must say again
    own_words: float = 0.0  # share of the answer's words that the sources must have
    longest: int | None = None  # characters of an answer; None: no longer than its sources
    max_tokens: int = 1000
    timeout: float = 30.0

    @cached_property
    def told(self) -> PromptText:
        return load_prompt(self.prompt or self.kind)

    @cached_property
    def key(self) -> AnswerKey:
        source_hash = content_hash("\n\n".join(self.sources))
        return AnswerKey(kind=self.kind, version=self.told.version, source_hash=source_hash)

    @property
    def id(self) -> str:
        """The same for the same question, whoever asks it."""
        return f"ask_{content_hash(' '.join(vars(self.key).values()))[:16]}"


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[T]):
    """What was answered and by whom; `generator` is stored with whatever is made of it."""

    value: T
    generator: str


class Unasked:
    """Models that are not asked: what they answered before is used, else the offline twin's answer. For looking ahead,
    where nothing may be paid for, left open or waited for."""

    def __init__(self, models: Models):
        self._models = models
        self.embedder = models.embedder
        self.loaded_embedder = models.loaded_embedder

    def provider(self, kind: str) -> Provider | None:
        return None

    def pause(self, seconds: float) -> None:
        """Nothing is tried."""

    def configured(self, kind: str) -> bool:
        return self._models.provider(kind) is not None


def ask(ctx: Context, question: Ask[T]) -> Answer[T]:
    """The answer of the model configured for this kind of question; the offline twin's if there is none or it fails."""
    if isinstance(ctx.models, Unasked) and ctx.models.configured(question.kind):
        return known(ctx, question, closing=False) or Answer(value=question.offline(), generator=OFFLINE)
    provider = ctx.models.provider(question.kind)
    if provider is None:
        return Answer(value=question.offline(), generator=OFFLINE)
    found = known(ctx, question)
    if found is None and sum(map(len, question.sources)) <= LONGEST:
        if isinstance(provider, AgentProvider):
            _leave_open(ctx, question)
            return Answer(value=question.offline(), generator=OFFLINE)
        found = _asked_once(ctx, question, provider)
    if found is None:
        spending.fell_back(ctx, kind=question.kind, generator=generator_of(provider.name, question))
        return Answer(value=question.offline(), generator=OFFLINE)
    return found


def known(ctx: Context, question: Ask[T], *, closing: bool = True) -> Answer[T] | None:
    """An answer that was given before and still passes; nothing is asked. Using an agent's closes its ask."""
    with ctx.db.read(ctx.space) as tx:
        kept = answers.get(tx, question.key)
        waiting = closing and kept is not None and asks.get(tx, question.id) is not None
    if kept is None:
        return None
    try:
        found = Answer(value=checked(question, kept.answer), generator=kept.generator)
    except BadInput:  # accepted once, but the rules have changed since: it is asked for anew
        with ctx.db.write(ctx.space) as tx:
            answers.forget(tx, question.key)
        return None
    if waiting:
        with ctx.db.write(ctx.space) as tx:
            asks.close(tx, question.id)
    return found


def cleaned(question: Ask[T], text: str) -> str:
    """A stranger's answer without secrets; the first thing looked at is its length, because all else takes time."""
    longest = sum(map(len, question.sources)) if question.longest is None else question.longest
    if len(text) > longest:
        raise BadInput(f"it has {len(text)} characters, more than the {longest} it may have")
    return redact(text).text


def checked(question: Ask[T], text: str) -> T:
    """A cleaned answer as a value, or BadInput with the reason why it is not one."""
    if not text.strip():
        raise BadInput("it is empty")
    words = words_in(text)
    if any(map(grounded.refuses, (text, *words))):
        raise BadInput("it is a refusal")
    said = "\n".join(words)
    if grounded.echoes(said, question.told.text) or END in said:
        raise BadInput("it repeats its instructions or their frame")
    sources = [word for source in question.sources for word in (source, *words_in(source))]
    if added := grounded.additions(said, sources):
        raise BadInput(f"it adds what no source has: {added[0][:80]!r}")
    if question.own_words and grounded.own_share(said, sources) < question.own_words:
        raise BadInput("it talks about something else")
    if missing := grounded.lost(said, question.must_keep):
        raise BadInput(f"it loses what must stay: {missing[0][:80]!r}")
    return question.accept(text)


def generator_of(name: str, question: Ask[T]) -> str:
    """Who answers by which version of the prompt: what was made with an older one is made again."""
    return f"{'-'.join(name.split())}@{question.told.version}"


def prompt_of(ctx: Context, question: Ask[T]) -> Prompt:
    return Prompt(
        kind=question.kind,
        instructions=question.told.text,
        data=framed(question.sources),
        max_tokens=question.max_tokens,
        timeout=job_of(ctx.settings.models, question.kind).seconds or question.timeout,
    )


def _asked_once(ctx: Context, question: Ask[T], provider: Provider) -> Answer[T] | None:
    """Ask, unless another process is asking the same: then its answer is ours, too."""
    prompt = prompt_of(ctx, question)
    claim = spending.take(
        ctx,
        question.id,
        kind=question.kind,
        generator=generator_of(provider.name, question),
        seconds=TRIES * (prompt.timeout + LONGEST_PAUSE) + 10,
    )
    if claim is None:
        return _anothers(ctx, question, prompt.timeout)
    try:
        return known(ctx, question) or _tried(ctx, question, provider, claim, prompt)
    finally:
        spending.release(claim)


def _tried(ctx: Context, question: Ask[T], provider: Provider, claim: Claim, prompt: Prompt) -> Answer[T] | None:
    for number in range(TRIES):
        if not spending.reserve(claim, prompt):
            return None
        try:
            said = provider.complete(prompt)
        except NoAnswer as failure:
            spending.settle(claim, prompt, None, billed=failure.billed)
            if not failure.again or (failure.after or 0) > LONGEST_PAUSE:
                return None
            if number + 1 < TRIES:
                ctx.models.pause(failure.after if failure.after is not None else 2.0**number)
            continue
        with suppress(BadInput):
            if said.stop != "end":
                raise BadInput(f"it stopped early: {said.stop}")
            said = replace(said, text=cleaned(question, said.text))
            value = checked(question, said.text)
            spending.keep(claim, prompt, said, question.key)
            return Answer(value=value, generator=claim.generator)
        spending.settle(claim, prompt, said)
    return None


def _anothers(ctx: Context, question: Ask[T], seconds: float) -> Answer[T] | None:
    """What the process that is asking gets. If it gets nothing, asking again would be paying again."""
    for _ in range(round(seconds / POLL)):
        ctx.models.pause(POLL)
        if found := known(ctx, question):
            return found
        with ctx.db.read(ctx.space) as tx:
            if not usage.claimed(tx, question.id, now=ctx.wall_clock.now()):
                return known(ctx, question)
    return None


def _leave_open(ctx: Context, question: Ask[T]) -> None:
    with ctx.db.read(ctx.space) as tx:
        if asks.get(tx, question.id):
            return
    with ctx.db.write(ctx.space) as tx:
        asks.put(
            tx,
            OpenAsk(
                id=question.id,
                **vars(question.key),
                prompt=question.prompt or question.kind,
                subject=question.subject,
                sources=tuple(question.sources),
                max_tokens=question.max_tokens,
                opened_at=ctx.clock.now(),
            ),
        )
