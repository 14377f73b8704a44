"""The models that the settings name: a provider per kind of job, and an embedder.

Cheap to make, because the prompt hook makes one: nothing is looked for or imported before it is asked for. Offline,
no provider is given and no endpoint is spoken to, whatever is configured.

What is configured, and whether it answers: one tiny call to each provider, with its latency and cost.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

from recollect.core.context import Context, Prompt, Provider
from recollect.core.errors import NoAnswer
from recollect.models import budget
from recollect.models.ask import framed
from recollect.models.budget import KINDS, job_of
from recollect.models.providers import AgentProvider

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollect.core.context import Embedder, Provider
    from recollect.core.settings import EmbedSettings, ModelSettings
    from recollect.models.budget import Job


class ConfiguredModels:
    """By default nothing is configured: offline twins answer every question, the local embedder gives meaning."""

    def __init__(
        self, models: ModelSettings, embed: EmbedSettings, environ: Mapping[str, str], *, offline: bool = False
    ):
        self._models = models
        self._embed = embed
        self._environ = environ
        self._offline = offline
        self._made: dict[Job, Provider] = {}

    def provider(self, kind: str) -> Provider | None:
        if self._offline or (self._models.provider == "none" and not self._models.jobs):
            return None
        from recollect.models.budget import job_of

        job = job_of(self._models, kind)
        if job.provider == "none":
            return None
        if job not in self._made:
            self._made[job] = _provider(job, self._environ)
        return self._made[job]

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)

    def embedder(self) -> Embedder | None:
        return self._embedder

    def loaded_embedder(self) -> Embedder | None:
        known: Embedder | None = vars(self).get("_embedder")  # looking for one already costs imports
        return known if known is not None and known.loaded else None

    @cached_property
    def _embedder(self) -> Embedder | None:
        chosen = self._embed
        if chosen.use == "off":
            return None
        if chosen.use == "openai":
            if self._offline:
                return None
            from recollect.models.providers import OpenAIEmbedder, key_from

            key = key_from(self._environ, chosen.key_env, chosen.key_command)
            return OpenAIEmbedder(model=chosen.model, base_url=chosen.base_url, key=key)
        from pathlib import Path

        from recollect.models.embed import SentenceModel, default_files, files_in

        files = files_in(Path(chosen.model).expanduser()) if chosen.model else default_files()
        return SentenceModel(files) if files else None


def offline_asked(environ: Mapping[str, str]) -> bool:
    """Whether this process may not call models: `RECOLLECT_OFFLINE`, which `--offline` sets."""
    return environ.get("RECOLLECT_OFFLINE", "") not in ("", "0")


def _provider(job: Job, environ: Mapping[str, str]) -> Provider:
    from recollect.models.providers import key_from

    if job.provider == "agent":
        from recollect.models.providers import AgentProvider

        return AgentProvider()
    if job.provider == "command":
        from recollect.models.providers import CommandProvider

        return CommandProvider(command=job.command, model=job.model, environ=environ)
    if job.provider == "anthropic":
        from recollect.models.providers import AnthropicProvider

        key = key_from(environ, job.key_env or ("" if job.base_url else "ANTHROPIC_API_KEY"), job.key_command)
        return AnthropicProvider(model=job.model, base_url=job.base_url, key=key)
    from recollect.models.providers import OpenAIProvider

    key = key_from(environ, job.key_env or ("" if job.base_url else "OPENAI_API_KEY"), job.key_command)
    return OpenAIProvider(model=job.model, base_url=job.base_url, key=key)


INSTRUCTIONS = "Answer with the word that the data holds, and nothing else."
WORD = "ready"
MAX_TOKENS = 1_000
"""Room for a model that thinks before it speaks."""


@dataclass(frozen=True, kw_only=True)
class ProviderCheck:
    """One provider: the kinds of job it does, and how a tiny call went. An agent is not called."""

    name: str
    kinds: tuple[str, ...]
    ok: bool
    reason: str = ""
    seconds: float | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


def check(ctx: Context) -> list[ProviderCheck]:
    """Every provider that some kind of job is configured for, in the order of the kinds."""
    by_provider: dict[int, tuple[Provider, list[str]]] = {}
    for kind in KINDS:
        provider = ctx.models.provider(kind)
        if provider is not None:
            by_provider.setdefault(id(provider), (provider, []))[1].append(kind)
    return [_checked(ctx, provider, tuple(kinds)) for provider, kinds in by_provider.values()]


def _checked(ctx: Context, provider: Provider, kinds: tuple[str, ...]) -> ProviderCheck:
    if isinstance(provider, AgentProvider):
        return ProviderCheck(
            name=provider.name, kinds=kinds, ok=True, reason="answers later; see: recollect model pending"
        )
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
        said, used = budget.paid(
            ctx, prompt, kind=kinds[0], generator=provider.name, call=lambda: provider.complete(prompt)
        )
    except NoAnswer as failure:
        return ProviderCheck(name=provider.name, kinds=kinds, ok=False, reason=str(failure))
    seconds = time.monotonic() - started
    priced = bool(job.price_in or job.price_out)
    return ProviderCheck(
        name=provider.name,
        kinds=kinds,
        ok=bool(said.text.strip()),
        reason="" if said.text.strip() else "it answered with nothing",
        seconds=round(seconds, 3),
        input_tokens=used.input_tokens,
        output_tokens=used.output_tokens,
        cost=used.cost_micros / 1e6 if priced else None,
    )
