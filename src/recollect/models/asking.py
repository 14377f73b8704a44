"""ask(): a model's answer to a question about some sources, or the offline twin's.

Answers are cached by kind, prompt version and source hash. Model output is untrusted: the caller's `accept` turns it
into a value or says no, and after three tries the offline twin answers. No transaction is open while a model thinks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Generic, TypeVar

from recollect.core.context import Context
from recollect.core.errors import BadInput, Trouble
from recollect.core.prompt import Prompt
from recollect.store import answers
from recollect.store.files import content_hash

T = TypeVar("T")
TRIES = 3
OFFLINE = "offline"


@dataclass(frozen=True, kw_only=True)
class Ask(Generic[T]):
    """One question: what kind, about which sources, how to answer without a model, how to read a model's answer."""

    kind: str
    version: str
    instructions: str
    sources: Sequence[str]
    offline: Callable[[], T]
    accept: Callable[[str], T]
    max_tokens: int = 1000
    timeout: float = 30.0


@dataclass(frozen=True, kw_only=True)
class Answer(Generic[T]):
    """What was answered and by whom; `generator` is stored with whatever is made of it."""

    value: T
    generator: str


def ask(ctx: Context, question: Ask[T]) -> Answer[T]:
    """The answer of the model configured for this kind of question; the offline twin's if there is none or it fails."""
    provider = ctx.models.provider(question.kind)
    if provider is None:
        return Answer(value=question.offline(), generator=OFFLINE)
    data = "\n\n".join(question.sources)
    digest = content_hash(data)
    with ctx.db.read(ctx.space) as tx:
        known = answers.get(tx, kind=question.kind, version=question.version, source_hash=digest)
    if known is not None:
        with suppress(BadInput):  # accepted then, but the rules have changed since: ask anew
            return Answer(value=question.accept(known.answer), generator=known.generator)
    prompt = Prompt(
        kind=question.kind,
        instructions=question.instructions,
        data=data,
        max_tokens=question.max_tokens,
        timeout=question.timeout,
    )
    for _ in range(TRIES):
        try:
            text = provider.complete(prompt)
            value = question.accept(text)
        except (BadInput, Trouble):
            continue  # not an answer we may use; ask again, then do without
        with ctx.db.write(ctx.space) as tx:
            answers.put(
                tx,
                kind=question.kind,
                version=question.version,
                source_hash=digest,
                generator=provider.name,
                answer=text,
                at=ctx.clock.now(),
            )
        return Answer(value=value, generator=provider.name)
    return Answer(value=question.offline(), generator=OFFLINE)
